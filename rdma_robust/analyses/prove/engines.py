"""The engines to be tried on a system, cheapest first, and how long each before the next has its turn.

Runs by chance: walks of a transition system with numbers, from the start, each step any one that can be taken.

Threads and cards that nothing holds back have so many orders that a search in layers does not get to a violation behind
thirty steps, while most orders lead to it. A walk proves nothing; what it finds is a path whose values are known to fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Final, Literal

from rdma_robust.analyses.prove.explicit_search import CompiledEngine, explicit_search
from rdma_robust.analyses.prove.path_replay import constants_of
from rdma_robust.analyses.prove.transition_system import (
    AbstractPath,
    Assignment,
    Bad,
    Control,
    Draw,
    Drop,
    Engine,
    EngineName,
    EngineResult,
    Join,
    Selection,
    Suppose,
    Transition,
    TransitionSystem,
    Update,
)
from rdma_robust.expr import evaluate
from rdma_robust.limits import Limits, Progress
from rdma_robust.semantics.machines.stepping import few
from rdma_robust.solver_library import has_solver

PROBE = 1000
"""States of a search after which walks are tried: smaller ones are answered sooner than walks are."""

STEPS = 10_000
"""Steps of all walks together."""

LENGTHS = (60, 250)
"""Steps of a walk, in turn: short runs are better to read, and some violations are far away."""

Values = Mapping[str, int]


def with_walks(engine: Engine, before: Engine | None = None) -> Engine:
    """Return the engine that walks where the search is no small one, and searches in full if that meets nothing.

    Where there is an engine that is asked `before` walks, its answer is taken if it has one. What walks have met is told by
    `walked` among the counts, the length of the path.
    """

    def search(system: TransitionSystem, limits: Limits, progress: Progress) -> EngineResult:
        if limits.states is not None and limits.states <= PROBE:
            return engine(system, limits, progress)
        found = engine(system, replace(limits, states=PROBE), progress)
        if found.cut != "states":
            return found
        if before is not None:
            other = before(system, limits, progress)
            if not other.cut:
                return other
        path = walked(system, STEPS, limits)
        if path is None:
            return engine(system, limits, progress)
        return replace(found, path=path, cut="", counts={**found.counts, "walked": len(path.transitions)})

    return search


def walked(system: TransitionSystem, steps: int, limits: Limits) -> AbstractPath | None:
    """Return a path to a violation that so many steps at random have met, all of it exact; None if they met none.

    The same system gives the same path, unless a limit of time or memory ends the walks. The path is a shortest one among
    the control states that the walks have seen, unless that takes as long as they did.
    """
    walks = _Walks(system)
    reached = limits.watch()
    number = 0
    while walks.steps < steps and not reached():
        found = walks.walk(LENGTHS[number % len(LENGTHS)])
        number += 1
        if found is not None:
            return walks.shortest(max(1000, walks.steps), found)
    return None


@dataclass
class _Walks:
    """The moves and violations of the control states seen so far, exact ones only."""

    system: TransitionSystem
    steps: int = 0
    random: Random = field(default_factory=lambda: Random(0))
    moves: dict[Control, list[Transition]] = field(default_factory=dict)
    bads: dict[Control, list[Bad]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.near = sorted({c + d for c in constants_of(self.system.program, self.system.claims) for d in (-1, 0, 1)})

    def walk(self, length: int) -> AbstractPath | None:
        """Take so many steps from the start; return the path if it ends in a violation."""
        control, values = self.system.initial(), dict(self.system.wide)
        path: list[Transition] = []
        self.steps += 1  # a walk that cannot begin is one too
        while len(path) < length:
            bad = self._violated(control, values)
            if bad is not None:
                return AbstractPath(tuple(path), bad)
            taken = self._any_step(control, values)
            if taken is None:
                return None
            step, values = taken
            path.append(step)
            control = step.to
            self.steps += 1
            if step.fault is not None:
                return AbstractPath(tuple(path), None)
        return None

    def shortest(self, states: int, otherwise: AbstractPath) -> AbstractPath:
        """Return a path with the fewest steps among the control states seen, if it is one of the first so many states."""
        start = (self.system.initial(), tuple(dict(self.system.wide).items()))
        seen: dict[object, tuple[object, Transition | None]] = {start: (None, None)}
        layer = [start]
        while layer and len(seen) < states:
            following = []
            for state in layer:
                control, values = state[0], dict(state[1])
                bad = self._violated(control, values)
                if bad is not None:
                    return AbstractPath(_along(seen, state), bad)
                for step in self.moves.get(control, ()):
                    for after in self._after(values, step.updates):
                        if step.fault is not None:
                            return AbstractPath((*_along(seen, state), step), None)
                        new = (step.to, tuple(after.items()))
                        if new not in seen and step.to in self.bads:
                            seen[new] = (state, step)
                            following.append(new)
            layer = following
        return otherwise

    def _violated(self, control: Control, values: Values) -> Bad | None:
        bads = self.bads.get(control)
        if bads is None:
            claims = self.system.claims
            bads = [bad for bad in self.system.violations(control) if bad.exact and not claims[bad.claim].allowed]
            self.bads[control] = bads
        for bad in bads:
            for _ in self._after(values, (*bad.updates, Suppose(bad.condition))):
                return bad
        return None

    def _any_step(self, control: Control, values: Values) -> tuple[Transition, dict[str, int]] | None:
        moves = self.moves.get(control)
        if moves is None:
            moves = self.moves[control] = [step for step in self.system.successors(control) if step.exact]
        left = list(moves)
        while left:
            place = self.random.randrange(len(left))
            left[place], left[-1] = left[-1], left[place]
            step = left.pop()
            after = list(self._after(values, step.updates))
            if after:
                return step, self.random.choice(after)
        return None

    def _after(self, values: Values, updates: Iterable[Update]) -> Iterator[dict[str, int]]:
        """Yield the values after updates: one, none if a condition is false, several if something is drawn."""
        states = [dict(values)]
        for update in updates:
            states = [after for state in states for after in self._updated(state, update)]
        yield from states

    def _updated(self, values: dict[str, int], update: Update) -> list[dict[str, int]]:
        try:
            match update:
                case Suppose(condition):
                    return [values] if evaluate(condition, values) else []
                case Assignment(name, value):
                    return [values | {name: evaluate(value, values)}]
                case Draw(name, low, high):
                    return [values | {name: drawn} for drawn in self._drawn(values, low, high)]
                case Selection(name, folded):
                    return [values | {name: values[folded]}]
                case Join():
                    return []
                case Drop():
                    return [values]
        except ZeroDivisionError:
            return []

    def _drawn(self, values: Values, low: object, high: object) -> list[int]:
        ends = [None if end is None else evaluate(end, values) for end in (low, high)]  # type: ignore[arg-type]
        least, most = ends
        candidates = {*few(least, most), *self.near, *values.values()}
        return sorted(v for v in candidates if (least is None or v >= least) and (most is None or v <= most))


def _along(seen: Mapping[object, tuple[object, Transition | None]], state: object) -> tuple[Transition, ...]:
    path: list[Transition] = []
    while True:
        state, step = seen[state]
        if step is None:
            return tuple(reversed(path))
        path.append(step)


TURNS_S: Final = (0.5, 4.0, None)
"""Seconds for the turns of engines that often are quick or never end; the last one is as long as there is time."""

SHARE: Final = 0.5
"""Of the time that is left, for an engine or an attempt that others come after."""


def engines_for(
    system: TransitionSystem,
    wanted: EngineName | Literal["auto"],
    plain: Callable[[], TransitionSystem] | None = None,
    *,
    room: int | None = None,
) -> Iterator[tuple[EngineName, Engine]]:
    """Yield the engines for a system: searches of all states, and if something is wide those that describe its values.

    `plain` makes the system of the same program and claims under sc, whose proof predicates carry over. With `room` for so
    many stores in a buffer the compiled search of the program's own states is one of the engines, which gives no invariant.
    Without a solver what needs one is left out, unless it is asked for by name.
    """
    auto = wanted == "auto"
    numbers = None if room is None else CompiledEngine(room)
    if not system.wide and wanted in ("auto", "explicit"):
        yield "explicit", with_walks(explicit_search, numbers)
    elif wanted == "explicit" and numbers is not None:
        yield "explicit", numbers.whole
    finite = system.program.domain is not None
    if system.wide and auto and numbers is not None and finite:
        yield "explicit", numbers
    if wanted == "zones" or (system.wide and auto):
        yield "zones", with_walks(_zones, numbers if auto else None)
    if system.wide and auto and numbers is not None and not finite:
        yield "explicit", numbers
    if system.wide and auto and not has_solver():
        return
    if wanted == "predicates" or (system.wide and auto):
        yield "predicates", partial(_predicates, plain=plain, then_spacer=auto)
    if wanted == "spacer":
        yield "spacer", _spacer
    if system.wide and auto and numbers is not None:
        yield "explicit", numbers.whole


def _zones(system: TransitionSystem, limits: Limits, progress: Progress) -> EngineResult:
    from rdma_robust.analyses.prove.zones.zone_search import search_zones  # noqa: PLC0415 - for what is wide only

    return search_zones(system, limits, progress)


def _predicates(
    system: TransitionSystem,
    limits: Limits,
    progress: Progress,
    *,
    plain: Callable[[], TransitionSystem] | None,
    then_spacer: bool,
) -> EngineResult:
    """Search with predicates; with `then_spacer` the two take turns, a short one each first, as either may never end."""
    from rdma_robust.analyses.prove.predicates.predicate_engine import predicates_engine  # noqa: PLC0415 - for few programs

    search = partial(predicates_engine, plain=None if plain is None or system.model == "sc" else plain())
    if not then_spacer:
        return search(system, limits, progress)
    for seconds in TURNS_S:
        found = search(system, limits.share(SHARE) if seconds is None else limits.within(seconds), progress)
        if found.cut != "time":
            break
        last = _spacer(system, limits if seconds is None else limits.within(seconds), progress)
        if not last.cut:
            return last
    return found


def _spacer(system: TransitionSystem, limits: Limits, progress: Progress) -> EngineResult:
    from rdma_robust.analyses.prove.predicates.spacer_engine import spacer_engine  # noqa: PLC0415 - for few programs

    return spacer_engine(system, limits, progress)
