"""Runs for claims on the models' machines: searched for within bounds, and made again from causes and draws."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rdma_robust.analyses.prove.explicit_search import BOXES, Box, Concrete, concrete_search
from rdma_robust.analyses.prove.path_replay import constants_of, replay_path, shows
from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.prove.transition_system import AbstractPath, Bad, Cause, SafetyClaim, Transition
from rdma_robust.errors import NO_SPAN
from rdma_robust.expr import TRUE, VALUE, Binary, Const, Expr, Name, conj, equals
from rdma_robust.language.flow.cfg import Cell, Fault, Nondet, Program, Step, Thread, Write
from rdma_robust.language.flow.claims import AnyModelName, EndedAtom, PointAt
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits

SB = """node A { x, y }
thread T1 on A { reg r; x = 1; r = y }
thread T2 on A { reg r; y = 1; r = x }
"""
X = Cell("A", "x")


def load(text: str) -> Program:
    return load_program(text, "runs.rdma")


def final(condition: Expr, number: int = 0) -> SafetyClaim:
    return SafetyClaim("outcome", "an outcome", NO_SPAN, number, bad=condition, final=True)


def path_of(run: SafetyRun, claim: SafetyClaim) -> AbstractPath:
    """The run as an abstract path, which has lost all values."""
    causes = [Cause(a.thread, a.verb, a.step, a.cell) for a, _, _ in run.moves[1:]]
    transitions = [Transition((cause,), (), i) for i, cause in enumerate(causes)]
    if claim.fault is not None:
        transitions[-1] = transitions[-1]._replace(fault=claim.fault)
        return AbstractPath(tuple(transitions), None)
    return AbstractPath(tuple(transitions), Bad(claim.number, TRUE))


def found(program: Program, model: AnyModelName, claim: SafetyClaim) -> tuple[Concrete, SafetyRun | None]:
    """Search; a run must show the claim, and be found again from its causes alone."""
    search = concrete_search(program, model, [claim])
    run = search.runs.get(claim.number)
    if run is not None:
        assert shows(program, run, claim)
        again = replay_path(program, model, [claim], path_of(run, claim))
        assert again is not None and shows(program, again, claim)
    return search, run


BOTH_ZERO = final(conj(equals(Name("T1.r"), Const(0)), equals(Name("T2.r"), Const(0))))


@pytest.mark.parametrize(("model", "happens"), [("sc", False), ("tso", True), ("pso", True)])
def test_a_forbidden_outcome(model: AnyModelName, happens: bool) -> None:
    search, run = found(load(SB), model, BOTH_ZERO)
    assert (run is not None) == happens and search.exhausted != happens
    if run is not None:
        # The loads come before the stores reach memory; the shortest run ends when all of them have.
        assert len(run.moves) == 7


def test_a_final_state_has_nothing_under_way() -> None:
    """The buffer of T1 is full when both threads have ended: only then is x seen 0."""
    program = load("node A { x }\nthread T on A { x = 1 }\n")
    unseen = equals(Name("A.x"), Const(0))
    assert concrete_search(program, "tso", [final(unseen)]).exhausted
    ended = replace(final(conj(unseen, Name("ended"))), final=False, atoms=(("ended", EndedAtom("T")),))
    assert found(program, "tso", ended)[1] is not None
    assert found(program, "sc", ended)[1] is None


def test_a_fault_is_shown_by_the_move_that_makes_it() -> None:
    program = load("node A { x }\nthread T on A { reg r; r = x; assert r == 1; x = 5 }\nthread U on A { x = 1 }\n")
    fault = next(s.fault for _, _, s in program.threads[0].edges if s.fault)
    claim = SafetyClaim("assertion", "r == 1", NO_SPAN, 0, fault=fault)
    _, run = found(program, "sc", claim)
    assert run is not None and run.moves[-1].faults == (fault,) and len(run.moves) == 3


def test_a_claim_about_labels() -> None:
    program = load("node A { x }\nthread T on A { x = 1; x = 2 }\nthread U on A { x = 3; x = 4 }\n")
    threads = tuple(replace(t, labels=(("cs", t.edges[0][1]),)) for t in program.threads)
    program = replace(program, threads=threads)
    both = conj(Name("a"), Name("b"), equals(Name("A.x"), Const(1)))
    atoms = (("a", PointAt("T", "cs")), ("b", PointAt("U", "cs")))
    _, run = found(program, "sc", SafetyClaim("invariant", "", NO_SPAN, 0, bad=both, atoms=atoms))
    assert run is not None and len(run.moves) == 3


def drawing(low: Expr | None, high: Expr | None, *steps: Step) -> Program:
    """r = nondet(low, high), then these steps."""
    made = [Step(Nondet(low, high), assigns=(("r", VALUE),)), *steps]
    edges = tuple((i, i + 1, step) for i, step in enumerate(made))
    thread = Thread("T", "A", (("r", 0),), tuple(range(len(made) + 1)), edges, 0, len(made))
    return Program("drawing", "drawing.rdma", "", ("A",), (X,), (thread,))


def test_draws_are_found_again_next_to_constants_or_given() -> None:
    bad = SafetyClaim("invariant", "", NO_SPAN, 0, bad=equals(Name("A.x"), Const(41)))
    program = drawing(None, None, Step(Write(X, Binary("+", Name("r"), Const(1)))), Step(Write(X, Const(39))))
    assert set(constants_of(program)) == {0, 1, 39}
    search, run = found(program, "sc", bad)
    assert run is not None and [m.action.read for m in run.moves[1:]] == [40, None] and not search.exhausted
    far = replace(bad, bad=equals(Binary("*", Const(7), Name("A.x")), Const(7007)))
    assert concrete_search(program, "sc", [far]).runs == {}
    assert not concrete_search(program, "sc", [far]).exhausted
    path = path_of(run, bad)
    assert replay_path(program, "sc", [far], path) is None
    again = replay_path(program, "sc", [far], path, draws=[1000])
    assert again is not None and shows(program, again, far) and not shows(program, again, bad)
    assert replay_path(program, "sc", [far], path, draws=[999]) is None


def test_a_small_range_is_searched_as_a_whole() -> None:
    program = drawing(Const(0), Const(20))
    bad = [final(equals(Name("T.r"), Const(n)), n) for n in (0, 20, 21)]
    search = concrete_search(program, "sc", bad, every=True)
    assert set(search.runs) == {0, 20} and search.exhausted


def test_what_the_box_leaves_out_is_not_excluded() -> None:
    """A counter without end reaches any value, and a loop may fill any buffer."""
    program = load("domain 0..100\nnode A { x }\nthread T on A { reg r; loop { r = r + 1; x = r } }\n")
    (thread,) = program.threads
    bad = SafetyClaim("invariant", "", NO_SPAN, 0, bad=equals(Name("A.x"), Const(-1)))
    assert concrete_search(program, "sc", [bad]).exhausted
    assert not concrete_search(program, "tso", [bad], boxes=[Box(3, 2)]).exhausted
    assert concrete_search(program, "tso", [bad], boxes=[Box(3, 200)]).exhausted
    free = Step(Write(X, Name("r")), assigns=(("r", Binary("+", Name("r"), Const(1))),))
    counting = replace(program, threads=(replace(thread, points=(0, 1), edges=((0, 0, free),), entry=0, exit=1),))
    search = concrete_search(counting, "sc", [bad])
    assert not search.exhausted and search.runs == {} and search.box == BOXES[-1]


def test_limits_end_a_search() -> None:
    search = concrete_search(load(SB), "sc", [BOTH_ZERO], Limits(states=3))
    assert (search.cut, search.exhausted, search.box) == ("states", False, None)


def test_a_run_that_is_none_shows_nothing() -> None:
    program = load(SB)
    run = concrete_search(program, "tso", [BOTH_ZERO]).runs[0]
    assert shows(program, run, BOTH_ZERO)
    assert not shows(program, replace(run, model="sc"), BOTH_ZERO)
    assert not shows(program, replace(run, moves=run.moves[:-1]), BOTH_ZERO)
    assert not shows(program, replace(run, moves=run.moves[1:]), BOTH_ZERO)
    assert not shows(program, replace(run, moves=()), BOTH_ZERO)
    assert not shows(program, replace(run, moves=(*run.moves[:2], *run.moves[3:])), BOTH_ZERO)
    assert not shows(program, run, final(equals(Name("A.x"), Const(0))))


def test_a_path_that_the_machine_does_not_have_is_none() -> None:
    program = load(SB)
    run = concrete_search(program, "tso", [BOTH_ZERO]).runs[0]
    path = path_of(run, BOTH_ZERO)
    assert replay_path(program, "sc", [BOTH_ZERO], path) is None
    assert replay_path(program, "tso", [BOTH_ZERO], replace(path, transitions=path.transitions[:-1])) is None
    assert replay_path(program, "tso", [BOTH_ZERO], replace(path, transitions=path.transitions[1:])) is None


def test_causes_without_values_leave_which_of_like_operations_was_meant() -> None:
    """Two puts of one statement carry 1 and 2: only if the later one lands first is y 1 in the end."""
    program = load("node A { x }\nnode B { y }\nthread T on A { x = 1; put B.y = x; x = 2; put B.y = x }\n")
    put = program.threads[0].edges[1][2]
    thread = program.threads[0]
    twice = replace(thread, edges=tuple((a, b, put if "put" in s.text else s) for a, b, s in thread.edges))
    program = replace(program, threads=(twice,))
    late = final(conj(equals(Name("A.x"), Const(2)), equals(Name("B.y"), Const(1))))
    _, run = found(program, "rma", late)
    assert run is not None
    assert found(program, "sc", late)[1] is None


def test_a_fault_that_is_not_there_is_not_claimed() -> None:
    program = load(SB)
    other = SafetyClaim("assertion", "", NO_SPAN, 0, fault=Fault("assertion", "elsewhere", NO_SPAN))
    assert concrete_search(program, "pso", [other]).exhausted
