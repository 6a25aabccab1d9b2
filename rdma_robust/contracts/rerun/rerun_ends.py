"""Where processes are at the end of a rerun, and where the calls and receives stand that a violation is about."""

from __future__ import annotations

from rdma_robust.contracts.contract_answers import Counterexample
from rdma_robust.contracts.rerun.rerun_events import Rerun
from rdma_robust.contracts.rerun.rerun_process import Awaiting, Completing, Note, Passing, Sending
from rdma_robust.contracts.standings import Standing
from rdma_robust.errors import NO_SPAN, Span


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
