"""What the explorer shows is what the machines do, and SC follows a run exactly as far as the axioms let it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Put
from rdma_robust.language.load import load_program
from rdma_robust.model import rdma
from rdma_robust.semantics.axioms import sc_violation
from rdma_robust.semantics.machines.rdma import DONE, ISSUED, RdmaMachine, RdmaState
from rdma_robust.semantics.machines.sc import ScMachine, ScState
from rdma_robust.teaching.explorer.address import ExplorerPlace, Track
from rdma_robust.teaching.explorer.run_tree import LONGEST, RunPoint
from rdma_robust.teaching.explorer.session import Session
from rdma_robust.teaching.explorer.view import SideView
from tests.support.explored import conflicts, drained, litmus, replayed, sc_trace, session, trace, walk
from tests.support.random_programs import SMALL, random_program

SEEDS = range(14)


def values(side: SideView) -> tuple[dict[str, int], dict[str, int]]:
    """Return memory and registers as shown."""
    memory = {f"{node.name}.{cell.name}": cell.value for node in side.nodes for cell in node.cells}
    registers = {f"{thread.name}.{r.name}": r.value for thread in side.threads for r in thread.registers}
    return memory, registers


def expected_values(explored: Session, state: RdmaState | ScState) -> tuple[dict[str, int], dict[str, int]]:
    program = explored.program
    memory = {str(c): v for c, v in zip(program.cells, state.memory, strict=True) if not c.hidden}
    registers = {
        f"{thread.name}.{name}": value
        for thread, there in zip(program.threads, state.threads, strict=True)
        for (name, _), value in zip(thread.registers, there.registers, strict=True)
    }
    return memory, registers


@pytest.mark.parametrize("seed", SEEDS)
def test_every_state_shown_is_the_machines(seed: int) -> None:
    rng = Random(seed)
    explored = session(random_program(rng, SMALL, loops=seed % 2 == 0), ordered_reads=seed % 3 == 0)
    rdma, sc = RdmaMachine(explored.program, explored.model), ScMachine(explored.program)
    end = walk(explored, rng, ("rdma", "sc"), 24)
    for at in range(max(len(end.rdma.choices), len(end.sc.choices)) + 1):
        place = replace(end, rdma=end.rdma.go(min(at, len(end.rdma.choices))), sc=end.sc.go(min(at, len(end.sc.choices))))
        view = explored.view(place)
        for machine, side, track in ((rdma, view.rdma, place.rdma), (sc, view.sc, place.sc)):
            state, _ = replayed(machine, track.now)
            if state is None:
                assert len(side.moves) == len(machine.initial())
                continue
            assert values(side) == expected_values(explored, state)
            assert len(side.moves) == len(machine.successors(state))
            assert (side.ending == "final") == (machine.is_final(state) and not side.moves)
            assert (side.ending == "stuck") == (not machine.is_final(state) and not side.moves)
        state, _ = replayed(rdma, place.rdma.now)
        if state is not None:
            assert isinstance(state, RdmaState)
            check_queues(rdma, view.rdma, state)


def check_queues(machine: RdmaMachine, side: SideView, state: RdmaState) -> None:
    """Every queue pair is shown with its operations in the machine's order, and what polls may take."""
    shown = iter(side.queues)
    for code, thread in zip(machine.codes, state.threads, strict=True):
        for queue in thread.queues:
            there = next(shown)
            steps = [(code.commands[entry.command].step, entry) for entry in queue]
            pipe = [s.span.line for s, e in steps if e.stage < ISSUED]
            assert [o.line for o in there.pipe] == pipe
            right = [f"{s.op.target} = {e.value}" for s, e in steps if e.stage == ISSUED and isinstance(s.op, Put)]
            assert [o.value for o in there.remote_writes] == right
            left = [s.span.line for s, e in steps if e.stage == ISSUED and not isinstance(s.op, Put)]
            assert [o.line for o in there.local_writes] == left
            complete = [e.stage >= (ISSUED if isinstance(s.op, Put) else DONE) for s, e in steps if not e.polled]
            assert len(there.unpolled) == len(complete)
            assert there.complete == next((i for i, c in enumerate(complete) if not c), len(complete))


@pytest.mark.parametrize("seed", SEEDS)
def test_sc_follows_as_far_as_the_axioms_let_it(seed: int) -> None:
    rng = Random(1000 + seed)
    explored = session(random_program(rng, SMALL, loops=seed % 4 == 0))
    program = explored.program
    for _ in range(3):
        place = walk(explored, rng, ("rdma",), rng.randrange(4, 26))
        followed = explored.followed(place)
        end = drained(explored, place)
        _, moves = replayed(RdmaMachine(program), end.rdma.now)
        violation = sc_violation(trace(program, moves))
        assert (violation is None) == (explored.followed(end).broken is None)
        assert followed.broken is None or violation is not None
        if followed.broken is not None:
            before = explored.go(place, "rdma", followed.broken - 1)
            assert explored.followed(before) == replace(followed, broken=None, cycle=())
            for link, after in pairwise((*followed.cycle, followed.cycle[0])):
                assert link.target.index == after.source.index
        good = place.rdma.now[: len(place.rdma.now) if followed.broken is None else followed.broken - 1]
        _, rdma_moves = replayed(RdmaMachine(program), good)
        _, sc_moves = replayed(ScMachine(program), followed.choices)
        rf, mo = conflicts(trace(program, rdma_moves))
        sc_rf, sc_mo = conflicts(sc_trace(program, sc_moves))
        # SC may have done more, of what is posted, but what RDMA has done it has done with the same reads and writes.
        assert rf <= sc_rf and mo <= sc_mo


@pytest.mark.parametrize("seed", SEEDS)
def test_operations_are_numbered_in_the_order_of_posting(seed: int) -> None:
    rng = Random(2000 + seed)
    explored = session(random_program(rng, SMALL, loops=True))
    place = drained(explored, walk(explored, rng, ("rdma",), 30))
    posted = []
    served: dict[int, list[str]] = {}
    point = explored.rdma.point(())
    for choice in place.rdma.now:
        commands = _numbered(point)
        point = explored.rdma.after(point, choice)
        assert point.move is not None
        action = point.move.action
        if action.verb.value == "issue":
            posted.append(point.operation)
            served[len(posted)] = []
        elif action.verb.value != "access" and point.operation is not None:
            command = explored.rdma.machine.codes[action.thread].commands[commands[point.operation]]
            assert action.verb.value == "poll" or command.step == action.step
            served[point.operation].append(action.verb.value)
    assert posted == list(range(1, len(posted) + 1))
    for verbs in served.values():
        effects = [verb for verb in verbs if verb != "poll"]
        assert effects in (["fence"], ["nic read", "nic write", "flush"])
        assert verbs.count("poll") <= 1 and (verbs.count("poll") == 0 or "nic write" in verbs[: verbs.index("poll")])


def _numbered(point: RunPoint) -> dict[int, int]:
    """Return the commands of the operations in the queues, by their numbers."""
    if point.state is None:
        return {}
    return {
        numbers[posted.number - 1]: posted.command
        for numbers, thread in zip(point.posted, point.state.threads, strict=True)
        for queue in thread.queues
        for posted in queue
    }


def test_back_and_forward_keep_the_way_until_another_is_taken() -> None:
    explored = litmus("mailbox-plain")
    place = ExplorerPlace()
    for choice in (0, 0, 0, 1):
        place = explored.step(place, "rdma", choice)
    back = explored.go(place, "rdma", 2)
    assert explored.view(back).rdma.at == 2 and len(explored.view(back).rdma.steps) == 4
    assert explored.step(back, "rdma", 0).rdma == Track((0, 0, 0, 1), 3)
    assert explored.step(back, "rdma", 1).rdma == Track((0, 0, 1), 3)
    with pytest.raises(UsageError, match="no step 5"):
        explored.go(place, "rdma", 5)


def test_modes() -> None:
    explored = litmus("mailbox-plain")
    place = walk(explored, Random(1), ("rdma",), 8)
    with pytest.raises(UsageError, match="follows"):
        explored.step(place, "sc", 0)
    free = explored.switched(place, "free")
    assert free.sc.now == explored.followed(place).choices
    stepped = explored.step(explored.go(free, "sc", 0), "sc", 0)
    assert explored.view(stepped).sc.at == 1
    assert explored.switched(stepped, "follow") == place


def test_a_program_that_starts_in_several_ways_chooses_its_start() -> None:
    explored = session("node A { x }\nthread T on A { reg r; choose { r = 1 } or { r = 2 }; x = 1 }\n")
    view = explored.view(ExplorerPlace())
    assert [move.agent for move in view.rdma.moves] == ["start", "start"] and not view.rdma.ending
    assert all("goes on at line 2" in move.then for move in view.rdma.moves)
    second = explored.step(ExplorerPlace(), "rdma", 1)
    assert values(explored.view(second).rdma)[1] == {"T.r": 2}
    done = explored.step(second, "rdma", 0)
    view = explored.view(done)
    assert view.sc.ending == view.rdma.ending == "final" and view.sc.steps[0].agent == "start"
    assert values(view.sc) == values(view.rdma)
    assert explored.place(view.address) == done


def test_faults_and_dead_ends_are_shown() -> None:
    explored = session("domain 0..1\nnode A { x = 1 }\nthread T on A { reg r; r = x; assert r == 0; r = r + 1; x = r }\n")
    place = explored.step(ExplorerPlace(), "rdma", 0)
    view = explored.view(place)
    assert view.rdma.ending == "stuck" and view.sc.ending == "stuck"
    assert any("assert" in fault for fault in view.rdma.faults) and len(view.rdma.faults) == 2
    assert view.rdma.threads[0].status == "stopped"
    assert explored.view(ExplorerPlace()).rdma.moves[0].faults == view.rdma.faults


def test_waiting_threads_say_so() -> None:
    explored = session("node A { x }\nnode B { y }\nthread T on A { await x == 1 }\nthread U on A { put B.y = x; poll B }\n")
    view = explored.view(ExplorerPlace())
    assert [thread.status for thread in view.rdma.threads] == ["waiting", "ready"]
    view = explored.view(explored.step(ExplorerPlace(), "rdma", 0))
    assert "no completion yet" in view.rdma.threads[1].text


def test_the_weak_outcome_is_told_from_the_common_ones() -> None:
    explored = litmus("mailbox-plain")
    texts = set()
    for seed in range(12):
        place = drained(explored, walk(explored, Random(seed), ("rdma",), 30))
        view = explored.view(place)
        assert view.rdma.ending == "final"
        weak = values(view.rdma)[1]["Receiver.r"] == 2
        assert view.rdma.claims[0].holds == weak
        assert ("No run under" in view.rdma.ending_text) == weak
        assert not weak or view.broken is not None
        texts.add(view.rdma.ending_text)
    assert len(texts) == 2


def test_a_run_ends_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LONGEST == 1000
    for module in ("run_tree", "sides"):
        monkeypatch.setattr(f"rdma_robust.teaching.explorer.{module}.LONGEST", 60)
    explored = session("node A { x }\nthread T on A { loop { x = 1 } }\n")
    place = ExplorerPlace("follow", Track((0,) * 59, 59))
    writes = explored.view(place).rdma.moves
    last = explored.step(place, "rdma", writes[0].choice)
    assert explored.view(last).sc.ending == ""
    with pytest.raises(UsageError, match="ends after 60 steps"):
        explored.step(last, "rdma", 0)


def test_options_and_files_belong_to_the_state() -> None:
    program = load_program("node A { x }\nthread T on A { x = 1 }\n", "p.rdma")
    states = {Session(program, model=rdma(o), await_loops=a).fingerprint for o in (False, True) for a in (False, True)}
    assert len(states) == 4
    changed = load_program("node A { x }\nthread T on A { x = 2 }\n", "p.rdma")
    assert Session(changed).fingerprint not in states
