"""The exception tree, and diagnostics with source spans.

Every exception this package raises on purpose derives from :class:`RdmaRobustError`; the command line
turns each into a message and an exit code, so no traceback reaches a user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open piece of source text: 1-based lines and columns, 0-based character offsets.

    `file` is empty inside of a text whose reader knows it. What was expanded (from a macro, an instance of a family, a line
    of another language) has the span of the result; `origin` is that from which it was expanded, which may have one too.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int
    file: str = ""
    origin: Span | None = None

    def chain(self) -> Iterator[Span]:
        """Yield what this was expanded from, the last expansion first."""
        at = self.origin
        while at is not None:
            yield at
            at = at.origin

    def within(self, file: str) -> Span:
        """Return this as it is in `file`: what stands in another, as a library, is where it was expanded from."""
        return next((each for each in (self, *self.chain()) if each.file in ("", file)), self)

    @property
    def expanded_from(self) -> tuple[int, ...]:
        """The lines of the same file that this was expanded from, the last expansion first."""
        return tuple(origin.line for origin in self.chain() if origin.file in ("", self.file))

    @property
    def elsewhere(self) -> str:
        """The file, if it is a place of another one than the text: it has no characters of that; '' else."""
        return "" if self.end else self.file.removeprefix("./")

    @property
    def places(self) -> tuple[str, ...]:
        """The line, and those that it was expanded from, the last expansion first; of another file with its name."""
        chain = (self, *self.chain()) if self.elsewhere else (self, *(o for o in self.chain() if o.file in ("", self.file)))
        return tuple(f"{each.elsewhere}:{each.line}" if each.elsewhere else str(each.line) for each in chain)

    @property
    def beginning(self) -> tuple[tuple[str, int, int], ...]:
        """Where it begins, with what it was expanded from: alike of all parts of a statement that begin with it."""
        return tuple((each.file, each.line, each.column) for each in (self, *self.chain()))

    @property
    def where(self) -> str:
        """The places as words: `5`, or `5 from 21`, or `ring.h:5 from 21`."""
        return " from ".join(self.places)

    @staticmethod
    def of_line(file: str, line: int) -> Span:
        """Return the span of a line of another file, for an `origin`."""
        return Span(line, 1, line, 1, 0, 0, file)


_MAX_ORIGIN = 60
NO_SPAN = Span(1, 1, 1, 1, 0, 0)


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of a text, and what to write there instead; an empty piece is a place at which to insert."""

    span: Span
    text: str


def edited(source: str, edits: Iterable[Edit]) -> str:
    """Return `source` after all `edits`, whose pieces do not overlap; what is inserted at one place keeps its order."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda each: each.span.start):
        parts += [source[at : edit.span.start], edit.text]
        at = edit.span.end
    return "".join([*parts, source[at:]])


def _no_line(_: Span) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message about one place of a program; `expected` and `hint` are empty when there is nothing to say.

    `code` names what kind of message it is (:mod:`rdma_robust.codes`). `copy` says in which one of several that one
    declaration makes, as in "P[2], where i is 2", if it is not said of all of them.
    `edits` are what the hint proposes, if that can be done to the text as it stands: all of them together.
    """

    severity: Severity
    code: str
    message: str
    span: Span
    expected: str = ""
    hint: str = ""
    edits: tuple[Edit, ...] = ()
    copy: str = ""

    @property
    def located(self) -> str:
        """The message with the copy that it is about."""
        return f"{self.message} (in {self.copy})" if self.copy else self.message

    def render(self, file: str, source: str, elsewhere: Callable[[Span], str] = _no_line) -> str:
        """Return `file:line:column: severity: message [code]`, the source line, a caret line, where it was expanded
        from, and what to do.

        `source` is the text of `file`; `elsewhere` returns the line at a place of another one, '' if it has none to show.
        The excerpt of a very long line is cut to a window around the caret.
        """
        where = self.span.file or file
        place = "" if self.span == NO_SPAN else f":{self.span.line}:{self.span.column}"
        lines = [f"{where}{place}: {self.severity}: {self.message} [{self.code}]"]
        source_lines = source.split("\n") if place and source and where == file else []
        if self.span.line <= len(source_lines):
            lines += _excerpt(source_lines[self.span.line - 1], self.span)
        elif place and where != file and (line := elsewhere(self.span)):
            lines += _excerpt(line, self.span)
        lines += [f"  expanded from {_origin(origin, file, source, elsewhere)}" for origin in self.span.chain()]
        if self.copy:
            lines.append(f"  in {self.copy}")
        if self.expected:
            lines.append(f"  expected: {self.expected}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


def _origin(span: Span, file: str, source: str, elsewhere: Callable[[Span], str]) -> str:
    """Return the place of an expansion, with what stands there in `source`, the text of `file`, or `elsewhere`."""
    where = span.file or file
    text = source[span.start : span.end].split("\n", maxsplit=1)[0] if where == file else elsewhere(span)[span.column - 1 :]
    text = text.strip()
    shown = text if len(text) <= _MAX_ORIGIN else text[:_MAX_ORIGIN] + "..."
    return f"{where}:{span.line}{': ' * bool(shown)}{shown}"


def _excerpt(text: str, span: Span, width: int = 100) -> list[str]:
    text = "".join(c if c.isprintable() else " " for c in text)
    first = span.column - 1
    last = span.end_column - 1 if span.end_line == span.line else len(text)
    offset = max(0, first - width // 2) if len(text) > width else 0
    window = text[offset : offset + width]
    carets = max(1, min(last, offset + width) - first)
    number = str(span.line)
    return [f"  {number} | {window}", f"  {' ' * len(number)} | {' ' * (first - offset)}{'^' * carets}"]


class RdmaRobustError(Exception):
    """Base of every error raised on purpose. `code` is for those that become one message without a place in a program."""

    code: ClassVar[str] = "RR004"


class UsageError(RdmaRobustError):
    """The request itself is wrong: a missing file, an option that does not apply."""

    code = "RR002"


class ProgramError(RdmaRobustError):
    """A program is not well-formed; carries every diagnostic found in the file, not just the first."""

    def __init__(self, file: str, source: str, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.file = file
        self.source = source
        self.diagnostics = diagnostics
        super().__init__(self.render())

    def render(self, elsewhere: Callable[[Span], str] = _no_line) -> str:
        """Return all of them, see :meth:`Diagnostic.render`."""
        return "\n".join(d.render(self.file, self.source, elsewhere) for d in self.diagnostics)


class SizeLimitError(RdmaRobustError):
    """A complete method was asked for something beyond its stated size limit (for example the oracle)."""

    code = "RR005"


class LimitReached(SizeLimitError):
    """A limit of time or memory came before the end of a pass, which has no answer until then.

    `limit` is "time" or "memory", `said` its name and size for people, `doing` the pass, as in "filtering".
    """

    def __init__(self, limit: str, said: str, doing: str) -> None:
        self.limit = limit
        self.said = said
        self.doing = doing
        super().__init__(f"reached {said} while {doing}")

    def __reduce__(self) -> tuple[type[LimitReached], tuple[str, ...]]:
        return (LimitReached, (self.limit, self.said, self.doing))


class InternalError(RdmaRobustError):
    """The tool contradicts itself: an unconfirmed counterexample, two methods that disagree. Exit code 4."""
