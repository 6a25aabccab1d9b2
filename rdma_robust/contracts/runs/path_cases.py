"""Violations that may be, and the paths on which something is looked at that takes decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rdma_robust.contracts.language.contract_program import ErrorClass
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.run_state import Clock
from rdma_robust.contracts.runs.run_terms import Condition
from rdma_robust.contracts.runs.symbolic_data import Decisions, ForkError
from rdma_robust.errors import NO_SPAN, Span


@dataclass(frozen=True, slots=True)
class PossibleViolation:
    """A violation where `condition` is true. `clock` counts the events that show it, None for all of the run.

    `call` is the place of the violated collate among the passings of its process. `clause` is as in Counterexample.
    """

    error: ErrorClass
    process: int
    condition: Condition
    clock: Clock | None
    text: str
    clause: str
    span: Span = NO_SPAN
    other: int | None = None
    call: int = 0


def case_split(
    on: Decisions, path: Path, make: Callable[[], Sequence[PossibleViolation]]
) -> Iterator[tuple[Path, PossibleViolation]]:
    """Yield what `make` finds on a path: where it forks, on the path of each alternative."""
    before = on.path
    todo = [path]
    try:
        while todo:
            on.path = path = todo.pop()
            try:
                found = make()
            except ForkError as fork:
                todo += forked(on, path, fork)
                continue
            yield from ((path, each) for each in found)
    finally:
        on.path = before


def forked(on: Decisions, path: Path, fork: ForkError) -> list[Path]:
    """Return the possible paths of the alternatives."""
    before, found = on.path, []
    if fork.array is not None:
        for length in range(fork.array.low, fork.array.high + 1):
            child = path.copy()
            child.lengths[fork.array] = length
            found.append(child)
        return found
    assert fork.condition is not None
    for value in (False, True):
        on.path = child = path.copy()
        if on.choose(fork.condition, value=value):
            found.append(child)
    on.path = before
    return found
