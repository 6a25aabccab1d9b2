"""Final states under SC and RDMA side by side, from the operational machines, and the program's `outcome` lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from rdma_robust.expr import evaluate
from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.language.flow.claims import OutcomeClaim, OutcomeLine
from rdma_robust.layers import by_layers
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA, Model
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.machines.chosen import machine_of, sc_machine_of
from rdma_robust.semantics.machines.machine import FinalState, Machine, Move, State, state_names
from rdma_robust.semantics.values import is_loop_free
from rdma_robust.text import count


@dataclass(frozen=True, slots=True)
class Exploration:
    """The findings of a search. `stuck` counts states that are not final and have no move; `cut` names the limit that
    ended the search before every reachable state was seen, and is None if none did."""

    finals: frozenset[FinalState]
    states: int
    transitions: int
    stuck: int
    faults: tuple[Fault, ...]
    cut: str | None


def under_way_at_most(number: int) -> str:
    """Return what people call the limit of :func:`explore` with so many operations under way."""
    return f"{count(number, 'operation')} of a queue pair in flight"


def explore(machine: Machine, limits: Limits, *, reduce: bool = True, under_way: int | None = None) -> Exploration:
    """Return everything reachable from the machine's initial states, or as much of it as `limits` allow.

    With `reduce`, only enough states are visited to find the same final states, stuck states and faults. With `under_way`,
    only states with at most so many operations of a queue pair under way; the search is cut if there are others. Faults
    are in the order of the search, each once.
    """
    choose = machine.reduced if reduce else machine.successors
    shortened = False
    finals: set[FinalState] = set()
    faults: dict[Fault, None] = {}
    transitions = stuck = 0
    seen: dict[State, None] = {}

    def begin(move: Move, layer: list[State]) -> None:
        faults.update(dict.fromkeys(move.faults))
        if move.state not in seen:
            seen[move.state] = None
            layer.append(move.state)

    def successors(state: State) -> list[Move]:
        nonlocal shortened
        moves = choose(state)
        if under_way is None or all(machine.under_way(move.state) <= under_way for move in moves):
            return moves
        shortened = True
        return [move for move in machine.successors(state) if machine.under_way(move.state) <= under_way]

    def expand(state: State, following: list[State]) -> None:
        nonlocal transitions, stuck
        moves = successors(state)
        transitions += len(moves)
        if machine.is_final(state):
            finals.add(machine.final(state))
        elif not moves and not choose(state):
            stuck += 1
        for _, after, met in moves:
            if met:
                faults.update(dict.fromkeys(met))
            if after not in seen:
                seen[after] = None
                following.append(after)

    cut, _ = by_layers(machine.initial(), begin, expand, seen.__len__, limits)
    amount = limits.amount(cut) if cut else under_way_at_most(under_way or 0) if shortened else None
    return Exploration(frozenset(finals), len(seen), transitions, stuck, tuple(faults), amount)


UNDER_WAY: Final = (4, 8, 16)
STATES: Final = 100_000
SMALL: Final = STATES // 5
"""Of programs with loops, if no bound is given: operations of a queue pair under way, the next number if the search with the
one before was SMALL, and states of each search."""


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """The answer whether a claim holds; None if a search was cut before that is known. `example` is a final state that
    meets the condition under the claim's model, None if none was found."""

    claim: OutcomeClaim
    holds: bool | None
    example: FinalState | None


@dataclass(frozen=True, slots=True)
class LineCheck:
    """One `outcome` line with its claims, in the order they are written; `skipped` are those about models of which nothing
    was searched."""

    line: OutcomeLine
    claims: tuple[ClaimCheck, ...]
    skipped: tuple[OutcomeClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class ReachedState:
    """A final state, its values in the order of the report's `names`, and the models that reach it."""

    values: FinalState
    sc: bool
    rdma: bool

    @property
    def only_rdma(self) -> bool:
        return self.rdma and not self.sc


@dataclass(frozen=True)
class OutcomesReport:
    """The final states of a program under both models, sorted by their values, and what was said about them.

    `sc` and `rdma` tell how far each search came: its size, stuck states, faults, and the limit that cut it, if any.
    """

    program: Program
    model: Model
    names: tuple[str, ...]
    states: tuple[ReachedState, ...]
    lines: tuple[LineCheck, ...]
    sc: Exploration
    rdma: Exploration

    @property
    def complete(self) -> bool:
        """Whether neither search was cut, so that the final states are all there are."""
        return self.sc.cut is None and self.rdma.cut is None

    @property
    def only_rdma(self) -> tuple[ReachedState, ...]:
        """The states reached under RDMA only; where the SC search was cut they may yet be reachable under SC."""
        return tuple(state for state in self.states if state.only_rdma)


def explore_outcomes(
    program: Program,
    model: Model = RDMA,
    depth: int | None = None,
    max_states: int | None = None,
    timeout: float | None = None,
    *,
    limits: Limits | None = None,
    under_way: int | None = None,
    recv_depth: int = RECV_DEPTH,
) -> OutcomesReport:
    """Explore both machines and compare their final states.

    `depth` bounds the moves from the start and `max_states` the states of each search, `under_way` the operations of a queue
    pair under way, `recv_depth` the receives of a connection, `timeout` both searches together, in seconds. `limits` are
    instead of that: their time and memory. The search under SC has half of the time, that under RDMA what is left. A search
    that ends before its bound is complete, also for a program with loops. Such a program may have infinitely many states:
    without any bound it gets those of UNDER_WAY.
    """
    bounded = depth is not None or max_states is not None or under_way is not None or is_loop_free(program)
    given = Limits.of(timeout) if limits is None else limits
    limits = replace(given, states=max_states if bounded else STATES, depth=depth)
    search = partial(explore, under_way=under_way) if bounded else _explore_further
    sc = search(sc_machine_of(program, recv_depth=recv_depth), limits.share(0.5))
    rdma = search(machine_of(program, model, recv_depth=recv_depth), limits)
    names = state_names(program)
    states = tuple(ReachedState(s, s in sc.finals, s in rdma.finals) for s in sorted(sc.finals | rdma.finals))
    lines = tuple(_check(line, names, {"sc": sc, "rdma": rdma}) for line in program.outcomes)
    return OutcomesReport(program, model, names, states, lines, sc, rdma)


def _explore_further(machine: Machine, limits: Limits) -> Exploration:
    """Return what is found with more and more operations under way; the limit that is named is the last that was searched
    to its end, if one was."""
    found = explore(machine, limits, under_way=UNDER_WAY[0])
    for most in UNDER_WAY[1:]:
        if found.cut is None or found.states > SMALL or limits.exceeded():
            break
        more = explore(machine, limits, under_way=most)
        ended = more.cut is None or more.cut == under_way_at_most(most)
        faults = tuple(dict.fromkeys((*found.faults, *more.faults)))
        found = replace(more, finals=found.finals | more.finals, faults=faults, cut=more.cut if ended else found.cut)
    return found


def _check(line: OutcomeLine, names: tuple[str, ...], searches: Mapping[str, Exploration]) -> LineCheck:
    claims = []
    skipped = tuple(claim for claim in line.claims if claim.model not in searches)
    for claim in line.claims:
        search = searches.get(claim.model)
        if search is None:
            continue
        met = (s for s in sorted(search.finals) if evaluate(line.condition, dict(zip(names, s, strict=True))))
        example = next(met, None)
        holds = None if example is None and search.cut is not None else claim.allowed == (example is not None)
        claims.append(ClaimCheck(claim, holds, example))
    return LineCheck(line, tuple(claims), skipped)
