"""Runs the events of a counterexample one by one, and keeps what happened as a list."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rdma_robust.contracts.contract_answers import (
    Collate,
    Counterexample,
    Standing,
    VisibleEvent,
    message_words,
    why_it_stays,
)
from rdma_robust.contracts.language.contract_program import REQUESTS, Contract, ContractProgram
from rdma_robust.contracts.language.function_instances import instance
from rdma_robust.contracts.rerun.rerun_process import Awaiting, Completing, Note, Passing, Runner, RunnerStage, Sending
from rdma_robust.contracts.rerun.rerun_specs import (
    Matches,
    Matching,
    ProcessValues,
    RerunMessage,
    SpecView,
    changed_outside_frames,
    is_kept,
    set_members,
)
from rdma_robust.errors import NO_SPAN, InternalError, Span
from rdma_robust.messages.language.message_terms import Value, shown_value


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
    """The past of a rerun: the events, the calls of each process in their order, and what it passed, by name."""

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


_FAULTS_IN_CLAUSE = "a fault occurs in the clause"


def shown_text(rerun: Rerun, said: Counterexample) -> str:
    """Return the violation that a rerun shows in words; processes are `process 0`, `process 1` and so on."""
    match said.error:
        case "DL":
            return "; ".join(_waits(rerun))
        case "CCM":
            return _mixed_up(rerun, said)
        case "SGV":
            return _false_end(rerun, said)
        case "PGV" | "PRV":
            return _too_early(rerun, said)
        case "SRV":
            return _false_entry(rerun, said)
        case "ITF":
            return f"process {said.process} can take a message that process {said.other} sends after it has left"
        case "INV":
            return _false_invariant(rerun, said)
        case "RTE":
            return said.text


def _waits(rerun: Rerun) -> Iterator[str]:
    """Yield who never leaves, and why; processes that do the same at the same place together."""
    together: dict[tuple[object, ...], list[Standing]] = {}
    for each in standings(rerun):
        if each.next != "left":
            line = each.span.within(rerun.program.file).line
            together.setdefault((each.next, line, each.peer, each.port, each.tag), []).append(each)
    for same in together.values():
        names = " and ".join(f"process {each.process}" for each in same)
        line = same[0].span.within(rerun.program.file).line
        yield why_it_stays(same[0], rerun.program.port_names, names, f" at line {line}", several=len(same) > 1)


def _mixed_up(rerun: Rerun, said: Counterexample) -> str:
    if said.other is None:
        return said.text
    mine, theirs = rerun.history.passed[said.process], rerun.history.passed[said.other]
    differing = next((pair for pair in zip(mine, theirs, strict=False) if pair[0] != pair[1]), None)
    if differing is None:
        return said.text
    words = [f"{'enters' if event == 'enter' else 'leaves'} {name}" for event, name in differing]
    return f"process {said.process} {words[0]} where process {said.other} {words[1]}"


def _false_end(rerun: Rerun, said: Counterexample) -> str:
    me = said.process
    if said.clause == REQUESTS:
        lines = [each.within(rerun.program.file).line for each in rerun.runners[me].unwaited()]
        return f"process {me} leaves while a request is active" + (f", that of line {lines[0]}" if lines else "")
    if said.other is not None:
        matches = rerun.matches[said.other]
        left = next(each for known in matches.known for each in matches.left(known) if each.sender == me)
        words = message_words(left.port, left.tag or None, rerun.program.port_names)
        return f"process {said.other} never takes {shown_value(left.value)}, which process {me} sends{words}"
    own = rerun.own(me)
    assert own is not None
    if said.clause == "assigns":
        return _changed(rerun, own, me)
    result = "" if own.result is None else f", which returns {shown_value(own.result)}"
    return f"`ensures` is false for process {me}{result}"


def _changed(rerun: Rerun, own: CallRecord, me: int) -> str:
    name = changed_outside_frames(rerun.contract.frames or (), rerun.view(0, me))
    if not name or own.at_exit is None:
        return f"a fault occurs in `assigns` for process {me}"
    return f"process {me} changes {name} from {shown_value(own.at_entry[name])} to {shown_value(own.at_exit[name])}"


def _too_early(rerun: Rerun, said: Counterexample) -> str:
    """Return what an event does that is the last, or the last send of a process to another."""
    me, other = said.process, said.other
    sends = [each for each in rerun.history.events if (each.process, each.event, each.peer) == (me, "send", other)]
    if said.error == "PRV":
        calls = rerun.history.calls[me if other is None else other]
        callee = calls[said.collate].function if said.collate < len(calls) else ""
        if other is None or not sends:
            return f"{_FAULTS_IN_CLAUSE} of {callee} for process {me}"
        line = call_of(rerun, said).within(rerun.program.file).line
        return f"{_sent(rerun, sends[-1])}, which has not left {callee}, called at line {line}"
    last = rerun.history.events[-1]
    if other is None or last.event == "enter":
        return f"{_FAULTS_IN_CLAUSE} for process {me}"
    if last.event == "exit":
        return f"process {me} leaves before process {other} has entered"
    clause = next(each for each in rerun.contract.paths if each.span == said.span and each.until is not None)
    assert clause.until is not None
    missing = [each for each in set_members(clause.until, rerun.entry(0, me)) if rerun.own(each) is None]
    return f"{_sent(rerun, last)} before process {missing[0]} has entered"


def _sent(rerun: Rerun, event: VisibleEvent) -> str:
    words = message_words(event.port, event.tag or None, rerun.program.port_names)
    return f"process {event.process} sends {shown_value(event.value)}{words} to process {event.peer}"


def _false_entry(rerun: Rerun, said: Counterexample) -> str:
    me, other = said.process, said.other
    note = next((each for each in rerun.runners[me].notes if each.error == "SRV" and each.span == said.span), None)
    if note is not None:
        return f"`requires` of {note.function} is false for process {me}{_given(note.arguments)}"
    calls = rerun.history.calls[me]
    if said.collate >= len(calls):
        return said.text
    call = calls[said.collate]
    if other is None:
        return f"`requires` of {call.function} is false for process {me}{_given(tuple(call.parameters.items()))}"
    there, here = rerun.history.calls[other][said.collate].entered, call.entered
    before = [each for each in rerun.history.events[:here] if (each.process, each.event, each.peer) == (me, "send", other)]
    taken = [each for each in rerun.history.events[:there] if (each.process, each.event, each.peer) == (other, "recv", me)]
    for sent in reversed(before):
        same = [[(each.port, each.tag) for each in events].count((sent.port, sent.tag)) for events in (before, taken)]
        if same[0] > same[1]:
            return f"{_sent(rerun, sent)}, which has not taken it when it enters {call.function}"
    return f"process {other} takes before it enters {call.function} what process {me} sends after it has entered"


def _false_invariant(rerun: Rerun, said: Counterexample) -> str:
    if said.other is None:
        return said.text
    if not said.collate:
        return _false_end(rerun, said)
    return _false_entry(rerun, said).replace("enters", "is at the head of")


def _given(arguments: tuple[tuple[str, Value], ...]) -> str:
    return (
        ""
        if not arguments
        else f", which gives it {', '.join(f'{name} = {shown_value(value)}' for name, value in arguments)}"
    )


# Where processes are at the end of a rerun, and where the calls and receives stand that a violation is about.


def standings(rerun: Rerun) -> tuple[Standing, ...]:
    """Return what would come next for each process that runs."""
    return tuple(_standing(rerun, me) for me in rerun.active)


def _standing(rerun: Rerun, me: int) -> Standing:
    runner = rerun.runners[me]
    if rerun.left(me):
        return Standing(me, "left")
    if runner.status != "runs" or runner.next is None:
        return Standing(me, "halted" if runner.status == "halted" else "stopped", runner.at)
    match runner.next:
        case Awaiting(receive):
            wanted = runner.posted[receive]
            return Standing(me, "recv", runner.at, wanted.source, wanted.port, wanted.tag)
        case Completing(send):
            to, at = rerun.sent[me][send]
            message = rerun.matches[to].messages[at]
            return Standing(me, "complete", runner.at, to, message.port, message.tag)
        case Sending(to, port, tag, _):
            return Standing(me, "send", runner.at, to, port, tag)
        case Passing(event):
            return Standing(me, event, runner.at)


def call_of(rerun: Rerun, said: Counterexample) -> Span:
    """Return where the callee is called whose requirement a violation is about: by whom it asks for something."""
    if said.error not in ("SRV", "PRV"):
        return NO_SPAN
    runner = rerun.runners[said.process]
    local = [each.call for each in runner.notes if each == Note("SRV", said.span)]
    if local:
        return local[0]
    asks = said.process if said.error == "SRV" or said.other is None else said.other
    calls = rerun.history.calls[asks]
    return rerun.history.events[calls[said.collate].entered].span if said.collate < len(calls) else NO_SPAN
