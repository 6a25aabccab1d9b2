"""What `messages check` found in many programs, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdma_robust.frame.exits import Exit, worst
from rdma_robust.reports.messages.messages_record import MessagesRecord


@dataclass(frozen=True, slots=True)
class MessagesSummary:
    """Numbers of programs, of which `requested` were asked for. `good` ones hold and have no deadlock; a program may count
    as violated and as deadlocked. `mismatched` ones have a claim that fails, or, where claims count, none."""

    requested: int
    programs: int
    good: int
    violated: int
    deadlocked: int
    racing: int
    leaking: int
    unknown: int
    error: int
    as_expected: int
    mismatched: int
    interrupted: bool
    exit_code: int
    time_s: float


def messages_summary(
    records: Sequence[MessagesRecord], requested: int, *, expect: bool, time_s: float, stopped: Exit | None
) -> MessagesSummary:
    """Return the totals; `stopped` is the exit code of a run that was stopped before its end."""
    return MessagesSummary(
        requested=requested,
        programs=len(records),
        good=sum(each.asserts == "hold" and each.deadlock == "no" for each in records),
        violated=sum(each.asserts == "violated" for each in records),
        deadlocked=sum(each.deadlock == "yes" for each in records),
        racing=sum(any(there.race == "yes" for there in each.headlines) for each in records),
        leaking=sum(each.leak == "yes" for each in records),
        unknown=sum(_is_unknown(each) for each in records),
        error=sum(each.error_kind is not None for each in records),
        as_expected=sum(each.as_expected is True for each in records),
        mismatched=sum(_is_mismatch(each, expect) for each in records),
        interrupted=stopped is not None,
        exit_code=int(stopped if stopped is not None else worst([Exit(each.exit_code) for each in records])),
        time_s=round(time_s, 6),
    )


def _is_unknown(record: MessagesRecord) -> bool:
    """Whether nothing bad was found, and not everything is known."""
    if not record.headlines:
        return record.error_kind is None
    return {record.asserts, record.deadlock}.isdisjoint({"violated", "yes"}) and "unknown" in (
        record.asserts,
        record.deadlock,
    )


def _is_mismatch(record: MessagesRecord, expect: bool) -> bool:
    return record.as_expected is False or (expect and bool(record.headlines) and not record.claims)
