"""Steps that matter: closed under what they depend on, where the dependence of registers is followed step by step."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from rdma_robust.expr import VALUE, names
from rdma_robust.language.flow.cfg import Message, Program, Recv, RecvPoll
from rdma_robust.language.load import load_program
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.machines.chosen import machine_of
from rdma_robust.semantics.machines.machine import Action, Verb, act_of
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from rdma_robust.semantics.trace import Event, EventType
from rdma_robust.semantics.what_matters import MachineRun, of_trace
from tests.conftest import ROOT
from tests.support.random_deployed import loaded, named, named_texts
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


def deployed_run(name: str, seed: int) -> tuple[Program, list[Action]]:
    program, model = loaded(named_texts()[name], name)
    machine, rng = machine_of(program, model), Random(seed)
    moves = [rng.choice(machine.initial())]
    while following := machine.successors(moves[-1].state):
        moves.append(rng.choice(following))
    return program, [move.action for move in moves]


@pytest.mark.parametrize("name", ["ping-pong", "late-receive", "credits-by-immediate", "two-sends-relaxed", "herd"])
def test_a_message_brings_its_receive_and_is_brought_by_its_poll(name: str) -> None:
    found = 0
    for seed in range(8):
        program, actions = deployed_run(name, seed)
        known = MachineRun(program, actions, sc=False)
        sent: dict[str, list[int]] = {}
        posted: list[int] = []
        for number, action in enumerate(actions):
            op = action.step.op if action.step is not None else None
            thread = program.threads[action.thread].name
            if isinstance(op, Message) and action.verb is Verb.ISSUE:
                sent.setdefault(thread, []).append(number)
            posted += [number] if isinstance(op, Recv) else []
            if isinstance(op, RecvPoll):
                assert sent[op.sender][0] in known.matter([number]), (seed, number)
                sent[op.sender] = sent[op.sender][1:] + sent[op.sender][:1]
                found += 1
            if isinstance(op, Message) and action.verb is Verb.FLUSH and posted and action.act and action.act.peer:
                assert posted[0] in known.matter([number])
                found += 1
    assert found


@pytest.mark.ci
def test_what_an_event_of_a_trace_takes_matters_with_it() -> None:
    judged = 0
    for program, model in named():
        trace = oracle_robust(program, model)
        if trace is not None:
            judged += 1
            taken = [*trace.rf, *trace.pf, *(trace.sm or ()), *(trace.rpf or ())]
            for event in trace.events:
                matter = of_trace(program, trace, [event.index])
                assert all(a in matter for a, b in taken if b in matter and trace.events[a].thread >= 0), program.file
    assert judged > 20


def test_what_is_posted_with_registers_depends_on_them() -> None:
    text = "domain 0..3\nnode A { x, y }\nnode B { z }\nthread T on A { reg r\n  r = y\n  put B.z = r inline\n}\n"
    program, model = loaded(text + "thread U on B { reg s\n  s = z\n  put A.y = 1\n}\n", "inline")
    order = [Event(-1, EventType.LR, 0, 0, cell=program.cells[1], read=0), Event(-1, EventType.NRW, 0, 1, "B")]
    posts = {step.text: step for _, _, step in program.threads[0].edges}
    events = [replace(e, step=step, cell=e.cell or program.cells[2], written=e.written if e.read is not None else 0)
              for e, step in zip(order, posts.values(), strict=True)]  # fmt: skip
    trace = trace_of_order(events, program, model)
    assert of_trace(program, trace, [trace.events[-1].index]) == {e.index for e in trace.events[-2:]}
