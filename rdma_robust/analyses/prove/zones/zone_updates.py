"""The updates of a transition as code over zones: one piece of code for each way that its conditions can be true."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rdma_robust.analyses.prove.transition_system import Assignment, Draw, Drop, Join, Selection, Suppose, Update
from rdma_robust.analyses.prove.zones.linear_ways import (
    MOST_WAYS,
    CaseSplitter,
    Facts,
    LinearCase,
    LinearForm,
    as_shift,
    constant_form,
    variable_form,
)
from rdma_robust.analyses.prove.zones.zone_matrix import ZoneCode, ZoneOp
from rdma_robust.expr import Expr

Instruction = tuple[ZoneOp, tuple[str | int, ...]]
"""An operation whose operands are names, "" for the constant 0, and numbers."""

_DISTANCE = {ZoneOp.BOUND: 2, ZoneOp.MOVE: 2, ZoneOp.SHIFT: 1, ZoneOp.FOLD: 2, ZoneOp.LINEAR: 2}
"""Which operand is the c of an operation that has one."""


@dataclass(frozen=True, slots=True)
class ZoneTransition:
    """Updates as code over a zone: run each piece on it. Not `exact`: they may reach points that no run has."""

    codes: tuple[ZoneCode, ...]
    exact: bool


@dataclass(frozen=True, slots=True)
class _Branch:
    """One way through the updates so far."""

    instructions: tuple[Instruction, ...] = ()
    exact: bool = True

    def then(self, *instructions: Instruction, exact: bool = True) -> _Branch:
        return _Branch((*self.instructions, *instructions), self.exact and exact)


def zone_transition(updates: Sequence[Update], before: Sequence[str], after: Sequence[str], clip: int) -> ZoneTransition:
    """Return the code for updates, from a zone over the variables `before` to one over those `after`.

    Exact: Suppose over boolean combinations of comparisons of v + c and w + d, Let, Draw and Join of w + c, Pick, Drop.
    Everything else is what intervals know of it.
    """
    compiler = _Compiler()
    branches = [_Branch()]
    for update in updates:
        branches = [after for branch in branches for after in compiler.extended(branch, update)]
        if len(branches) > MOST_WAYS:
            branches = [_Branch(exact=False).then(*compiler.forgotten(updates), exact=False)]
            break
    codes = tuple(dict.fromkeys(_numbered(branch, before, after, clip) for branch in branches))
    return ZoneTransition(codes, all(branch.exact for branch in branches))


class _Compiler:
    def __init__(self) -> None:
        self._made = 0
        self._ways = CaseSplitter(self._fresh)

    def _fresh(self) -> str:
        self._made += 1
        return f"${self._made}"

    def extended(self, branch: _Branch, update: Update) -> list[_Branch]:
        match update:
            case Suppose(condition):
                return [b for facts in self._ways.facts(condition) for b in self._supposing(branch, facts)]
            case Assignment(name, value):
                return [self._let(b, name, way.value) for b, way in self._evaluated(branch, value)]
            case Draw(name, low, high):
                return self._drawn(branch, name, low, high)
            case Join(name, value):
                return [self._joined(b, name, way.value) for b, way in self._evaluated(branch, value)]
            case Selection(name, folded):
                return [branch if name == folded else branch.then((ZoneOp.COPY, (name, folded)))]
            case Drop(name):
                return [branch.then((ZoneOp.FORGET, (name,)))]

    def forgotten(self, updates: Iterable[Update]) -> list[Instruction]:
        """Return the code that knows nothing of all that updates change."""
        names = {update.name for update in updates if not isinstance(update, Suppose)}
        return [(ZoneOp.FORGET, (name,)) for name in sorted(names)]

    def _evaluated(self, branch: _Branch, value: Expr) -> list[tuple[_Branch, LinearCase]]:
        return [(b, way) for way in self._ways.values(value) for b in self._supposing(branch, way.facts)]

    def _supposing(self, branch: _Branch, facts: Facts) -> list[_Branch]:
        """Return the branch with the facts in it, none if one is false."""
        instructions: list[Instruction] = []
        exact = facts.exact
        for form in facts.forms:
            if not form.terms:
                if form.constant > 0:
                    return []
                continue
            found, known = _fact(form.tightened())
            instructions += found
            exact = exact and known
        return [branch.then(*instructions, exact=exact)]

    def _placed(self, branch: _Branch, value: LinearForm, not_in: str = "") -> tuple[_Branch, str, int]:
        """Return w and c with the value w + c, where w is not `not_in`: a new variable if the value is no such sum."""
        if not value.terms:
            return branch, "", value.constant
        plain = as_shift(value)
        if plain is not None and plain[0] != not_in:
            return branch, *plain
        new = self._fresh()
        if plain is not None:
            return branch.then((ZoneOp.MOVE, (new, *plain))), new, 0
        equal = [variable_form(new).plus(value, -1), value.plus(variable_form(new), -1)]
        return self._supposing(branch, Facts(tuple(equal), exact=False))[0], new, 0

    def _let(self, branch: _Branch, name: str, value: LinearForm) -> _Branch:
        plain = as_shift(value)
        if plain is not None and plain[0] == name:
            return branch.then((ZoneOp.SHIFT, (name, plain[1]))) if plain[1] else branch
        branch, place, constant = self._placed(branch, value)
        return branch.then((ZoneOp.MOVE, (name, place, constant)))

    def _joined(self, branch: _Branch, name: str, value: LinearForm) -> _Branch:
        branch, place, constant = self._placed(branch, value, name)
        return branch.then((ZoneOp.FOLD, (name, place, constant)))

    def _drawn(self, branch: _Branch, name: str, low: Expr | None, high: Expr | None) -> list[_Branch]:
        new = self._fresh()
        branches = [branch]
        for end, sign in ((low, 1), (high, -1)):
            if end is not None:
                branches = [
                    c
                    for b in branches
                    for found, way in self._evaluated(b, end)
                    for c in self._supposing(found, Facts((way.value.plus(variable_form(new), -1).times(sign),)))
                ]
        return [b.then((ZoneOp.MOVE, (name, new, 0))) for b in branches]


def _fact(form: LinearForm) -> tuple[list[Instruction], bool]:
    """Return the code for `form <= 0`, and whether that says all: what it means for single variables and differences."""
    (name, a), *others = form.terms
    if not others and abs(a) == 1:
        return [(ZoneOp.BOUND, (name, "", -form.constant) if a == 1 else ("", name, -form.constant))], True
    if len(others) == 1 and {a, others[0][1]} == {1, -1}:
        more, less = (name, others[0][0]) if a == 1 else (others[0][0], name)
        return [(ZoneOp.BOUND, (more, less, -form.constant))], True
    found = [_known(form, name, a) for name, a in form.terms]
    for more, a in form.terms:
        found += [_known_difference(form, more, less, a) for less, b in form.terms if a > 0 and b == -a]
    return found, False


def _known(form: LinearForm, name: str, a: int) -> Instruction:
    """From a * x + rest <= 0: x <= -rest / a, or -x <= -rest / -a."""
    rest = form.plus(variable_form(name), -a)
    return _divided((name, "") if a > 0 else ("", name), rest, abs(a))


def _known_difference(form: LinearForm, more: str, less: str, a: int) -> Instruction:
    """From a * x - a * y + rest <= 0: x - y <= -rest / a."""
    return _divided((more, less), form.plus(variable_form(more), -a).plus(variable_form(less), a), a)


def _divided(rows: tuple[str, str], rest: LinearForm, divisor: int) -> Instruction:
    minus = constant_form(0).plus(rest, -1)
    # A difference of two is looked up as such, the positive one first.
    terms = sorted(minus.terms, key=lambda term: -term[1])
    return ZoneOp.LINEAR, (*rows, minus.constant, divisor, len(terms), *(part for name, a in terms for part in (a, name)))


def _numbered(branch: _Branch, before: Sequence[str], after: Sequence[str], clip: int) -> ZoneCode:
    """Return the code of a branch with rows for names: those before, then the others."""
    rows = {"": 0}
    for name in before:
        rows[name] = len(rows)
    ops: list[int] = []
    forms = distance = 0
    for op, operands in branch.instructions:
        ops.append(op)
        numbers = [operand if isinstance(operand, int) else rows.setdefault(operand, len(rows)) for operand in operands]
        ops += numbers
        forms += op is ZoneOp.LINEAR
        distance += abs(numbers[_DISTANCE[op]]) if op in _DISTANCE else 0
    target = tuple(rows.setdefault(name, len(rows)) for name in after)
    source = tuple(row if row <= len(before) else -1 for row in range(1, len(rows)))
    return ZoneCode(clip, len(rows), source, tuple(ops), target, forms, distance)
