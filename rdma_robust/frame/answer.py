"""The answer for one input, the failure that stands for one, and the counts of many: plain data that crosses processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, Literal, Protocol, TypeVar

from rdma_robust.errors import Diagnostic, Severity
from rdma_robust.frame.exits import Exit

JsonObject = dict[str, object]
ErrorKind = Literal["unreadable", "invalid", "internal"]


@dataclass(frozen=True, slots=True)
class DiagnosticView:
    """An error or a warning of a text, at a 1-based place."""

    severity: Severity
    code: str
    message: str
    line: int
    column: int
    expanded_from: tuple[int, ...]
    expected: str
    hint: str
    file: str = ""
    """The file of the place, where it is another than that of the text."""


def diagnostics(found: Iterable[Diagnostic]) -> tuple[DiagnosticView, ...]:
    """Return diagnostics as records keep them."""
    return tuple(
        DiagnosticView(
            d.severity,
            d.code,
            d.located,
            d.span.line,
            d.span.column,
            d.span.expanded_from,
            d.expected,
            d.hint,
            d.span.elsewhere,
        )
        for d in found
    )


def diagnostic_object(view: DiagnosticView) -> JsonObject:
    """Return a warning or an error in a few members."""
    return {"line": view.line, "column": view.column, "code": view.code, "message": view.message}


class Record(Protocol):
    """The findings of a question about one input."""

    @property
    def file(self) -> str: ...

    @property
    def error_kind(self) -> str | None: ...


R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an input has no answer: an error of this kind, or, where that is None, a limit.

    `messages` are for standard error. `lasting` if the same limits are reached again.
    """

    file: str
    reason: str
    error_kind: ErrorKind | None = None
    errors: tuple[DiagnosticView, ...] = ()
    warnings: tuple[DiagnosticView, ...] = ()
    messages: tuple[str, ...] = ()
    text: str | None = None
    time_s: float = 0.0
    lasting: bool = True

    @property
    def verdict(self) -> Literal["unknown", "error"]:
        """The word for it in a table."""
        return "unknown" if self.error_kind is None else "error"

    @property
    def exit_code(self) -> Exit:
        """What it alone would exit with."""
        if self.error_kind is None:
            return Exit.UNKNOWN
        return Exit.INTERNAL if self.error_kind == "internal" else Exit.INVALID

    def record(self, kind: Callable[..., R], **more: object) -> R:
        """Return the record of an input without an answer, of a class: what it has of a failure's members, and `more`."""
        verdict = {"verdict": self.verdict, "status": self.verdict, "exit_code": self.exit_code}
        members = {each.name: getattr(self, each.name) for each in fields(self)} | verdict
        return kind(**{each.name: members[each.name] for each in fields(kind) if each.name in members} | more)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Answer(Generic[R]):
    """The record of one input, and what to say about it on standard error.

    `uncertified` counts the certificates that are wanted and cannot be had; the last messages say why. `text` is the input,
    as far as it was read. `proofs` are what the cache can check again, if that is wanted; `lasting` says that the same
    limits give the same again.
    """

    record: R
    messages: tuple[str, ...] = ()
    uncertified: int = 0
    text: str | None = None
    proofs: tuple[Any, ...] = ()
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of a run: of `requested` inputs so many are `done`; `numbers` by the words of the question.

    `noun` is what an input is called. `passed_over` files of folders are none of the inputs: nothing was asked about them.
    """

    noun: str
    requested: int
    done: int
    numbers: Mapping[str, int]
    interrupted: bool
    exit_code: int
    time_s: float
    passed_over: int | None = None

    def __getitem__(self, word: str) -> int:
        return self.numbers[word]

    def members(self) -> dict[str, object]:
        """Return the `summary` of a report."""
        return {
            "requested": self.requested,
            f"{self.noun}s": self.done,
            **self.numbers,
            "exit_code": int(self.exit_code),
            "time_s": round(self.time_s, 6),
            **({} if self.passed_over is None else {"passed_over": self.passed_over}),
        }


def envelope(
    form: tuple[str, int],
    results: Sequence[JsonObject],
    counts: Counts,
    made: tuple[Mapping[str, object], Mapping[str, object]],
    more: Mapping[str, object],
) -> JsonObject:
    """Return a whole report as JSON.

    `form` is its name and version; `made` says by which tool and with which options, `more` are further members.
    """
    return {
        "format": form[0],
        "version": form[1],
        "tool": dict(made[0]),
        "options": dict(made[1]),
        "interrupted": counts.interrupted,
        **more,
        "results": list(results),
        "summary": counts.members(),
    }
