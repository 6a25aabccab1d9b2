"""One process of a run goes on: local steps, and the visible events that nothing can prevent.

What is found out at events is told a :class:`Watcher`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from rdma_robust.contracts.runs import request_steps
from rdma_robust.contracts.runs.run_state import (
    Actor,
    AwaitedReceive,
    ClockedEvent,
    CollatePassing,
    Promise,
    SentMessage,
    SymbolicRun,
    Wildcard,
    joined_clock,
    ticked,
)
from rdma_robust.contracts.runs.run_terms import SymbolicTerm
from rdma_robust.contracts.runs.spec_reading import Snapshot
from rdma_robust.contracts.runs.symbolic_data import Data, Decisions
from rdma_robust.contracts.runs.term_code import (
    AwaitPoint,
    CalleePoint,
    ClaimPoint,
    EntryPoint,
    ExitPoint,
    LocalStep,
    PostPoint,
    ReceivePoint,
    RequestPoint,
    RunCode,
    SendPoint,
    Spot,
)
from rdma_robust.errors import Span
from rdma_robust.messages.language.message_terms import FaultError
from rdma_robust.messages.machine.flat_code import BranchChoice, EndOfProcess, Jump

STEPS: Final = 100_000
"""Steps of one process in one run."""

CALLS: Final = 4_000
"""Entries and exits of one process in one run."""


class ChoiceError(Exception):
    """A process is at `choose` or `loop`: the run has to go on once for each of `targets`."""

    def __init__(self, process: int, targets: Sequence[int]) -> None:
        super().__init__()
        self.process = process
        self.targets = targets


class PrunedError(Exception):
    """No inputs lead any further: the run ends."""


class TooManyStepsError(Exception):
    """A process makes too many steps, or calls."""


class Watcher(Protocol):
    """Who looks at a run while it is made."""

    def promises(self, process: int, function: str, snapshot: Snapshot) -> tuple[Promise, ...]:
        """Return the path clauses of a function as they are as a process enters it."""

    def entered(self, run: SymbolicRun, process: int) -> None:
        """A process has passed the entry of a collective function, its last call."""

    def left(self, run: SymbolicRun, process: int) -> None:
        """A process has passed the exit of a collective function, its last call."""

    def entered_local(self, run: SymbolicRun, process: int, function: str, snapshot: Snapshot) -> None:
        """A process enters a local function."""

    def sent(self, run: SymbolicRun, event: ClockedEvent) -> None:
        """A process has sent a message."""

    def faulted(self, run: SymbolicRun, process: int, kind: str, span: Span) -> None:
        """A process has stopped at a fault, or an assertion of it (kind `assert`) is false."""


class RunMachine:
    """Executes the processes of one function; `collective` are the functions whose entries and exits are events."""

    def __init__(
        self,
        codes: Sequence[RunCode],
        global_names: Sequence[str],
        collective: frozenset[str],
        decisions: Decisions,
        watcher: Watcher,
    ) -> None:
        self.codes = codes
        self.count = len(codes)
        self.global_names = tuple(global_names)
        self.collective = collective
        self.on = decisions
        self.watcher = watcher
        self.rendezvous = any(each.rendezvous for each in codes)

    def go_on(self, run: SymbolicRun) -> None:
        """Let every process go on until it waits for a message that is not there, or for one from any.

        Raises ForkError, ChoiceError, TooManyError and EndlessError, after which the run goes on from where it is.
        """
        self.on.path = run.path
        moved = True
        while moved:
            moved = False
            for process, actor in enumerate(run.actors):
                if actor.status == "waits" and self._can_take(run, process):
                    self.take(run, process, self._named_source(actor))
                if actor.asked.posts and self._got_some(run, process):
                    moved = True
                awaited = actor.status == "awaits"
                if awaited or actor.status == "runs":
                    actor.status = "runs"
                    self._process(run, process, actor)
                    moved |= not (awaited and _awaits(actor))

    def _got_some(self, run: SymbolicRun, process: int) -> bool:
        """Let posted receives get what they get in any case; return whether there were such."""
        found = False
        while True:
            posts = run.actors[process].asked.posts
            sure = (each for each in request_steps.pairs(run, process) if posts[each.post].source is not None)
            pair = next(sure, None)
            if pair is None:
                return found
            found = True
            self.match(run, process, pair)

    def match(self, run: SymbolicRun, process: int, pair: request_steps.PostMatch) -> None:
        """Let a posted receive get a message."""
        request_steps.match(run, process, pair, rendezvous=self.rendezvous)

    def _named_source(self, actor: Actor) -> int:
        assert actor.waited is not None and actor.waited.source is not None
        return actor.waited.source

    def _can_take(self, run: SymbolicRun, process: int) -> bool:
        waited = run.actors[process].waited
        return waited is not None and waited.source is not None and self.message(run, process, waited.source) is not None

    def message(self, run: SymbolicRun, process: int, source: int) -> int | None:
        """Return the place in its channel of the message from `source` that a waiting process would take."""
        waited = run.actors[process].waited
        assert waited is not None
        for at, message in enumerate(run.channels.get((source, process, waited.port), ())):
            if waited.tag is None or message.tag == waited.tag:
                return at
        return None

    def senders(self, run: SymbolicRun, process: int) -> list[int]:
        """Return whose message a process that waits for one from any may take."""
        return [source for source in range(self.count) if self.message(run, process, source) is not None]

    # local steps

    def _process(self, run: SymbolicRun, process: int, actor: Actor) -> None:
        code = self.codes[process].code
        on, registers = self.on, actor.registers
        while actor.status == "runs":
            actor.steps += 1
            if actor.steps > STEPS:
                raise TooManyStepsError
            instruction = code[actor.at]
            try:
                if type(instruction) is LocalStep:
                    actor.at = instruction.go(registers, on)
                elif type(instruction) is Jump:
                    actor.at = instruction.target
                else:
                    self._point(run, process, actor)
            except FaultError as fault:
                actor.status = "faulted"
                self.watcher.faulted(run, process, fault.kind, instruction.span)

    def _point(self, run: SymbolicRun, process: int, actor: Actor) -> None:
        instruction = self.codes[process].code[actor.at]
        match instruction:
            case SendPoint():
                self._send(run, process, actor, instruction)
            case ReceivePoint():
                self._wait(actor, instruction)
            case PostPoint():
                request_steps.post(self, process, actor, instruction)
            case AwaitPoint():
                request_steps.wait(self, run, process, instruction)
            case RequestPoint():
                self._declare(actor, instruction)
            case EntryPoint():
                self._enter(run, process, actor, instruction)
            case ExitPoint():
                self._leave(run, process, actor, instruction)
            case ClaimPoint():
                self._claim(run, process, actor, instruction)
            case CalleePoint():
                actor.status = "calls"
            case BranchChoice(targets):
                raise ChoiceError(process, targets)
            case EndOfProcess():
                actor.status = "halted"

    def _claim(self, run: SymbolicRun, process: int, actor: Actor, claim: ClaimPoint) -> None:
        if self.on.decide(self.on.truth(claim.condition(actor.registers, self.on))):
            actor.at += 1
        elif claim.assumed:
            actor.status = "pruned"
        else:
            actor.at += 1
            self.watcher.faulted(run, process, "assert", claim.span)

    def process_number(self, value: Data, kind: str) -> int:
        """Return the number of a process, known. Raises FaultError."""
        found = self.on.among(self.on.number(value), self.count)
        if found is None:
            raise FaultError("destination" if kind == "destination" else "source")
        return found

    def tag(self, value: Data) -> int:
        """Return a tag, known. Raises FaultError."""
        tag = self.on.number(value)
        if self.on.decide(self.on.terms.compare("<", tag, 0)):
            raise FaultError("tag")
        return self.on.some(tag, "a tag")

    # events

    def event(self, run: SymbolicRun, actor: Actor, event: ClockedEvent) -> None:
        """Note that a process does something visible."""
        run.events.append(event)
        actor.clock = event.clock
        actor.choices = ()

    def _send(self, run: SymbolicRun, process: int, actor: Actor, send: SendPoint) -> None:
        registers = actor.registers
        value = send.value(registers, self.on)
        to = self.process_number(send.to(registers, self.on), "destination")
        tag = self.tag(send.tag(registers, self.on))
        request = None if send.request is None else request_steps.request_key(self, actor, send.request)
        clock = ticked(actor.clock, process)
        event = ClockedEvent(process, "send", clock, "", 0, to, tag, send.port, value, actor.choices, send.span)
        self.event(run, actor, event)
        channel = process, to, send.port
        run.channels[channel] = (
            *run.channels.get(channel, ()),
            SentMessage(tag, value, clock, sum(actor.sent.values()), actor.asked.after),
        )
        if request is not None:
            state = request_steps.state_of_send(actor, rendezvous=self.rendezvous)
            actor.asked = actor.asked.set(*request, state)
        key = to, send.port, tag
        actor.sent[key] = actor.sent.get(key, 0) + 1
        actor.at += 1
        self.watcher.sent(run, event)

    def _declare(self, actor: Actor, point: RequestPoint) -> None:
        size = None if point.size is None else len(self.on.zeros(point.size(actor.registers, self.on)))
        actor.asked = actor.asked.declared(point.name, size)
        actor.at += 1

    def _wait(self, actor: Actor, receive: ReceivePoint) -> None:
        registers, on = actor.registers, self.on
        source = None if receive.source is None else self.process_number(receive.source(registers, on), "source")
        tag = None if receive.tag is None else self.tag(receive.tag(registers, on))
        spots = (receive.target, receive.sender, receive.which)
        indices = tuple([() if spot is None else self._indices(spot, actor, receive.target) for spot in spots])
        actor.waited = AwaitedReceive(source, receive.port, tag, indices)
        actor.status = "waits"

    def _indices(self, spot: Spot, actor: Actor, target: Spot) -> tuple[int, ...]:
        """Return the indices of a place, known, so that storing takes no decision; -1 for those out of range now."""
        numbers = [self.on.number(each(actor.registers, self.on)) for each in spot.indices]
        found: list[int] = []
        value: Data = actor.registers[spot.name]
        for each in numbers:
            if isinstance(value, int | SymbolicTerm) or (spot is not target and spot.name == target.name):
                found.append(self.on.some(each, "an index"))
                continue
            items = self.on.array(value)
            at = self.on.among(each, len(items))
            found.append(-1 if at is None else at)
            value = 0 if at is None else items[at]
        return tuple(found)

    def take(self, run: SymbolicRun, process: int, source: int) -> None:
        """Let a waiting process take the message from `source`; what is stored is a local step behind it."""
        actor = run.actors[process]
        waited, at = actor.waited, self.message(run, process, source)
        receive = self.codes[process].code[actor.at]
        assert waited is not None and at is not None and isinstance(receive, ReceivePoint)
        channel = source, process, waited.port
        messages = run.channels[channel]
        message = messages[at]
        run.channels[channel] = (*messages[:at], *messages[at + 1 :])
        if message.after:
            actor.asked = actor.asked._replace(after=actor.asked.after | message.after)
        if waited.source is None:
            self._remember(actor, process, waited)
        clock = joined_clock(ticked(actor.clock, process), message.clock)
        event = ClockedEvent(
            process, "recv", clock, "", 0, source, message.tag, waited.port, message.value, actor.choices, receive.span
        )
        self.event(run, actor, event)
        key = source, waited.port, message.tag
        actor.got[key] = actor.got.get(key, 0) + 1
        actor.status, actor.waited, actor.at = "runs", None, actor.at + 1
        self._store(run, process, receive, waited, (message.value, source, message.tag))

    def _remember(self, actor: Actor, process: int, waited: AwaitedReceive) -> None:
        pattern = waited.port, waited.tag
        kept = [each for each in actor.wildcards if each[0] != pattern]
        last = Wildcard(actor.clock[process], tuple(sorted(actor.got.items())))
        actor.wildcards = (*kept, (pattern, last))
        actor.any_receives = (*actor.any_receives, (actor.clock[process], *pattern))

    def _store(
        self, run: SymbolicRun, process: int, receive: ReceivePoint, waited: AwaitedReceive, values: tuple[Data, int, int]
    ) -> None:
        actor = run.actors[process]
        spots = (receive.target, receive.sender, receive.which)
        try:
            for spot, indices, value in zip(spots, waited.indices, values, strict=True):
                if spot is not None:
                    actor.registers[spot.name] = self.on.stored(actor.registers[spot.name], indices, value)
        except FaultError as fault:
            actor.status = "faulted"
            self.watcher.faulted(run, process, fault.kind, receive.span)

    def _snapshot(self, actor: Actor, parameters: dict[str, Data], result: Data | None = None) -> Snapshot:
        return Snapshot(parameters, {name: actor.registers[name] for name in self.global_names}, result)

    def _enter(self, run: SymbolicRun, process: int, actor: Actor, entering: EntryPoint) -> None:
        parameters = {name: code(actor.registers, self.on) for name, code in entering.parameters}
        snapshot = self._snapshot(actor, parameters)
        if entering.function not in self.collective:
            self.watcher.entered_local(run, process, entering.function, snapshot)
            actor.at += 1
            return
        place, clock = len(actor.calls), ticked(actor.clock, process)
        if place > CALLS:
            raise TooManyStepsError(f"a process makes more than {CALLS:,} calls")
        function, span = entering.function, entering.span
        promises = self.watcher.promises(process, function, snapshot)
        self.event(run, actor, ClockedEvent(process, "enter", clock, function, place, choices=actor.choices, span=span))
        passing = CollatePassing(
            "enter", function, snapshot, clock, dict(actor.sent), dict(actor.got), place, promises, span
        )
        actor.calls, actor.open, actor.at = (*actor.calls, passing), (*actor.open, place), actor.at + 1
        self.watcher.entered(run, process)

    def _leave(self, run: SymbolicRun, process: int, actor: Actor, leaving: ExitPoint) -> None:
        if leaving.function not in self.collective:
            actor.at += 1
            return
        opened, place, clock = actor.open[-1], len(actor.calls), ticked(actor.clock, process)
        function, span = leaving.function, leaving.span
        result = actor.registers[leaving.result] if leaving.result else None
        snapshot = self._snapshot(actor, dict(actor.calls[opened].snapshot.parameters), result)
        self.event(run, actor, ClockedEvent(process, "exit", clock, function, place, choices=actor.choices, span=span))
        passing = CollatePassing("exit", function, snapshot, clock, dict(actor.sent), dict(actor.got), opened, (), span)
        actor.calls, actor.open, actor.at = (*actor.calls, passing), actor.open[:-1], actor.at + 1
        if not actor.open:
            actor.status = "left"
        self.watcher.left(run, process)


def _awaits(actor: Actor) -> bool:
    return actor.status == "awaits"
