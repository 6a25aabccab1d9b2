"""Explicit VASS as JSON (`schema/vass.schema.json`), out and in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from rdma_robust.counters.explicit import Cone, ExplicitVass, VassEdge
from rdma_robust.counters.vass import CounterEffect, Marking
from rdma_robust.errors import NO_SPAN, Diagnostic, ProgramError, Span
from rdma_robust.text import json_mistake

T = TypeVar("T")

FORMAT = "rdma-robust/vass"
VERSION = 1
DESCRIBED = "schema/vass.schema.json describes the format"


class DocumentMisfit(Exception):
    """A part of a document that is wrong, and why."""


def vass_json(vass: ExplicitVass) -> str:
    """Return `vass` as JSON text: one line for each member and for each edge and target, ASCII only."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "name": vass.name,
        "states": vass.states,
        "counters": vass.counters,
        "initial": {"state": vass.initial, "counters": vass.start},
    }
    edges = (
        {"source": e.source, "target": e.target, "guard": e.effect.guard, "delta": e.effect.delta, "name": e.name}
        for e in vass.edges
    )
    targets = ({"state": cone.state, "counters": cone.least} for cone in vass.targets)
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    lines += [f'  "edges": {_list(edges)}', f'  "targets": {_list(targets)}']
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _list(elements: Iterable[object]) -> str:
    lines = ",\n".join(f"    {json.dumps(element)}" for element in elements)
    return f"[\n{lines}\n  ]" if lines else "[]"


def read_vass_json(text: str, file: str) -> ExplicitVass:
    """Return the VASS in `text`; `file` names it in messages. Raises ProgramError for text that is none."""
    return read_document(text, file, _vass, "not an explicit VASS", DESCRIBED)


def read_document(text: str, file: str, read: Callable[[Any], T], refusal: str, hint: str) -> T:
    """Return what `read`, which may raise DocumentMisfit, makes of JSON. Raises ProgramError, which says `refusal`."""
    try:
        return read(json.loads(text))
    except json.JSONDecodeError as error:
        span = Span(error.lineno, error.colno, error.lineno, error.colno + 1, error.pos, error.pos + 1)
        problem = Diagnostic("error", "RR611", f"not JSON: {json_mistake(error)}", span)
    except DocumentMisfit as error:
        problem = Diagnostic("error", "RR612", f"{refusal}: {error}", NO_SPAN, hint=hint)
    except (RecursionError, ValueError) as error:
        problem = Diagnostic("error", "RR612", f"{refusal}: {json_mistake(error)}", NO_SPAN, hint=hint)
    raise ProgramError(file, text, (problem,))


def _vass(document: object) -> ExplicitVass:
    keys = ("format", "version", "name", "states", "counters", "initial", "edges", "targets")
    members = document_members(document, FORMAT, VERSION, keys)
    states, counters = (_names(members[key], key) for key in ("states", "counters"))

    def state(value: object, where: str) -> int:
        number = _integer(value, where)
        if not 0 <= number < len(states):
            raise DocumentMisfit(f"{where} is {number}, and there are {len(states)} states, numbered from 0")
        return number

    def marking(value: object, where: str, *, signed: bool = False) -> Marking:
        numbers = tuple(_integer(n, place) for n, place in _elements(value, where))
        if len(numbers) != len(counters):
            raise DocumentMisfit(f"{where} has {len(numbers)} entries, and there are {len(counters)} counters")
        if not signed and any(n < 0 for n in numbers):
            raise DocumentMisfit(f"{where} has a negative number")
        return numbers

    def edge(value: object, where: str) -> VassEdge:
        parts = members_of(value, where, ("source", "target", "guard", "delta", "name"))
        guard = marking(parts["guard"], f"{where}.guard")
        delta = marking(parts["delta"], f"{where}.delta", signed=True)
        if any(g + d < 0 for g, d in zip(guard, delta, strict=True)):
            raise DocumentMisfit(f"{where} subtracts more than its guard asks for")
        source, target = (state(parts[key], f"{where}.{key}") for key in ("source", "target"))
        return VassEdge(source, target, CounterEffect(guard, delta), _text(parts["name"], f"{where}.name"))

    def cone(value: object, where: str) -> Cone:
        parts = members_of(value, where, ("state", "counters"))
        return Cone(state(parts["state"], f"{where}.state"), marking(parts["counters"], f"{where}.counters"))

    initial = cone(members["initial"], "initial")
    return ExplicitVass(
        name=_text(members["name"], "name"),
        states=states,
        counters=counters,
        edges=tuple(edge(e, where) for e, where in _elements(members["edges"], "edges")),
        initial=initial.state,
        start=initial.least,
        targets=tuple(cone(t, where) for t, where in _elements(members["targets"], "targets")),
    )


def document_members(document: object, form: str, version: int, keys: tuple[str, ...]) -> dict[str, Any]:
    """Return the members of a document of this format and version. Raises DocumentMisfit."""
    members = members_of(document, "the document", keys)
    if (members["format"], members["version"]) != (form, version) or type(members["version"]) is not int:
        raise DocumentMisfit(f"`format` and `version` must be {form!r} and {version}")
    return members


def members_of(value: object, where: str, keys: tuple[str, ...]) -> dict[str, Any]:
    """Return an object that has exactly these members. Raises DocumentMisfit."""
    if not isinstance(value, dict) or set(value) != set(keys):
        raise DocumentMisfit(f"{where} must be an object with the members {', '.join(keys)}")
    return value


def _elements(value: object, where: str) -> Iterator[tuple[object, str]]:
    if not isinstance(value, list):
        raise DocumentMisfit(f"{where} must be a list")
    return ((element, f"{where}[{i}]") for i, element in enumerate(value))


def _names(value: object, where: str) -> tuple[str, ...]:
    names = tuple(_text(name, place) for name, place in _elements(value, where))
    if len(set(names)) != len(names):
        raise DocumentMisfit(f"{where} names something twice")
    return names


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise DocumentMisfit(f"{where} must be a string")
    return value


def _integer(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise DocumentMisfit(f"{where} must be an integer")
    return value
