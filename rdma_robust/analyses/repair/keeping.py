"""The comparison of a program with insertions with the program: by runs, where paths of its graph say too little.

Both are followed together under sequential consistency, since a repaired program does nothing else: every run of the one
with insertions, step by step, and beside it all that the program can have done with the same steps. What is compared are
steps, values and registers; which completion a poll of several queue pairs takes is not. Beside what paths are asked
(`counting`), threads that wait forever are compared, state by state: one that does so with the insertions must be able to
without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from rdma_robust.analyses.repair.edits import SourceEdit
from rdma_robust.analyses.repair.repairs import TextEdit
from rdma_robust.analyses.safety.goals import HangMet
from rdma_robust.analyses.safety.hangs import find_hang
from rdma_robust.analyses.safety.questions import Answer
from rdma_robust.language.flow.cfg import Program, Step
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.language.load import load_decidable
from rdma_robust.layers import by_layers
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.event_table import polls_of, takes_completion
from rdma_robust.semantics.machines.chosen import sc_machine_of
from rdma_robust.semantics.machines.machine import Move
from rdma_robust.semantics.machines.resting import Resting
from rdma_robust.semantics.machines.threadcode import Command

STATES: Final = 30_000
"""Stored states of one comparison."""

STATES_AFTER: Final = 3_000
"""The same once a comparison of the program was not finished: what is refused is mostly so soon."""

Where = Callable[[int], int | None]
"""Where what is at an offset of the text with insertions is in the program's; None for what was inserted."""


def unmoved(offset: int) -> int:
    """Of the program's own text."""
    return offset


Label = tuple[Any, ...]
"""What is the same of a step in both programs."""


class DoneStep(NamedTuple):
    """A step that a thread has done: where it is in the program's text (None if it was inserted), and the step."""

    at: int | None
    step: Step


@dataclass(frozen=True, slots=True)
class Deviation:
    """A run after which thread number `thread` does not what the program does. `done` are the steps of it up to there.

    `how` is `inserted`: the inserted poll `last` finds nothing; `poll`: the program's poll `last` finds nothing, as it does
    not in the program; `goes on`: it finds something, as it does not there; `waits`: the thread waits forever, and not in
    the program, behind what it has `done`, perhaps at an inserted poll, `last`, for a completion that never comes. Of those
    that wait so it is the only one iff `alone`.
    """

    how: Literal["inserted", "poll", "goes on", "waits"]
    thread: int
    done: tuple[DoneStep, ...]
    last: DoneStep | None = None
    alone: bool = True


@dataclass(frozen=True, slots=True)
class Agreement:
    """All runs do what the program does; `hangs` says whether some thread waits forever, as it does there."""

    hangs: bool


class _Pair(NamedTuple):
    """A state with the insertions, and all in which the program can be after the same steps, whichever of the register-only
    steps that follow it has taken already."""

    state: Any
    own: frozenset[Any]


class Keeping:
    """Compares programs with insertions with `program`."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._finished = True

    @cached_property
    def _machine(self) -> Any:
        return sc_machine_of(self.program)

    @cached_property
    def _rest(self) -> HangMet:
        return HangMet(self._machine)

    def compare(self, repaired: Program, where: Where, limits: Limits) -> Deviation | Agreement | None:
        """Return whether a program with insertions keeps to this one; None if a limit comes first."""
        states = STATES if self._finished else STATES_AFTER
        found = _Comparison(self._machine, self._rest, repaired, where).run(replace(limits, states=states))
        self._finished &= found is not None
        return found


class _Comparison:
    """One comparison: `before` leads from each pair to the one before it and the move between them."""

    def __init__(self, machine: Any, rest: HangMet, repaired: Program, where: Where) -> None:
        self.machine, self.rest = machine, rest
        self.mine: Any = sc_machine_of(repaired)
        self.met = HangMet(self.mine)
        self.where = where
        self.before: dict[_Pair, tuple[_Pair | None, Move]] = {}
        self.broken: Deviation | None = None
        self.hangs = False
        self.lost = False

    def run(self, limits: Limits) -> Deviation | Agreement | None:
        reached = limits.watch()
        starts = set()
        for move in self.machine.initial():
            starts.add(move.state)
            if reached() or (limits.states is not None and len(starts) > limits.states):
                return None
        own = frozenset(starts)

        def begin(move: Move, layer: list[_Pair]) -> None:
            pair = _Pair(move.state, own)
            if pair not in self.before:
                self.before[pair] = (None, move)
                layer.append(pair)

        over = lambda: self.broken is not None or self.lost  # noqa: E731
        cut, _ = by_layers(self.mine.initial(), begin, self._expand, self.before.__len__, limits, enough=over)
        if self.broken is not None:
            return self.broken
        return None if cut or self.lost or self.met.large or self.rest.large else Agreement(self.hangs)

    def _expand(self, pair: _Pair, following: list[_Pair]) -> None:
        self.broken = self._starved(pair) or self._hanging(pair)
        if self.broken is not None:
            return
        for move in self.mine.reduced(pair.state):
            action, t = move.action, move.action.thread
            at = self._at(action.step)
            own = pair.own
            if at is not None:
                label = (*_label(action.step, at), action.read, action.written, action.words)
                own = frozenset(self._matching(pair.own, t, label))
            if not own:
                self._unmatched(pair, t, action.step)
                return
            after = _Pair(move.state, own)
            if after not in self.before:
                self.before[after] = (pair, move)
                following.append(after)

    def _unmatched(self, pair: _Pair, t: int, step: Step | None) -> None:
        """Note a step that the program cannot do there: one that is no poll cannot be told, and the comparison is lost."""
        if step is not None and takes_completion(step.op):
            self.broken = Deviation("goes on", *self._thread(pair, t), self._taken(step))
        self.lost = True

    def _matching(self, own: frozenset[Any], t: int, label: Label) -> Iterator[Any]:
        """Yield where the program can be after the same step of a thread."""
        for state in own:
            for move in self.machine.moves_of(state, t):
                step, action = move.action.step, move.action
                if (*_label(step, step.span.start), action.read, action.written, action.words) == label:
                    yield move.state

    def _starved(self, pair: _Pair) -> Deviation | None:
        """Whether a thread is at an inserted poll that finds nothing, or at one of the program that would find something."""
        for t, thread in enumerate(pair.state.threads):
            if thread.carried:
                continue
            waiting = [c for c in self._polls(t, thread) if not thread.unpolled[c.qp]]
            for command in waiting:
                at = self._at(command.step)
                if at is None:
                    return Deviation("inserted", *self._thread(pair, t), self._taken(command.step))
                idle = command.to == thread.point and not command.assigns
                others = (c for c in self._polls(t, thread) if thread.unpolled[c.qp] and c.to == command.to)
                if not idle and not any(self._at(c.step) == at for c in others) and self._all_poll(pair, t, at):
                    return Deviation("poll", *self._thread(pair, t), self._taken(command.step))
        return None

    def _polls(self, t: int, thread: Any) -> list[Command]:
        here = self.mine.codes[t].visible.get(thread.point, ())
        return [c for c in here if c.polls and c.enabled(thread.registers)]

    def _all_poll(self, pair: _Pair, t: int, at: int) -> bool:
        """Whether the program, where it has come to the poll, can do it, whatever it has polled before."""
        here = [state for state in pair.own if any(c.step.span.start == at for c in self._at_point(state, t))]
        polls = (any(m.action.step.span.start == at for m in self.machine.moves_of(state, t)) for state in here)
        return bool(here) and all(polls)

    def _at_point(self, state: Any, t: int) -> Sequence[Command]:
        commands: Sequence[Command] = self.machine.codes[t].visible.get(state.threads[t].point, ())
        return commands

    def _hanging(self, pair: _Pair) -> Deviation | None:
        """Whether threads wait forever that cannot in the program."""
        found = self.met.hanging(pair.state)
        self.hangs |= bool(found)
        new = [each for each in found if not any(self._hangs(state, each) for state in pair.own)]
        if not new:
            return None
        thread, done = self._thread(pair, new[0].thread)
        polls = [step for step in new[0].steps if self._at(step) is None and polls_of(step.op) is not None]
        last = self._taken(polls[0]) if len(polls) == 1 == len(new[0].steps) else None
        return Deviation("waits", thread, done, last, alone=all(each.thread == thread for each in new))

    def _hangs(self, state: Any, waiting: Resting) -> bool:
        """Whether a thread hangs in a state of the program too, for something that it waits for with the insertions."""
        steps = {self.where(step.span.start) for step in waiting.steps}
        for each in self.rest.hanging(state):
            if each.thread == waiting.thread:
                return not steps or any(step.span.start in steps for step in each.steps)
        return False

    def _at(self, step: Step | None) -> int | None:
        return None if step is None else self.where(step.span.start)

    def _taken(self, step: Step | None) -> DoneStep | None:
        return None if step is None else DoneStep(self._at(step), step)

    def _thread(self, pair: _Pair, thread: int) -> tuple[int, tuple[DoneStep, ...]]:
        """Return a thread, and its steps on the way to a pair."""
        done: list[DoneStep] = []
        here: _Pair | None = pair
        own = {id(step) for _, _, step in self.mine.program.threads[thread].edges}
        while here is not None:
            before, move = self.before[here]
            steps: Sequence[Step] = [step for step in move.action.silent if id(step) in own]
            own_step = move.action.step if move.action.thread == thread else None
            if own_step is not None and _ends_step(before, move.state, thread):
                steps = [own_step, *steps]
            done += (DoneStep(self._at(step), step) for step in reversed(steps))
            here = before
        return thread, tuple(reversed(done))


def _ends_step(pair: _Pair | None, state: Any, thread: int) -> bool:
    """Whether a thread leaves its step between two states: it does not stand at a request that is half done, and it was not
    one that had waited while the thread went on."""
    before = () if pair is None else pair.state.threads[thread].carried
    after = state.threads[thread].carried
    stood, stands = (carried and getattr(carried[-1], "registers", None) is None for carried in (before, after))
    return not stands and bool(stood or after[: len(before)] == before)


def _label(step: Step, at: int) -> Label:
    return at, step.guard, step.assigns


def where_of(edits: Sequence[SourceEdit | TextEdit]) -> Where:
    """Return where things are in a text before `edits` that do not overlap; what they have put in is nowhere."""
    moved: list[tuple[int, int, int]] = []
    shift = 0
    for edit in sorted(edits, key=lambda e: e.offset):
        start = edit.offset + shift
        shift += len(edit.text) - edit.removed
        moved.append((start, start + len(edit.text), shift))

    def where(offset: int) -> int | None:
        by = 0
        for start, end, after in moved:
            if offset < start:
                break
            if offset < end:
                return None
            by = after
        return offset - by

    return where


# Sets of insertions that stand (`counting`) keep every thread going where it went, by their paths alone. What paths do
# not say is told by comparing runs, and hangs are looked for by a search that knows nothing of paths or insertions. The
# repaired program is robust, so what it does under sequential consistency tells all (docs/theory-hangs.md, "Hangs").


Hangs = Literal["none", "kept", "unknown"]
"""Of a repaired program: it has no hang, it has those that the program has, or a limit came first."""

HANG_STATES: Final = 50_000
"""Stored states of each search for hangs."""


class HangComparison:
    """Compares texts with insertions with `program`. What was found of the last one is remembered."""

    def __init__(self, program: Program, model: Model, *, await_loops: bool = False) -> None:
        self._program, self._model = program, replace(model, cpu="sc", order=RDMA.order)
        self._await_loops = await_loops
        self._keeping = Keeping(program)
        self._last: tuple[str, Deviation | Agreement | None] | None = None

    def kept(self, text: str, where: Where, deadline: float | None) -> Deviation | Agreement | None:
        """Return whether the runs of a text with insertions keep to the program; None if a limit comes first. `where` tells
        where what is in the text is in the program's."""
        if self._last is None or self._last[0] != text:
            self._last = text, self._keeping.compare(self._loaded(text), where, Limits(deadline=deadline))
        return self._last[1]

    def hangs(self, text: str, where: Where, deadline: float | None) -> Hangs | Deviation:
        """Return what is known of the hangs of a text that is robust."""
        if self._last is None or self._last[0] != text or self._last[1] is None:
            limits = Limits(deadline=deadline, states=HANG_STATES)
            found = find_hang(self._loaded(text), "sc", limits, self._model)
            if found.answer.answer is Answer.UNREACHABLE:
                return "none"
        compared = self.kept(text, where, deadline)
        if isinstance(compared, Deviation):
            return compared
        return "unknown" if compared is None else "kept" if compared.hangs else "none"

    def _loaded(self, text: str) -> Program:
        return blocking(load_decidable(text, self._program.file), self._await_loops)
