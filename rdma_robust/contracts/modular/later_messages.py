"""Conditions M5 to M7: that no message can come too early, whatever callees do that keep their contracts.

They are looked at in finished barrier runs. `x hb y` is read off clocks; a callee sends to whom it likes, whenever it has
entered, unless it promises to be quiet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rdma_robust.contracts.runs.run_promises import Promises
from rdma_robust.contracts.runs.run_state import ClockedEvent, CollatePassing, Promise, SymbolicRun
from rdma_robust.contracts.runs.run_terms import Condition, Number


@dataclass(frozen=True, slots=True)
class Early:
    """Where `condition` is true, process `sender` may send too early, in a callee or (`callee` is '') after the function."""

    rule: str
    condition: Condition
    sender: int
    receiver: int
    callee: str


@dataclass(frozen=True, slots=True)
class _Kind:
    """Messages from a process to another; `tag` None is any tag, `port` None any port."""

    sender: int
    receiver: int
    tag: Number | None
    port: int | None


@dataclass(frozen=True, slots=True)
class LaterMessages:
    """Looks at barrier runs of `procs` processes."""

    promises: Promises
    procs: int

    def found(self, run: SymbolicRun) -> Iterator[Early]:
        """Yield what may come too early in a run."""
        yield from self._quiet_to(run)
        yield from self._quiet_from(run)
        yield from self._wildcards(run)

    def _calls(self, run: SymbolicRun, process: int) -> list[CollatePassing]:
        """Return the entries of callees of a process."""
        return [each for each in run.actors[process].calls[1:] if each.kind == "enter"]

    def _in_callee(self, run: SymbolicRun, entry: CollatePassing, kind: _Kind, after: tuple[int, int]) -> Condition:
        """Return where a callee may send such a message before the event `after` of a process (and its number)."""
        process, number = after
        if entry.clock[process] > number:
            return False
        quiet: list[Condition] = []
        for promise in entry.promises:
            if promise.clause.kind != "quiet to" or promise.until is None or not self._covers(promise, kind):
                continue
            speaks = self._speaks(promise, kind)
            for other in range(self.procs):
                calls = run.actors[other].calls
                place = entry.opened
                if len(calls) > place and calls[place].clock[process] > number:
                    member = self.promises.member(*promise.until, other, kind.sender)
                    quiet.append(self.promises.on.terms.conjunction((speaks, member)))
        return self.promises.on.terms.negation(self.promises.on.terms.disjunction(quiet))

    def _covers(self, promise: Promise, kind: _Kind) -> bool:
        return promise.clause.port is None or promise.clause.port == kind.port

    def _speaks(self, promise: Promise, kind: _Kind) -> Condition:
        """Return where a promise of a sender to be quiet is about all messages of a kind."""
        terms = self.promises.on.terms
        member = self.promises.member(promise.low, promise.high, promise.others, kind.receiver, promise.process)
        same = self.promises.covers_tag(promise, kind.tag)
        return terms.conjunction((promise.active, member, same))

    # M5

    def _quiet_to(self, run: SymbolicRun) -> Iterator[Early]:
        """M5: what the function promises not to send before some have entered, its callees do not send either."""
        terms = self.promises.on.terms
        for sender, actor in enumerate(run.actors):
            own = [each for each in actor.calls[0].promises if each.clause.kind == "quiet to"] if actor.calls else []
            for promise in own:
                assert promise.until is not None
                for entry in self._calls(run, sender):
                    for receiver in range(self.procs):
                        kind = _Kind(sender, receiver, promise.tag, promise.clause.port)
                        member = self.promises.member(promise.low, promise.high, promise.others, receiver, sender)
                        for until in range(self.procs):
                            early = self._in_callee(run, entry, kind, (until, 0))
                            wanted = self.promises.member(*promise.until, until, sender)
                            condition = terms.conjunction((promise.active, member, wanted, early))
                            yield Early("quiet to", condition, sender, receiver, entry.function)

    # M6

    def _quiet_from(self, run: SymbolicRun) -> Iterator[Early]:
        """M6: after a callee that somebody has not left yet, nothing comes that its contract forbids."""
        terms = self.promises.on.terms
        for receiver in range(self.procs):
            for entry in self._calls(run, receiver):
                leaving = self._exit(run, receiver, entry)
                for promise in entry.promises if leaving is not None else ():
                    if promise.clause.kind != "quiet from":
                        continue
                    assert leaving is not None
                    after = receiver, leaving.clock[receiver] - 1
                    for sender in range(self.procs):
                        member = self.promises.member(promise.low, promise.high, promise.others, sender, receiver)
                        kind = _Kind(sender, receiver, promise.tag, promise.clause.port)
                        for early in self._after_call(run, kind, entry.opened, after):
                            yield Early(
                                "quiet from",
                                terms.conjunction((promise.active, member, early[0])),
                                sender,
                                receiver,
                                early[1],
                            )

    def _exit(self, run: SymbolicRun, process: int, entry: CollatePassing) -> CollatePassing | None:
        calls = run.actors[process].calls
        return next((each for each in calls if each.kind == "exit" and each.opened == entry.opened), None)

    def _after_call(
        self, run: SymbolicRun, kind: _Kind, place: int, after: tuple[int, int]
    ) -> Iterator[tuple[Condition, str]]:
        """Yield where callees that the sender enters later, or whoever calls the function, may send too early."""
        actor = run.actors[kind.sender]
        for entry in self._calls(run, kind.sender):
            if entry.opened > place:
                yield self._in_callee(run, entry, kind, after), entry.function
        if actor.status == "left" and actor.clock[after[0]] <= after[1]:
            yield self._unguarded(run, kind), ""

    def _unguarded(self, run: SymbolicRun, kind: _Kind) -> Condition:
        """Return where the function's own contract does not keep messages of a kind away."""
        terms = self.promises.on.terms
        covered: list[Condition] = []
        for promise in run.actors[kind.receiver].calls[0].promises:
            if promise.clause.kind != "quiet from" or promise.clause.port not in (None, kind.port):
                continue
            same = self.promises.covers_tag(promise, kind.tag)
            member = self.promises.member(promise.low, promise.high, promise.others, kind.sender, kind.receiver)
            covered.append(terms.conjunction((promise.active, member, same)))
        return terms.negation(terms.disjunction(covered))

    # M7

    def _wildcards(self, run: SymbolicRun) -> Iterator[Early]:
        """M7: a receive from any that has nothing to expect of a process any more gets nothing of it."""
        for receiver, actor in enumerate(run.actors):
            waiting = list(actor.any_receives)
            if actor.waited is not None and actor.waited.source is None:
                waiting.append((actor.clock[receiver], actor.waited.port, actor.waited.tag))
            for number, port, tag in waiting:
                segment = self._segment(run, receiver, number)
                for sender in range(self.procs):
                    if sender != receiver:
                        yield from self._disturbed(run, (receiver, number), _Kind(sender, receiver, tag, port), segment)

    def _segment(self, run: SymbolicRun, process: int, number: int) -> int:
        """Return how many callees a process has entered before its event of a number."""
        return sum(each.clock[process] - 1 < number for each in self._calls(run, process))

    def _disturbed(self, run: SymbolicRun, wildcard: tuple[int, int], kind: _Kind, segment: int) -> Iterator[Early]:
        receiver, number = wildcard
        sends = [
            (each, self._segment(run, kind.sender, each.number))
            for each in run.events
            if each.process == kind.sender and each.kind == "send" and each.peer == receiver and _matches(each, kind)
        ]
        taken = sum(
            each.process == receiver
            and each.kind == "recv"
            and each.peer == kind.sender
            and each.number < number
            and _matches(each, kind)
            for each in run.events
        )
        if taken < sum(there <= segment for _, there in sends):
            return
        for send, there in sends:
            if there > segment and send.clock[receiver] <= number:
                yield Early("wildcard", True, kind.sender, receiver, "")
        place = [each.opened for each in self._calls(run, kind.sender)][:segment]
        for condition, callee in self._after_call(run, kind, place[-1] if place else 0, wildcard):
            yield Early("wildcard", condition, kind.sender, receiver, callee)


def _matches(event: ClockedEvent, kind: _Kind) -> bool:
    return event.port == kind.port and kind.tag in (None, event.tag)
