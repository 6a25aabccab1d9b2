"""What is asked of the rounds of a loop besides that each meets its contract: of whom processes know, and later rounds."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.contracts.language.contract_program import CollectiveLoop
from rdma_robust.contracts.language.loop_rounds import in_state
from rdma_robust.contracts.runs.run_promises import Promises
from rdma_robust.contracts.runs.run_state import Promise, SymbolicRun
from rdma_robust.contracts.runs.run_terms import Condition
from rdma_robust.contracts.runs.spec_reading import Snapshot
from rdma_robust.contracts.runs.symbolic_data import Decisions


def known_heads(on: Decisions, procs: int, loop: CollectiveLoop, process: int, state: Snapshot) -> tuple[Promise, ...]:
    """Return the `waitsfor` of a loop as they are at a head at which a process has this state."""
    return Promises(on, procs).evaluated(in_state(loop.waits, frozenset(loop.locals)), process, state)


class Rounds:
    """Looks at the runs of one round of a loop, for `procs` processes."""

    def __init__(self, on: Decisions, procs: int, loop: CollectiveLoop) -> None:
        self._on, self._procs, self._loop = on, procs, loop
        self._promises = Promises(on, procs)

    def _knows(self, process: int, state: Snapshot, other: int) -> Condition:
        """Return where a process at a head knows that another has come to the first one."""
        terms = self._on.terms
        return terms.disjunction(
            terms.conjunction((each.active, self._promises.member(each.low, each.high, each.others, other, process)))
            for each in known_heads(self._on, self._procs, self._loop, process, state)
        )

    def known_at_first(self, snapshots: list[Snapshot]) -> Iterator[tuple[Condition, str]]:
        """Yield what is wrong if at the first head a process is said to know of more than itself, and where that is so."""
        for process, state in enumerate(snapshots):
            for other in range(self._procs):
                if other != process:
                    text = f"at the first head nothing makes process {process} wait for process {other}"
                    yield self._knows(process, state, other), text

    def unknown_after(self, run: SymbolicRun) -> Iterator[tuple[Condition, str]]:
        """Yield what is wrong if behind a round a process is said to know of one that it need not have heard of."""
        terms = self._on.terms
        if any(each.status != "left" for each in run.actors):
            return
        entries = [each.calls[0].snapshot for each in run.actors]
        for process, actor in enumerate(run.actors):
            last = actor.calls[-1]
            heard = [other for other in range(self._procs) if other == process or last.clock[other]]
            for other in range(self._procs):
                if other in heard:
                    continue
                told = terms.disjunction(self._knows(each, entries[each], other) for each in heard)
                wrong = terms.conjunction((self._knows(process, last.snapshot, other), terms.negation(told)))
                yield wrong, f"behind a round process {process} need not have heard of process {other}"

    def disturbed_later(self, run: SymbolicRun) -> Iterator[tuple[Condition, str]]:
        """Yield what is wrong if a round requires somebody to be quiet who may send in the next round."""
        terms = self._on.terms
        for receiver, actor in enumerate(run.actors):
            for asked in actor.calls[0].promises:
                if asked.clause.kind != "quiet from":
                    continue
                for sender in range(self._procs):
                    member = self._promises.member(asked.low, asked.high, asked.others, sender, receiver)
                    quiet = terms.disjunction(
                        self._keeps_quiet(each, asked, receiver) for each in run.actors[sender].calls[0].promises
                    )
                    wrong = terms.conjunction((asked.active, member, terms.negation(quiet)))
                    text = f"in the next round process {sender} may send to process {receiver}, which has not left the round"
                    yield wrong, text

    def _keeps_quiet(self, promise: Promise, asked: Promise, receiver: int) -> Condition:
        """Return where a `quiet to` keeps back what a `quiet from` speaks of until its process is in the round, too."""
        if promise.clause.kind != "quiet to" or promise.until is None:
            return False
        if promise.clause.port is not None and promise.clause.port != asked.clause.port:
            return False
        terms = self._on.terms
        same = self._promises.covers_tag(promise, asked.tag)
        member = self._promises.member(promise.low, promise.high, promise.others, receiver, promise.process)
        until = self._promises.member(*promise.until, receiver, promise.process)
        return terms.conjunction((promise.active, member, same, until))
