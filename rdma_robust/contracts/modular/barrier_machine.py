"""Barrier runs: at a callee all processes arrive, its contract says what they have afterwards, and all leave.

The barrier adds nothing to the order of events: what the callee's `waitsfor` says is all that its exits come after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rdma_robust.contracts.language.contract_program import Contract
from rdma_robust.contracts.modular.callee_effects import Effects
from rdma_robust.contracts.modular.round_checks import known_heads
from rdma_robust.contracts.runs.run_judge import Judge
from rdma_robust.contracts.runs.run_machine import PrunedError, RunMachine
from rdma_robust.contracts.runs.run_points import CalleePoint, EntryPoint, NonBlockingError
from rdma_robust.contracts.runs.run_state import Actor, Clock, SymbolicRun, joined_clock
from rdma_robust.contracts.runs.run_terms import TooManyError
from rdma_robust.contracts.runs.spec_reading import Snapshot


@dataclass(slots=True)
class CalleeRules:
    """What counts of callees: their contracts, and `outside`, which is told of each call before anything comes of it."""

    contracts: Mapping[str, Contract]
    outside: Callable[[SymbolicRun, str, list[Snapshot]], None]

    def locals_of(self, function: str) -> tuple[str, ...]:
        """Return which parameters of a call are registers of the caller: those of a loop are."""
        loop = self.contracts[function].loop
        return () if loop is None else loop.locals


class BarrierMachine(RunMachine):
    """A machine for code in which calls are :class:`CalleePoint`."""

    rules: CalleeRules
    judge: Judge

    def go_on(self, run: SymbolicRun) -> None:
        """Let every process go on, and all together through calls."""
        while True:
            RunMachine.go_on(self, run)
            if not all(each.status == "calls" for each in run.actors):
                return
            self._call(run)

    def _point(self, run: SymbolicRun, process: int, actor: Actor) -> None:
        instruction = self.codes[process].code[actor.at]
        if isinstance(instruction, CalleePoint) and instruction.function not in self.collective:
            self._local_call(run, process, actor, instruction)
        else:
            RunMachine._point(self, run, process, actor)

    def _local_call(self, run: SymbolicRun, process: int, actor: Actor, point: CalleePoint) -> None:
        """Let one process through a call of a local function."""
        entering = self.codes[process].code[actor.at - 1]
        assert isinstance(entering, EntryPoint)
        parameters = {name: code(actor.registers, self.on) for name, code in entering.parameters}
        globals_ = {name: actor.registers[name] for name in self.global_names}
        own = self._with_locals(point.function, Snapshot(parameters, globals_))
        entries = [own if each == process else Snapshot() for each in range(self.count)]
        self.rules.outside(run, point.function, entries)
        after = self._effects(run, point.function, entries, f"{point.function} #{process}.{actor.steps}", (process,))
        self._give(actor, point, after[process])

    def _effects(
        self, run: SymbolicRun, function: str, entries: list[Snapshot], name: str, processes: Sequence[int]
    ) -> list[Snapshot]:
        """Return what a call leaves behind; what is known of it becomes facts. Raises PrunedError if there is nothing."""
        exits, known = Effects(self.on, self.rules.contracts[function], entries, name, processes).made()
        try:
            for each in known:
                if not run.path.assume(each, self.on.terms):
                    raise PrunedError
        except TooManyError:
            if self.on.solver.possible(run.path.facts, run.path.model)[0] is not False:
                raise
        if self.on.solver.possible(run.path.facts, run.path.model)[0] is False:
            raise PrunedError
        return exits

    def _give(self, actor: Actor, point: CalleePoint, after: Snapshot) -> None:
        loop = self.rules.contracts[point.function].loop
        actor.registers |= {name: value for name, value in after.globals.items() if name in self.global_names}
        if loop is not None:
            places = dict(point.given)
            for name in loop.changes:
                if name != loop.counter:
                    actor.registers[places[name]] = after.globals[name]
        if point.result and after.result is not None:
            actor.registers[point.result] = after.result
        actor.status, actor.at = "runs", actor.at + 1

    def _call(self, run: SymbolicRun) -> None:
        """Let all processes through a call; everything is computed before anything changes."""
        points = [self.codes[me].code[actor.at] for me, actor in enumerate(run.actors)]
        first = points[0]
        assert isinstance(first, CalleePoint)
        if any(not post.over for each in run.actors for post in each.asked.posts):
            raise NonBlockingError("a receive is posted across a call")
        entries = [each.calls[-1] for each in run.actors]
        place = len(run.actors[0].calls) - 1
        snapshots = [self._with_locals(first.function, each.snapshot) for each in entries]
        self.rules.outside(run, first.function, snapshots)
        name = f"{first.function} #{place}"
        exits = self._effects(run, first.function, snapshots, name, range(self.count))
        clocks = [self._after(run, process, exits[process]) for process in range(self.count)]
        for actor, point, clock, after in zip(run.actors, points, clocks, exits, strict=True):
            assert isinstance(point, CalleePoint)
            actor.clock = clock
            self._give(actor, point, after)

    def _with_locals(self, function: str, entry: Snapshot) -> Snapshot:
        """Return what a process has as it enters a call, with what is a register only there."""
        own = {name: entry.parameters[name] for name in self.rules.locals_of(function)}
        return Snapshot(entry.parameters, {**entry.globals, **own}) if own else entry

    def _after(self, run: SymbolicRun, process: int, after: Snapshot) -> Clock:
        """Return the clock of a process that leaves a call: it comes after the entries that it waits for.

        For whom it waits that has gone through a loop depends on what it has `after` that.
        """
        actor = run.actors[process]
        clock, entry = actor.clock, actor.calls[-1]
        loop = self.rules.contracts[entry.function].loop
        promises = entry.promises if loop is None else known_heads(self.on, self.count, loop, process, after)
        for promise in promises:
            if promise.clause.kind != "waitsfor":
                continue
            for other, waited in enumerate(run.actors):
                if self.on.decide(self.judge.waits_for(promise, other)):
                    clock = joined_clock(clock, waited.calls[-1].clock)
        return clock
