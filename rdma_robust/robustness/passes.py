"""Passes, and how a list of them runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from rdma_robust.beside import Beside
from rdma_robust.counters.lower import LoweredProgram
from rdma_robust.counters.program import CounterProgram
from rdma_robust.counters.search import CounterSearch
from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.options import CheckOptions
from rdma_robust.robustness.frame import EventLabel, InstrumentationFrame
from rdma_robust.robustness.lift import LiftedTrace
from rdma_robust.robustness.static_filter import Pivots

Found = CounterSearch[EventLabel]

LikeFaults = Mapping[Fault, frozenset[Fault]]
"""For faults of like threads those that are reachable iff they are."""


@dataclass(frozen=True, slots=True)
class FilterArtefact:
    """The pivots that are left to try: the pivot classes, None for the paper's instrumentation, which guesses where the
    cycle is."""

    frame: InstrumentationFrame
    pivots: Pivots | None


@dataclass(frozen=True, slots=True)
class CounterArtefact:
    """A program, and the counter program whose targets are reachable iff it is not robust."""

    program: Program
    counters: CounterProgram[EventLabel]
    like_faults: LikeFaults = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VassArtefact:
    """A program, and the VASS of its counter program."""

    program: Program
    vass: LoweredProgram[EventLabel]
    like_faults: LikeFaults = field(default_factory=dict)

    @property
    def by_filter(self) -> bool:
        """Whether the program is robust without a search, since there is nothing to be reached."""
        return not self.vass.program.targets


@dataclass(frozen=True, slots=True)
class CoverArtefact:
    """The findings of the search within `limits`, and with a reached target a run to it that is as short as could be had."""

    lowered: VassArtefact
    found: Found
    shortest: Found
    limits: Limits

    @property
    def target(self) -> EventLabel | None:
        """The label of the reached target."""
        number = self.shortest.result.target
        return self.lowered.vass.program.targets[number].label if number >= 0 else None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run that was found, and the trace that it lifts to; None where no target was reached."""

    covered: CoverArtefact
    lifted: LiftedTrace | None


In = TypeVar("In")
Out = TypeVar("Out")
Artefact = TypeVar("Artefact")


@dataclass(frozen=True, slots=True)
class Context:
    """The context that every pass may look at besides its artefact.

    `limits` are those of the decision, `beside` has those of everything that is no part of it. With `crowds` the program may
    have threads of which there is any number.
    """

    options: CheckOptions
    limits: Limits
    beside: Beside
    progress: Progress = ignore
    crowds: bool = False

    @staticmethod
    def of(
        options: CheckOptions,
        progress: Progress = ignore,
        *,
        crowds: bool = False,
        limits: Limits | None = None,
    ) -> Context:
        """Return a context whose time counts from now, or that has these `limits` instead of those of the options."""
        given = options.limits() if limits is None else limits
        return Context(options, given, Beside(given), progress, crowds)


@dataclass(frozen=True, slots=True)
class PassContract(Generic[Artefact]):
    """A contract that holds of an artefact: in words, and as a test that yields what is wrong with one."""

    says: str
    broken: Callable[[Artefact], Iterable[str]]


@dataclass(frozen=True, slots=True)
class DecisionPass(Generic[In, Out]):
    """One step on the way to an outcome: from what `requires` holds of to what `ensures` holds of; `show` writes that."""

    name: str
    run: Callable[[In, Context], Out]
    requires: PassContract[In]
    ensures: PassContract[Out]
    show: Callable[[Out], str]


Passes = tuple[DecisionPass[Any, Any], ...]
"""The artefact that a pass makes is what the next one takes."""


def run_passes(passes: Passes, artefact: Any, context: Context) -> Any:
    """Run the passes one after the other; return the last artefact."""
    for each in passes:
        artefact = each.run(artefact, context)
    return artefact


def artefacts(passes: Passes, artefact: Any, context: Context) -> Iterator[tuple[DecisionPass[Any, Any], Any, Any]]:
    """Run the passes, and yield each with what it took and what it made."""
    for each in passes:
        made = each.run(artefact, context)
        yield each, artefact, made
        artefact = made
