"""Us and SPIN: measures what tables (a), (b), (c) and (e) of docs/benchmarks.md are made from."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path

from bench import families
from bench.measure import Budget, Verifier, alternate, check, command_time, machine, search
from bench.records import Machine, Price, Road, SameStates, Size, save
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.semantics.values import is_loop_free
from tests.support.spin import MISSING

ROOT = Path(__file__).resolve().parents[1]
LITMUS = sorted((ROOT / "litmus").glob("*.rdma"))
FULL = Budget(60, 8_000, 3)
QUICK = Budget(10, 4_000, 1)
PRICED = Budget(60, 8_000, 3)
"""For the price of robustness, whose largest sizes decide, in quick runs too."""

SUMMIT = 1_000_000
"""States under plain SC beyond which a family is large enough."""

PRICE: dict[str, tuple[Callable[[int], str], int]] = {
    "ring exchange, n threads": (families.ring_exchange, 3),
    "lock server, n clients": (families.lock_server, 2),
    "bakery, n threads": (families.bakery, 2),
    "Szymanski, n threads": (families.szymanski, 2),
    "3 threads, rings of n slots": (partial(families.pipeline, 3), 2),
    "4 threads, rings of n slots": (partial(families.pipeline, 4), 1),
}
"""Families for the price of robustness, each with its least size."""

LARGE: list[tuple[Callable[..., str], tuple[int, ...]]] = [
    (families.ring_exchange, (5,)),
    (families.szymanski, (3,)),
    (families.bakery, (3,)),
    (families.lock_server, (3,)),
    (families.pipeline, (3, 4)),
]
SMALL: list[tuple[Callable[..., str], tuple[int, ...]]] = [
    (families.ring_exchange, (4,)),
    (families.szymanski, (2,)),
    (families.pipeline, (3, 2)),
]
"""What the searches are compared on, in full and in quick runs."""

CURVES = {"threads": range(2, 6), "slots": range(2, 9), "rounds": range(2, 9), "polls": range(2, 17, 2)}

SHORTEST = 0.05
"""pan measures its time in hundredths of seconds: below this there is no rate."""


def report(quick: bool, say: Callable[[str], None]) -> None:
    """Measure everything and keep it; `say` is told what has been measured. Needs spin and gcc, else keeps what is there."""
    if MISSING:
        say(f"Not measured: {' and '.join(MISSING)} is not installed.")
        return
    budget = QUICK if quick else FULL
    save("machine", [Machine(line) for line in (*machine(), *limits(budget))])
    kept(say, "paper", paper_road(budget, quick))
    kept(say, "same-states", kernels(budget, quick))
    kept(say, "growth", curves(budget))
    kept(say, "price", price(PRICED))


def limits(budget: Budget) -> Iterator[str]:
    for tables, each in (("tables (a) to (c)", budget), ("table (e)", PRICED)):
        yield f"{tables}: {each.seconds:g} s and {each.memory:,} MB for each run, the least of {each.runs} by turns"


def kept(say: Callable[[str], None], name: str, rows: Iterator[object]) -> None:
    """Measure the rows of a table, say each, and save them when all are there."""
    done = []
    for row in rows:
        say(f"{name}: {row}")
        done.append(row)
    save(name, done)


def parsed(path: Path) -> Program:
    return load_program(path.read_text(encoding="utf-8"), path.name)


def generated(text: str) -> Program:
    return load_program(text, "generated.rdma")


def paper_road(budget: Budget, quick: bool) -> Iterator[Road]:
    """(a) Our default against SPIN on the paper's instrumentation: loop-free litmus programs, the first of each family if
    quick."""
    seen = set()
    for path in LITMUS:
        family = path.stem.split("-")[0]
        program = parsed(path)
        if is_loop_free(program) and not (quick and family in seen):
            seen.add(family)
            yield _against_paper(family, path, program, budget)


def _against_paper(family: str, path: Path, program: Program, budget: Budget) -> Road:
    with closing(Verifier(program, "paper", budget)) as verifier:
        theirs = verifier.run()
        again = 1 if theirs.pan > budget.seconds / 12 else budget.runs
        command = statistics.median(command_time(path, budget) for _ in range(again))
        if again == 1:
            ours = check(program, budget)
        else:
            ours, theirs = alternate(partial(check, program, budget), verifier, again)
    counts = (ours.states, theirs.states, theirs.done)
    return Road(family, path.stem, *counts, ours.seconds, command, theirs.generate, theirs.compile, theirs.pan)


def kernels(budget: Budget, quick: bool) -> Iterator[SameStates]:
    """(b) Our search and pan on the same pivot-instrumented program."""
    for make, numbers in SMALL if quick else LARGE:
        program = generated(make(*numbers))
        with closing(Verifier(program, "pivot", budget, faithful=True)) as verifier:
            ours, theirs = alternate(partial(search, program, budget), verifier, budget.runs)
        seconds = theirs.found.seconds if theirs.found.seconds >= SHORTEST else None
        yield SameStates(
            program.name,
            ours.states,
            theirs.states,
            ours.done,
            theirs.done,
            ours.states / ours.seconds,
            theirs.states / seconds if seconds else None,
            ours.transitions / ours.seconds,
            theirs.found.transitions / seconds if seconds else None,
            ours.memory / ours.states if ours.memory else None,
            theirs.bytes_per_state,
        )


def curves(budget: Budget) -> Iterator[Size]:
    """(c) What a family costs us by size, up to where a limit is reached."""
    for name, sizes in CURVES.items():
        for size in sizes:
            program = generated(families.SCALING[name](size))
            found = [check(program, budget) for _ in range(budget.runs)]
            if not all(run.done for run in found):
                break
            yield Size(name, size, found[0].states, statistics.median(run.seconds for run in found))


def price(budget: Budget) -> Iterator[Price]:
    """(e) Our whole check of robustness against SPIN verifying the program itself under sequential consistency."""
    for name, (make, least) in PRICE.items():
        for size in count(least):
            program = generated(make(size))
            with closing(Verifier(program, "none", budget)) as verifier:
                ours, theirs = alternate(partial(check, program, budget), verifier, budget.runs)
            prepare = theirs.generate + theirs.compile
            counts = (theirs.states, theirs.done, ours.states, ours.done)
            yield Price(name, size, *counts, ours.seconds, prepare, theirs.pan)
            if theirs.states > SUMMIT or not theirs.done:
                break
