"""Runs the events of a counterexample one by one, and keeps what happened as a list."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rdma_robust.contracts.contract_answers import Collate, Counterexample, VisibleEvent
from rdma_robust.contracts.language.contract_program import Contract, ContractProgram
from rdma_robust.contracts.language.function_instances import instance
from rdma_robust.contracts.rerun.rerun_matches import Matches, Matching, RerunMessage
from rdma_robust.contracts.rerun.rerun_process import (
    Awaiting,
    Completing,
    Passing,
    Runner,
    RunnerStage,
    Sending,
)
from rdma_robust.contracts.rerun.rerun_specs import ProcessValues, SpecView, is_kept
from rdma_robust.errors import InternalError, Span
from rdma_robust.messages.language.message_terms import Value


@dataclass(slots=True)
class CallRecord:
    """One call of one process: what it had at entry, at which event, and the same at exit if it has come there."""

    function: str
    parameters: Mapping[str, Value]
    at_entry: Mapping[str, Value]
    entered: int
    at_exit: Mapping[str, Value] | None = None
    result: Value | None = None
    exited: int | None = None

    def seen(self) -> ProcessValues:
        return ProcessValues(self.parameters, self.at_entry, self.at_exit, self.result)


@dataclass(slots=True)
class EventHistory:
    """What has happened: the events, the calls of each process in their order, and what it passed, by name."""

    events: list[VisibleEvent] = field(default_factory=list)
    calls: list[list[CallRecord]] = field(default_factory=list)
    passed: list[list[tuple[str, str]]] = field(default_factory=list)


class Rerun:
    """A run of a function from the inputs of a counterexample. Of a local function only its process runs."""

    def __init__(self, program: ContractProgram, contract: Contract, counterexample: Counterexample) -> None:
        self.program, self.contract = program, contract
        self.procs = len(counterexample.inputs)
        if not 0 <= counterexample.process < self.procs:
            raise InternalError(f"the counterexample has no process {counterexample.process}")
        collective = contract.kind == "collective"
        self.active = tuple(range(self.procs)) if collective else (counterexample.process,)
        stage = RunnerStage(self.procs, program.contract, false_requires, program.globals, program.buffer == "zero")
        processes = instance(program, contract.name, self.procs).program.processes
        self.runners = {me: Runner(stage, processes[me], me, counterexample.inputs[me]) for me in self.active}
        self.matches = {me: Matches() for me in self.active}
        self.history = EventHistory([], [[] for _ in range(self.procs)], [[] for _ in range(self.procs)])
        self.sent: dict[int, list[tuple[int, int]]] = {me: [] for me in self.active}
        """For each send of a process to whom it is, and its number among the messages that came there."""
        self._got: dict[int, tuple[Value, int, int] | None] = dict.fromkeys(self.active)
        self._open: list[list[CallRecord]] = [[] for _ in range(self.procs)]
        self._choices = {me: deque(_choices(counterexample, me)) for me in self.active}
        for runner in self.runners.values():
            self._advance(runner)
        for number, event in enumerate(counterexample.events):
            self._happen(number, event)

    def _advance(self, runner: Runner) -> None:
        """Let a process do its local steps up to its next event, with what it has got at the last one."""
        if runner.status == "runs":
            choices = self._choices[runner.me]
            runner.go_on(choices.popleft() if choices else (), self._got[runner.me])
            self._got[runner.me] = None

    def _happen(self, number: int, event: VisibleEvent) -> None:
        """Let one event happen. Raises InternalError if the run has none like it there."""
        runner = self.runners.get(event.process)
        if runner is None:
            raise InternalError(f"event {number}: process {event.process} does not run")
        found = runner.next
        if found is None or runner.choices:
            raise InternalError(f"event {number}: process {event.process} does not come to {event}, it {runner.status}")
        self.history.events.append(event)
        match found:
            case Passing():
                self._pass(number, event, found)
            case Sending(to, port, tag, value):
                self._compare(number, event, ("send", to, port, tag, value))
                if to in self.matches:
                    self.sent[event.process].append((to, len(self.matches[to].messages)))
                    self.matches[to].messages.append(RerunMessage(event.process, port, tag, value))
            case Awaiting(receive):
                self._take(number, event, receive)
            case Completing(send):
                self._complete(number, event, send)
        self._advance(runner)

    def _compare(self, number: int, event: VisibleEvent, found: tuple[str, int, int, int, Value]) -> None:
        if (event.event, event.peer, event.port, event.tag, event.value) != found:
            raise InternalError(f"event {number}: instead of {event} comes {found}")

    def _pass(self, number: int, event: VisibleEvent, found: Passing) -> None:
        me = event.process
        if (event.event, event.function) != (found.event, found.function):
            raise InternalError(f"event {number}: instead of {event} comes {found.event} {found.function}")
        self.history.passed[me].append((found.event, found.function))
        if found.event == "enter":
            call = CallRecord(found.function, found.arguments, found.globals, number)
            self.history.calls[me].append(call)
            self._open[me].append(call)
            return
        call = self._open[me].pop()
        call.at_exit, call.result, call.exited = found.globals, found.result, number

    def _take(self, number: int, event: VisibleEvent, receive: int) -> None:
        me = event.process
        matches, posted = self.matches[me], self.runners[me].posted
        possible = {matching: matches.got_by(matching, receive) for matching in matches.reachable(posted)}
        if event.event != "recv" or not any(possible.values()):
            raise InternalError(f"event {number}: there is no message for {event}")
        said = (event.peer, event.port, event.tag, event.value)
        matches.known = {matching for matching, message in possible.items() if message == said}
        if not matches.known:
            raise InternalError(
                f"event {number}: instead of {event} comes {sorted(filter(None, possible.values()), key=str)}"
            )
        assert event.peer is not None
        assert event.tag is not None
        self._got[me] = (event.value, event.peer, event.tag)

    def _complete(self, number: int, event: VisibleEvent, send: int) -> None:
        to, at = self.sent[event.process][send]
        matches = self.matches[to]
        message = matches.messages[at]
        said = (event.event, event.peer, event.port, event.tag, event.value)
        if said != ("complete", to, message.port, message.tag, message.value):
            raise InternalError(f"event {number}: instead of {event} somebody has got {message}")
        matches.known = {each for each in self.reachable(to) if matches.has_got(each, at)}
        if not matches.known:
            raise InternalError(f"event {number}: nobody has got the message of {event}")

    def reachable(self, me: int) -> set[Matching]:
        """Return which messages the receives of a process may have got by now."""
        return self.matches[me].reachable(self.runners[me].posted)

    def own(self, me: int) -> CallRecord | None:
        """Return the call of the function itself by a process, None if it has not entered."""
        return self.history.calls[me][0] if self.history.calls[me] else None

    def left(self, me: int) -> bool:
        """Whether a process has left the function."""
        own = self.own(me)
        return own is not None and own.exited is not None

    def view(self, number: int, me: int) -> SpecView:
        """Return what a process sees of call `number`, of all who have entered it."""
        nothing = ProcessValues({}, {})
        calls = (each[number].seen() if number < len(each) else nothing for each in self.history.calls)
        return SpecView(tuple(calls), me)

    def entry(self, number: int, me: int) -> SpecView:
        """Return what a process sees at the entry of call `number`."""
        view = self.view(number, me)
        return SpecView(tuple(ProcessValues(each.parameters, each.at_entry) for each in view.everybody), me)

    def collates(self) -> tuple[Collate, ...]:
        """Return the calls that belong together; who calls something else there has no part in it."""
        found = []
        for number in range(max(len(each) for each in self.history.calls)):
            calls = [each[number] if number < len(each) else None for each in self.history.calls]
            name = next(each.function for each in calls if each is not None)
            own = [each if each is not None and each.function == name else None for each in calls]
            entries = tuple(None if each is None else {**each.parameters, **each.at_entry} for each in own)
            exits = tuple(None if each is None else _exit(each) for each in own)
            found.append(Collate(name, number, entries, exits))
        return tuple(found)


def _choices(counterexample: Counterexample, me: int) -> Iterator[tuple[int, ...]]:
    """Yield what a process chooses before each of its events, and after the last one."""
    yield from (each.choices for each in counterexample.events if each.process == me)
    yield from counterexample.ending[me : me + 1]


def _exit(call: CallRecord) -> Mapping[str, Value] | None:
    if call.at_exit is None:
        return None
    return call.at_exit if call.result is None else {**call.at_exit, "\\result": call.result}


def false_requires(contract: Contract, called: Passing, me: int, procs: int) -> Iterator[Span]:
    """Yield the places of the `requires` of a local function that are false where process `me` calls it."""
    nothing, own = ProcessValues({}, {}), ProcessValues(called.arguments, called.globals)
    view = SpecView(tuple(own if each == me else nothing for each in range(procs)), me)
    yield from (each.span for each in contract.clauses if each.kind == "requires" and not is_kept(each, view))
