"""Common parts of the operational machines: moves, and threads that run their code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple, Protocol

from rdma_robust.language.flow.cfg import Cell, Fault, Program, Step, Thread, steps
from rdma_robust.semantics.event_table import Act, Agent, acts_of, placed
from rdma_robust.semantics.machines.threadcode import Arrival, Command, Registers, Seen, ThreadCode, seeing

FinalState = tuple[int, ...]
"""The values of the names of :func:`state_names`, in that order."""


def state_names(program: Program) -> tuple[str, ...]:
    """Return the names of a final state's values: cells that are not hidden (`A.x`), then registers (`T.r`)."""
    cells = [str(cell) for cell in program.cells if not cell.hidden]
    registers = [f"{thread.name}.{name}" for thread in program.threads for name, _ in thread.registers]
    return (*cells, *registers)


def final_state(program: Program, memory: Sequence[int], registers: Sequence[Sequence[int]]) -> FinalState:
    """Return the final state for `memory`, by cell of `program.cells`, and each thread's registers, as declared."""
    shown = [value for cell, value in zip(program.cells, memory, strict=True) if not cell.hidden]
    return (*shown, *(value for values in registers for value in values))


def valuation(program: Program, state: FinalState) -> dict[str, int]:
    """Return a final state as a mapping from names to values."""
    return dict(zip(state_names(program), state, strict=True))


State = Any
"""A machine's state: hashable, otherwise the machine's own business."""


class Verb(Enum):
    """The kind of a move, besides what the step's instruction is."""

    START = "start"
    ACCESS = "access"
    ISSUE = "issue"
    NIC_READ = "nic read"
    NIC_WRITE = "nic write"
    FLUSH = "flush"
    FENCE = "fence"
    POLL = "poll"
    DRAIN = "drain"
    RECV = "recv"
    RPOLL = "rpoll"


class Action(NamedTuple):
    """One move's cause: the thread (-1 for the start) and the step of its graph.

    `read` and `written` are the values that the move reads or writes, None if it does not; a `nondet` reads what it draws.
    `silent` are the register-only steps that the thread takes right after. `cell` is the word that a store buffer's oldest
    entry goes to: such a move is nobody's step, or, under the verb DRAIN, the step that has put the entry there. `act`
    is the event of the card that the machine of RDMA as deployed moves, and `cell` then the buffer that its message takes;
    `at` says of which event of which request it is: the number of the queue pair, the request's place there, the event's.
    `words` are what each word of a locked section had and what was written; `read` and `written` are those of the last.
    """

    thread: int
    verb: Verb
    step: Step | None
    read: int | None = None
    written: int | None = None
    silent: tuple[Step, ...] = ()
    cell: Cell | None = None
    act: Act | None = None
    at: tuple[int, int, int] | None = None
    words: tuple[tuple[int, int | None], ...] = ()


class Move(NamedTuple):
    """A step of a machine: why, the state after, and the faults met."""

    action: Action
    state: State
    faults: tuple[Fault, ...] = ()


class Machine(Protocol):
    """An operational model of a program; every method is deterministic."""

    program: Program

    def initial(self) -> Sequence[Move]:
        """Return the initial states, after each thread's first register-only steps, as moves: see :mod:`starts`."""

    def successors(self, state: State) -> list[Move]:
        """Return every move from `state`, in a fixed order."""

    def reduced(self, state: State) -> list[Move]:
        """Return enough of the moves from `state` to reach every state without moves, and every fault.

        If a thread or the NIC has a move that commutes with whatever the others do before it is made, and that disables
        nothing, then its moves alone are returned. Threads do so only off the cycles of their graphs, so no other move
        is put off forever.
        """

    def is_final(self, state: State) -> bool:
        """Return whether every thread has ended and every queue pair is drained."""

    def is_drained(self, state: State) -> bool:
        """Return whether no remote operation is under way."""

    def under_way(self, state: State) -> int:
        """Return the most operations of one queue pair under way, completions that wait for a poll included."""

    def final(self, state: State) -> FinalState:
        """Return the values of the state's non-hidden cells and registers (the state need not be final)."""

    def describe(self, state: State) -> list[str]:
        """Return the state for people: one line per thread, memory, and non-empty queue pair."""


class AccessResult(NamedTuple):
    """The result of a CPU access: `seen` is what registers are set from, `words` are as in :class:`Action`."""

    read: int | None
    written: int | None
    memory: tuple[int, ...]
    seen: Seen
    words: tuple[tuple[int, int | None], ...] = ()

    def action(self, thread: int, step: Step) -> Action:
        """Return the cause of the move."""
        return Action(thread, Verb.ACCESS, step, self.read, self.written, words=self.words)


def access(command: Command, registers: Registers, memory: tuple[int, ...]) -> AccessResult | None:
    """Perform a CPU access at once; None if it is blocked."""
    if command.words:
        return _section(command, registers, memory)
    read = memory[command.source] if command.source >= 0 else None
    env = (*registers, read or 0)
    if command.guard is not None and not command.guard(env, 0):
        return None
    if command.value is None or (command.succeeds is not None and not command.succeeds(env, 0)):
        return AccessResult(read, None, memory, read or 0)
    written = command.value(env, 0)
    return AccessResult(read, written, with_value(memory, command.target, written), read or 0)


def _section(command: Command, registers: Registers, memory: tuple[int, ...]) -> AccessResult | None:
    seen = tuple(memory[cell] for cell in command.words)
    if not command.enabled(registers, seen):
        return None
    env = seeing(registers, seen)
    stored = {cell: value(env, 0) for cell, value in command.stores}
    for cell, written in stored.items():
        memory = with_value(memory, cell, written)
    words = tuple((value, stored.get(cell)) for cell, value in zip(command.words, seen, strict=True))
    return AccessResult(*words[-1], memory, seen, words)


def arrive(
    code: ThreadCode, command: Command, registers: Registers, action: Action
) -> Iterator[tuple[Arrival, Action, tuple[Fault, ...]]]:
    """Yield where the acting thread may be after its command and the register-only steps that follow, with the faults."""
    for settled in code.settle(command.to, registers):
        faults = settled.faults if command.step.fault is None else (command.step.fault, *settled.faults)
        # `_replace` would take a third of the time of a move
        yield settled, Action(*action[:5], settled.silent, *action[6:]) if settled.silent else action, faults


def with_value(values: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    return (*values[:place], value, *values[place + 1 :])


_BY: Final = dict.fromkeys((Verb.ACCESS, Verb.POLL, Verb.RECV, Verb.RPOLL), Agent.CPU)
"""The agent of a move, where it is not the NIC."""


def act_of(action: Action) -> Act | None:
    """Return the event of the event table that a move is about; None for the start, a posting, or register-only steps.

    A write of the card is the same event when it is issued and when it reaches memory.
    """
    if action.act is not None:
        return placed(action.act, action.cell)
    if action.step is None or action.verb in (Verb.ISSUE, Verb.DRAIN):
        return None
    agent = _BY.get(action.verb, Agent.NIC)
    did = (action.read is not None, action.written is not None)
    for act in acts_of(action.step.op):
        if act.agent is agent and ((bool(act.reads), bool(act.writes)) == did or action.verb in (Verb.RECV, Verb.RPOLL)):
            return act
    return None


def describe_threads(program: Program, places: Sequence[tuple[int, Registers]], memory: Sequence[int]) -> list[str]:
    """Return one line per thread and one for the memory, hidden registers and cells left out."""
    lines = []
    for thread, (point, registers) in zip(program.threads, places, strict=True):
        values = [
            f"{name} = {value}" for (name, _), value in zip(thread.registers, registers, strict=True) if name[0] != "$"
        ]
        where = "ended" if point == thread.exit else f"at {_where(thread, point)}"
        lines.append(", ".join([f"{thread.name} {where}", *values]))
    shown = [f"{cell} = {value}" for cell, value in zip(program.cells, memory, strict=True) if not cell.hidden]
    return [*lines, "memory: " + ", ".join(shown)]


def describe_parts(place: str, parts: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a line for what is at a place, by the parts that it has; none where all of them are empty."""
    texts = [f"{name}: [{', '.join(members)}]" for name, members in parts.items() if members]
    if texts:
        yield f"{place}: " + " ".join(texts)


def _where(thread: Thread, point: int) -> str:
    texts = dict.fromkeys(step.text for source, _, step in steps(thread) if source == point)
    return " or ".join(texts) if texts else "a dead end"


@dataclass(frozen=True, slots=True)
class MoveTrail:
    """A move, and the trail that led to it: None at the start. Trails that part share what they have in common."""

    before: MoveTrail | None
    move: Move

    def run(self) -> tuple[Move, ...]:
        """Return the moves, the start first."""
        moves = []
        at: MoveTrail | None = self
        while at is not None:
            moves.append(at.move)
            at = at.before
        return tuple(reversed(moves))
