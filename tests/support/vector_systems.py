"""Systems of processes with counters for tests: written by hand or drawn at random, with naive searches."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

from rdma_robust.counting.vector_system import Numbers, VectorMove

HandVectorMove = VectorMove[int, str, int]
Tokens = tuple[tuple[str, Numbers], ...]


@dataclass(frozen=True)
class HandVectorSystem:
    """A system whose moves are listed by control state."""

    table: tuple[tuple[int, HandVectorMove], ...]
    dimension: int
    fresh: tuple[str, ...] = ("A",)
    targets: tuple[int, ...] = ()
    initial: int = 0

    def moves(self, control: int, present: Collection[str]) -> Iterable[HandVectorMove]:
        there = {*present, *self.fresh}
        return [move for at, move in self.table if at == control and there.issuperset(part for part, _ in move.takes)]

    def target(self, control: int) -> int:
        return self.targets.index(control) if control in self.targets else -1


Row = tuple[int, Sequence[tuple[str, Numbers]], int, Sequence[tuple[str, Numbers]]]


def with_vectors(rows: Iterable[Row], dimension: int, targets: Sequence[int], fresh: str = "A") -> HandVectorSystem:
    """Return the system of rows: control state, what is taken, control state after it, what is given."""
    moves = tuple((at, VectorMove(n, tuple(takes), to, tuple(gives))) for n, (at, takes, to, gives) in enumerate(rows))
    return HandVectorSystem(moves, dimension, tuple(fresh), tuple(targets))


def random_vector_system(seed: int, dimension: int) -> HandVectorSystem:
    """Return a small random system: most moves of one process add to or take from its counters."""
    rng = random.Random(seed)
    controls, parts = rng.randint(1, 4), "ABCD"[: rng.randint(2, 4)]
    rows: list[Row] = []
    for _ in range(rng.randint(4, 4 + 3 * controls)):
        at, to = rng.randrange(controls), rng.randrange(controls)
        guards = [numbers(rng, dimension, (0, 0, 0, 1, 2)) for _ in range(rng.choice((1, 1, 1, 2)))]
        takes = [(rng.choice(parts), guard) for guard in guards]
        gives = []
        for part, guard in takes[: rng.choice((1, 1, 2, 2))]:
            to_part = part if rng.random() < 0.4 else rng.choice(parts)
            gives.append((to_part, tuple(rng.choice((-g, -g, 0, 1, 1)) for g in guard)))
        if len(gives) == len(takes) and rng.random() < 0.1:
            gives.append((rng.choice(parts), numbers(rng, dimension, (0, 0, 1, 2))))
        rows.append((at, takes, to, gives))
    wanted = [(rng.choice(parts[1:]), numbers(rng, dimension, (0, 1, 2, 3))) for _ in range(rng.choice((1, 2, 2, 3)))]
    return with_vectors([*rows, (rng.randrange(controls), wanted, controls, ())], dimension, (controls,))


def numbers(rng: random.Random, dimension: int, choices: Sequence[int]) -> Numbers:
    return tuple(rng.choices(choices, k=dimension))


def after(system: HandVectorSystem, tokens: Tokens, move: HandVectorMove) -> set[Tokens]:
    """Return what tokens a move can leave, each sorted and without fresh ones, for each choice of tokens."""
    zero = (0,) * system.dimension
    everyone = [*tokens, *((part, zero) for part, _ in move.takes if part in system.fresh)]
    found = set()
    for chosen in permutations(range(len(everyone)), len(move.takes)):
        taken = [everyone[at] for at in chosen]
        if any(
            token[0] != part or not all(have >= least for have, least in zip(token[1], guard, strict=True))
            for token, (part, guard) in zip(taken, move.takes, strict=True)
        ):
            continue
        left = [token for at, token in enumerate(tokens) if at not in chosen]
        for at, (part, added) in enumerate(move.gives):
            before = taken[at][1] if at < len(taken) else zero
            left.append((part, tuple(a + b for a, b in zip(before, added, strict=True))))
            assert min(left[-1][1], default=0) >= 0
        found.add(tuple(sorted(token for token in left if token[0] not in system.fresh or token[1] != zero)))
    return found


def can_be_run(system: HandVectorSystem, run: Iterable[HandVectorMove], choices: int = 300) -> int | None:
    """Return the control state after the moves, with the best choice of tokens; None if there is none.

    Raises OverflowError if there are too many different markings to choose from.
    """
    control, those = system.initial, {()}
    for move in run:
        assert (control, move) in system.table
        those = {left for tokens in those for left in after(system, tokens, move)}
        if len(those) > choices or max(map(len, those), default=0) > 12:
            raise OverflowError
        control = move.control
    return control if those else None


def reached_with_few(system: HandVectorSystem, processes: int, largest: int, states: int = 300) -> bool:
    """Whether a target is reached with at most so many processes at a time whose numbers never exceed `largest`."""
    first: tuple[int, Tokens] = (system.initial, ())
    seen, todo = {first}, [first]
    while todo and len(seen) < states:
        control, tokens = todo.pop()
        if system.target(control) >= 0:
            return True
        for at, move in system.table:
            if at == control:
                for left in after(system, tokens, move):
                    new = (move.control, left)
                    if len(left) <= processes and all(n <= largest for _, v in left for n in v) and new not in seen:
                        seen.add(new)
                        todo.append(new)
    return False
