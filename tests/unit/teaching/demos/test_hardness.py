"""The walk-throughs of `demo vass` and `demo finite`: what they tell is so."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from rdma_robust.counters.explicit import to_net
from rdma_robust.counters.explicit_json import read_vass_json, vass_json
from rdma_robust.errors import InternalError, ProgramError, SizeLimitError
from rdma_robust.language.load import load_program
from rdma_robust.petri.cover import cover
from rdma_robust.petri.spec.reader import read_spec
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.teaching.demos import walk_vass_back as vass_back
from rdma_robust.teaching.demos.walk import (
    Animation,
    CodeListing,
    Figure,
    Paragraph,
    Walkthrough,
    decide_generated,
    told_run,
    walk_parts,
)
from rdma_robust.teaching.demos.walk_finite import automata_question, finite_walk, program_question
from rdma_robust.teaching.demos.walk_vass import EXAMPLE, EXAMPLE_FILE, VassQuestion, read_question, vass_walk
from rdma_robust.teaching.demos.walk_vass_back import back_walk, towards_targets
from rdma_robust.teaching.explorer import session
from tests.conftest import ROOT
from tests.support.random_vass import random_vass


def told(walk: Walkthrough) -> str:
    lines = (line for part in walk_parts(walk, 100, all_moves=False) for line in part)
    return " ".join(" ".join(lines).split())


def blocks(walk: Walkthrough, kind: type) -> list:  # type: ignore[type-arg]
    return [block for section in walk.sections for block in section.blocks if isinstance(block, kind)]


def is_a_run(run: Animation) -> bool:
    """Whether each move is one of those of the machine in the state before."""
    machine = RdmaMachine(run.program)
    pairs = zip(run.moves, run.moves[1:], strict=False)
    return run.moves[0] in machine.initial() and all(after in machine.successors(before.state) for before, after in pairs)


def test_a_net_that_can_be_covered_is_told_with_its_run() -> None:
    walk = vass_walk(read_question(EXAMPLE, EXAMPLE_FILE))
    text = told(walk)
    assert "can be covered, in 6 steps" in text and "not robust: the target can be covered" in text
    (run,) = blocks(walk, Animation)
    assert is_a_run(run)
    assert [note for note in run.notes if note.startswith("r")] == [
        "r1 (line 6), with coin 2, ticket 0.",
        "r2 (line 7), with coin 0, ticket 1.",
        "r1 (line 6), with coin 3, ticket 0.",
        "r2 (line 7), with coin 1, ticket 1.",
        "r1 (line 6), with coin 4, ticket 0.",
        "r1 (line 6), with coin 2, ticket 1.",
    ]
    assert run.moves[-1].action.verb in (Verb.FLUSH, Verb.NIC_READ)
    assert [code.file for code in blocks(walk, CodeListing) if code.file] == ["vass.rdma"]


def test_a_net_that_cannot_be_covered_has_no_run() -> None:
    file = "tests/nets/mutex-semaphore.spec"
    walk = vass_walk(read_question((ROOT / file).read_text(), file))
    assert "robust: the target cannot be covered" in told(walk)
    assert blocks(walk, Animation) == []
    assert walk.command == f"rdma-robust demo vass {file}"


def test_answers_that_differ_are_an_internal_error() -> None:
    question = read_question(EXAMPLE, EXAMPLE_FILE)
    without_targets = replace(random_vass(Random(5)), targets=())
    with pytest.raises(InternalError, match="not what the net does"):
        vass_walk(VassQuestion("", "odd", question.net, without_targets))


def test_a_vass_is_read_from_json() -> None:
    vass = random_vass(Random(2))
    walk = vass_walk(read_question(vass_json(vass), "random.json"))
    assert ("the target can be covered" in told(walk)) == (cover(to_net(vass)).run is not None)
    with pytest.raises(ProgramError, match="not JSON"):
        read_question("{", "bad.json")
    with pytest.raises(ProgramError, match="vars"):
        read_question("{", "bad.spec")


def test_limits_are_told() -> None:
    assert "has no answer" in told(vass_walk(read_question(EXAMPLE, EXAMPLE_FILE), 0.0))
    assert "has no answer" in told(finite_walk(automata_question(None), 0.0))


LOOP = "node A { x }\nnode B { y }\nthread T on A {\n  loop { put B.y = x }\n  poll B\n  x = 1\n}\n"


def test_a_program_becomes_a_vass_and_a_program_again(monkeypatch: pytest.MonkeyPatch) -> None:
    walk = back_walk(LOOP, "loop.rdma", None, 5000, "loop.json")
    text = told(walk)
    assert "The counters are unpolled[T>B]" in text and "So is the program we began with." in text
    saved = next(code for code in blocks(walk, CodeListing) if code.file == "loop.json")
    assert cover(to_net(read_vass_json(saved.text, "loop.json"))).run is not None
    as_net = next(
        c for c in blocks(back_walk(LOOP, "loop.rdma", None, 5000, "loop.spec"), CodeListing) if c.file == "loop.spec"
    )
    assert cover(read_spec(as_net.text, "loop.spec")).run is not None
    (figure,) = blocks(walk, Figure)
    assert "<svg" in figure.svg and "q0 -> q2" in figure.text
    monkeypatch.setattr(vass_back, "vass_drawing", lambda _dot: "")
    without = back_walk(LOOP, "loop.rdma", None, 5000, None)
    assert blocks(without, Figure) == [] and "a drawing needs Graphviz" in told(without)


def test_a_robust_program_has_no_target_left() -> None:
    text = told(back_walk("node A { x }\nthread T on A { x = 1 }\n", "local.rdma", None, 5000, None))
    assert "nothing to draw" in text and "no target of the part can be covered" in text


def test_a_vass_that_is_too_large_is_refused_with_the_option() -> None:
    with pytest.raises(SizeLimitError, match="--max-states N allows more"):
        back_walk(LOOP, "loop.rdma", None, 3, None)


@pytest.mark.parametrize("seed", range(16))
def test_what_leads_to_no_target_does_not_matter(seed: int) -> None:
    vass = random_vass(Random(seed))
    part = towards_targets(vass)
    assert len(part.states) <= len(vass.states) and len(part.targets) == len(vass.targets)
    assert part.states[part.initial] == vass.states[vass.initial]
    assert (cover(to_net(part)).run is None) == (cover(to_net(vass)).run is None)


def test_automata_are_told_with_their_word() -> None:
    walk = finite_walk(automata_question(None))
    assert "a shortest word is a a a a a b." in told(walk)
    (run,) = blocks(walk, Animation)
    assert is_a_run(run)
    assert sum(bool(note) for note in run.notes) == 3
    assert load_program(blocks(walk, CodeListing)[1].text, "finite.rdma").warnings == ()


def test_a_target_is_told_with_what_reach_says() -> None:
    file = "litmus/order-cpu-cpu.rdma"
    text = (ROOT / file).read_text()
    both = "T1 ended && T2 ended && T2.r1 == 0"
    assert "says the same: a run" in told(finite_walk(program_question(text, file, both)))
    neither = finite_walk(program_question(text, file, f"{both} && T1.saw == 0"))
    assert "all SC executions were searched" in told(neither) and blocks(neither, Animation) == []
    assert neither.command.endswith("--target 'T1 ended && T2 ended && T2.r1 == 0 && T1.saw == 0'")


def test_a_run_of_many_steps_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = decide_generated("node A { x }\nnode B { y }\nthread T on A { put B.y = x; x = 1 }\n", "short.rdma", None)
    assert isinstance(told_run(outcome, "", lambda moves: ("",) * len(moves)), Animation)
    monkeypatch.setattr(session, "LONGEST", 3)
    assert isinstance(told_run(outcome, "", lambda moves: ("",) * len(moves)), Paragraph)
