"""Violations that a run shows: the classes of the design, each looked for where an event decides it.

State clauses are looked at when all processes have passed a collate. Path clauses are looked at by clocks (Lemma 2): "no A
until B" fails on some order of a run's events if not B happens before A; then the events before A are a run that shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal

from rdma_robust.contracts.language.contract_program import REQUESTS, Contract, ErrorClass, StateClause
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.request_steps import interfered
from rdma_robust.contracts.runs.run_inputs import PossibleViolation, case_split
from rdma_robust.contracts.runs.run_promises import Promises, unchanged
from rdma_robust.contracts.runs.run_state import (
    Clock,
    ClockedEvent,
    CollatePassing,
    Outstanding,
    Promise,
    SymbolicRun,
    joined_clock,
)
from rdma_robust.contracts.runs.run_terms import Condition
from rdma_robust.contracts.runs.spec_reading import Snapshot, SpecEvaluator
from rdma_robust.contracts.runs.symbolic_data import Decisions
from rdma_robust.errors import Span

_INSIDE: Final = ("waits", "awaits", "calls", "halted")

Report = Callable[[SymbolicRun, Path, PossibleViolation], None]
"""Told of what may be a violation: on this path, if the condition of the finding is possible there."""


@dataclass(slots=True)
class Judge:
    """Looks at the runs of the function whose contract is `own`; `contracts` has those of its callees too.

    `looked_at` are the processes that execute it: all, but one of a local function.
    """

    own: Contract
    contracts: dict[str, Contract]
    procs: int
    on: Decisions
    report: Report
    looked_at: Sequence[int] = ()
    _quiet: frozenset[str] = field(init=False)
    _promises: Promises = field(init=False)

    def __post_init__(self) -> None:
        """Note whose contracts require that somebody is quiet."""
        self._promises = Promises(self.on, self.procs)
        self.looked_at = self.looked_at or range(self.procs)
        self._quiet = frozenset(
            name for name, each in self.contracts.items() if any(path.kind == "quiet from" for path in each.paths)
        )

    def promises(self, process: int, function: str, snapshot: Snapshot) -> tuple[Promise, ...]:
        """Return the path clauses of a function as they are as a process enters it."""
        return self._promises.evaluated(self.contracts[function].paths, process, snapshot)

    def waits_for(self, promise: Promise, other: int) -> Condition:
        """Return where a `waitsfor` is about another process."""
        member = self._promises.member(promise.low, promise.high, promise.others, other, promise.process)
        return self.on.terms.conjunction((promise.active, member))

    # events

    def entered(self, run: SymbolicRun, process: int) -> None:
        """Look at what the entry of a collective function decides."""
        actor = run.actors[process]
        passing, place = actor.calls[-1], len(actor.calls) - 1
        self._same_call(run, process)
        for promise in passing.promises:
            own = place == 0
            if promise.faulty is not False and not (own and promise.clause.kind == "quiet from"):
                error: ErrorClass | None = "PGV" if own else "PRV" if promise.clause.kind == "quiet from" else None
                if error is not None:
                    text = "a fault occurs in the clause"
                    self._tell(
                        run,
                        PossibleViolation(
                            error,
                            process,
                            promise.faulty,
                            passing.clock,
                            text,
                            promise.clause.kind,
                            promise.clause.span,
                            None,
                            place,
                        ),
                    )
        waiting = [each for each in run.outstanding if each.opened == place and each.send.peer == process]
        for each in waiting:
            self._disturbed(run, each.send, passing)
        run.outstanding = tuple(each for each in run.outstanding if each not in waiting)
        if place and all(len(each.calls) > place for each in run.actors):
            self._collective_entry(run, place)

    def left(self, run: SymbolicRun, process: int) -> None:
        """Look at what the exit of a collective function decides."""
        actor = run.actors[process]
        passing = actor.calls[-1]
        self._same_call(run, process)
        if passing.opened:
            return
        for promise in actor.calls[0].promises:
            if promise.clause.kind == "waitsfor":
                self._waits(run, process, passing, promise)
        if all(each.status == "left" for each in run.actors):
            self._collective_exit(run)

    def sent(self, run: SymbolicRun, event: ClockedEvent) -> None:
        """Look at what a send decides: the own promises to be quiet, and what callees require."""
        actor = run.actors[event.process]
        for promise in actor.calls[0].promises:
            if promise.clause.kind == "quiet to":
                self._spoke(run, event, promise)
        if not self._quiet:
            return
        for passing in actor.calls:
            if passing.kind != "exit" or not passing.opened or passing.function not in self._quiet:
                continue
            place, receiver = passing.opened, run.actors[event.peer]
            if len(receiver.calls) <= place:
                run.outstanding = (*run.outstanding, Outstanding(place, event))
                continue
            leaving = next((each for each in receiver.calls if each.kind == "exit" and each.opened == place), None)
            if leaving is None or event.clock[event.peer] < leaving.clock[event.peer]:
                self._disturbed(run, event, receiver.calls[place])

    def entered_local(self, run: SymbolicRun, process: int, function: str, snapshot: Snapshot) -> None:
        """Look at what a local function requires."""
        contract = self.contracts[function]
        states = [snapshot if each == process else Snapshot() for each in range(self.procs)]
        false = self._false(SpecEvaluator(self.on, states), contract, "requires", run.actors[process].clock)
        self._tell_all(run, (partial(each, process) for each in false))

    def _false(
        self, reader: SpecEvaluator, contract: Contract, kind: Literal["requires", "ensures"], clock: Clock, call: int = 0
    ) -> Iterator[Callable[[int], PossibleViolation]]:
        """Yield for each clause of a kind what says when it is false for a process."""
        error, said = (
            (contract.entry_error, contract.false_at_entry)
            if kind == "requires"
            else (contract.exit_error, contract.false_at_exit)
        )

        def found(clause: StateClause, process: int) -> PossibleViolation:
            false = self.on.terms.negation(reader.holds(clause.condition, process, clause.assumes))
            text = f"{said(clause)} for process {process}"
            return PossibleViolation(error, process, false, clock, text, clause.kind, clause.span, None, call)

        return (partial(found, each) for each in contract.clauses if each.kind == kind)

    def faulted(self, run: SymbolicRun, process: int, kind: str, span: Span) -> None:
        """Note a fault, or that an assertion is false."""
        text = FAULTS[kind]
        self._tell(run, PossibleViolation("RTE", process, True, run.actors[process].clock, text, kind, span))

    def ended(self, run: SymbolicRun) -> None:
        """Look at a run in which nothing can happen any more: who has not left, and whose messages could interfere."""
        statuses = {each.status for each in run.actors}
        if not statuses & {"pruned", "faulted"}:
            stuck = next((at for at, each in enumerate(run.actors) if each.status in _INSIDE), None)
            if stuck is not None:
                waited = run.actors[stuck].waited
                other = None if waited is None else waited.source
                text = f"process {stuck} does not leave {self.own.name}"
                self._tell(run, PossibleViolation("DL", stuck, True, None, text, "", self.own.span, other))
        for process in range(self.procs):
            self._interference(run, process)

    # checks

    def _tell(self, run: SymbolicRun, finding: PossibleViolation) -> None:
        if finding.condition is not False:
            self.report(run, run.path, finding)

    def _tell_all(self, run: SymbolicRun, makes: Iterable[Callable[[], PossibleViolation]]) -> None:
        """Report what is found; the cases of each are only those of what it depends on."""
        for make in makes:
            for path, finding in case_split(self.on, run.path, make):
                if finding.condition is not False:
                    self.report(run, path, finding)

    def _same_call(self, run: SymbolicRun, process: int) -> None:
        calls = run.actors[process].calls
        place, mine = len(calls) - 1, calls[-1]
        for other, actor in enumerate(run.actors):
            if len(actor.calls) <= place:
                continue
            theirs = actor.calls[place]
            if (theirs.kind, theirs.function) != (mine.kind, mine.function):
                text = f"process {process} {_passes(mine)} where process {other} {_passes(theirs)}"
                clock = joined_clock(mine.clock, theirs.clock)
                self._tell(run, PossibleViolation("CCM", process, True, clock, text, "", mine.span, other, place))
                raise MixedUpError

    def _states(self, run: SymbolicRun, place: int) -> list[Snapshot]:
        return [each.calls[place].snapshot if each.calls else Snapshot() for each in run.actors]

    def _clock(self, run: SymbolicRun, place: int) -> Clock:
        clock = (0,) * self.procs
        for each in self.looked_at:
            clock = joined_clock(clock, run.actors[each].calls[place].clock)
        return clock

    def _collective_entry(self, run: SymbolicRun, place: int) -> None:
        passing = run.actors[0].calls[place]
        if passing.kind != "enter":
            return
        contract, clock = self.contracts[passing.function], self._clock(run, place)
        self._channels(run, contract.entry_error, place, clock)
        false = self._false(SpecEvaluator(self.on, self._states(run, place)), contract, "requires", clock, place)
        self._tell_all(run, (partial(each, process) for each in false for process in range(self.procs)))

    def _channels(self, run: SymbolicRun, error: ErrorClass, place: int, clock: Clock) -> None:
        for sender in self.looked_at:
            actor = run.actors[sender]
            sent = actor.calls[place].sent
            for receiver in self.looked_at:
                got = run.actors[receiver].calls[place].got
                kinds = {key[1:] for key in sent if key[0] == receiver} | {key[1:] for key in got if key[0] == sender}
                for kind in kinds:
                    surplus = sent.get((receiver, *kind), 0) - got.get((sender, *kind), 0)
                    if surplus:
                        text = f"the channel from {sender} to {receiver} is not empty"
                        passing = actor.calls[place]
                        span = self.contracts[passing.function].span
                        call = 0 if error == "INV" and passing.kind == "exit" else place
                        self._tell(
                            run, PossibleViolation(error, sender, True, clock, text, "channels", span, receiver, call)
                        )
                        return

    def _collective_exit(self, run: SymbolicRun) -> None:
        place = len(run.actors[self.looked_at[0]].calls) - 1
        clock = self._clock(run, place)
        for process in self.looked_at:
            if not run.actors[process].asked.is_idle:
                text = f"a request of process {process} is active"
                self._tell(run, PossibleViolation("SGV", process, True, clock, text, REQUESTS))
                return
        self._channels(run, self.own.exit_error, place, clock)

        entries, exits = self._states(run, 0), self._states(run, -1)

        def framed(process: int) -> PossibleViolation:
            same = unchanged(self.on, self.own.frames or (), process, entries, exits[process])
            span = self.own.frames[0].span if self.own.frames else self.own.span
            text = f"process {process} changes what `assigns` does not name"
            return PossibleViolation("SGV", process, self.on.terms.negation(same), clock, text, "assigns", span)

        false = self._false(SpecEvaluator(self.on, exits, entries), self.own, "ensures", clock)
        self._tell_all(run, (partial(each, process) for each in false for process in self.looked_at))
        if self.own.frames is not None:
            self._tell_all(run, (partial(framed, process) for process in self.looked_at))

    def _waits(self, run: SymbolicRun, process: int, passing: CollatePassing, promise: Promise) -> None:
        for other in range(self.procs):
            if passing.clock[other]:
                continue
            condition = self.waits_for(promise, other)
            text = f"process {process} leaves before process {other} has entered"
            self._tell(
                run,
                PossibleViolation("PGV", process, condition, passing.clock, text, "waitsfor", promise.clause.span, other),
            )

    def _spoke(self, run: SymbolicRun, event: ClockedEvent, promise: Promise) -> None:
        assert promise.until is not None
        speaks = self._promises.speaks(promise, event.peer, event.port, event.tag)
        if speaks is False:
            return
        for other in range(self.procs):
            if event.clock[other]:
                continue
            condition = self.on.terms.conjunction((speaks, self._promises.member(*promise.until, other, event.process)))
            text = f"process {event.process} sends to process {event.peer} before process {other} has entered"
            self._tell(
                run,
                PossibleViolation(
                    "PGV", event.process, condition, event.clock, text, "quiet to", promise.clause.span, event.peer
                ),
            )

    def _disturbed(self, run: SymbolicRun, send: ClockedEvent, entry: CollatePassing) -> None:
        """Look whether a send, by who has left a call, is one that the call of the receiver requires not to come yet."""
        for promise in entry.promises:
            if promise.clause.kind == "quiet from":
                condition = self._promises.speaks(promise, send.process, send.port, send.tag)
                clock = joined_clock(send.clock, entry.clock)
                text = f"process {send.process} sends to process {send.peer}, which has not left {entry.function}"
                span, place = promise.clause.span, entry.opened
                self._tell(
                    run, PossibleViolation("PRV", send.process, condition, clock, text, "quiet from", span, send.peer, place)
                )

    def _interference(self, run: SymbolicRun, process: int) -> None:
        """ITF: the last receive from any of each pattern is the one that most senders have nothing left for."""
        actor = run.actors[process]
        if actor.asked.posts:
            for each in interfered(run, process):
                self._interferes(run, process, each.other, (each.port, each.tag), each.clock)
            return
        last = dict(actor.wildcards)
        found = [(pattern, each.before, dict(each.got)) for pattern, each in last.items()]
        waited = actor.waited
        if waited is not None and waited.source is None:
            pattern = waited.port, waited.tag
            found = [each for each in found if each[0] != pattern]
            found.append((pattern, actor.clock[process], actor.got))
        for pattern, before, got in found:
            for other, sender in enumerate(run.actors):
                if sender.status == "left" and sender.clock[process] <= before and other != process:
                    sent = {(other, port, tag): count for (to, port, tag), count in sender.sent.items() if to == process}
                    if all(got.get(kind, 0) >= sent[kind] for kind in sent if _fits(kind, pattern)):
                        self._interferes(run, process, other, pattern, self._reached(run, process, other, before))

    def _reached(self, run: SymbolicRun, process: int, other: int, before: int) -> Clock:
        """Return the clock of the first events of a process, and of those before the exit of another."""
        exits = run.actors[other].clock
        reached = next(
            (each.clock for each in reversed(run.events) if each.process == process and each.number < before), exits
        )
        return joined_clock(exits, reached)

    def _interferes(self, run: SymbolicRun, process: int, other: int, pattern: tuple[int, int | None], clock: Clock) -> None:
        own = [each for each in run.actors[process].calls[0].promises if each.clause.kind == "quiet from"]
        covered = [self._promises.speaks(each, other, *pattern) for each in own]
        condition = self.on.terms.negation(self.on.terms.disjunction(covered))
        text = f"process {process} can take a message that process {other} sends after it has left"
        self._tell(run, PossibleViolation("ITF", process, condition, clock, text, "", self.own.span, other))


class MixedUpError(Exception):
    """Processes make different calls: the run is not looked at any further."""


FAULTS = {
    "assert": "the assertion is false",
    "division": "division by zero",
    "index": "an index is out of range",
    "destination": "the destination is no process",
    "source": "the source is no process",
    "tag": "a tag is negative",
    "kind": "a number is used as an array, or an array as a number",
    "length": "an array of negative length",
}


def _fits(kind: tuple[int, int, int], pattern: tuple[int, int | None]) -> bool:
    """Whether a receive from any with this port and tag (None: any) takes messages of a kind."""
    return kind[1] == pattern[0] and pattern[1] in (None, kind[2])


def _passes(passing: CollatePassing) -> str:
    return f"{'enters' if passing.kind == 'enter' else 'leaves'} {passing.function}"
