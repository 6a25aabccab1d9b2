"""The check that the run of a counterexample shows its violation: each class is asked of the list of events and of its
end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from rdma_robust.contracts.contract_answers import Collate, Counterexample
from rdma_robust.contracts.language.contract_program import REQUESTS, ContractProgram, ErrorClass, PathClause
from rdma_robust.contracts.rerun.rerun_events import CallRecord, Rerun, call_of, shown_text, standings
from rdma_robust.contracts.rerun.rerun_process import Awaiting, Completing, Note, Visible
from rdma_robust.contracts.rerun.rerun_specs import (
    Matching,
    ProcessValues,
    SpecView,
    Taking,
    changed_outside_frames,
    clause_applies,
    concerns,
    is_kept,
    is_within,
    look_at_all,
    set_members,
)
from rdma_robust.errors import InternalError
from rdma_robust.messages.language.message_terms import FaultError


def confirmed(program: ContractProgram, function: str, counterexample: Counterexample) -> tuple[Collate, ...]:
    """Run a counterexample of a function again and return its collates.

    Raises InternalError unless it is a closed run of the function, from an input within bounds that meets `requires`, and
    shows the violation.
    """
    return replayed_counterexample(program, function, counterexample)[1]


def replayed_counterexample(
    program: ContractProgram, function: str, counterexample: Counterexample
) -> tuple[Counterexample, tuple[Collate, ...]]:
    """Run a counterexample again; return it in words and with all places, and its collates. Raises as :func:`confirmed`."""
    contract = program.contract(function)
    if contract is None:
        raise InternalError(f"there is no contract of {function}")
    rerun = Rerun(program, contract, counterexample)
    for me in rerun.active:
        if not _begins_right(rerun, counterexample, me):
            raise InternalError(f"process {me} begins where {function} need not do anything: {counterexample.inputs[me]}")
    if not _SHOWS[counterexample.error](rerun, counterexample):
        raise InternalError(f"the run does not show {counterexample.error}: {counterexample.text or counterexample.clause}")
    return _told(rerun, counterexample), rerun.collates()


def _told(rerun: Rerun, said: Counterexample) -> Counterexample:
    span, clause = said.span, said.clause
    if said.error == "DL":
        span = rerun.runners[said.process].at
    elif said.error == "ITF":
        span = rerun.runners[said.process].places[next(_interfered(rerun, said))]
    elif said.error == "RTE":
        clause = next(each.kind for each in rerun.runners[said.process].notes if each == Note("RTE", said.span))
    words, call = shown_text(rerun, said), call_of(rerun, said)
    return replace(said, text=words, span=span, clause=clause, call=call, ends=standings(rerun))


def _begins_right(rerun: Rerun, counterexample: Counterexample, me: int) -> bool:
    """Whether the inputs of a process are within bounds and meet `requires`."""
    contract, names = rerun.contract, rerun.program.globals
    seen = [
        ProcessValues({name: each[name] for name in contract.parameters}, {name: each[name] for name in names})
        if number in rerun.active
        else ProcessValues({}, {})
        for number, each in enumerate(counterexample.inputs)
    ]
    view = SpecView(tuple(seen), me)
    required = (each for each in contract.clauses if each.kind == "requires")
    inputs = counterexample.inputs[me]
    return all(is_kept(each, view) for each in required) and all(
        is_within(each, inputs[each.name], view) for each in contract.bounds
    )


def _shows_fault(rerun: Rerun, said: Counterexample) -> bool:
    return Note("RTE", said.span) in rerun.runners[said.process].notes


def _shows_different_calls(rerun: Rerun, said: Counterexample) -> bool:
    if said.other is None:
        return False
    passed = rerun.history.passed
    return any(mine != theirs for mine, theirs in zip(passed[said.process], passed[said.other], strict=False))


def _shows_deadlock(rerun: Rerun, said: Counterexample) -> bool:
    inside = [me for me in rerun.active if not rerun.left(me)]
    runners = [rerun.runners[me] for me in inside if rerun.runners[me].status != "halted"]
    waiting = {each.me: each.next for each in runners if each.status == "runs"}
    return (
        said.process in inside
        and len(waiting) == len(runners)
        and all(isinstance(each, Awaiting | Completing) for each in waiting.values())
        and all(any(_leaves_waiting(rerun, me, each, waiting) for each in rerun.reachable(me)) for me in rerun.active)
    )


def _leaves_waiting(rerun: Rerun, me: int, matching: Matching, waiting: Mapping[int, Visible | None]) -> bool:
    """Whether no receive of a process gets anything more, and nobody who waits for it, or it itself, can go on."""
    matches, own = rerun.matches[me], waiting.get(me)
    if matches.enabled(matching, rerun.runners[me].posted):
        return False
    if isinstance(own, Awaiting) and matches.got_by(matching, own.receive) is not None:
        return False
    offered = [rerun.sent[other][each.send] for other, each in waiting.items() if isinstance(each, Completing)]
    return not any(to == me and matches.has_got(matching, at) for to, at in offered)


def _shows_false_end(rerun: Rerun, said: Counterexample) -> bool:
    if not all(rerun.left(me) for me in rerun.active):
        return False
    if said.other is not None:
        matches = rerun.matches[said.other]
        return any(each.sender == said.process for matching in matches.known for each in matches.left(matching))
    if said.clause == REQUESTS:
        return not rerun.runners[said.process].is_idle
    contract, view = rerun.contract, rerun.view(0, said.process)
    ensured = [each for each in contract.clauses if each.kind == "ensures" and each.span == said.span]
    if any(not is_kept(each, view) for each in ensured):
        return True
    frames = contract.frames
    if frames is None or said.span not in (contract.span, *(each.span for each in frames)):
        return False
    return changed_outside_frames(frames, view) is not None


def _shows_broken_promise(rerun: Rerun, said: Counterexample) -> bool:
    clauses = [each for each in rerun.contract.paths if each.kind != "quiet from" and each.span == said.span]
    own, last = rerun.own(said.process), len(rerun.history.events) - 1
    if own is None or rerun.history.events[last].process != said.process:
        return False
    for clause in clauses:
        try:
            if _breaks(rerun, said, clause, own):
                return True
        except FaultError:
            if own.entered == last:
                return True
    return False


def _breaks(rerun: Rerun, said: Counterexample, clause: PathClause, own: CallRecord) -> bool:
    """Whether the last event breaks a guarantee of the function. Raises FaultError."""
    view, last = rerun.entry(0, said.process), rerun.history.events[-1]
    if not clause_applies(clause, view):
        return False
    look_at_all(clause, view)
    if clause.until is None:
        awaited = set_members(clause.who, view)
        ends = own.exited == len(rerun.history.events) - 1
        return ends and any(rerun.own(each) is None for each in awaited if said.other in (None, each))
    until = set_members(clause.until, view)
    if last.event != "send" or last.peer is None or not concerns(clause, view, last.peer, (last.port, last.tag)):
        return False
    return any(rerun.own(each) is None for each in until)


def _shows_interference(rerun: Rerun, said: Counterexample) -> bool:
    return next(_interfered(rerun, said), None) is not None


def _interfered(rerun: Rerun, said: Counterexample) -> Iterator[int]:
    """Yield the receives, by their numbers, that may get a message that the other process does not send here."""
    runner, other = rerun.runners[said.process], said.other
    if other is None or other == said.process or rerun.left(said.process) or not rerun.left(other):
        return
    matches = rerun.matches[said.process]
    for at, receive in enumerate(runner.posted):
        for matching in rerun.reachable(said.process) if runner.status != "stopped" else ():
            if matches.got_by(matching, at) is None and _may_interfere(rerun, said.process, other, matching, receive):
                yield at


def _may_interfere(rerun: Rerun, me: int, other: int, matching: Matching, receive: Taking) -> bool:
    """Whether a receive may get a message that `other`, which has left, does not send here."""
    left = rerun.matches[me].left(matching)
    if receive.source is not None or any(each.sender == other and receive.accepts(each) for each in left):
        return False
    quiet = [each for each in rerun.contract.paths if each.kind == "quiet from"]
    return not any(_keeps_away(each, rerun.entry(0, me), other, receive) for each in quiet)


def _keeps_away(clause: PathClause, view: SpecView, other: int, wants: Taking) -> bool:
    try:
        return clause_applies(clause, view) and concerns(clause, view, other, (wants.port, wants.tag))
    except FaultError:
        return False


def _calls(rerun: Rerun, number: int) -> list[CallRecord | None]:
    return [each[number] if number < len(each) else None for each in rerun.history.calls]


def _shows_false_entry(rerun: Rerun, said: Counterexample) -> bool:
    if _is_noted(rerun, said):
        return True
    calls = [each for each in _calls(rerun, said.collate) if each is not None]
    callee = rerun.program.contract(calls[0].function) if calls else None
    if said.collate == 0 or callee is None or len(calls) < rerun.procs or len({each.function for each in calls}) > 1:
        return False
    if said.other is not None:
        return _crosses(rerun, said.process, said.other, [each.entered for each in calls])
    view = rerun.entry(said.collate, said.process)
    required = [each for each in callee.clauses if each.kind == "requires" and each.span == said.span]
    return any(not is_kept(each, view) for each in required)


def _shows_false_invariant(rerun: Rerun, said: Counterexample) -> bool:
    """Whether an invariant is false at the head of a loop or, if the function is a round of one, after that."""
    return _is_noted(rerun, said) or (_shows_false_entry if said.collate else _shows_false_end)(rerun, said)


def _is_noted(rerun: Rerun, said: Counterexample) -> bool:
    """Whether a requirement of a local function, or an invariant of a loop in one, was seen to be false."""
    return any((each.error, each.span) == (said.error, said.span) for each in rerun.runners[said.process].notes)


def _crosses(rerun: Rerun, sender: int, receiver: int, entered: list[int]) -> bool:
    """Whether other messages were sent before the sender entered a call than were taken before the receiver did."""
    sent: list[tuple[int, int | None]] = []
    taken: list[tuple[int, int | None]] = []
    for number, event in enumerate(rerun.history.events):
        if (event.process, event.event, event.peer) == (sender, "send", receiver) and number < entered[sender]:
            sent.append((event.port, event.tag))
        if (event.process, event.event, event.peer) == (receiver, "recv", sender) and number < entered[receiver]:
            taken.append((event.port, event.tag))
    return sorted(sent, key=str) != sorted(taken, key=str)


def _shows_broken_quiet(rerun: Rerun, said: Counterexample) -> bool:
    number, asks = said.collate, said.process if said.other is None else said.other
    calls = _calls(rerun, number)
    asked, sender = calls[asks], calls[said.process]
    callee = None if asked is None else rerun.program.contract(asked.function)
    if number == 0 or asked is None or sender is None or callee is None or asked.function != sender.function:
        return False
    view = rerun.entry(number, asks)
    for clause in callee.paths:
        if clause.kind == "quiet from" and clause.span == said.span:
            try:
                if clause_applies(clause, view) and any(_sent_into(rerun, said, clause, (asked, sender))):
                    return True
            except FaultError:
                return said.other is None
    return False


def _sent_into(
    rerun: Rerun, said: Counterexample, clause: PathClause, calls: tuple[CallRecord, CallRecord]
) -> Iterator[bool]:
    """Yield for each message whether it came after its sender had left the call and before the other did."""
    asked, sender = calls
    view = rerun.entry(said.collate, said.process if said.other is None else said.other)
    look_at_all(clause, view)
    for number, event in enumerate(rerun.history.events):
        if (event.process, event.event, event.peer) == (said.process, "send", said.other):
            behind = sender.exited is not None and sender.exited < number
            before = asked.exited is None or number < asked.exited
            yield behind and before and concerns(clause, view, said.process, (event.port, event.tag))


_SHOWS: Final[dict[ErrorClass, Callable[[Rerun, Counterexample], bool]]] = {
    "RTE": _shows_fault,
    "CCM": _shows_different_calls,
    "DL": _shows_deadlock,
    "SGV": _shows_false_end,
    "PGV": _shows_broken_promise,
    "ITF": _shows_interference,
    "SRV": _shows_false_entry,
    "PRV": _shows_broken_quiet,
    "INV": _shows_false_invariant,
}
