"""`python -m bench.contracts [N]`: the programs of the thesis against their contracts for n = 1..N (6), beside its numbers.

`python -m bench.contracts every` tries to prove them for every n instead; `python -m bench.contracts loops [N]` asks about
the loops with invariants, for any number of rounds; `python -m bench.contracts c [N]` about the programs as C, for
the numbers of processes of the thesis' tables.

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

C_FOLDER: Final = Path(__file__).resolve().parents[1] / "tests/data/c/contracts"

STATE_GUARANTEES: Final[dict[str, dict[int, tuple[int, int]]]] = {
    "bcast": {2: (1_121, 6), 3: (3_057, 8), 4: (5_805, 12), 5: (9_797, 17), 6: (15_545, 25)},
    "gather": {2: (2_608, 9), 3: (6_791, 16), 4: (14_788, 28), 5: (31_541, 54), 6: (71_850, 123)},
    "gatherv": {2: (1_266, 8), 3: (3_053, 13), 4: (5_852, 27), 5: (10_121, 78), 6: (16_612, 236)},
    "scatter": {2: (2_466, 8), 3: (6_332, 14), 4: (13_509, 27), 5: (28_067, 46), 6: (62_483, 108)},
    "alltoall": {2: (786, 6), 3: (1_382, 7), 4: (2_153, 10), 5: (3_114, 14), 6: (4_287, 19)},
    "alltoall2": {2: (933, 7), 3: (1_769, 10), 4: (3_011, 15), 5: (4_779, 31), 6: (7_174, 69)},
    "allgather": {2: (2_119, 11), 3: (3_690, 15), 4: (5_794, 21), 5: (8_944, 31), 6: (14_176, 50)},
    "allreduce": {2: (841, 6), 3: (1_368, 6), 4: (1_903, 7), 5: (2_446, 9), 6: (2_997, 10)},
    "allreduce_dr": {2: (648, 7), 3: (1_060, 7), 4: (1_562, 8), 5: (2_017, 10), 6: (2_486, 11)},
    "reduceScatter": {2: (713, 7), 3: (1_378, 11), 4: (2_147, 16), 5: (3_102, 25), 6: (4_248, 50)},
    "diff1dExchange": {2: (1_771, 7), 3: (6_979, 12), 4: (25_546, 25), 5: (93_086, 84), 6: (345_202, 382)},
    "diff1dIter": {2: (2_186, 19), 3: (8_646, 85), 4: (31_492, 275), 5: (114_108, 731)},
    "diff2dExchange": {9: (5_154, 115)},
    "diff2dIter": {4: (1_727, 95)},
    "dotProd": {2: (712, 39), 3: (1_127, 82), 4: (1_546, 141), 5: (1_995, 220), 6: (2_434, 213)},
    "matmat": {2: (1_155, 35), 3: (1_849, 41), 4: (2_551, 49), 5: (3_261, 57), 6: (3_979, 64)},
    "oddEvenSort": {2: (1_115, 6), 3: (2_141, 8), 4: (3_947, 12), 5: (6_320, 13), 6: (10_713, 19)},
}
"""States and seconds that the thesis prints for n processes, tables 10.1 and 10.2."""

FULL_VALIDITY: Final[dict[str, dict[int, tuple[int, int]]]] = {
    "gather_w": {2: (5_953, 12), 3: (218_766, 208)},
    "allgather_w": {2: (9_848, 22), 3: (164_155, 378)},
    "matmat": {2: (3_116, 37), 3: (23_254, 75), 4: (342_653, 704)},
    "oddEvenSort": {2: (1_824, 6), 3: (8_706, 10), 4: (96_961, 66)},
    "diff1dIter": {2: (5_668, 10), 3: (492_163, 505)},
    "diff1dExchange": {2: (3_485, 8), 3: (114_173, 75)},
    "dotProd": {2: (1_711, 7), 3: (7_127, 15), 4: (36_450, 43), 5: (225_223, 389)},
}
"""The same of table 10.3. Its allgather and matmat use gather_w."""

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


def in_c(most: int = 9) -> None:
    """Print for each function that is C what it takes for each n up to `most` of the thesis, as a table of Markdown."""
    heads = "function | n | runs | states | questions | s | states, s of tables 10.1 and 10.2 | of table 10.3"
    print(f"| {heads} |\n|{'---|' * 8}")
    for name in (*(STATE_GUARANTEES | FULL_VALIDITY), "sort"):
        told, full = STATE_GUARANTEES.get(name, {}), FULL_VALIDITY.get(name, {})
        path = C_FOLDER / f"{'diff2dIter' if name == 'diff2dExchange' else name}.c"
        program = load_contracts(path.read_text(encoding="utf-8"), path.name)
        columns: list[list[str]] = [[], [], [], [], []]
        for procs in sorted(each for each in (told or full or range(2, 7)) if each <= most):
            started = time.process_time()
            (found,) = checked(program, Checking(procs=(procs,), only=(name,)), Limits.of(SECONDS))
            answer, spent = found.answers[0], time.process_time() - started
            shown = str(procs) if answer.verdict == "VERIFIED" else f"{procs} {answer.verdict}"
            own = (shown, f"{answer.runs:,}", f"{answer.states:,}", f"{answer.solver_calls:,}", f"{spent:.2f}")
            for column, each in zip(columns, own, strict=True):
                column.append(each)
        theirs = (
            [f"{states:,} in {seconds}" for n, (states, seconds) in each.items() if n <= most] for each in (told, full)
        )
        print("| " + " | ".join((name, *map(" / ".join, (*columns, *theirs)))) + " |", flush=True)


def _states(rows_: list[Row], procs: int) -> int:
    return next((row.answer.states for row in rows_ if row.answer.procs == procs), 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["every"]:
        every()
    elif sys.argv[1:2] == ["c"]:
        in_c(*map(int, sys.argv[2:]))
    elif sys.argv[1:2] == ["loops"]:
        loops(*map(int, sys.argv[2:]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 6)
