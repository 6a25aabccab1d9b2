"""The transition system of threads, with what each has under way, from which the reductions of all models are made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rdma_robust.analyses.prove.compiled_steps import (
    SPARE,
    Code,
    CompiledStep,
    compiled_thread,
    live_registers,
    spares_needed,
    ways,
    ways_to_assign,
)
from rdma_robust.analyses.prove.footprints import NO_TOUCH, Asked, SystemMove, WaitCondition, Ways, WordUse, WordUsers
from rdma_robust.analyses.prove.placing import CompiledClaim, PlacedVariable, Placing, Valued, expression_of, seen
from rdma_robust.analyses.prove.transition_system import (
    Bad,
    Cause,
    Control,
    Draw,
    Drop,
    SafetyClaim,
    Suppose,
    Transition,
    Update,
)
from rdma_robust.analyses.prove.value_sets import value_sets
from rdma_robust.expr import TRUE, VALUE, Name, negate
from rdma_robust.language.flow.cfg import Fault, Nondet, Program, Silent, Write
from rdma_robust.language.flow.claims import AnyModelName

State = tuple[Any, ...]
"""See :class:`Placing`."""

DRAWN = "$drawn"
"""The wide variable that holds what a `nondet` has drawn, where a register cannot."""

Effect = tuple[Sequence[tuple[PlacedVariable, Valued]], tuple[Update, ...]]
"""What an atomic writes, and what that supposes."""

OVERFLOW: State = ("overflow",)
"""The control state behind a store that no buffer has room for; nothing follows it."""


class ReducedSystem(ABC):
    """A program under a model without any reduction of the number of states: one transition for each move.

    `under_way` is the first place of control states that is about what threads have under way.
    """

    def __init__(self, program: Program, model: AnyModelName, claims: tuple[SafetyClaim, ...], narrow: int) -> None:
        self.program = program
        self.model = model
        self.claims = claims
        self.placing = Placing(program, value_sets(program, narrow))
        self.under_way = self.placing.under_way
        self.exits = tuple(thread.exit for thread in program.threads)
        self.code: list[Code] = [compiled_thread(self.placing, t, claims) for t in range(len(program.threads))]
        self.words = WordUsers.of(self.placing, self.code)
        self._concerned: dict[tuple[int, int], tuple[WordUse, WaitCondition | None, bool]] = {}
        self.private: list[Mapping[int, tuple[Asked, ...]]] = []
        """See :func:`private_words`; empty if no use is made of it."""
        self.live_at = [live_registers(thread, claims) for thread in program.threads]
        self.faults = frozenset(claim.fault for claim in claims if claim.fault is not None)
        self.compiled_claims = tuple(
            self.placing.claim(claim) for claim in claims if claim.fault is None and not claim.allowed
        )
        spares = max((spares_needed(self.placing, t) for t in range(len(program.threads))), default=0)
        self.wide: tuple[tuple[str, int], ...] = (
            *self.placing.wide,
            *((f"{SPARE}{i}", 0) for i in range(spares)),
            *(((DRAWN, 0),) if any(map(self._draws, range(len(self.code)))) else ()),
            *((name, 0) for name in self.slots()),
        )
        self._wide_words = frozenset(v.name for v in self.placing.words if v.wide)
        self._wide_registers = [
            {point: self._wide_of(t, names_) for point, names_ in live.items()} for t, live in enumerate(self.live_at)
        ]

    def _wide_of(self, t: int, registers: Iterable[str]) -> frozenset[str]:
        variables = (self.placing.register(t, name) for name in registers)
        return frozenset(variable.name for variable in variables if variable.wide)

    def _draws(self, t: int) -> bool:
        commands = [command for found in self.code[t].values() for command in found]
        return any(isinstance(c.step.op, Nondet) and not c.plain and not draws_directly(c) for c in commands)

    # What the models differ in.

    @abstractmethod
    def slots(self) -> Iterable[str]:
        """Return the names of the wide variables for what threads have under way."""

    def nothing(self, _thread: int) -> Hashable:
        """Return what a thread has under way at the start: an empty tuple, unless a model says otherwise."""
        return ()

    @abstractmethod
    def operate(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        """Yield what a thread's command that is no register-only step leads to."""

    def system_moves(self, state: State) -> Iterable[Transition]:
        """Yield the moves of buffers and cards."""
        for move in self.system_moves_of(state):
            yield from self.made(state, move)

    def drained(self, state: State) -> bool:
        """Return whether no thread has anything under way."""
        return not any(state[self.under_way :])

    @abstractmethod
    def slots_in_use(self, state: State) -> Iterable[str]:
        """Yield the wide slots that hold something."""

    @abstractmethod
    def described_under_way(self, _thread: int, under_way: Any) -> dict[str, object]:
        """Return what a thread has under way as JSON, empty if nothing."""

    # What reductions of the number of states ask.

    def system_moves_of(self, _state: State) -> list[SystemMove]:
        """Return the moves that buffers and cards can make now."""
        return []

    def made(self, _state: State, _move: SystemMove) -> Iterable[Transition]:
        """Yield what a move of a buffer or card leads to."""
        return ()

    def weight(self, state: Any) -> int:
        """Return how much is under way, in any unit: some move makes it less as long as there is anything."""
        return sum(map(len, state[self.under_way :]))

    def uses(self, command: CompiledStep) -> WordUse:
        """Return the words that the thread itself may use in memory with a step."""
        return self.words.touch(command)

    def awaited(self, _command: CompiledStep) -> WaitCondition | None:
        """Return what a step waits for."""
        return None

    def untouched(self, _state: State, _thread: int, _touch: WordUse) -> bool:
        """Return whether nothing that the thread has under way has to do with these words."""
        return True

    def concerns_nobody(self, state: State, command: CompiledStep) -> bool:
        """Return whether a step and all that others can do, now and before the thread takes it, can be made in either order.

        Others are threads and what they have under way, and what the thread has under way itself.
        """
        touch, awaited, only = self.concerned(command)
        if awaited is not None and any(awaited.has(move) for move in self.system_moves_of(state)):
            return False
        return touch == NO_TOUCH or (only and self.untouched(state, command.thread, touch))

    def concerned(self, command: CompiledStep) -> tuple[WordUse, WaitCondition | None, bool]:
        """Return what a step uses and waits for, and whether nobody else ever has to do with these words."""
        known = self._concerned.get((command.thread, command.number))
        if known is None:
            touch = self.uses(command)
            known = touch, self.awaited(command), self.words.only(command.thread, touch)
            self._concerned[command.thread, command.number] = known
        return known

    def is_awkward(self, _state: State) -> bool:
        """Return whether moves of cards have no end here, because one of many with a wide value can always be made."""
        return False

    # The interface of engines.

    def initial(self) -> Control:
        start = list(self.placing.initial)
        for t, thread in enumerate(self.program.threads):
            for name, value in thread.registers:
                variable = self.placing.register(t, name)
                if not variable.wide and name not in self.live_at[t][thread.entry]:
                    start[variable.place] = value
        return (*start, *(self.nothing(t) for t in range(len(self.program.threads))))

    def successors(self, control: Control) -> list[Transition]:
        state: State = control  # type: ignore[assignment]
        if state is OVERFLOW or state == OVERFLOW:
            return []
        found: list[Transition] = []
        for t in range(len(self.program.threads)):
            found += self.steps_of(state, t)
        found += self.system_moves(state)
        return found

    def steps_of(self, state: State, t: int) -> list[Transition]:
        """Return what thread `t` may do."""
        found: list[Transition] = []
        for command in self.ready(state, t):
            found += self.taken(state, command)
        return found

    def ready(self, state: State, t: int) -> Sequence[CompiledStep]:
        """Return the commands at the program point of thread `t`."""
        return self.code[t].get(state[t], ())

    def taken(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        """Return what a thread's command leads to in a state at its program point."""
        match command.step.op:
            case Nondet():
                return self._drawn(state, command)
            case Silent():
                return self.done(state, command)
            case Write() if not command.may_pass(state, None):
                return ()  # what it would write may have no value: a division that the guard excludes
            case _:
                return self.operate(state, command)

    def done(
        self,
        state: State,
        command: CompiledStep,
        value: Valued | None = None,
        writes: Sequence[tuple[PlacedVariable, Valued]] = (),
        *,
        causes: tuple[Cause, ...] | None = None,
        before: tuple[Update, ...] = (),
        after: tuple[Update, ...] = (),
        own: Hashable = None,
        exact: bool = True,
    ) -> list[Transition]:
        """Return the transitions of a command that has read `value`, writes `writes`, and leaves `own` under way.

        `before` and `after` are updates around those of the registers and words.
        """
        fault = self.fault(command.step.fault)
        found = []
        for changed, updates in ways(state, command, value, writes):
            if own is not None:
                changed[self.under_way + command.thread] = own
            every = (*before, *updates, *after) if before or after else updates
            if self.private:
                every = (*every, *self._forget(state, changed, command.thread, every))
            found.append(Transition(causes or command.causes, every, tuple(changed), fault, exact))
        return found

    def moved(
        self,
        state: State,
        t: int,
        cause: Cause,
        writes: Sequence[tuple[PlacedVariable, Valued]],
        own: Hashable,
        *,
        before: tuple[Update, ...] = (),
        after: tuple[Update, ...] = (),
        exact: bool = True,
    ) -> list[Transition]:
        """Return the transitions of a move that leaves thread `t` where it is, with `own` under way, and writes `writes`."""
        found = []
        for changes, updates in ways_to_assign(writes):
            changed = list(state)
            for place, value in changes:
                changed[place] = value
            changed[self.under_way + t] = own
            every = (*before, *updates, *after)
            if self.private:
                every = (*every, *self._forget(state, changed, t, every))
            found.append(Transition((cause,), every, tuple(changed), None, exact))
        return found

    def dead_words(self, state: Sequence[Any], t: int) -> list[tuple[PlacedVariable, int]]:
        """Return the private words of thread `t` for whose values nobody asks any more, each with its initial value."""
        asked = self.private[t].get(state[t], ())
        return [(word, value) for word, value, ways in asked if self.is_dead(state, t, word, ways)]

    def is_dead(self, _state: Sequence[Any], _t: int, _word: PlacedVariable, ways: Ways) -> bool:
        """Return whether a private word is not read on any of these ways before it is overwritten."""
        return not ways

    def _forget(self, before: State, after: list[Any], t: int, made: tuple[Update, ...]) -> Iterator[Update]:
        """Give small private words that are dead after updates their initial values; yield what forgets the wide ones."""
        for word, value in self.dead_words(after, t):
            if not word.wide:
                after[word.place] = value
            elif (word, value) not in self.dead_words(before, t) or any(_sets(update, word) for update in made):
                yield Drop(word.name)

    def fault(self, fault: Fault | None) -> Fault | None:
        """Return a step's fault if a claim of this system is about it."""
        return fault if fault in self.faults else None

    def atomically(self, state: State, command: CompiledStep, value: Valued) -> Iterable[Effect]:
        """Yield what an atomic that has read `value` from the word `source` writes there, and what that supposes."""
        assert command.new is not None and command.source is not None
        if not command.may_pass(state, value):
            return
        when: Valued = 1 if command.when is None else command.when(state, value)
        if when != 0:
            yield [(command.source, command.new(state, value))], () if isinstance(when, int) else (Suppose(when),)
        if not isinstance(when, int):
            yield [], (Suppose(negate(when)),)
        elif when == 0:
            yield [], ()

    def access_memory(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        """Return the transitions of a CPU's step that reads and writes memory at once, or does neither."""
        value: Valued | None = None if command.source is None else seen(command.source, state)
        if command.new is None:
            return self.done(state, command, value)
        if value is None:
            assert command.target is not None
            return self.done(state, command, None, [(command.target, command.new(state, None))])
        cases = self.atomically(state, command, value)
        return [t for writes, supposed in cases for t in self.done(state, command, value, writes, before=supposed)]

    def _drawn(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        """Return the transitions of a `nondet`: one for each value if only small registers get it, else one that draws."""
        try:
            low, high = (None if of is None else of(state, None) for of in command.ends)
        except ZeroDivisionError:  # only where the step's guard fails
            return []
        if isinstance(low, int) and isinstance(high, int):
            if low > high:
                return []
            if command.plain:
                return [t for v in range(low, high + 1) for t in self.done(state, command, v)]
        ends = [None if end is None else expression_of(end) for end in (low, high)]
        if draws_directly(command):
            name = command.assigns[0][0].name
            return self.done(state, command, Name(name), before=(Draw(name, *ends),))
        return self.done(state, command, Name(DRAWN), before=(Draw(DRAWN, *ends),), after=(Drop(DRAWN),))

    def violations(self, control: Control) -> list[Bad]:
        state: State = control  # type: ignore[assignment]
        if state == OVERFLOW or not self.compiled_claims:
            return []
        ended = state[: len(self.exits)] == self.exits and self.drained(state)
        return [bad for each in self.compiled_claims if ended or not each.claim.final for bad in self.bad(state, each)]

    def bad(self, state: State, claim: CompiledClaim) -> list[Bad]:
        """Return the violation of a claim by a state as it is, if there is one."""
        value = claim.bad(state, None)
        if isinstance(value, int):
            return [Bad(claim.claim.number, TRUE)] if value else []
        return [Bad(claim.claim.number, value)]

    def overflowed(self, control: Control) -> bool:
        return control == OVERFLOW

    def live(self, control: Control) -> frozenset[str]:
        state: State = control  # type: ignore[assignment]
        if state == OVERFLOW:
            return frozenset()
        found = set(self._wide_words)
        for t, registers in enumerate(self._wide_registers):
            found |= registers[state[t]]
        found.update(self.slots_in_use(state))
        if self.private:
            found -= {word.name for t in range(len(self.code)) for word, _ in self.dead_words(state, t)}
        return frozenset(found)

    def described(self, control: Control) -> dict[str, object]:
        """Return a control state as JSON.

        `overflow` is true and all if a buffer overflowed. Else `threads` has for each thread its `point`, its small
        `registers` that something may still ask for (others may have any value), and if it has anything under way
        `under way`, as each model says; `memory` has the small words that something may still ask for, hidden ones left out.
        """
        state: State = control  # type: ignore[assignment]
        if state == OVERFLOW:
            return {"overflow": True}
        threads: dict[str, object] = {}
        for t, thread in enumerate(self.program.threads):
            live = self.live_at[t][state[t]]
            variables = [(name, self.placing.register(t, name)) for name, _ in thread.registers if name in live]
            told: dict[str, object] = {"point": state[t]}
            told["registers"] = {name: state[v.place] for name, v in variables if not v.wide}
            if under_way := self.described_under_way(t, state[self.under_way + t]):
                told["under way"] = under_way
            threads[thread.name] = told
        dead = {word.name for t in range(len(self.code)) for word, _ in self.dead_words(state, t)} if self.private else set()
        cells = zip(self.placing.words, self.program.cells, strict=True)
        words = [v for v, cell in cells if not (v.wide or cell.hidden or v.name in dead)]
        return {"threads": threads, "memory": {v.name: state[v.place] for v in words}}


def draws_directly(command: CompiledStep) -> bool:
    """Return whether all that a `nondet` does is to give one wide register any value."""
    step = command.step
    only = len(step.assigns) == 1 and step.assigns[0][1] == VALUE
    return only and command.guard is None and command.assigns[0][0].wide


def _sets(update: Update, word: PlacedVariable) -> bool:
    return not isinstance(update, Suppose) and update.name == word.name
