"""Records back from JSON: the inverse of `dataclasses.asdict`, by the types of the fields."""

from __future__ import annotations

import dataclasses
import types
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Record = TypeVar("Record")


class Unreadable(ValueError):
    """A JSON value is not what the record needs; the message says where."""


def to_json(record: Any) -> dict[str, Any]:
    """Return a record as a JSON object."""
    return dataclasses.asdict(record)


def from_json(kind: type[Record], value: object) -> Record:
    """Return the record of the dataclass `kind` that `value`, a parsed JSON object, describes. Raises Unreadable."""
    built: Record = _build(kind, value, kind.__name__)
    return built


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _build(kind: Any, value: Any, where: str) -> Any:
    if dataclasses.is_dataclass(kind):
        hints = _hints(kind)  # type: ignore[arg-type]
        if not isinstance(value, dict) or set(value) != set(hints):
            raise Unreadable(f"{where}: not the fields of {kind}")
        return kind(**{name: _build(hint, value[name], f"{where}.{name}") for name, hint in hints.items()})  # type: ignore[operator]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return _build_tuple(arguments, value, where)
    if origin is dict and isinstance(value, dict):
        return value
    if origin is Literal:
        if value in arguments:
            return value
    elif origin in (Union, types.UnionType):
        for each in arguments:
            try:
                return _build(each, value, where)
            except Unreadable:
                continue
    elif kind is float and type(value) in (int, float):
        return float(value)
    elif type(value) is kind or (kind is types.NoneType and value is None):
        return value
    raise Unreadable(f"{where}: {value!r:.40} is no {kind}")


def _build_tuple(arguments: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise Unreadable(f"{where}: not a list")
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(_build(arguments[0], each, where) for each in value)
    if len(arguments) != len(value):
        raise Unreadable(f"{where}: not {len(arguments)} values")
    return tuple(_build(kind, each, where) for kind, each in zip(arguments, value, strict=True))
