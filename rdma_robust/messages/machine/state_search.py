"""Breadth first through the states of the normal form, by numbers of matches: what can happen, and how soon.

Under `any` only deadlocks are looked for, in the states that need the fewest buffers for their matches (least cuts, in
docs/theory-messages.md): all else is as under `infinite`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, product
from typing import NamedTuple

from rdma_robust.errors import LimitReached, Span
from rdma_robust.limits import Limits
from rdma_robust.messages.machine.group_calls import absent_members, call_differences
from rdma_robust.messages.machine.interchangeable import Alike, Orbits
from rdma_robust.messages.machine.local_runs import LocalTrail, LocalViolation
from rdma_robust.messages.machine.local_table import After, Hop, LocalTable, Onward, State
from rdma_robust.messages.machine.process_state import LocalState, ProcessFrame, ReceiveHandle
from rdma_robust.messages.message_answers import MatchedPair, MessageQuestions


class Arrival(NamedTuple):
    """How a state was found: from another one, by a match, and what receiver and sender did then; or a start, by trails."""

    before: State | None
    hop: Hop | None
    trails: tuple[LocalTrail, ...]


class Broke(NamedTuple):
    """A violation: by which process, after which arrival that is not completed."""

    process: int
    broken: LocalViolation
    before: State | None
    hop: Hop | None


class CallDifference(NamedTuple):
    """Two processes whose calls of library procedures differ, '' for none."""

    position: int
    processes: tuple[int, int]
    calls: tuple[str, str]


@dataclass(slots=True)
class SearchFindings:
    """The findings of a search; `limit` is the one that ended it, `repeats` that it met a state twice but for names."""

    violations: dict[tuple[Span, str], Broke] = field(default_factory=dict)
    deadlock: State | None = None
    leak: State | None = None
    complete: int = 0
    pairs: set[MatchedPair] = field(default_factory=set)
    matchings: dict[tuple[object, ...], None] = field(default_factory=dict)
    differences: dict[tuple[int, int], CallDifference] = field(default_factory=dict)
    limit: str = ""
    said: str = ""
    repeats: bool = False
    matches: int = 0


class StateSearch:
    """One search; `arrivals` are the states, with how each was found first.

    With `fewer` only matches are tried that are enough; without, runs are found with the fewest matches. A search for what
    another one has found is over when it has found as much: `wanted` are its violations, and whether it has a deadlock and a
    leak. Of states that differ only in who of the processes that are `alike` is who, one is looked at.
    """

    def __init__(
        self, table: LocalTable, questions: MessageQuestions, limits: Limits, fewer: bool = True, alike: Alike | None = None
    ) -> None:
        self._orbits = None if alike is None else Orbits(alike, lambda me, number: table.locals[me][number])
        self._keys: set[object] = set()
        self.fewer = fewer
        self.wanted: SearchFindings | None = None
        self.table = table
        self.questions = questions
        self.limits = limits
        self.alike = alike
        self.found = SearchFindings()
        self.arrivals: dict[State, Arrival] = {}
        self._plain: dict[State, State] = {}
        self._expanded: set[object] = set()
        self._watch = limits.watch(256)
        self._looks = any(each.looks for each in table.processes)
        self._calls = any(each.calls_procedures for each in table.processes)
        self._compared: set[object] = set()

    def search(self) -> SearchFindings:
        """Search until everything is known or a limit is reached."""
        try:
            self._search()
        except LimitReached as reached:
            self.found.limit, self.found.said = reached.limit, reached.said
        return self.found

    def _search(self) -> None:
        layer = self._start()
        while layer:
            following: list[State] = []
            for state in layer:
                self._expand(state, layer, following)
                if self._enough():
                    return
            layer = following

    def _enough(self) -> bool:
        if self.found.repeats or len(self.found.matchings) > self.questions.limit or self.has_what_is_wanted():
            return True
        if self.table.buffer == "any" and self.found.deadlock is not None:
            return True
        return self._is_at_a_limit()

    def _is_at_a_limit(self) -> bool:
        limit = self._watch()
        if not limit and self.limits.states is not None and len(self.arrivals) > self.limits.states:
            limit = "states"
        if limit:
            self.found.limit, self.found.said = limit, self.limits.said(limit)
        return bool(limit)

    def has_what_is_wanted(self) -> bool:
        """Whether all is found that another search has found, if there is one."""
        wanted, found = self.wanted, self.found
        if wanted is None or len(found.violations) < len(wanted.violations):
            return False
        ends = (wanted.deadlock is None or found.deadlock is not None), (wanted.leak is None or found.leak is not None)
        return all(ends)

    def _start(self) -> list[State]:
        starts = self.table.starts()
        for process, onward in enumerate(starts):
            self._broken(process, onward, None, None)
        for state, trails in self.table.combined(starts):
            if self._is_new(state):
                self.arrivals[state] = Arrival(None, None, trails)
            if self._is_at_a_limit():
                return []
        return list(self.arrivals)

    def _broken(self, process: int, onward: Onward, before: State | None, hop: Hop | None) -> None:
        for broken in onward.violations:
            place = (self.table.rules[process].span(broken.at), broken.kind)
            self.found.violations.setdefault(place, Broke(process, broken, before, hop))

    def _expand(self, state: State, layer: list[State], following: list[State]) -> None:
        opening = self.table.opening(state) if self.table.gathers else None
        if self.table.gathers:
            self._note_differences(state)
        if opening is not None and self._is_opened(state, opening, layer):
            return
        hops = self.table.hops(state)
        if self._calls:
            self._compare_calls(state)
        if not hops and opening is None:
            self._at_rest(state)
        if not hops and (not self.table.gathers or self.found.deadlock is not None):
            return
        for hop in self._enough_of(state, hops) or (*hops, *self.table.later_hops(state)):
            self._make(state, hop, following)

    def _note_differences(self, state: State) -> None:
        """Note calls of collective operations that differ."""
        for process, op, kind in call_differences(self.table.locals_of(state)):
            place = (self.table.rules[process].span(op.at), kind)
            broken = LocalViolation(op.at, kind, LocalTrail((), 0))
            self.found.violations.setdefault(place, Broke(process, broken, state, None))

    def _is_opened(self, state: State, hop: Hop, layer: list[State]) -> bool:
        """Let a call of a collective operation come to its next stage; return whether nothing else has to be tried.

        It disables nothing and needs no match, so all else can come later, unless it leads to what is known: that could be
        put off forever. The states are in the same layer, as they need no more matches.
        """
        before = len(self.arrivals)
        self._make(state, hop, layer)
        return len(self.arrivals) == before + len(results(state, hop))

    def _enough_of(self, state: State, hops: list[Hop]) -> list[Hop]:
        """Return matches that are enough, none for all; without names, where states come again, all if one was expanded."""
        if not self.fewer or self._looks or (len(hops) == 1 and self.table.buffer != "any"):
            return []
        enough = enough_of(self.table, state, hops)
        if not self.table.names and self.table.buffer != "any":
            self._expanded.add(self._key(state))
            if any(self._key(new) in self._expanded for hop in enough for new, _ in results(state, hop)):
                return []
        return enough

    def _key(self, state: State) -> object:
        return state if self._orbits is None else self._orbits.key(state)

    def _is_new(self, state: State) -> bool:
        """Whether neither a state nor one that differs from it only in who is who was found before; note it if so."""
        if state in self.arrivals:
            return False
        if self._orbits is None:
            return True
        before = len(self._keys)
        self._keys.add(self._orbits.key(state))
        return len(self._keys) > before

    def _make(self, state: State, hop: Hop, following: list[State]) -> None:
        """Make a match, and note what it brings."""
        self.found.matches += hop.by == "match"
        if self.table.names and hop.by == "match":
            self.found.pairs.add(hop.pair)
        if hop.receiver_then.violations:
            self._broken(hop.receiver, hop.receiver_then, state, hop)
        if hop.sender_then is not None and hop.sender_then.violations:
            self._broken(hop.sender, hop.sender_then, state, hop)
        for new, trails in results(state, hop):
            if self._is_new(new):
                self.arrivals[new] = Arrival(state, hop, trails)
                following.append(new)
                if self.table.names and self._repeats(new):
                    self.found.repeats = True

    def _repeats(self, state: State) -> bool:
        """Whether a state is one that it was reached from, but for names: what it did since can be repeated forever."""
        plain = self.table.plain(state)
        if self._plain.setdefault(plain, state) == state:
            return False
        at = self.arrivals[state].before
        while at is not None:
            if self.table.plain(at) == plain:
                return True
            at = self.arrivals[at].before
        return False

    def _at_rest(self, state: State) -> None:
        """Note a deadlock, a complete execution and its leak, if the state is one: no rule applies to it."""
        table, found = self.table, self.found
        locals_ = [known[number] for known, number in zip(table.locals, state, strict=True)]
        if any(local.status in ("stopped", "endless", "paused", "looks") for local in locals_):
            return
        if table.gathers and any(self._is_stuck(me, locals_) for me in range(len(locals_))):
            return
        waiting = [me for me, local in enumerate(locals_) if local.status != "ended"]
        if not all(self._may_wait(me, state[me]) for me in waiting):
            found.deadlock = found.deadlock or state
            return
        found.complete += 1
        if table.history:
            found.matchings.setdefault(tuple(tuple(sorted(local.taken)) for local in locals_))
        daemons = [each.daemon for each in table.processes]
        if any(local.sends or (local.receives and not daemon) for local, daemon in zip(locals_, daemons, strict=True)):
            found.leak = found.leak or state

    def _is_stuck(self, me: int, locals_: list[LocalState]) -> bool:
        """Whether a process waits in a collective operation for nobody who has not entered: others called another one."""
        if locals_[me].status != "waits":
            return False
        handle = self.table.rules[me].held_up(ProcessFrame(self.table.processes[me], locals_[me]))
        absent = absent_members(me, handle, locals_, self.table.groups)
        return absent is not None and not absent[1]

    def _may_wait(self, me: int, number: int) -> bool:
        """Whether a process may wait forever: a daemon for a receive."""
        process, local = self.table.processes[me], self.table.locals[me][number]
        if not process.daemon or local.status != "waits":
            return False
        frame, rules = ProcessFrame(process, local), self.table.rules[me]
        return rules.look(frame) is not None or isinstance(rules.held_up(frame), ReceiveHandle)

    def _compare_calls(self, state: State) -> None:
        """Compare the library procedures that any two processes have called, or will not call any more."""
        locals_ = [known[number] for known, number in zip(self.table.locals, state, strict=True)]
        key = tuple((local.calls, local.status == "ended") for local in locals_)
        if key in self._compared:
            return
        self._compared.add(key)
        for pair in combinations(range(len(key)), 2):
            difference = first_difference(pair, key[pair[0]], key[pair[1]])
            if difference is not None:
                self.found.differences.setdefault(pair, difference)


Called = tuple[tuple[str, ...], bool]
"""The library procedures that a process has called, and whether it will call no more."""


def first_difference(pair: tuple[int, int], ours: Called, theirs: Called) -> CallDifference | None:
    """Return the first library procedure in which two processes differ, if they do already."""
    both = min(len(ours[0]), len(theirs[0]))
    position = next((at for at in range(both) if ours[0][at] != theirs[0][at]), both)
    calls = _call(ours[0], position), _call(theirs[0], position)
    if calls[0] != calls[1] and (calls[0] or ours[1]) and (calls[1] or theirs[1]):
        return CallDifference(position, pair, calls)
    return None


def _call(calls: tuple[str, ...], at: int) -> str:
    return calls[at] if at < len(calls) else ""


def results(state: State, hop: Hop) -> list[tuple[State, tuple[LocalTrail, ...]]]:
    """Return the states after a match and what the two do then, with the trails of receiver and sender."""
    receiver, sender = hop.receiver, hop.sender
    if hop.others:
        moved = list(state)
        for process, number in hop.others:
            moved[process] = number
        state = tuple(moved)
    if hop.sender_then is not None and len(hop.receiver_then.ends) == len(hop.sender_then.ends) == 1:
        ours, theirs = hop.receiver_then.ends[0], hop.sender_then.ends[0]
        new = list(state)
        new[receiver], new[sender] = ours.number, theirs.number
        return [(tuple(new), (ours.trail, theirs.trail))]
    found: list[tuple[State, tuple[LocalTrail, ...]]] = []
    nothing = (After(state[sender], LocalTrail((), 0)),)
    for ours, theirs in product(hop.receiver_then.ends, nothing if hop.sender_then is None else hop.sender_then.ends):
        new = list(state)
        if hop.sender_then is not None:
            new[sender] = theirs.number
        new[receiver] = ours.number
        found.append((tuple(new), (ours.trail, theirs.trail)))
    return found


# Which matches of a state have to be tried: some that nothing can get in the way of are enough (persistent sets).
#
# Let R be an unmatched receive. Take all enabled matches of R, where
#
# 1. R names its source: then there is at most one, with the first send S of that channel that R accepts; or
# 2. R is the first unmatched receive of its endpoint, and every process that has no send for it now cannot issue any to
#    this endpoint from where it is.
#
# Then in every run from here, as long as none of these matches is made, R and the sends S that it can take stay
# unmatched: R takes nothing else, since of each channel only the first send that it accepts comes into question, and
# further channels can have none (2) or do not fit (1); and S is taken by no other receive, since one that is posted
# earlier and accepts S would make the match not enabled now (1) or is not there (2), and one posted later has to wait
# for R. So a match in question stays enabled until one of them is made. Hence a run to a state in which no rule
# applies has one of them, and to make it first changes nothing but that processes come further before other matches,
# which by Lemma 1 disables nothing. And a run to a violation, a pair or a call of a library procedure without any of
# them is still one after one of them. So deadlocks, complete executions with their matchings and leaks, violations,
# pairs and differences of calls are found, if no match is put off forever: with names no state comes twice, and
# without names all matches are tried where one of these leads to a state that was expanded before. So each state that
# was left to later was expanded later. Under `any` only deadlocks are asked for, to which runs are finite: matches
# that need no buffer are enough in the same way, and no send gets one where they are. That runs are as short as can
# be is lost.


def enough_of(table: LocalTable, state: State, hops: list[Hop]) -> list[Hop]:
    """Return hops of a state that are enough to try, as few as are found; none if it is not known that some are."""
    by_receive: dict[tuple[int, int], list[Hop]] = {}
    for hop in hops:
        is_named, is_first, _ = hop.kind
        if is_named:
            return [hop]
        if is_first:
            by_receive.setdefault((hop.receiver, hop.meeting.receive), []).append(hop)
    best: list[Hop] = []
    for found in by_receive.values():
        if (not best or len(found) < len(best)) and _are_all(table, state, found):
            best = found
    return best


def _are_all(table: LocalTable, state: State, found: list[Hop]) -> bool:
    """Whether no process but the senders of these hops may still send to their endpoint."""
    senders = {hop.sender for hop in found}
    endpoint = found[0].kind[2]
    return not any(table.may_send(state, each, endpoint) for each in range(len(state)) if each not in senders)
