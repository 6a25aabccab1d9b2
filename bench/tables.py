"""The tables of docs/benchmarks.md, from what bench/data holds: the same data give the same text."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from bench import message_tables, safety_tables
from bench.measure import growth, keep
from bench.records import Cover, Machine, Parallel, Price, Road, SameStates, Size, Start, load

DOCUMENT: Final = Path(__file__).resolve().parents[1] / "docs/benchmarks.md"
SAFETY_DOCUMENT: Final = DOCUMENT.with_name("prove-results.md")
MESSAGES_DOCUMENT: Final = DOCUMENT.with_name("benchmarks-messages.md")
Row = TypeVar("Row")


def marks(name: str) -> tuple[str, str]:
    """Return the lines between which a table stands."""
    return f"<!-- {name}: written by bench/tables.py -->", f"<!-- end of {name} -->"


def write() -> None:
    """Put all tables into their documents. Raises ValueError where one has no place for one."""
    for name, lines in TABLES.items():
        keep(document(name), *marks(name), "\n".join(lines()))


def document(name: str) -> Path:
    """Return the document that has the table of this name."""
    if name in message_tables.TABLES:
        return MESSAGES_DOCUMENT
    return SAFETY_DOCUMENT if name in safety_tables.TABLES else DOCUMENT


def _table(*columns: str) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|{'|'.join('---' if i == 0 else '--:' for i in range(len(columns)))}|"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def seconds(value: float) -> str:
    """Return a time as it is read: 12 ms, 1.5 s."""
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"


def _grouped(rows: Sequence[Row], key: Callable[[Row], str]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def startup() -> Iterator[str]:
    yield from _table("command", "least", "median")
    for start in load("startup", Start):
        yield _row(start.command, f"{start.least_s:.3f} s", f"{start.median_s:.3f} s")


def machine() -> Iterator[str]:
    yield from (f"- {each.line}" for each in load("machine", Machine))


def paper() -> Iterator[str]:
    rows = load("paper", Road)
    heads = ("family", "programs", "SPIN done", "our states", "SPIN's", "ratio", "our check", "whole command")
    yield from _table(*heads, "spin -a", "gcc -O2", "pan", "SPIN / our command")
    for family, members in _grouped(rows, lambda row: row.family).items():
        yield _family(family, members)
    states = statistics.median(row.states_ratio for row in rows)
    times = statistics.median(row.time_ratio for row in rows)
    yield ""
    yield f"Median over {len(rows)} programs: {states:,.0f} times our states, {times:,.1f} times the time of our command;"
    faster = sum(row.time_ratio < 1 for row in rows)
    yield f"SPIN's time is below ours on {faster}. Unfinished runs count with what they had reached."


def _family(family: str, rows: Sequence[Road]) -> str:
    def middle(value: Callable[[Road], float]) -> float:
        return statistics.median(map(value, rows))

    done = sum(row.spin_done for row in rows)
    more = "" if done == len(rows) else "> "
    return _row(
        family,
        str(len(rows)),
        str(done),
        f"{middle(lambda row: row.our_states):,.0f}",
        f"{more}{middle(lambda row: row.spin_states):,.0f}",
        f"{more}{middle(lambda row: row.states_ratio):,.0f}",
        seconds(middle(lambda row: row.check_s)),
        seconds(middle(lambda row: row.command_s)),
        seconds(middle(lambda row: row.generate_s)),
        seconds(middle(lambda row: row.compile_s)),
        f"{more}{seconds(middle(lambda row: row.pan_s))}",
        f"{more}{middle(lambda row: row.time_ratio):,.1f}",
    )


def same_states() -> Iterator[str]:
    heads = ("program", "our states", "pan's states", "our states/s", "pan's states/s", "our transitions/s")
    yield from _table(*heads, "pan's transitions/s", "our bytes/state", "pan's")
    for row in load("same-states", SameStates):
        yield _row(
            row.program,
            f"{row.our_states:,}{'' if row.our_done else ' (cut)'}",
            f"{row.pan_states:,}{'' if row.pan_done else ' (cut)'}",
            f"{row.our_states_s:,.0f}",
            _rate(row.pan_states_s),
            f"{row.our_transitions_s:,.0f}",
            _rate(row.pan_transitions_s),
            "-" if row.our_bytes is None else f"{row.our_bytes:.0f}",
            f"{row.pan_bytes:.0f}",
        )


def parallel() -> Iterator[str]:
    heads = ("program", "search", "threads", "states", "bytes/state", "seconds", "of processors")
    yield from _table(*heads, "states/s", "to ours by one")
    for rows in _grouped(load("parallel", Parallel), lambda row: row.program).values():
        alone = rows[0].states / rows[0].seconds
        for row in rows:
            yield _row(
                row.program,
                row.search,
                str(row.threads),
                f"{row.states:,}{'' if row.done else ' (cut)'}",
                f"{row.bytes_each:.0f}",
                f"{row.seconds:.2f}",
                "-" if row.processors_s is None else f"{row.processors_s:.2f}",
                f"{row.states / row.seconds:,.0f}",
                f"{row.states / row.seconds / alone:.2f}",
            )


def _rate(value: float | None) -> str:
    return "too short" if value is None else f"{value:,.0f}"


def sizes() -> Iterator[str]:
    yield from _table("what grows", "sizes", "states", "time", "states grow as", "time grows as")
    for what, rows in _grouped(load("growth", Size), lambda row: row.what).items():
        numbers = [row.n for row in rows]
        laws = ("-", "-")
        if len(rows) > 2:
            states = growth(numbers, [max(1, row.states) for row in rows])
            laws = str(states), str(growth(numbers, [row.check_s for row in rows]))
        yield _row(
            what,
            ", ".join(map(str, numbers)),
            ", ".join(f"{row.states:,}" for row in rows),
            ", ".join(seconds(row.check_s) for row in rows),
            *laws,
        )


def price() -> Iterator[str]:
    heads = ("family", "n", "SC states (SPIN, reduced)", "our states", "our check", "spin -a + gcc", "pan", "pan / ours")
    yield from _table(*heads, "SPIN / ours")
    rows = load("price", Price)
    for row in rows:
        yield _row(
            row.family,
            str(row.n),
            f"{row.spin_states:,}{'' if row.spin_done else ' (cut)'}",
            f"{row.our_states:,}{'' if row.our_done else ' (cut)'}",
            f"{'' if row.our_done else '> '}{seconds(row.check_s)}",
            seconds(row.prepare_s),
            f"{'' if row.spin_done else '> '}{seconds(row.pan_s)}",
            f"{row.pan_s / row.check_s:.1f}",
            f"{row.spin_s / row.check_s:.1f}",
        )
    least = min(rows, key=lambda row: row.pan_s / row.check_s)
    quicker = sum(row.check_s < row.pan_s for row in rows)
    yield ""
    count = f"{quicker} of {len(rows)} programs"
    yield f"Our check takes less time than `pan` alone, without `spin -a` and `gcc -O2`, on {count}."
    yield f"By the ratio it gains least on {least.family}, n = {least.n}: {least.pan_s / least.check_s:.1f}."


def nets() -> Iterator[str]:
    yield from _table("net", "places", "rules", "verdict", "time")
    for row in load("nets", Cover):
        time = "?" if row.seconds is None else f"{row.seconds:.2f} s"
        yield _row(row.net, f"{row.places:,}", f"{row.rules:,}", row.verdict, time)


TABLES: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    "startup": startup,
    "machine": machine,
    "paper": paper,
    "same-states": same_states,
    "parallel": parallel,
    "growth": sizes,
    "nets": nets,
    "price": price,
    **safety_tables.TABLES,
    **message_tables.TABLES,
}
"""By the names of the files in bench/data; those beside the papers' are made from two."""
