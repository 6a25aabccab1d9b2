"""The checker's reduction of a program under a model: states that are finite, and updates of wide variables between them.

Every model is as docs/theory-safety.md, "Machines", says it; what it has beside threads and memory (buffers, pending
sets) is in `own`, one entry per thread. What agents (buffers, cards) do is put off until something can tell, see
`lead_ups.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from rdma_robust.certify.safety.claimed import claims_of, watched_points
from rdma_robust.certify.safety.lead_ups import AgentMove, LeadUps
from rdma_robust.certify.safety.thread_steps import (
    NOWHERE,
    Instruction,
    Known,
    Small,
    StepEffect,
    ThreadSteps,
    Variables,
    step_expression,
)
from rdma_robust.certify.safety.wide_updates import WideAssignment, WideAssumption, WideChoice, WideHavoc, WideUpdates
from rdma_robust.expr import Const, Expr, Name, Unary, names, substitute
from rdma_robust.language.flow.cfg import Cas, Fault, MFence, Nondet, Program, Rmw, Silent, steps
from rdma_robust.language.flow.claims import AnyModelName

Own = Any
"""What a thread has under way: hashable, otherwise the model's own business."""

DRAWN = "$drawn"
"""Holds what a `nondet` has drawn until a register has it."""

MOST_DRAWN = 64
"""A `nondet` with at most so many values is one step for each where only small registers get them."""


class PlacedState(NamedTuple):
    """Where each thread is and its small registers, the small words (None: wide), and what each thread has under way."""

    points: tuple[int, ...]
    registers: tuple[Small, ...]
    memory: Small
    own: tuple[Own, ...]


class ReducedStep(NamedTuple):
    """A step, with what agents do before it: the updates, and where it leads. `fault` or `never` say why the step must not
    be possible; where it is `never`, it leads nowhere."""

    updates: WideUpdates
    to: PlacedState | None
    text: str
    fault: Fault | None = None
    never: str = ""


class ReducedProgram(ABC):
    """The reduction of a program under `model`; `bound` is for its buffers or pending sets.

    With `lazy` false every agent moves at any time and no step of a thread goes alone: larger, for comparison.
    """

    model: ClassVar[AnyModelName]
    posts_local: ClassVar[bool] = False
    """Whether no other thread or agent can tell when a thread posts or stores something."""

    def __init__(self, variables: Variables, bound: int, *, lazy: bool = True) -> None:
        self.variables = variables
        self.program: Program = variables.program
        self.bound = bound
        self.lazy = lazy
        self.code = [ThreadSteps(variables, t) for t in range(len(self.program.threads))]
        self.words = tuple(str(cell) for cell in self.program.cells)
        self.wide_words = tuple(name in variables.wide for name in self.words)
        self.claims = claims_of(self.program, self.model)
        self.watched = watched_points(self.program)
        self._asked_always = frozenset(name for line in self.program.invariants for name in names(line.condition))
        self.leads = LeadUps(self)
        for thread in self.program.threads:
            for _, _, step in steps(thread):
                self.refuse(thread.name, step.op)

    # What the models differ in.

    @abstractmethod
    def refuse(self, thread: str, op: object) -> None:
        """Raise InvalidCertificate for an operation that the model does not have."""

    @abstractmethod
    def nothing(self, t: int) -> Own:
        """Return what a thread has under way at the start."""

    def load(self, state: PlacedState, _t: int, word: int) -> Known:
        """Return what a thread reads in a word."""
        return self.in_memory(state, word)

    def stored(self, _state: PlacedState, _t: int) -> bool:
        """Return whether all stores of the thread are in memory."""
        return True

    def store(self, state: PlacedState, t: int, instruction: Instruction, value: None) -> Iterator[ReducedStep]:
        """Yield the steps of a store."""
        yield from self.finish(state, t, instruction, value)

    @abstractmethod
    def remote(self, state: PlacedState, t: int, instruction: Instruction) -> Iterable[ReducedStep]:
        """Yield the steps of a put, get, remote atomic, flush, poll or remote fence."""

    def busy(self, _state: PlacedState, _t: int) -> Iterable[ReducedStep] | None:
        """Return the steps of a thread that is in the middle of an operation, None if it is not."""
        return None

    def drained(self, state: PlacedState) -> bool:
        """Return whether nothing is under way."""
        return all(own == self.nothing(t) for t, own in enumerate(state.own))

    def agents(self, _state: PlacedState) -> Sequence[AgentMove]:
        """Return what buffers or cards can do next."""
        return ()

    def ahead(self, state: PlacedState) -> Sequence[AgentMove]:
        """Return what buffers or cards will do with what is under way, now or later."""
        return self.agents(state)

    def act(self, state: PlacedState, agent: AgentMove) -> Iterable[ReducedStep]:
        """Yield what an agent's move leads to."""
        raise AssertionError(state, agent)

    def own_moves(
        self, _state: PlacedState, _t: int, _does: str, *, step: int, word: int, value: int | None
    ) -> Iterable[ReducedStep]:
        """Return the moves of what thread `t` has under way that are as a run says, see `safety_runs.py`: for the operation
        of step number `step`, to the word at place `word`, of `value` (None: any)."""
        _ = step, word, value
        return ()

    def touches(self, _agent: AgentMove, _t: int, _instruction: Instruction) -> bool:
        """Return whether it matters if the agent moves before or after the thread's step."""
        return False

    def folded(self, _state: PlacedState) -> frozenset[str]:
        """Return the folded variables of a state."""
        return frozenset()

    @abstractmethod
    def told(self, t: int, own: Own) -> object:
        """Return what thread `t` has under way as JSON, as docs/certificate-evidence.md says."""

    @abstractmethod
    def slots(self, state: PlacedState) -> frozenset[str]:
        """Return the wide variables of what is under way."""

    # The system.

    def initial(self) -> PlacedState:
        return PlacedState(
            tuple(code.thread.entry for code in self.code),
            tuple(code.initial for code in self.code),
            tuple(None if wide else cell.init for cell, wide in zip(self.program.cells, self.wide_words, strict=True)),
            tuple(self.nothing(t) for t in range(len(self.code))),
        )

    def initially(self) -> dict[str, int]:
        """Return the initial values of wide registers and words."""
        every = {f"{t.name}.{name}": value for t in self.program.threads for name, value in t.registers}
        every |= {str(cell): cell.init for cell in self.program.cells}
        return {name: value for name, value in every.items() if name in self.variables.wide}

    def live(self, state: PlacedState) -> frozenset[str]:
        """Return the wide variables on which something after a state may depend."""
        found = {name for name, wide in zip(self.words, self.wide_words, strict=True) if wide}
        for code, point in zip(self.code, state.points, strict=True):
            found |= code.asked(point) & self.variables.wide
        return frozenset(found) | self.slots(state)

    def successors(self, state: PlacedState) -> list[ReducedStep]:
        """Return the steps from a state that must be looked at: those of one thread that nobody else can tell, if there are
        such, else those of all, each with what agents may have to do before."""
        if self.lazy:
            for t in range(len(self.code)):
                alone = self._alone(state, t)
                if alone:
                    return alone
        found: list[ReducedStep] = []
        for t, code in enumerate(self.code):
            middle = self.busy(state, t)
            if middle is not None:
                found += middle
                continue
            for instruction in code.at.get(state.points[t], ()):
                found += self._with_lead_ups(state, t, instruction)
        if not self.lazy:
            for agent in self.agents(state):
                found += self.act(state, agent)
        return found

    def _with_lead_ups(self, state: PlacedState, t: int, instruction: Instruction) -> Iterator[ReducedStep]:
        if not self.lazy:
            yield from self.step(state, t, instruction)
            return
        for before, at in self.leads.to(state, lambda agent: self.touches(agent, t, instruction)):
            if at is None:
                yield ReducedStep(before, None, instruction.step.text, None, "a location gets a value that is not listed")
                continue
            for taken in self.step(at, t, instruction):
                yield taken._replace(updates=(*before, *taken.updates)) if before else taken

    def _alone(self, state: PlacedState, t: int) -> list[ReducedStep]:
        """Return the thread's steps if no other thread, agent or claim can tell when they are made, and it can make one.

        Such steps go forward in the thread's graph, so no other step is put off forever.
        """
        point = state.points[t]
        instructions = self.code[t].at.get(point, ())
        if not instructions or self.busy(state, t) is not None:
            return []
        if not all(self._unseen(t, point, instruction) for instruction in instructions):
            return []
        found = [taken for instruction in instructions for taken in self.step(state, t, instruction)]
        return (
            found
            if _covers([[u.condition for u in taken.updates if isinstance(u, WideAssumption)] for taken in found])
            else []
        )

    def _unseen(self, t: int, point: int, instruction: Instruction) -> bool:
        op = instruction.step.op
        if not instruction.forward or (t, point) in self.watched or (t, instruction.target) in self.watched:
            return False
        name = self.program.threads[t].name
        if any(f"{name}.{register}" in self._asked_always for register, _ in instruction.step.assigns):
            return False
        if isinstance(op, Nondet):
            return all(end is None or isinstance(end, Const) for end in (op.low, op.high))
        if isinstance(op, Silent):
            return True
        return self.posts_local and self.local(instruction)

    def local(self, _instruction: Instruction) -> bool:
        """Return whether an instruction only adds to what the thread has under way."""
        return False

    def step(self, state: PlacedState, t: int, instruction: Instruction) -> Iterable[ReducedStep]:
        """Return the ways of a thread to take an instruction."""
        match instruction.step.op:
            case Nondet(low, high):
                return self._drawn(state, t, instruction, low, high)
            case Silent():
                return self.finish(state, t, instruction, None)
            case MFence():
                return self.finish(state, t, instruction, None) if self.stored(state, t) else ()
            case Cas() | Rmw():
                if not self.stored(state, t):
                    return ()
                return self.finish(state, t, instruction, self.in_memory(state, instruction.reads))
            case _ if instruction.peer is not None:
                return self.remote(state, t, instruction)
            case _ if instruction.writes != NOWHERE:
                return self.store(state, t, instruction, None)
            case _:
                return self.finish(state, t, instruction, self.load(state, t, instruction.reads))

    def _drawn(
        self, state: PlacedState, t: int, instruction: Instruction, low: Expr | None, high: Expr | None
    ) -> Iterator[ReducedStep]:
        values = self.code[t].values(state.registers[t])
        ends = [None if end is None else substitute(end, values) for end in (low, high)]
        first, last = ends
        small = not any(
            f"{self.program.threads[t].name}.{name}" in self.variables.wide for name, _ in instruction.step.assigns
        )
        if isinstance(first, Const) and isinstance(last, Const):
            if first.value > last.value:
                return
            if small and last.value - first.value < MOST_DRAWN:
                for value in range(first.value, last.value + 1):
                    yield from self.finish(state, t, instruction, value)
                return
        drawn: WideUpdates = (WideChoice(DRAWN, first, last),)
        for taken in self.finish(state, t, instruction, Name(DRAWN)):
            yield taken._replace(updates=(*drawn, *taken.updates, WideHavoc(DRAWN)))

    def in_memory(self, state: PlacedState, word: int) -> Known:
        value = state.memory[word]
        return Name(self.words[word]) if value is None else value

    def finish(
        self, state: PlacedState, t: int, instruction: Instruction, value: Known | None, own: Own = None
    ) -> Iterator[ReducedStep]:
        """Yield the ways to take an instruction that has read `value` and writes to memory, with `own` under way after."""
        for done in self.code[t].done(instruction, state.registers[t], value):
            if done.written is None:
                yield self.stepped(state, t, instruction, done, own=own)
                continue
            for memory, assigned, assumed, bad in self.written(state.memory, instruction.writes, done.written):
                changed = done._replace(assumed=(*done.assumed, *assumed), bad=done.bad or bad)
                yield self.stepped(state, t, instruction, changed, assigned=assigned, memory=memory, own=own)

    def written(
        self, memory: Small, word: int, value: Known
    ) -> Iterator[tuple[Small, tuple[tuple[str, Expr], ...], tuple[Expr, ...], bool]]:
        """Yield memory after a write, with what the word gets if it is wide, what is assumed, and whether it must not be."""
        if self.wide_words[word]:
            yield memory, ((self.words[word], step_expression(value)),), (), False
            return
        for number, assumed in self.variables.given(self.words[word], value):
            yield (memory if number is None else with_item(memory, word, number)), (), assumed, number is None

    def stepped(
        self,
        state: PlacedState,
        t: int,
        instruction: Instruction,
        done: StepEffect,
        *,
        assigned: tuple[tuple[str, Expr], ...] = (),
        memory: Small | None = None,
        own: Own = None,
    ) -> ReducedStep:
        """Return the step of a thread that leads to `memory` and to `own` under way (None: as before), where wide ones get
        what is `assigned`."""
        updates: WideUpdates = tuple(WideAssumption(condition) for condition in done.assumed)
        if done.bad:
            return ReducedStep(
                updates, None, instruction.step.text, None, "a register or location gets a value that is not listed"
            )
        if done.assigned or assigned:
            updates = (*updates, WideAssignment((*done.assigned, *assigned)))
        gone = self.code[t].forgotten(state.points[t], instruction) if self.variables.wide else ()
        after = PlacedState(
            with_item(state.points, t, instruction.target),
            with_item(state.registers, t, done.registers),
            state.memory if memory is None else memory,
            state.own if own is None else with_item(state.own, t, own),
        )
        return ReducedStep((*updates, *map(WideHavoc, gone)), after, instruction.step.text, instruction.step.fault)

    def moved(
        self, state: PlacedState, t: int, word: int, value: Known, *, own: Own, text: str, after: WideUpdates
    ) -> Iterator[ReducedStep]:
        """Yield what it leads to that `value` reaches a word in memory and thread `t` has `own` under way after."""
        for memory, assigned, assumed, bad in self.written(state.memory, word, value):
            updates: WideUpdates = tuple(WideAssumption(condition) for condition in assumed)
            if bad:
                yield ReducedStep(updates, None, text, None, "a location gets a value that is not listed")
                continue
            updates = (*updates, WideAssignment(assigned)) if assigned else updates
            yield ReducedStep((*updates, *after), state._replace(memory=memory, own=with_item(state.own, t, own)), text)


def with_item(values: tuple[Any, ...], place: int, value: object) -> tuple[Any, ...]:
    """Return `values` with another one at a place."""
    return (*values[:place], value, *values[place + 1 :])


def _covers(ways: list[list[Expr]]) -> bool:
    """Return whether one of these lists of assumptions is sure to hold: one is empty, or two are a condition and its
    negation."""
    if any(not each for each in ways):
        return True
    single = {each[0] for each in ways if len(each) == 1}
    return any(isinstance(each, Unary) and each.op == "!" and each.arg in single for each in single)
