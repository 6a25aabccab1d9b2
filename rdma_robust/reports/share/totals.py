"""What the reports of `check` and `cover` have alike: counts of verdicts and expectations, exit codes, the envelope."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rdma_robust.frame.exits import Exit, worst


class Decided(Protocol):
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

    def mismatch(self, record: Decided) -> bool:
        """Return whether an answer fails `--expect`; so does what was decided where nobody said what is expected."""
        return record.as_expected is False or (record.verdict in (self.good, self.bad) and record.as_expected is None)

    def exit_of(self, record: Decided, expect: bool) -> Exit:
        """Return the exit code that `record` alone would give."""
        if record.verdict == "error":
            return Exit.INTERNAL if record.error_kind == "internal" else Exit.INVALID
        if self.mismatch(record) if expect else record.verdict == self.bad:
            return Exit.NOT_ROBUST
        return Exit.UNKNOWN if record.verdict == "unknown" else Exit.OK

    def totals(self, records: Sequence[Decided], *, expect: bool, time_s: float, stopped: Exit | None) -> dict[str, Any]:
        """Return the fields that every summary has; `stopped` is the exit code of a run that was stopped before its end."""
        verdicts = [r.verdict for r in records]
        return {
            **{word.replace("-", "_"): verdicts.count(word) for word in (self.good, self.bad, "unknown", "error")},
            "as_expected": sum(r.as_expected is True for r in records),
            "mismatched": sum(self.mismatch(r) if expect else r.as_expected is False for r in records),
            "interrupted": stopped is not None,
            "exit_code": stopped if stopped is not None else worst([self.exit_of(r, expect) for r in records]),
            "time_s": round(time_s, 6),
        }


def envelope(
    form: tuple[str, int],
    results: Sequence[dict[str, object]],
    summary: Any,
    tool: Mapping[str, object],
    options: Mapping[str, object],
) -> dict[str, object]:
    """Return a whole report as JSON.

    `form` is its name and version, `summary` a record with `interrupted`; `tool` and `options` say how it was made.
    """
    totals = dataclasses.asdict(summary)
    return {
        "format": form[0],
        "version": form[1],
        "tool": dict(tool),
        "options": dict(options),
        "interrupted": totals.pop("interrupted"),
        "results": list(results),
        "summary": totals,
    }
