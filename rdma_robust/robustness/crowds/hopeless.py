"""Control states of phase 2 from which no target can be reached, whatever copies there are: :mod:`dead_ends` for crowds.

The look ahead follows every thread alone. A copy of the crowd may stand anywhere, may be tainted, and may have nothing in
beta: so the mover of a template is taken to stand at all of its program points at once, tainted, barred by nothing but what
all threads share. Copies that have something in beta can do no more than that. Other heroes than the one that was chosen are
not there. The hero and named threads stand where they stand.

A pivot that is the read of a remote read-modify-write is kept out of alpha by marks that are never lifted (M3): such a pivot
is a move of its own, which these marks bar as well, and which does nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from rdma_robust.counters.kernel import driver
from rdma_robust.counters.program import LookAheadTables
from rdma_robust.robustness.crowds.instance import State, TwoCopyInstance
from rdma_robust.robustness.reductions.dead_ends import DeadEnds, GuardedMove, Marks, StateLook


class CompiledLookAhead(Protocol):
    """A look ahead that is asked state by state."""

    def dead(self, state: Sequence[int], gone: int) -> bool:
        """Whether no target can be reached from a control state of some kind; the processes in the set `gone` are gone too.

        Raises OverflowError for a value of more than 64 bits.
        """
        ...


def compiled_look(
    fields: Sequence[str], last: Sequence[int], tables: LookAheadTables, anywhere: Iterable[int] = ()
) -> CompiledLookAhead | None:
    """Return the look ahead of these tables, None where the extension module is not installed.

    `last` is the largest location of each process; those in `anywhere` stand at all of their locations.
    """
    if not driver.AVAILABLE:
        return None
    from rdma_robust.counters.kernel._look_ahead import Look  # noqa: PLC0415 - where it is installed

    look = Look(1, [(0, 0, 0, 0)] * len(fields), list(last), *tables)
    for process in anywhere:
        look.stand_anywhere(process)
    return look


@dataclass
class Hopeless:
    """The test for one instance; what was asked for is remembered. Without `active` nothing is hopeless."""

    instance: TwoCopyInstance
    active: bool = True
    _known: dict[tuple[State, int], bool] = field(default_factory=dict)

    def __call__(self, state: State, hero: int) -> bool:
        """Whether no target can be reached from a control state with this hero."""
        if not self.active:
            return False
        key = state, hero
        if key not in self._known:
            self._known[key] = self._is_dead(state, hero)
        return self._known[key]

    def _is_dead(self, state: State, hero: int) -> bool:
        if not state[self.column[self.ends.current]]:
            return False
        if self.compiled is not None:
            try:
                return self.compiled.dead(state, sum(1 << other for other in self.instance.heroes if other != hero))
            except OverflowError:  # a value of more than 64 bits
                pass
        return CrowdLook(self, state, hero).dead()

    @cached_property
    def ends(self) -> DeadEnds:
        """The test for explicit threads, with copies that may be tainted, and pivots that remote atomics keep out."""
        instance = self.instance
        ends = _with_pivots_kept_out(instance.pivot.dead_ends(instance.cycles), self.kept_out)
        any_class = ((ends.current, -1),)
        return replace(ends, tainted=tuple(any_class if t in instance.movers else m for t, m in enumerate(ends.tainted)))

    @cached_property
    def compiled(self) -> CompiledLookAhead | None:
        """The test as the compiled search has it, None where it is not installed."""
        fields, instance = self.instance.lowered.fields, self.instance
        last = [max(graph.points) for graph in instance.frame.graphs]
        return compiled_look(fields, last, self.ends.tables(fields), instance.movers)

    @cached_property
    def column(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.instance.lowered.fields)}

    @cached_property
    def anywhere(self) -> frozenset[tuple[int, int]]:
        """Every program point of every mover."""
        graphs = self.instance.frame.graphs
        return frozenset((mover, point) for mover in self.instance.movers for point in graphs[mover].points)

    @cached_property
    def kept_out(self) -> Mapping[int, Marks]:
        """By site what keeps a pivot there out of alpha, because of remote atomics."""
        atomics = self.instance.pivot.atomics
        found = ((i, atomics.pivot_bars(e)) for i, e in enumerate(self.instance.cycles.events))
        return {i: marks for i, marks in found if marks}


class CrowdLook(StateLook):
    """One control state looked at; the reference for the compiled test."""

    def __init__(self, hopeless: Hopeless, state: State, hero: int) -> None:
        super().__init__(hopeless.ends, hopeless.column, state)
        self.hopeless = hopeless
        self.absent = {*hopeless.instance.heroes} - {hero}

    def start(self, left: int) -> None:
        """Take the movers to stand everywhere, and only the hero that was chosen."""
        super().start(left)
        self.open = [p for p in self.open if p not in self.absent]
        self.reached = {at for at in self.reached if at[0] not in self.absent} | self.hopeless.anywhere


def _with_pivots_kept_out(ends: DeadEnds, kept_out: Mapping[int, Marks]) -> DeadEnds:
    """The test in which pivots at these moves are moves of their own, which lead nowhere and which these marks bar too."""
    sites = [i for i in kept_out if any(pivot.sites >> i & 1 for pivot in ends.pivots)]
    copy = {site: len(ends.moves) + k for k, site in enumerate(sites)}

    def instead(those: int) -> int:
        """A set of sites with the copies in the places of what they are copies of."""
        return sum(1 << copy.get(i, i) for i in range(len(ends.moves)) if those >> i & 1)

    def as_well(those: int) -> int:
        return those | instead(those)

    moves = tuple(replace(move, overtaking=as_well(move.overtaking)) for move in ends.moves)
    pivots = tuple(
        replace(p, sites=instead(p.sites), guard={copy.get(i, i): guard for i, guard in p.guard.items()})
        for p in ends.pivots
    )
    return replace(
        ends, moves=(*moves, *(_barred(moves[i], kept_out[i], ((ends.current, -1),)) for i in sites)), pivots=pivots
    )


def _barred(move: GuardedMove, marks: Marks, always: Marks) -> GuardedMove:
    """The move as a pivot only, barred by these marks as well; what `always` holds bars it from being anything else."""
    bare = replace(move, order=(*move.order, *marks), access=always, passes=False, cell=None, guard=None, writes=False)
    return replace(bare, counts=False, taints=(), overtaking=0, after=0, conflicting=0)
