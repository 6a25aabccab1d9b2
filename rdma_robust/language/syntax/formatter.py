"""Programs in their one layout, comments kept.

One statement per line, blocks indented by two, at most one empty line in a row; a block of one short statement stays on
the line of its keyword. A comment stays behind the line it follows, in its column if there is room, or on lines of its
own above what it precedes; one in the middle of a line moves above that line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from lark import Token

from rdma_robust.diagnose import Reporter
from rdma_robust.errors import InternalError, Span
from rdma_robust.language.syntax import ast, printer
from rdma_robust.language.syntax.grammar import Grammar, load_grammar
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.language.syntax.tree_limits import blocks_of

WIDTH: Final = 100
SHORT: Final = 80
_INDENT: Final = "  "
_BETWEEN: Final = " \t\r\f\ufeff;,"


Contract = tuple[str, Span, list[tuple[int, str, Span]]]
"""The line that begins a contract, where that stood, and the lines in it: how far each is indented, and where it stood."""


@dataclass(frozen=True, slots=True)
class Style:
    """A language as it is printed: its grammar, the one text of declarations, statements and expressions, and what stands
    between the first line of a declaration and its block.
    """

    grammar: Callable[[], Grammar]
    item: Callable[[Any], str]
    statement: Callable[[Any], str]
    expression: Callable[[Any], str]
    contract: Callable[[Any], Contract | None] = lambda _: None


RDMA_STYLE: Final = Style(load_grammar, printer.item, printer.statement, printer.expression)


def format_source(text: str, file: str, style: Style = RDMA_STYLE) -> str:
    """Return `text` in canonical layout, ending with a line end unless it is empty.

    Raises ProgramError with every syntax error; names are not checked, so also unfinished programs can be formatted.
    """
    tree, comments = _parse(text, file, style)
    result = _Formatter(text, comments, style).program(tree)
    again, comments_again = _parse(result, file, style)
    # Comparing the trees themselves could exceed the recursion limit.
    same = format_tree(again, style) == format_tree(tree, style)
    if not same or Counter(map(_normal, comments)) != Counter(map(_normal, comments_again)):
        raise InternalError(f"{file}: formatting would change the program")
    return result


def format_tree(tree: ast.ProgramTree, style: Style = RDMA_STYLE) -> str:
    """Return a syntax tree as a program in canonical layout, without comments and empty lines."""
    return _Formatter("", (), style).program(tree)


def _parse(text: str, file: str, style: Style) -> tuple[ast.ProgramTree, list[Token]]:
    report = Reporter(file, text)
    tree, layout, _ = parse_tree(text, report, style.grammar())
    report.raise_errors()
    assert tree is not None
    return tree, layout.comments


def _normal(comment: Token) -> str:
    return "\n".join(line.rstrip() for line in comment.split("\n"))


class _Formatter:
    """Walks the tree and puts each comment in as soon as the walk has come to it."""

    def __init__(self, source: str, comments: Sequence[Token], style: Style) -> None:
        self._style = style
        self._source = source
        self._comments = list(reversed(comments))
        self._lines: list[str] = []
        self._depth = 0
        self._last = 0
        self._at_start = True

    def program(self, tree: ast.ProgramTree) -> str:
        for item in tree.items:
            self._item(item)
        self._comments_before(len(self._source) + 1)
        return "".join(f"{line}\n" for line in self._lines)

    def _item(self, item: ast.Item) -> None:
        body = getattr(item, "body", None)
        contract = self._style.contract(item)
        if isinstance(body, ast.Block) and contract is not None:
            self._with_contract(self._style.item(item), contract, body, item.span)
        elif isinstance(body, ast.Block):
            self._with_blocks([self._style.item(item)], [body], item.span)
        elif isinstance(item, ast.NodeDeclaration):
            self._node(item)
        else:
            self._line(self._style.item(item), item.span)

    def _node(self, item: ast.NodeDeclaration) -> None:
        cells = [printer.cell_text(c) for c in item.cells]
        name = printer.item(item)
        short = f"{name} {{ {', '.join(cells)} }}" if cells else f"{name} {{ }}"
        last = item.via.span if item.via is not None else item.name.span if item.family is None else item.family.span
        if len(short) <= WIDTH and not self._comment_in(last.end, item.span.end):
            self._line(short, item.span)
            return
        head = Span(item.span.line, item.span.column, last.end_line, 0, item.span.start, last.end)
        self._line(f"{name} {{", head, "{]" if item.family or item.via else "{")
        self._indent()
        for cell, text in zip(item.cells, cells, strict=True):
            self._line(text, cell.span)
        self._comments_before(item.span.end)
        self._dedent()
        self._put("}")
        self._trailing(item.span.end, item.span.end_line)

    def _with_contract(self, head: str, contract: Contract, body: ast.Block, span: Span) -> None:
        """Write a declaration or loop with a contract before its block."""
        first, where, lines = contract
        begin = where.start + self._source[where.start : where.end].find("{") + 1
        self._above(replace(span, end=begin))
        self._put(head)
        self._put(f"{first} {{")
        self._trailing(begin, self._source.count("\n", 0, begin) + 1)
        self._indent()
        for depth, text, at in lines:
            self._depth += depth
            self._line(text, at, ":")
            self._depth -= depth
        self._comments_before(where.end)
        self._dedent()
        moved = self._take(body.span.start + 1)
        short = self._short("}", body)
        if short and not moved and not self._comment_in(body.span.start, body.span.end):
            self._put(short)
        else:
            self._put("} {")
            self._trailing(body.span.start + 1, body.span.line, "{")
            self._body(body, moved)
            self._put("}")
        self._trailing(span.end, span.end_line)

    def _statements(self, statements: Sequence[ast.Statement]) -> None:
        """Write statements with their labels before them; a label that stands before nothing gets a `skip`."""
        label: ast.LabelStatement | None = None
        for statement in (*statements, None):
            if label is not None and (statement is None or isinstance(statement, ast.LabelStatement)):
                self._line(f"{self._style.statement(label)} skip", label.span)
                label = None
            if isinstance(statement, ast.LabelStatement):
                label = statement
            elif statement is not None:
                self._statement(statement, label)
                label = None

    def _statement(self, statement: ast.Statement, label: ast.LabelStatement | None) -> None:
        text = self._style.statement(statement)
        span = statement.span
        if label is not None:
            text = f"{self._style.statement(label)} {text}"
            span = replace(span, line=label.span.line, column=label.span.column, start=label.span.start)
        match statement:
            case ast.If(arms, otherwise):
                heads = [text, *(f"else if {self._style.expression(arm.condition)}" for arm in arms[1:])]
                blocks = [arm.block for arm in arms]
                if otherwise is not None:
                    heads.append("else")
                    blocks.append(otherwise)
                self._with_blocks(heads, blocks, span)
            case ast.While(body=body) | ast.Loop(body) | ast.For(body=body):
                contract = self._style.contract(statement)
                if contract is None:
                    self._with_blocks([text], [body], span)
                else:
                    self._with_contract(text, contract, body, span)
            case ast.Choose(branches):
                heads = [text, *("or" for _ in branches[1:])]
                self._with_blocks(heads, list(branches), span)
            case _:
                self._line(text, span)

    def _with_blocks(self, heads: list[str], blocks: list[ast.Block], span: Span) -> None:
        """Write `head { ... } head { ... }`; a short block stays on its line."""
        prefix = ""
        begin = span.start
        for k, (head, block) in enumerate(zip(heads, blocks, strict=True)):
            inside = Span(span.line, span.column, block.span.line, 0, span.start, block.span.start + 1)
            since = block.span.start if k == 0 else begin
            short = self._short(f"{prefix}{head}", block)
            if short and not self._comment_in(since, block.span.end):
                if k == 0:
                    self._above(inside)
                prefix = f"{short} "
                begin = block.span.end
                continue
            if k == 0:
                self._line(f"{head} {{", inside)
                moved = []
            else:
                moved = self._take(inside.end)
                self._put(f"{prefix}{head} {{")
                self._trailing(inside.end, inside.end_line)
            self._body(block, moved)
            prefix = "} "
            begin = block.span.end
        self._put(prefix.rstrip())
        self._trailing(span.end, span.end_line)

    def _short(self, head: str, block: ast.Block) -> str:
        """Return `head { statement }` if that fits one line, else nothing."""
        match block.statements:
            case ():
                return f"{head} {{ }}"
            case (statement,) if not blocks_of(statement) and not isinstance(statement, ast.LabelStatement):
                line = f"{head} {{ {self._style.statement(statement)} }}"
                return line if len(line) + len(_INDENT) * self._depth <= SHORT else ""
            case (ast.LabelStatement() as label, statement) if not blocks_of(statement) and not isinstance(
                statement, ast.LabelStatement
            ):
                line = f"{head} {{ {self._style.statement(label)} {self._style.statement(statement)} }}"
                return line if len(line) + len(_INDENT) * self._depth <= SHORT else ""
            case _:
                return ""

    def _body(self, block: ast.Block, moved: list[Token]) -> None:
        self._indent()
        for comment in moved:
            self._own_lines(comment, self._last)
        self._statements(block.statements)
        self._comments_before(block.span.end)
        self._dedent()

    def _indent(self) -> None:
        self._depth += 1
        self._at_start = True

    def _dedent(self) -> None:
        self._depth -= 1
        self._at_start = False

    def _line(self, text: str, span: Span, brackets: str = "") -> None:
        """Write what stands at `span`, after the comments before its end and with those behind it."""
        self._above(span)
        self._put(text)
        self._trailing(span.end, span.end_line, brackets)

    def _above(self, span: Span) -> None:
        """Write the comments before `span` and those in it, and the empty line before it if there was one."""
        self._comments_before(span.start)
        inner = self._take(span.end)
        self._space(span.line)
        for comment in inner:
            self._own_lines(comment, span.line)
            self._last = span.line
        self._last = span.line

    def _space(self, line: int) -> None:
        """Keep an empty line before something that stood in this line of the source."""
        if line - self._last > 1 and not self._at_start and self._source:
            self._lines.append("")
        self._last = max(self._last, line)

    def _put(self, text: str) -> None:
        self._lines.append(_INDENT * self._depth + text)
        self._at_start = False

    def _comment_in(self, start: int, end: int) -> bool:
        return any(start <= (c.start_pos or 0) < end for c in reversed(self._comments))

    def _take(self, end: int) -> list[Token]:
        """Take the comments that begin before `end`."""
        taken = []
        while self._comments and (self._comments[-1].start_pos or 0) < end:
            taken.append(self._comments.pop())
        return taken

    def _comments_before(self, end: int) -> None:
        for comment in self._take(end):
            self._own_lines(comment, comment.line or 0)
            self._last = max(self._last, comment.end_line or 0)

    def _own_lines(self, comment: Token, line: int) -> None:
        self._space(line)
        first, *rest = _normal(comment).split("\n")
        self._put(first)
        self._lines.extend(rest)

    def _trailing(self, end: int, line: int, brackets: str = "") -> None:
        """Put comments that follow on the same line behind the last line."""
        self._last = max(self._last, line)
        first_one = True
        while self._comments:
            comment = self._comments[-1]
            start = comment.start_pos or 0
            if comment.line != line or self._source[end:start].strip(_BETWEEN + brackets):
                return
            self._comments.pop()
            first, *rest = _normal(comment).split("\n")
            room = self._column(comment, start) if first_one else len(self._lines[-1]) + 1
            self._lines[-1] = self._lines[-1].ljust(room) + first
            self._lines.extend(rest)
            end, line, first_one = comment.end_pos or 0, comment.end_line or 0, False
            self._last = max(self._last, line)

    def _column(self, comment: Token, start: int) -> int:
        """Return where a comment behind the last line goes: where it was, if the line is the same and there is room."""
        line = self._lines[-1]
        column = (comment.column or 1) - 1
        before = self._source[start - column : start].rstrip(_BETWEEN)
        same = "".join(before.split()) == "".join(line.split())
        return max(column, len(line) + 2) if same else len(line) + 2
