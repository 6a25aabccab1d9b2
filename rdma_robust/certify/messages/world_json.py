"""States as JSON, written and read without trust: a list whose first element is the name of the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from rdma_robust.certify.document import reject
from rdma_robust.messages.message_answers import Issued
from rdma_robust.messages.replay.world import (
    ActiveReceive,
    ActiveSend,
    At,
    Called,
    Counting,
    Delivered,
    Process,
    Receive,
    RequestArray,
    Send,
    World,
)

RECORDS: Final = (
    At,
    Counting,
    Called,
    ActiveSend,
    ActiveReceive,
    RequestArray,
    Process,
    Send,
    Receive,
    Delivered,
    World,
    Issued,
)
_NAMED: Final[Mapping[str, Callable[..., object]]] = {each.__name__: each for each in RECORDS}
_DEEPEST: Final = 200


def world_as_json(value: object) -> object:
    """Return a state, or a part of one, as what JSON has."""
    match value:
        case None | int() | str():
            return value
        case frozenset():
            return ["set", *(world_as_json(each) for each in sorted(value))]
        case tuple() if type(value).__name__ in _NAMED:
            return [type(value).__name__, *(world_as_json(each) for each in value)]
        case tuple():
            return ["list", *(world_as_json(each) for each in value)]
        case _:
            assert is_dataclass(value)
            return [type(value).__name__, *(world_as_json(getattr(value, each.name)) for each in fields(value))]


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
        return frozenset(items) if kind == "set" else _NAMED[kind](*items)
    except (KeyError, TypeError):
        reject(f"{where} is not a state")
