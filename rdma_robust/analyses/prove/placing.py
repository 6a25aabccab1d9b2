"""The layout of control states, and expressions and claims as functions of them.

A control state has program points, registers and words with few values, and what threads have under way. A value is an
integer where all that it depends on is small, else an expression over what is wide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rdma_robust.analyses.prove.transition_system import SafetyClaim, points_of
from rdma_robust.analyses.prove.value_sets import VariableDomains
from rdma_robust.expr import VALUE, Binary, Const, Expr, Ite, Name, Unary, divide, evaluate, modulo, names, substitute
from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.language.flow.claims import EndedAtom, PointAt

Valued = int | Expr
"""A value that is known, or an expression over wide variables."""


def expression_of(value: Valued) -> Expr:
    """Return a value as an expression."""
    return Const(value) if isinstance(value, int) else value


Valuer = Callable[[Any, Any], Valued]
"""Of a control state and what the step has read (VALUE: an integer, an expression, or None) to the value; where nothing is
wide, always an integer. Raises ZeroDivisionError only where the guard of the step does not hold."""


def valuer(expr: Expr, small: Mapping[str, str], value_is_small: bool = True) -> Valuer:
    """Compile `expr`. `small` gives the code, over the control state `s`, of each name that is not wide."""
    used = dict.fromkeys(names(expr))
    if all(name in small for name in used if name != VALUE.name) and (value_is_small or VALUE.name not in used):
        return _compiled(expr, small)
    return _partial(expr, {name: small[name] for name in used if name in small}, VALUE.name in used)


def _compiled(expr: Expr, small: Mapping[str, str]) -> Valuer:
    try:
        function: Valuer = _function(_code(expr, small))
    except (SyntaxError, RecursionError, MemoryError):  # nested too deep for Python's parser
        at = {name: _function(small[name]) for name in dict.fromkeys(names(expr)) if name != VALUE.name}
        return lambda s, v: evaluate(expr, {VALUE.name: v, **{name: of(s, v) for name, of in at.items()}})
    return function


def _function(code: str) -> Callable[[Any, Any], int]:
    made: Callable[[Any, Any], int] = eval(f"lambda s, v: {code}", {"divide": divide, "modulo": modulo})
    return made


def _code(expr: Expr, small: Mapping[str, str]) -> str:
    match expr:
        case Const(value):
            return f"({value})" if value < 0 else str(value)
        case Name(name):
            return "v" if name == VALUE.name else small[name]
        case Unary("-", arg):
            return f"(-{_code(arg, small)})"
        case Unary(_, arg):
            return f"(0 if {_code(arg, small)} else 1)"
        case Ite(test, then, other):
            return f"({_code(then, small)} if {_code(test, small)} else {_code(other, small)})"
        case Binary("&&", left, right):
            return f"(1 if {_code(left, small)} and {_code(right, small)} else 0)"
        case Binary("||", left, right):
            return f"(1 if {_code(left, small)} or {_code(right, small)} else 0)"
        case Binary("/" | "%" as op, left, right):
            return f"{'divide' if op == '/' else 'modulo'}({_code(left, small)}, {_code(right, small)})"
        case Binary("+" | "-" | "*" as op, left, right):
            return f"({_code(left, small)} {op} {_code(right, small)})"
        case Binary(op, left, right):
            return f"(1 if {_code(left, small)} {op} {_code(right, small)} else 0)"


def _partial(expr: Expr, small: Mapping[str, str], reads: bool) -> Valuer:
    """Return what evaluates `expr` as far as the control state goes; each combination of small values once."""
    order = list(small)
    key_of = _function(f"({''.join(f'{small[name]}, ' for name in order)})")
    found: dict[Any, Valued] = {}

    def of(s: Any, v: Any) -> Valued:
        key = (key_of(s, v), v if reads else None)
        value = found.get(key)
        if value is None:
            values: tuple[int, ...] = key[0]  # type: ignore[assignment]
            by: dict[str, Expr] = {name: Const(each) for name, each in zip(order, values, strict=True)}
            if reads:
                by[VALUE.name] = expression_of(v)
            result = substitute(expr, by)
            value = found[key] = result.value if isinstance(result, Const) else result
        return value

    return of


SmallState = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlacedVariable:
    """A register or a word: `place` is where control states have it, -1 if it is wide; `values` what a small one can be."""

    name: str
    place: int
    values: tuple[int, ...] = ()

    @property
    def wide(self) -> bool:
        return self.place < 0


@dataclass(frozen=True, slots=True)
class CompiledClaim:
    """A claim about states: `bad` as a function of the control state, and the words that it looks at."""

    claim: SafetyClaim
    bad: Valuer
    words: tuple[PlacedVariable, ...]


@dataclass(frozen=True)
class Placing:
    """A control state of a program with `n` threads is a flat tuple: `n` program points, the small registers of all threads,
    the small words, and from `under_way` on one entry per thread for what it has under way."""

    program: Program
    values: VariableDomains

    @cached_property
    def variables(self) -> Mapping[str, PlacedVariable]:
        """Every register `T.r` and word `A.x`."""
        found: dict[str, PlacedVariable] = {}
        place = len(self.program.threads)
        for name, _ in self._initially:
            values = self.values.of[name]
            found[name] = PlacedVariable(name, -1 if values is None else place, values or ())
            place += values is not None
        return found

    @property
    def _initially(self) -> list[tuple[str, int]]:
        registers = [(f"{t.name}.{r}", value) for t in self.program.threads for r, value in t.registers]
        return registers + [(str(cell), cell.init) for cell in self.program.cells]

    @cached_property
    def under_way(self) -> int:
        return len(self.program.threads) + sum(not v.wide for v in self.variables.values())

    @cached_property
    def wide(self) -> tuple[tuple[str, int], ...]:
        """The wide registers and words with their initial values."""
        return tuple((name, value) for name, value in self._initially if self.variables[name].wide)

    @cached_property
    def initial(self) -> SmallState:
        """What a control state begins with at the start, without what is under way."""
        values = tuple(value for name, value in self._initially if not self.variables[name].wide)
        return (*(thread.entry for thread in self.program.threads), *values)

    @cached_property
    def small(self) -> Mapping[str, str]:
        """The code, over a control state `s`, of each small register and word."""
        return {name: f"s[{v.place}]" for name, v in self.variables.items() if not v.wide}

    @cached_property
    def words(self) -> tuple[PlacedVariable, ...]:
        """The variable of each word, in the order of the program's cells."""
        return tuple(self.variables[str(cell)] for cell in self.program.cells)

    def word(self, cell: Cell) -> PlacedVariable:
        return self.variables[str(cell)]

    def atom(self, atom: PointAt | EndedAtom) -> str:
        """Return the code, over a control state `s`, of an atom of a claim."""
        number = next(i for i, t in enumerate(self.program.threads) if t.name == atom.thread)
        at = points_of(self.program.threads[number], atom)
        return f"(1 if s[{number}] in {at} else 0)"

    def claim(self, claim: SafetyClaim) -> CompiledClaim:
        """Return a claim about states, compiled."""
        small = dict(self.small) | {name: self.atom(atom) for name, atom in claim.atoms}
        bad = substitute(claim.bad, {name: Const(value) for name, value in self.program.constants if name not in small})
        used = dict.fromkeys(names(bad))
        return CompiledClaim(claim, valuer(bad, small), tuple(v for v in self.words if v.name in used))

    def register(self, thread: int, name: str) -> PlacedVariable:
        return self.variables[f"{self.program.threads[thread].name}.{name}"]


def seen(variable: PlacedVariable, state: SmallState) -> Valued:
    """Return the value of a register or word: as an expression if it is wide."""
    return Name(variable.name) if variable.wide else state[variable.place]
