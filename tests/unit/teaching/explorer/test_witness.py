"""The counterexample as choices: the effects of the witness, in its order, until SC cannot follow."""

from __future__ import annotations

import pytest

from rdma_robust.model import rdma
from rdma_robust.options import CheckOptions
from rdma_robust.pipeline import check_program
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.run_history import history
from rdma_robust.teaching.explorer.session import Session, session_verdict
from tests.support.explored import litmus, session

# Two equal gets under way at once: their moves have the same cause, and only the state tells them apart.
TWINS = """domain 0..2
node A { x, y }
node B { z }
thread T on A { reg i; while i < 2 { get x = B.z; i = i + 1 }; i = x }
thread U on B { z = 1 }
"""


@pytest.mark.parametrize("name", ["mailbox-plain", "sb-put-polled", "handoff-lock-server", "lock-local-staging-plain"])
@pytest.mark.parametrize("ordered_reads", [False, True])
def test_the_run_has_the_effects_of_the_witness(name: str, ordered_reads: bool) -> None:
    explored = Session(litmus(name).program, model=rdma(ordered_reads))
    check_run(explored, CheckOptions(ordered_reads=ordered_reads))


def test_moves_with_the_same_cause() -> None:
    check_run(session(TWINS), CheckOptions())


def check_run(explored: Session, options: CheckOptions) -> None:
    found = session_verdict(explored, options)
    witness = check_program(explored.program, options).witness
    assert found.verdict == "not-robust" and found.address is not None and witness is not None
    place = explored.place(found.address)
    assert place.rdma.at == 0 and len(place.rdma.choices) == found.steps
    points = (explored.rdma.point(()), *explored.rdma.point(place.rdma.choices).path())
    machine = explored.rdma.machine
    assert isinstance(machine, DeployedMachine)
    run = [event for _, event in history(machine, [p.move for p in points if p.move is not None]).events()]
    assert [(e.type, e.thread, e.position, e.read, e.written) for e in run] == [
        (e.type, e.thread, e.position, e.read, e.written) for e in witness.order
    ]
    assert found.broken is not None
    before = explored.view(explored.go(place, "rdma", found.broken - 1))
    after = explored.view(explored.go(place, "rdma", found.broken))
    assert before.broken is None and after.broken is not None and after.broken.step == found.broken


def test_other_verdicts() -> None:
    assert session_verdict(litmus("mailbox-polled"), CheckOptions()).verdict == "robust"
    undecided = session_verdict(litmus("mailbox-plain"), CheckOptions(max_states=1))
    assert undecided.verdict == "unknown" and "1 state" in undecided.text and undecided.address is None


def test_a_counterexample_that_is_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rdma_robust.teaching.explorer.session.LONGEST", 5)
    found = session_verdict(litmus("mailbox-plain"), CheckOptions())
    assert found.verdict == "not-robust" and found.address is None and "5 steps" in found.text
