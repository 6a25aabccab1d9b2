"""Counting systems for tests: written by hand or drawn at random, with a naive stepper and a naive search."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import networkx as nx

from rdma_robust.counting.protocol import CountingMove

Label = int
HandMove = CountingMove[int, str, Label]


@dataclass(frozen=True)
class HandSystem:
    """A counting system whose moves are listed by control state; targets, idle pairs and milestones likewise."""

    table: tuple[tuple[int, HandMove], ...]
    fresh: tuple[str, ...] = ("A",)
    targets: tuple[int, ...] = ()
    initial: int = 0
    idle_pairs: frozenset[tuple[int, str]] = frozenset()
    stages: dict[int, int] = field(default_factory=dict)

    def moves(self, control: int, present: Collection[str]) -> Iterable[HandMove]:
        there = {*present, *self.fresh}
        return [move for at, move in self.table if at == control and there.issuperset(move.takes)]

    def target(self, control: int) -> int:
        return self.targets.index(control) if control in self.targets else -1

    def idle(self, control: int, local: str) -> bool:
        return (control, local) in self.idle_pairs

    def milestone(self, control: int) -> int:
        return self.stages.get(control, 0)


def hand(rows: Sequence[tuple[int, str, int, str]], targets: Sequence[int], fresh: str = "A") -> HandSystem:
    """Return the system of rows like (0, "AB", 1, "BC"): at 0 take A and B, go to 1, give B and C."""
    moves = tuple((at, CountingMove(n, tuple(takes), to, tuple(gives))) for n, (at, takes, to, gives) in enumerate(rows))
    return HandSystem(moves, tuple(fresh), tuple(targets))


def random_system(seed: int) -> HandSystem:
    """Return a small random system; half of them keep or lose tokens, the others also make some.

    Milestones are drawn, then the moves that would go back to a smaller one are left out; a local state that no move from
    here on takes is idle, for half of the systems.
    """
    rng = random.Random(seed)
    controls = rng.randint(1, 6)
    places = "ABCDE"[: rng.randint(1, 5)]
    fresh = rng.choice(("A", "A", "A", "AB", "")) if len(places) > 1 else "A"
    births = rng.random() < 0.5
    stages = sorted(rng.choices((0, 0, 1, 2), k=controls)) if rng.random() < 0.6 else [0] * controls
    rows: list[tuple[int, str, int, str]] = []
    for _ in range(rng.randint(2, 3 + 3 * controls)):
        at, to = rng.randrange(controls), rng.randrange(controls)
        if rng.random() < 0.3:
            to = at
        takes = "".join(rng.choices(places, k=rng.choice((0, 1, 1, 1, 2))))
        gives = "".join(
            rng.choices(places, k=rng.choice((0, 1, 1, 2)) if births else min(len(takes), rng.choice((0, 1, 1, 2))))
        )
        if stages[to] >= stages[at]:
            rows.append((at, takes, to, gives))
    plain = hand(rows, (controls - 1,) if controls > 1 else (1,), fresh)
    if controls == 1:
        plain = hand([*rows, (0, "".join(rng.choices(places, k=2)), 1, "")], (1,), fresh)
    idle = idle_pairs(plain) if rng.random() < 0.5 else frozenset()
    return HandSystem(plain.table, plain.fresh, plain.targets, 0, idle, dict(enumerate(stages)))


def idle_pairs(system: HandSystem) -> frozenset[tuple[int, str]]:
    """Return the pairs of a control state and a local state that no move from there on takes."""
    controls = {system.initial, *(at for at, _ in system.table), *(move.control for _, move in system.table)}
    names = {local for _, move in system.table for local in (*move.takes, *move.gives)}
    graph = nx.DiGraph([(at, move.control) for at, move in system.table])
    graph.add_nodes_from(controls)
    found = set()
    for control in controls:
        ahead = {control, *nx.descendants(graph, control)}
        taken = {local for at, move in system.table if at in ahead for local in move.takes}
        found |= {(control, local) for local in names - taken}
    return frozenset(found)


def step(system: HandSystem, control: int, tokens: Counter[str], move: HandMove) -> tuple[int, Counter[str], int]:
    """Fire a move that must be enabled; return the control state and tokens after it, and how many fresh tokens it took."""
    assert (control, move) in system.table
    left = Counter(tokens)
    started = 0
    for local in move.takes:
        if left[local]:
            left[local] -= 1
        else:
            assert local in system.fresh, f"{move} takes {local}, which is not there"
            started += 1
    left.update(move.gives)
    return move.control, +left, started


def replayed(system: HandSystem, run: Iterable[HandMove]) -> tuple[int, int]:
    """Return the control state at the end of a run, and how many fresh tokens it took."""
    control, tokens, started = system.initial, Counter[str](), 0
    for move in run:
        control, tokens, more = step(system, control, tokens, move)
        started += more
    return control, started


def least_by_breadth(system: HandSystem, most: int, size: int = 8, states: int = 20_000) -> int | None:
    """Return the smallest number of fresh tokens with which a target is reached, at most `most`, or None.

    One search for each number, without domination, through markings of at most `size` tokens; raises OverflowError if there
    are more than so many states.
    """
    for number in range(most + 1):
        first = (system.initial, frozenset[tuple[str, int]](), 0)
        seen, layer = {first}, [first]
        while layer:
            control, tokens, started = layer.pop()
            if system.target(control) >= 0:
                return number
            for at, move in system.table:
                if at != control:
                    continue
                have = Counter(dict(tokens))
                lacking = Counter(move.takes) - have
                if any(local not in system.fresh for local in lacking):
                    continue
                left = have - Counter(move.takes) + Counter(move.gives)
                after = (move.control, frozenset(left.items()), started + lacking.total())
                if after[2] <= number and left.total() <= size and after not in seen:
                    seen.add(after)
                    layer.append(after)
            if len(seen) > states:
                raise OverflowError
    return None


def stairs(steps: int) -> HandSystem:
    """Processes that do `x = 1; x = 2`, then wait for 1 and for 2 so many times: the end needs one more than that."""
    locals_ = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    rows = [(x, "A", 1, "B") for x in range(3)] + [(x, "B", 2, "C") for x in range(3)]
    for number in range(2 * steps):
        x = 1 + number % 2
        rows.append((x, locals_[2 + number], x, locals_[3 + number]))
    rows += [(x, locals_[2 + 2 * steps], 3, "") for x in range(3)]
    return hand(rows, (3,))


def doubling(levels: int) -> HandSystem:
    """Processes that at each level set `g` from 0 to it and end, or back to 0 and go on: the end needs 2 ** levels."""
    locals_ = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    rows: list[tuple[int, str, int, str]] = []
    for level in range(1, levels + 1):
        rows += [(0, locals_[level - 1], level, ""), (level, locals_[level - 1], 0, locals_[level])]
    rows += [(g, locals_[levels], levels + 1, "") for g in range(levels + 1)]
    return hand(rows, (levels + 1,))
