"""Hangs in words: which threads wait where for what, at the end of a run of either machine.

Source: docs/theory-hangs.md, "Hangs".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rdma_robust.diagnose import listing
from rdma_robust.digraph import components
from rdma_robust.language.flow.cfg import (
    BarrierWait,
    Fault,
    ImmPut,
    Poll,
    Program,
    Read,
    Recv,
    RecvPoll,
    Send,
    Step,
    Thread,
    on_lane,
    peer_of,
)
from rdma_robust.layers import by_layers
from rdma_robust.limits import Limits
from rdma_robust.semantics.event_table import acts_of, remote_of
from rdma_robust.semantics.hang import Hang, Wait
from rdma_robust.semantics.machines.chosen import sc_machine_of
from rdma_robust.semantics.machines.machine import Move, State, Verb
from rdma_robust.semantics.machines.resting import LargeLoopError, Resting, RestTest
from rdma_robust.semantics.machines.sc import ScMachine, ScState

if TYPE_CHECKING:
    from rdma_robust.semantics.machines.machine import Move
    from rdma_robust.semantics.machines.resting import Resting  # the machines are slow to load, and few programs hang


def hang_at(program: Program, run: Sequence[Move], hanging: Iterable[Resting]) -> Hang:
    """Return in words that these threads hang at the end of the run."""
    return Hang(tuple(_wait(program, run, each) for each in hanging))


def _wait(program: Program, run: Sequence[Move], resting: Resting) -> Wait:
    from rdma_robust.semantics.machines.resting import RestKind  # noqa: PLC0415 - who has a thread that rests has loaded it

    thread = program.threads[resting.thread]
    if not resting.steps:
        return Wait(thread.name, None, None, "", False, f"{thread.name} is at a point that nothing leads away from")
    first = resting.steps[0]
    at, places = (first.span.line, first.span.column), first.span.places
    cells = tuple(dict.fromkeys(str(cell) for step in resting.steps for cell in _read(step)))
    spins = resting.rest is RestKind.SPIN or first.text.startswith("while ")
    if isinstance(first.op, Poll) and resting.rest is RestKind.BLOCKED:
        pair = peer_of(first.op) or ""
        posted, polled = _completions(run, resting.thread, pair)
        was = "was" if posted == 1 else "were"
        silent = any(remote_of(s.op) == pair and not getattr(s.op, "signaled", True) for _, _, s in thread.edges)
        said = f"for a completion from {pair}: {posted} {'signaled ones ' * silent}{was} posted, {polled} polled"
        text = f"{thread.name} waits at line {first.span.where} {said}"
        return Wait(thread.name, *at, first.text, False, text, (), pair, posted, polled, places)
    if (waits := _for_messages(thread, first)) and len(resting.steps) == 1:
        return Wait(thread.name, *at, first.text, False, waits, places=places)
    joins = isinstance(first.op, Read) and first.op.cell.moment
    nobody = f"; nobody can change {listing(cells)}" if cells else "" if joins else "; its registers do not change"
    if spins:
        lines = list(dict.fromkeys(step.span.places[0] for step in sorted(resting.steps, key=lambda one: one.span.line)))
        many = "lines " if len(lines) > 1 else "line "
        where = f"{many}{', '.join(lines)}"
        loop = f" in `{first.text}`" if first.text.startswith("while ") else ""
        text = f"{thread.name} goes round at {where}{loop} forever{nobody}"
    else:
        text = f"{thread.name} waits {_alternatives(resting.steps)}{nobody}"
    return Wait(thread.name, *at, first.text, spins, text, cells, places=places)


def _for_messages(thread: Thread, step: Step) -> str:
    """Return in words that a thread, or its message, waits for the other end of a connection; "" for any other step."""
    match step.op:
        case Send(to=to, lane=lane) | ImmPut(to=to, lane=lane):
            posts = f"a buffer that {to} posts{lane and f' for lane {lane}'}"
            return f"the message of {thread.name} at line {step.span.where} waits for {posts}"
        case RecvPoll(sender, lane):
            return f"{thread.name} waits at line {step.span.where} for a message from {sender}{on_lane(lane)}"
        case Recv(_, sender, lane):
            return (
                f"{thread.name} waits at line {step.span.where} for room in its receive queue from {sender}{on_lane(lane)}"
            )
        case BarrierWait():
            return f"{thread.name} waits at line {step.span.where} for {_others(thread, step.op)} to come to the barrier"
    return ""


def _others(thread: Thread, barrier: BarrierWait) -> str:
    return listing((name for name in barrier.threads if name != thread.name), "and") or "nobody"


def _read(step: Step) -> Iterable[object]:
    """The words that the step looks at and that somebody might have changed."""
    return (cell for act in acts_of(step.op) for cell in act.reads if not cell.hidden)


def _alternatives(steps: tuple[Step, ...]) -> str:
    """Where a thread waits for what: one statement, or the first statements of the branches of a choice."""
    said: dict[str, None] = {}
    for step in steps:
        what = _waited_for(step)
        said[f"at line {step.span.where} for {what}"] = None
    return ", or ".join(said)


def _waited_for(step: Step) -> str:
    match step.op:
        case Poll():
            return f"a completion from {peer_of(step.op)}"
        case RecvPoll(sender, lane):
            return f"a message from {sender}{on_lane(lane)}"
        case Recv(_, sender, lane):
            return f"room in the receive queue from {sender}{on_lane(lane)}"
        case BarrierWait(threads):
            return f"the barrier of {listing(threads, 'and')}"
        case Read(cell) if cell.moment:
            return f"the {cell.name}"
    return step.text.removeprefix("await ")


def _completions(run: Sequence[Move], thread: int, remote: str) -> tuple[int, int]:
    """Return how many operations of a thread towards `remote` make completions, and how many of them it has polled."""
    posting = Verb.NIC_WRITE if isinstance(run[-1].state, ScState) else Verb.ISSUE
    posted = polled = 0
    for action in (move.action for move in run):
        if action.thread != thread or action.step is None or remote_of(action.step.op) != remote:
            continue
        polled += action.verb is Verb.POLL
        completes = acts_of(action.step.op) if action.act is None else (action.act,)
        posted += action.verb is posting and any(act.completes for act in completes)
    return posted, polled


def first_hang(program: Program, limits: Limits) -> Hang | None:
    """Return the first hang, breadth first, that a search within `limits` comes to; None says nothing."""
    machine = sc_machine_of(program)
    test = RestTest(program)
    before: dict[State, tuple[State | None, Move]] = {}
    found: list[tuple[State, tuple[Resting, ...]]] = []

    def arrive(source: State | None, move: Move, layer: list[State]) -> None:
        if move.state not in before:
            before[move.state] = (source, move)
            layer.append(move.state)

    def expand(state: State, layer: list[State]) -> None:
        if hanging := _hanging(test, machine, state):
            found.append((state, hanging))
        else:
            for move in machine.reduced(state):
                arrive(state, move, layer)

    def begin(move: Move, layer: list[State]) -> None:
        arrive(None, move, layer)

    try:
        by_layers(machine.initial(), begin, expand, before.__len__, limits, enough=lambda: bool(found))
    except LargeLoopError:
        return None
    if not found:
        return None
    run: list[Move] = []
    at: State | None = found[0][0]
    while at is not None:
        at, move = before[at]
        run.append(move)
    return hang_at(program, run[::-1], found[0][1])


def _hanging(test: RestTest, machine: ScMachine, state: Any) -> tuple[Resting, ...]:
    rest = test.at_rest(machine.places(state), state.memory) if machine.is_still(state) else None
    return () if rest is None else rest.hanging


def every_execution_hangs(program: Program, limits: Limits) -> tuple[Resting, ...]:
    """Return the ways in which threads hang at the end of executions, each once, if every execution ends in a hang.

    Nothing if one does not, if one goes on forever, or if that was not seen within `limits`.
    """
    machine = sc_machine_of(program)
    test = RestTest(program)
    number: dict[State, int] = {}
    following: dict[int, list[int]] = {}
    hangs: dict[int, tuple[Resting, ...]] = {}

    def arrive(state: State, layer: list[State]) -> int:
        if state not in number:
            number[state] = len(number)
            layer.append(state)
        return number[state]

    def begin(move: Move, layer: list[State]) -> None:
        arrive(move.state, layer)

    def expand(state: State, layer: list[State]) -> None:
        here = number[state]
        if hanging := _hanging(test, machine, state):
            hangs[here] = hanging
            following[here] = []
        else:
            following[here] = [arrive(move.state, layer) for move in machine.reduced(state)]

    try:
        cut, _ = by_layers(machine.initial(), begin, expand, number.__len__, limits)
    except LargeLoopError:
        return ()
    endless = any(len(c) > 1 or c[0] in following.get(c[0], ()) for c in components(following))
    if cut or endless or any(not after and at not in hangs for at, after in following.items()):
        return ()
    return tuple(dict.fromkeys(each for at in sorted(hangs) for each in hangs[at]))


def faults_met(program: Program, limits: Limits) -> frozenset[Fault]:
    """Return the faults that runs met in a search within `limits`, breadth first; of others this says nothing.

    A run under SC is one of every memory model here, so that what is met is met on the hardware too.
    """
    machine = sc_machine_of(program)
    met: set[Fault] = set()
    stored: set[State] = set()

    def arrive(move: Move, layer: list[State]) -> None:
        met.update(move.faults)
        if move.state not in stored:
            stored.add(move.state)
            layer.append(move.state)

    def expand(state: State, layer: list[State]) -> None:
        for move in machine.reduced(state):
            arrive(move, layer)

    by_layers(machine.initial(), arrive, expand, stored.__len__, limits)
    return frozenset(met)
