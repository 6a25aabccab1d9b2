"""Notes on what races can change: nothing, final values, or what goes wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.frame.answer import JsonObject
from rdma_robust.limits import Limits
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.language.message_terms import shown_value
from rdma_robust.messages.message_answers import BufferAnswer, OperationId
from rdma_robust.messages.races.race_effects import Contrast, Effect, RaceEffect, RaceEffects, race_effects
from rdma_robust.messages.replay.replaying import replay_schedule
from rdma_robust.reports.messages.message_claims import line_of
from rdma_robust.reports.messages.narration import narrated, operation_names
from rdma_robust.reports.messages.wait_reasons import ChartContents, chart_of
from rdma_robust.reports.share.chart import LEGEND, Chart, chart_text
from rdma_robust.text import filled

WORDS: Final[Mapping[Effect, str]] = {
    "none": "changes nothing: whoever is first, the runs end alike",
    "values": "changes final values",
    "failure": "changes what goes wrong",
}
MOST_DIFFERENCES: Final = 4


def confirmed_effects(program: MessageProgram, buffer: Buffer, limits: Limits) -> RaceEffects:
    """Return what races can change, after the runs that show it were replayed. Raises InternalError if one is no run."""
    found = race_effects(program, buffer, limits)
    for effect in found.effects:
        for run in () if effect.contrast is None else effect.contrast.runs:
            replay_schedule(program, found.buffer, run)
    return found


@dataclass(frozen=True, slots=True)
class ContrastRun:
    """One of two runs that show what a race changes: `title` says what the receive takes, `end` what differs at the end."""

    title: str
    chart: Chart
    end: str


@dataclass(frozen=True, slots=True)
class RaceNote:
    """A sentence on what a race changes, and two runs that show it if it changes something."""

    text: str
    runs: tuple[ContrastRun, ...] = ()


def race_notes(program: MessageProgram, answers: Sequence[BufferAnswer], limits: Limits) -> list[RaceNote]:
    """Return a note for each place with a race, nothing if there is none. Raises as :func:`confirmed_effects`."""
    racing = [answer.buffer for answer in answers if answer.races]
    if not racing:
        return []
    buffer: Buffer = "zero" if racing == ["zero"] else "infinite"
    return effect_notes(program, confirmed_effects(program, buffer, limits))


def effect_notes(program: MessageProgram, found: RaceEffects) -> list[RaceNote]:
    """Return a note for each place with a choice between messages."""
    if found.reason:
        return [RaceNote(f"what races can change is not known: {found.reason}")]
    return [RaceNote(_line(program, each), tuple(_runs(program, found.buffer, each.contrast))) for each in found.effects]


def contrast_lines(note: RaceNote, width: int) -> list[str]:
    """Return the runs of a note as charts, one after the other, each with its end."""
    lines: list[str] = []
    for run in note.runs:
        chart = (f"    {line}" if line else "" for line in chart_text(run.chart, width - 4))
        lines += ["", *filled(f"{run.title}:", width, "    ", "  "), "", *chart]
        lines += ["", *filled(run.end, width, "    ", "  ")] if run.end else []
    return lines + (["", *filled(LEGEND, width, "    ")] if note.runs else [])


def _runs(program: MessageProgram, buffer: Buffer, contrast: Contrast | None) -> list[ContrastRun]:
    """Return both runs of a contrast as charts, in which the receive that makes the difference has its other message."""
    if contrast is None:
        return []
    names = operation_names(program)
    receive = _receive(program, contrast.receive)
    runs = []
    for which, (send, run) in enumerate(zip(contrast.sends, contrast.runs, strict=True)):
        title = f"If {receive} takes {names.told('send', send)}"
        told = narrated(program, buffer, run)
        chart = chart_of(program, names, told, ChartContents(title, feasible={contrast.receive: contrast.sends}))
        ends = [
            f"{what} {way if isinstance(way := both[which], str) else f'is {shown_value(way)}'}"
            for what, both in zip(contrast.differs, contrast.ends, strict=True)
        ]
        more = len(ends) - MOST_DIFFERENCES
        ends = ends[:MOST_DIFFERENCES] + ([f"{more} more differ"] if more > 0 else [])
        runs.append(ContrastRun(title, chart, f"At the end {'; '.join(ends)}."))
    return runs


def _line(program: MessageProgram, effect: RaceEffect) -> str:
    processes = sorted({program.processes[each.process].name for each in effect.receives})
    line = f"the race of {', '.join(processes)} at line {line_of(program, effect.span)} {WORDS[effect.effect]}"
    contrast = effect.contrast
    if contrast is None:
        return line
    names = operation_names(program)
    differs = ", ".join(contrast.differs[:MOST_DIFFERENCES])
    more = len(contrast.differs) - MOST_DIFFERENCES
    differs += f" and {more} more" if more > 0 else ""
    one, other = (names.told("send", each) for each in contrast.sends)
    return f"{line}: if {_receive(program, contrast.receive)} takes {one} and not {other}, what differs is {differs}"


def _receive(program: MessageProgram, receive: OperationId) -> str:
    return f"receive {receive.nth + 1} of {program.processes[receive.process].name}"


def effects_object(program: MessageProgram, found: RaceEffects) -> JsonObject:
    """Return the effects as JSON."""
    return {
        "buffer": found.buffer,
        "reason": found.reason,
        "races": [
            {
                "line": line_of(program, effect.span),
                "effect": effect.effect,
                "differs": [] if effect.contrast is None else list(effect.contrast.differs),
            }
            for effect in found.effects
        ],
    }
