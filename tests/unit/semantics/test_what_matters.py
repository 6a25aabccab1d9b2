"""Steps that matter: closed under what they depend on, where the dependence of registers is followed step by step."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.expr import VALUE, names
from rdma_robust.language.load import load_program
from rdma_robust.semantics.machines.machine import Action, Verb, act_of
from rdma_robust.semantics.what_matters import MachineRun
from tests.conftest import ROOT
from tests.support.walks import random_run

PROGRAMS = sorted((ROOT / "litmus").glob("*.rdma"))


def direct(actions: list[Action]) -> list[set[int]]:
    """For each move of a run those whose values it uses: by memory as it was, and by registers, followed exactly."""
    written: dict[object, int] = {}
    computed: dict[tuple[int, str], set[int]] = {}
    found: list[set[int]] = []
    for number, action in enumerate(actions):
        act, step, sources = act_of(action), action.step, set[int]()
        if act is not None and action.read is not None:
            sources |= {written[cell] for cell in act.reads if cell in written}
        if step is not None and action.verb in (Verb.ACCESS, Verb.ISSUE, Verb.POLL):
            values = [value for _, value in act.writes] if act is not None else []
            used = {name for each in (step.guard, *values) for name in names(each)}
            sources |= {s for n in used for s in computed.get((action.thread, n), ())}
            for at, each in enumerate((step, *action.silent)):
                new = {}
                for name, value in each.assigns:
                    of = {s for n in names(value) for s in computed.get((action.thread, n), ())}
                    new[action.thread, name] = of | ({number} if at == 0 and VALUE.name in names(value) else set())
                computed |= new
        if act is not None and action.written is not None and action.verb in (Verb.ACCESS, Verb.FLUSH):
            written |= {cell: number for cell, _ in act.writes}
        found.append(sources)
    return found


@pytest.mark.parametrize("file", PROGRAMS[::9], ids=lambda path: path.stem)
def test_what_a_step_uses_matters_with_it(file: object) -> None:
    program = load_program(ROOT.joinpath(str(file)).read_text(), "program.rdma")
    for seed in range(6):
        actions = [move.action for move in random_run(program, Random(seed), 60)]
        uses = direct(actions)
        known = MachineRun(program, actions, sc=False)
        for wanted in range(1, len(actions), 5):
            matter = known.matter([wanted])
            assert wanted in matter
            for step in matter:
                assert uses[step] <= matter, (seed, wanted, step)


def test_a_poll_brings_its_operation_and_a_write_what_it_was_computed_from() -> None:
    text = """domain 0..9
node A { x = 0, y = 0, z = 0, w = 0 }
node B { b = 0 }
thread T on A {
  reg r, s
  x = 3
  y = 1
  r = x
  s = 2
  s = r + 1
  z = s
  put B.b = z
  poll B
  w = 5
}
"""
    program = load_program(text, "program.rdma")
    actions = [move.action for move in random_run(program, Random(1), 40)]
    known = MachineRun(program, actions, sc=False)
    lines = [action.step.span.line if action.step else 0 for action in actions]
    poll = next(n for n, action in enumerate(actions) if action.verb is Verb.POLL)
    matter = known.matter([poll])
    assert {lines[n] for n in matter} == {6, 8, 11, 12, 13}
    assert {actions[n].verb for n in matter if lines[n] == 12} >= {Verb.ISSUE, Verb.NIC_READ, Verb.NIC_WRITE}
    assert {lines[n] for n in known.matter([next(n for n, line in enumerate(lines) if line == 14)])} == {14}
    assert {lines[n] for n in known.matter([], [(0, "s")])} == {6, 8}
