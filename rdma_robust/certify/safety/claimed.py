"""The claims of a program about states under a model: what must be false in every state, or in every final one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rdma_robust.expr import Const, Expr, conj, names, negate
from rdma_robust.language.check.meaning import divides_by_no_zero
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import EndedAtom, PointAt


@dataclass(frozen=True)
class BadStateClaim:
    """`bad`, over registers `T.r`, words `A.x`, constants, and atoms (a thread's number and program points), is false in
    every state; with `final` in every state in which all threads have ended and nothing is under way."""

    text: str
    bad: Expr
    names: frozenset[str]
    atoms: Mapping[str, tuple[int, frozenset[int]]]
    constants: Mapping[str, Expr]
    final: bool


def claims_of(program: Program, model: str) -> tuple[BadStateClaim, ...]:
    """Return what `program` claims of states under `model`: its invariants, and the outcomes that it forbids there.

    A condition that divides by zero does not hold.
    """
    return tuple(_claims(program, model))


def _claims(program: Program, model: str) -> Iterator[BadStateClaim]:
    threads = {thread.name: t for t, thread in enumerate(program.threads)}
    constants = {name: Const(value) for name, value in program.constants}
    for line in program.invariants:
        atoms = {name: _place(program, threads[atom.thread], atom) for name, atom in line.atoms}
        bad = negate(conj(divides_by_no_zero(line.condition), line.condition))
        known = {name: value for name, value in constants.items() if name not in atoms}
        yield BadStateClaim(line.text, bad, frozenset(names(bad)), atoms, known, False)
    for outcome in program.outcomes:
        if any(claim.model == model and not claim.allowed for claim in outcome.claims):
            bad = conj(divides_by_no_zero(outcome.condition), outcome.condition)
            yield BadStateClaim(outcome.text, bad, frozenset(names(bad)), {}, constants, True)


def _place(program: Program, t: int, atom: PointAt | EndedAtom) -> tuple[int, frozenset[int]]:
    thread = program.threads[t]
    if isinstance(atom, EndedAtom):
        return t, frozenset({thread.exit})
    return t, frozenset(point for label, point in thread.labels if label == atom.label)


def watched_points(program: Program) -> frozenset[tuple[int, int]]:
    """Return the program points, each with the number of its thread, that invariants ask for."""
    threads = {thread.name: t for t, thread in enumerate(program.threads)}
    places = (_place(program, threads[atom.thread], atom) for line in program.invariants for _, atom in line.atoms)
    return frozenset((t, point) for t, points in places for point in points)
