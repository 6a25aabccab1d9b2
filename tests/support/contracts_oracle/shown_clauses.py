"""The classes of violations, each as one function of a state or an event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rdma_robust.contracts.language.contract_program import CHANNELS, REQUESTS, Contract, ContractProgram, ErrorClass
from rdma_robust.contracts.language.function_instances import OneInput
from rdma_robust.contracts.language.spec_worth import CollectiveState, LocalPathClause, clause_holds, paths_of
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.limits import Poll
from rdma_robust.messages.language.message_terms import FaultError, Value
from tests.support.contracts_oracle.allowed_changes import changed_outside
from tests.support.contracts_oracle.local_steps import FAULTS, Awaiting, Broken, Completing, Incoming, Local
from tests.support.contracts_oracle.message_channels import Channels, first_with
from tests.support.contracts_oracle.pending import Posted
from tests.support.contracts_oracle.run_states import Entry, Kind, Open, State


@dataclass(frozen=True, slots=True)
class Shown:
    """A violation, as :class:`Counterexample` has it; `call` is the place of its call in the state.

    `choices` are those of `process` after the last event, up to the violation, if it is one on the way to its next event.
    """

    error: ErrorClass
    process: int
    text: str
    other: int | None = None
    clause: str = ""
    span: Span = NO_SPAN
    call: int = 0
    choices: tuple[int, ...] | None = None


def broken_on_the_way(me: int, broken: Broken) -> Shown:
    """Return a violation in local steps."""
    clause = "" if broken.clause is None else broken.clause.kind
    return Shown(broken.error, me, broken.text, None, clause, broken.span, choices=broken.choices)


def different_calls(me: int, other: int, name: str, at: int, span: Span) -> Shown:
    """Return CCM: two processes pass different places."""
    return Shown("CCM", me, f"process {me} passes {name} where process {other} passes something else", other, "", span, at)


class Judge:
    """Judges the closed runs of a function from one input; `active` are the processes that run."""

    def __init__(
        self,
        program: ContractProgram,
        contract: Contract,
        inputs: tuple[OneInput, ...],
        active: tuple[int, ...],
        poll: Poll,
    ) -> None:
        self.program, self.contract, self.active, self.poll = program, contract, active, poll
        self.procs = len(inputs)
        self.parameters = tuple({name: each[name] for name in contract.parameters if name in each} for each in inputs)
        self.globals = tuple({name: each[name] for name in program.globals if name in each} for each in inputs)
        self.entry = CollectiveState.at_entry(self.parameters, self.globals)
        self.paths = tuple(paths_of(contract, self.entry, me) if me in active else () for me in range(self.procs))

    def _path(self, path: LocalPathClause, process: int, other: int | None, text: str, call: int = 0) -> Shown:
        error: ErrorClass = "PRV" if path.kind == "quiet from" else "PGV"
        return Shown(error, process, text, other, path.kind, path.clause.span, call)

    def fault(self, me: int, fault: FaultError, span: Span) -> Shown:
        """Return RTE: a fault where a message is stored."""
        return Shown("RTE", me, FAULTS[fault.kind], None, "", span)

    # What is violated in a state

    def deadlock(self, state: State) -> Iterator[Shown]:
        """Yield DL in a state without events: some process has not left, and none was stopped or is not followed."""
        if any(each.status in ("stopped", "endless", "unfollowed") for each in state.locals):
            return
        inside = [me for me in self.active if not state.calls[0].exited[me]]
        waiting = [me for me in inside if state.locals[me].status == "ready"]
        if not inside:
            return
        me = (waiting or inside)[0]
        source = _partner(state.locals[me])
        text = f"process {me} waits for a message that never comes" if waiting else f"process {me} halts in the function"
        yield Shown("DL", me, text, source)

    def interference(self, state: State) -> Iterator[Shown]:
        """Yield ITF: a process is at a receive from any, another has left, and nothing keeps its later messages away."""
        for me in self.active:
            for wanted in _from_any(state, me):
                yield from self._interferes(state, me, wanted)

    def _interferes(self, state: State, me: int, wanted: Incoming | Posted) -> Iterator[Shown]:
        for other in self.active:
            messages = dict(state.channels).get((other, me, wanted.port), ())
            if not state.calls[0].exited[other] or first_with(messages, wanted.tag) is not None:
                continue
            quiet = (each for each in self.paths[me] if each.kind == "quiet from")
            if not any(each.covers(other, wanted.port, wanted.tag) for each in quiet):
                text = f"process {me} may take a message that process {other} sends after it has left"
                yield Shown("ITF", me, text, other)

    # What an event shows

    def own_entry(self, me: int) -> Iterator[Shown]:
        """Yield PGV for guarantees of the function in which a fault occurs as the process enters."""
        for path in self.paths[me]:
            if path.faulty and path.kind != "quiet from":
                yield self._path(path, me, None, "a fault occurs in the clause")

    def own_exit(self, state: State, me: int) -> Iterator[Shown]:
        """Yield PGV for each process that has not entered, though `me` waits for it before it leaves."""
        for path in self.paths[me]:
            if path.kind == "waitsfor":
                for other in sorted(path.who):
                    if not state.calls[0].entered[other]:
                        text = f"process {me} leaves before process {other} enters"
                        yield self._path(path, me, other, text)

    def own_send(self, state: State, kind: Kind) -> Iterator[Shown]:
        """Yield PGV for a message that the sender promised not to send before all of some processes entered."""
        me, to, port, tag = kind
        for path in self.paths[me]:
            if path.kind == "quiet to" and path.speaks_of(to, port, tag):
                missing = [each for each in sorted(path.until) if not state.calls[0].entered[each]]
                if missing:
                    text = f"process {me} sends to process {to} before process {missing[0]} enters"
                    yield self._path(path, me, to, text)

    def quiet_from(
        self, contract: Contract, me: int, entry: Entry, shown: list[Shown], at: int
    ) -> tuple[LocalPathClause, ...]:
        """Return the `quiet from` of a callee that a process enters; PRV for those in which a fault occurs."""
        parameters = dict(zip(contract.parameters, entry.parameters, strict=True))
        globals_ = dict(zip(self.program.globals, entry.globals, strict=True))
        paths = paths_of(contract, CollectiveState.of_one(self.procs, me, parameters, globals_), me)
        found = [each for each in paths if each.kind == "quiet from"]
        shown += [self._path(each, me, None, "a fault occurs in the clause", at) for each in found if each.faulty]
        return tuple(each for each in found if not each.faulty)

    def early_messages(self, call: Open, me: int, quiet: tuple[LocalPathClause, ...], at: int) -> Iterator[Shown]:
        """Yield PRV for messages that came from processes that had left a callee before `me` enters it."""
        for kind in sorted(call.early):
            if kind[1] == me:
                yield from self._sent_into(quiet, kind, at)

    def sent_into(self, call: Open, kind: Kind, at: int) -> Iterator[Shown]:
        """Yield PRV for a message from one who has left a callee to one who has not."""
        yield from self._sent_into(call.quiet[kind[1]], kind, at)

    def _sent_into(self, quiet: tuple[LocalPathClause, ...], kind: Kind, at: int) -> Iterator[Shown]:
        sender, to, port, tag = kind
        for path in quiet:
            if path.speaks_of(sender, port, tag):
                text = f"process {sender} sends to process {to}, which has not left the call that process {sender} has left"
                yield self._path(path, sender, to, text, at)

    def collective_entry(self, contract: Contract, call: Open, at: int) -> Iterator[Shown]:
        """Yield SRV where all have entered a callee: messages on their way, and `requires` that are false."""
        for (sender, to, _, _), number in call.surplus:
            text = (
                f"a message of process {sender} to process {to} is on its way"
                if number > 0
                else f"process {to} takes before the call what process {sender} sends after it"
            )
            yield Shown(contract.entry_error, sender, text, to, CHANNELS, NO_SPAN, at)
        entries = [each for each in call.entries if each is not None]
        parameters = tuple(dict(zip(contract.parameters, each.parameters, strict=True)) for each in entries)
        globals_ = tuple(dict(zip(self.program.globals, each.globals, strict=True)) for each in entries)
        state = CollectiveState.at_entry(parameters, globals_)
        for clause in contract.clauses:
            for me in range(self.procs):
                if clause.kind == "requires" and not clause_holds(clause, state, me, self.poll):
                    text = f"{contract.false_at_entry(clause)} for process {me}"
                    yield Shown(contract.entry_error, me, text, None, clause.kind, clause.span, at)

    def requests_left(self, locals_: tuple[Local, ...]) -> Iterator[Shown]:
        """Yield SGV where all have left the function and a request is active, or a receive is posted."""
        for me in self.active:
            if not locals_[me].pending.is_idle:
                yield Shown("SGV", me, f"a request of process {me} is active", None, REQUESTS)

    def collective_exit(self, registers: tuple[dict[str, Value], ...], channels: Channels) -> Iterator[Shown]:
        """Yield SGV where all have left the function: messages left over, `ensures` and `assigns` that do not hold."""
        for (sender, to, _), _ in channels:
            text = f"a message of process {sender} to process {to} is left"
            yield Shown(self.contract.exit_error, sender, text, to, CHANNELS)
        now = tuple({name: each[name] for name in self.program.globals} for each in registers)
        results = tuple(each.get("\\result") for each in registers)
        state = CollectiveState(self.parameters, self.globals, now, results)
        for me in self.active:
            for clause in self.contract.clauses:
                if clause.kind == "ensures" and not clause_holds(clause, state, me, self.poll):
                    text = f"{self.contract.false_at_exit(clause)} for process {me}"
                    yield Shown(self.contract.exit_error, me, text, None, clause.kind, clause.span)
            name = changed_outside(self.contract.frames, state, me, self.poll)
            if name is not None:
                span = self.contract.frames[0].span if self.contract.frames else self.contract.span
                text = f"process {me} changes {name}" if name else f"a fault occurs in `assigns` of process {me}"
                yield Shown("SGV", me, text, None, "assigns", span)


def _partner(local: Local) -> int | None:
    """Return from whom a process waits for a message, or who should get its own; None for anybody."""
    match local.offer:
        case Awaiting(place):
            return local.pending.posted[place].source
        case Completing(ticket):
            send = local.pending.offered_at(-ticket)
            return None if send is None else send.to
        case Incoming(source):
            return source
        case _:
            return None


def _from_any(state: State, me: int) -> Iterator[Incoming | Posted]:
    """Yield the receives from any that a process has and that have not got a message, while it is in the function."""
    local = state.locals[me]
    if state.calls[0].exited[me] or local.status == "stopped":
        return
    receives: list[Incoming | Posted] = [each for each in local.pending.posted if each.got is None]
    if isinstance(local.offer, Incoming) and local.status == "ready":
        receives.append(local.offer)
    yield from (each for each in receives if each.source is None)
