"""Collecting diagnostics, and the wording they share."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from rdma_robust.errors import NO_SPAN, Diagnostic, Edit, ProgramError, Span

_WORD = re.compile(r"[A-Za-z_]\w*")
MAX_ERRORS = 100
MAX_CANDIDATES = 300
MAX_SUGGESTED_LENGTH = 40
MAX_QUOTED = 60
EMPTY = frozenset({"RR705"})
"""Warnings of what is empty, which in one of several copies it may well be."""
COMPARED = 8
"""Copies in which what would mend a mistake is compared."""


@dataclass(frozen=True, slots=True)
class Hint:
    """Advice for people what to do, and the edits that do it, if it is a replacement. A replacement mends what it is
    about."""

    text: str
    edits: tuple[Edit, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text)


@dataclass(frozen=True, slots=True)
class Copy:
    """One of the `size` nodes or threads that one declaration, `of`, makes; `text` says which it is and why."""

    of: str
    name: str
    text: str
    size: int


@dataclass(slots=True)
class _Said:
    """A message about the first of some copies, how many it holds for, and whether the same would mend it in all."""

    made: Diagnostic
    first: Copy
    last: Copy
    copies: int = 1
    alike: bool = True

    def diagnostic(self) -> Diagnostic:
        everywhere = self.copies == self.first.size
        edits = self.made.edits if everywhere and self.alike and self.copies > 1 else ()
        others = self.copies - 1
        more = f", and in {others} more" if others else ""
        return replace(self.made, edits=edits, copy=f"{self.first.text}{more}")


Advice = str | Hint | Callable[[], str | Hint]
"""A hint, or how to make it: hints can be costly, and only the first :data:`MAX_ERRORS` errors need one."""


class Reporter:
    """Collects the diagnostics of one file."""

    def __init__(self, file: str, source: str) -> None:
        self.file = file
        self.source = source
        self._warnings: list[Diagnostic] = []
        self._errors: list[Diagnostic] = []
        self._places: set[tuple[int, str, str]] = set()
        self._left_out = 0
        self._warned: set[tuple[int, str, str]] = set()
        self._left: list[Diagnostic] = []
        self.shown_as: dict[str, str] = {}
        """Names that were made for expansions, and how they are written where they come from."""
        self.copy: Copy | None = None
        """Which one of several is looked at. What is wrong with some of them is said of the first one, once."""
        self._first: dict[str, str] = {}
        self._said: dict[tuple[str, str, int], _Said] = {}

    def _is_new(self, seen: set[tuple[int, str, str]], span: Span, message: str) -> bool:
        """Return whether a message is not there yet at this place, of this copy; from now on it is."""
        key = (span.start, message, "" if self.copy is None else self.copy.name)
        new = key not in seen
        seen.add(key)
        return new

    def _is_known(self, code: str, span: Span) -> bool:
        """Return whether so many copies have the same that nothing new is expected of this one, which is counted."""
        if self.copy is None:
            return False
        self._first.setdefault(self.copy.of, self.copy.name)
        said = self._said.get((self.copy.of, code, span.start))
        if said is None or said.copies < COMPARED:
            return False
        said.copies += said.last.name != self.copy.name
        said.last = self.copy
        return True

    def _put(self, found: list[Diagnostic], made: Diagnostic) -> None:
        """Add a diagnostic to those found; of a copy, unless another one was said to have the same."""
        if self.copy is not None:
            said = self._said.setdefault((self.copy.of, made.code, made.span.start), _Said(made, self.copy, self.copy))
            if said.first.name != self.copy.name:
                said.copies += said.last.name != self.copy.name
                said.last = self.copy
                said.alike = said.alike and said.made.edits == made.edits
                return
            if said.made is not made:
                made = replace(made, copy=self.copy.text, edits=())
        found.append(made)

    def _settled(self, found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """Yield diagnostics with the copies that they are about."""
        of_copies = {id(said.made): said for said in self._said.values()}
        for each in found:
            said = of_copies.get(id(each))
            if said is None:
                yield each
            elif each.code not in EMPTY or said.copies == said.first.size > 1:
                yield said.diagnostic()

    @property
    def failed(self) -> bool:
        return bool(self._errors)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings, in the order of the source."""
        return tuple(sorted(self._settled(self._warnings), key=lambda d: (d.span.start, d.message)))

    @property
    def left_to_proofs(self) -> tuple[Diagnostic, ...]:
        """Errors for whoever decides programs, none for who proves them, in the order of the source: see
        :meth:`leave_to_proofs`."""
        return tuple(sorted(self._settled(self._left), key=lambda d: (d.span.start, d.message)))

    @property
    def full(self) -> bool:
        """Whether further errors are only counted."""
        return len(self._errors) >= MAX_ERRORS

    def at(self, span: Span) -> Span:
        """Return `span`, which is of this text, as a span of its file."""
        if span == NO_SPAN or (span.file and (span.origin is None or span.origin.file)):
            return span
        return replace(span, file=span.file or self.file, origin=None if span.origin is None else self.at(span.origin))

    def written(self, span: Span) -> str:
        """Return the text at `span`, on one line."""
        return " ".join(self.source[span.start : span.end].split())

    def error(self, code: str, span: Span, message: str, *, expected: str = "", hint: Advice = "") -> None:
        """Add an error, once for the same place and message. `code` is one of :mod:`rdma_robust.codes`."""
        if self.full:
            self._left_out += self.copy is None or self._first.setdefault(self.copy.of, self.copy.name) == self.copy.name
            return
        message = self._as_written(message)
        if not self._is_new(self._places, span, message) or self._is_known(code, span):
            return
        self._put(self._errors, self._made(code, span, message, expected, hint))

    def leave_to_proofs(self, code: str, span: Span, message: str, *, hint: Advice = "") -> None:
        """Add an error, once for the same place and message, that only commands raise which do not prove."""
        message = self._as_written(message)
        if not self.full and self._is_new(self._places, span, message):
            self._put(self._left, self._made(code, span, message, "", hint))

    def _made(self, code: str, span: Span, message: str, expected: str, hint: Advice) -> Diagnostic:
        made = hint() if callable(hint) else hint
        told = Hint(made) if isinstance(made, str) else made
        # What was expanded from something stands in no text as it is.
        edits = told.edits if span.origin is None and all(edit.span.origin is None for edit in told.edits) else ()
        return Diagnostic("error", code, message, self.at(span), expected, self._as_written(told.text), edits)

    def warn(self, code: str, span: Span, message: str, *, hint: str = "") -> None:
        """Add a warning, once for the same place and message. `code` is one of :mod:`rdma_robust.codes`."""
        message = self._as_written(message)
        if self._is_new(self._warned, span, message) or span == NO_SPAN:
            self._put(self._warnings, Diagnostic("warning", code, message, self.at(span), hint=self._as_written(hint)))

    def _as_written(self, text: str) -> str:
        return _WORD.sub(lambda word: self.shown_as.get(word[0], word[0]), text) if self.shown_as else text

    def raise_errors(self, *, proofs: bool = False) -> None:
        """Raise ProgramError with every error in source order, if there is one; unless there are to be `proofs`, also with
        what is left to them."""
        if not self._errors:
            return
        left = () if proofs else self.left_to_proofs
        found = sorted((*self._settled(self._errors), *left)[:MAX_ERRORS], key=lambda d: (d.span.start, d.span.end))
        if self._left_out:
            more = f"and {self._left_out} more error{'s' * (self._left_out > 1)}; only the first {MAX_ERRORS} are shown"
            found.append(Diagnostic("error", "RR003", more, found[-1].span))
        raise ProgramError(self.file, self.source, tuple(found))


def quote(text: str) -> str:
    """Return `text` between back-quotes, shortened if it is long, unprintable characters escaped."""
    shown = text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "..."
    return "`" + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown) + "`"


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most like `word`, or None; bounded in time for any input."""
    if len(word) > MAX_SUGGESTED_LENGTH:
        return None
    near = [c for c in candidates if abs(len(c) - len(word)) <= max(2, len(word) // 3)][:MAX_CANDIDATES]
    for candidate in near:
        if candidate.lower() == word.lower():
            return candidate
    found = difflib.get_close_matches(word, near, n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return a "did you mean" question, or nothing."""
    found = closest(word, (c for c in candidates if c != word))
    return f"did you mean {quote(found)}?" if found else ""


def written_instead(span: Span, word: str, text: str = "write") -> Hint:
    """Return the hint to write `word` at `span`."""
    return Hint(f"{text} {quote(word)}", (Edit(span, word),))


def meant_at(span: Span, word: str, candidates: Iterable[str]) -> Hint:
    """Return a "did you mean" question about the word that stands at `span`, or nothing."""
    found = closest(word, (c for c in candidates if c != word))
    return Hint(f"did you mean {quote(found)}?", (Edit(span, found),)) if found else Hint("")


def listing(words: Iterable[str], last: str = "or") -> str:
    """Return `a, b or c`."""
    parts = list(words)
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}" if parts else ""


def line_ends_are_plain(report: Reporter) -> bool:
    """Return whether no carriage return stands without a line feed; report the first that does.

    It ends a line for editors and the language server protocol: what stands behind it in a comment is a statement on their
    screens, and none here, and they number lines otherwise. So no text that has one is read.
    """
    text = report.source
    found = re.search("\r(?!\n)", text)
    if found is None:
        return True
    at = found.start()
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    span = Span(line, column, line, column + 1, at, at + 1)
    hint = Hint("write a line feed instead, or save the file with other line ends", (Edit(span, "\n"),))
    report.error("RR112", span, "a carriage return without a line feed ends a line in editors, and not here", hint=hint)
    return False
