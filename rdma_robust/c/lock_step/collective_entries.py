"""Collective calls of one communicator: the k-th of each process belong together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rdma_robust.c.evaluate.calls import CallContext
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.lock_step.call_arguments import wrong
from rdma_robust.c.lock_step.channels import Communicator
from rdma_robust.c.lock_step.message_calls import new_record, received_into
from rdma_robust.c.lock_step.message_layouts import EMPTY, NOTHING, BufferLayout, MessageData, delivered_into
from rdma_robust.c.lock_step.rank_machine import Blocked, RankMachine, rank_of
from rdma_robust.c.lock_step.request_records import RequestRecord
from rdma_robust.c.lock_step.window_conflicts import Clock
from rdma_robust.expr import Const, Name
from rdma_robust.messages.language import message_program as mp


@dataclass(slots=True)
class CollectiveEntry:
    """A collective call of one process: its name with root and operation, what it gives to each process, and what it takes
    of each. `combine` stores what it makes of all it takes, where it does not store each by itself."""

    name: str
    line: int
    gives: dict[int, MessageData] = field(default_factory=dict)
    takes: dict[int, BufferLayout] = field(default_factory=dict)
    combine: Callable[[State, dict[int, MessageData]], None] | None = None
    said: object = None
    clock: Clock = ()


def enter(call: CallContext, group: Communicator, entered: CollectiveEntry) -> RequestRecord:
    """Let a process enter its next collective call of a communicator; return what completes it. Raises WrongCallError where
    others have entered another one."""
    rank = rank_of(call)
    number = rank.collectives.get(group.name, 0)
    rank.collectives[group.name] = number + 1
    others = rank.job.calls.setdefault((group.name, number), {})
    for other, made in others.items():
        assert isinstance(made, CollectiveEntry)
        _compare(call, rank, entered, other, made)
    others[rank.number], entered.clock = entered, rank.stamp()
    record = new_record(rank, call, ())
    sources = [each for each in entered.takes if each != rank.number]
    targets = [each for each in entered.gives if each != rank.number]
    port, span, tag = rank.job.port(group.name, collective=True), rank.job.place(call.chain), Const(number)
    receives, sends = [rank.new_place() for _ in sources], [rank.new_place() for _ in targets]
    for place, source in zip(receives, sources, strict=True):
        rank.emit(mp.IssueReceive(place, received_into(rank, place), Const(source), port, tag, span=span))
    for place, target in zip(sends, targets, strict=True):
        carried = rank.job.number_of((port, rank.number, target, number), entered.gives[target], entered.said)
        rank.emit(mp.IssueSend(place, Const(carried), Const(target), port, tag, span))
    record.places = (*receives, *sends)
    record.is_ready = lambda: all(each in others for each in entered.takes)
    registers = {source: received_into(rank, place).name for source, place in zip(sources, receives, strict=True)}

    def finish(state: State) -> None:
        for source, register in registers.items():
            made = others[source]
            assert isinstance(made, CollectiveEntry)
            channel = port, source, rank.number, number
            rank.learn((Name(register), rank.job.number_of(channel, made.gives.get(rank.number, EMPTY), made.said)))
        _finish(rank, entered, others, state)

    record.finish = finish
    return record


def all_enter(call: CallContext, group: Communicator, said: Callable[[], object] = lambda: None) -> None:
    """Wait for all processes of a communicator in its next collective call, which moves no data. Raises Blocked."""
    rank = rank_of(call)
    if rank.ongoing is None:
        entered = CollectiveEntry(call.name, call.chain[0].line if call.chain else 0)
        entered.gives, entered.takes = dict.fromkeys(group.everyone, EMPTY), dict.fromkeys(group.everyone, NOTHING)
        entered.said = said()
        rank.ongoing = enter(call, group, entered)
        rank.emit_wait([rank.ongoing], call.chain)
    record = rank.ongoing
    assert isinstance(record, RequestRecord)
    if not record.is_ready():
        raise Blocked
    rank.ongoing = None
    rank.complete(record)


def _compare(call: CallContext, rank: RankMachine, entered: CollectiveEntry, other: int, made: CollectiveEntry) -> None:
    """Raises WrongCallError if two processes do not make the same call, or do not agree on what one gives the other."""
    here, there = entered.name, made.name
    if here != there:
        names = [each.partition(" ")[0] for each in (here, there)]
        kind = "collective-mismatch" if names[0] != names[1] else f"{_differs(here, there)}-mismatch"
        raise wrong(call, kind, f"process {rank.number} calls {here}, and process {other} calls {there} (line {made.line})")
    for giver, taker, at, to in ((entered, made, rank.number, other), (made, entered, other, rank.number)):
        payload, layout = giver.gives.get(to), taker.takes.get(at)
        if payload is None or layout is None:
            continue
        if payload.size != layout.size:
            said = f"process {at} gives {payload.size} bytes, and process {to} takes {layout.size} (line {made.line})"
            raise wrong(call, "truncation" if payload.size > layout.size else "type-mismatch", said)
        if payload.size and payload.basic != layout.basic and None not in (payload.basic, layout.basic):
            raise wrong(call, "type-mismatch", f"processes {at} and {to} have data of other types (line {made.line})")


def _differs(here: str, there: str) -> str:
    """Return in what two calls of one name differ first: `root` or `operation`."""
    words = here.split(" ")
    at = next(at for at, (mine, other) in enumerate(zip(words, there.split(" "), strict=False)) if mine != other)
    return words[at - 1]


def _finish(rank: RankMachine, entered: CollectiveEntry, others: dict[int, object], state: State) -> None:
    """Store what a process takes of all that it waits for."""
    found: dict[int, MessageData] = {}
    for source in entered.takes:
        made = others[source]
        assert isinstance(made, CollectiveEntry)
        rank.join(made.clock)
        found[source] = made.gives.get(rank.number, EMPTY)
    if entered.combine is not None:
        entered.combine(state, found)
        return
    for source, layout in entered.takes.items():
        if layout.object is not None:
            delivered_into(rank, state, found[source], layout)
