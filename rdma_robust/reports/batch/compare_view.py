"""What changed between two JSON reports, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Kind = Literal["regression", "improvement", "new", "missing", "same"]
Key = tuple[str, ...]
"""What a claim is called in both reports: its group, then what tells it from others of the group."""


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """An answer for a claim: its name for people, a word, how bad that is (a greater `rank` is worse), and whether it is
    what an `expect` line says, None if none does."""

    name: str
    word: str
    rank: int
    as_expected: bool | None = None

    def named(self, name: str) -> ClaimVerdict:
        return replace(self, name=name)

    @property
    def text(self) -> str:
        """The answer in words."""
        return self.word + ("" if self.as_expected is None else ", as expected" if self.as_expected else ", not as expected")


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers by claim, and by group those for all of its claims that are not listed."""

    claims: Mapping[Key, ClaimVerdict] = field(default_factory=dict)
    groups: Mapping[str, ClaimVerdict] = field(default_factory=dict)

    def of(self, key: Key) -> ClaimVerdict | None:
        return self.claims.get(key) or self.groups.get(key[0])


@dataclass(frozen=True, slots=True)
class ReportedProgram:
    """What a report says of one program; `sha256` is None if it does not say which text it decided.

    `verdict` is `answered` where only claims have answers. `seen` is what a check came by besides; `answers` are those for
    the claims of the program, None where nobody asked.
    """

    verdict: str
    as_expected: bool | None
    reason: str
    sha256: str | None
    seen: Answers = Answers()
    answers: Answers | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was read: its programs by file, and whether its run was stopped before its end. `counts_expected` says
    whether `expect` lines counted."""

    path: str
    programs: Mapping[str, ReportedProgram]
    interrupted: bool
    version: str
    format: str = "rdma-robust/report"
    counts_expected: bool = False


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """One program in both reports. `old` or `new` is None where a report does not have it.

    `edited` says whether its text changed in between, None if that is not known.
    """

    file: str
    kind: Kind
    old: str | None
    new: str | None
    edited: bool | None
    reason: str


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """One claim of a program that is in both reports; `old` or `new` is None where a report does not have the claim."""

    file: str
    kind: Kind
    claim: str
    old: str | None
    new: str | None
    edited: bool | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The changes, in the order of the new report, the missing programs last; `same` programs have the same verdict."""

    old: Report
    new: Report
    changes: tuple[VerdictChange, ...]
    claims: tuple[ClaimChange, ...] = ()

    def of(self, kind: Kind) -> list[VerdictChange]:
        return [change for change in self.changes if change.kind == kind]

    def claims_of(self, kind: Kind) -> list[ClaimChange]:
        """Return the claims of a kind."""
        return [change for change in self.claims if change.kind == kind]

    @property
    def worse(self) -> int:
        """How many verdicts and claims got worse."""
        return len(self.of("regression")) + len(self.claims_of("regression"))

    @property
    def better(self) -> int:
        """How many verdicts and claims got better."""
        return len(self.of("improvement")) + len(self.claims_of("improvement"))
