"""A finding: something that somebody should look at, as the forms for editors, logs, code scanning and CI have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rdma_robust.frame.answer import DiagnosticView
from rdma_robust.text import sha256

Level = Literal["error", "warning", "note"]
Kind = Literal["verdict", "problem", "diagnostic", "claim"]
"""The verdict on a whole input; why there is no answer; an error or warning of the text; anything that is found in it."""

PROBLEMS: Final = {"unreadable": "RR001", "invalid": "RR002", "internal": "RR004"}
"""The codes of what keeps an input from having an answer, by the kind of the error."""


@dataclass(frozen=True, slots=True)
class Step:
    """A place and what happens there, in a run or beside a finding; without a line if no statement stands for it.

    `statement` is what stands at the place, as far as it is on one line; `kinds` are words for who does it and how.
    """

    line: int | None
    column: int | None
    text: str
    statement: str = ""
    kinds: tuple[str, ...] = ()
    essential: bool = False
    file: str = ""
    """The file of the place, where it is another than that of the input."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Steps in the order of time, or around a cycle; `name` is a word for them."""

    name: str
    title: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to be looked at, at a 1-based place of a file; without a line it is about the file.

    `message` goes on one line, `sentence` says it where there is room, and is '' if that is no more. `fingerprint` is the
    name of a scheme and what the finding is known again by after edits elsewhere; None for its code, line and words.
    """

    file: str
    line: int | None
    column: int | None
    level: Level
    code: str
    message: str
    kind: Kind = "claim"
    sentence: str = ""
    statement: str = ""
    related: tuple[Step, ...] = ()
    flows: tuple[Flow, ...] = ()
    fingerprint: tuple[str, str] | None = None


def file_at(places: Sequence[str]) -> str:
    """Return the file of the first of places (:attr:`rdma_robust.errors.Span.places`), '' if it is that of the input."""
    return places[0].rpartition(":")[0] if places else ""


def in_a_line(sentence: str) -> str:
    """Return a sentence as it stands behind a place: without capital and full stop."""
    return f"{sentence[:1].lower()}{sentence[1:-1]}"


def digest(text: str) -> str:
    """Return a fingerprint of `text`."""
    return sha256(text)[:32]


def diagnostic_findings(file: str, found: Iterable[DiagnosticView]) -> Iterator[Finding]:
    """Yield errors and warnings of a text, with their hints."""
    for each in found:
        more = "".join(f"; {word}: {text}" for word, text in (("expected", each.expected), ("hint", each.hint)) if text)
        yield Finding(each.file or file, each.line, each.column, each.severity, each.code, each.message + more, "diagnostic")


def problem_findings(
    file: str, found: Iterable[DiagnosticView], error_kind: str | None, reason: str, undecided: str = ""
) -> Iterator[Finding]:
    """Yield the errors and warnings of an input, what else is wrong with it, and why it got no answer, if it got none."""
    diagnostics = tuple(found)
    yield from diagnostic_findings(file, diagnostics)
    if error_kind is not None and not any(each.severity == "error" for each in diagnostics):
        yield Finding(file, None, None, "error", PROBLEMS[error_kind], reason, "problem")
    if undecided:
        sentence = f"Undecided: {undecided}."
        yield Finding(file, None, None, "warning", "RR011", in_a_line(sentence), "problem", sentence)
