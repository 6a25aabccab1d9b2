"""What changed between two JSON reports, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["regression", "improvement", "new", "missing", "same"]


@dataclass(frozen=True, slots=True)
class Known:
    """What a report says of one program; `sha256` is None if it does not say which text it decided."""

    verdict: str
    as_expected: bool | None
    reason: str
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was read: its programs by file, and whether its run was stopped before its end."""

    path: str
    programs: Mapping[str, Known]
    interrupted: bool
    version: str


@dataclass(frozen=True, slots=True)
class Change:
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
class Comparison:
    """The changes, in the order of the new report, the missing programs last; `same` programs have the same verdict."""

    old: Report
    new: Report
    changes: tuple[Change, ...]

    def of(self, kind: Kind) -> list[Change]:
        return [change for change in self.changes if change.kind == kind]
