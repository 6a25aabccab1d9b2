"""Where the fields of a state are: words that belong to a process each, and how words are paired, see _store.pyx.

In: a counter program, its fields and their ranges. Out: a :class:`Packing`. Raises UnsupportedError for a field of more than
62 bits. States are stored as pairs of pairs, each once. So they take little room where the two halves of what changes have
few values each, as those of processes that do not do everything at the same time; and what hardly changes is apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from rdma_robust.counters.program import Add, Assign, Body, Choose, CounterProgram, Forget, LazyBranches, Zero, pc

Range = tuple[int, int]
"""The least and the greatest value of a field."""

_WORD = 64


class UnsupportedError(Exception):
    """The program needs numbers, or a state, that the kernel has no room for."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Where the fields of a state are: (least value, mask, word, shift) each; and how words are paired, bottom up.

    Words are numbered from 0, pairs go on behind them; the last one is the whole state.
    """

    fields: tuple[tuple[int, int, int, int], ...]
    words: int
    pairs: tuple[tuple[int, int], ...] = ()


def neighbourhoods(program: CounterProgram[Any], fields: Sequence[str]) -> list[float]:
    """Return for each field where those are in the list of processes that change it: their mean, infinite if nobody does."""
    changed: dict[str, set[int]] = {pc(i): {i} for i in range(len(program.processes))}
    for process, graph in enumerate(program.processes):
        for name in {name for command in graph.commands for name in _assigned(command.body)}:
            changed.setdefault(name, set()).add(process)
    return [sum(who) / len(who) if (who := changed.get(name)) else inf for name in fields]


def _assigned(body: Body[Any]) -> Iterator[str]:
    """What a command changes, without what is only made when it is needed."""
    for statement in body.statements:
        match statement:
            case Assign(values):
                yield from (name for name, _ in values)
            case Choose(name) | Add(name) | Zero(name) | Forget(name):
                yield name
            case _:
                pass
    if not isinstance(body.then, LazyBranches):
        for branch in body.then:
            yield from _assigned(branch)


def pack(ranges: Sequence[Range], where: Callable[[], Sequence[float]] | None = None) -> Packing:
    """Place fields with these ranges into words; no field crosses words.

    All are in one word if there is room. Otherwise there are words for the first half of the processes, for the second and
    for what they do not change, each filled from the first process on.
    """
    bits = [(most - least).bit_length() for least, most in ranges]
    if any(n > 62 for n in bits):
        raise UnsupportedError
    near = list(where()) if where and sum(bits) > _WORD else [0.0] * len(bits)
    middle = max((n for n in near if n < inf), default=0.0) / 2
    used: list[int] = []
    parts: tuple[list[int], ...] = ([], [], [])
    places: dict[int, tuple[int, int]] = {}
    for field in sorted(range(len(bits)), key=near.__getitem__):
        words = parts[(near[field] > middle) + (near[field] == inf)]
        word = next((w for w in words if used[w] + bits[field] <= _WORD), len(used))
        if word == len(used):
            used.append(0)
            words.append(word)
        places[field] = word, used[word] if bits[field] else 0
        used[word] += bits[field]
    fields = ((least, (1 << bits[i]) - 1, *places[i]) for i, (least, _) in enumerate(ranges))
    return Packing(tuple(fields), max(1, len(used)), tuple(_pairs(parts, len(used))))


def _pairs(parts: Sequence[Sequence[int]], words: int) -> list[tuple[int, int]]:
    """Pair the words of each part, then the second part with the third, and both with the first."""
    made: list[tuple[int, int]] = []

    def joined(these: Sequence[int]) -> int:
        if len(these) == 1:
            return these[0]
        half = (len(these) + 1) // 2
        made.append((joined(these[:half]), joined(these[half:])))
        return words + len(made) - 1

    if words > 1:
        first, *others = [joined(part) for part in parts if part]
        if others:
            joined([first, joined(others)])
    return made
