"""The decision: does a program have a data race? Every race that is found is looked up by its definition on its run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from rdma_robust.analyses.races.race_marks import AccessKey, MarkRules, access_key
from rdma_robust.analyses.races.race_system import RacePair, RaceStep, RaceSystem, gathering_pairs
from rdma_robust.analyses.races.run_events import order_of_run
from rdma_robust.counters.searches import breadth_first, karp_miller
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.language.flow.looking import with_looks
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import Model
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.happens_before import races_of, synchronising_words
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.machines.deployed_sc import DeployedScMachine
from rdma_robust.semantics.machines.machine import Action
from rdma_robust.semantics.trace import Event
from rdma_robust.semantics.waits import messages_wait
from rdma_robust.semantics.wellformed import check_well_formed

WAITING: Final = "a message that finds no buffer waits (rnr wait), and the thread goes on: no order is argued for that"


class RaceVerdict(Enum):
    """The answer for one program."""

    RACE = "race"
    RACE_FREE = "race-free"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Race:
    """Two accesses that race, in the order of a run that ends with the second one: `order` are its events."""

    first: Event
    second: Event
    order: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class RaceOutcome:
    """The answer, with a race for every two accesses that race. With a `reason` the search ended before all were found."""

    program: Program
    model: Model
    synchronising: frozenset[Cell]
    verdict: RaceVerdict
    races: tuple[Race, ...]
    reason: str
    engine: str
    states: int
    transitions: int
    time_s: float


def find_races(
    program: Program,
    model: Model,
    limits: Limits,
    progress: Progress = ignore,
    *,
    recv_depth: int = RECV_DEPTH,
    counted: bool | None = None,
) -> RaceOutcome:
    """Return whether some sequentially consistent execution of `program` has two accesses that race under `model`.

    Completions that wait for a poll are `counted` where they may gather without bound, or wherever that is asked for, unless
    a completion gives order to what is posted behind it: then a search that does not end is cut. Raises InternalError if a
    race that the search has found is none by definition.
    """
    started = time.monotonic()
    words = synchronising_words(program)
    if messages_wait(program):
        return RaceOutcome(program, model, words, RaceVerdict.UNKNOWN, (), WAITING, "none", 0, 0, 0.0)
    rules = MarkRules(model, words, len(program.threads))
    looking = with_looks(program)
    many = bool(gathering_pairs(looking)) if counted is None else counted
    system = RaceSystem(looking, rules, recv_depth, many and rules.behind is None)
    runs: dict[RacePair, tuple[int, ...]] = {}

    def accept(target: int, run: tuple[int, ...]) -> bool:
        runs.setdefault(system.pairs[target], run)
        return False

    search = karp_miller if system.dimension else breadth_first
    found = search(system, limits, progress, True, accept)
    races = tuple(_confirmed(system, pair, run) for pair, run in runs.items())
    reason = f"reached {limits.amount(found.cut)}" if found.cut else ""
    verdict = RaceVerdict.RACE if races else RaceVerdict.UNKNOWN if found.cut else RaceVerdict.RACE_FREE
    engine = "karp-miller" if system.dimension else "bfs"
    spent = time.monotonic() - started
    return RaceOutcome(
        program, model, words, verdict, _each_once(races), reason, engine, found.states, found.transitions, spent
    )


def _each_once(races: Iterable[Race]) -> tuple[Race, ...]:
    """The races, one for every two accesses, whichever comes first, in the order of the program."""
    found: dict[frozenset[AccessKey], Race] = {}
    for race in sorted(races, key=lambda each: (len(each.order), _places(each))):
        found.setdefault(frozenset((access_key(race.first), access_key(race.second))), race)
    return tuple(sorted(found.values(), key=_places))


def _places(race: Race) -> list[tuple[int, int, int, str]]:
    return sorted(_place(event) for event in (race.first, race.second))


def _place(event: Event) -> tuple[int, int, int, str]:
    span = event.step.span if event.step is not None else None
    return (event.thread, span.line if span else 0, span.column if span else 0, event.type.value)


def _confirmed(system: RaceSystem, pair: RacePair, run: Sequence[int]) -> Race:
    """Return a race with its events, found again by the definition on its run."""
    actions = _replayed(system, [system.labels[number] for number in run])
    order = order_of_run(system.program, actions, system.rules.model)
    trace = trace_of_order(order, system.program, system.rules.model)
    check_well_formed(system.program, trace, system.rules.model)
    for one, other in reversed(list(races_of(trace, system.rules.model, system.rules.synchronising))):
        first, second = sorted((one, other), key=lambda event: event.index)
        if (access_key(first), access_key(second)) == pair:
            return Race(first, second, trace.events[len(system.program.cells) :])
    said = " and ".join(f"`{key.step.text}`" for key in pair)
    raise InternalError(f"{said} were said to race, and do not by definition")


def _replayed(system: RaceSystem, labels: Sequence[RaceStep]) -> list[Action]:
    """Return the actions of a run of the machine that counts completions, found step by step."""
    machine: DeployedScMachine = system.machine
    state = None
    found = []
    for label in labels:
        moves = machine.initial() if state is None else machine.successors(state)
        move = next((m for m in moves if m.action == label.action and system.without_counts(m.state) == label.state), None)
        if move is None:
            raise InternalError("a run that was found for a race is none of the machine")
        state = move.state
        found.append(move.action)
    return found
