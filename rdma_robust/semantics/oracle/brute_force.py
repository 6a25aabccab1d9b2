"""Brute force over the axioms for loop-free programs: robustness and outcomes, independent of any search over states.

The oracle's search: every choice of rf, mo, nfo and rao of one candidate, one decision at a time; and every way in which
messages that may take any posted receive can do so (docs/order-files.md, "Any posted receive").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import perm, prod
from time import monotonic
from typing import Final

from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import RDMA, Model
from rdma_robust.orders.known_orders import order_table
from rdma_robust.semantics.axioms import is_violating
from rdma_robust.semantics.connections import connection_ends, has_long_messages
from rdma_robust.semantics.machines.machine import FinalState, final_state
from rdma_robust.semantics.oracle.candidate import INITIAL, CandidateExecution, PathOrder, Scopes
from rdma_robust.semantics.oracle.partial import Partial
from rdma_robust.semantics.oracle.thread_paths import Extent, thread_paths
from rdma_robust.semantics.trace import Trace
from rdma_robust.semantics.values import held_and_carried, is_loop_free
from rdma_robust.semantics.waiting_runs import is_sequential
from rdma_robust.semantics.waits import messages_wait
from rdma_robust.semantics.wellformed import check_well_formed


class Budget:
    """Counts decisions; `spend` raises SizeLimitError when their number or the time is used up."""

    def __init__(self, decisions: int, timeout: float | None) -> None:
        self.decisions = decisions
        self.timeout = timeout
        self.spent = 0
        self.end = None if timeout is None else monotonic() + timeout

    def spend(self) -> None:
        self.spent += 1
        if self.spent > self.decisions:
            raise SizeLimitError(f"the oracle needs more than {self.decisions} decisions for this program")
        if self.spent % 1024 == 0 and self.end is not None and monotonic() > self.end:
            raise SizeLimitError(f"the oracle needs more than {self.timeout:g} s for this program")


class ChoiceSearch:
    """Enumerates the RDMA-consistent choices of rf and mo of one candidate.

    nfo and rao matter for consistency alone, so they are chosen last and one choice is enough.
    """

    def __init__(self, base: CandidateExecution, budget: Budget, leaf: Callable[[Partial], bool]) -> None:
        self.base = base
        self.budget = budget
        self.leaf = leaf
        self.pairs = [(a, b) for ws in base.writes.values() for i, a in enumerate(ws) for b in ws[i + 1 :]]
        self.reads = sorted(base.reads, key=lambda r: len(base.sources[r]))
        self.choices = base.choices()

    def run(self) -> bool:
        """Call `leaf` for every choice of rf and mo with acyclic ob so far; stop and return True when it says so."""
        if self.base.impossible:
            return False
        partial = Partial(self.base)
        return partial.connect() and self.order_writes(0, partial)

    def order_writes(self, k: int, partial: Partial) -> bool:
        self.budget.spend()
        while k < len(self.pairs):
            a, b = self.pairs[k]
            k += 1
            if partial.ob_after[b] >> a & 1:
                a, b = b, a
            elif not partial.ob_after[a] >> b & 1:
                other = partial.copy()
                if other.modify_before(a, b) and self.order_writes(k, other):
                    return True
                a, b = b, a
            if not partial.modify_before(a, b):
                return False
        return self.choose_sources(0, partial)

    def choose_sources(self, k: int, partial: Partial) -> bool:
        self.budget.spend()
        while k < len(self.reads):
            read = self.reads[k]
            k += 1
            options = self.options(read, partial)
            if not options:
                return False
            for write in options[:-1]:
                other = partial.copy()
                if other.read_from(read, write) and self.choose_sources(k, other):
                    return True
            if not partial.read_from(read, options[-1]):
                return False
        return self.leaf(partial)

    def options(self, read: int, partial: Partial) -> list[int]:
        """The writes that the read may still read from: none that is ob-later, unless it comes out of the own store buffer,
        and none that an ob-earlier write overtook."""
        base = self.base
        before = partial.ob_before[read]
        after = partial.ob_after[read]
        allowed = base.allowed[read]
        found = []
        for write in base.sources[read]:
            if write == INITIAL:
                possible = not before & base.rivals[read]
            elif (after >> write & 1 and not base.forwards(write, read)) or before & partial.mo_after[write]:
                possible = False
            else:
                possible = not partial.known_writes >> write & 1 or partial.written[write] in allowed
            if possible:
                found.append(write)
        return found

    def flush(self, partial: Partial, k: int = 0) -> Partial | None:
        """Return an extension of the leaf by a consistent choice of nfo and rao, or None if there is none."""
        self.budget.spend()
        partial = partial.copy()
        while k < len(self.choices):
            open_ = [way for way in self.choices[k] if way is not None and not partial.ob_after[way[0][1]] >> way[0][0] & 1]
            k += 1
            if not open_:
                return None
            for way in open_[:-1]:
                other = partial.copy()
                if other.add_all(way):
                    finished = self.flush(other, k)
                    if finished is not None:
                        return finished
            if not partial.add_all(open_[-1]):
                return None
        return partial


MOST_WAYS: Final = 5_040
"""Ways to take receives that are looked at for one path of each thread."""


def in_any_order(program: Program, blocks: Sequence[PathOrder]) -> Iterator[list[PathOrder]]:
    """Yield the paths with every choice of a receive for each message but the one in which each takes that of its turn.

    Every message needs one: there is nothing where a connection has fewer receives. Raises SizeLimitError beyond
    `MOST_WAYS`, and for what is not argued: messages of several words, and those that wait (`rnr wait`).
    """
    ends = connection_ends(program, [block.path.events for block in blocks])
    sent = [(messages, len(ends.receives.get(each, ()))) for each, messages in ends.messages.items()]
    if all(receives < 2 for _, receives in sent):
        return
    if has_long_messages(program):
        raise SizeLimitError("a message of several words may take any posted receive")
    if messages_wait(program):
        raise SizeLimitError("a message that waits (rnr wait) may take any posted receive")
    if prod(perm(receives, len(messages)) for messages, receives in sent) > MOST_WAYS:
        raise SizeLimitError(f"the messages can take receives in more than {MOST_WAYS} ways, too many for the oracle")
    ways = [permutations(range(receives), len(messages)) for messages, receives in sent]
    for way in product(*ways):
        if any(taken != tuple(range(len(taken))) for taken in way):
            places = [place for messages, _ in sent for place in messages]
            yield _taking(blocks, dict(zip(places, (number for taken in way for number in taken), strict=True)))


def _taking(blocks: Sequence[PathOrder], takes: dict[tuple[int, int], int]) -> list[PathOrder]:
    found = []
    for thread, block in enumerate(blocks):
        events = [replace(e, takes=takes.get((thread, place))) for place, e in enumerate(block.path.events)]
        found.append(replace(block, path=replace(block.path, events=tuple(events))))
    return found


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
    """Final states of SC- and RDMA-consistent traces, named by :func:`state_names` of machines."""

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

    Under `rnr wait` there are also traces without the messages that wait forever, and without what is behind them on their
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


FOR_EVER: Final = "a message may wait forever (rnr wait), and no trace tells what its thread does behind it"


def _violation(program: Program, base: CandidateExecution, budget: Budget, *, passed: bool) -> Trace | None:
    """Return a violating trace of a candidate, None if there is none; any consistent one if something has `passed` a message
    that waits forever."""
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
