"""The reports of `messages matches`: which receive can take which message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.digraph import by_key
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.messages.encoding.match_candidates import Candidates
from rdma_robust.messages.encoding.unrolled import ReceiveEvent, SendEvent
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import BufferAnswer, Matching, OperationId
from rdma_robust.messages.races.race_effects import RaceEffects
from rdma_robust.reports.messages.message_claims import line_of, matchings_of
from rdma_robust.reports.messages.narration import Direction, OperationNames, operation_names
from rdma_robust.reports.messages.race_notes import RaceNote, contrast_lines, effect_notes, effects_object
from rdma_robust.text import count, filled, printable

FORMAT: Final = "rdma-robust/messages-matches"
VERSION: Final = 1
WIDTH: Final = 80


@dataclass(frozen=True, slots=True)
class MatchesRecord:
    """The answers of one program, under each buffer semantics; `dropped` are the candidates of each, or why there are none,
    `effects` what races can change, if they are wanted."""

    program: MessageProgram
    answers: tuple[BufferAnswer, ...]
    dropped: Mapping[Buffer, Candidates | str]
    effects: Mapping[Buffer, RaceEffects] = field(default_factory=dict)


def matches_text(record: MatchesRecord, width: int | None) -> list[str]:
    """Return the pairs, races and matchings as lines; buffer semantics with the same answers share them."""
    names = operation_names(record.program)
    told = by_key((tuple(_answer_lines(names, answer, width or WIDTH)), answer.buffer) for answer in record.answers)
    lines: list[str] = []
    for body, buffers in told.items():
        lines += ["", f"{printable(record.program.file)} under {', '.join(buffers)}: {body[0]}", *body[1:]]
    told_effects = ((effect_notes(record.program, each), buffer) for buffer, each in record.effects.items())
    notes = by_key((tuple(said or [RaceNote("there is no race")]), buffer) for said, buffer in told_effects)
    for said, buffers in notes.items():
        lines += ["", f"what races change under {', '.join(buffers)}:"]
        for each in said:
            lines += [*filled(each.text, width or WIDTH, "  ", "  "), *contrast_lines(each, width or WIDTH)]
    for buffer, found in record.dropped.items():
        lines += ["", *_dropped_lines(record.program, buffer, found, width or WIDTH)]
    return lines[1:]


def _answer_lines(names: OperationNames, answer: BufferAnswer, width: int) -> list[str]:
    senders = by_key((pair.receive, pair.send) for pair in sorted(answer.pairs or ()))
    known = "" if answer.pairs is not None and answer.pairs_exact else "at least "
    head = f"{known}{count(len(answer.pairs or ()), 'pair')}, {len(answer.races)} racing"
    if answer.matchings is not None:
        head += f", matchings: {matchings_of(answer)}"
    lines = [head]
    for receive, sends in senders.items():
        lines.append(f"  {names.told('receive', receive)}{' races' if len(sends) > 1 else ''}")
        lines += [f"      takes {names.told('send', send)}" for send in sends]
    listed = () if answer.matchings is None else answer.matchings.listed
    for number, each in enumerate(listed, 1):
        lines += filled(f"matching {number}: {_matching(names, each)}", width, "  ", "  ")
    if answer.matchings is not None and answer.matchings.count > len(listed) > 0:
        lines.append(f"  and {answer.matchings.count - len(listed):,} more")
    if answer.reason:
        lines += filled(f"not known: {answer.reason}", width, "  ", "  ")
    return lines


def _matching(names: OperationNames, matching: Matching) -> str:
    """Return a matching in short: `Server 1 <- Client[1] 1` for the first receive and the first send."""
    lanes = names.program.processes
    pairs = (
        f"{lanes[pair.receive.process].name} {pair.receive.nth + 1} <- {lanes[pair.send.process].name} {pair.send.nth + 1}"
        for pair in sorted(matching)
    )
    return ", ".join(pairs) or "nothing is received"


def _dropped_lines(program: MessageProgram, buffer: Buffer, found: Candidates | str, width: int) -> list[str]:
    """Return which pairs of one endpoint are no candidates, rule by rule, with the reason."""
    if isinstance(found, str):
        return filled(f"candidates under {buffer}: {found}", width, "", "  ")
    dropped = sorted(found.dropped(), key=lambda each: (each.rule, each.receive, each.send))
    kept = found.count()
    lines = [f"candidates under {buffer}: {kept} of {count(kept + len(dropped), 'pair')} of one endpoint are kept"]
    numbers = Counter(each.rule for each in dropped)
    receives, sends = (_told(program, events) for events in _operations(found))
    rule = 0
    for each in dropped:
        if each.rule != rule:
            rule = each.rule
            lines += filled(f"rule {rule} drops {numbers[rule]}: {each.reason}", width, "  ", "  ")
        lines.append(f"      receive {receives[each.receive]}, send {sends[each.send]}")
    return lines


def _operations(found: Candidates) -> tuple[list[ReceiveEvent], list[SendEvent]]:
    """Return the receives and the sends of all endpoints."""
    endpoints = found.endpoints
    return [each for pairs in endpoints for each in pairs.receives], [each for pairs in endpoints for each in pairs.sends]


def _told(program: MessageProgram, events: Sequence[SendEvent | ReceiveEvent]) -> dict[int, str]:
    """Return where events are, as in `at line 9 of Server`, and which copy of a line that was written out."""
    found: dict[int, str] = {}
    copies = by_key(((each.process, each.span), each.number) for each in sorted(events, key=lambda event: event.number))
    for (process, span), numbers in copies.items():
        place = f"at line {line_of(program, span)} of {program.processes[process].name}"
        for copy, number in enumerate(numbers, 1):
            found[number] = f"{place} (copy {copy})" if len(numbers) > 1 else place
    return found


def matches_object(record: MatchesRecord, answer: BufferAnswer) -> JsonObject:
    """Return the object of one program under one buffer semantics."""
    program, names = record.program, operation_names(record.program)

    def operation(direction: Direction, each: OperationId) -> JsonObject:
        name = program.processes[each.process].name
        return {"process": name, "nth": each.nth, "line": names.line(direction, each)}

    def pairs(matching: Sequence[tuple[OperationId, OperationId]]) -> list[JsonObject]:
        return [{"receive": operation("receive", r), "send": operation("send", s)} for r, s in matching]

    found, matchings, effects = record.dropped.get(answer.buffer), answer.matchings, record.effects.get(answer.buffer)
    numbers = None if matchings is None else {"count": matchings.count, "exact": matchings.exact}
    return {
        "file": valid_unicode(program.file),
        "buffer": answer.buffer,
        "pairs": pairs(sorted(answer.pairs or ())),
        "pairs_exact": answer.pairs is not None and answer.pairs_exact,
        "races": [operation("receive", each) for each in answer.races],
        "matchings": numbers,
        "listed": [] if matchings is None else [pairs(sorted(each)) for each in matchings.listed],
        "effects": None if effects is None else effects_object(program, effects),
        "candidates": _candidates_object(program, found),
        "reason": answer.reason,
        "engine": answer.engine,
    }


def _candidates_object(program: MessageProgram, found: Candidates | str | None) -> JsonObject | None:
    """Return how many pairs are kept, and those that are dropped; null if that was not asked, or is not known."""
    if found is None or isinstance(found, str):
        return None
    processes = program.processes
    receives, sends = ({each.number: each for each in events} for events in _operations(found))
    return {
        "kept": found.count(),
        "dropped": [
            {
                "receiver": processes[receives[each.receive].process].name,
                "receive_line": line_of(program, receives[each.receive].span),
                "sender": processes[sends[each.send].process].name,
                "send_line": line_of(program, sends[each.send].span),
                "rule": each.rule,
                "reason": each.reason,
            }
            for each in found.dropped()
        ],
    }


def matches_document(results: Sequence[JsonObject], tool: Mapping[str, object]) -> JsonObject:
    """Return the whole report."""
    return {"format": FORMAT, "version": VERSION, "tool": dict(tool), "results": list(results)}
