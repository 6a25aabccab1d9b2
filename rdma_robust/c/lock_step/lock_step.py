"""All processes of a C program with messages in lock step: the program of messages that they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from rdma_robust.c.lock_step.channels import Answer, Channels, Question
from rdma_robust.c.lock_step.knowledge_trees import ContradictionError, KnowledgeTree
from rdma_robust.c.lock_step.message_calls import RECEIVED
from rdma_robust.c.lock_step.message_layouts import BufferLayout, MessageData
from rdma_robust.c.lock_step.rank_machine import RankMachine, RankWorld
from rdma_robust.c.lock_step.request_calls import WHICH
from rdma_robust.c.lock_step.world_calls import LIBRARY
from rdma_robust.errors import Diagnostic, Span
from rdma_robust.messages.language import message_program as mp

RUNS: Final = 4096
"""Runs that are followed where what is open decides something."""
_NONE: Final = Refusal("RR818", "no function `main` has its body here", "read the file that has it too (--with)")


@dataclass(frozen=True, slots=True)
class LockStepResult:
    """The processes and ports that lock step has found, what is wrong by itself at its places, and all refusals."""

    processes: tuple[mp.Process, ...]
    ports: tuple[str, ...]
    found: dict[Span, dict[tuple[str, str], list[int]]]
    refused: tuple[Diagnostic, ...]


def evaluate_in_lock_step(units: Units, processes: int, span: Callable[[Span], Span]) -> LockStepResult:
    """Return what so many processes that run `main` do. `span` makes places of libclang those of the text.

    What is open in a run is left to the engines. Where it decides something, every way is followed by itself.
    """
    if units.function("main") is None:
        return LockStepResult((), ("",), {}, (diagnostic(_NONE, []),))
    job = RankWorld(processes, span)
    _start(units, job)
    _go_on(job)
    if job.refused and job.is_open and not job.has_windows:
        return _EveryWay(units, job).result()
    return _left_open(units, job)


def _left_open(units: Units, job: RankWorld) -> LockStepResult:
    """Return a run in which what is open is left to the engines."""
    place = units.declared("main")
    found = tuple(_process(rank, _without_idle_checks(rank, job), place) for rank in job.ranks)
    return LockStepResult(found, tuple(job.ports), job.found, tuple(job.refused))


def _start(units: Units, job: RankWorld) -> None:
    """Let all processes begin `main`, in a new world."""
    main, world = units.function("main"), World(units, EvaluationOptions(), _Initialiser(units))
    assert main is not None
    if job.ranks:
        first = job.ranks[0].world
        world.translated, world.loops = first.translated, first.loops  # of code, which is the same in every run
    job.ranks = [RankMachine(world, job, number, LIBRARY) for number in range(job.processes)]
    for rank in job.ranks:
        rank.push(rank.state, main, program_arguments(world, rank.state, rank.process), None)


def _go_on(job: RankWorld) -> None:
    """Run until each process waits for others, or has ended."""
    while any(rank.advance() for rank in job.ranks if rank.is_running):
        pass


class _EveryWay:
    """A program in which something open decides: its runs, each with other answers to what is open.

    In lock step every message is issued as early as it can be, so what is possible then is all that is possible under any
    buffers. Two orders of the same answers are one.
    """

    def __init__(self, units: Units, first: RankWorld) -> None:
        self.units, self.first = units, first
        self.trees = [KnowledgeTree() for _ in range(first.processes)]
        self.job = RankWorld(first.processes, first.span, ranks=first.ranks)
        self.seen: set[frozenset[tuple[Question, Answer]]] = {frozenset()}
        self.left: list[frozenset[tuple[Question, Answer]]] = [frozenset()]
        self.agrees = True

    def result(self) -> LockStepResult:
        """Return the processes, each a tree of what it does in all runs; what is refused if that is not followed."""
        try:
            for _ in range(RUNS):
                if not self.left or self.job.refused:
                    break
                self._one_run(dict(self.left.pop()))
        except ContradictionError:
            if self.job.refused:  # a limit of steps is met anywhere
                return self._refused(self.job.refused[0].message)
            return self._refused("what processes do depends on the order in which others get to collective calls")
        if self.left and not self.job.refused:
            return self._refused(f"there are more than {RUNS:,} ways to follow")
        place, is_whole = self.units.declared("main"), not self.job.refused
        bodies = [each.statements(is_whole=is_whole) for each in self.trees]
        if self.agrees:
            bodies = [_without_checks(each) for each in bodies]
        found = [_process(rank, body, place) for rank, body in zip(self.job.ranks, bodies, strict=True)]
        return LockStepResult(tuple(found), tuple(self.job.ports), self.job.found, tuple(self.job.refused))

    def _refused(self, reason: str) -> LockStepResult:
        """Return that the first refusal stays, as what is open is not followed for a reason."""
        first = self.first.refused[0]
        self.first.refused[0] = replace(first, message=f"{first.message}, and {reason}")
        return _left_open(self.units, self.first)

    def _one_run(self, decided: dict[Question, Answer]) -> None:
        """Follow one run to its end, and leave what else is possible on its way for others."""
        job = self.job = replace(self.job, channels=Channels(decided=decided), calls={}, grids={})
        _start(self.units, job)
        while True:
            _go_on(job)
            ways = frozenset(decided.items())
            possible = [ways | {each} for each in _open_answers(job)]
            new = [each for each in dict.fromkeys(possible) if each not in self.seen]
            if not new or job.refused:
                break
            self.seen.update(new)
            self.left += new[1:]
            decided.update(new[0])
            for key in job.channels.receives:
                job.channels.settle(key, decided)
        for rank, tree in zip(job.ranks, self.trees, strict=True):
            tree.add(rank.statements, rank.learned, has_ended=not rank.is_running)
        self.agrees = self.agrees and not _wrong_places(job)


def _open_answers(job: RankWorld) -> list[tuple[Question, Answer]]:
    """Return what may be decided next, once each process waits for others: of one question, if there is one that others do
    not change, else of all."""
    found = [each for rank in job.ranks for each in rank.open_questions() if each.answers]
    closed = next((each for each in found if each.is_closed), None)
    return [(each.question, answer) for each in ([closed] if closed else found) for answer in each.answers]


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


def _process(rank: RankMachine, body: mp.Block, place: SourcePlace | None) -> mp.Process:
    """Return a process with a body, whose registers and requests are those that are in it."""
    requests: dict[str, None] = {}
    registers = dict.fromkeys((RECEIVED, WHICH))
    for each in _all_statements(body):
        match each:
            case mp.IssueSend():
                requests[each.request.name] = None
            case mp.IssueReceive():
                requests[each.request.name] = None
                registers |= {place.name: None for place in (each.target, each.sender, each.which) if place}
            case mp.Probe():
                requests |= {place.name: None for place in (each.taken,) if place}
                registers |= {place.name: None for place in (each.sender, each.which, each.flag) if place}
            case mp.Completion():
                registers |= {place.name: None for place in (each.flag, each.places) if place}
            case _:
                pass
    span = rank.job.place([place] if place else [])
    return mp.Process(rank.process, body, tuple(registers), tuple(requests), span=span)


def _all_statements(body: mp.Block) -> Iterator[mp.Statement]:
    """Yield all statements of a block, those before a branch first."""
    blocks = [body]
    while blocks:
        for each in blocks.pop(0):
            yield each
            blocks += mp.inner_blocks(each)


def _without_idle_checks(rank: RankMachine, job: RankWorld) -> mp.Block:
    """Return the statements of a process, without what receives and messages say of type and size where every message that
    a receive may take agrees with it: no match can go wrong then."""
    wrong = _wrong_places(job)
    return tuple(each if (rank.number, at) in wrong else _unchecked(each) for at, each in enumerate(rank.statements))


def _wrong_places(job: RankWorld) -> set[tuple[int, int]]:
    """Return the receives with a message that they may take and that does not agree with them, and those messages: each as
    a process and a place among its statements."""
    wrong: set[tuple[int, int]] = set()
    for key, receives in job.channels.receives.items():
        for receive in receives:
            sent = job.channels.messages.get(key, ()) if receive.is_open else filter(None, [receive.message])
            for message in sent:
                if receive.fits(message) and not _agree(receive.layout, message.payload):
                    wrong |= {(receive.receiver, receive.at), (message.sender, message.at)}
    return wrong


def _without_checks(body: mp.Block) -> mp.Block:
    """Return a block without what receives and messages say of type and size."""
    return tuple(mp.with_blocks(_unchecked(each), _without_checks) for each in body)


def _unchecked(statement: mp.Statement) -> mp.Statement:
    if isinstance(statement, mp.IssueReceive):
        return replace(statement, of_type=None, room=None)
    return replace(statement, of_type=None, size=None) if isinstance(statement, mp.IssueSend) else statement


def _agree(layout: BufferLayout, payload: MessageData) -> bool:
    kinds = layout.basic, payload.basic
    return payload.size <= layout.size and (None in kinds or kinds[0] == kinds[1])
