"""The relaxable edges of program order: accesses that may take effect before an earlier one of their thread.

Every rule that forces events into beta is followed, with the least beta there can be (:mod:`rules`). A store that waits in a
buffer forces the NIC events behind it, on every queue pair, and with them the polls that take their completions.

Source: Appendix D.1 of the paper; docs/theory-deployed.md, "Store buffers", T1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from rdma_robust.language.flow.cfg import Cell
from rdma_robust.limits import NEVER, Poll
from rdma_robust.model import Model
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.event_graph import EventGraph
from rdma_robust.robustness.forwarding import buffered
from rdma_robust.semantics.kinds import Kind, kind_of, type_of
from rdma_robust.semantics.order_table import (
    Landing,
    apart,
    behind_poll,
    by_word,
    fence_lands,
    gains_behind_poll,
    includes,
    ippo_scope,
    landing_of,
    nfo_between,
    observed_scope,
    oppo_scope,
    visible_when_polled,
)
from rdma_robust.semantics.trace import CPU_TYPES, NIC_WRITE_TYPES, STORE_TYPES, EventType

_MOST_UNPOLLED = 16
"""Outstanding completions beyond which a queue pair is taken to have any number of them."""

_UNBOUNDED = 1 << 30

Polls = tuple[tuple[tuple[str, Landing | None], int], ...]
"""By the other node of a queue pair after how many polls, at most, one is in beta (None), or has taken the completion of a
write of beta that no poll shows (where completions give order); of others nothing is known."""


@dataclass(frozen=True, slots=True)
class _After:
    """Facts behind an event a of beta: whether it is a store that waits in a buffer, which kinds are in beta since, with
    their queue pairs, and their words where the order table asks for these, on which queue pairs an nF overtook an nlW,
    and when polls are in beta. The read of the request under way is its `own`, if it is in beta and the order table says
    nothing of its writes.
    """

    point: int
    store: bool
    beta: frozenset[tuple[str | None, Kind, Cell | None]]
    fenced: frozenset[str | None] = frozenset()
    polls: Polls = ()
    own: bool = False


class ThreadRelaxation:
    """The accesses of a thread that may be in alpha although a program-order earlier access is in beta.

    After an event a of beta every event that the rules of the instrumentation force into beta is followed: oppo, the nlW /
    nF / nlR rule, and polls of completions that force theirs. The k-th poll of a queue pair takes the k-th completion, so a
    completion is polled at the latest when as many polls followed it as completions can be outstanding at its point. All
    other events are taken to be in alpha: any beta of a run contains what is followed here, and every rule is monotone.
    """

    def __init__(self, graph: EventGraph, model: Model, poll: Poll = NEVER) -> None:
        self.graph = graph
        self.poll = poll
        self.model = model
        self.tells = behind_poll(model) is not None
        self.fence_lands = fence_lands(model)
        self.out: dict[int, list[EventEdge]] = {}
        for edge in graph.edges:
            self.out.setdefault(edge.source, []).append(edge)
        self.unpolled: dict[str, dict[int, int]] = {}
        self.apart = {read for read, _ in apart(model)}

    def overtaking(self, edge: EventEdge) -> list[EventEdge]:
        """Return the events that may be in alpha, or the pivot, while the earlier event of `edge` is in beta."""
        found: list[EventEdge] = []
        store = buffered(edge, self.model)
        if edge.type is None or (edge.type in CPU_TYPES and not store):
            return found
        start = _After(edge.target, store, frozenset())
        most: dict[tuple[object, ...], Polls] = {}
        first = start if store else self._after_nic(start, edge, edge.also or edge.type)
        todo = [] if first is None else [first]
        while todo:
            self.poll()
            now = todo.pop()
            key = (now.point, now.beta, now.fenced, now.own)
            if key in most:
                if (joined := _later(most[key], now.polls)) == most[key]:
                    continue
                now = replace(now, polls=joined)
            most[key] = now.polls
            for later in self.out.get(now.point, ()):
                after = self._step(edge.remote, now, later, found)
                if after is not None:
                    todo.append(after)
        return found

    def _step(self, remote: str | None, now: _After, later: EventEdge, found: list[EventEdge]) -> _After | None:
        """Follow one event behind an event of beta on the queue pair to `remote`, or a store; None where nothing that comes
        behind it can be in alpha."""
        onward = replace(now, point=later.target)
        if later.type is EventType.P and later.remote is not None:
            if later.remote != remote:
                found.append(later)
            return self._after_poll(onward, later.remote)
        if later.type is None or not self._forced(now, later):
            found.append(later)
            overtakes = later.type is EventType.NF and self.fence_lands and self._pushed(now, later.remote)
            return replace(onward, fenced=now.fenced | {later.remote}) if overtakes else onward
        if later.type in CPU_TYPES:
            return onward if later.type in STORE_TYPES else None
        return self._after_nic(onward, later, later.type)

    def _pushed(self, now: _After, remote: str | None) -> bool:
        """Whether an nlW of beta is one that a later nlR pushes out."""
        mine = (kind for other, kind, _ in now.beta if other == remote and type_of(kind) is EventType.NLW)
        return any(nfo_between(kind, EventType.NLR, self.model) for kind in mine)

    def _after_nic(self, now: _After, edge: EventEdge, known: EventType) -> _After | None:
        """What is known behind a NIC event of beta, None if no run comes there; where it makes two, and only one is known to
        be in beta, that has the type `known`."""
        assert edge.remote is not None
        kind, polls = kind_of(known, edge), now.polls
        beta = now.beta | {(edge.remote, kind, edge.cell if by_word(kind, self.model) else None)}
        own = not edge.completing and (now.own or known in self.apart)
        forces = edge.completing and self._forces_poll(now, replace(edge, type=known))
        told = landing_of(kind) if self.tells else None
        for new in ((edge.remote, what) for what, asked in ((told, told is not None), (None, forces)) if asked):
            if new not in dict(polls):
                if not (left := self._outstanding(edge)):
                    return None
                polls = _ordered((*polls, (new, left)))
        return replace(now, beta=beta, polls=polls, own=own)

    def _forces_poll(self, now: _After, edge: EventEdge) -> bool:
        assert edge.type is not None
        later = kind_of(edge.type, edge)
        shown = edge.type not in NIC_WRITE_TYPES or visible_when_polled(later, self.model)
        if shown or now.store or now.own:
            return True
        earlier = (k for remote, k, _ in now.beta if remote == edge.remote and type_of(k) not in NIC_WRITE_TYPES)
        return any(ippo_scope(kind, later, self.model) == "qp" for kind in earlier)

    def _after_poll(self, now: _After, remote: str) -> _After | None:
        mine = {key: most for key, most in now.polls if key[0] == remote and most != _UNBOUNDED}
        if mine.get((remote, None)) == 1:
            return None
        left = dict(now.polls) | {key: max(most - 1, 0) for key, most in mine.items()}
        return replace(now, polls=_ordered(left.items())) if mine else now

    def _forced(self, now: _After, later: EventEdge) -> bool:
        if later.type is None:
            return False
        if now.store and oppo_scope(EventType.LW, later.type, self.model) == "all":
            return True
        kind = kind_of(later.type, later)
        if later.type is EventType.NLR and later.remote in now.fenced and nfo_between(kind, EventType.NLW, self.model):
            return True
        told = (what for (remote, what), left in now.polls if remote == later.remote and what is not None and left == 0)
        if any(gains_behind_poll(kind, self.model, what) for what in told):
            return True
        if now.own and (later.type in NIC_WRITE_TYPES or later.operands):
            return True
        mine = ((earlier, word == later.cell) for remote, earlier, word in now.beta if remote == later.remote)
        kept = ((observed_scope(earlier, kind, self.model), there) for earlier, there in mine)
        return any(includes(scope, same_queue=True, same_word=there) for scope, there in kept)

    def _outstanding(self, write: EventEdge) -> int:
        """After how many polls, at most, one takes the completion of this NIC write, or a later one if it is unsignaled: as
        many as can be outstanding just after it, and that one. 0 if too many polls are before it."""
        assert write.remote is not None
        if write.remote not in self.unpolled:
            self.unpolled[write.remote] = self._most_unpolled(write.remote)
        most = self.unpolled[write.remote].get(write.target)
        if most is None:
            return 0
        return most if write.completes or most == _UNBOUNDED else most + 1

    def _most_unpolled(self, remote: str) -> dict[int, int]:
        """For every program point the most completions of a queue pair that can be outstanding there."""
        most = {self.graph.entry: 0}
        todo = [self.graph.entry]
        while todo:
            self.poll()
            point = todo.pop()
            for edge in self.out.get(point, ()):
                there = most[point]
                if edge.remote == remote and edge.type is EventType.P:
                    if there == 0:
                        continue
                    there -= there != _UNBOUNDED
                elif edge.remote == remote and edge.completes:
                    there = there + 1 if there < _MOST_UNPOLLED else _UNBOUNDED
                if there > most.get(edge.target, -1):
                    most[edge.target] = there
                    todo.append(edge.target)
        return most


def _ordered(polls: Iterable[tuple[tuple[str, Landing | None], int]]) -> Polls:
    """What is known of polls in an order of its own: that of completions that force last on each queue pair."""
    return tuple(sorted(polls, key=lambda each: (each[0][0], each[0][1] is None, each[0][1] or Landing())))


def _later(one: Polls, other: Polls) -> Polls:
    """What is known of polls where one or the other is: the larger numbers."""
    there = dict(other)
    return tuple((key, max(left, there[key])) for key, left in one if key in there)
