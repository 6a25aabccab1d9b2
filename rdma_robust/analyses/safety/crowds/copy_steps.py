"""Steps of the SC machine for any number of copies: the shared part of a state, and the local part of one copy at a time.

The machine is that of P(1), the program with one copy of each template. A copy's local part (its thread, and the words of
its own node) is put into the place of that copy, the machine makes a step of that thread, and the local part is taken out
again: so every operation means what it means to the machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from rdma_robust.digraph import live_names, sets_of
from rdma_robust.expr import Expr, names
from rdma_robust.language.flow.cfg import Fault, Program, RemoteRmw, Step, Thread, operands, steps
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.machines.chosen import sc_machine_of
from rdma_robust.semantics.machines.machine import Move, Verb
from rdma_robust.semantics.machines.threadcode import Observables

ScPlace = Any
"""A thread's part of a state of an SC machine: ScThread."""

MOST_COUNTED: Final = 3
"""Completions of a queue pair that are told apart at first, from there it is "more"; raised if that is not enough."""


class SharedPart(NamedTuple):
    """The part of a state that copies share: named threads, words that are not private to a copy, messages of threads."""

    threads: tuple[ScPlace, ...]
    memory: tuple[int, ...]
    rest: tuple[Any, ...]


class LocalPart(NamedTuple):
    """One copy's own part of a state: the number of its template, its thread, and the words of its node, if it has one.

    `thread` is None for a copy that has not started and whose first register-only steps may lead to several places.
    """

    template: int
    thread: ScPlace | None
    memory: tuple[int, ...]


class CopyStep(NamedTuple):
    """A step of a thread: the shared part and the thread's own part after it (None for a named one), and what goes wrong."""

    shared: SharedPart
    local: LocalPart | None
    faults: tuple[Fault, ...]


class CopySteps:
    """The steps of a program with crowds, one thread at a time.

    `needed` are registers (`T.r`, of P(1)) that are looked at; others are 0 where the thread can no longer use them.
    Completions of a queue pair beyond `most` are one value, from which a poll leads to itself and to `most`: `inexact` once
    that has come about.
    """

    def __init__(
        self,
        program: Program,
        watched: Observables,
        needed: frozenset[str] = frozenset(),
        *,
        most: int = MOST_COUNTED,
        recv_depth: int = RECV_DEPTH,
    ) -> None:
        self.single = copies_of(program, {thread.name: 1 for thread in program.crowds})
        self.machine = sc_machine_of(self.single, watched, recv_depth)
        self.most = most
        self.inexact = False
        self.inexact_at: set[tuple[int, int]] = set()
        self.crowd = [t for t, thread in enumerate(program.threads) if thread.many]
        self.named = [t for t, thread in enumerate(program.threads) if not thread.many]
        nodes = {n: k for k, t in enumerate(self.crowd) for n in [self.single.threads[t].node] if n not in program.nodes}
        self.private: list[list[int]] = [[] for _ in self.crowd]
        self.common: list[int] = []
        for c, cell in enumerate(self.single.cells):
            (self.private[nodes[cell.node]] if cell.node in nodes else self.common).append(c)
        self._live = [_live(thread, needed) for thread in self.single.threads]
        self._blank = self.machine.initial()[0].state
        self._kind = type(self._blank)
        self.starts = [self._starts(k) for k in range(len(self.crowd))]

    @cached_property
    def initial(self) -> tuple[tuple[SharedPart, tuple[Fault, ...]], ...]:
        """The shared parts at the start, each with what may go wrong in a named thread's first register-only steps."""
        found: dict[SharedPart, tuple[Fault, ...]] = {}
        for move in self.machine.initial().of_threads(self.named):
            shared = self._shared(move.state)
            found[shared] = (*found.get(shared, ()), *self._faults_at_start(self.named))
        return tuple(found.items())

    def fresh(self) -> tuple[LocalPart, ...]:
        """Return the local part of a copy of each template that has not started."""
        found = []
        for k, starts in enumerate(self.starts):
            memory = tuple([self._blank.memory[c] for c in self.private[k]])
            single = len(starts) == 1 and not self._faults_at_start([self.crowd[k]])
            found.append(LocalPart(k, starts[0] if single else None, memory))
        return tuple(found)

    def of_named(self, shared: SharedPart, t: int) -> Iterator[CopyStep]:
        """Yield the steps of a named thread, by its number."""
        state = self.state(shared, None)
        for move in self.machine.moves_of(state, t):
            for after in self._counted(state, move, t):
                yield CopyStep(self._shared(after), None, move.faults)

    def of_copy(self, shared: SharedPart, local: LocalPart) -> Iterator[CopyStep]:
        """Yield the steps of a copy."""
        t = self.crowd[local.template]
        for place in self.starts[local.template] if local.thread is None else (local.thread,):
            state = self.state(shared, local._replace(thread=place))
            for move in self.machine.moves_of(state, t):
                for after in self._counted(state, move, t):
                    yield CopyStep(self._shared(after), self._local(after, local.template), move.faults)

    def faults_of_start(self, local: LocalPart) -> tuple[Fault, ...]:
        """Return what may go wrong in the first register-only steps of a copy that has not started."""
        return self._faults_at_start([self.crowd[local.template]]) if local.thread is None else ()

    def state(self, shared: SharedPart, local: LocalPart | None) -> Any:
        """Return the state of P(1) with these parts; the other copies are as at the start."""
        threads, memory = list(self._blank.threads), list(self._blank.memory)
        for t, place in zip(self.named, shared.threads, strict=True):
            threads[t] = place
        for c, value in zip(self.common, shared.memory, strict=True):
            memory[c] = value
        if local is not None:
            threads[self.crowd[local.template]] = local.thread or self.starts[local.template][0]
            for c, value in zip(self.private[local.template], local.memory, strict=True):
                memory[c] = value
        return self._kind(tuple(threads), tuple(memory), *shared.rest)

    def ended(self, local: LocalPart) -> bool:
        """Whether the copy can take no step any more, whatever the others do."""
        place = local.thread
        if place is None or place.carried:
            return False
        return not self.machine.codes[self.crowd[local.template]].visible.get(place.point)

    def cleaned(self, t: int, place: ScPlace) -> ScPlace:
        """Return a thread's part of a state, with 0 for registers that can no longer be used."""
        live = self._live[t][place.point]
        registers = tuple([v if keep else 0 for v, keep in zip(place.registers, live, strict=True)])
        return place if registers == place.registers else place._replace(registers=registers)

    def limited(self, place: ScPlace) -> ScPlace:
        """Return a thread's part of a state, with completions beyond `most` taken for one value."""
        top = self.most + 1
        if not place.unpolled or max(place.unpolled) <= top:
            return place
        return place._replace(unpolled=tuple([min(n, top) for n in place.unpolled]))

    def _shared(self, state: Any) -> SharedPart:
        threads = tuple([self.cleaned(t, state.threads[t]) for t in self.named])
        return SharedPart(threads, tuple([state.memory[c] for c in self.common]), tuple(state[2:]))

    def _local(self, state: Any, template: int) -> LocalPart:
        t = self.crowd[template]
        return LocalPart(
            template, self.cleaned(t, state.threads[t]), tuple([state.memory[c] for c in self.private[template]])
        )

    def _counted(self, before: Any, move: Move, t: int) -> Iterator[Any]:
        """Yield the states after a move, with completions beyond `most` taken for one value."""
        old, place = before.threads[t].unpolled, move.state.threads[t]
        top = self.most + 1
        if not place.unpolled or max(*old, *place.unpolled) < top:
            yield move.state
            return
        capped = self.limited(place).unpolled
        if capped != place.unpolled or top in capped:
            self.inexact = True
            self.inexact_at |= {(t, qp) for qp, n in enumerate(capped) if n == top}
        yield self._with(move.state, t, place._replace(unpolled=capped))
        if move.action.verb is Verb.POLL:
            ahead = self.machine.codes[t].polls_ahead[place.point]
            for qp, (n, m) in enumerate(zip(old, capped, strict=True)):
                if n == top and m == top - 1 and ahead[qp]:
                    more = (*capped[:qp], top, *capped[qp + 1 :])
                    yield self._with(move.state, t, place._replace(unpolled=more))

    def _with(self, state: Any, t: int, place: ScPlace) -> Any:
        return state._replace(threads=(*state.threads[:t], place, *state.threads[t + 1 :]))

    def _starts(self, template: int) -> tuple[ScPlace, ...]:
        t = self.crowd[template]
        return tuple(
            dict.fromkeys(self.cleaned(t, move.state.threads[t]) for move in self.machine.initial().of_threads([t]))
        )

    def _faults_at_start(self, threads: Sequence[int]) -> tuple[Fault, ...]:
        mine = {step.fault for t in threads for _, _, step in steps(self.single.threads[t])}
        met = (fault for t in threads for move in self.machine.initial().of_threads([t]) for fault in move.faults)
        return tuple(dict.fromkeys(fault for fault in met if fault in mine))


def _expressions(step: Step) -> tuple[Expr, ...]:
    wraps = step.op.wraps[:1] if isinstance(step.op, RemoteRmw) and step.op.wraps is not None else ()
    return (step.guard, *operands(step.op), *wraps, *(expr for _, expr in step.assigns))


def _live(thread: Thread, needed: frozenset[str]) -> dict[int, tuple[bool, ...]]:
    """Return for each program point which registers a thread may still use, or are needed: a fixed point from the end."""
    always = {r for r, _ in thread.registers if f"{thread.name}.{r}" in needed}
    flows = [
        (a, b, {n for e in _expressions(step) for n in names(e)}, sets_of(r for r, _ in step.assigns))
        for a, b, step in thread.edges
    ]
    live = live_names(flows, dict.fromkeys(thread.points, always))
    return {point: tuple(r in names_ for r, _ in thread.registers) for point, names_ in live.items()}
