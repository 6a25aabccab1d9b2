"""What was measured, kept as CSV in bench/data: tables and plots of docs/benchmarks.md are made from these files alone."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeVar, get_type_hints

FOLDER: Final = Path(__file__).parent / "data"

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Machine:
    """One line on what the numbers were measured on, and within which limits."""

    line: str


@dataclass(frozen=True, slots=True)
class Start:
    """A start of the tool: least and median of its processor seconds."""

    command: str
    least_s: float
    median_s: float


@dataclass(frozen=True, slots=True)
class Road:
    """A program decided by us and by SPIN on the paper's instrumentation. Times are processor seconds."""

    family: str
    program: str
    our_states: int
    spin_states: int
    spin_done: bool
    check_s: float
    command_s: float
    generate_s: float
    compile_s: float
    pan_s: float

    @property
    def spin_s(self) -> float:
        return self.generate_s + self.compile_s + self.pan_s

    @property
    def states_ratio(self) -> float:
        return self.spin_states / max(1, self.our_states)

    @property
    def time_ratio(self) -> float:
        return self.spin_s / self.command_s


@dataclass(frozen=True, slots=True)
class SameStates:
    """Our search and pan on one instrumented program; what pan did in less than 0.05 s has no rate."""

    program: str
    our_states: int
    pan_states: int
    our_done: bool
    pan_done: bool
    our_states_s: float
    pan_states_s: float | None
    our_transitions_s: float
    pan_transitions_s: float | None
    our_bytes: float | None
    pan_bytes: float


@dataclass(frozen=True, slots=True)
class Parallel:
    """A search of one program by so many threads of ours or processes of pan: its bytes with everything, seconds of the
    clock, and of the processors together where they are known."""

    program: str
    search: str
    threads: int
    states: int
    bytes_each: float
    seconds: float
    processors_s: float | None
    done: bool


@dataclass(frozen=True, slots=True)
class Size:
    """What a size of a family costs us."""

    what: str
    n: int
    states: int
    check_s: float


@dataclass(frozen=True, slots=True)
class Price:
    """Our check of robustness, and SPIN on the program itself under sequential consistency."""

    family: str
    n: int
    spin_states: int
    spin_done: bool
    our_states: int
    our_done: bool
    check_s: float
    prepare_s: float
    pan_s: float

    @property
    def spin_s(self) -> float:
        return self.prepare_s + self.pan_s


@dataclass(frozen=True, slots=True)
class Cover:
    """A net and the processor seconds in which it was decided; None is undecided."""

    net: str
    places: int
    rules: int
    verdict: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Proof:
    """A program of litmus/prove under a model; processor seconds."""

    program: str
    model: str
    verdict: str
    engine: str
    states: int
    taken: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Certified:
    """The certificate of an answer about a program of litmus/prove; processor seconds. `states` and `regions` are those of
    an invariant, 0 for a run."""

    program: str
    model: str
    verdict: str
    engine: str
    states: int
    regions: int
    size: int
    prove_s: float
    make_s: float
    check_s: float


@dataclass(frozen=True, slots=True)
class Placement:
    """The fewest flushes or fences of a program without any; None if they were not found."""

    program: str
    model: str
    status: str
    optimal: bool
    fewest: int | None
    candidates: int
    decided: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Solving:
    """Whether an assertion of a message program can fail, by one way to solve it; None where the time was not enough."""

    family: str
    size: int
    way: str
    verdict: str
    seconds: float | None


def save(name: str, rows: Sequence[Any]) -> None:
    """Write rows of one kind. Raises ValueError if there are none: an empty table would lose what was known."""
    if not rows:
        raise ValueError(f"nothing was measured for {name}")
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(rows[0]))
        writer.writerows(map(_written, astuple(row)) for row in rows)


def load(name: str, kind: type[Row]) -> list[Row]:
    """Return the rows of a file. Raises ValueError for a file of other columns."""
    hints = get_type_hints(kind)
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != list(hints):
            raise ValueError(f"{name}.csv has not the columns {', '.join(hints)}")
        return [kind(**{key: _read(hints[key], text) for key, text in row.items()}) for row in reader]


def digest(names: Iterable[str]) -> str:
    """Return what tells apart the contents of files."""
    return sha256(b"".join((FOLDER / f"{name}.csv").read_bytes() for name in names)).hexdigest()[:16]


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _read(hint: Any, text: str) -> object:
    if hint is bool:
        return text == "yes"
    if hint in (str, int):
        return hint(text)
    if hint == int | None:
        return int(text) if text else None
    return float(text) if text or hint is float else None
