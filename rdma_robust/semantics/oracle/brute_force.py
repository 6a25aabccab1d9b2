"""Brute force over the axioms for loop-free programs: robustness and outcomes, independent of any search over states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Final

from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import RDMA, Model
from rdma_robust.orders.known_orders import order_table
from rdma_robust.semantics.axioms import check_well_formed, is_violating
from rdma_robust.semantics.machines.final import FinalState, final_state
from rdma_robust.semantics.oracle.candidate import CandidateExecution, PathOrder, Scopes
from rdma_robust.semantics.oracle.choices import Budget, ChoiceSearch, in_any_order
from rdma_robust.semantics.oracle.partial import Partial
from rdma_robust.semantics.oracle.thread_paths import Extent, thread_paths
from rdma_robust.semantics.trace import Trace
from rdma_robust.semantics.values import held_and_carried, is_loop_free
from rdma_robust.semantics.waiting_runs import is_sequential
from rdma_robust.semantics.waits import messages_wait


@dataclass(frozen=True, slots=True)
class OracleLimits:
    """How much brute force is allowed: paths of one thread, choices of one path per thread, events of one such choice,
    decisions taken in all, and seconds (None: no limit)."""

    paths: int = 2_000
    choices: int = 20_000
    events: int = 48
    decisions: int = 2_000_000
    timeout: float | None = 60.0

    def within(self, seconds: float | None) -> OracleLimits:
        """Return these limits with at most so many seconds (None: no fewer)."""
        if seconds is None:
            return self
        return replace(self, timeout=seconds if self.timeout is None else min(seconds, self.timeout))


DEFAULT_LIMITS = OracleLimits()


@dataclass(frozen=True, slots=True)
class AxiomaticOutcomes:
    """Final states of SC- and RDMA-consistent traces, named by :func:`rdma_robust.semantics.machines.final.state_names`."""

    sc: frozenset[FinalState]
    rdma: frozenset[FinalState]


def oracle_robust(
    program: Program, model: Model = RDMA, limits: OracleLimits = DEFAULT_LIMITS, *, all_prefixes: bool = False
) -> Trace | None:
    """Return a violating trace of a loop-free program, confirmed by the axioms, or None if the program is robust.

    Unless `all_prefixes` is set, each thread's events are only taken up to its end or to a point where it may be stuck:
    where some values read leave every step disabled, a poll has no completion left, or there is no receive for a message
    or no message for an RP. That is enough. Let a thread of an RDMA-consistent trace have an enabled next event e when its
    read, if it is one, takes the mo-last value. Add e with that rf edge, last in mo if it writes, nfo-after its partners,
    and rao-last if it is an naR: an naR on its word whose naW is missing is the last event of its thread, whose naW is
    added first. Every new edge of po, pf, rf, mo, rb, nfo, rao, sm, rpf and hence of ippo, oppo and ib leads into e (a new
    V has no message yet, a new message no RP), so ob stays acyclic and an sc cycle stays. Repeat: the program has no
    loops, so this ends in a trace in which no thread has an enabled event, and those are among the enumerated.

    Under `rnr wait` there are also traces without the messages that wait for ever, and without what is behind them on their
    queue pairs: what a thread does behind such a message is in no other trace. None of those is returned.

    Raises SizeLimitError if the program has loops or exceeds `limits`, or if one of these may be violating; InternalError if
    a found trace is not confirmed.
    Source: Definitions 1 to 3 of the paper.
    """
    extent = Extent.ALL if all_prefixes else Extent.MAXIMAL
    budget = Budget(limits.decisions, limits.timeout)
    for_ever = False
    for base in with_any_receives(candidates(program, model, limits, extent, budget), budget):
        paths = [block.path for block in base.blocks]
        goes_on = any(path.goes_on for path in paths)
        passed = goes_on and (not program.plain or any(path.passed for path in paths))
        found = None if for_ever and goes_on else _violation(program, base, budget, passed=passed)
        for_ever |= goes_on and found is not None
        if found is not None and not goes_on:
            check_well_formed(program, found, model)
            if not is_violating(found, model) or is_sequential(program, found):
                raise InternalError("the oracle found a trace that the axioms do not confirm as violating")
            return found
    if for_ever:
        raise SizeLimitError(FOR_EVER)
    return None


FOR_EVER: Final = "a message may wait for ever (rnr wait), and no trace tells what its thread does behind it"


def _violation(program: Program, base: CandidateExecution, budget: Budget, *, passed: bool) -> Trace | None:
    """Return a violating trace of a candidate, None if there is none; any consistent one if something has `passed` a message
    that waits for ever."""
    found: list[Trace] = []

    def leaf(partial: Partial) -> bool:
        finished = None if partial.is_sc() and not passed else search.flush(partial)
        trace = None if finished is None else finished.trace()
        if trace is None or (not passed and messages_wait(program) and is_sequential(program, trace)):
            return False
        found.append(trace)
        return True

    search = ChoiceSearch(base, budget, leaf)
    return found[0] if search.run() else None


def axiomatic_outcomes(program: Program, model: Model = RDMA, limits: OracleLimits = DEFAULT_LIMITS) -> AxiomaticOutcomes:
    """Return the final states of the executions in which every thread has ended and no operation is pending.

    An SC-consistent choice of rf and mo needs no search for nfo and rao: taking them from a linearisation of sc, every edge
    of ob follows that order. Raises SizeLimitError if the program has loops or exceeds `limits`.
    """
    budget = Budget(limits.decisions, limits.timeout)
    sc: set[FinalState] = set()
    rdma: set[FinalState] = set()
    for base in with_any_receives(candidates(program, model, limits, Extent.ENDED, budget), budget):
        search: ChoiceSearch

        def leaf(partial: Partial) -> bool:
            state = _final_state(partial)
            if state in sc:
                return False
            if partial.is_sc():
                sc.add(state)
                rdma.add(state)
            elif (state not in rdma or messages_wait(program)) and (found := search.flush(partial)) is not None:  # noqa: B023
                rdma.add(state)
                if messages_wait(program) and is_sequential(program, found.trace()):
                    sc.add(state)
            return False

        search = ChoiceSearch(base, budget, leaf)
        search.run()
    return AxiomaticOutcomes(frozenset(sc), frozenset(rdma))


def candidates(
    program: Program, model: Model, limits: OracleLimits, extent: Extent, budget: Budget
) -> Iterator[CandidateExecution]:
    """Yield every choice of one path for each thread, with nothing chosen between them yet. Raises SizeLimitError for a
    program with loops or beyond the limits."""
    if not is_loop_free(program):
        raise SizeLimitError("the oracle needs a program without loops")
    values, immediates = held_and_carried(program)
    waiting = messages_wait(program)
    scopes: Scopes = {}
    blocks = [
        [
            PathOrder(path, model, scopes)
            for path in thread_paths(
                thread, values, extent, limits.paths, model=model, immediates=immediates, waiting=waiting
            )
        ]
        for thread in program.threads
    ]
    if prod(len(choices) for choices in blocks) > limits.choices:
        raise SizeLimitError(f"the threads have more than {limits.choices} combinations of paths, too many for the oracle")
    for chosen in product(*blocks):
        base = CandidateExecution(program, chosen, model)
        if base.n > limits.events:
            raise SizeLimitError(f"an execution has more than {limits.events} events, too many for the oracle")
        budget.spend()
        yield base


def with_any_receives(found: Iterator[CandidateExecution], budget: Budget) -> Iterator[CandidateExecution]:
    """Yield candidates, and behind each those whose messages take receives that are not of their turn, if its order lets a
    message take any. Raises SizeLimitError, see :func:`in_any_order`."""
    for base in found:
        yield base
        if base.connected and order_table(base.model.order).matching == "any":
            for blocks in in_any_order(base.program, base.blocks):
                budget.spend()
                yield CandidateExecution(base.program, blocks, base.model)


def _final_state(partial: Partial) -> FinalState:
    base = partial.base
    memory = []
    for cell, writes in base.writes.items():
        last = [w for w in writes if not partial.mo_after[w]]
        memory.append(partial.written[last[0]] if last else cell.init)
    registers = [
        [term.of(partial.values, offset) for term in block.path.registers]
        for block, offset in zip(base.blocks, base.offsets, strict=True)
    ]
    return final_state(base.program, memory, registers)
