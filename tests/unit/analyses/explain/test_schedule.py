"""The machine run of a witness: it is a run of the machine, and its effects are the witness's, in the witness's order."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.explain.schedule import Run, machine_run
from rdma_robust.analyses.explain.timeline import timeline
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import RDMA, rdma
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Witness
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.semantics.machines.rdma import RdmaMachine
from tests.support.explained import outcome_of, programs
from tests.support.random_programs import LARGER, SMALL, TINY


def witnesses(seed: int, number: int, loops: bool, ordered_reads: bool = False) -> list[tuple[Outcome, Witness]]:
    found = [outcome_of(text, ordered_reads) for text in programs(seed, number, LARGER if loops else SMALL, loops=loops)]
    return [(outcome, outcome.witness) for outcome in found if outcome.witness is not None]


def is_a_run(program: Program, run: Run, ordered_reads: bool) -> bool:
    """Whether a fresh machine can make exactly these moves."""
    machine = RdmaMachine(program, rdma(ordered_reads))
    states = {move.state for move in machine.initial()}
    for step in run.steps:
        cause = step.action._replace(act=None, at=None)  # which this machine does not tell
        states = {m.state for s in states for m in machine.successors(s) if m.action == cause}
    return bool(states)


@pytest.mark.parametrize(("seed", "loops", "ordered"), [(1, False, False), (2, True, False), (3, False, True)])
def test_every_witness_is_a_run_of_the_machine(seed: int, loops: bool, ordered: bool) -> None:
    found = witnesses(seed, 24, loops, ordered)
    assert len(found) > 4
    for outcome, witness in found:
        run = machine_run(outcome.program, witness, rdma(ordered))
        assert is_a_run(outcome.program, run, ordered)
        assert tuple(step.event for step in run.steps if step.event is not None) == witness.order


def test_the_witnesses_of_the_paper_are_runs_too() -> None:
    checked = 0
    for text in programs(4, 30, TINY):
        outcome = decide(outcome_of(text).program, CheckOptions(instrumentation="paper", max_states=4000))
        if outcome.witness is not None:
            run = machine_run(outcome.program, outcome.witness, RDMA)
            assert is_a_run(outcome.program, run, False)
            checked += 1
    assert checked > 1


def test_operations_live_in_order() -> None:
    """Posted, read, sent, written in this order, and posted in program order; every poll takes a completion made before."""
    for outcome, witness in witnesses(5, 16, True):
        run = timeline(outcome.program, witness, machine_run(outcome.program, witness, RDMA))
        assert [s.number for s in run.steps] == list(range(1, len(run.steps) + 1))
        for operation in run.operations:
            times = [operation.posted, operation.read, operation.sent, operation.written]
            known = [t for t in times if t is not None]
            assert known == sorted(known)
            assert times.index(None) >= len(known) if None in times and operation.kind != "rfence" else True
            if operation.polled is not None:
                complete = operation.sent if operation.kind == "put" else operation.written
                assert complete is not None and complete < operation.polled
        lanes = {lane.id for lane in run.lanes}
        assert {s.lane for s in run.steps} <= lanes
        for thread in {lane.thread for lane in run.lanes}:
            posted = [o.posted for o in run.operations if o.lane.startswith(f"{thread}>")]
            assert posted == sorted(posted)


def test_an_operation_is_posted_no_earlier_than_needed() -> None:
    """Between the posting and the next step of its thread there is no step of another thread."""
    for outcome, witness in witnesses(6, 20, False):
        run = machine_run(outcome.program, witness, RDMA)
        for k, step in enumerate(run.steps):
            if step.action.verb in (Verb.ISSUE, Verb.NIC_WRITE):
                assert run.steps[k + 1].action.thread == step.action.thread


def test_an_order_that_the_machine_cannot_make_is_refused() -> None:
    outcome = outcome_of(
        "node A { x }\nnode B { y }\nthread T on A { reg r; put B.y = 1; r = x }\n"
        "thread S on B { reg r; put A.x = 1; r = y }\n"
    )
    witness = outcome.witness
    assert witness is not None
    backwards = Witness(witness.trace, witness.order[::-1], 0, None, witness.run, witness.cycle, witness.relaxed)
    with pytest.raises(InternalError, match="no run"):
        machine_run(outcome.program, backwards, RDMA)
