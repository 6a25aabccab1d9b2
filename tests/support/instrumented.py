"""Counter programs as `check` makes them."""

from __future__ import annotations

from rdma_robust.counters.program import CounterProgram
from rdma_robust.language.flow.cfg import Program
from rdma_robust.options import CheckOptions, Instrumentation
from rdma_robust.robustness.decide import DECISION
from rdma_robust.robustness.frame import EventLabel
from rdma_robust.robustness.passes import Context, CounterArtefact, run_passes


def instrumented(program: Program, by: Instrumentation = "pivot") -> CounterProgram[EventLabel]:
    """Return the counter program that is searched for a violation of `program`, with every reduction."""
    passes = DECISION[: [each.name for each in DECISION].index("instrument") + 1]
    made: CounterArtefact = run_passes(passes, program, Context.of(CheckOptions(instrumentation=by)))
    return made.counters
