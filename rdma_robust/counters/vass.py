"""Vector addition systems with states whose control states are generated on the fly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rdma_robust.counters.permutations import Arranger

Control = tuple[int, ...]
Marking = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CounterEffect:
    """The effect of a transition on the counters: enabled iff marking >= guard (componentwise), then add delta.

    guard + delta >= 0 always. Both have one entry per counter.
    """

    guard: Marking
    delta: Marking


class Vass(Protocol):
    """A VASS and a set of target control states (upward-closed: any marking).

    `successors(control)` returns (transition, control', effect) triples, indices into `transitions()` and `effects`;
    `target(control)` is the index of the target that holds there, or -1. All counters start at 0.

    `expansions(control)` yields parts of the successors, all of them last: a search may expand the first part of which some
    enabled transition :meth:`advances`; it still reaches a target if there is a reachable one.
    """

    @property
    def dimension(self) -> int: ...

    @property
    def initial(self) -> Control: ...

    @property
    def effects(self) -> Sequence[CounterEffect]: ...

    def successors(self, control: Control) -> list[tuple[int, Control, int]]: ...

    def expansions(self, control: Control) -> Iterable[list[tuple[int, Control, int]]]: ...

    def advances(self, before: Control, after: Control) -> bool:
        """Whether a transition between these is progress: no target is missed if it is made first."""
        ...

    def target(self, control: Control) -> int: ...

    def hopeless(self, control: Control) -> bool:
        """Whether it is known that no target can be reached from this control state, which need not be stored then."""
        ...

    def rank(self, control: Control) -> int:
        """A hint for the order of exploration: states of higher rank first; from 0 to `max_rank`."""
        ...

    @property
    def max_rank(self) -> int: ...

    @property
    def arranger(self) -> Arranger | None:
        """What stands for states that are alike; None if each stands for itself."""
        ...
