"""What is wrong at the end of a rerun, in words, with the values that were sent, received, returned and given."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.contracts.contract_answers import Counterexample, VisibleEvent
from rdma_robust.contracts.language.clause_kinds import REQUESTS
from rdma_robust.contracts.rerun.rerun_clauses import changed_outside_frames
from rdma_robust.contracts.rerun.rerun_ends import call_of, standings
from rdma_robust.contracts.rerun.rerun_events import CallRecord, Rerun
from rdma_robust.contracts.rerun.rerun_specs import set_members
from rdma_robust.contracts.standings import Standing, message_words, why_it_stays
from rdma_robust.messages.language.message_terms import Value, shown_value

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
