"""The verdicts of a question with two answers: numbers, expectations, exit codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rdma_robust.frame.exits import Exit


class VerdictRecord(Protocol):
    """A record with a verdict: one of two words, `unknown`, or `error`."""

    @property
    def verdict(self) -> str: ...

    @property
    def as_expected(self) -> bool | None: ...

    @property
    def error_kind(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The two words for a question that was decided, the one for exit code 0 first."""

    good: str
    bad: str

    def mismatch(self, record: VerdictRecord) -> bool:
        """Return whether an answer fails `--expect`; so does what was decided where nobody said what is expected."""
        return record.as_expected is False or (record.verdict in (self.good, self.bad) and record.as_expected is None)

    def exit_of(self, record: VerdictRecord, expect: bool) -> Exit:
        """Return the exit code that `record` alone would give."""
        if record.verdict == "error":
            return Exit.INTERNAL if record.error_kind == "internal" else Exit.INVALID
        if self.mismatch(record) if expect else record.verdict == self.bad:
            return Exit.NOT_ROBUST
        return Exit.UNKNOWN if record.verdict == "unknown" else Exit.OK

    def numbers(self, records: Sequence[VerdictRecord], *, expect: bool) -> dict[str, int]:
        """Return how many records have each verdict, and how many are as expected."""
        verdicts = [r.verdict for r in records]
        return {
            **{word.replace("-", "_"): verdicts.count(word) for word in (self.good, self.bad, "unknown", "error")},
            "as_expected": sum(r.as_expected is True for r in records),
            "mismatched": sum(self.mismatch(r) if expect else r.as_expected is False for r in records),
        }
