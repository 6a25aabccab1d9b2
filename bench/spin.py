"""Us and SPIN: tables (a), (b), (c) and (e) of docs/benchmarks.md."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from bench import families
from bench.measure import Budget, OurRun, SpinRun, Verifier, alternate, check, command_time, growth, machine, search
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.semantics.values import is_loop_free
from tests.support.spin import MISSING

ROOT = Path(__file__).resolve().parents[1]
LITMUS = sorted((ROOT / "litmus").glob("*.rdma"))
FULL = Budget(120, 8_000, 5)
QUICK = Budget(10, 4_000, 1)
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


@dataclass(frozen=True, slots=True)
class Duel:
    """One program decided by us, in this process and by the whole command (in seconds), and by SPIN."""

    ours: OurRun
    command: float
    theirs: SpinRun

    @property
    def states_ratio(self) -> float:
        return self.theirs.states / max(1, self.ours.states)

    @property
    def time_ratio(self) -> float:
        return self.theirs.total / self.command


def report(quick: bool) -> Iterator[str]:
    """Yield the lines of the report as they are measured."""
    budget = QUICK if quick else FULL
    if MISSING:
        yield f"Not measured: {' and '.join(MISSING)} is not installed."
        return
    yield from ("## The machine", "", *machine(), "")
    yield f"Each run had {budget.seconds:g} s and {budget.memory:,} MB. Times are processor times, the least of"
    yield f"{budget.runs} alternating runs."
    yield ""
    yield from paper_road(budget, quick)
    yield from kernels(budget, quick)
    yield from curves(budget)
    yield from price(budget)


def parsed(path: Path) -> Program:
    return load_program(path.read_text(encoding="utf-8"), path.name)


def generated(text: str) -> Program:
    return load_program(text, "generated.rdma")


def table(*columns: str) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|{'|'.join('---' if i == 0 else '--:' for i in range(len(columns)))}|"


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def seconds(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"


def paper_road(budget: Budget, quick: bool) -> Iterator[str]:
    """(a) Our default against SPIN on the paper's instrumentation, by litmus family."""
    yield from ("## (a) The paper's road: SPIN on the paper's instrumentation", "")
    yield "`>`: SPIN had not finished within the limits; what it had stored or used by then is counted."
    yield ""
    heads = ("family", "programs", "SPIN done", "our states", "SPIN's", "ratio", "our check", "whole command")
    yield from table(*heads, "spin -a", "gcc -O2", "pan", "SPIN / our command")
    groups: dict[str, list[Path]] = {}
    for path in LITMUS:
        groups.setdefault(path.stem.split("-")[0], []).append(path)
    duels: list[Duel] = []
    for family, paths in groups.items():
        chosen = [(path, program) for path in paths if is_loop_free(program := parsed(path))]
        results = [_against_paper(path, program, budget) for path, program in (chosen[:1] if quick else chosen)]
        if results:
            yield _family_row(family, results)
            duels += results
    states = statistics.median(duel.states_ratio for duel in duels)
    times = statistics.median(duel.time_ratio for duel in duels)
    yield ""
    yield f"Median over {len(duels)} programs: {states:,.0f} times our states, {times:,.1f} times the time of our command;"
    faster = sum(duel.time_ratio < 1 for duel in duels)
    yield f"SPIN's time is below ours on {faster}. Unfinished runs count with what they had reached."
    yield ""


def _against_paper(path: Path, program: Program, budget: Budget) -> Duel:
    with closing(Verifier(program, "paper", budget)) as verifier:
        first = verifier.run()
        again = 1 if first.pan > budget.seconds / 12 else budget.runs
        commands = [command_time(path, budget) for _ in range(again)]
        if again == 1:
            return Duel(check(program, budget), commands[0], first)
        ours, theirs = alternate(partial(check, program, budget), verifier, again)
        return Duel(ours, statistics.median(commands), theirs)


def _family_row(family: str, duels: Sequence[Duel]) -> str:
    def middle(value: Callable[[Duel], float]) -> float:
        return statistics.median(map(value, duels))

    done = sum(duel.theirs.done for duel in duels)
    more = "" if done == len(duels) else "> "
    return row(
        family,
        str(len(duels)),
        str(done),
        f"{middle(lambda duel: duel.ours.states):,.0f}",
        f"{more}{middle(lambda duel: duel.theirs.states):,.0f}",
        f"{more}{middle(lambda duel: duel.states_ratio):,.0f}",
        seconds(middle(lambda duel: duel.ours.seconds)),
        seconds(middle(lambda duel: duel.command)),
        seconds(middle(lambda duel: duel.theirs.generate)),
        seconds(middle(lambda duel: duel.theirs.compile)),
        f"{more}{seconds(middle(lambda duel: duel.theirs.pan))}",
        f"{more}{middle(lambda duel: duel.time_ratio):,.1f}",
    )


def kernels(budget: Budget, quick: bool) -> Iterator[str]:
    """(b) Our search and pan on the same pivot-instrumented program."""
    yield from ("## (b) The same states: our search and pan on the pivot instrumentation", "")
    yield "Without partial-order reduction, and with dead variables kept; only the search is timed. Our bytes are those"
    yield "of the whole search, pan's those of its stored states without the hash table."
    yield ""
    heads = ("program", "our states", "pan's states", "our states/s", "pan's states/s", "our transitions/s")
    yield from table(*heads, "pan's transitions/s", "our bytes/state", "pan's")
    sizes = SMALL if quick else LARGE
    for program in (generated(make(*numbers)) for make, numbers in sizes):
        with closing(Verifier(program, "pivot", budget, faithful=True)) as verifier:
            ours, theirs = alternate(partial(search, program, budget), verifier, budget.runs)
        yield row(
            program.name,
            f"{ours.states:,}{'' if ours.done else ' (cut)'}",
            f"{theirs.states:,}{'' if theirs.done else ' (cut)'}",
            f"{ours.states / ours.seconds:,.0f}",
            rate(theirs.states, theirs.found.seconds),
            f"{ours.transitions / ours.seconds:,.0f}",
            rate(theirs.found.transitions, theirs.found.seconds),
            f"{ours.memory / ours.states:.0f}" if ours.memory else "-",
            f"{theirs.bytes_per_state:.0f}",
        )
    yield ""


def rate(amount: int, time: float) -> str:
    """What pan did in a second; it measures its time in hundredths."""
    return f"{amount / time:,.0f}" if time >= 0.05 else "too short"


def curves(budget: Budget) -> Iterator[str]:
    """(c) What a family costs us by size."""
    yield from ("## (c) Cost by size", "", "States and time of our check, and the law that fits best.", "")
    yield from table("what grows", "sizes", "states", "time", "states grow as", "time grows as")
    for name, sizes in CURVES.items():
        runs = []
        for size in sizes:
            program = generated(families.SCALING[name](size))
            found = [check(program, budget) for _ in range(budget.runs)]
            if not all(run.done for run in found):
                break
            runs.append((size, found[0].states, statistics.median(run.seconds for run in found)))
        done, states, times = zip(*runs, strict=True)
        yield row(
            name,
            ", ".join(map(str, done)),
            ", ".join(f"{n:,}" for n in states),
            ", ".join(map(seconds, times)),
            str(growth(done, [max(1, n) for n in states])) if len(done) > 2 else "-",
            str(growth(done, times)) if len(done) > 2 else "-",
        )
    yield ""


def price(budget: Budget) -> Iterator[str]:
    """(e) Our whole check of robustness against SPIN verifying the program itself under sequential consistency."""
    yield from ("## (e) The price of robustness: SPIN on the program itself, under plain SC", "")
    yield f"Sizes grow until SPIN stores more than {SUMMIT:,} states or a limit is reached. Ratio: SPIN's pan alone, and all"
    yield "of SPIN (spin -a, gcc -O2, pan), by the time of our check in a running process; above 1 we are faster."
    yield ""
    heads = ("family", "n", "SC states (SPIN, reduced)", "our states", "our check", "spin -a + gcc", "pan", "pan / ours")
    yield from table(*heads, "SPIN / ours")
    for name, (make, least) in PRICE.items():
        for size in count(least):
            program = generated(make(size))
            with closing(Verifier(program, "none", budget)) as verifier:
                ours, theirs = alternate(partial(check, program, budget), verifier, budget.runs)
            yield row(
                name,
                str(size),
                f"{theirs.states:,}{'' if theirs.done else ' (cut)'}",
                f"{ours.states:,}{'' if ours.done else ' (cut)'}",
                f"{'' if ours.done else '> '}{seconds(ours.seconds)}",
                seconds(theirs.generate + theirs.compile),
                f"{'' if theirs.done else '> '}{seconds(theirs.pan)}",
                f"{theirs.pan / ours.seconds:.3f}",
                f"{theirs.total / ours.seconds:.2f}",
            )
            if theirs.states > SUMMIT or not theirs.done:
                break
    yield ""
