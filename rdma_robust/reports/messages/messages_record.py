"""Records of answers of `messages check` about one program: plain data that crosses processes, for every form of report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.frame.answer import DiagnosticView, Failure, JsonObject, diagnostics
from rdma_robust.frame.exits import Exit, within
from rdma_robust.frame.finding import Finding
from rdma_robust.messages.language.message_program import Assume, Block, Buffer, MessageProgram, inner_blocks
from rdma_robust.messages.message_answers import BufferAnswer, Tri
from rdma_robust.reports.messages.message_claims import JudgedClaim, judged, line_of, matchings_of, race_of, violation_text
from rdma_robust.reports.messages.messages_json import ASSERTS, AnswerObjects, Asserts, buffer_object, no_answer_object
from rdma_robust.reports.messages.narration import operation_names

EXITS: Final[Mapping[Tri, Exit]] = {"yes": Exit.NOT_ROBUST, "unknown": Exit.UNKNOWN, "no": Exit.OK}
"""The exit code of an answer to whether something bad can happen."""


@dataclass(frozen=True, slots=True)
class Judging:
    """The rules for what counts against the exit code: with `expect` what differs from the claims, instead of violations
    and deadlocks; `deny` names what counts besides, `race` and `leak`."""

    expect: bool = False
    deny: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BufferHeadline:
    """The findings under one buffer semantics, in words and numbers that every form of report has.

    `races` and `matchings` are numbers, with a `+` for at least so many, `?` for nothing known, '' for not asked. `false`
    are the assertions that can be false, `faulty` what else goes wrong, each with its line, `stuck` the lines at which
    processes wait forever. `reason` says what is not known, and why.
    """

    buffer: Buffer
    asserts: Asserts
    deadlock: Tri
    race: Tri
    leak: Tri
    races: str = ""
    matchings: str = ""
    engine: str = ""
    reason: str = ""
    false: tuple[str, ...] = ()
    faulty: tuple[str, ...] = ()
    stuck: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MessagesRecord:
    """The answers for one program; `error_kind` is set exactly if there are none because of an error.

    `races` and `matchings` are those of the buffers with most runs. `note` is said beside the row, `lines` beneath it;
    `results` are its JSON objects, `page` is a fragment of HTML and `findings` are what somebody should look at, if they are
    wanted. `as_expected` is None without a claim, or as long as claims are open and none fails.
    """

    file: str
    exit_code: int
    headlines: tuple[BufferHeadline, ...] = ()
    races: str = "-"
    matchings: str = "-"
    engine: str = "-"
    reason: str = ""
    error_kind: str | None = None
    program: str | None = None
    claims: tuple[JudgedClaim, ...] = ()
    as_expected: bool | None = None
    note: str = ""
    lines: tuple[str, ...] = ()
    warnings: tuple[DiagnosticView, ...] = ()
    errors: tuple[DiagnosticView, ...] = ()
    time_s: float = 0.0
    results: tuple[JsonObject, ...] = field(default_factory=tuple)
    source: str | None = None
    page: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether there are answers, be they that nobody knows."""
        return bool(self.headlines)

    @property
    def asserts(self) -> Asserts | None:
        """The worst answer about assertions and faults, None where there is none."""
        found = {each.asserts for each in self.headlines}
        return next((word for word in ("violated", "unknown", "hold") if word in found), None)

    @property
    def deadlock(self) -> Tri | None:
        """The worst answer about deadlocks, None where there is none."""
        return _worst([each.deadlock for each in self.headlines])

    @property
    def leak(self) -> Tri | None:
        """The worst answer about leaks, None where there is none."""
        return _worst([each.leak for each in self.headlines])


def messages_record(
    program: MessageProgram,
    answers: Sequence[BufferAnswer],
    judging: Judging,
    time_s: float,
    notes: Sequence[str] = (),
    *,
    objects: bool = False,
) -> MessagesRecord:
    """Return the record of a program from its answers, without what is said beneath its row; a trace may have `notes`.

    JSON `objects` only if they are wanted: each feasible pair is one, and there may be a million.
    """
    claims = judged(program, answers)
    widest = next(each for buffer in ("infinite", "any", "eager", "zero") for each in answers if each.buffer == buffer)
    headlines = tuple(_headline(program, answer) for answer in answers)
    reasons = dict.fromkeys(answer.reason for answer in answers if answer.reason)
    results: tuple[JsonObject, ...] = ()
    if objects:
        told = AnswerObjects(program, operation_names(program))
        said = {answer.buffer: [each for each in claims if each.buffer == answer.buffer] for answer in answers}
        results = tuple([buffer_object(told, each, said[each.buffer], time_s=time_s, notes=notes) for each in answers])
    return MessagesRecord(
        file=program.file,
        exit_code=within(_exits(answers, claims, judging)),
        headlines=headlines,
        races=_races(widest),
        matchings="-" if widest.matchings is None else matchings_of(widest),
        engine=",".join(dict.fromkeys(answer.engine for answer in answers)),
        reason="; ".join(reasons),
        program=program.name,
        claims=claims,
        as_expected=as_expected(claims),
        note=_note(program, answers, claims, judging),
        warnings=diagnostics(program.warnings),
        time_s=time_s,
        results=results,
        source=program.source,
    )


def nothing_complete_notes(program: MessageProgram, answers: Sequence[BufferAnswer]) -> tuple[str, ...]:
    """Return a note if nothing goes wrong only because an `assume` sets every execution aside before its end."""
    good = all({each.violated, each.deadlocked, each.leaking} == {"no"} for each in answers)
    counts = [each.matchings for each in answers]
    if not good or not all(each is not None and each.exact and each.count == 0 for each in counts):
        return ()
    assumed = sorted({line for process in program.processes for line in _assumed(process.body)})
    where = f"{'line' if len(assumed) == 1 else 'lines'} {', '.join(map(str, assumed))}"
    said = f"no execution is complete, all that end are set aside by `assume` ({where}); what holds is about nothing"
    return (f"UNREACHABLE: {said}",) if assumed else ()


def _assumed(block: Block) -> Iterator[int]:
    for each in block:
        if isinstance(each, Assume):
            yield each.span.line
        for inner in inner_blocks(each):
            yield from _assumed(inner)


def unanswered_messages(failure: Failure, _: object) -> MessagesRecord:
    """Return the record of a program that got no answer."""
    return failure.record(MessagesRecord, note=failure.reason, results=(no_answer_object(failure),))


def _headline(program: MessageProgram, answer: BufferAnswer) -> BufferHeadline:
    said = [
        (each.kind == "assert", f"{violation_text(program, each)} (line {line_of(program, each.span)})")
        for each in answer.violations
    ]
    waiting = () if answer.deadlock is None else answer.deadlock.waiting
    races, matchings = _races(answer), answer.matchings
    return BufferHeadline(
        answer.buffer,
        ASSERTS[answer.violated],
        answer.deadlocked,
        race_of(answer),
        answer.leaking,
        "" if races == "-" else races,
        "" if matchings is None else f"{matchings.count}{'' if matchings.exact else '+'}",
        answer.engine,
        answer.reason,
        tuple(text for is_assert, text in said if is_assert),
        tuple(text for is_assert, text in said if not is_assert),
        tuple(sorted({line_of(program, each.span) for each in waiting})),
    )


def _races(answer: BufferAnswer) -> str:
    if answer.pairs is None and not answer.races:
        return "?" if not answer.pairs_exact or answer.reason else "-"
    return f"{len(answer.races)}{'' if answer.pairs_exact else '+'}"


def _exits(answers: Sequence[BufferAnswer], claims: Sequence[JudgedClaim], judging: Judging) -> list[Exit]:
    """Return the exit codes of all that counts."""
    found: list[Exit] = []
    if judging.expect:
        met = {"failed": Exit.NOT_ROBUST, "unknown": Exit.UNKNOWN, "met": Exit.OK}
        found += [met[each.status] for each in claims] or [Exit.NOT_ROBUST]
    else:
        found += [EXITS[each] for answer in answers for each in (answer.violated, answer.deadlocked)]
    if "race" in judging.deny:
        found += [EXITS[race_of(answer)] for answer in answers]
    if "leak" in judging.deny:
        found += [EXITS[answer.leaking] for answer in answers]
    return found


def as_expected(claims: Sequence[JudgedClaim]) -> bool | None:
    """Return whether all claims are true; None without any, or as long as some are open and none fails."""
    status = {each.status for each in claims}
    return False if "failed" in status else None if not claims or "unknown" in status else True


def _worst(answers: Sequence[Tri]) -> Tri | None:
    order: tuple[Tri, ...] = ("yes", "unknown", "no")
    return next((word for word in order if word in answers), None)


def _note(program: MessageProgram, answers: Sequence[BufferAnswer], claims: Sequence[JudgedClaim], judging: Judging) -> str:
    """Return what a row says besides its cells."""
    remarks: list[str] = []
    if judging.expect:
        remarks += [f"line {each.line}: {each.text} under {each.buffer}: found {each.found}" for each in _failed(claims)]
        remarks += [] if claims else ["no `expect` line"]
    places = [
        f"line {line_of(program, v.span)}: {violation_text(program, v)}" for answer in answers for v in answer.violations
    ]
    remarks += places[:1] if not judging.expect else []
    remarks += _only(answers, "violated", lambda answer: answer.violated)
    remarks += _only(answers, "leak", lambda answer: answer.leaking) or (
        ["leak"] if any(answer.leaking == "yes" for answer in answers) else []
    )
    if any(answer.mismatches for answer in answers):
        remarks.append("library procedures are called in different orders")
    remarks += dict.fromkeys(answer.reason for answer in answers if answer.reason)
    return "; ".join(remarks)


def _failed(claims: Sequence[JudgedClaim]) -> list[JudgedClaim]:
    return [each for each in claims if each.status == "failed"]


def _only(answers: Sequence[BufferAnswer], word: str, of: Callable[[BufferAnswer], Tri]) -> list[str]:
    """Return under which buffers something is, if not under all."""
    there = [answer.buffer for answer in answers if of(answer) == "yes"]
    return [f"{word} under {' and '.join(there)}"] if 0 < len(there) < len(answers) else []
