"""Programs that tell two order tables apart: for each cell and rule in which they differ a smallest one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rdma_robust.analyses.synthesis.distinguish import DistinguishingProgram, SynthesisRequest, told_apart
from rdma_robust.analyses.synthesis.program_shapes import STATEMENTS
from rdma_robust.errors import SizeLimitError
from rdma_robust.model import Model
from rdma_robust.orders.known_orders import told_order
from rdma_robust.orders.order_changes import Difference, changed_as, table_differences
from rdma_robust.orders.order_record import OrderTable

MADE_BY: Final[Mapping[str, str]] = {
    "nlR": "copy",
    "nrW": "put",
    "nrR": "get",
    "nlW": "get",
    "nF": "rfence",
    "naR": "remote-faa",
    "naW": "remote-faa",
}
"""The statement that makes an event of a type."""

_OF_RULES: Final = ("put", "get", "poll")


@dataclass(frozen=True, slots=True)
class ToldApart:
    """A difference, with the text of a program that notices it and a final state that only one of both has: the first table
    if `by_first`, else that one with the other's cell. Without a program `why` says how far the search came."""

    difference: Difference
    program: str = ""
    condition: str = ""
    by_first: bool = False
    why: str = ""


def tables_apart(
    one: OrderTable, other: OrderTable, size: int, seconds: float | None, told: Callable[[Difference], None] = lambda _: None
) -> Iterator[ToldApart]:
    """Yield for each difference of two tables a smallest program, of at most `size` statements, that tells the first one and
    the first one with this difference apart.

    The seconds are those of all together; each has an equal share of what is left.
    """
    found = list(table_differences(one, other))
    until = None if seconds is None else time.monotonic() + seconds
    for number, difference in enumerate(found):
        told(difference)
        share = None if until is None else max(0.0, until - time.monotonic()) / (len(found) - number)
        yield _noticed(one, other, difference, SynthesisRequest(size, statements_of(difference), seconds=share))


def statements_of(difference: Difference) -> tuple[str, ...]:
    """Return the kinds of statements of programs that may notice a difference."""
    made = {MADE_BY[each] for each in difference.types} or set(_OF_RULES)
    return tuple(kind for kind in STATEMENTS if kind in {"store", "load", *made})


def _noticed(one: OrderTable, other: OrderTable, difference: Difference, wanted: SynthesisRequest) -> ToldApart:
    models = Model(order=told_order(one)), Model(order=changed_as(one, other, difference))
    try:
        first = next(told_apart(*models, wanted), None)
    except SizeLimitError as error:
        return ToldApart(difference, why=str(error))
    if first is None:
        return ToldApart(difference, why=f"no program of up to {wanted.size} statements notices it")
    return ToldApart(difference, first.body, _condition(first), by_first=bool(first.first))


def _condition(program: DistinguishingProgram) -> str:
    return (program.first or program.second)[0]
