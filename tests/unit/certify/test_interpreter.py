"""The interpreter of the checker: the same transitions as the compiled ones, and the corners where meanings could differ."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.certify.interpreter import Interpreter, Transition
from rdma_robust.certify.invariants import check_inductive, robust_evidence
from rdma_robust.counters.lower import lower
from rdma_robust.counters.program import (
    Add,
    Assign,
    Body,
    Choose,
    Command,
    CounterProgram,
    Forget,
    Process,
    Require,
    Target,
    Zero,
    leaf,
    pc,
)
from rdma_robust.expr import TRUE, Binary, Const, Expr, Name
from rdma_robust.language.load import load_program
from rdma_robust.model import rdma
from rdma_robust.robustness.paper import instrument_paper
from rdma_robust.robustness.pivot import instrument_pivot
from tests.support.random_programs import SMALL, random_program


def program(*commands: Command[str], condition: Expr = TRUE, goal: int = 9) -> CounterProgram[str]:
    target: Target[str | None] = Target("goal", condition, 0, goal)
    process = Process("P", 0, commands)
    return CounterProgram("test", (("x", 1), ("y", 2)), ("c", "d"), (process, Process("Q", 5, ())), (target,))


def only(transitions: list[Transition]) -> Transition:
    (transition,) = transitions
    return transition


@pytest.mark.parametrize("seed", range(8))
def test_it_does_what_the_compiled_program_does(seed: int) -> None:
    """On the first states of a random program, instrumented either way; the two share only the tree of the program."""
    source = load_program(random_program(Random(50_000 + seed), SMALL, loops=seed % 2 == 0), "random.rdma")
    instrumented = (instrument_paper if seed % 3 == 0 else instrument_pivot)(source, rdma(bool(seed % 2)))
    interpreter, lowered = Interpreter(instrumented), lower(instrumented, bounded=False)
    assert interpreter.fields == lowered.fields
    assert interpreter.counters == lowered.unbounded
    assert interpreter.initial == lowered.initial
    seen = {interpreter.initial: None}
    todo = [interpreter.initial]
    while todo and len(seen) < 150:
        control = todo.pop(0)
        mine = [(t.apply(control), t.least, t.added) for t in interpreter.transitions(control)]
        effects = [(after, lowered.effects[effect]) for _, after, effect in lowered.successors(control)]
        assert Counter(mine) == Counter((after, effect.guard, effect.delta) for after, effect in effects)
        assert interpreter.reached_target(control) == (lowered.target(control) >= 0)
        for after, _, _ in mine:
            if after not in seen:
                seen[after] = None
                todo.append(after)


def test_statements_in_order_and_alternatives_apart() -> None:
    swap = Assign((("x", Name("y")), ("y", Name("x")), ("t", Const(7))))
    low = leaf("low", Require(Binary("<", Name("x"), Const(5))))
    high = leaf("high", Assign((("x", Binary("+", Name("x"), Name("t"))),)), Add("c", -1), Add("c", 3))
    interpreter = Interpreter(program(Command(0, 1, Body((Add("c", 2), Add("c", -3), swap), (low, high)))))
    found = [(t.apply(interpreter.initial), t.least, t.added) for t in interpreter.transitions(interpreter.initial)]
    assert found == [((1, 5, 2, 1), (1, 0), (-1, 0)), ((1, 5, 9, 1), (2, 0), (1, 0))]


def test_choose_has_an_alternative_for_each_option_that_holds() -> None:
    options = ((3, TRUE), (5, Binary("==", Name("x"), Const(0))), (8, TRUE))
    interpreter = Interpreter(program(Command(0, 0, Body((Choose("y", options),), (), ("a", "b", "c")))))
    assert [t.apply(interpreter.initial)[3] for t in interpreter.transitions(interpreter.initial)] == [3, 8]


def test_zero_and_forget_are_ignored() -> None:
    interpreter = Interpreter(program(Command(0, 0, leaf("a", Add("c", 1), Zero("c"), Forget("d"), Add("d", -1)))))
    transition = only(list(interpreter.transitions(interpreter.initial)))
    assert (transition.least, transition.added) == ((0, 1), (1, -1))


def test_what_could_have_two_meanings_is_refused() -> None:
    """An expression with the location of the moving process; that of another process is fine."""
    own = Interpreter(program(Command(0, 1, leaf("a", Require(Name(pc(0)))))))
    with pytest.raises(InvalidCertificate, match="no value"):
        list(own.transitions(own.initial))
    other = Interpreter(program(Command(0, 1, leaf("a", Require(Binary("==", Name(pc(1)), Const(5)))))))
    assert only(list(other.transitions(other.initial))).apply(other.initial)[0] == 1


@pytest.mark.parametrize("expr", [Binary("/", Name("x"), Const(0)), Binary(">>", Name("x"), Const(-1)), Name("c")])
def test_expressions_without_a_value(expr: Expr) -> None:
    """Also one that reads a counter: those are never tested."""
    interpreter = Interpreter(program(Command(0, 1, leaf("a", Require(expr)))))
    with pytest.raises(InvalidCertificate, match="no value"):
        list(interpreter.transitions(interpreter.initial))
    target = Interpreter(program(condition=expr, goal=0))
    with pytest.raises(InvalidCertificate, match="no value"):
        target.reached_target(target.initial)


def test_a_target_in_the_set_is_found() -> None:
    pump = Command(0, 0, leaf("up", Add("c", 1)))
    far = Command(0, 9, leaf("go", Add("c", -5)))
    states = [((0, 5, 1, 2), (None, 0)), ((9, 5, 1, 2), (None, 0))]
    fields = (pc(0), pc(1), "x", "y")
    with pytest.raises(InvalidCertificate, match="a target holds"):
        check_inductive(program(pump, far), robust_evidence(fields, ("c", "d"), states))
    with pytest.raises(InvalidCertificate, match="not inductive"):
        check_inductive(program(pump, far), robust_evidence(fields, ("c", "d"), states[:1]))
    assert check_inductive(program(pump, far, goal=8), robust_evidence(fields, ("c", "d"), states))
    for here, there in ((4, 4), (None, 4), (4, None)):
        bounded = [((0, 5, 1, 2), (here, 0)), ((9, 5, 1, 2), (there, 0))]
        with pytest.raises(InvalidCertificate, match="not inductive"):
            check_inductive(program(pump, far, goal=8), robust_evidence(fields, ("c", "d"), bounded))


def test_a_set_may_be_larger_than_need_be() -> None:
    states = [((0, 5, 1, 2), (3, None)), ((0, 5, 1, 2), (0, 0)), ((4, 4, 4, 4), (0, 0))]
    down = Command(0, 0, leaf("down", Add("c", -1)))
    assert check_inductive(program(down), robust_evidence((pc(0), pc(1), "x", "y"), ("c", "d"), states))
