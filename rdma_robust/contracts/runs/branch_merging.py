"""Branches that only compute: followed both, and joined by if-then-else instead of one path for each.

What a program computes by `if x != 0 { r = x } else { r = y }` is one term then. Where a branch could fault, takes a
decision about a length, or leaves arrays that differ, the path forks as it does everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.contracts.runs.run_terms import Condition, SymbolicTerm
from rdma_robust.contracts.runs.symbolic_data import Data, Decisions, ForkError, NeedsDecisionError
from rdma_robust.messages.language.message_program import Assign, Block, If, Return
from rdma_robust.messages.language.message_terms import FaultError

_PATHS: Final = 8
"""Paths that are joined, at most."""

_STEPS: Final = 200
"""Steps of all of them together."""

Go = Callable[[dict[str, Data], Decisions], int]


def only_computes(block: Block, *, returns: bool) -> bool:
    """Whether a block has nothing but assignments and `if`, and `return` where that is allowed."""
    for statement in block:
        match statement:
            case Assign():
                pass
            case If(_, then, other):
                if not (only_computes(then, returns=returns) and only_computes(other, returns=returns)):
                    return False
            case Return():
                if not returns:
                    return False
            case _:
                return False
    return True


@dataclass(slots=True)
class _Branch:
    at: int
    registers: dict[str, Data]
    path: object


def merge_branches(
    steps: Callable[[int], Go | int | None], at: int, ends: int, registers: dict[str, Data], on: Decisions
) -> bool:
    """Execute what is between `at` and `ends` on all paths and join them in `registers`; return False if that cannot be.

    `steps` says what is at a place: a local step, where to go on, or None for what is no local step.
    """
    if on.trying:
        return False
    before = on.path
    number = len(before.facts)
    todo = [(at, dict(registers), before.copy())]
    found: list[tuple[Condition, dict[str, Data]]] = []
    left = _STEPS
    try:
        while todo:
            place, mine, on.path = todo.pop()
            while place != ends:
                left -= 1
                step = steps(place)
                if step is None or left < 0:
                    return False
                if isinstance(step, int):
                    place = step
                    continue
                try:
                    place = step(mine, on)
                except ForkError as fork:
                    if fork.condition is None or len(todo) + len(found) >= _PATHS:
                        return False
                    path = on.path
                    for value in (True, False):
                        on.path = path.copy()
                        if on.choose(fork.condition, value=value):
                            todo.append((place, dict(mine), on.path))
                    break
            else:
                found.append((on.terms.conjunction(on.path.facts[number:]), mine))
    except (FaultError, NeedsDecisionError):
        return False
    finally:
        on.path = before
    return bool(found) and _joined(found, registers, on)


def _joined(found: Sequence[tuple[Condition, dict[str, Data]]], registers: dict[str, Data], on: Decisions) -> bool:
    new: dict[str, Data] = {}
    for name in registers:
        values = [mine[name] for _, mine in found]
        last = values[-1]
        if all(each is last or (isinstance(each, int) and each == last) for each in values):
            new[name] = last
            continue
        value: Data = last
        for (condition, _), each in zip(found[:-1], values[:-1], strict=True):
            if not isinstance(each, int | SymbolicTerm) or not isinstance(value, int | SymbolicTerm):
                return False
            value = on.terms.either(condition, each, value)
        new[name] = value
    registers.update(new)
    return True
