"""All runs of a function, one for each matching and path: what nothing can prevent happens first, in any order.

Only a receive from any, `choose` and what is not known of inputs branch. A receive from any takes a message of one of the
senders of which one is there when nothing else can happen: sends that come later only add to the choices. Runs that have
the same local states, channels, clocks and facts are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from rdma_robust.contracts.runs.request_steps import pairs
from rdma_robust.contracts.runs.run_inputs import forked
from rdma_robust.contracts.runs.run_judge import MixedUpError
from rdma_robust.contracts.runs.run_machine import STEPS, ChoiceError, PrunedError, RunMachine, TooManyStepsError
from rdma_robust.contracts.runs.run_state import Actor, SymbolicRun, order_key
from rdma_robust.contracts.runs.run_terms import TooManyError
from rdma_robust.contracts.runs.spec_reading import Snapshot
from rdma_robust.contracts.runs.symbolic_data import ForkError
from rdma_robust.limits import NEVER, Limits, Poll


@dataclass(slots=True)
class Tally:
    """How many runs there were, and states at which runs branch; `reason` says why some runs were not followed.

    `starts` are inputs, or classes of them, `ends` the runs that no false `assume` sets aside.
    """

    starts: int = 0
    runs: int = 0
    ends: int = 0
    states: int = 0
    reason: str = ""


@dataclass(slots=True)
class RunSearch:
    """The runs of a machine. `in_order` keeps runs apart in which the order of events is another."""

    machine: RunMachine
    limits: Limits
    tally: Tally
    poll: Poll = NEVER
    in_order: bool = False
    _seen: set[tuple[object, ...]] = field(default_factory=set)

    def start(self, snapshots: tuple[Snapshot, ...], looked_at: Sequence[int]) -> SymbolicRun:
        """Return the run in which nothing has happened, and only some processes execute anything."""
        count = len(snapshots)
        actors: list[Actor] = []
        for code, snapshot in zip(self.machine.codes, snapshots, strict=True):
            registers = {**dict.fromkeys(code.registers, 0), **snapshot.globals}
            if snapshot.parameters:
                registers |= {register: snapshot.parameters[name] for name, register in code.parameters}
            actors.append(Actor(0, registers, (0,) * count, "runs" if len(actors) in looked_at else "left"))
        return SymbolicRun(actors, self.machine.on.path, {}, [], snapshots)

    def explore(self, start: SymbolicRun) -> Iterator[SymbolicRun]:
        """Yield the runs from `start` on, each when nothing can happen any more."""
        todo = [start]
        while todo:
            self.poll.look()
            if self.limits.states is not None and self.tally.states > self.limits.states:
                self.tally.reason = self.tally.reason or self.limits.said("states")
                return
            run = todo.pop()
            try:
                self.machine.go_on(run)
            except ForkError as fork:
                self.tally.states += 1
                for path in forked(self.machine.on, run.path, fork):
                    child = run.copy()
                    child.path = path
                    todo.append(child)
                continue
            except ChoiceError as choice:
                todo += self._chosen(run, choice)
                continue
            except PrunedError:
                continue
            except MixedUpError:
                self.tally.runs += 1
                self.tally.ends += 1
                continue
            except (TooManyStepsError, TooManyError) as limit:
                self.tally.reason = self.tally.reason or str(limit) or f"a process makes more than {STEPS:,} steps"
                continue
            following = self._received(run)
            if following is None:
                self.tally.runs += 1
                self.tally.ends += all(actor.status != "pruned" for actor in run.actors)
                yield run
            else:
                todo += following

    def _is_new(self, run: SymbolicRun) -> bool:
        key = (*run.key(), order_key(run)) if self.in_order else run.key()
        if key in self._seen:
            return False
        self._seen.add(key)
        self.tally.states += 1
        return True

    def _chosen(self, run: SymbolicRun, choice: ChoiceError) -> list[SymbolicRun]:
        """Return the runs that go on with each choice of the process that is at one."""
        if not self._is_new(run):
            return []
        found = []
        for number, target in enumerate(choice.targets):
            child = run.copy()
            actor = child.actors[choice.process]
            actor.at, actor.choices = target, (*actor.choices, number)
            found.append(child)
        return found[::-1]

    def _received(self, run: SymbolicRun) -> list[SymbolicRun] | None:
        """Return the runs that go on with each message that a receive from any can take, None if there is none."""
        options = [*self._waited(run), *self._posted(run)]
        if not options:
            return None
        if len(options) == 1:
            self.machine.on.path = run.path
            options[0](run)
            return [run]
        if not self._is_new(run):
            return []
        found = []
        for take in options:
            child = run.copy()
            self.machine.on.path = child.path
            take(child)
            found.append(child)
        return found[::-1]

    def _waited(self, run: SymbolicRun) -> Iterator[Callable[[SymbolicRun], None]]:
        """Yield what takes each message that a process at a receive from any can take."""
        for process, actor in enumerate(run.actors):
            if actor.status == "waits" and actor.waited is not None and actor.waited.source is None:
                for source in self.machine.senders(run, process):
                    yield partial(self.machine.take, process=process, source=source)

    def _posted(self, run: SymbolicRun) -> Iterator[Callable[[SymbolicRun], None]]:
        """Yield what makes each match that a posted receive from any can make."""
        for process, actor in enumerate(run.actors):
            for pair in pairs(run, process) if actor.asked.posts else ():
                yield partial(self.machine.match, process=process, pair=pair)
