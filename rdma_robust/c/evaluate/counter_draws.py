"""Counters: words that nothing but fetch-and-add of positive numbers changes, so that no number is drawn from them twice;
and draws, where a thread looks at the number that it has drawn before it does anything else."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from rdma_robust.c.evaluate.operations import Choice, OnLane, Queue, RegisterUse, ThreadStatement, Word
from rdma_robust.c.evaluate.raw_automaton import RawAutomaton, RawEdge
from rdma_robust.c.evaluate.round_facts import World
from rdma_robust.digraph import by_key, closure

Name = TypeVar("Name")
_ADD: Final = re.compile(r"(?:(?:get )?\{(\d+)\} = )?faa\(\{(\d+)\}, \{(\d+)\}\)")
_READS: Final = frozenset(("{0} = {1}", "get {0} = {1}{2}", "get {0} = {1}{2} unsignaled"))
"""Forms of statements that read their second part."""
_FETCHES: Final = re.compile(r"get \{2\} = fetch\(\{0\}\)")
_POSTS: Final = ("put ", "get ", "send ", "faa(", "cas(", "swap(")


@dataclass(frozen=True, slots=True)
class CounterDraw:
    """A fetch-and-add of a counter, the place where its answer is looked at, and the steps that do."""

    counter: Word
    place: int
    looks: tuple[RawEdge, ...]


@dataclass(frozen=True, slots=True)
class _Addition:
    """A fetch-and-add: where its answer goes, if anywhere, its word, what is added, its queue pair, if it is remote, and
    what it is atomic with."""

    answer: object
    word: Word
    added: object
    connection: str | None
    is_signaled: bool
    domain: str


def draws(automata: Mapping[Name, RawAutomaton], world: World, received: Collection[Word]) -> dict[Name, list[CounterDraw]]:
    """Return the draws of each thread; those are left out of which it is not certain that no number is drawn twice, or that
    what is looked at is the number that was drawn."""
    added = {name: list(_additions(automaton)) for name, automaton in automata.items()}
    domains: dict[Word, set[str]] = {}
    for additions in added.values():
        for _, _, each in additions:
            domains.setdefault(each.word, set()).add(each.domain)
    words = {word for word, each in domains.items() if len(each) == 1 and word not in received}
    counters = {word for word in words if all(_keeps(automaton, word, world) for automaton in automata.values())}
    found: dict[Name, list[CounterDraw]] = {}
    for name, automaton in automata.items():
        others = [each for other, each in automata.items() if other != name]
        chains = []
        for place, edge, addition in added[name]:
            if addition.word in counters:
                chain = _chain(automaton, place, edge, addition)
                if chain and _is_own(addition, automaton, others, received):
                    chains.append((addition, chain))
        found[name] = _entered_by_draws(automaton, chains)
    return found


def _parts(edge: RawEdge) -> tuple[object, ...]:
    return edge.operation.parts if isinstance(edge.operation, ThreadStatement) else ()


def _additions(automaton: RawAutomaton) -> Iterator[tuple[int, RawEdge, _Addition]]:
    for place, edges in automaton.edges.items():
        for edge in edges:
            if (found := _addition(edge)) is not None:
                yield place, edge, found


def _addition(edge: RawEdge) -> _Addition | None:
    if not isinstance(edge.operation, ThreadStatement) or not (match := _ADD.match(edge.operation.form)):
        return None
    answer, word, added = (None if each is None else edge.operation.parts[int(each)] for each in match.groups())
    assert isinstance(word, Word)
    connection, form = _connection(edge.operation), edge.operation.form
    return _Addition(
        answer, word, added, connection, "unsignaled" not in form, f"{connection is None} {edge.operation.synchronises}"
    )


def _connection(statement: ThreadStatement) -> str | None:
    return next((each.connection for each in statement.parts if isinstance(each, OnLane | Queue)), None)


def _keeps(automaton: RawAutomaton, word: Word, world: World) -> bool:
    """Whether a thread does nothing to a word but read it and add positive numbers to it."""
    for place, edges in automaton.edges.items():
        for edge in edges:
            parts = _parts(edge)
            if word not in parts:
                continue
            assert isinstance(edge.operation, ThreadStatement)
            form = edge.operation.form
            is_read = (form in _READS and parts[0] != word) or (_FETCHES.match(form) is not None and parts.count(word) == 1)
            addition = _addition(edge)
            if not is_read and (
                addition is None or parts.count(word) > 1 or not _is_positive(automaton, place, addition.added, world)
            ):
                return False
    return True


def _is_positive(automaton: RawAutomaton, place: int, added: object, world: World) -> bool:
    """Whether what is added at a place is positive: a number, or a word that the thread has written before."""
    if not isinstance(added, Word):
        return isinstance(added, int) and added > 0
    values = world.values_of(added)
    if all(isinstance(each, int) and each > 0 for each in values):
        return True
    written = world.known.values.get(added, set()) if world.allowed is None else world.allowed.get(added, set())
    if not written or not all(isinstance(each, int) and each > 0 for each in written):
        return False

    def before_a_write(at: int) -> Iterator[int]:
        for edge in automaton.edges[at]:
            is_write = isinstance(edge.operation, ThreadStatement) and edge.operation.form == "{0} = {1}"
            if not (is_write and _parts(edge)[0] == added):
                yield edge.to

    return place not in closure([0], before_a_write)


def _chain(automaton: RawAutomaton, place: int, edge: RawEdge, addition: _Addition) -> list[tuple[int, RawEdge]]:
    """Return the steps from a fetch-and-add to the place where its answer is looked at; none if the answer may not be there
    by then, or something else comes in between."""
    steps, at, register = [(place, edge)], edge.to, ""
    is_there = not isinstance(addition.answer, Word)
    if isinstance(addition.answer, RegisterUse):
        register = addition.answer.name
    while len(steps) <= len(automaton.edges):
        behind = automaton.edges[at]
        if register and behind and all(_looks_at(each, register) for each in behind):
            return steps
        silent, seen = _next_seen(automaton, at)
        if len({(each.operation, each.to) for _, each in seen}) != 1:
            return []
        following = seen[0][1]
        operation, parts = following.operation, _parts(following)
        if not isinstance(operation, ThreadStatement):
            return []
        is_own_queue = parts[:1] == (Queue(addition.connection or ""),)
        if operation.form == "flush {0}" and is_own_queue:
            is_there = True
        elif operation.form == "poll {0}" and is_own_queue and addition.is_signaled and not is_there:
            is_there = _waiting(automaton, addition.connection).get(place) == 0
        elif operation.form == "{0} = {1}" and parts[1] == addition.answer and is_there and not register:
            register = operation.register
        else:
            return []
        steps += silent + seen
        at = following.to
    return []


def _next_seen(automaton: RawAutomaton, start: int) -> tuple[list[tuple[int, RawEdge]], list[tuple[int, RawEdge]]]:
    """Return the silent steps from a place on, as of a loop that polls, and the next ones that others see."""
    silent: list[tuple[int, RawEdge]] = []
    seen: list[tuple[int, RawEdge]] = []
    places = [start]
    for place in places:
        for edge in automaton.edges[place]:
            (seen if edge.operation is not None else silent).append((place, edge))
            if edge.operation is None and edge.to not in places:
                places.append(edge.to)
    return silent, seen


def _looks_at(edge: RawEdge, register: str) -> bool:
    return isinstance(edge.operation, Choice) and edge.operation.register == register


def _waiting(automaton: RawAutomaton, connection: str | None) -> dict[int, int]:
    """Return how many completions of a queue pair wait at each place; nothing if that depends on the way there."""
    found, todo = {0: 0}, [0]
    while todo:
        at = todo.pop()
        for edge in automaton.edges[at]:
            count = found[at]
            if isinstance(edge.operation, ThreadStatement) and _connection(edge.operation) == connection:
                form = edge.operation.form
                count += int(form.startswith(_POSTS) and "unsignaled" not in form) - int(form == "poll {0}")
            if edge.to not in found:
                found[edge.to] = count
                todo.append(edge.to)
            elif found[edge.to] != count:
                return {}
    return found


def _is_own(
    addition: _Addition, automaton: RawAutomaton, others: Iterable[RawAutomaton], received: Collection[Word]
) -> bool:
    """Whether nobody writes the word of an answer but the thread, and on the same queue pair."""
    answer = addition.answer
    if not isinstance(answer, Word):
        return True
    if answer in received or any(
        answer in _parts(edge) for each in others for edges in each.edges.values() for edge in edges
    ):
        return False
    for edges in automaton.edges.values():
        for edge in edges:
            if isinstance(edge.operation, ThreadStatement) and answer in edge.operation.parts:
                is_local = edge.operation.form == "{0} = {1}"
                if not is_local and _connection(edge.operation) != addition.connection:
                    return False
    return True


def _entered_by_draws(
    automaton: RawAutomaton, chains: list[tuple[_Addition, list[tuple[int, RawEdge]]]]
) -> list[CounterDraw]:
    """Return the draws whose numbers nobody looks at who has not drawn them: no other step leads into their chains."""
    entering = by_key((edge.to, edge) for edges in automaton.edges.values() for edge in edges)
    found: dict[int, CounterDraw] = {}
    for addition, chain in chains:
        mine = {id(edge) for other, steps in chains if other.word == addition.word for _, edge in steps}
        inside = [edge.to for _, edge in chain]
        if 0 not in inside and all(id(each) in mine for place in inside for each in entering[place]):
            found[inside[-1]] = CounterDraw(addition.word, inside[-1], tuple(automaton.edges[inside[-1]]))
    return list(found.values())
