"""`python -m bench.contracts [N]`: the programs of the thesis against their contracts for n = 1..N (6), beside its numbers.

`python -m bench.contracts every` tries to prove them for every n instead; `python -m bench.contracts loops [N]` asks about
the loops with invariants, for any number of rounds.

Seconds are processor time in this process, reading left out. The thesis' seconds and n are those of its first part (state
guarantees only) and of its second (full validity); the states are those that it prints. Those of the CAV 2024 tool are for n
from 1 to 5 together. The library procedures, which have contracts too, follow for the same n. What takes more than SECONDS
is cut.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from rdma_robust.contracts.any_procs.any_proof import EveryProcs
from rdma_robust.contracts.checks.function_checks import Checking, checked
from rdma_robust.contracts.contract_answers import ProcsAnswer
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.runs.runs_engine import runs
from rdma_robust.limits import Limits

FOLDER: Final = Path(__file__).resolve().parents[1] / "litmus/contracts"
SECONDS: Final = 300.0

THESIS: Final[dict[str, str]] = {
    "bcast": "6: 25",
    "gather": "6: 123",
    "gather_w": "3: 208 (full)",
    "gatherv": "6: 236",
    "scatter": "6: 108",
    "alltoall": "6: 19",
    "alltoall2": "6: 69",
    "allgather": "6: 50",
    "allgather_w": "3: 378 (full)",
    "allreduce": "6: 10",
    "allreduce_dr": "6: 11",
    "reduceScatter": "6: 50",
    "diff1dExchange": "6: 382; 3: 75 (full)",
    "diff1dIter": "5: 731; 3: 505 (full)",
    "diff2dExchange": "9: 115",
    "diff2dIter": "4: 95",
    "dotProd": "6: 213; 5: 389 (full)",
    "matmat": "6: 64",
    "matmat_w": "4: 704 (full)",
    "oddEvenSort": "6: 19; 4: 66 (full)",
}
"""For each program n and seconds of the thesis."""

STATES: Final = {("gather_w", 3): 218_766, ("diff1dExchange", 6): 345_202}
"""States that the thesis prints for a program and n."""


CAV: Final = {"bcast": 15, "gather": 69, "scatter": 69, "reduceScatter": 517, "diff1dExchange": 478, "matmat": 190}
"""Seconds of the CAV 2024 tool for n = 1 to 5 together."""

LOOPS: Final = ("loop_sort", "loop_sort_numbers", "loop_heat", "loop_ring", "loop_gather", "loop_gather_asked", "loop_token")
"""Programs whose loops have invariants."""

LIBRARY: Final = "fun own() contract local { assigns \\nothing; } { skip }"


@dataclass(frozen=True, slots=True)
class Row:
    """What was found for one function and n, in seconds of processor time."""

    name: str
    answer: ProcsAnswer
    seconds: float


def rows(most: int, stems: Iterable[str] = THESIS) -> Iterator[Row]:
    """Yield a row for each function of each program and n: the callees of a program count too."""
    for stem in stems:
        path = FOLDER / f"{stem}.mp"
        program = load_contracts(path.read_text(encoding="utf-8"), path.name)
        for procs in range(1, most + 1):
            limits = Limits.of(SECONDS)
            started = time.process_time()
            for found in checked(program, Checking(procs=(procs,)), limits):
                (answer,) = found.answers
                spent = time.process_time() - started
                yield Row(stem if found.name == stem else f"{stem}: {found.name}", answer, spent)
                started = time.process_time()


def library_rows() -> Iterator[Row]:
    """Yield a row for each library procedure and n."""
    program = load_contracts(LIBRARY, "library")
    for contract in program.library:
        for procs in range(1, 6):
            started = time.process_time()
            answer = runs(program, contract.name, procs, Limits.of(SECONDS))
            yield Row(f"library: {contract.name}", answer, time.process_time() - started)


def main(most: int = 6) -> None:
    """Print the rows for the largest n, and the totals."""
    table = Table(
        "function",
        "verdict",
        "mode",
        "n",
        "runs",
        "states",
        "z3",
        f"s, n = 1..{most}",
        "thesis n: s",
        "its states",
        "CAV: s (here)",
    )
    found: dict[str, list[Row]] = {}
    for row in (*rows(most), *library_rows()):
        found.setdefault(row.name, []).append(row)
    for name, each in found.items():
        last = each[-1].answer
        worst = next((one.answer.verdict for one in each if one.answer.verdict != "VERIFIED"), "VERIFIED")
        quoted = [f"n = {n}: {count:,} (here {_states(each, n):,})" for (of, n), count in STATES.items() if of == name]
        seconds = sum(one.seconds for one in each)
        numbers = (str(last.procs), f"{last.runs:,}", f"{last.states:,}", f"{last.solver_calls:,}", f"{seconds:.2f}")
        five = sum(one.seconds for one in each if one.answer.procs <= 5)
        cav = f"{CAV[name]} ({five:.2f})" if name in CAV else ""
        table.add_row(name, worst, last.mode, *numbers, THESIS.get(name, ""), "; ".join(quoted), cav)
    Console(width=170).print(table)
    total = sum(row.seconds for each in found.values() for row in each)
    own = sum(row.seconds for name, each in found.items() if name in THESIS for row in each)
    print(f"{len(THESIS)} programs for n = 1..{most}: {own:.1f} s, with all that they call {total:.1f} s")


def every() -> None:
    """Print for each function of the programs whether it is proved for every n, and what that takes."""
    table = Table("function", "every n", "inputs", "n up to", "questions", "s", "why not")
    total = 0.0
    for stem in THESIS:
        path = FOLDER / f"{stem}.mp"
        proofs = EveryProcs(load_contracts(path.read_text(encoding="utf-8"), path.name), Limits.of(SECONDS))
        for contract in load_contracts(path.read_text(encoding="utf-8"), path.name).contracts:
            started = time.process_time()
            found = proofs.answer(contract.name)
            spent = time.process_time() - started
            total += spent
            name = stem if contract.name == stem else f"{stem}: {contract.name}"
            most = "" if found.most is None else f"{found.most:,}"
            numbers = (found.inputs or "", most, str(found.solver_calls), f"{spent:.2f}")
            table.add_row(name, found.verdict, *numbers, found.reason[:60])
    Console(width=170).print(table)
    print(f"{total:.1f} s")


def loops(most: int = 4) -> None:
    """Print for each program with a loop that has an invariant the verdicts and seconds for n = 1..most."""
    table = Table("program", "function or loop", "n", "verdict", "mode", "runs", "s", "why not")
    for stem in LOOPS:
        for row in rows(most, (stem,)):
            found = row.answer
            cells = (str(found.procs), found.verdict, found.mode, f"{found.runs:,}", f"{row.seconds:.2f}", found.reason[:60])
            table.add_row(stem, row.name.removeprefix(f"{stem}: "), *cells)
    Console(width=170).print(table)


def _states(rows_: list[Row], procs: int) -> int:
    return next((row.answer.states for row in rows_ if row.answer.procs == procs), 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["every"]:
        every()
    elif sys.argv[1:2] == ["loops"]:
        loops(*map(int, sys.argv[2:]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 6)
