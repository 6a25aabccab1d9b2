"""Counterexamples as JSON and back, so that they can be run again another time."""

from __future__ import annotations

from typing import Any

from rdma_robust.contracts.contract_answers import Counterexample, VisibleEvent
from rdma_robust.errors import Span
from rdma_robust.messages.language.message_terms import Value


def run_object(example: Counterexample) -> dict[str, Any]:
    """Return all of a counterexample that running it again takes."""
    return {
        "error": example.error,
        "inputs": [dict(each) for each in example.inputs],
        "events": [
            [each.process, each.event, each.function, each.peer, each.tag, each.port, each.value, each.choices]
            for each in example.events
        ],
        "process": example.process,
        "other": example.other,
        "clause": example.clause,
        "span": _span_object(example.span),
        "collate": example.collate,
        "ending": example.ending,
    }


def run_of(made: Any) -> Counterexample:
    """Return a counterexample from its JSON. Raises KeyError, TypeError and ValueError if it is none."""
    return Counterexample(
        made["error"],
        tuple({str(name): _value(value) for name, value in each.items()} for each in made["inputs"]),
        tuple(_event(each) for each in made["events"]),
        int(made["process"]),
        made["other"],
        str(made["clause"]),
        _span(made["span"]),
        int(made["collate"]),
        ending=tuple(_numbers(each) for each in made["ending"]),
    )


def _event(made: Any) -> VisibleEvent:
    process, event, function, peer, tag, port, value, choices = made
    return VisibleEvent(process, event, function, peer, tag, port, _value(value), _numbers(choices))


def _numbers(made: list[int]) -> tuple[int, ...]:
    return tuple(int(each) for each in made)


def _value(made: object) -> Value:
    if isinstance(made, list | tuple):
        return tuple(_value(each) for each in made)
    if isinstance(made, int):
        return made
    raise TypeError("no value")


def _span_object(span: Span) -> list[object]:
    place: list[object] = [span.line, span.column, span.end_line, span.end_column, span.start, span.end, span.file]
    return [*place, None if span.origin is None else _span_object(span.origin)]


def _span(made: Any) -> Span:
    line, column, end_line, end_column, start, end, file, origin = made
    before = None if origin is None else _span(origin)
    return Span(int(line), int(column), int(end_line), int(end_column), int(start), int(end), str(file), before)
