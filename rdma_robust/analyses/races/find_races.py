"""The decision: does a program have a data race? Every race that is found is looked up by its definition on its run."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Final

from rdma_robust.analyses.races.race_marks import AccessKey, MarkRules, access_key
from rdma_robust.analyses.races.race_system import RacePair, RaceStep, RaceSystem, gathering_pairs
from rdma_robust.analyses.races.run_events import events_of_run
from rdma_robust.counters.searches import breadth_first, karp_miller
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.language.flow.looking import waits_for_value, with_looks
from rdma_robust.language.load import is_c
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import Model
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.happens_before import Synchronising, happens_before, races_of, synchronising_accesses
from rdma_robust.semantics.kinds import kind_of
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.machines.machine import Action
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.order_table import delayed_types, visible_when_polled
from rdma_robust.semantics.trace import CPU_TYPES, Event, EventType, Trace
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
    """Two accesses that race, in the order of a run that ends with the second one: its moves, each with its events.

    `teller` is the last event of the first thread, behind the first access, that happens before the second one: by it the
    thread tells the other one, and what has taken effect before it is in order."""

    first: Event
    second: Event
    teller: Event | None
    run: tuple[tuple[Action, tuple[Event, ...]], ...]


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
    synchronising: Synchronising | None = None,
) -> RaceOutcome:
    """Return whether some sequentially consistent execution of `program` has two accesses that race under `model`.

    Accesses synchronise as :func:`synchronising_accesses` has it, unless it is said which do. Completions that wait for a
    poll are `counted` where they may gather without bound, or wherever that is asked for, unless a completion gives order to
    what is posted behind it: then a search that does not end is cut. Raises InternalError if a race that was found is none
    by definition.
    """
    started = time.monotonic()
    accesses = synchronising_accesses(program) if synchronising is None else synchronising
    words = accesses.words | accesses.others
    if messages_wait(program):
        return RaceOutcome(program, model, words, RaceVerdict.UNKNOWN, (), WAITING, "none", 0, 0, 0.0)
    rules = MarkRules(model, accesses, len(program.threads))
    looking = with_looks(program)
    many = bool(gathering_pairs(looking)) if counted is None else counted
    system = RaceSystem(looking, rules, recv_depth, many and rules.behind is None, limits)
    runs: dict[RacePair, tuple[int, ...]] = {}

    def accept(target: int, run: tuple[int, ...]) -> bool:
        runs.setdefault(system.pairs[target], run)
        return False

    search = karp_miller if system.dimension else breadth_first
    found = search(system, limits, progress, True, accept)
    races = tuple(_confirmed(system, pair, run) for pair, run in runs.items())
    cut = system.cut or found.cut
    reason = f"reached {limits.amount(cut)}" if cut else ""
    verdict = RaceVerdict.RACE if races else RaceVerdict.UNKNOWN if cut else RaceVerdict.RACE_FREE
    engine = "karp-miller" if system.dimension else "bfs"
    spent = time.monotonic() - started
    return RaceOutcome(
        program, model, words, verdict, _each_once(races), reason, engine, found.states, found.transitions, spent
    )


def _each_once(races: Iterable[Race]) -> tuple[Race, ...]:
    """The races, one for every two accesses, whichever comes first, in the order of the program."""
    found: dict[frozenset[AccessKey], Race] = {}
    for race in sorted(races, key=lambda each: (len(each.run), _places(each))):
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
    moves = events_of_run(system.program, actions, system.rules.model)
    trace = trace_of_order([event for _, mine in moves for event in mine], system.program, system.rules.model)
    check_well_formed(system.program, trace, system.rules.model)
    pairs = list(races_of(trace, system.rules.model, system.rules.synchronising))
    for one, other in reversed(pairs):
        first, second = sorted((one, other), key=lambda event: event.index)
        if (access_key(first), access_key(second)) == pair:
            numbered = iter(trace.events[len(system.program.cells) :])
            told = tuple((action, tuple(islice(numbered, len(events)))) for action, events in moves)
            return Race(first, second, _teller(trace, first, second, system.rules), told)
    said = " and ".join(f"`{key.step.text}`" for key in pair)
    raise InternalError(f"{said} were said to race, and do not by definition")


def _teller(trace: Trace, first: Event, second: Event, rules: MarkRules) -> Event | None:
    ordered = happens_before(trace, rules.model, rules.synchronising)
    behind = (e for e in trace.events if e.thread == first.thread != second.thread and e.position > first.position)
    return max((e for e in behind if (e.index, second.index) in ordered), key=lambda e: e.position, default=None)


def _replayed(system: RaceSystem, labels: Sequence[RaceStep]) -> list[Action]:
    """Return the actions of a run of the machine that counts completions, found step by step."""
    machine: ScMachine = system.machine
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


def what_would_order(outcome: RaceOutcome, race: Race) -> str:
    """Return what would order the accesses of a race: how the thread of the first learns that it has taken effect, and how
    that of the second learns of it."""
    first, second = race.first, race.second
    done = _effect_known(outcome, first)
    a, b = _line(first), _line(second)
    if first.thread == second.thread:
        return f"nothing orders line {a} before line {b}: {done or 'a fence'} between them would"
    threads = outcome.program.threads
    if race.teller is not None and done:
        said = f"line {a} may take effect later: {done} before line {_line(race.teller)}, by which"
        return f"{said} {threads[first.thread].name} tells {threads[second.thread].name}, would order them"
    words = _words_of_c(outcome.program)
    told = (
        f"a message or a barrier, or {words.tells if words else 'a location declared `sync`'} that "
        f"{threads[first.thread].name} writes and {threads[second.thread].name} reads"
    )
    behind = f"{done} behind line {a}, and then {told}" if done else told
    said = f"nothing tells {threads[second.thread].name} of line {a} before line {b}: {behind} would"
    return said + _meant_to_synchronise(outcome.program, race)


def _effect_known(outcome: RaceOutcome, event: Event) -> str:
    """Return the statement by which a thread waits until an event of its card has taken effect; nothing for its CPU."""
    words = _words_of_c(outcome.program)
    if event.type in CPU_TYPES or event.remote is None:
        needed = event.type is EventType.LW and outcome.model.cpu == "tso"
        return ("`atomic_thread_fence`" if words else "`mfence`") if needed else ""
    kind = kind_of(event.type, event)
    shown = event.type not in delayed_types(outcome.model) or visible_when_polled(kind, outcome.model)
    if words:
        return words.polled if shown else words.flushed
    return f"`{'poll' if shown else 'flush'} {event.remote}`"


@dataclass(frozen=True, slots=True)
class _WordsOfC:
    """How C says, with one library, what tells that an access has taken effect: of its source, of its target; and with what
    threads tell each other."""

    polled: str
    flushed: str
    tells: str


_LIBRARIES: Final = {
    "mpi.h": _WordsOfC("`MPI_Win_flush_local` or a wait for its request", "`MPI_Win_flush`", "an accumulate or an atomic"),
    "shmem.h": _WordsOfC("`shmem_quiet`", "`shmem_quiet`", "a signal or an atomic"),
}
_VERBS: Final = _WordsOfC(
    "`ibv_poll_cq` of its completion",
    "`ibv_poll_cq` of a read behind it",
    "an access of a location that processors only access as volatile or atomic",
)
_INCLUDED: Final = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)", re.MULTILINE)


def _words_of_c(program: Program) -> _WordsOfC | None:
    """Return the words of the library that a program of C includes, None for a program of the language."""
    if not is_c(program.source, program.file):
        return None
    included = _INCLUDED.findall(program.source)
    return next((words for header, words in _LIBRARIES.items() if header in included), _VERBS)


def _meant_to_synchronise(program: Program, race: Race) -> str:
    """Return what to say where an access only looks for a value: a word that is waited for, or assumed to have one."""
    looks = [event for event in (race.first, race.second) if event.step is not None and waits_for_value(event.step)]
    if not looks or looks[0].cell is None:
        return ""
    cell, declared = looks[0].cell, any(each.sync for each in program.cells)
    if words := _words_of_c(program):
        return f"; if {cell} is there to synchronise, it has to be {words.tells}"
    more = " beside the others" if declared else ""
    return f"; if {cell} is there to synchronise, declare it `sync {cell.name}`{more}"


def _line(event: Event) -> str:
    return "0" if event.step is None else event.step.span.where
