"""The question of `messages check`: what can a message program do under each buffer semantics?"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from rdma_robust import TOOL
from rdma_robust.diagnose import listing
from rdma_robust.errors import UsageError
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.question import Question
from rdma_robust.frame.registry import late
from rdma_robust.frame.shell.inputs import Source, read_bytes, read_source
from rdma_robust.frame.shell.stderr import no_certificate, warning_texts
from rdma_robust.guard import ENDING, cut_short, found_within
from rdma_robust.limits import Limits, Progress
from rdma_robust.messages.engines.engine_names import MessageEngineName
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.messages.language.message_program import Buffer, MessageProgram
    from rdma_robust.messages.message_answers import BufferAnswer, MessageQuestions
    from rdma_robust.messages.traces.logged_answers import Tried
    from rdma_robust.reports.messages.messages_record import MessagesRecord
    from rdma_robust.reports.messages.messages_view import MessagesView

BufferName = Literal["zero", "infinite", "any", "eager", "all"]

COUNTED: Final = 100
"""Matchings that `check` counts: whether they are few or many; `matches --count` counts more."""


BESIDE_S: Final = 10.0
"""Seconds for races and matchings that nobody has claimed anything about, under each buffer semantics."""


CONTRACTS_ONLY: Final = "there is no `proc`, so nothing runs; `rdma-robust contracts check` checks the contracts"


@dataclass(frozen=True, slots=True)
class MessagesAsking:
    """The question about every program. The limits are those of one program, None is no limit.

    `matches` says whether races and matchings are asked for, `counted` is up to which number matchings are counted, 0 for
    not at all, `listed` how many of them are wanted. `eager` is how many elements a send may have that is buffered under
    `eager`, whatever the program says. `explain` asks for what is beneath the row, `full` for all of long runs; the text is
    `width` wide. `page` asks for a fragment of HTML, `objects` for the objects of JSON, which may be millions, `findings`
    for what somebody should look at, `proofs` for certificates of what goes wrong. Of a logged run `tried` tells which
    runs are surely some of its program.
    """

    buffer: BufferName = "all"
    eager: int | None = None
    engine: MessageEngineName = "auto"
    loop_bound: int = 8
    timeout: float | None = None
    memory: int | None = None
    expect: bool = False
    deny: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    matches: bool = True
    counted: int = COUNTED
    listed: int = 0
    explain: bool = False
    full: bool = False
    width: int | None = None
    page: bool = False
    objects: bool = False
    self_check: bool = False
    findings: bool = False
    proofs: bool = False
    tried: Tried | None = None

    def buffers(self, program: MessageProgram | None) -> tuple[Buffer, ...]:
        """Return the buffer semantics that are asked about; of a program that was not read those of every program."""
        if self.buffer != "all":
            return (self.buffer,)
        return ("zero", "infinite", "any") if program is None else program.buffers

    def described(self) -> dict[str, object]:
        """Return how the answers were found as the `options` of a report."""
        asked: dict[str, object] = {"buffer": self.buffer, "engine": self.engine, "loop_bound": self.loop_bound}
        asked |= {} if self.eager is None else {"eager": self.eager}
        asked |= {"self_check": self.self_check, "matches": self.matches}
        judged = {"expect": self.expect, "deny": list(self.deny), "define": list(self.define)}
        return asked | {"timeout": self.timeout, "memory": self.memory} | judged

    def limits(self) -> Limits:
        """Return the limits of a program, from now on."""
        return Limits.of(self.timeout, None, self.memory)

    def questions(self, program: MessageProgram) -> MessageQuestions:
        """Return what engines are asked: with --expect what claims are about, be it as many matchings."""
        from rdma_robust.messages.message_answers import MessageQuestions  # noqa: PLC0415 - slow, and reading may have failed

        claims = program.claims if self.expect else ()
        claimed = [claim.number + 1 for claim in claims if claim.kind == "matchings"]
        most = max([self.counted if self.matches else 0, *claimed])
        racing = self.matches or "race" in self.deny or any(claim.kind in ("race", "no race") for claim in claims)
        beside = (
            BESIDE_S if not claimed and not self.listed and self.counted == COUNTED and "race" not in self.deny else None
        )
        return MessageQuestions(racing, most > 0, most, self.listed, self.loop_bound, beside)


@dataclass
class Answered:
    """The answers so far about a program: a limit may end the work between two buffer semantics."""

    program: MessageProgram | None = None
    notes: tuple[str, ...] = ()
    answers: list[BufferAnswer] = field(default_factory=list)


def decide_in_time(source: Source, asking: MessagesAsking, limits: Limits) -> Answered:
    """Return the program of `source` and what was found until a limit came, if one did.

    Raises what reading raises, LimitReached and Overrun if there was no time for that, and InternalError.
    """
    so_far = Answered()
    cut = cut_short(limits, partial(_decide, source, asking, limits, so_far), lambda: so_far.program is not None)
    so_far.answers += [_open(buffer, cut) for buffer in asking.buffers(so_far.program)[len(so_far.answers) :]]
    return so_far


def _decide(source: Source, asking: MessagesAsking, limits: Limits, so_far: Answered) -> None:
    """Put the program of `source` and its answers into `so_far`. Raises what reading and deciding raise."""
    from rdma_robust.messages.engines.engine_table import answered, comparison, self_checked  # noqa: PLC0415 - slow
    from rdma_robust.messages.language.message_program import with_eager  # noqa: PLC0415
    from rdma_robust.messages.traces.logged_answers import as_far_as_logged  # noqa: PLC0415

    program, so_far.notes = read_messages(source)
    if asking.eager is not None:
        program = with_eager(program, asking.eager)
    buffers = asking.buffers(program)
    if "eager" in buffers and program.eager is None:
        raise UsageError("--buffer eager needs --eager N: sends of at most N elements are buffered")
    so_far.program = program
    questions = asking.questions(program)
    checked = []
    for number, buffer in enumerate(buffers):
        part = limits.share(1 / (len(buffers) - number))
        if asking.self_check:
            checked.append(self_checked(program, buffer, questions, part, asking.engine))
            found = checked[-1].answer
        else:
            found = answered(program, buffer, questions, part, asking.engine)
        again = partial(answered, buffer=buffer, questions=questions.of_the_verdict, limits=part, engine=asking.engine)
        so_far.answers.append(as_far_as_read(program, as_far_as_logged(program, found, again, asking.tried)))
    if checked:
        so_far.notes += (comparison(checked),)


def as_far_as_read(program: MessageProgram, answer: BufferAnswer) -> BufferAnswer:
    """Return an answer that says nothing of what is left out of a program: what was not seen is unknown.

    A deadlock is one of the run that was recorded if every process of which more is not known waits in it.
    """
    if program.unfinished:
        return _as_far_as_recorded(program, answer)
    if not program.left_out:
        return answer
    unknown = {name: "unknown" for name in ("violated", "deadlocked", "leaking") if getattr(answer, name) == "no"}
    reason = f"the rest was not looked at: {program.left_out}"
    return replace(answer, **unknown, pairs=None, pairs_exact=False, matchings=None, reason=reason)  # type: ignore[arg-type]


def _as_far_as_recorded(program: MessageProgram, answer: BufferAnswer) -> BufferAnswer:
    """Return an answer about a recorded run that says nothing of what its unfinished processes did behind its end."""
    names = listing([program.processes[each].name for each in program.unfinished], "and")
    waiting = {each.process for each in answer.deadlock.waiting} if answer.deadlock is not None else set()
    deadlock = answer.deadlock if waiting.issuperset(program.unfinished) else None
    reason = f"the recorded run stops before the end of {names}"
    return replace(
        answer,
        violated="yes" if answer.violated == "yes" else "unknown",
        deadlocked="yes" if deadlock is not None else "unknown",
        leaking="unknown",
        deadlock=deadlock,
        leak=None,
        pairs=None,
        pairs_exact=False,
        matchings=None,
        reason=reason,
    )


def read_messages(source: Source) -> tuple[MessageProgram, tuple[str, ...]]:
    """Return the program in `source`, of a trace with what its reader should know. Raises UnreadableError, ProgramError, and
    UsageError for definitions that do not fit."""
    if is_trace(source):
        from rdma_robust.messages.traces.observed import read_recorded  # noqa: PLC0415 - slow, only for traces

        if source.define:
            raise UsageError(f"a trace has no constants, so -D {source.define[0]} defines nothing")
        recorded = read_recorded(read_source(source), source.name)
        return recorded.program, recorded.notes
    from rdma_robust.messages.language.load_messages import load_messages  # noqa: PLC0415 - slow

    program = load_messages(read_source(source), source.name)
    warned = any(each.code == "RR706" for each in program.warnings)
    return program, () if program.processes or warned else (CONTRACTS_ONLY,)


def is_trace(source: Source) -> bool:
    """Return whether `source` is a recorded run: its name ends in `.json`, or it is a stream of JSON."""
    if source.path is None:
        return read_bytes(source).lstrip()[:1] == b"{"
    return source.path.endswith(".json")


def load_messages_room() -> None:
    """Load what answers, once for all processes that will be started; no limit counts it."""
    from rdma_robust.messages.engines import engine_table  # noqa: F401, PLC0415
    from rdma_robust.messages.language import load_messages  # noqa: F401, PLC0415
    from rdma_robust.messages.language.message_words import message_grammar  # noqa: PLC0415
    from rdma_robust.reports.messages import messages_record  # noqa: F401, PLC0415

    message_grammar()


def _answer(
    source: Source, asking: MessagesAsking, limits: Limits, _: Progress, __: Callable[[Answer[MessagesRecord]], None]
) -> Answer[MessagesRecord]:
    from rdma_robust.reports.messages.messages_explanation import messages_lines  # noqa: PLC0415
    from rdma_robust.reports.messages.messages_record import Judging, messages_record, nothing_complete_notes  # noqa: PLC0415

    started = time.monotonic()
    found = decide_in_time(source, asking, limits)
    program, answers = found.program, found.answers
    assert program is not None, "decided, so read"
    deny = (*asking.deny, "leak") if program.is_c and "leak" not in asking.deny else asking.deny
    judging = Judging(asking.expect, deny)
    found.notes += nothing_complete_notes(program, answers)
    spent = round(time.monotonic() - started, 6)
    record = messages_record(program, answers, judging, spent, found.notes, objects=asking.objects)
    if asking.explain:
        explained = partial(messages_lines, program, answers, asking.width, full=asking.full)
        lines = found_within(ENDING.of(limits), explained, lambda why: [f"Left out: the explanation: {why}."])
        record = replace(record, lines=tuple(lines))
    if asking.page:
        from rdma_robust.reports.messages.messages_explanation import messages_part  # noqa: PLC0415 - seldom wanted

        record = replace(record, page=messages_part(program, answers, record))
    if asking.findings:
        from rdma_robust.reports.messages.message_findings import message_findings  # noqa: PLC0415 - for few forms

        record = replace(record, findings=message_findings(program, answers, expect=asking.expect, deny=deny))
    warnings = warning_texts(program.warnings, program.file, program.source)
    notes = tuple(f"{printable(program.file)}: note: {printable(note)}" for note in found.notes)
    certify = partial(_certify, program, answers, source, limits, asking.loop_bound)
    complaints = found_within(limits, certify, lambda why: [why])
    missing = tuple(no_certificate(source.name, why) for why in complaints)
    proofs = _proofs(program, answers) if asking.proofs else ()
    lasting = not any("memory" in answer.reason for answer in answers)
    return Answer(record, (*warnings, *notes, *missing), len(complaints), record.source, proofs, lasting)


def _proofs(program: MessageProgram, answers: Sequence[BufferAnswer]) -> tuple[bytes, ...]:
    """Return certificates of what goes wrong, by which the cache can check it again."""
    from rdma_robust.evidence.envelope import write_document  # noqa: PLC0415 - slow, and few need it
    from rdma_robust.evidence.of_messages import run_certificates  # noqa: PLC0415

    runs = [run for answer in answers for run in run_certificates(program, answer, None).values()]
    return tuple(write_document(run, TOOL) for run in runs)


def _certify(
    program: MessageProgram, answers: Sequence[BufferAnswer], source: Source, limits: Limits, loop_bound: int
) -> list[str]:
    """Write the certificates that `source` wants, if it wants any; return why some could not be had."""
    if source.certificate is None:
        return []
    from rdma_robust.questions.certificate_files import certify_messages  # noqa: PLC0415 - only where it is wanted

    return certify_messages(program, answers, source, limits, loop_bound)


def _open(buffer: Buffer, reason: str) -> BufferAnswer:
    from rdma_robust.messages.message_answers import BufferAnswer  # noqa: PLC0415

    return BufferAnswer(buffer, "-", "unknown", "unknown", "unknown", pairs_exact=False, reason=reason)


def _view(asking: MessagesAsking) -> MessagesView:
    from rdma_robust.reports.messages.messages_view import MessagesView  # noqa: PLC0415 - slow

    return MessagesView(asking, asking.eager is not None)


MESSAGES_CHECK: Final[Question[MessagesAsking, MessagesRecord]] = Question(
    "messages check",
    ("rdma-robust/messages-check", 1),
    "program",
    _answer,
    late("rdma_robust.reports.messages.messages_record:unanswered_messages"),
    _view,
    load_messages_room,
)
