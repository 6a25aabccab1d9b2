"""What races can change, in words: nothing, final values, or what goes wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rdma_robust.limits import Limits
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import BufferAnswer, Issued
from rdma_robust.messages.races.race_effects import Effect, RaceEffect, RaceEffects, race_effects
from rdma_robust.messages.replay.replaying import replayed
from rdma_robust.reports.check.json_report import JsonObject
from rdma_robust.reports.messages.operation_names import operation_names
from rdma_robust.reports.messages.violation_words import line_of

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
            replayed(program, found.buffer, run)
    return found


def race_notes(program: MessageProgram, answers: Sequence[BufferAnswer], limits: Limits) -> list[str]:
    """Return a sentence for each place with a race, nothing if there is none. Raises as :func:`confirmed_effects`."""
    racing = [answer.buffer for answer in answers if answer.races]
    if not racing:
        return []
    buffer: Buffer = "zero" if racing == ["zero"] else "infinite"
    return effect_lines(program, confirmed_effects(program, buffer, limits))


def effect_lines(program: MessageProgram, found: RaceEffects) -> list[str]:
    """Return a sentence for each place with a choice between messages."""
    if found.reason:
        return [f"what races can change is not known: {found.reason}"]
    return [_line(program, effect) for effect in found.effects]


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


def _receive(program: MessageProgram, receive: Issued) -> str:
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
