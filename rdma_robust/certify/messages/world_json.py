"""States as JSON, written and read without trust: a list whose first element is the word of the record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from rdma_robust.certify.document import reject
from rdma_robust.messages.message_answers import OperationId
from rdma_robust.messages.replay.world import (
    ActiveReceive,
    ActiveSend,
    BlockPoint,
    Delivery,
    ForTest,
    ReplayProcess,
    ReplayState,
    RequestArray,
    ReturnPoint,
    UnmatchedReceive,
    UnmatchedSend,
)

RECORDS: Final[Mapping[str, type]] = {
    "At": BlockPoint,
    "Counting": ForTest,
    "Called": ReturnPoint,
    "ActiveSend": ActiveSend,
    "ActiveReceive": ActiveReceive,
    "RequestArray": RequestArray,
    "Process": ReplayProcess,
    "Send": UnmatchedSend,
    "Receive": UnmatchedReceive,
    "Delivered": Delivery,
    "World": ReplayState,
    "Issued": OperationId,
}
"""The records by the words that certificates have for them, which stay when a class is renamed."""

_WORDS: Final = {record: word for word, record in RECORDS.items()}
_DEEPEST: Final = 200


def world_as_json(value: object) -> object:
    """Return a state, or a part of one, as what JSON has."""
    match value:
        case None | int() | str():
            return value
        case frozenset():
            return ["set", *(world_as_json(each) for each in sorted(value))]
        case tuple() if type(value) in _WORDS:
            return [_WORDS[type(value)], *(world_as_json(each) for each in _said(value))]
        case tuple():
            return ["list", *(world_as_json(each) for each in value)]
        case _:
            assert is_dataclass(value)
            return [_WORDS[type(value)], *(world_as_json(getattr(value, each.name)) for each in fields(value))]


def _said(record: tuple[object, ...]) -> tuple[object, ...]:
    """Return the parts of a record, of an operation without the last ones that are as they are left out."""
    known = record._field_defaults if isinstance(record, UnmatchedSend | UnmatchedReceive) else {}
    parts = list(record)
    for default in reversed(known.values()):
        if parts[-1] != default:
            break
        parts.pop()
    return tuple(parts)


def read(value: object, where: str, depth: int = 0) -> Any:
    """Return the state, or the part of one, that `value` says. Raises InvalidCertificate if it says none.

    Whether it is a state of some program is not asked: one that is none proves nothing.
    """
    if value is None or (isinstance(value, int | str) and not isinstance(value, bool)):
        return value
    if not isinstance(value, list) or not value or not isinstance(value[0], str):
        reject(f"{where} is not a state")
    if depth > _DEEPEST:
        reject(f"{where} is nested too deeply")
    kind, *parts = value
    items = [read(each, where, depth + 1) for each in parts]
    if kind == "list":
        return tuple(items)
    try:
        return frozenset(items) if kind == "set" else RECORDS[kind](*items)
    except (KeyError, TypeError):
        reject(f"{where} is not a state")
