"""The number of writes of computed values that all threads of a program make in a run, at most: on their longest ways, and
in loops that end by the number that they draw from a counter, as often as the counter has numbers that do not end them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from rdma_robust.c.evaluate.c_values import Scalar
from rdma_robust.c.evaluate.counter_draws import CounterDraw, draws
from rdma_robust.c.evaluate.operations import Choice, RegisterUse, ThreadStatement, Word
from rdma_robust.c.evaluate.raw_automaton import UNBOUNDED, RawAutomaton, RawEdge, most
from rdma_robust.c.evaluate.round_facts import World
from rdma_robust.digraph import components

Name = TypeVar("Name")


def most_computed(
    automata: Mapping[Name, RawAutomaton],
    world: World,
    new: Collection[tuple[Word, Scalar]],
    received: Collection[Word],
) -> int:
    """Return how many writes of values in `new` all threads together can make; words in `received` are written by messages.

    A number is drawn from a counter once in a run, by whatever thread. So all threads together go round as often as there
    are numbers that lead round, and what a thread writes in between is on one way from one such number to the next.
    """
    if not new:
        return UNBOUNDED
    drawn = draws(automata, world, received)
    total, longest = 0, 0
    going_round: dict[Word, set[Scalar]] = {}
    for name, automaton in automata.items():
        cut = _leads_round(automaton, drawn.get(name, ()))
        starts = {0} | {edge.to for edge in cut.values()}
        for draw in drawn.get(name, ()):
            for edge in draw.looks:
                if id(edge) in cut and isinstance(edge.operation, Choice):
                    going_round.setdefault(draw.counter, set()).update(edge.operation.values)
        writing = {id(edge) for edge, writes in _writing_edges(automaton) if any(each in new for each in writes)}
        after = sum(int(id(edge) in writing) for edge in cut.values())
        rest = RawAutomaton({at: [edge for edge in edges if id(edge) not in cut] for at, edges in automaton.edges.items()})
        found = most(rest, lambda edge, writing=writing: int(id(edge) in writing), starts)  # type: ignore[misc]
        total += found
        longest = max(longest, found + min(after, 1))
    return min(total + longest * sum(map(len, going_round.values())), UNBOUNDED)


def written_values(edge: RawEdge) -> Iterable[tuple[Word, Scalar]]:
    """Return what a step computes and writes."""
    return edge.operation.writes if isinstance(edge.operation, ThreadStatement) else ()


def _leads_round(automaton: RawAutomaton, drawn: Iterable[CounterDraw]) -> dict[int, RawEdge]:
    """Return the steps behind draws that are on a circle, by identity."""
    component: dict[int, int] = {}
    following = {place: [edge.to for edge in edges] for place, edges in automaton.edges.items()}
    for number, places in enumerate(components(following)):
        component.update(dict.fromkeys(places, number))
    return {id(edge): edge for draw in drawn for edge in draw.looks if component.get(draw.place) == component.get(edge.to)}


def _writing_edges(automaton: RawAutomaton) -> Iterable[tuple[RawEdge, Iterable[tuple[Word, Scalar]]]]:
    """Yield the edges that write computed values, with these. A compare-and-swap whose answer is looked at behind it writes
    where that is what it expects: so a loop that goes on until it succeeds writes once."""
    for edges in automaton.edges.values():
        for edge in edges:
            behind, operation = automaton.edges[edge.to], edge.operation
            looks = [each.operation for each in behind if isinstance(each.operation, Choice)]
            if (
                not isinstance(operation, ThreadStatement)
                or not operation.form.startswith("{0} = cas(")
                or not behind
                or len(looks) < len(behind)
                or any(each.register != operation.register for each in looks)
            ):
                yield edge, written_values(edge)
                continue
            expected = operation.parts[2]
            for each, look in zip(behind, looks, strict=True):
                if isinstance(expected, RegisterUse) or expected in look.values:
                    yield each, written_values(edge)
