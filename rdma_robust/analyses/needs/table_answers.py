"""Under which order tables a program is robust, by its minimal sets of guarantees; where these say nothing, by a decision.

A table that keeps all that the guarantees of a set keep is enough. One that says of the program's events what the guarantees
that it gives say, and no more, is not enough where a counterexample stands with these. Of any other, which keeps atomics of
one word in order, or lets messages take any receive, sets say nothing. Source: docs/hardware.md, "How they are found".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rdma_robust.analyses.needs.minimal_sets import MinimalSets, Names, relevant_to
from rdma_robust.language.flow.cfg import Program
from rdma_robust.orders.guarantees import given_by, order_giving, with_implied
from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_strength import EventKinds, keeps_all_of
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.semantics.like_orders import event_kinds, like_orders

IN_ORDER = "receives in order"
"""What a table lacks that lets messages take any posted receive."""


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """An order table: whether the program is robust under it, None if that is left open (`reason`), and what the table lacks
    of the set to which it comes closest."""

    order: str
    gives: bool | None
    lacks: tuple[str, ...] = ()
    reason: str = ""


def table_answers(
    program: Program,
    found: MinimalSets,
    orders: Sequence[str],
    decide: Callable[[str], Outcome],
    *,
    most: int,
    within: str | None = None,
) -> tuple[TableAnswer, ...]:
    """Return what tables answer; none where it is open whether every guarantee together is enough. `decide` decides the
    program under an order, as often as `most` leaves with the decisions of `found`.

    Where `found` is about the guarantees of the order `within`, its counterexamples say nothing of tables that give others.
    """
    if found.strongest.verdict is Verdict.UNKNOWN:
        return ()
    like = like_orders(program, dict.fromkeys([*orders, *(order_giving(given_by(each)) for each in orders)]))
    kinds, relevant = event_kinds(program), relevant_to(program)
    asked = relevant if within is None else relevant & given_by(within)
    decided: dict[str, tuple[bool | None, str]] = {}
    answers = list[TableAnswer]()
    for order in orders:
        given = given_by(order)
        first = order if order_table(order).unknown else like[order]
        exact = first == like[order_giving(given)] and given & relevant <= asked
        said = _by_sets(found, order, kinds, exact=exact)
        if said is None and first not in decided:
            decided[first] = _decided(decide, order, checks_left=found.checks + len(decided) < most)
        gives, reason = (said, "") if said is not None else decided[first]
        lacks = () if gives else lacking_of(given, found.sets) or ()
        if gives is False and found.sets and not lacks and order_table(order).matching == "any":
            lacks = (IN_ORDER,)
        answers.append(TableAnswer(order, gives, lacks, reason))
    return tuple(answers)


def _by_sets(found: MinimalSets, order: str, kinds: EventKinds, *, exact: bool) -> bool | None:
    """Return what minimal sets say of a table, None for nothing; `exact` says that it keeps of these kinds of events
    what its guarantees do, and gives none that was not asked about."""
    if any(keeps_all_of(order, order_giving(with_implied(names)), kinds) for names in found.sets):
        return True
    given = given_by(order)
    broken = found.strongest.verdict is Verdict.NOT_ROBUST or any(not each.forbidden_by & given for each in found.breaches)
    return False if exact and broken else None


def _decided(decide: Callable[[str], Outcome], order: str, *, checks_left: bool) -> tuple[bool | None, str]:
    if not checks_left:
        return None, "no check was left (--max-checks)"
    outcome = decide(order)
    if outcome.verdict is Verdict.UNKNOWN:
        return None, outcome.reason
    return outcome.verdict is Verdict.ROBUST, ""


def lacking_of(given: Names, sets: Sequence[Names]) -> tuple[str, ...] | None:
    """Return what guarantees lack of the set to which they come closest, None where there is no set."""
    missing = sorted((sorted(names - given) for names in sets), key=lambda each: (len(each), each))
    return tuple(missing[0]) if missing else None
