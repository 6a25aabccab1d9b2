"""A question: what is asked of each of many inputs, how one is decided, and what its answers look like.

A tool registers questions (`frame/registry.py`); everything else, from processes to forms of report, the frame does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from rdma_robust.frame.answer import Answer, Counts, Failure, JsonObject, R
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Source
from rdma_robust.guard import ENDING, Slack
from rdma_robust.limits import Limits, Progress

if TYPE_CHECKING:
    from rdma_robust.frame.finding import Finding
    from rdma_robust.frame.formats.junit import Case


class Asking(Protocol):
    """How a question is asked: the options that its answers depend on.

    `expect` compares them with what the inputs expect, `explain` asks for what is beneath the rows.
    """

    @property
    def expect(self) -> bool: ...

    @property
    def explain(self) -> bool: ...

    def described(self) -> Mapping[str, object]:
        """Return how answers are found as the `options` of a report."""

    def limits(self) -> Limits:
        """Return the limits of one input, from now on."""


A = TypeVar("A", bound=Asking)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where lines for people go: about which files, into which width (None: any), with `quiet` only what counts.

    `alone`: of the only input, whose errors are told on the same terminal.
    """

    files: Sequence[str]
    width: int | None = None
    quiet: bool = False
    alone: bool = False


class Text(Protocol[R]):
    """Writes answers as lines for people; files are known beforehand, so that rows align while they stream."""

    def header(self) -> list[str]:
        """Return the headings."""

    def lines(self, record: R) -> list[str]:
        """Return the lines of an input."""

    def totals(self, section: Section[Any, R]) -> list[str]:
        """Return the last lines."""


@dataclass(frozen=True)
class View(ABC, Generic[R]):
    """The view of the answers of a question, `asking` so: the only thing about it that forms of report know."""

    asking: Asking

    @abstractmethod
    def text(self, layout: Layout) -> Text[R]:
        """Return what writes lines for people."""

    @abstractmethod
    def objects(self, record: R) -> Sequence[JsonObject]:
        """Return the JSON objects of an input."""

    @abstractmethod
    def numbers(self, records: Sequence[R]) -> Mapping[str, int]:
        """Return the numbers of answers by their words, in the order in which they are told."""

    @abstractmethod
    def exit_of(self, record: R) -> Exit:
        """Return the exit code that an input alone would give."""

    def findings(self, record: R) -> Iterable[Finding]:
        """Return what somebody should look at, a line each."""
        raise NotImplementedError

    def cases(self, section: Section[Any, R]) -> Mapping[str, Sequence[Case]]:
        """Return the tests of a report for tools of continuous integration, by their suites."""
        raise NotImplementedError

    def written(self, section: Section[Any, R], form: str) -> str | None:  # noqa: ARG002 - few questions have such forms
        """Return the whole report in a form that only this question has, None for a form of which there are lines only."""
        return None

    def more(self, section: Section[Any, R]) -> Mapping[str, object]:  # noqa: ARG002 - most reports have none
        """Return further members of a JSON report."""
        return {}


@dataclass(frozen=True, slots=True)
class Question(Generic[A, R]):
    """A question about each of many inputs.

    `name` is that of its command, `form` the name and version of its JSON, `noun` what an input is called. `work` decides a
    source within limits, tells its fourth argument how far it is, and its last what is known before what comes beside it;
    it may raise anything. `unanswered` makes the record of an input without an answer. `load` loads what answers, once for
    all processes and before any limit counts; with `heavy_records` records that come back need it here too, so that it is
    loaded before the fork, once. `view` is what shows the answers. With `families`, `work` starts processes.
    `slack` is how long it may go on after a limit of time. `kept` makes the answer of one that was known before a failure,
    None if that does not stand.
    """

    name: str
    form: tuple[str, int]
    noun: str
    work: Callable[[Source, A, Limits, Progress, Callable[[Answer[R]], None]], Answer[R]]
    unanswered: Callable[[Failure, A], R]
    view: Callable[[A], View[R]]
    load: Callable[[], object] = lambda: None
    heavy_records: bool = False
    families: bool = False
    slack: Slack = ENDING
    kept: Callable[[Answer[R], Failure, A], Answer[R] | None] | None = None

    def failed(self, failure: Failure, asking: A, known: Answer[R] | None = None) -> Answer[R]:
        """Return the answer for an input that has none, or what was `known` of it before, if that stands; only errors are
        told on standard error, a limit in its row."""
        kept = None if known is None or self.kept is None else self.kept(known, failure, asking)
        if kept is not None:
            return kept
        told = failure.messages if failure.error_kind is not None else ()
        return Answer(self.unanswered(failure, asking), told, text=failure.text)


@dataclass(frozen=True, slots=True)
class Section(Generic[A, R]):
    """The answers to one question, in the order of the inputs, as forms of report are written from them."""

    question: Question[A, R]
    asking: A
    answers: Sequence[Answer[R]]
    counts: Counts

    @property
    def view(self) -> View[R]:
        """What the answers look like."""
        return self.question.view(self.asking)

    @property
    def records(self) -> list[R]:
        """What was found out."""
        return [answer.record for answer in self.answers]


AnyQuestion = Question[Any, Any]
