"""Goals about any number of copies, as goals about P(n), and what is said of the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from rdma_robust.analyses.safety.goals import Goal, StateGoal
from rdma_robust.diagnose import listing
from rdma_robust.expr import FALSE, Binary, Const, Expr, Name, disj, names, substitute
from rdma_robust.language.check.targets import (
    Atom,
    CopyCountAtom,
    DrainedAtom,
    StateTarget,
    ThreadAtExit,
    ThreadAtLine,
    ThreadAtPoints,
)
from rdma_robust.language.flow.cfg import Program, Thread
from rdma_robust.outcome import Copies
from rdma_robust.robustness.crowds.numbers_said import copies as so_many
from rdma_robust.robustness.crowds.numbers_said import with_numbers

AnyGoal = TypeVar("AnyGoal", bound=Goal)


def goal_in(goal: AnyGoal, program: Program, numbers: Mapping[str, int]) -> AnyGoal:
    """Return a goal about a program with crowds as one about P(n), which is `copies_of(program, numbers)`."""
    return replace(goal, target=instance_target(goal.target, program, numbers)) if isinstance(goal, StateGoal) else goal


def instance_target(target: StateTarget, program: Program, numbers: Mapping[str, int]) -> StateTarget:
    """Return a target about any number of copies as one about P(n)."""
    by: dict[str, Expr] = {}
    atoms = dict(target.atoms)
    compared = _only_compared_with_one(target)
    for name, counted in target.counts:
        parts = []
        for number in range(1, numbers[counted.thread] + 1):
            condition, mine = of_copy(counted, program, number)
            atoms |= mine
            parts.append(condition)
        by[name] = _any(parts) if name in compared else _sum(parts)
    return StateTarget(target.text, substitute(target.condition, by), tuple(atoms.items()))


def of_copy(counted: CopyCountAtom, program: Program, number: int) -> tuple[Expr, dict[str, Atom]]:
    """Return the condition on one copy, by its number, with what its names say of threads."""
    thread = next(t for t in program.crowds if t.name == counted.thread)
    by: dict[str, Expr] = {name: Name(new) for name, new in _renamed(program, thread, number).items()}
    atoms: dict[str, Atom] = {}
    for name, atom in counted.atoms:
        new = _at_copy(atom, thread.name, f"{thread.name}[{number}]")
        key = name if new == atom else f"{name}, in {thread.name}[{number}]"
        atoms[key] = new
        by[name] = Name(key)
    return substitute(counted.condition, by), atoms


def _renamed(program: Program, thread: Thread, number: int) -> dict[str, str]:
    """Return the names of what is a copy's own, to those of the copy with this number."""
    found = {f"{thread.name}.{r}": f"{thread.name}[{number}].{r}" for r, _ in thread.registers}
    if thread.node in program.many_nodes:
        words = (cell for cell in program.cells if cell.node == thread.node)
        found |= {str(cell): str(replace(cell, node=f"{cell.node}[{number}]")) for cell in words}
    return found


def _at_copy(atom: Atom, template: str, name: str) -> Atom:
    match atom:
        case ThreadAtExit(thread) | ThreadAtLine(thread) | ThreadAtPoints(thread) if thread == template:
            return replace(atom, thread=name)
        case ThreadAtExit() | ThreadAtLine() | ThreadAtPoints() | DrainedAtom():
            return atom


def _only_compared_with_one(target: StateTarget) -> frozenset[str]:
    """Return the counts of which it only matters whether they are 0: there a disjunction says the same as the sum."""
    others: list[str] = []

    def look(expr: Expr) -> None:
        match expr:
            case Binary(">=", Name(), Const(1)):
                return
            case Binary(_, left, right):
                look(left)
                look(right)
            case Name(name):
                others.append(name)
            case Const():
                return
            case _:
                others.extend(names(expr))

    look(target.condition)
    return frozenset(name for name, _ in target.counts if name not in others)


def _any(parts: list[Expr]) -> Expr:
    """Return 1 if one of the conditions holds."""
    return Binary("||", disj(*parts), FALSE) if parts else FALSE


def _sum(parts: list[Expr]) -> Expr:
    """Return how many of the conditions hold."""
    total: Expr = Const(0)
    for part in parts:
        counted = Binary("!=", part, Const(0))
        total = counted if total == Const(0) else Binary("+", total, counted)
    return total


def of_any(program: Program, copies: Copies | None = None) -> str:
    """Return as in "with 2 copies of C" or "for any number of copies of C"; nothing for a program without crowds."""
    if not program.crowds:
        return ""
    if copies is not None:
        return f"with {with_numbers(copies.numbers)}"
    return f"for any number of copies of {listing((thread.name for thread in program.crowds), 'and')}"


def copies_said(copies: Copies) -> str:
    """Return as in "with 2 copies of C, not with 1"."""
    total = sum(number for _, number in copies.numbers)
    said = f"with {with_numbers(copies.numbers)}"
    if not total or not copies.least:
        return said
    return f"{said}, not with {'fewer in all' if len(copies.numbers) > 1 else (total - 1 or 'none')}"


def none_up_to(done: int, names: str) -> str:
    """Return as in "not with up to 3 copies of C"."""
    return f"not with up to {so_many(done, names)}" if done else f"not without a copy of {names}"


def undecided_numbers(numbers: Mapping[str, int], why: str, names: str) -> str:
    """Return the reason where these are the first numbers that were not decided, and why they were not."""
    total = sum(numbers.values())
    if not total:
        return f"not even decided without a copy of {names}: {why}"
    return f"{none_up_to(total - 1, names)}; with {with_numbers(tuple(numbers.items()))}: {why}"
