"""The checks of the instrumentations, each disabled, and the reductions, each made too strong, and programs that see it.

`python -m tests.support.mutations` looks for a smallest random program on which each mutant is wrong and writes it to
tests/agreement/mutations/; the tests then only replay these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from rdma_robust.expr import FALSE, TRUE, Const, negate
from rdma_robust.language.load import load_program
from rdma_robust.options import ALL_REDUCTIONS
from rdma_robust.robustness.frame import has_bit
from rdma_robust.robustness.pivot import PivotInstrumentation
from rdma_robust.robustness.reductions import outlook, specialise
from rdma_robust.robustness.reductions.relaxation import ThreadRelaxation
from rdma_robust.robustness.reductions.relevance import Relevance
from rdma_robust.robustness.rules import CPU_BETA, ForcingRules
from rdma_robust.robustness.taint import Poison
from rdma_robust.semantics.trace import CPU_TYPES, EventType
from tests.support.compare import by, by_oracle
from tests.support.random_programs import Size, random_program
from tests.support.shrinking import shrink

FOLDER = Path(__file__).parents[1] / "agreement" / "mutations"


def _only(original: Callable[..., Any], when: Callable[[Any], bool], otherwise: Any) -> Callable[..., Any]:
    """The method `original`, except that it returns `otherwise` for edges for which `when` holds."""

    def method(self: Any, edge: Any, *rest: Any) -> Any:
        return otherwise if when(edge) else original(self, edge, *rest)

    return method


def _always(value: Any) -> Callable[..., Any]:
    return lambda *_arguments: value


_OVERTAKING = ThreadRelaxation.overtaking
_THREAD_MARK = Relevance.thread_mark

_MOVE, _PIVOT, _WRITTEN = outlook._move, outlook._pivot, specialise._written


def _move_with(**changes: Any) -> Callable[..., Any]:
    """Moves of the test for dead ends with these fields."""
    return lambda *arguments: replace(_MOVE(*arguments), **changes)


MUTATIONS: dict[str, tuple[Any, str, Any]] = {
    "oppo-of-cpu-events": (ForcingRules, "oppo_forces",
         _only(ForcingRules.oppo_forces, lambda e: e.type in CPU_TYPES, FALSE)),
    "oppo-of-nic-events": (ForcingRules, "nic_forces", _always(FALSE)),
    "cpu-beta-moves-nic-events": (ForcingRules, "oppo_forces", lambda self, e: has_bit(CPU_BETA, 1 << e.thread)
                                  if e.type in CPU_TYPES else self.nic_forces(e)),
    "polls-forced-by-nlw": (ForcingRules, "forces_poll",
         _only(ForcingRules.forces_poll, lambda e: e.type is EventType.NLW, FALSE)),
    "polls-forced-by-nrw": (ForcingRules, "forces_poll",
         _only(ForcingRules.forces_poll, lambda e: e.type is EventType.NRW, FALSE)),
    "polls-of-puts-always-forced": (ForcingRules, "forces_poll", _always(TRUE)),
    "nlw-nf-nlr-rule": (ForcingRules, "fence_flagged", frozenset()),
    "forcing-by-conflicts": (PivotInstrumentation, "_forced_by_conflict", _always(FALSE)),
    "poison-through-the-nic": (Poison, "travelling", _always([])),
    "poison-cuts-cpu-reads": (PivotInstrumentation, "_poisons", _always(FALSE)),
    "taint-spreads": (PivotInstrumentation, "_taint", _always(Const(0))),
    "taint-is-needed": (PivotInstrumentation, "_taint", _always(Const(1))),
    "choice-of-alpha": (PivotInstrumentation, "_alpha_allowed", lambda self, e: negate(self._meets_pivot(e))),
    "alpha-value-is-frozen": (PivotInstrumentation, "_freeze", _always([])),
    "no-cpu-event-of-the-pivots-thread-in-beta": (PivotInstrumentation, "_cuts", _always(FALSE)),
    "filter-counts-one-unpolled": (ThreadRelaxation, "_outstanding", _always(1)),
    "filter-polls-prove-remote-writes": (ThreadRelaxation, "overtaking", lambda self, e: [] if e.type is EventType.NRW
                                         else _OVERTAKING(self, e)),
    "filter-forgets-other-queue-pairs": (ThreadRelaxation, "overtaking", lambda self, e: [
                                         o for o in _OVERTAKING(self, e) if o.remote in (None, e.remote)]),
    "filter-orders-the-nic": (ThreadRelaxation, "_forced", lambda _self, _now, e: e.type not in CPU_TYPES),
    "relevance-forgets-overtaking": (Relevance, "thread_mark", lambda self, e, part: [
                                     c for c in _THREAD_MARK(self, e, 0) if part == 0]),
    "relevance-forgets-conflicts": (Relevance, "cell_marks", _always([])),
    "relevance-clears-marks-early": (Relevance, "spent", lambda self, _: list(self.classes.tried)),
    "relevance-keeps-every-pivot-out": (Relevance, "keeps_pivot_out", lambda self, e: [
                                        c for c in self.classes.tried if c.thread == e.thread]),
    "relevance-ends-phase-1-with-a-thread": (Relevance, "start_ahead", lambda self, e: TRUE
                                             if e.target in self._start_points[e.thread] else FALSE),
    "dead-ends-forget-conflicts": (outlook, "_move", _move_with(conflicting=0)),
    "dead-ends-forget-marks": (outlook, "_move", _move_with(taints=())),
    "dead-ends-stop-at-nic-events": (outlook, "_move", _move_with(passes=False)),
    "dead-ends-forget-writes": (outlook, "_move", _move_with(writes=False)),
    "dead-ends-read-what-is-there": (outlook, "_pivot", lambda *a: replace(_PIVOT(*a), written=())),
    "values-forget-the-nic": (specialise, "_written", lambda graph, values: _WRITTEN(
                              replace(graph, edges=tuple(e for e in graph.edges if e.written)), values)),
}  # fmt: skip
"""Name to the class or module, the attribute and what replaces it."""

_BARE = (ForcingRules, PivotInstrumentation)
"""Mutants of these are looked at without reductions, which hide some of them; the others are too strong reductions."""


@contextmanager
def mutated(name: str) -> Iterator[None]:
    owner, attribute, replacement = MUTATIONS[name]
    with patch.object(owner, attribute, replacement):
        yield


def caught(name: str, text: str, ordered_reads: bool = False) -> bool:
    """Whether the mutated pivot search gives a wrong verdict, or an unconfirmed witness, where the real one is right."""
    program = load_program(text, "mutant.rdma")
    truth = by_oracle(program, ordered_reads)
    if truth.startswith("("):
        return False
    method = by("pivot", reductions=frozenset() if MUTATIONS[name][0] in _BARE else ALL_REDUCTIONS, large=0)
    with mutated(name):
        if method(program, ordered_reads) in (truth, "(30000 states)"):
            return False
    return method(program, ordered_reads) == truth


def find(name: str, seeds: range) -> str | None:
    """Return the smallest shrunk program among the first few that catch the mutant."""
    found = []
    for seed in seeds:
        text = random_program(Random(seed), Size(threads=(1, 3), total=9))
        if caught(name, text):
            found.append(shrink(text, lambda t: caught(name, t)))
            if len(found) == 3:
                break
    return min(found, key=len, default=None)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in MUTATIONS:
        path = FOLDER / f"{name}.rdma"
        if path.exists():
            continue
        text = find(name, range(8_000))
        if text is None:
            print(f"{name}: nothing found", flush=True)
        else:
            path.write_text(f"// wrong when this is disabled: {name}\n{text}\n")
            print(f"{name}: {len(text.splitlines())} lines", flush=True)


if __name__ == "__main__":
    main()
