"""All processes of a C program with messages in lock step: the program of messages that they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.c.code import SourcePlace
from rdma_robust.c.evaluate.c_values import Object
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.program_arguments import program_arguments
from rdma_robust.c.evaluate.refused_code import Refusal, diagnostic
from rdma_robust.c.evaluate.round_facts import EvaluationOptions, World
from rdma_robust.c.evaluate.state import Frame, State
from rdma_robust.c.evaluate.thread_machine import ThreadMachine
from rdma_robust.c.evaluate.units import Units
from rdma_robust.c.lock_step.message_calls import RECEIVED
from rdma_robust.c.lock_step.message_layouts import BufferLayout, MessageData
from rdma_robust.c.lock_step.rank_machine import RankMachine, RankWorld
from rdma_robust.c.lock_step.request_calls import WHICH
from rdma_robust.c.lock_step.world_calls import LIBRARY
from rdma_robust.errors import Diagnostic, Span
from rdma_robust.messages.language import message_program as mp

_NONE: Final = Refusal("RR818", "no function `main` has its body here", "read the file that has it too (--with)")


@dataclass(frozen=True, slots=True)
class LockStepResult:
    """The processes and ports that lock step has found, what is wrong by itself at its places, and all refusals."""

    processes: tuple[mp.Process, ...]
    ports: tuple[str, ...]
    found: dict[Span, dict[tuple[str, str], list[int]]]
    refused: tuple[Diagnostic, ...]


def evaluate_in_lock_step(units: Units, processes: int, span: Callable[[Span], Span]) -> LockStepResult:
    """Return what so many processes that run `main` do. `span` makes places of libclang those of the text."""
    job = RankWorld(processes, span)
    main = units.function("main")
    if main is None:
        return LockStepResult((), ("",), {}, (diagnostic(_NONE, []),))
    world = World(units, EvaluationOptions(), _Initialiser(units))
    ranks = [RankMachine(world, job, number, LIBRARY) for number in range(processes)]
    job.ranks = ranks
    for rank in ranks:
        rank.push(rank.state, main, program_arguments(world, rank.state, rank.process), None)
    while any(rank.advance() for rank in ranks if rank.is_running):
        pass
    place = units.declared("main")
    return LockStepResult(
        tuple(_process(rank, job, place) for rank in ranks), tuple(job.ports), job.found, tuple(job.refused)
    )


class _Initialiser:
    """The contents of globals as their declarations say."""

    def __init__(self, units: Units) -> None:
        self.units = units

    def __call__(self, name: Object) -> ObjectBytes:
        world = World(self.units, EvaluationOptions(), self)
        state = State()
        state.place(name, ObjectBytes(zero=True))
        state.frames = [Frame(self.units.initialiser(world.globals[name.key[0]]))]
        machine = ThreadMachine(world, name.process, "", LIBRARY)
        while state.frames:
            machine.execute(state)
        return state.memory[name]


def _process(rank: RankMachine, job: RankWorld, place: SourcePlace | None) -> mp.Process:
    body = _without_idle_checks(rank, job)
    names = dict.fromkeys(name for each in body for name in _requests(each))
    span = job.place([place] if place else [])
    return mp.Process(rank.process, body, (RECEIVED, WHICH), tuple(names), span=span)


def _requests(statement: mp.Statement) -> list[str]:
    match statement:
        case mp.IssueSend() | mp.IssueReceive():
            return [statement.request.name]
        case _:
            return []


def _without_idle_checks(rank: RankMachine, job: RankWorld) -> mp.Block:
    """Return the statements of a process, without what receives and messages say of type and size where every message that
    a receive may take agrees with it: no match can go wrong then."""
    body = list(rank.statements)
    wrong: set[tuple[int, int]] = set()
    for key, receives in job.channels.receives.items():
        for receive in receives:
            sent = job.channels.messages.get(key, ()) if receive.is_open else filter(None, [receive.message])
            for message in sent:
                if receive.fits(message) and not _agree(receive.layout, message.payload):
                    wrong |= {(receive.receiver, receive.at), (message.sender, message.at)}
    for at, each in enumerate(body):
        if (rank.number, at) in wrong:
            continue
        if isinstance(each, mp.IssueReceive):
            body[at] = replace(each, of_type=None, room=None)
        elif isinstance(each, mp.IssueSend):
            body[at] = replace(each, of_type=None, size=None)
    return tuple(body)


def _agree(layout: BufferLayout, payload: MessageData) -> bool:
    kinds = layout.basic, payload.basic
    return payload.size <= layout.size and (None in kinds or kinds[0] == kinds[1])
