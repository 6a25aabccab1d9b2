"""Candidate pairs of a receive and a send: four rules that drop those that can never be matched, with their reasons.

Too many candidates are harmless, since the constraints refuse them; so a pair may go only if no execution has it. "Surely"
means: in every execution in which both operations happen. Definition: the four rules, Lemma 5 of docs/theory-messages.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.messages.encoding.endpoint_pairs import EndpointPairs, Truths, endpoint_pairs, implied_by_group, same_rows
from rdma_robust.messages.encoding.possible_values import TermValues
from rdma_robust.messages.encoding.symbolic_terms import Symbol
from rdma_robust.messages.encoding.unrolled import (
    Event,
    Guards,
    ReceiveEvent,
    SendEvent,
    UnrolledProgram,
    WaitEvent,
    acceptance,
)
from rdma_robust.messages.language.message_program import Buffer

_GUARDS: Final = 16
"""So many of the latest events with different guards are compared with the next one."""

Node = tuple[str, int, int]
"""An event ("event", process, position), or the match of a send or receive ("send" or "receive", its number, 0)."""


@dataclass(frozen=True, slots=True)
class MustOrder:
    """For sends, by their numbers, the receives that are matched before they are issued, as bits; and what never happens."""

    matched_before: dict[int, int]
    never_issued: frozenset[int]
    never_matched: frozenset[int]

    def excluded(self, pairs: EndpointPairs) -> Truths:
        """Return which pairs of an endpoint the order excludes."""
        found = np.zeros(pairs.possible.shape, np.bool_)
        if not pairs.receives:
            return found
        low = pairs.receives[0].number
        rows = np.array([each.number - low for each in pairs.receives])
        size = int(rows[-1]) + 1
        for column, send in enumerate(pairs.sends):
            if send.number in self.never_issued:
                found[:, column] = True
                continue
            bits = (self.matched_before.get(send.number, 0) >> low) & ((1 << size) - 1)
            if bits:
                raw = np.frombuffer(bits.to_bytes(size // 8 + 1, "little"), np.uint8)
                found[:, column] = np.unpackbits(raw, bitorder="little")[rows].astype(np.bool_)
        found[[each.number in self.never_matched for each in pairs.receives]] = True
        return found


def must_order(unrolled: UnrolledProgram, endpoints: Sequence[EndpointPairs], buffer: Buffer) -> MustOrder:
    """Return what follows from the candidates as they are. An edge a -> b says: if b happens, so does a, and before it."""
    follows: dict[Node, list[Node]] = {}
    degree: dict[Node, int] = {}
    for a, b in _edges(unrolled, endpoints, buffer):
        follows.setdefault(a, []).append(b)
        degree[b] = degree.get(b, 0) + 1
        degree.setdefault(a, 0)
    for node in _without_candidates(unrolled, endpoints, buffer):
        degree[node] = degree.get(node, 0) + 1
    before: dict[Node, int] = {}
    todo = [node for node, count in degree.items() if not count]
    for node in todo:
        own = 1 << node[1] if node[0] == "receive" else 0
        here = before.get(node, 0) | own
        before[node] = here
        for after in follows.get(node, ()):
            before[after] = before.get(after, 0) | here
            degree[after] -= 1
            if not degree[after]:
                todo.append(after)
    happens = set(todo)
    issues = [(send.number, ("event", send.process, send.position)) for send in unrolled.sends]
    return MustOrder(
        {number: before.get(node, 0) for number, node in issues},
        frozenset(number for number, node in issues if node in degree and node not in happens),
        frozenset(node[1] for node in degree if node[0] == "receive" and node not in happens),
    )


def _without_candidates(unrolled: UnrolledProgram, endpoints: Sequence[EndpointPairs], buffer: Buffer) -> Iterator[Node]:
    """Yield matches that never are, of which something may wait."""
    receives: set[int] = set()
    sends: set[int] = set()
    for pairs in endpoints:
        receives.update(pairs.receives[row].number for row in np.flatnonzero(pairs.possible.any(1)))
        sends.update(pairs.sends[column].number for column in np.flatnonzero(pairs.possible.any(0)))
    yield from (("receive", each.number, 0) for each in unrolled.receives if each.number not in receives)
    if unrolled.has_rendezvous(buffer):
        yield from (("send", each.number, 0) for each in unrolled.sends if each.number not in sends)


def _edges(unrolled: UnrolledProgram, endpoints: Sequence[EndpointPairs], buffer: Buffer) -> Iterator[tuple[Node, Node]]:
    for events in unrolled.events:
        yield from _program_order(unrolled, events, buffer)
    for pairs in endpoints:
        yield from _single_candidates(pairs)
        if pairs.takes_everything:
            yield from _in_order(pairs)
    if unrolled.has_rendezvous(buffer):
        yield from _single_receives(endpoints)


def _program_order(unrolled: UnrolledProgram, events: Sequence[Event], buffer: Buffer) -> Iterator[tuple[Node, Node]]:
    """Yield edges from what surely happens before an event of the same process, and between issues, matches and waits."""
    last: dict[int, tuple[Symbol, Node]] = {}
    known = Guards()
    for event in events:
        if not isinstance(event, SendEvent | ReceiveEvent | WaitEvent):
            continue
        node: Node = ("event", event.process, event.position)
        yield from ((before, node) for guard, before in last.values() if known.implies(event.guard, guard))
        last.pop(event.guard.number, None)
        last[event.guard.number] = (event.guard, node)
        if len(last) > _GUARDS:
            del last[next(number for number, (guard, _) in last.items() if not guard.constant)]
        match event:
            case SendEvent():
                yield node, ("send", event.number, 0)
            case ReceiveEvent():
                yield node, ("receive", event.number, 0)
            case WaitEvent() if unrolled.opened(event, buffer) == "zero":
                yield (event.kind, event.operation, 0), node
            case _:
                pass


def _single_candidates(pairs: EndpointPairs) -> Iterator[tuple[Node, Node]]:
    for row in np.flatnonzero(pairs.possible.sum(axis=1) == 1):
        send = pairs.sends[int(pairs.possible[row].argmax())]
        yield ("event", send.process, send.position), ("receive", pairs.receives[row].number, 0)


def _in_order(pairs: EndpointPairs) -> Iterator[tuple[Node, Node]]:
    """Yield edges between neighbours of receives that take everything, if the first is surely posted where the second is."""
    known, last = Guards(), None
    for receive in pairs.receives:
        if last is not None and known.implies(receive.guard, last.guard):
            yield ("receive", last.number, 0), ("receive", receive.number, 0)
        if last is None or not last.guard.constant or receive.guard.constant:
            last = receive


def _single_receives(endpoints: Sequence[EndpointPairs]) -> Iterator[tuple[Node, Node]]:
    """Yield edges from the issue of a receive to the match of the send whose only candidate it is."""
    counts: dict[int, int] = {}
    only: dict[int, tuple[SendEvent, ReceiveEvent]] = {}
    for pairs in endpoints:
        for column in np.flatnonzero(pairs.possible.sum(axis=0)):
            send = pairs.sends[column]
            counts[send.number] = counts.get(send.number, 0) + int(pairs.possible[:, column].sum())
            only[send.number] = send, pairs.receives[int(pairs.possible[:, column].argmax())]
    for number, (_, receive) in only.items():
        if counts[number] == 1:
            yield ("event", receive.process, receive.position), ("send", number, 0)


RULES: Final = frozenset({1, 2, 3, 4})

REASONS: Final = {
    1: "port, source or tag never fit",
    2: "too few receives before it can take the sends before this one in the channel, which it would take first",
    3: "too few other sends can be taken by the receives before it, which would take this one first",
    4: "it is matched before the send is issued, or one of the two never happens",
}
"""Why a pair is no candidate, by the number of the rule; "it" is the receive."""


@dataclass(frozen=True, slots=True)
class DroppedPair:
    """A receive and a send by their numbers, the rule that excludes the pair, and at which step."""

    receive: int
    send: int
    rule: int
    step: int

    @property
    def reason(self) -> str:
        return REASONS[self.rule]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The candidate pairs of an unrolled program under a buffer semantics, by endpoint. A receive is in one endpoint."""

    unrolled: UnrolledProgram
    buffer: Buffer
    endpoints: tuple[EndpointPairs, ...]
    _of_receive: dict[int, tuple[SendEvent, ...]] = field(default_factory=dict)

    def senders(self, receive: int) -> tuple[SendEvent, ...]:
        """Return the candidates of a receive, in the order of their numbers."""
        if not self._of_receive:
            for pairs in self.endpoints:
                for row, each in enumerate(pairs.receives):
                    found = tuple([pairs.sends[column] for column in np.flatnonzero(pairs.possible[row])])
                    self._of_receive[each.number] = found
        return self._of_receive.get(receive, ())

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield all candidate pairs: the numbers of a receive and a send."""
        for pairs in self.endpoints:
            for row, column in zip(*np.nonzero(pairs.possible), strict=True):
                yield pairs.receives[row].number, pairs.sends[column].number

    def count(self) -> int:
        return sum(int(pairs.possible.sum()) for pairs in self.endpoints)

    def dropped(self) -> Iterator[DroppedPair]:
        """Yield the pairs of one endpoint that are no candidates."""
        for pairs in self.endpoints:
            for row, column in zip(*np.nonzero(~pairs.possible), strict=True):
                rule, step = int(pairs.rule[row, column]), int(pairs.step[row, column])
                yield DroppedPair(pairs.receives[row].number, pairs.sends[column].number, rule, step)


def candidate_pairs(
    unrolled: UnrolledProgram, buffer: Buffer, limits: Limits = NO_LIMITS, rules: frozenset[int] = RULES
) -> Candidates:
    """Return the candidate pairs that are left when none of the `rules` drops another. Raises LimitReached.

    Only rule 4 depends on the buffer semantics. Without rule 1, sets of values are not looked at; constants always are.
    """
    found = Candidates(unrolled, buffer, endpoint_pairs(unrolled))
    step, changed = 2, True
    loose = any(not pairs.sure[pairs.possible].all() for pairs in found.endpoints)
    while changed:
        limits.look("looking for candidates")
        changed = False
        if 1 in rules and loose:
            changed |= _values(found, step)
        for pairs in found.endpoints:
            for rule, dropped in ((2, _messages_in_order), (3, _receives_in_order)):
                if rule in rules and pairs.possible.any():
                    changed |= pairs.drop(dropped(pairs), rule, step)
        if 4 in rules:
            order = must_order(unrolled, found.endpoints, buffer)
            for pairs in found.endpoints:
                changed |= pairs.drop(order.excluded(pairs), 4, step)
        step = min(step + 1, np.iinfo(np.uint16).max)
        found._of_receive.clear()
    return found


def _values(found: Candidates, step: int) -> bool:
    """Rule 1: drop pairs that do not fit whatever the values are; note those that surely fit."""
    changed = False
    sets = TermValues(found.unrolled, found.senders)
    for pairs in found.endpoints:
        never = np.zeros(pairs.possible.shape, np.bool_)
        for row, column in zip(*np.nonzero(pairs.possible & ~pairs.sure), strict=True):
            few = sets.of(acceptance(found.unrolled, pairs.receives[row], pairs.sends[column]))
            if few is not None and 1 not in few:
                never[row, column] = True
            elif few is not None and 0 not in few:
                pairs.sure[row, column] = changed = True
        changed |= pairs.drop(never, 1, step)
    return changed


def _messages_in_order(pairs: EndpointPairs) -> Truths:
    """Rule 2: let L be the sends of S's channel that surely precede S and that R surely accepts. They are matched before R,
    to receives before R; so if fewer of those may accept one of L than L has, R does not get S."""
    dropped = np.zeros(pairs.possible.shape, np.bool_)
    for columns in pairs.channels():
        if columns.stop - columns.start < 2:
            continue
        possible, guards = pairs.possible[:, columns], [each.guard for each in pairs.sends[columns]]
        for rows, surely in same_rows(pairs.sure[:, columns]):
            for group, happen in implied_by_group(guards):
                counted = surely & happen
                if not counted.any():
                    continue
                takes_one = np.logical_or.accumulate(possible & counted, axis=1)[:, :-1]
                earlier = np.zeros((len(possible), len(guards)), np.int32)
                earlier[1:, 1:] = np.cumsum(takes_one, axis=0, dtype=np.int32)[:-1]
                needed = np.concatenate(([0], np.cumsum(counted)[:-1]))
                dropped[:, columns] |= (earlier < needed) & np.outer(rows, group)
    return dropped


def _receives_in_order(pairs: EndpointPairs) -> Truths:
    """Rule 3: let E be the receives that surely precede R and surely accept S. They are matched before R, to sends that are
    neither S nor behind it in its channel; so if fewer of those may be accepted by one of E than E has, R does not get S."""
    dropped = np.zeros(pairs.possible.shape, np.bool_)
    if len(pairs.receives) < 2:
        return dropped
    channels = list(pairs.channels())
    for columns, surely in same_rows(pairs.sure.T):
        for group, happen in implied_by_group([each.guard for each in pairs.receives]):
            counted = surely & happen
            if not counted.any():
                continue
            taken = np.zeros(pairs.possible.shape, np.bool_)
            taken[1:] = np.logical_or.accumulate(pairs.possible & counted[:, None], axis=0)[:-1]
            others = np.broadcast_to(taken.sum(axis=1, dtype=np.int32)[:, None], taken.shape).copy()
            for channel in channels:
                others[:, channel] -= np.cumsum(taken[:, channel][:, ::-1], axis=1, dtype=np.int32)[:, ::-1]
            needed = np.concatenate(([0], np.cumsum(counted)[:-1]))
            dropped |= (others < needed[:, None]) & np.outer(group, columns)
    return dropped
