"""The facts that the checker asks of an order table for programs with remote atomics, and tables that keep less than others.

Written from docs/proof-tables.md ("The facts with remote atomics") and docs/theory-orders.md ("Tables that lack a fact")
alone: the rest of the tool has a reading of its own, on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Final

from rdma_robust.certify.document import reject, string
from rdma_robust.certify.hardware import CARD_READS, NIC_WRITES, Platform, kept_between
from rdma_robust.certify.message_receives import has_choice_of_receives
from rdma_robust.certify.own_tables import TYPES, OwnTable, UnreadableTable
from rdma_robust.certify.thread_events import fetches_nothing
from rdma_robust.language.flow.cfg import Program, RemoteRmw, steps

UNDER: Final = "under"
"""The member of evidence for ROBUST with the order that it is about, where that is a weaker one than the claim's."""


def weaker_platform(
    program: Program, platform: Platform, evidence: Mapping[str, object]
) -> tuple[Platform, Mapping[str, object]]:
    """Return the hardware that evidence for ROBUST is about, which has no fewer executions than the claim's, and the
    evidence without what says so. Raises InvalidCertificate for hardware without a proven normal form."""
    rest = {name: value for name, value in evidence.items() if name != UNDER}
    about = platform
    if UNDER in evidence:
        about = replace(platform, order=string(evidence[UNDER], "`evidence.under`"))
        try:
            weaker = keeps_no_less(platform, about)
        except (UnreadableTable, ValueError) as error:
            reject(f"`evidence.under` is no table of orders: {error}")
        if not weaker:
            reject("`evidence.under` keeps something in order that the order of the claim does not")
    if platform.own is not None and platform.own.any_receive and has_choice_of_receives(program):
        reject("no normal form is proven where a message has a choice of several posted receives")
    if about.own is not None:
        lacks = next(missing_facts(about.own, _atomics(program)), None)
        if lacks is not None:
            reject(f"no normal form is proven for order {about.order_name}, which lacks the fact {lacks}")
    return about, rest


FETCHING: Final = ("naR", "naW")
FETCHING_NOTHING: Final = ("nuR", "nuW")


def _atomics(program: Program) -> frozenset[tuple[str, str]]:
    """The names of the read and the write of the program's remote atomics."""
    ops = (step.op for thread in program.threads for _, _, step in steps(thread))
    return frozenset(FETCHING_NOTHING if fetches_nothing(op) else FETCHING for op in ops if isinstance(op, RemoteRmw))


def missing_facts(own: OwnTable, atomics: Iterable[tuple[str, str]] = (FETCHING, FETCHING_NOTHING)) -> Iterator[str]:
    """Yield the facts that a table lacks about remote atomics, whose read and write have these names, and no others."""
    kept, pairs = own.cells, tuple(atomics)
    others = {*FETCHING, *FETCHING_NOTHING}.difference(*pairs)
    types = [each for each in TYPES if each not in others]
    if any(kept[write, c] in ("qp", "i") and kept[read, c] not in ("qp", "i") for read, write in pairs for c in types):
        yield "rmw_row"
    if any(kept[a, write] == "qp" != kept[a, read] for read, write in pairs for a in types):
        yield "rmw_column"


def keeps_no_less(one: Platform, two: Platform) -> bool:
    """Return whether an order keeps everything that the other keeps, all else of the hardware being the same."""
    rules = (
        (one.promised, two.promised),
        (one.own is not None and one.own.placed, two.own is not None and two.own.placed),
    )
    pushes = all(one.flushes(read, write) or not two.flushes(read, write) for read in CARD_READS for write in NIC_WRITES)
    polled = not two.completions_order or _at_least(one.behind_polls if one.completions_order else one, two.behind_polls)
    return _at_least(one, two) and pushes and polled and all(mine or not other for mine, other in rules)


def _at_least(one: Platform, two: Platform) -> bool:
    pairs = ((kept_between(one, *pair), kept_between(two, *pair)) for pair in product(TYPES, TYPES))
    return all(other == "-" or mine in (other, "qp") for mine, other in pairs)
