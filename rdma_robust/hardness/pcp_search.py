"""Solving an instance of Post's problem by running its program: a guide that follows the protocol, and what a run says.

The guide lets the receivers run as far as they get, delivers a put when its receiver waits for it, lets the expanders
send, and lets the guesser go on only when nothing else is left to do. So the only choices are the guesser's: the next
index or the end. A letter is compared as soon as both sides have one, so a wrong guess is a dead end at once.

**Nothing is lost.** Let i1 ... in be a solution. The run in which the guesser sends these indices and the guide picks all
other moves meets no dead end before Checker has ended: all puts are delivered in lockstep, so every round of the protocol
is completed, and Checker compares the letters of two equal words. So the search considers this run, or one from a state
with the same future that has made no more guesses. When no sequence of choices is
left, there is no solution, and the first run found has the fewest indices.

**Nothing is invented.** Every move is one of the machine's, and a Checker that has ended proves a solution whatever the
order of the moves was (:mod:`rdma_robust.hardness.abp`). Indices and words are read off the run, not off the search.

Guided search: breadth first through those moves of the RDMA machine that a guide picks.

A guide says which moves of a state are worth trying: one if nothing is lost by making it, several where there is a real
choice, none at a dead end. States between choices are not stored, so that a search can go deep; its depth counts those
moves at choices that the guide calls steps. What is found is replayed with the machine's own `successors`, so a guide can
miss runs but not invent them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rdma_robust.digraph import live_names, sets_of
from rdma_robust.errors import InternalError
from rdma_robust.expr import names
from rdma_robust.hardness.pcp import BOTTOM, CHECKER, GUESSER, INDEX, LETTER, NODES, SENT, TOP, PcpInstance
from rdma_robust.language.flow.cfg import Program, Read, Step, Thread, Write, steps
from rdma_robust.limits import Limits
from rdma_robust.semantics.event_table import expressions_of
from rdma_robust.semantics.machines.machine import Move
from rdma_robust.semantics.machines.rdma import Queue, RdmaMachine, RdmaState
from rdma_robust.semantics.machines.threadcode import ThreadCode
from rdma_robust.semantics.trace import EventType


def future_key(machine: RdmaMachine) -> Callable[[RdmaState], Hashable]:
    """Return a function from states to keys: states with the same key are bisimilar.

    The key leaves out what no later step depends on:

    - the value of a register that is written before it is read, whatever the thread does next;
    - the value of a cell that nobody reads;
    - which statement has posted a put from a cell that nobody writes: what the machine does with it depends only on its
      target and on that value.

    So equal states but for these have moves of the same threads to states that are again equal but for these. In particular
    the same threads can come to the same points.
    """
    read = _read_cells(machine)
    posted = [_posted(machine, code) for code in machine.codes]
    live = [_live(code.thread) for code in machine.codes]

    def queue_key(t: int, queue: Queue) -> Hashable:
        return tuple([(posted[t][e.command], e.stage, e.value, e.polled) for e in queue])

    def key(state: RdmaState) -> Hashable:
        threads = []
        for t, (point, registers, queues) in enumerate(state.threads):
            kept = tuple([registers[slot] for slot in live[t][point]])
            threads.append((point, kept, tuple([queue_key(t, queue) for queue in queues])))
        return tuple(threads), tuple([state.memory[cell] for cell in read])

    return key


def _read_cells(machine: RdmaMachine) -> tuple[int, ...]:
    """Return the numbers of the cells that anyone reads."""
    found = {command.source for code in machine.codes for command in code.commands if command.source >= 0}
    return tuple(sorted(found))


def _posted(machine: RdmaMachine, code: ThreadCode) -> dict[int, Hashable]:
    """Return for each command by which name an operation that it has posted is known."""
    found: dict[int, Hashable] = {}
    for command in code.commands:
        if command.nic[-1:] == (EventType.NRW,) and command.constant:
            found[command.number] = (command.target, machine.program.cells[command.source].init)
        else:
            found[command.number] = command.number
    return found


def _live(thread: Thread) -> dict[int, tuple[int, ...]]:
    """Return for each point the places of the registers that may be read from there before they are written."""
    flows = [(u, v, _used(step), sets_of(name for name, _ in step.assigns)) for u, v, step in steps(thread)]
    live = live_names(flows, dict.fromkeys(thread.points, frozenset()))
    return {p: tuple(k for k, (name, _) in enumerate(thread.registers) if name in found) for p, found in live.items()}


def _used(step: Step) -> set[str]:
    exprs = (step.guard, *(expr for _, expr in step.assigns), *expressions_of(step.op))
    return {name for expr in exprs for name in names(expr)}


class Guide(Protocol):
    """A guide for a search; deterministic. Its moves must not go round in a circle without a choice."""

    def moves(self, state: RdmaState) -> Sequence[Move]:
        """Return the moves worth trying, each a successor of `state`; more than one is a choice."""

    def is_goal(self, state: RdmaState) -> bool:
        """Return whether the search is over at `state`."""

    def is_step(self, move: Move) -> bool:
        """Return whether a move taken at a choice counts for the depth of the search."""


@dataclass(frozen=True, slots=True)
class GuidedRun:
    """The end of a guided search: a run to a goal with the fewest steps, or None.

    `cut` names the limit that ended the search, None if it is over: then, without a run, no sequence of choices leads to a
    goal. `depth` is the number of steps up to which every sequence of choices was followed, `alive` how many sequences
    were left then. `states` counts the visited states, each as often as it was met, `kept` those stored at choices.
    """

    run: tuple[Move, ...] | None
    cut: str | None
    depth: int
    alive: int
    states: int
    kept: int


@dataclass(frozen=True, slots=True)
class _Node:
    """A choice: its state, and how the search came to it, the number of the move taken at the choice before."""

    state: RdmaState
    parent: _Node | None
    taken: int


def guided_search(machine: RdmaMachine, guide: Guide, limits: Limits) -> GuidedRun:
    """Return a run to a goal with the fewest steps among those the guide allows, or why there is none.

    The depth of `limits` counts steps, its states all visited ones. Of choices that are alike (:func:`future_key`) only the
    first is followed: they have the same futures. Raises InternalError if the guide has invented a move.
    """
    return _Search(machine, guide, limits).run()


class _Search:
    def __init__(self, machine: RdmaMachine, guide: Guide, limits: Limits) -> None:
        self.machine = machine
        self.guide = guide
        self.limits = limits
        self.reached = limits.watch()
        self.alike = future_key(machine)
        self.states = 0
        self.seen: set[Hashable] = set()

    def run(self) -> GuidedRun:
        """Search layer by layer: a layer are the choices that have as many steps before them."""
        layer: list[_Node | None] = [None]
        depth = 0
        while layer:
            if depth == self.limits.depth:
                return self._ended(self.limits.amount("depth"), depth, len(layer))
            following: list[_Node | None] = []
            alive = len(layer)
            # The layer grows while it is searched, by the choices that are no step.
            for node in layer:
                for taken, move in enumerate(self._options(node)):
                    reached = self._follow(move, node, taken)
                    if reached is None:
                        continue
                    if self.guide.is_goal(reached.state):
                        run = replay_choices(self.machine, self.guide, _choices(reached))
                        return GuidedRun(run, None, depth + 1, alive, self.states, len(self.seen))
                    (following if self.guide.is_step(move) else layer).append(reached)
                cut = self._cut()
                if cut is not None:
                    return self._ended(cut, depth, alive)
            layer = following
            depth += 1
        return self._ended(None, depth, 0)

    def _options(self, node: _Node | None) -> Sequence[Move]:
        return self.machine.initial() if node is None else self.guide.moves(node.state)

    def _follow(self, move: Move, node: _Node | None, taken: int) -> _Node | None:
        """Return the next choice or goal after `move`, or None at a dead end and where the search has been before."""
        state = move.state
        while not self.guide.is_goal(state):
            self.states += 1
            moves = self.guide.moves(state)
            if not moves:
                return None
            if len(moves) > 1:
                key = self.alike(state)
                if key in self.seen:
                    return None
                self.seen.add(key)
                break
            state = moves[0].state
        return _Node(state, node, taken)

    def _cut(self) -> str | None:
        limits = self.limits
        limit = "states" if limits.states is not None and self.states > limits.states else self.reached()
        return limits.amount(limit) if limit else None

    def _ended(self, cut: str | None, depth: int, alive: int) -> GuidedRun:
        return GuidedRun(None, cut, depth, alive, self.states, len(self.seen))


def _choices(node: _Node) -> list[int]:
    taken = []
    here: _Node | None = node
    while here is not None:
        taken.append(here.taken)
        here = here.parent
    return taken[::-1]


def replay_choices(machine: RdmaMachine, guide: Guide, choices: Sequence[int]) -> tuple[Move, ...]:
    """Return the run that makes these choices (the first is that of the start) up to a goal.

    Raises InternalError if a move is not one of the machine's successors, or if the choices lead elsewhere.
    """
    start = machine.initial()[choices[0]]
    run = [start]
    left = list(choices[:0:-1])
    while not guide.is_goal(run[-1].state):
        moves = guide.moves(run[-1].state)
        if not moves or (len(moves) > 1 and not left):
            raise InternalError("the choices of a guided search lead nowhere")
        move = moves[left.pop()] if len(moves) > 1 else moves[0]
        if move not in machine.successors(run[-1].state):
            raise InternalError("a guided search has made a move that the machine cannot make")
        run.append(move)
    return tuple(run)


RECEIVERS = (CHECKER, TOP, BOTTOM)
"""In the order in which they are served."""


class PcpGuide:
    """The guide described above, for the machine of a program of :func:`rdma_robust.hardness.pcp.pcp_program`."""

    def __init__(self, machine: RdmaMachine) -> None:
        self.machine = machine
        cells = {str(cell): k for k, cell in enumerate(machine.program.cells)}
        channels = [(GUESSER, channel) for channel in INDEX.values()] + list(LETTER.items())
        self._wires: dict[int, tuple[int, int]] = {}
        for sender, channel in channels:
            wire = sender, machine.codes[sender].remotes.index(channel.node)
            self._wires |= {cells[f"{channel.node}.{name}"]: wire for name in (channel.symbol, channel.flag)}

    def is_goal(self, state: RdmaState) -> bool:
        return state.threads[CHECKER].point == self.machine.codes[CHECKER].thread.exit

    def moves(self, state: RdmaState) -> Sequence[Move]:
        for t in RECEIVERS:
            moves: Sequence[Move] = [move for move in self.machine.cpu_moves(state, t) if not self.is_stuck(move.state, t)]
            if moves:
                return moves
        for t in RECEIVERS:
            cell = self._awaited(state, t)
            if cell is None:
                continue
            if state.memory[cell]:
                return ()
            moves = self._delivery(state, cell)
            if moves:
                return moves
        return self.machine.cpu_moves(state, GUESSER)

    def is_step(self, move: Move) -> bool:
        return move.action.thread == GUESSER and _writes(move.action.step, SENT)

    def is_stuck(self, state: RdmaState, t: int) -> bool:
        """Return whether the thread has gone where it can neither go on nor end: it has read the wrong symbol, or none."""
        place = state.threads[t]
        code = self.machine.codes[t]
        possible = any(command.may_run(place.registers) for command in code.visible.get(place.point, ()))
        return place.point != code.thread.exit and not possible

    def _awaited(self, state: RdmaState, t: int) -> int | None:
        """Return the cell that a receiver wants to read next, None if it has ended."""
        return next((command.source for command in self.machine.codes[t].visible.get(state.threads[t].point, ())), None)

    def _delivery(self, state: RdmaState, cell: int) -> Sequence[Move]:
        """Return the next step of the put of the oldest symbol or flag on its way to the cell, if there is one."""
        thread, qp = self._wires[cell]
        return self.machine.nic_moves(state, thread, qp)[:1]


@dataclass(frozen=True, slots=True)
class PcpSolution:
    """The solution that a run in which Checker ends tells: the indices, counted from 1, the word that both sides make,
    and the run."""

    indices: tuple[int, ...]
    word: str
    run: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class PcpAnswer:
    """The answer of the search: a solution, or that there is none (`search.cut` is None), or how far it came."""

    solution: PcpSolution | None
    search: GuidedRun


def solve(instance: PcpInstance, program: Program, limits: Limits) -> PcpAnswer:
    """Search a shortest solution of `instance` by running `program`, that of :func:`rdma_robust.hardness.pcp.pcp_program`.

    The depth of `limits` counts indices. Raises InternalError if a run says something that is no solution.
    """
    machine = RdmaMachine(program)
    found = guided_search(machine, PcpGuide(machine), limits)
    return PcpAnswer(None if found.run is None else decoded(instance, program, found.run), found)


def decoded(instance: PcpInstance, program: Program, run: Sequence[Move]) -> PcpSolution:
    """Return what a run that ends with Checker's end says. Raises InternalError if that is not a solution.

    The indices are those that the guesser has shown and both expanders have read; the words those that Checker has read.
    """
    sent = [a.written for a in (move.action for move in run) if a.thread == GUESSER and _writes(a.step, SENT)]
    indices = tuple(value for value in sent if value is not None)
    if any(_received(run, t, INDEX[t].symbol) != [*indices, instance.end] for t in INDEX):
        raise InternalError("the expanders have not received the indices that were sent")
    texts = []
    for t, channel in LETTER.items():
        *letters, end = _received(run, CHECKER, channel.symbol)
        word = "".join(instance.letters[value - 1] for value in letters)
        if end != instance.end or word != "".join(instance.words(t)[i - 1] for i in indices):
            raise InternalError(f"the checker has not received the word that {NODES[t]} was to send")
        texts.append(word)
    state = run[-1].state
    ended = state.threads[CHECKER].point == program.threads[CHECKER].exit
    if not ended or texts[0] != texts[1] or not instance.is_solution(indices):
        raise InternalError("a run of the program is not a solution of the instance")
    return PcpSolution(indices, texts[0], tuple(run))


def _writes(step: Step | None, variable: str) -> bool:
    return step is not None and isinstance(step.op, Write) and step.op.cell.name == variable


def _received(run: Sequence[Move], thread: int, symbol: str) -> list[int]:
    """Return the symbols that a thread has read from a channel into a register."""
    reads = [(a.step, a.read) for a in (move.action for move in run) if a.thread == thread and a.read is not None]
    return [value for step, value in reads if step is not None and _reads(step, symbol) and step.assigns]


def _reads(step: Step, variable: str) -> bool:
    return isinstance(step.op, Read) and step.op.cell.name == variable
