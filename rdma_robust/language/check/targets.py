"""Targets of reachability questions: conditions over a state, as in `T1 ended && B.y == 1` (grammars/target.lark)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lark import Lark, Token, UnexpectedCharacters, UnexpectedToken

from rdma_robust import grammar_tables
from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import Span
from rdma_robust.expr import Expr, Name, conj
from rdma_robust.language.check.meaning import check_presence, divides_by_no_zero
from rdma_robust.language.check.names import ProgramNames
from rdma_robust.language.check.outcome_lines import StateResolver
from rdma_robust.language.check.resolve import UNKNOWN
from rdma_robust.language.flow import cfg, claims
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax import tree_limits as limits
from rdma_robust.language.syntax.common_tree import span_from, token_span
from rdma_robust.language.syntax.expressions import comparisons_in_a_row, two_readings
from rdma_robust.language.syntax.layout import MAX_DIGITS
from rdma_robust.language.syntax.tree import TreeBuilder

FILE: Final = "--target"
"""What diagnostics call the text of a target."""

MAX_LENGTH: Final = 10_000
"""Characters of a target."""

MAX_LEVELS: Final = 200
"""Levels of operators; `a && b && c` has one for each `&&`. Later passes recurse over them."""

DRAINED: Final = "drained"


@dataclass(frozen=True, slots=True)
class ThreadAtExit:
    """`T ended`: the thread is at its exit."""

    thread: str


@dataclass(frozen=True, slots=True)
class ThreadAtLine:
    """`T at 12`: the thread has not ended, and a statement of that line is among those it can do next.

    Under SC a put or get that is half done is all that its thread can do next.
    """

    thread: str
    line: int


@dataclass(frozen=True, slots=True)
class DrainedAtom:
    """No remote operation is under way: every one posted has read and written memory, every fence has passed."""


@dataclass(frozen=True, slots=True)
class ThreadAtPoints:
    """`T at LABEL`: the thread is at one of these program points, or half through a put or get of one under SC."""

    thread: str
    points: tuple[int, ...]


Atom = ThreadAtExit | ThreadAtLine | DrainedAtom | ThreadAtPoints


@dataclass(frozen=True)
class CopyCountAtom:
    """How many copies of the template `thread` are in a state with this condition: over their registers as `C.r`, the words
    of their own node as `Client.x`, registers of named threads, words that are shared, and `atoms`, those of `C` about the
    copy."""

    thread: str
    condition: Expr
    atoms: tuple[tuple[str, Atom], ...] = ()


@dataclass(frozen=True)
class StateTarget:
    """`condition` is over the names `Thread.register` and `Node.cell`, those of `atoms`, which are 0 or 1, and those of
    `counts`, numbers of copies.

    `text` is how it was written.
    """

    text: str
    condition: Expr
    atoms: tuple[tuple[str, Atom], ...] = ()
    counts: tuple[tuple[str, CopyCountAtom], ...] = ()


@dataclass(frozen=True, slots=True)
class _AtLine:
    """`thread at line` in the tree, as written."""

    span: Span
    thread: ast.Ident
    line: Token


class _BadNumberError(Exception):
    """Carries the token."""


class _Builder(TreeBuilder):
    def target(self, parts: list[Any]) -> Any:
        return parts[0]

    def number(self, parts: list[Any]) -> ast.NumberLiteral:
        if not parts[0].isdigit() or len(parts[0]) > MAX_DIGITS:
            raise _BadNumberError(parts[0])
        return super().number(parts)

    def at(self, parts: list[Any]) -> _AtLine:
        return _AtLine(span_from(parts[0], parts[-1]), parts[0], parts[-1])


@functools.cache
def _parser() -> Lark:
    return grammar_tables.parser("target", _Builder())


class _Resolver(StateResolver):
    """Resolves targets; what is said of threads becomes names of `atoms`."""

    WHAT = "a target"

    def __init__(self, world: ProgramNames, report: Reporter, threads: dict[str, cfg.Thread]) -> None:
        super().__init__(world, report, "target")
        self.threads = threads
        self.found: dict[str, Atom] = {}

    def named(self, ref: ast.Ref) -> Expr:
        if ref.owner is None and ref.index is None and ref.name.text == DRAINED and DRAINED not in self.world.constants:
            return self._atom(DRAINED, DrainedAtom())
        return super().named(ref)

    def resolve(self, expr: ast.Expr | _AtLine) -> Expr:
        if not isinstance(expr, _AtLine):
            return super().resolve(expr)
        known = self.thread(expr.thread)
        if known is None:
            return UNKNOWN
        thread = self.threads[known.name]
        lines = sorted({n for _, _, step in cfg.steps(thread) for n in (step.span.line, *step.span.expanded_from)})
        if not str(expr.line).isdigit() or int(expr.line) not in lines:
            self.report.error(
                "RR505",
                token_span(expr.line),
                f"thread {thread.name} has no statement on line {expr.line}",
                expected=f"one of the lines {', '.join(map(str, lines[:20]))}{', ...' * (len(lines) > 20)}"
                if lines
                else "a thread with statements",
            )
            return UNKNOWN
        return self._atom(f"{thread.name} at {int(expr.line)}", ThreadAtLine(thread.name, int(expr.line)))

    def _atom(self, name: str, atom: Atom) -> Expr:
        self.found[name] = atom
        return Name(name)

    @property
    def every(self) -> tuple[tuple[str, Atom], ...]:
        """What the condition says of threads and of the network."""
        states = ((name, self._state(atom)) for name, atom in self.atoms.items())
        return *states, *self.found.items()

    def said_of_threads(self) -> dict[str, Any]:
        said, self.found = self.found, {}
        return {**super().said_of_threads(), **said}

    def also_said(self, atoms: Mapping[str, Any]) -> None:
        said = {name: atom for name, atom in atoms.items() if isinstance(atom, claims.PointAt | claims.EndedAtom)}
        super().also_said(said)
        self.found |= {name: atom for name, atom in atoms.items() if name not in said}

    def counted(self) -> tuple[tuple[str, CopyCountAtom], ...]:
        """Return what the condition asks of numbers of copies."""
        return tuple(
            (name, CopyCountAtom(each.thread, each.condition, self._states(each.atoms)))
            for name, each in self.counts.items()
        )

    def _states(self, atoms: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Atom], ...]:
        placed = claims.PointAt | claims.EndedAtom
        return tuple((name, self._state(atom) if isinstance(atom, placed) else atom) for name, atom in atoms)

    def _state(self, atom: claims.PointAt | claims.EndedAtom) -> Atom:
        if isinstance(atom, claims.EndedAtom):
            return ThreadAtExit(atom.thread)
        return ThreadAtPoints(atom.thread, self.threads[atom.thread].points_at(atom.label))


def target_reader(text: str) -> Callable[[ProgramNames, tuple[cfg.Thread, ...]], StateTarget]:
    """Return what resolves the target `text` in a program's names.

    It raises ProgramError, whose source is the target, if the text is none or means nothing there.
    """

    line = "".join(" " if c.isspace() else c for c in text)

    def read(world: ProgramNames, threads: tuple[cfg.Thread, ...]) -> StateTarget:
        report = Reporter(FILE, line)
        tree = _parse(line, report)
        resolver = _Resolver(world, report, {t.name: t for t in threads})
        condition = resolver.resolve(tree) if tree is not None else UNKNOWN
        report.raise_errors()
        whole = conj(divides_by_no_zero(condition), condition)
        check_presence(whole, resolver.spans, report, "a target")
        report.raise_errors()
        return StateTarget(" ".join(text.split()), whole, resolver.every, resolver.counted())

    return read


def _parse(text: str, report: Reporter) -> Any:
    """Return the tree, None after an error."""
    expected = "a condition such as `T1 ended && B.y == 1`"
    if len(text) > MAX_LENGTH:
        report.error("RR504", _point(0), f"this target is longer than {MAX_LENGTH} characters")
        return None
    try:
        tree: Any = _parser().parse(text)
    except _BadNumberError as error:
        report.error("RR503", token_span(error.args[0]), f"a number has at most {MAX_DIGITS} digits and no letters")
    except UnexpectedToken as error:
        token = error.token
        if token.type == "$END":
            end = len(text.rstrip())
            report.error("RR503", _point(end), "the target ends too early", expected=expected)
        elif str(token) == "=":
            report.error("RR503", token_span(token), "unexpected `=`", hint="equality is written `==`")
        else:
            report.error("RR503", token_span(token), f"unexpected {quote(str(token))}", expected=_expected(error, expected))
    except UnexpectedCharacters as error:
        place = _point(error.pos_in_stream or 0)
        hint = "equality is written `==`" if error.char == "=" else ""
        report.error("RR503", place, f"unexpected {quote(error.char)}", expected="" if hint else expected, hint=hint)
    else:
        if limits.expression_depth(tree) > MAX_LEVELS:
            report.error("RR504", _point(0), f"this target has more than {MAX_LEVELS} levels of operators")
            return None
        for row in comparisons_in_a_row(tree, limits.subexpressions):
            report.error("RR111", row.span, "comparisons in a row", expected="one comparison", hint=two_readings(row, text))
        return tree
    return None


def _expected(error: UnexpectedToken, condition: str) -> str:
    if "OP_AND" in error.accepts | error.expected:
        return "`&&`, `||`, a comparison, or the end of the target"
    return condition


def _point(at: int) -> Span:
    return Span(1, at + 1, 1, at + 2, at, at + 1)
