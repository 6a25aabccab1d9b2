"""Whose the fields of an instance are, and what the steps of a copy leave where."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.errors import InternalError, UsageError
from rdma_robust.language.load import load_decidable
from rdma_robust.model import RDMA
from rdma_robust.robustness.crowds import instance as parts_module
from rdma_robust.robustness.crowds.hero_at_start import HeroAtStart
from rdma_robust.robustness.crowds.instance import WHOLE, Parts, TwoCopyInstance, pivots_of, two_copies
from rdma_robust.robustness.crowds.steps import InstanceSteps
from rdma_robust.robustness.reductions.critical import CriticalCycles
from rdma_robust.robustness.static_filter import Pivots
from tests.support.crowd_agreement import loaded, model_of
from tests.support.crowd_programs import IRIW
from tests.support.random_crowds import SHAPES, random_crowd

LOCK = """
node S { lock = 0, data = 0 }
node CN[*] { mine = 1, got = 0 }
thread W on S { data = 2 }
thread C[*] on CN[*] {
  reg r
  get got = cas(S.lock, 0, 1)
  poll S
  r = got
  assume r == 0
  put S.data = mine
  put S.lock = 0
}
"""


def instance_of(text: str) -> TwoCopyInstance:
    program = loaded(text)
    return TwoCopyInstance.of(program, model_of(program))


def test_what_is_local_to_a_copy() -> None:
    parts = Parts.of(instance := instance_of(LOCK))
    local = {parts.fields[field] for field, _ in parts.slots[instance.movers[0]]}
    assert {"C[2].r", "CN[2].mine", "CN[2].got", "carried[C[2]]", "unpolled[C[2]>S]", "beta[C[2]>S]"} - local <= {
        "CN[2].mine"
    }
    assert not local & {"S.lock", "S.data", "class", "closed", "C[1].r", "CN[1].got"}
    bits = {parts.fields[f]: b for f, b in parts.slots[instance.movers[0]] if parts.fields[f] == "cpu_beta"}
    assert bits == {"cpu_beta": 1 << instance.movers[0]}


@pytest.mark.parametrize("kind", SHAPES)
def test_slots_of_threads_are_disjoint_and_can_be_put_back(kind: str) -> None:
    for seed in range(8):
        instance = instance_of(random_crowd(Random(f"{kind} {seed}"), SHAPES[kind]))
        parts = Parts.of(instance)
        taken = [0] * len(parts.fields)
        for slots in parts.slots:
            for field, bits in slots:
                mask = (1 << 64) - 1 if bits == WHOLE else bits
                assert not taken[field] & mask
                taken[field] |= mask
        for mover in instance.movers:
            held, left = parts.taken_out(parts.initial, mover)
            assert parts.put_in(left, mover, held) == parts.initial


def test_a_field_that_nobody_knows_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_module, "_shared", lambda _instance: iter(()))
    with pytest.raises(InternalError, match="nobody knows whose the field"):
        Parts.of(instance_of(LOCK))


def test_what_a_copy_does_changes_nothing_of_others() -> None:
    steps = InstanceSteps(instance_of(LOCK), active=False)
    system = HeroAtStart(steps)
    mover = steps.instance.movers[0]
    control, local = system.initial, system.fresh[0]
    for move in system.moves(control, [local]):
        if move.label.moves and not move.label.chosen:
            assert steps.parts.taken_out(move.control[0], mover)[1] == move.control[0]
            assert move.takes == (local,)
            assert len(move.gives) == 1


def test_there_is_no_instance_without_a_template() -> None:
    with pytest.raises(UsageError, match="no thread of which there is any number"):
        TwoCopyInstance.of(load_decidable("node A { x }\nthread T on A { x = 1 }", "one.rdma"), RDMA)


def test_the_filter_knows_that_copies_conflict_with_each_other() -> None:
    """A cycle through two writers and two readers of one template; without a conflict of copies among themselves the hero
    has one neighbour."""
    program = loaded(IRIW)
    frame = two_copies(program, RDMA)
    mine = pivots_of(program, frame, frozenset({"filter"})).classes.tried
    assert mine
    assert set(_blind(program, frame).classes.tried) < set(mine) or not _blind(program, frame).classes.tried


def _blind(program: object, frame: object) -> Pivots:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rdma_robust.robustness.crowds.instance.CriticalCycles", lambda frame, _many: CriticalCycles(frame))
        return pivots_of(program, frame, frozenset({"filter"}))  # type: ignore[arg-type]
