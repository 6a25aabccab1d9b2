"""The explanation of one message program: what holds under each buffer semantics, and runs that show what goes wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdma_robust.frame.exits import Exit, within
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.courses import random_run
from rdma_robust.messages.message_answers import BufferAnswer
from rdma_robust.messages.replay.replaying import replay_schedule
from rdma_robust.reports.messages.chart_builder import Shown, chart_of
from rdma_robust.reports.messages.message_claims import matchings_of, race_of
from rdma_robust.reports.messages.messages_explained import open_lines, order_lines
from rdma_robust.reports.messages.narration import narrated
from rdma_robust.reports.messages.operation_names import operation_names
from rdma_robust.reports.messages.race_notes import RaceNote
from rdma_robust.reports.messages.run_findings import RunFinding, race_lines, racing_sends, run_findings

ASSERTS = {"no": "hold", "yes": "VIOLATED", "unknown": "UNKNOWN"}
DEADLOCK = {"no": "no", "yes": "YES", "unknown": "UNKNOWN"}


@dataclass(frozen=True, slots=True)
class BufferRow:
    """What holds under one buffer semantics, in words."""

    buffer: Buffer
    asserts: str
    deadlock: str
    races: str
    matchings: str
    leak: str
    engine: str

    @property
    def cells(self) -> tuple[str, ...]:
        return (self.buffer, self.asserts, self.deadlock, self.races, self.matchings, self.leak, self.engine)


HEADS = ("buffers", "asserts", "deadlock", "races", "matchings", "leak", "engine")


@dataclass(frozen=True, slots=True)
class MessagesExplanation:
    """All that is said of a program. `findings` has at least one run, the one that says most first; `notes` are about
    what races change, library procedures in different orders, and what is not known; `changes` show what races change."""

    program: MessageProgram
    rows: tuple[BufferRow, ...]
    findings: tuple[RunFinding, ...]
    races: tuple[str, ...]
    notes: tuple[str, ...]
    exit_code: Exit
    changes: tuple[RaceNote, ...] = ()

    @property
    def verdict(self) -> str:
        """The answer in a few words."""
        words = {"VIOLATED": [row.asserts for row in self.rows], "DEADLOCK": [row.deadlock for row in self.rows]}
        bad = [word for word, answers in words.items() if {"VIOLATED", "YES"} & {*answers}]
        unknown = any("UNKNOWN" in answers for answers in words.values())
        return ", ".join(bad) or ("UNKNOWN" if unknown else "asserts hold, no deadlock")


def messages_explanation(
    program: MessageProgram, answers: Sequence[BufferAnswer], races: Sequence[RaceNote] = ()
) -> MessagesExplanation:
    """Return the explanation of a program; where nothing goes wrong it shows some run. `races` say what races change."""
    found = run_findings(program, answers) or (_some_run(program, answers[0]),)
    codes = {"yes": Exit.NOT_ROBUST, "unknown": Exit.UNKNOWN, "no": Exit.OK}
    return MessagesExplanation(
        program,
        tuple(_row(answer) for answer in answers),
        found,
        tuple(race_lines(program, answers)),
        (*(each.text for each in races), *order_lines(program, answers), *open_lines(answers)),
        within(codes[each] for answer in answers for each in (answer.violated, answer.deadlocked)),
        tuple(each for each in races if each.runs),
    )


def _row(answer: BufferAnswer) -> BufferRow:
    races = str(len(answer.races)) if answer.pairs_exact else f"{len(answer.races)}+" if answer.races else "?"
    return BufferRow(
        answer.buffer,
        ASSERTS[answer.violated],
        DEADLOCK[answer.deadlocked],
        races if race_of(answer) != "unknown" else "?",
        matchings_of(answer),
        {"no": "no", "yes": "yes", "unknown": "?"}[answer.leaking],
        answer.engine,
    )


def _some_run(program: MessageProgram, answer: BufferAnswer) -> RunFinding:
    """Return any run, made by the machine, of a program in which nothing bad was found. Raises InternalError if it cannot be
    replayed."""
    schedule = random_run(program, answer.buffer, 0)
    replay_schedule(program, answer.buffer, schedule)
    names = operation_names(program)
    show = Shown("a run", feasible=racing_sends(answer))
    chart = chart_of(program, names, narrated(program, answer.buffer, schedule), show)
    return RunFinding("run", (answer.buffer,), answer.buffer, f"A run under {answer.buffer}:", (), "", chart, schedule)
