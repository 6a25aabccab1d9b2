"""Programs that tell two order tables apart: for each cell and rule in which they differ a smallest one.

In: two orders. Out: for each difference a program that has a final state under the first table, or under the first table
with this of the second, and not under both. Source: docs/hardware.md, "What tells two tables apart".

Small programs with messages: each is about one cell, or rule, of order tables that synthesised programs do not have.

Source: docs/hardware.md, "What tells two tables apart".
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rdma_robust.analyses.synthesis.distinguish import SynthesisRequest, told_apart
from rdma_robust.analyses.synthesis.program_shapes import STATEMENTS
from rdma_robust.errors import SizeLimitError
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_changes import Difference, table_differences
from rdma_robust.orders.order_record import MESSAGE
from rdma_robust.semantics.machines.machine import valuation
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes

_PARTS: Final = (
    ("put B.x = 1", "send 1 to T1", "r = b; s = x"),
    ("send 1 to T1", "put B.x = 1", "s = x; r = b"),
    ("send 1 to T1", "send 1 to T1", "s = c; r = b"),
    ("send 1 to T1", "get a = B.x", "x = 1; r = b"),
    ("get a = B.x", "send 1 to T1", "r = b; x = 1"),
    ("send 1 to T1", "faa(B.x, 1)", "s = x; r = b"),
    ("faa(B.x, 1)", "send 1 to T1", "r = b; s = x"),
    ("send 1 to T1", "get a = faa(B.x, 1)", "s = x; r = b"),
    ("get a = faa(B.x, 1)", "send 1 to T1", "r = b; s = x"),
    ("send 1 to T1", "get a = fetch(B.x)", "x = 1; r = b"),
    ("get a = fetch(B.x)", "send 1 to T1", "r = b; x = 1"),
    ("put B.x = 1", "send 1 to T1", "rpoll T0; s = x"),
    ("faa(B.x, 1)", "send 1 to T1", "rpoll T0; s = x"),
    ("put B.x = a", "send 1 to T1", "rpoll T0; put A.a = 1"),
    ("send 1 to T1", "get a = B.one", "get y = A.a; poll A; r = b"),
    ("send 1 to T1", "get a = fetch(B.one)", "get y = A.a; poll A; r = b"),
    ("send 1 to T1", "", "rpoll T0; r = c"),
)
"""Two requests of a thread, or one, and what the other thread does, which has a buffer b, and c if that is named."""


def message_programs() -> Iterator[str]:
    """Yield the texts of the programs."""
    for first, second, does in _PARTS:
        said = re.findall(r"[A-Za-z]\w*", f"{first} {second} {does}")
        words = ("x", *(text for name, text in (("y", "y"), ("one", "one = 1")) if name in said))
        buffers = ("b", "c") if "c" in said or first == second else ("b",)
        registers = ", ".join(name for name in ("r", "s") if name in said)
        lines = [
            "domain 0..1",
            f"node A {{ {'a' if 'a' in said else ''} }}",
            f"node B {{ {', '.join((*words, *buffers))} }}",
            "thread T0 on A {",
            *(f"  {each}" for each in (first, second) if each),
            "}",
            "thread T1 on B {",
            *([f"  reg {registers}"] if registers else []),
            *(f"  posted {buffer} from T0" for buffer in buffers),
            *(f"  {each}" for each in does.split("; ")),
            "}",
        ]
        yield "\n".join(lines) + "\n"


_MADE_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "nlR": ("copy",),
    "nrW": ("put",),
    "nrR": ("get",),
    "nlW": ("get",),
    "nF": ("rfence",),
    "naR": ("remote-faa",),
    "naW": ("remote-faa",),
    "nuR": ("quiet-faa",),
    "nuW": ("quiet-faa",),
    "completions-order": ("put", "get", "poll"),
    "completion-tells": ("put", "poll"),
    "atomics-of-a-word": ("remote-faa", "quiet-cas"),
}
"""The statements that make events of a type, or that a rule is about."""

_OF_MESSAGES: Final = frozenset({MESSAGE, "receive-covers", "receives-match"})
_SIDES: Final = frozenset({"store", "load"})


@dataclass(frozen=True, slots=True)
class ToldApart:
    """A difference of two tables, with the text of a program that notices it and a final state that one of both has: the
    first table if `by_first`, else that one with this of the second. Without a program `why` says why there is none."""

    difference: Difference
    program: str = ""
    condition: str = ""
    by_first: bool = False
    why: str = ""


def tables_apart(
    one: str, other: str, size: int, seconds: float | None, told: Callable[[ToldApart], None] = lambda _: None
) -> Iterator[ToldApart]:
    """Yield for each difference of two orders a smallest program, of at most `size` statements, that tells the first one and
    the first one with this of the other apart; `told` hears of each as it is found.

    The seconds are those of all together; each difference has an equal share of what is left.
    """
    found = list(table_differences(one, other))
    until = None if seconds is None else time.monotonic() + seconds
    for number, difference in enumerate(found):
        share = None if until is None else max(0.0, until - time.monotonic()) / (len(found) - number)
        apart = _noticed(one, difference, size, share)
        told(apart)
        yield apart


def _by_messages(one: str, difference: Difference) -> ToldApart:
    """Return the first of the :func:`message_programs` that notices a difference."""
    for text in message_programs():
        program = load_program(text, "messages")
        first, second = (axiomatic_outcomes(program, Model(order=order)).rdma for order in (one, difference.changed))
        if first != second:
            state = min(first ^ second)
            values = " && ".join(f"{name} == {value}" for name, value in valuation(program, state).items())
            return ToldApart(difference, text, values, by_first=state in first)
    return ToldApart(difference, why="no small program with messages notices it")


def _noticed(one: str, difference: Difference, size: int, seconds: float | None) -> ToldApart:
    tables = order_table(one), order_table(difference.changed)
    about = difference.types or {difference.what}
    if any(table.unknown for table in tables):
        return ToldApart(difference, why="some cells are not known, so that nobody can say which executions there are")
    if about & _OF_MESSAGES:
        return _by_messages(one, difference)
    if tables[0].cells == tables[1].cells and tables[0].pushes == tables[1].pushes and difference.types:
        return ToldApart(difference, why="it follows from other cells of the table")
    made = {kind for each in about for kind in _MADE_BY[each]} | _SIDES
    kinds = tuple(kind for kind in STATEMENTS if kind in made)
    try:
        models = Model(order=one), Model(order=difference.changed)
        first = next(told_apart(*models, SynthesisRequest(size, kinds, seconds=seconds)), None)
    except SizeLimitError as error:
        return ToldApart(difference, why=str(error))
    if first is None:
        return ToldApart(difference, why=f"no program of up to {size} statements notices it")
    return ToldApart(difference, first.body, (first.first or first.second)[0], by_first=bool(first.first))
