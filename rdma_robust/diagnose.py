"""Collecting diagnostics, and the wording they share."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from rdma_robust.errors import NO_SPAN, Diagnostic, Edit, ProgramError, Span

_WORD = re.compile(r"[A-Za-z_]\w*")
MAX_ERRORS = 100
MAX_CANDIDATES = 300
MAX_SUGGESTED_LENGTH = 40
MAX_QUOTED = 60


@dataclass(frozen=True, slots=True)
class Hint:
    """What to do, for people, and the edits that do it, if it is a replacement. A replacement mends what it is about."""

    text: str
    edits: tuple[Edit, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text)


Advice = str | Hint | Callable[[], str | Hint]
"""A hint, or how to make it: hints can be costly, and only the first :data:`MAX_ERRORS` errors need one."""


class Reporter:
    """Collects the diagnostics of one file."""

    def __init__(self, file: str, source: str) -> None:
        self.file = file
        self.source = source
        self.warnings: list[Diagnostic] = []
        self._errors: list[Diagnostic] = []
        self._places: set[tuple[int, str]] = set()
        self._left_out = 0
        self._warned: set[tuple[int, str]] = set()
        self.left_to_proofs: list[Diagnostic] = []
        """Errors for whoever decides programs, none for who proves them: see :meth:`leave_to_proofs`."""
        self.shown_as: dict[str, str] = {}
        """Names that were made for expansions, and how they are written where they come from."""

    @property
    def failed(self) -> bool:
        return bool(self._errors)

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
            self._left_out += 1
            return
        message = self._as_written(message)
        if (span.start, message) in self._places:
            return
        self._places.add((span.start, message))
        self._errors.append(self._made(code, span, message, expected, hint))

    def leave_to_proofs(self, code: str, span: Span, message: str, *, hint: Advice = "") -> None:
        """Add an error, once for the same place and message, that only commands raise which do not prove."""
        message = self._as_written(message)
        if not self.full and (span.start, message) not in self._places:
            self._places.add((span.start, message))
            self.left_to_proofs.append(self._made(code, span, message, "", hint))

    def _made(self, code: str, span: Span, message: str, expected: str, hint: Advice) -> Diagnostic:
        made = hint() if callable(hint) else hint
        told = Hint(made) if isinstance(made, str) else made
        # What was expanded from something stands in no text as it is.
        edits = told.edits if span.origin is None and all(edit.span.origin is None for edit in told.edits) else ()
        return Diagnostic("error", code, message, self.at(span), expected, self._as_written(told.text), edits)

    def warn(self, code: str, span: Span, message: str, *, hint: str = "") -> None:
        """Add a warning, once for the same place and message. `code` is one of :mod:`rdma_robust.codes`."""
        message = self._as_written(message)
        if (span.start, message) not in self._warned or span == NO_SPAN:
            self._warned.add((span.start, message))
            self.warnings.append(Diagnostic("warning", code, message, self.at(span), hint=self._as_written(hint)))

    def _as_written(self, text: str) -> str:
        return _WORD.sub(lambda word: self.shown_as.get(word[0], word[0]), text) if self.shown_as else text

    def raise_errors(self, *, proofs: bool = False) -> None:
        """Raise ProgramError with every error in source order, if there is one; unless there are to be `proofs`, also with
        what is left to them."""
        if not self._errors:
            return
        left = () if proofs else tuple(self.left_to_proofs)
        found = sorted((*self._errors, *left)[:MAX_ERRORS], key=lambda d: (d.span.start, d.span.end))
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
