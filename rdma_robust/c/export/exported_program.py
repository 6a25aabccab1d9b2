"""A program that is written as C: its tree, what it means, the names of the C, and what has no C."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.diagnose import Hint, Reporter
from rdma_robust.errors import RdmaRobustError, Span
from rdma_robust.expr import OPERATORS
from rdma_robust.language.flow.cfg import Cell, Program, Thread
from rdma_robust.language.flow.looking import waits_for_value
from rdma_robust.language.load import load_decidable, written_out_tree
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import first_line
from rdma_robust.text import free_name

_KEYWORDS: Final = """
auto break case char const continue default do double else enum extern float for goto if inline int long register restrict
return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof main
abs time clock exit free signal index printf malloc memset read write send recv poll kill remove rename stdin stdout
stderr y0 y1 yn j0 j1 jn div labs log exp pow sin cos tan gamma round floor ceil errno assert
"""
KEYWORDS: Final = frozenset(_KEYWORDS.split())
"""Names that nothing of a program has in C: keywords, and functions that a compiler knows."""


class NotInCError(RdmaRobustError):
    """Something that a library of C has no call for; `hint` says what to do."""

    def __init__(self, span: Span, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.span, self.message, self.hint = span, message, hint


@dataclass(slots=True)
class ExportedProgram:
    """A program that is written as C: its tree without `for`, macros and families, what it means, and the names of the C."""

    tree: ast.ProgramTree
    program: Program
    report: Reporter
    taken: set[str] = field(default_factory=lambda: set(KEYWORDS))

    @staticmethod
    def read(text: str, file: str) -> ExportedProgram:
        """Return the program in `text`. Raises ProgramError where it is not well-formed, or only proofs can decide it."""
        return ExportedProgram(written_out_tree(text, file), load_decidable(text, file), Reporter(file, text))

    def threads(self) -> list[tuple[ast.ThreadDeclaration, Thread]]:
        """Return the threads, as they are written and as they are."""
        written = [item for item in self.tree.items if isinstance(item, ast.ThreadDeclaration)]
        return list(zip(written, self.program.threads, strict=True))

    def words_of(self, node: str) -> dict[str, list[Cell]]:
        """Return the variables of a node with their words, several of an array, in the order of the program."""
        found: dict[str, list[Cell]] = {}
        nodes = [item.name.text for item in self.tree.items if isinstance(item, ast.NodeDeclaration)]
        own = self.program.nodes[nodes.index(node)]
        for cell in self.program.cells:
            if cell.node == own and not cell.hidden:
                found.setdefault(cell.name.partition("[")[0], []).append(cell)
        return found

    def name(self, wanted: str) -> str:
        """Return a name of the whole C that nothing else has."""
        return free_name(wanted, self.taken)

    def constant(self, expr: ast.Expr) -> int:
        """Return the value of an expression over constants."""
        names = dict(self.program.constants)
        match expr:
            case ast.NumberLiteral(value):
                return value
            case ast.Ref(name=name) if name.text in names:
                return names[name.text]
            case ast.Unary("-", arg):
                return -self.constant(arg)
            case ast.Unary(_, arg):
                return int(not self.constant(arg))
            case ast.Binary(op, left, right):
                return OPERATORS[op](self.constant(left), self.constant(right))
            case _:
                raise NotInCError(expr.span, "this is no constant")

    def count(self, first: ast.Expr, last: ast.Expr | None) -> int:
        """Return how many words of an array there are from one to another."""
        if last is None or not isinstance(first, ast.Ref) or first.index is None:
            return 1
        return self.constant(last) - self.constant(first.index) + 1

    def synchronising(self) -> frozenset[Cell]:
        """Return the words that are `volatile`: those declared `sync`, or, if none is, those that a thread waits for."""
        cells = self.program.cells
        steps = (step for thread in self.program.threads for _, _, step in thread.edges)
        waited = {step.op.cell for step in steps if waits_for_value(step)}  # type: ignore[union-attr] # what waits reads
        return frozenset(cell for cell in cells if cell.sync) or frozenset(waited)

    def refuse(self, error: NotInCError) -> None:
        """Say that something cannot be written as C."""
        self.report.error("RR850", first_line(error.span), error.message, hint=Hint(error.hint))


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines of a block one step further in, but for labels."""
    return (line if line == "end:" else f"\t{line}" for line in lines)
