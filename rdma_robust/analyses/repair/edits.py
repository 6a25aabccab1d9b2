"""Edits of program text that keep comments and layout: statements put in and taken out, words declared.

A :class:`Gap` is a point between two statements of a block. What is put there gets lines of its own where the layout
has room for lines, and stands on the line of its neighbours where they share one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from lark import Token

from rdma_robust.analyses.repair.repairs import TextEdit
from rdma_robust.diagnose import Reporter
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.grammar import load_grammar
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.language.syntax.tree_limits import blocks_of

_INDENT: Final = "  "
_BLANK: Final = " \t\r\f"


@dataclass(frozen=True, slots=True)
class SourceEdit:
    """Replace `removed` characters at `offset` by `text`; `new` are the half-open parts of `text` that are statements."""

    offset: int
    text: str
    removed: int = 0
    new: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """Before statement `index` of `block` (behind the last one if there is none) in thread number `thread`.

    `depth` counts the loops around it.
    """

    thread: int
    block: ast.Block
    index: int
    depth: int

    @property
    def before(self) -> ast.Statement | None:
        return self.block.statements[self.index - 1] if self.index else None

    @property
    def after(self) -> ast.Statement | None:
        return self.block.statements[self.index] if self.index < len(self.block.statements) else None


@dataclass(frozen=True)
class SourceText:
    """A program's text with what its layout is made of. `comments` maps the offset of a comment to its end."""

    text: str
    tree: ast.ProgramTree
    tokens: tuple[Token, ...]
    comments: dict[int, int] = field(hash=False)

    @staticmethod
    def of(text: str, file: str) -> SourceText:
        """Parse `text`. Raises ProgramError."""
        report = Reporter(file, text)
        tree, layout, _ = parse_tree(text, report)
        report.raise_errors()
        assert tree is not None
        comments = {c.start_pos or 0: c.end_pos or 0 for c in layout.comments}
        return SourceText(text, tree, tuple(layout.tokens), comments)

    @property
    def threads(self) -> list[ast.ThreadDeclaration]:
        return [item for item in self.tree.items if isinstance(item, ast.ThreadDeclaration)]

    def identifiers(self) -> frozenset[str]:
        """Every word that occurs, whatever it names, and the words of the language."""
        return frozenset(str(t) for t in self.tokens if str(t).isidentifier()) | {*load_grammar().keywords.values()}

    def insert(self, place: Gap, statements: Sequence[str]) -> SourceEdit:
        """Return the edit that puts `statements`, at least one, at a place."""
        before, after = place.before, place.after
        start = place.block.span.start + 1 if before is None else before.span.end
        if (end := self._rest_of_line(start)) is None:
            return self._inline(place, start, statements)
        if before is not None:
            indent = self._indent_of(before.span.start)
        elif after is not None and not self.text[self._line_start(after.span.start) : after.span.start].strip(_BLANK):
            indent = self._indent_of(after.span.start)
        else:
            indent = self._indent_of(place.block.span.start) + _INDENT
        line_end = "\r\n" if self.text[end - 1 : end] == "\r" else "\n"
        return _joined(end + 1, ((indent, s, line_end) for s in statements))

    def remove(self, statement: ast.Statement) -> SourceEdit:
        """Return the edit that takes a statement out: with its line if nothing else is on it, a comment stays."""
        start, end = statement.span.start, statement.span.end
        line = self._line_start(start)
        if not self.text[line:start].strip(_BLANK):
            rest = end
            while self.text[rest : rest + 1] in (*_BLANK, ";") and rest < len(self.text):
                rest += 1
            if self.text[rest : rest + 1] == "\n":
                return SourceEdit(line, "", rest + 1 - line)
            if rest in self.comments:
                return SourceEdit(start, "", rest - start)
        rest = self._skip_blanks(end)
        if self.text[rest : rest + 1] == ";":
            return SourceEdit(start, "", self._skip_blanks(rest + 1) - start)
        before = len(self.text[:start].rstrip(" \t"))
        begin = before - 1 if self.text[before - 1 : before] == ";" else start
        return SourceEdit(begin, "", end - begin)

    def _skip_blanks(self, offset: int) -> int:
        while self.text[offset : offset + 1] in (" ", "\t"):
            offset += 1
        return offset

    def declare(self, node: ast.NodeDeclaration, words: Sequence[str]) -> SourceEdit:
        """Return the edit that declares more words (`name` or `name = value`), at least one, on a node."""
        if not node.cells:
            brace = next(
                t.start_pos or 0 for t in self.tokens if t.type == "LBRACE" and (t.start_pos or 0) >= node.name.span.end
            )
            lead = "" if self.text[brace + 1 : brace + 2] in (" ", "\n", "\r") else " "
            return SourceEdit(brace + 1, f" {', '.join(words)}{lead}")
        last = node.cells[-1].span
        return SourceEdit(last.end, "".join(f", {word}" for word in words))

    def expect_robust(self) -> list[SourceEdit]:
        """Return the edits after which an `expect` line expects robustness, and `outcome` lines with claims under both
        models claim under RDMA what they do under sequential consistency.
        """
        return [*self._claims(self._held), *self._expectation(self._held)]

    def expect_safe(self, model: AnyModelName) -> list[SourceEdit]:
        """Return the edits after which an `expect` line that expects violations under a model expects none."""
        claims = (claim for item in self.tree.items if isinstance(item, ast.Expect) for claim in item.expectations)
        unsafe = (c.span.start for c in claims if c.kind == "safe" and c.negated and c.model == model)
        return [SourceEdit(start, "safe", len("unsafe")) for start in unsafe]

    @cached_property
    def _held(self) -> frozenset[int]:
        """Return where the outcomes and expectations begin that are about the numbers that there are, not about others."""
        program = load_program(self.text, "")
        spans = (*(line.span for line in program.outcomes), *(each.span for each in program.expectations))
        return frozenset(span.start for span in spans)

    def _claims(self, held: frozenset[int]) -> Iterator[SourceEdit]:
        for item in self.tree.items:
            if isinstance(item, ast.OutcomeDeclaration) and item.span.start in held:
                under_sc = [claim.allowed for claim in item.claims if claim.model == "sc"]
                for claim in item.claims:
                    if claim.model == "rdma" and under_sc and claim.allowed != under_sc[0]:
                        old, new = ("allowed", "forbidden") if claim.allowed else ("forbidden", "allowed")
                        yield SourceEdit(claim.span.start, new, len(old))

    def _expectation(self, held: frozenset[int]) -> list[SourceEdit]:
        for item in self.tree.items:
            claims = item.expectations if isinstance(item, ast.Expect) else ()
            for claim in (c for c in claims if c.kind == "robust" and c.negated and c.span.start in held):
                word = next(t for t in self.tokens if t.type == "NOT" and (t.start_pos or 0) >= claim.span.start)
                after = next(t for t in self.tokens if t.type == "ROBUST" and (t.start_pos or 0) > (word.start_pos or 0))
                start = word.start_pos or 0
                return [SourceEdit(start, "", (after.start_pos or 0) - start)]
        return []

    def _inline(self, place: Gap, start: int, statements: Sequence[str]) -> SourceEdit:
        if place.before is not None:
            brace = self.text[start - 1 : start] == "}" and place.after is not None
            return _joined(start, (("; ", s, ";" * (brace and k == len(statements) - 1)) for k, s in enumerate(statements)))
        last = ";" if place.after is not None else ""
        ends = [";"] * (len(statements) - 1) + [last]
        edit = _joined(start, ((" ", s, e) for s, e in zip(statements, ends, strict=True)))
        crowded = self.text[start : start + 1] not in (" ", "\t", "\n", "\r")
        return SourceEdit(edit.offset, edit.text + " " * crowded, 0, edit.new)

    def _rest_of_line(self, offset: int) -> int | None:
        """Return where the line of `offset` ends if only blanks, `;` and comments that end on it follow, else None."""
        while offset < len(self.text):
            if offset in self.comments:
                end = self.comments[offset]
                if "\n" in self.text[offset:end]:
                    return None
                offset = end
            elif self.text[offset] == "\n":
                return offset
            elif self.text[offset] in _BLANK or self.text[offset] == ";":
                offset += 1
            else:
                return None
        return None

    def _line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def _indent_of(self, offset: int) -> str:
        line = self.text[self._line_start(offset) : offset]
        return line[: len(line) - len(line.lstrip(" \t"))]


def _joined(offset: int, parts: Iterable[tuple[str, str, str]]) -> SourceEdit:
    """Return the edit that inserts each part's lead, statement and end."""
    text = ""
    new = []
    for lead, statement, end in parts:
        new.append((len(text) + len(lead), len(text) + len(lead) + len(statement)))
        text += lead + statement + end
    return SourceEdit(offset, text, 0, tuple(new))


def disjoint_edits(edits: Sequence[SourceEdit]) -> list[SourceEdit]:
    """Return removals without the parts that another one before them removes already."""
    found: list[SourceEdit] = []
    end = 0
    for edit in sorted(edits, key=lambda e: (e.offset, -e.removed)):
        last = edit.offset + edit.removed
        if last > end:
            begin = max(edit.offset, end)
            found.append(SourceEdit(begin, edit.text, last - begin))
            end = last
    return found


def apply_edits(text: str, edits: Sequence[SourceEdit]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the text after `edits`, and where its new statements are.

    The edits must not overlap; those at the same offset keep their order.
    """
    parts: list[str] = []
    new: list[tuple[int, int]] = []
    at = length = 0
    for edit in sorted(edits, key=lambda e: e.offset):
        assert edit.offset >= at, "edits overlap"
        parts += (text[at : edit.offset], edit.text)
        length += edit.offset - at
        new += ((length + a, length + b) for a, b in edit.new)
        length += len(edit.text)
        at = edit.offset + edit.removed
    parts.append(text[at:])
    return "".join(parts), tuple(new)


def text_edits(text: str, edits: Sequence[SourceEdit]) -> tuple[TextEdit, ...]:
    """Return `edits` with lines and columns, in the order of the text."""
    found = []
    for edit in sorted(edits, key=lambda e: e.offset):
        (line, column), end = _position(text, edit.offset), _position(text, edit.offset + edit.removed)
        found.append(TextEdit(edit.offset, edit.removed, line, column, *end, edit.text))
    return tuple(found)


def one_edit(old: str, new: str) -> TextEdit:
    """Return the edit that makes `new` out of `old` in one piece."""
    start = _alike(old, new)
    same = _alike(old[start:][::-1], new[start:][::-1])
    return text_edits(old, [SourceEdit(start, new[start : len(new) - same], len(old) - start - same)])[0]


def _alike(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((k for k, (a, b) in pairs if a != b), min(len(one), len(other)))


def _position(text: str, offset: int) -> tuple[int, int]:
    start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - start + 1


def gaps(source: SourceText, *, await_loops: bool = False) -> list[Gap]:
    """Return the places of every thread in source order, one of those that no event lies between.

    Registers and `skip` make no events, nothing runs behind a `halt`, and a label stays at its statement; with
    `await_loops`, a loop that only waits is one blocking read and has no inside. Inside of a `for` and of a macro there are
    none: what is put there stands at many program points, in many threads.
    """
    found: list[Gap] = []
    for number, thread in enumerate(source.threads):
        found += _places_in(thread.body, number, 0, await_loops)
    return found


def _places_in(block: ast.Block, thread: int, depth: int, await_loops: bool) -> Iterator[Gap]:
    idle = ast.Registers | ast.Lanes | ast.Skip
    statements = block.statements
    first = next((k for k, s in enumerate(statements) if not isinstance(s, idle)), len(statements))
    yield Gap(thread, block, first, depth)
    for k in range(first, len(statements)):
        statement = statements[k]
        if isinstance(statement, ast.Halt):
            return
        inner = depth + isinstance(statement, ast.While | ast.Loop)
        waits = isinstance(statement, ast.While) and all(isinstance(s, idle) for s in statement.body.statements)
        if not (waits and await_loops) and not isinstance(statement, ast.For):
            for inside in blocks_of(statement):
                yield from _places_in(inside, thread, inner, await_loops)
        if not isinstance(statement, idle | ast.LabelStatement):
            yield Gap(thread, block, k + 1, depth)
