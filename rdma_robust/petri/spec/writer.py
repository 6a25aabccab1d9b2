"""Writing Petri nets as `.spec` text, for mist, QCover and ICover, and for :mod:`rdma_robust.petri.spec.reader`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rdma_robust.petri.net import Net, NetTransition, Vector

_RESERVED = frozenset({"vars", "rules", "init", "target", "invariants", "in", "true"})
_PER_LINE = 8


def write_spec(net: Net) -> str:
    """Return `net` as text; reading it gives the same net, up to the names of the net and its transitions, which are
    comments here, and of places that are no names of the format (:func:`place_names`).

    The format has no net without places or targets. Such a net gets one more place, which is never marked and is the
    target if there is none.
    """
    least, most, targets = net.least, net.most, net.targets
    wanted = net.places
    if not wanted or not targets:
        wanted, least, most = (*wanted, "never_marked"), (*least, 0), (*most, 0)
        targets = targets or (((len(wanted) - 1, 1),),)
    places = place_names(wanted)
    bounds = [_bounds(name, low, high) for name, low, high in zip(places, least, most, strict=True)]
    lines = [f"# {_comment(net.name)}", "vars", *_wrapped(places, " "), "", "rules"]
    lines += [_rule(places, transition) for transition in net.transitions]
    lines += ["", "init", *_wrapped(bounds, ", "), "", "target"]
    lines += ["  " + _cone(places, target) for target in targets]
    if net.weights:
        lines += ["", "invariants"]
        lines += ["  " + ", ".join(f"{places[p]} = {weight}" for p, weight in weights) for weights in net.weights if weights]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def place_names(wanted: Sequence[str]) -> tuple[str, ...]:
    """Return names of the format, all different, as like the wanted ones as can be."""
    taken = set(wanted)
    names: list[str] = []
    used: set[str] = set()
    for text in wanted:
        name = re.sub(r"[^A-Za-z0-9_]", "_", text)
        if not name or name[0].isdigit() or name in _RESERVED:
            name = f"_{name}"
        base, number = name, 1
        while name in used or (name != text and name in taken):
            number += 1
            name = f"{base}_{number}"
        used.add(name)
        names.append(name)
    return tuple(names)


def _rule(places: Sequence[str], transition: NetTransition) -> str:
    guards = ", ".join(f"{places[p]} >= {value}" for p, value in transition.guard) or "true"
    updates = ", ".join(f"{places[p]}' = {places[p]} {'+' if c > 0 else '-'} {abs(c)}" for p, c in transition.delta)
    name = f"  # {_comment(transition.name)}" if transition.name else ""
    return f"  {guards} -> {updates};{name}"


def _bounds(place: str, low: int, high: int | None) -> str:
    if high is None:
        return f"{place} >= {low}"
    return f"{place} = {low}" if low == high else f"{place} in [{low},{high}]"


def _cone(places: Sequence[str], target: Vector) -> str:
    return ", ".join(f"{places[p]} >= {value}" for p, value in target) or f"{places[0]} >= 0"


def _wrapped(items: Sequence[str], separator: str) -> list[str]:
    rows = [separator.join(items[i : i + _PER_LINE]) for i in range(0, len(items), _PER_LINE)]
    return [f"  {row}{separator if i < len(rows) - 1 else ''}" for i, row in enumerate(rows)]


def _comment(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
