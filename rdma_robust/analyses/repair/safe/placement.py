"""Repair for safety: the way in from text to answer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from rdma_robust.analyses.prove.prove import decide_safety
from rdma_robust.analyses.prove.safety_outcome import Safety, SafetyOutcome
from rdma_robust.analyses.repair.each_copy import has_families, outside_of_copies
from rdma_robust.analyses.repair.hitting import OutOfTimeError
from rdma_robust.analyses.repair.repairs import COUNTING, Choices, Repair, RepairOptions, Status, WaitOptions
from rdma_robust.analyses.repair.safe.fewest import Fewest
from rdma_robust.analyses.repair.safe.judging import WaitDecisions
from rdma_robust.analyses.repair.safe.rewriting import Rewriter
from rdma_robust.analyses.repair.safe.spots import WaitSpots
from rdma_robust.analyses.repair.safe.standing import WAITS, spots_of
from rdma_robust.errors import LimitReached, ProgramError, UsageError
from rdma_robust.language.check.refusals import model_refusals
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.text import count, one_line


def make_safe(
    text: str, file: str, waits: WaitOptions, options: RepairOptions | None = None, limits: CheckOptions | None = None
) -> Repair:
    """Return the cheapest waits, of those that `waits` allows, with which the program in `text` is safe under its model.

    `options.timeout` limits everything together; of `limits` the states, the memory, and `await_loops` count. Every solution
    was proven again from its text. Raises ProgramError for a bad program and for one with statements that the model does
    not have, UsageError for a model that is not known here, SizeLimitError for a program too large with all waits in.
    """
    return outside_of_copies(_answer(text, file, waits, options, limits), text, file)


def remove_waits(
    text: str, file: str, waits: WaitOptions, options: RepairOptions | None = None, limits: CheckOptions | None = None
) -> Repair:
    """Return the waits of the program in `text` that can go while it stays safe under a model: of most cost together.

    Labelled ones stay, and those in macros. What is left was proven again from its text. Raises ProgramError, UsageError.
    """
    found = _answer(text, file, replace(waits, sites=None, own=True), options, limits)
    if found.status == "impossible":
        return replace(found, reason=f"the program is not safe under {waits.model}: repair it first", run=())
    gone = tuple(replace(s, cost=sum(i.cost for i in s.removed), kept=()) for s in found.solutions)
    done = found.status in ("safe", "repaired")
    return replace(found, solutions=gone, complete=found.optimal if done else found.complete)


def _answer(text: str, file: str, waits: WaitOptions, options: RepairOptions | None, limits: CheckOptions | None) -> Repair:
    started = time.monotonic()
    options, limits = options or RepairOptions(COUNTING), limits or CheckOptions()
    if waits.model not in WAITS:
        raise UsageError(f"which waits make a program safe under {waits.model} is not known; take {', '.join(WAITS)}")
    work = Limits.of(options.timeout, limits.max_states, limits.memory, started=started)
    if refused := model_refusals(load_program(text, file), waits.model):
        raise ProgramError(file, text, refused)
    if has_families(text, file):
        return Repair("unknown", FAMILIES, time_s=time.monotonic() - started, waits=waits)
    try:
        spots = spots_of(text, file, waits, await_loops=limits.await_loops)
        found = _Placement(spots, waits, options, work, limits.await_loops).answer()
    except OutOfTimeError:
        found = Repair("unknown", f"{work.said('time')} came before it was known what all waits together do")
    except LimitReached as reached:
        found = Repair("unknown", str(reached))
    return replace(found, time_s=time.monotonic() - started, waits=waits)


FAMILIES: Final = (
    "waits are not looked for in families: one in the template stands in every copy; `rdma-robust fmt --expand` writes the "
    "copies out, and what it prints can be made safe"
)


class _Placement:
    """One search, from the program with all waits to the answer."""

    def __init__(
        self, spots: WaitSpots, waits: WaitOptions, options: RepairOptions, work: Limits, await_loops: bool
    ) -> None:
        self.spots, self.waits, self.options = spots, waits, options
        self.rewriter = Rewriter(spots, options.costs)
        self.decisions = WaitDecisions(spots, self.rewriter, self._prove, work, await_loops)
        self.search = Fewest(self.spots.universe, self.spots.costs(options.costs), self.decisions.judge)

    def _prove(self, program: Program, limits: Limits) -> SafetyOutcome:
        return decide_safety(program, self.waits.model, limits)

    def answer(self) -> Repair:
        """Return the answer. Raises OutOfTimeError if not even all waits were decided."""
        first = self.decisions.decide(frozenset(self.spots.universe))
        if first.safety is not Safety.SAFE:
            return self._hopeless(first)
        on_time = True
        try:
            self.search.run(self.options.most_solutions if self.options.all_minimal else 1)
        except (OutOfTimeError, LimitReached):
            on_time = False
        safe = frozenset(self.spots.universe) if self.search.safe is None else self.search.safe
        chosen = self.search.found if on_time or not self.search.cheaper(safe) else [safe]
        return self._repair(chosen, on_time)

    def _hopeless(self, first: SafetyOutcome) -> Repair:
        """Return the answer for a program that was not proven safe with all waits in."""
        having = f"with all of {count(len(self.spots.universe), 'candidate')}" if self.spots.universe else "as it is"
        if first.safety is Safety.UNKNOWN:
            return self._with("unknown", f"{having} it is not known to be safe: {first.reason}")
        assert first.run is not None
        assert first.claim is not None
        violated = f"line {self.spots.line(first.claim.span.start)}, `{one_line(first.claim.text)}`"
        reason = f"no {NAMES[self.waits.model]} make it safe: {having} this is violated: {violated}"
        return replace(self._with("impossible", reason), run=self.rewriter.told(first.run))

    def _repair(self, chosen: list[Choices], on_time: bool) -> Repair:
        search = self.search
        solutions = tuple(map(self.rewriter.solution, chosen))
        better = search.left_undecided(chosen[0])
        optimal = chosen is search.found and not better
        complete = on_time and search.exhausted and not search.left_undecided()
        scope = _scope(self.waits)
        if optimal:
            reason = f"the cheapest of {scope}"
        elif better:
            reason = f"no smaller set was proven; {count(len(better), 'set')} undecided"
        else:
            reason = "the cheapest found: a limit came before all cheaper sets were decided"
        if not solutions[0].edits:
            found = self._with("safe", "nothing is missing" if not self.waits.own else f"its own waits are {reason}")
        else:
            found = self._with("repaired", reason)
        return replace(
            found,
            solutions=solutions if solutions[0].edits else (),
            optimal=optimal,
            complete=complete,
            scope=scope,
            needed=self.rewriter.rows(search.needed),
            undecided=tuple(map(self.rewriter.rows, search.left_undecided() if self.options.all_minimal else better)),
        )

    def _with(self, status: Status, reason: str) -> Repair:
        return Repair(
            status,
            reason,
            checked=self.decisions.checked,
            cycles=self.decisions.cycles,
            candidates=len(self.spots.universe),
        )


NAMES: Final[Mapping[AnyModelName, str]] = {"sc": "waits", "tso": "mfences", "pso": "mfences", "rma": "flushes"}
"""What waits of a model are called."""


def _scope(waits: WaitOptions) -> str:
    """Return which sets a cheapest one is a cheapest of, in words."""
    behind = {"rma": "of the peer behind each put, get and remote atomic"}.get(waits.model, "behind each store")
    where = behind if waits.sites == "after-remote" else "between any two statements, but first in a branch or loop"
    own = ", and those of the program, which can go" * waits.own
    return f"all sets of {NAMES[waits.model]} {where}{own}"
