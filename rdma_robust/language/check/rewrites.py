"""Edits of a program's text: new names, statements before another one, declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.diagnose import Hint
from rdma_robust.errors import Edit, Span
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import statements_in, subexpressions

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Part = ast.Statement | ast.Arm
"""A statement, or what stands before one of the blocks of an `if`."""


def span_between(source: str, start: int, end: int) -> Span:
    """Return the span of a piece of `source`."""

    def place(at: int) -> tuple[int, int]:
        return source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at)

    return Span(*place(start), *place(end), start, end)


def insertion(source: str, at: int, text: str) -> Edit:
    """Return the edit that writes `text` before what stands at the offset `at`."""
    return Edit(span_between(source, at, at), text)


def at_the_top(source: str, line: str) -> Edit:
    """Return the edit that writes a line of its own before everything else."""
    return insertion(source, 1 if source.startswith("\ufeff") else 0, f"{line}\n")


def fresh_name(source: str, wanted: str) -> str:
    """Return a name that stands nowhere in `source`, not even in a comment: `wanted`, or that with a number."""
    used = set(_NAME.findall(source))
    numbered = (f"{wanted}{k}" if k > 1 else wanted for k in range(1, len(used) + 2))
    return next(name for name in numbered if name not in used)


@dataclass(frozen=True, slots=True)
class Site:
    """Where something is wrong: a part of a statement of the thread that has `body`, in the text `source`.

    `node` is the declaration of the thread's own node, None if it is not known.
    """

    source: str
    body: ast.Block | None
    node: ast.NodeDeclaration | None
    part: Part | None

    def rewritten(
        self,
        text: str,
        edits: Sequence[Edit],
        first: Sequence[str] = (),
        *,
        registers: Sequence[str] = (),
        variable: str = "",
    ) -> Hint:
        """Return the hint `text` that makes `edits` in the part, with the statements `first` before it, and declares names.

        Where the condition of a loop or an `await` is evaluated anew, the statements are repeated. A part that is no piece
        of the thread's text, as it was expanded from something, gets no edits, and the hint says that it is about a copy:
        it names what the copy has in the place of counters and parameters.
        """
        body, part = self.body, self.part
        changed = bool(edits or first)
        if changed and part is not None and part.span.origin is not None:
            return Hint(f"for this copy: {text}")
        if body is None or part is None or (changed and not _inside(part.span, body.span)):
            return Hint(text)
        if variable and self.node is None:
            return Hint(text)
        declared = [_declare_registers(self.source, body, registers)] if registers else []
        if variable and self.node is not None:
            declared.append(_declare_variable(self.source, self.node, variable))
        return Hint(text, (*declared, *self._before(body, part, first), *edits))

    def replaced(self, text: str) -> Edit:
        """Return the edit that writes `text` instead of the whole part."""
        assert self.part is not None
        return Edit(self.part.span, text)

    def _before(self, body: ast.Block, part: Part, first: Sequence[str]) -> list[Edit]:
        if not first:
            return []
        at = part.span.start
        if isinstance(part, ast.Arm):
            whole = (s for s in statements_in(body) if isinstance(s, ast.If) and any(arm is part for arm in s.arms))
            at = next((s.span.start for s in whole), at)
        edits = [insertion(self.source, at, _lines(self.source, at, first))]
        if isinstance(part, ast.While):
            edits.append(_at_the_end(self.source, part.body, first))
        if isinstance(part, ast.Assume) and part.keyword == "await":
            keyword = re.compile(r"await\s*").match(self.source, at)
            assert keyword is not None
            edits.append(Edit(span_between(self.source, at, keyword.end()), "while !("))
            edits.append(insertion(self.source, part.span.end, f") {{ {'; '.join(first)} }}"))
        return edits


def references(expr: ast.Expr, changed: bool = True) -> Iterator[ast.Ref]:
    """Yield the references in an expression, also in indices; unless `changed`, not what an atomic operation changes."""
    parts = subexpressions(expr)
    if isinstance(expr, ast.Ref):
        yield expr
        parts = () if expr.index is None else (expr.index,)
    elif isinstance(expr, ast.AtomicCall) and not changed:
        parts = parts[1:]
    for part in parts:
        yield from references(part, changed)


def replacing(old: ast.Ref, new: str, expr: ast.Expr) -> list[Edit]:
    """Return the edits that write `new` for every reference that is read in `expr` and equal to `old`."""
    return [Edit(ref.span, new) for ref in references(expr, changed=False) if ref == old]


def _inside(span: Span, block: Span) -> bool:
    return block.start <= span.start < span.end <= block.end


def _lead(source: str, at: int) -> str | None:
    """Return the white space before what stands at `at`, if that is the first of its line."""
    lead = source[source.rfind("\n", 0, at) + 1 : at]
    return None if lead.strip() else lead


def _lines(source: str, at: int, statements: Sequence[str]) -> str:
    """Return the statements as they stand before the one at `at`: on lines of their own if that has one."""
    lead = _lead(source, at)
    return "".join(f"{each}; " if lead is None else f"{each}\n{lead}" for each in statements)


def _at_the_end(source: str, block: ast.Block, statements: Sequence[str]) -> Edit:
    """Return the edit that adds statements at the end of a block."""
    at = block.span.end - 1
    lead = _lead(source, at)
    if lead is None:
        return insertion(source, at, f"; {'; '.join(statements)} " if block.statements else f"{'; '.join(statements)} ")
    inside = (_lead(source, block.statements[-1].span.start) if block.statements else None) or f"{lead}  "
    own = inside.removeprefix(lead)
    return insertion(source, at, "".join(f"{own}{each}\n{lead}" for each in statements))


def _declare_registers(source: str, body: ast.Block, names: Sequence[str]) -> Edit:
    """Return the edit that declares registers at the start of a thread."""
    at = body.span.start + 1
    rest = source[at : source.find("\n", at)] if "\n" in source[at : body.span.end] else "}"
    if rest.strip() or not body.statements:
        return insertion(source, at, f" reg {', '.join(names)};")
    lead = _lead(source, body.statements[0].span.start)
    return insertion(source, at, f"\n{'  ' if lead is None else lead}reg {', '.join(names)}")


def _declare_variable(source: str, node: ast.NodeDeclaration, name: str) -> Edit:
    if node.cells:
        return insertion(source, node.cells[-1].span.end, f", {name}")
    return insertion(source, node.span.end - 1, f"{name} ")
