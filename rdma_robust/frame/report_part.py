"""The part that a question has in `report`: its files, how it is asked there, its section, and what the cache keeps of it.

A tool registers its parts; a question that is the default command of a suffix has one without that.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any, Final, Generic, Literal

from rdma_robust.frame.answer import Answer, R
from rdma_robust.frame.formats.report_section import ReportSection
from rdma_robust.frame.question import A, Question, Section
from rdma_robust.frame.shell.inputs import Source, states_of_parts
from rdma_robust.text import sha256

_LIMITS: Final = ("timeout", "memory")

Lasting = Literal["settled", "limited", "no"]
"""Whether an answer holds for all limits, for the same limits, or for this run alone."""


@dataclass(frozen=True, slots=True)
class ReportAsking:
    """How a report asks every question: with limits of one input, of which None is none, values of constants, and whether
    answers count by what inputs `expect`. `forms` are those of the report; `kept` says that a cache keeps answers. `columns`
    are of questions whose section is a matrix."""

    timeout: float | None
    memory: int | None
    expect: bool
    define: tuple[str, ...]
    forms: frozenset[str]
    kept: bool
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AskedFile:
    """A question about the text of a file: which it is, all that its answer depends on, and the limits."""

    question: str
    name: str
    text: str
    asking: Mapping[str, object]
    limits: Mapping[str, object]

    @staticmethod
    def of(question: Question[Any, Any], name: str, text: str, asking: Any) -> AskedFile:
        """Return what a record of options, with `timeout` and `memory`, asks of a text."""
        options = json.loads(json.dumps(asdict(asking)))
        limits = {each: options.pop(each) for each in _LIMITS}
        return AskedFile(question.name, name, text, options, limits)

    def keys(self) -> tuple[dict[str, object], dict[str, object]]:
        """Return what is asked without the limits, and with them: what a limit cut short answers only the same limits."""
        named = self.name if self.asking.get("page") else PurePath(self.name).stem
        settled = {"asked": self.question, "text": sha256(self.text), "name": named, **self.asking}
        if parts := states_of_parts(self.text, self.name):
            settled["parts"] = parts
        return settled, {**settled, **self.limits}


class KeptForm(ABC, Generic[R]):
    """The form in which the cache keeps answers to a question: records, and what shows again whatever they say is wrong."""

    record: type[R]

    def packed(self, proofs: Sequence[Any]) -> list[Any]:
        """Return the proofs of an answer as values of JSON."""
        return list(proofs)

    @abstractmethod
    def lasting(self, asked: AskedFile, answer: Answer[R]) -> Lasting:
        """Return for which runs an answer holds."""

    @abstractmethod
    def is_shown(self, asked: AskedFile, record: R, packed: Sequence[Any]) -> bool:
        """Return whether packed proofs, checked now, show all that goes wrong in a record. May raise ValueError, KeyError,
        TypeError for what was never written."""

    @abstractmethod
    def named(self, record: R, file: str) -> R:
        """Return a record of another place of the same text, whose own file is said already, with `file` in all else."""


@dataclass(frozen=True)
class ReportPart(ABC, Generic[A, R]):
    """The part of a question about files with `suffixes`. Sections come by `rank`, and questions are asked from the last to
    the first: what one leaves is for those before it. Without `kept` no answer is kept."""

    question: Question[A, R]
    suffixes: tuple[str, ...]
    rank: int = 1000
    kept: KeptForm[R] | None = None

    def is_about(self, source: Source) -> bool:  # noqa: ARG002 - most are about all files of their suffixes
        """Return whether the question is asked of a file of these suffixes."""
        return True

    @abstractmethod
    def asking(self, how: ReportAsking) -> A:
        """Return how it is asked."""

    @abstractmethod
    def section(self, found: Section[A, R]) -> ReportSection:
        """Return the section of the answers."""

    def is_listed(self, record: R) -> bool:  # noqa: ARG002
        """Return whether a file has something to do with the question after all."""
        return True

    def is_said(self, record: R) -> bool:  # noqa: ARG002
        """Return whether what is wrong with a file is said here, and not by a question that is asked later."""
        return True

    def leaves(self, record: R) -> bool:  # noqa: ARG002
        """Return whether a file is for the questions that are asked later, too."""
        return False
