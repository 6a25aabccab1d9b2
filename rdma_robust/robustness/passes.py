"""What a pass is, and how a list of passes runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rdma_robust.beside import Beside
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.options import CheckOptions

In = TypeVar("In")
Out = TypeVar("Out")
Artefact = TypeVar("Artefact")


@dataclass(frozen=True, slots=True)
class Context:
    """What every pass may look at besides its artefact.

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
    """What holds of an artefact: in words, and as a test that yields what is wrong with one."""

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
