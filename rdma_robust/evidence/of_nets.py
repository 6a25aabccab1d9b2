"""Evidence for SAFE and UNSAFE: what the engines for nets found, by the names of places and the numbers of rules.

Repetitions in firing sequences become loops, so that a run that pumps a place a million times stays a few lines long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, assert_never

from rdma_robust.certify.document import JsonObject
from rdma_robust.certify.firing import Firing, FiringLoop
from rdma_robust.petri import net as net_data
from rdma_robust.petri.net import (
    DownwardInvariant,
    Invariant,
    LinearInvariant,
    Net,
    StagedInvariant,
    UpwardInvariant,
    Vector,
)


def run_evidence(net: Net, start: Sequence[int], firings: Sequence[net_data.Firing], target: int) -> JsonObject:
    """Return the evidence for UNSAFE; places are given by name, transitions and targets by number from 0."""
    return {
        "kind": "firing-sequence",
        "start": {net.places[p]: tokens for p, tokens in enumerate(start) if tokens},
        "firing": show_firings(compressed([_firing(f) for f in firings])),
        "target": target,
    }


def _firing(firing: net_data.Firing) -> Firing:
    if not isinstance(firing, net_data.RepeatedFirings):
        return firing
    body = tuple(t if times == 1 else FiringLoop(times, (t,)) for t, times in firing.body)
    return body[0] if firing.times == 1 and len(body) == 1 else FiringLoop(firing.times, body)


def invariant_evidence(net: Net, invariant: Invariant) -> JsonObject:
    """Return the evidence for SAFE."""

    def named(vector: Vector) -> JsonObject:
        return {net.places[p]: value for p, value in vector}

    def places(marked: Iterable[int] | None) -> list[str]:
        return list(net.places) if marked is None else [net.places[p] for p in sorted(marked)]

    match invariant:
        case DownwardInvariant(limits):
            first = limits[0] if limits else ()
            same = [p for p, value in enumerate(first) if all(limit[p] == value for limit in limits)]
            rest = sorted(set(range(len(first))) - set(same))
            return {
                "kind": "downward",
                "common": {net.places[p]: first[p] for p in same if first[p] != 0},
                "limits": [{net.places[p]: limit[p] for p in rest if limit[p] != 0} for limit in limits],
            }
        case UpwardInvariant(basis, weights, bounds, marked, scope, traps, shares):
            rows = [{"weights": named(w), "most": most} for w, most in zip(weights, bounds, strict=True)]
            evidence: JsonObject = {"kind": "upward", "marked": places(marked), "basis": [named(b) for b in basis]}
            if not traps:
                return evidence | {"bounds": rows}
            known = [row | {"traps": list(map(list, share))} for row, share in zip(rows, shares, strict=True)]
            return (
                evidence
                | {"kind": "upward-with-traps", "scope": places(scope)}
                | {"traps": [places(trap) for trap in traps], "bounds": known}
            )
        case StagedInvariant(never, marked, rest_invariant):
            evidence = {"kind": "staged", "marked": places(marked), "never": [named(cone) for cone in never]}
            return evidence | {"rest": invariant_evidence(net, rest_invariant)}
        case LinearInvariant(marked, weights):
            return {"kind": "linear", "marked": places(marked), "weights": [named(w) for w in weights]}
        case _:
            assert_never(invariant)


LONGEST_BODY: Final = 400
"""Transitions of the longest loop body that is looked for."""

WORK: Final = 4_000_000
"""Comparisons spent at most on finding loops."""


def compressed(transitions: Sequence[Firing]) -> tuple[Firing, ...]:
    """Return the same firing sequence with repetitions as loops, the shortest bodies first, loops of loops included."""
    sequence: list[Firing] = list(transitions)
    work = 0
    length = 1
    while length <= min(LONGEST_BODY, len(sequence) // 2) and work < WORK:
        work += len(sequence)
        sequence = list(_folded(sequence, length))
        length += 1
    return tuple(sequence)


def _folded(sequence: Sequence[Firing], length: int) -> Iterator[Firing]:
    """Yield `sequence` with every block of `length` firings that is repeated at once made a loop."""
    same = 0
    at = 0
    while at < len(sequence):
        while at + same + length < len(sequence) and sequence[at + same] == sequence[at + same + length]:
            same += 1
        times = same // length + 1
        if times > 1 and (length > 1 or times > 2):
            yield FiringLoop(times, tuple(sequence[at : at + length]))
            at += times * length
            same = 0
        else:
            yield sequence[at]
            at += 1
            same = max(0, same - 1)


def show_firings(firings: Sequence[Firing]) -> list[object]:
    """Return a firing sequence as JSON."""
    return [f if isinstance(f, int) else {"times": f.times, "of": show_firings(f.body)} for f in firings]
