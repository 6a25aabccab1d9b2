"""The engine `states`: all states of the normal form (Lemma 1), and what they answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rdma_robust.errors import Span
from rdma_robust.limits import Limits
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.courses import Course, blocked, unmatched
from rdma_robust.messages.machine.flat_code import FlatProcess, flat
from rdma_robust.messages.machine.group_calls import CALL_DIFFERENCES
from rdma_robust.messages.machine.interchangeable import Alike, interchangeable_processes
from rdma_robust.messages.machine.local_runs import Cut
from rdma_robust.messages.machine.local_table import LocalTable, State
from rdma_robust.messages.machine.shortening import cut_to_the_end, lean
from rdma_robust.messages.machine.state_search import Arrival, Broke, SearchFindings, StateSearch
from rdma_robust.messages.message_answers import (
    BufferAnswer,
    Deadlock,
    Leak,
    MatchedPair,
    Matching,
    Matchings,
    MessageQuestions,
    Mismatch,
    OperationId,
    Schedule,
    Tri,
    Violation,
)

_MOST_STATES: Final = 20_000
"""States of a search for runs with the fewest matches."""

_CUTS: dict[Cut, str] = {
    "steps": "{} takes more steps than are followed without waiting",
    "ahead": "{} issues without end and without waiting",
    "digits": "{} computes with numbers that are too large",
    "many": "{} completes some of more requests at once than are tried in every way",
}


def by_states(program: MessageProgram, buffer: Buffer, questions: MessageQuestions, limits: Limits) -> BufferAnswer:
    """Answer all questions about a program by its states under one buffer semantics: the engine `states`.

    Of processes that are interchangeable it does not matter who is who; only matchings are counted one by one. All but
    deadlocks is under `any` as it is under `infinite` (Lemma 2), and deadlocks have a search of their own.
    """
    interchangeable = interchangeable_processes(program)
    if buffer == "any":
        return _by_states_of_any(program, questions, limits, interchangeable)
    return _by_states_of(program, buffer, questions, limits, interchangeable)


def _by_states_of_any(
    program: MessageProgram, questions: MessageQuestions, limits: Limits, interchangeable: Alike | None
) -> BufferAnswer:
    search = _searched(program, "any", questions, limits.share(0.5), interchangeable, names=False)
    deadlock = _deadlock(_shortest(search, questions, limits.share(0.5)))
    infinite = _by_states_of(program, "infinite", questions, limits, interchangeable)
    deadlock = deadlock or infinite.deadlock
    reasons = [*([infinite.reason] if infinite.reason else []), *_reasons(search)]
    answer = replace(
        infinite,
        buffer="any",
        deadlocked=_tri(deadlock is not None, not _reasons(search)),
        deadlock=deadlock,
        reason="; ".join(dict.fromkeys(reasons)),
        work={
            "states": len(search.arrivals) + infinite.work["states"],
            "matches": search.found.matches + infinite.work["matches"],
        },
    )
    return lean(program, answer)


def _by_states_of(
    program: MessageProgram, buffer: Buffer, questions: MessageQuestions, limits: Limits, interchangeable: Alike | None
) -> BufferAnswer:
    """Answer all questions, under `zero` or `infinite`.

    A search that keeps the names of operations finds pairs and library procedures in different orders, if there are any or
    pairs are asked for; it ends where a state is met again but for names, as then operations have no end, and one without
    names decides the rest. Matchings are counted by a search of their own.
    """
    names = questions.pairs or any(flat(each).calls_procedures for each in program.processes)
    search = _searched(program, buffer, questions, limits, interchangeable, names=names)
    named = search.found
    if named.repeats:
        search = _searched(program, buffer, questions, limits, interchangeable, names=False)
    found = search.found
    shortest = _shortest(search, questions, limits)
    reasons = _reasons(search)
    exhausted = not reasons
    matchings = None
    if questions.count:
        matchings, why = _counted(program, buffer, questions, limits)
        reasons += [each for each in why if each not in reasons]
    if questions.pairs and named.repeats:
        reasons.append("receives and sends without end, so not all pairs are listed")
    return BufferAnswer(
        buffer,
        "states",
        _tri(bool(found.violations), exhausted),
        _tri(found.deadlock is not None, exhausted),
        _tri(found.leak is not None, exhausted),
        _violations(shortest),
        _deadlock(shortest),
        _leak(shortest),
        _pairs(named, interchangeable) if questions.pairs else None,
        not questions.pairs or (exhausted and not named.repeats),
        matchings,
        _mismatches(program, named),
        "; ".join(reasons),
        {"states": len(search.arrivals), "matches": found.matches},
    )


def _searched(
    program: MessageProgram,
    buffer: Buffer,
    questions: MessageQuestions,
    limits: Limits,
    interchangeable: Alike | None = None,
    *,
    names: bool = True,
    history: bool = False,
) -> StateSearch:
    table = LocalTable(program, buffer, limits, questions.loop_bound, names, history)
    search = StateSearch(table, questions, limits, alike=interchangeable)
    search.search()
    return search


def _shortest(search: StateSearch, questions: MessageQuestions, limits: Limits) -> StateSearch:
    """Return a search that has found the same with the fewest matches, if that is not too much; else `search` itself."""
    found = search.found
    if not found.violations and found.deadlock is None and found.leak is None:
        return search
    most = _MOST_STATES if limits.states is None else min(_MOST_STATES, limits.states)
    table = LocalTable(search.table.program, search.table.buffer, limits.share(0.5), questions.loop_bound, names=False)
    other = StateSearch(table, questions, replace(limits.share(0.5), states=most), fewer=False, alike=search.alike)
    other.wanted = found
    other.search()
    return other if other.has_what_is_wanted() else search


def _pairs(named: SearchFindings, interchangeable: Alike | None) -> frozenset[MatchedPair]:
    return frozenset(named.pairs if interchangeable is None else interchangeable.expanded(named.pairs))


def _tri(found: bool, exhausted: bool) -> Tri:
    return "yes" if found else "no" if exhausted else "unknown"


def _reasons(search: StateSearch) -> list[str]:
    """Return why not all states were seen."""
    limit = [f"reached {search.found.said}"] if search.found.said else []
    return limit + [_CUTS[cut].format(search.table.processes[process].name) for process, cut in sorted(search.table.cuts)]


def _counted(
    program: MessageProgram, buffer: Buffer, questions: MessageQuestions, limits: Limits
) -> tuple[Matchings, list[str]]:
    search = _searched(program, buffer, questions, limits, names=True, history=True)
    found = search.found
    reasons = _reasons(search)
    if found.repeats:
        reasons.append("receives and sends without end, so not all matchings are counted")
    count = min(len(found.matchings), questions.limit)
    exact = not reasons and len(found.matchings) <= questions.limit
    listed = [_matching(each) for _, each in zip(range(questions.listed), found.matchings, strict=False)]
    return Matchings(count, exact, tuple(listed)), reasons


def _matching(taken: tuple[object, ...]) -> Matching:
    pairs = []
    for receiver, each in enumerate(taken):
        assert isinstance(each, tuple)
        pairs += [MatchedPair(OperationId(receiver, nth), OperationId(sender, send)) for nth, sender, send in each]
    return frozenset(pairs)


def _violations(search: StateSearch) -> tuple[Violation, ...]:
    found = []
    for (span, kind), broke in search.found.violations.items():
        schedule = _to_violation(search, broke, (span, kind))
        found.append(
            Violation(broke.process, kind, span, schedule, said_of(search.table.processes[broke.process], broke.broken.kind))
        )
    return tuple(found)


_FAULTS = {
    "assert": "the assertion is false",
    "division": "division by zero",
    "ready": "no posted receive takes a message that is sent ready",
    "index": "an index is out of range",
    "destination": "the destination is no process",
    "source": "the source is no process",
    "tag": "a tag is negative",
    "kind": "a number is used as an array, or an array as a number",
    "length": "an array of negative length",
    "message": "the request holds no message",
    "held": "the request holds a message that was not received",
    "abort": "the program is aborted",
    "type": "the message is of another type",
    "member": "this process, or the root, is none of the group",
    "collective": "another collective operation than that of another process",
    "root": "another root than that of another process",
    "operation": "another operation than that of another process",
    "signature": "another type than that of another process",
    "room": "the message is longer than there is room",
}


def said_of(process: FlatProcess, kind: str) -> str:
    """Return what a violation of this kind is, for people."""
    return f"{process.name}: {_FAULTS[kind]}"


def _way(search: StateSearch, state: State) -> list[Arrival]:
    """Return the arrivals from the start to a state."""
    way = [search.arrivals[state]]
    while way[-1].before is not None:
        way.append(search.arrivals[way[-1].before])
    return way[::-1]


def _course(search: StateSearch, state: State | None) -> Course:
    """Return the run to a state; for none, one that has not begun."""
    course = Course(search.table.program, search.table.buffer)
    for arrival in [] if state is None else _way(search, state):
        if arrival.hop is None:
            for process, trail in enumerate(arrival.trails):
                course.follow(process, trail)
            continue
        hop = arrival.hop
        course.hop(hop)
        for process, trail in zip((hop.receiver, hop.sender), arrival.trails, strict=True):
            course.follow(process, trail)
    return course


def _to_violation(search: StateSearch, broke: Broke, place: tuple[Span, str]) -> Schedule:
    if broke.broken.kind in CALL_DIFFERENCES:
        return _to_difference(search, broke, place)
    course = _course(search, broke.before)
    if broke.hop is not None:
        course.hop(broke.hop)
    course.follow(broke.process, broke.broken.trail)
    return cut_to_the_end(search.table.program, search.table.buffer, tuple(course.moves))


def _to_difference(search: StateSearch, broke: Broke, place: tuple[Span, str]) -> Schedule:
    """Return the run up to where two calls of collective operations differ."""
    course = Course(search.table.program, search.table.buffer)
    for move in _course(search, broke.before).moves:
        course.make(move)
        if place in course.clashes:
            break
    return tuple(course.moves)


def _deadlock(search: StateSearch) -> Deadlock | None:
    state = search.found.deadlock
    if state is None:
        return None
    course = _course(search, state)
    return Deadlock(blocked(course), tuple(course.moves))


def _leak(search: StateSearch) -> Leak | None:
    state = search.found.leak
    if state is None:
        return None
    course = _course(search, state)
    return Leak(*unmatched(course), tuple(course.moves))


def _mismatches(program: MessageProgram, named: SearchFindings) -> tuple[Mismatch, ...]:
    return tuple(
        Mismatch(each.position, each.processes, each.calls, program.processes[each.processes[0]].span)
        for each in sorted(named.differences.values())
    )
