"""All minimal sets of guarantees under which a program is robust.

More guarantees never make a robust program not robust, so the question is monotone. A counterexample under some guarantees
is one under all with which it stays consistent: a set that is enough has a guarantee outside of those, which is a constraint
that costs no decision. A minimal set that meets all constraints so far is decided: it is enough, and then minimal, or it
gives another constraint. Source: Liffiton et al., Fast, flexible MUS enumeration, Constraints 21 (2016);
docs/theory-orders.md, "What a program needs".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rdma_robust.language.flow.cfg import Program, steps
from rdma_robust.model import Model
from rdma_robust.orders.guarantees import (
    COMPLETIONS,
    RECEIVES,
    given_by,
    guarantees,
    implied_by,
    not_implied,
    order_giving,
    with_implied,
)
from rdma_robust.outcome import Outcome, Verdict, Witness
from rdma_robust.semantics.axioms import is_consistent
from rdma_robust.semantics.event_table import acts_of
from rdma_robust.semantics.kinds import kind_of, kind_of_words, makes_variant
from rdma_robust.semantics.like_orders import atomic_rows
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.order_table import row_name
from rdma_robust.semantics.trace import CPU_TYPES, Event, EventType
from rdma_robust.text import count

Decide = Callable[[Model], Outcome]
Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class Breach:
    """A counterexample of a program, and the guarantees of which one is needed to forbid it."""

    outcome: Outcome
    forbidden_by: Names


@dataclass(frozen=True, slots=True)
class MinimalSets:
    """The minimal sets of a program, the counterexamples that say why nothing less is enough, and what is left open.

    `strongest` is the outcome with every guarantee: if that is not robust, no set is enough. Without `open` there are no
    other minimal sets.
    """

    strongest: Outcome
    sets: tuple[Names, ...]
    breaches: tuple[Breach, ...]
    open: tuple[str, ...]
    checks: int

    def breach_without(self, guarantee: str, names: Names) -> Breach | None:
        """Return a counterexample that the guarantees of a set forbid, but without this one do not."""
        given = with_implied(names)
        return next((each for each in self.breaches if each.forbidden_by & given == {guarantee}), None)


def minimal_sets(program: Program, model: Model, decide: Decide, most: int, within: str | None = None) -> MinimalSets:
    """Return the minimal sets of guarantees under which `program` is robust on the hardware of `model`, whatever its order;
    of those that the order `within` gives, if there is one.

    `decide` decides the program under a model. No more than `most` decisions are made; what `decide` raises is not caught.
    """
    asked = relevant_to(program) if within is None else relevant_to(program) & given_by(within)
    strongest = decide(replace(model, order=order_giving(asked)))
    checks, sets, breaches, left = 1, list[Names](), list[Breach](), list[str]()
    if strongest.verdict is not Verdict.ROBUST:
        why = [strongest.reason] if strongest.verdict is Verdict.UNKNOWN else []
        return MinimalSets(strongest, (), (), tuple(why), checks)
    candidates: list[Names] = [frozenset()]
    undecided: set[Names] = set()
    while (names := next((each for each in candidates if each not in sets and each not in undecided), None)) is not None:
        if checks >= most:
            left.append(f"reached the limit of {count(most, 'check')} (--max-checks)")
            break
        outcome = decide(replace(model, order=order_giving(names)))
        checks += 1
        if outcome.verdict is Verdict.ROBUST:
            sets.append(names)
        elif outcome.witness is None:
            undecided.add(names)
            left.append(f"with {', '.join(sorted(not_implied(names))) or 'none'}: {outcome.reason}")
        else:
            breach = Breach(outcome, _least(asked - _grown(outcome.shown, outcome.witness, model, names, asked)))
            breaches.append(breach)
            candidates = met(candidates, breach.forbidden_by)
    return MinimalSets(strongest, tuple(map(not_implied, sets)), tuple(breaches), tuple(left), checks)


def met(candidates: Sequence[Names], constraint: Names) -> list[Names]:
    """Return the minimal sets that have one of `constraint` and include one of `candidates`, which are minimal; all of them
    have what their guarantees come with."""
    found = {each for each in candidates if each & constraint}
    longer = {with_implied(each | {name}) for each in candidates if not each & constraint for name in constraint}
    found |= {each for each in longer if not any(other < each or other == each for other in found)}
    least = [each for each in found if not any(other < each for other in found)]
    return sorted(least, key=lambda each: (len(each), sorted(each)))


def _least(constraint: Names) -> Names:
    """Return the guarantees of a constraint that come with no other one of it, which would be enough to meet it."""
    return frozenset(name for name in constraint if not implied_by(name) & constraint)


def types_in(program: Program) -> frozenset[str]:
    """Return the types of events that the program has, by their names in order tables."""
    ops = [step.op for thread in program.threads for _, _, step in steps(thread)]
    made = {(act.type, makes_variant(act.type, op)) for op in ops for act in acts_of(op)}
    types = {row_name(kind_of_words(each, None, variant=variant)) for each, variant in made} | atomic_rows(program)
    return frozenset(types | {each.value for each, _ in made if each in CPU_TYPES})


def relevant_to(program: Program) -> Names:
    """Return the guarantees about types of events that the program has."""
    types = types_in(program)
    needed = {COMPLETIONS: {EventType.P.value}, RECEIVES: {EventType.RP.value}}
    return frozenset(
        name
        for name, each in guarantees().items()
        if (needed[name] <= types if name in needed else any({*cell} <= types for cell in each.cells))
    )


def _grown(program: Program, witness: Witness, model: Model, names: Names, asked: Names) -> Names:
    """Return a set of guarantees, `names` among them, as large as was found, with which the counterexample is one too, with
    its events in the same order."""

    def stands(given: Names) -> bool:
        weaker = replace(model, order=order_giving(given))
        return is_consistent(trace_of_order(witness.order, program, weaker), weaker)

    turned = {(row(earlier), row(later)) for earlier, later in turned_round(witness.order)}
    kept = {name for name in asked - names if not any(guarantees()[name].is_about(*pair) for pair in turned)}
    found = names | kept if stands(names | kept) else names
    for name in sorted(asked - found):
        if stands(found | {name}):
            found |= {name}
    return found


def turned_round(order: Iterable[Event]) -> Iterator[tuple[Event, Event]]:
    """Yield the events of cards on one queue pair that take effect against program order, the earlier of it first."""
    behind: list[Event] = []
    for event in order:
        if event.remote is None:
            continue
        for other in behind:
            if (other.thread, other.remote) == (event.thread, event.remote) and other.position > event.position:
                yield event, other
        behind.append(event)


def row(event: Event) -> str:
    """Return the name of the row of an event in order tables."""
    return row_name(kind_of(event.type, event))
