"""An automaton without what nobody sees: steps without an effect, and places that can do the same.

Traces stay as they are, and so do hangs, if a thread that goes round without an effect until something comes is said to wait
for it: a loop around `ibv_poll_cq` is a `poll`. For each rule it is said why nothing else changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rdma_robust.c.automaton import EvaluatedThread, Guard, ThreadEdge
from rdma_robust.digraph import by_key, components
from rdma_robust.text import free_name

HALT: Final = "halt"
FAILS: Final = "assert 1 == 0"
"""What evaluation writes where a claim of the C has failed."""

_POLLS: Final = ("poll ", "rpoll ")


def simplified(thread: EvaluatedThread) -> EvaluatedThread:
    """Return a thread with the same executions; its places are numbered anew, in the order in which they are reached."""
    graph = _Graph({place: list(edges) for place, edges in thread.edges.items()})
    graph.end_halts()
    graph.claim()
    graph.take_together()
    while graph.merge_silent() | graph.merge_alike():
        pass
    return replace(thread, edges=graph.renumbered())


def waiting(thread: EvaluatedThread, nodes: Iterable[str], taken: Iterable[str]) -> EvaluatedThread:
    """Return a thread that waits for what never comes where it goes round forever, as at a poll of an idle queue pair, a
    lane with a name that is not `taken`; without another node it goes round."""
    endless = [place for place, (first, *more) in _nonempty(thread) if is_silent(first) and first.to == place and not more]
    others = [each for each in nodes if each != thread.process]
    if not endless or not others:
        return thread
    lane = free_name("never", set(taken))
    edges = dict(thread.edges)
    end = max(edges) + 1
    edges[end] = ()
    for place in endless:
        edges[place] = (replace(edges[place][0], statement=f"poll {lane}", to=end),)
    return replace(thread, edges=edges, posted=(f"qp {lane} to {others[0]}", *thread.posted))


def _nonempty(thread: EvaluatedThread) -> Iterator[tuple[int, tuple[ThreadEdge, ...]]]:
    return ((place, edges) for place, edges in thread.edges.items() if edges)


def guard_condition(guard: Guard) -> str:
    """Return a guard as a condition, '' where it always holds: what it may be, or not, whichever is shorter."""
    others = guard.among - guard.values
    if not others:
        return ""
    if len(others) < len(guard.values):
        return " && ".join(f"{guard.register} != {value}" for value in sorted(others))
    return " || ".join(f"{guard.register} == {value}" for value in sorted(guard.values)) or "1 == 0"


def is_silent(edge: ThreadEdge) -> bool:
    """Return whether nobody sees a step."""
    return not edge.statement and edge.guard is None


@dataclass(slots=True)
class _Graph:
    """Places with their steps; `same` says which place stands for one that is gone."""

    edges: dict[int, list[ThreadEdge]]
    same: dict[int, int] = field(default_factory=dict)

    def new(self) -> int:
        """Return a place without steps."""
        place = max(self.edges) + 1
        self.edges[place] = []
        return place

    def find(self, place: int) -> int:
        """Return the place that stands for a place."""
        while place in self.same:
            place = self.same[place]
        return place

    def out(self, place: int) -> list[ThreadEdge]:
        """Return the steps of a place, each once; guards with one target are one. A step that leads back unseen is left out,
        unless there is no other: then a thread goes round forever."""
        found: dict[tuple[object, ...], ThreadEdge] = {}
        for edge in self.edges.get(place, ()):
            to = self.find(edge.to)
            if edge.guard is not None and not edge.statement:
                key: tuple[object, ...] = ("guard", edge.guard.register, edge.guard.among, to)
                known = found[key].guard if key in found else None
                values = edge.guard.values | (known.values if known is not None else frozenset())
                found[key] = replace(found.get(key, edge), guard=replace(edge.guard, values=values), to=to)
            elif not (is_silent(edge) and to == place):
                found.setdefault(_label(replace(edge, to=to)), replace(edge, to=to))
        made = [_unguarded(each) for each in found.values()]
        return made or [ThreadEdge(place, chain=each.chain) for each in self.edges.get(place, ())[:1]]

    def end_halts(self) -> None:
        """A thread that halts has ended."""
        end = self.new()
        for place, edges in self.edges.items():
            self.edges[place] = [replace(each, statement="", to=end) if each.statement == HALT else each for each in edges]

    def claim(self) -> None:
        """Make a claim of a branch whose one side only fails: `assert` what leads to the other. Threads go on either way.

        C asks `r == 0 || r == 1` one by one. It is one claim: by itself the second would be about nothing where r is 0.
        """
        before = dict(self.edges)
        for place, asked in before.items():
            edges = [answer for each in asked for answer in _answers(before, each, frozenset({place}))]
            failing = {
                id(each): fail for each in edges if each.guard is not None and (fail := self._fails(each.to)) is not None
            }
            chains = {fail.chain for fail in failing.values()}
            if len(chains) != 1 or any(each.guard is None or each.statement for each in edges):
                continue
            one = edges[0].guard
            assert one is not None
            holds = [each.guard.values for each in edges if each.guard is not None and id(each) not in failing]
            held = Guard(one.register, frozenset[int]().union(*holds), one.among)
            behind = self.new()
            self.edges[behind] = [replace(each, to=failing[id(each)].to) if id(each) in failing else each for each in edges]
            self.edges[place] = [ThreadEdge(behind, f"assert {guard_condition(held)}", None, chains.pop())]

    def _fails(self, place: int) -> ThreadEdge | None:
        edges = self.edges.get(place, [])
        return edges[0] if len(edges) == 1 and edges[0].statement == FAILS and edges[0].guard is None else None

    def take_together(self) -> None:
        """Let a poll that may find several completions take the first before it is known whether there is another one.

        Evaluation has a way for each number of completions, and those with more have places between them, where nothing but
        the next one can happen: a thread there would wait for what the C does not wait for. Behind the first completion it
        takes another, or goes on unseen as with one.
        """
        coming: dict[int, int] = {}
        for edge in (each for edges in self.edges.values() for each in edges):
            coming[edge.to] = coming.get(edge.to, 0) + 1
        todo = list(self.edges)
        while todo:
            place = todo.pop()
            alike = by_key(((edge.statement, edge.guard, edge.chain), edge) for edge in self.edges[place])
            for edges in alike.values():
                between = [each for each in edges if coming.get(each.to) == 1 and self._is_between(each)]
                if len(edges) < 2 or not between:
                    continue
                first = self.new()
                others = [ThreadEdge(each.to, chain=each.chain) for each in edges if each not in between]
                self.edges[first] = [*others, *(step for each in between for step in self.edges[each.to])]
                self.edges[place] = [each for each in self.edges[place] if each not in edges]
                self.edges[place].append(replace(edges[0], to=first))
                todo.append(first)

    def _is_between(self, edge: ThreadEdge) -> bool:
        """Whether a poll is followed by one of the same call and nothing else."""
        steps = self.edges.get(edge.to, [])
        polls = [each for each in (edge, *steps) if _is_poll(each.statement)]
        return len(steps) == 1 and len(polls) == 2 and steps[0].chain == edge.chain

    def merge_silent(self) -> bool:
        """Merge places between which a thread goes round unseen: whatever one of them can do, each can."""
        silent = {place: [each.to for each in self.out(place) if is_silent(each)] for place in self._places()}
        changed = False
        for group in components(silent):
            rest = sorted(group)
            for place in rest[1:]:
                self.edges[rest[0]] = [*self.edges[rest[0]], *self.edges.pop(place)]
                self.same[place] = rest[0]
                changed = True
        return changed

    def merge_alike(self) -> bool:
        """Merge a place with one to which it goes unseen and that can do all that it can; and places with the same steps."""
        known: dict[frozenset[tuple[object, ...]], int] = {}
        changed = False
        for place in self._postorder():
            if place in self.same:
                continue
            steps = self.out(place)
            labels = frozenset(map(_label, steps))
            to = next(
                (each.to for each in steps if is_silent(each) and self._covers(each.to, labels - {_label(each)})), None
            )
            to = known.get(labels) if to is None else to
            if to is not None and to != place:
                self.same[place] = to
                changed = True
            else:
                known.setdefault(labels, place)
        return changed

    def _covers(self, place: int, labels: frozenset[tuple[object, ...]]) -> bool:
        return labels <= frozenset(map(_label, self.out(place)))

    def _places(self) -> Iterator[int]:
        return (place for place in self.edges if place not in self.same)

    def _postorder(self) -> list[int]:
        """Return the places that are reached, those behind a place before it where that is possible."""
        order: list[int] = []
        start = self.find(0)
        seen, stack = {start}, [(start, iter(self.out(start)))]
        while stack:
            place, steps = stack[-1]
            following = next((each.to for each in steps if each.to not in seen), None)
            if following is None:
                order.append(place)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(self.out(following))))
        return order

    def renumbered(self) -> dict[int, tuple[ThreadEdge, ...]]:
        """Return the places that are reached, numbered from 0 in the order in which a thread comes to them."""
        places = list(reversed(self._postorder()))
        numbers = {place: number for number, place in enumerate(places)}
        return {numbers[place]: tuple(replace(each, to=numbers[each.to]) for each in self.out(place)) for place in places}


def _answers(edges: Mapping[int, Sequence[ThreadEdge]], asked: ThreadEdge, seen: frozenset[int]) -> list[ThreadEdge]:
    """Return a guard with those of the place behind it, if they ask the same statement of C of the same register."""
    guard, more = asked.guard, edges.get(asked.to, ())
    if guard is None or asked.statement or asked.to in seen or not more:
        return [asked]
    found: list[ThreadEdge] = []
    for each in more:
        if each.guard is None or each.statement or each.chain != asked.chain or each.guard.register != guard.register:
            return [asked]
        if values := guard.values & each.guard.values:
            narrow = replace(each, guard=Guard(guard.register, values, guard.among))
            found += _answers(edges, narrow, seen | {asked.to})
    known = frozenset[int]().union(*(each.guard.values for each in found if each.guard is not None))
    return found if known == guard.values else [asked]


def _is_poll(statement: str) -> bool:
    return statement.startswith(_POLLS) or " = rpoll " in statement


def _label(edge: ThreadEdge) -> tuple[object, ...]:
    """Return what two steps have in common that are alike. A statement is one at its place in the C."""
    return edge.statement, edge.guard, edge.chain if edge.statement else (), edge.to


def _unguarded(edge: ThreadEdge) -> ThreadEdge:
    """Return a step without a guard that always holds."""
    guard = edge.guard
    return replace(edge, guard=None) if guard is not None and guard.values == guard.among else edge
