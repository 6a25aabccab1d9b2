"""Extrapolation of predicates, cubes and transformers: the papers' counts and examples, no two elements for one."""

from __future__ import annotations

from random import Random

import pytest
import z3

from rdma_robust.analyses.prove.predicates.cube_oracle import EMPTY, Cube, SolverCounts, Vocabulary
from rdma_robust.analyses.prove.predicates.extrapolated_program import ExtrapolatedProgram
from rdma_robust.analyses.prove.predicates.linear_atoms import literal, predicates_of
from rdma_robust.analyses.prove.predicates.predicate_engine import (
    Slots,
    buffer_length_names,
    buffer_predicates,
    buffer_slots,
    extrapolated,
    extrapolated_cubes,
    set_predicates,
    set_sources,
)
from rdma_robust.analyses.prove.predicates.solving import Formulas
from rdma_robust.analyses.prove.predicates.transformers import Transformers
from rdma_robust.analyses.prove.reductions import reduce_program
from rdma_robust.analyses.prove.safety_outcome import ReductionOptions
from rdma_robust.analyses.prove.transition_system import Assignment, Join, Selection
from rdma_robust.expr import Binary, Const, Expr, Name, Unary, evaluate
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program
from tests.support.hand_systems import op

ABP = """
node M { msg = 0, ack = 0 }
thread S on M {
  reg a, st, cnt
  while 1 { a = ack; if a == st { st = 1 - st; cnt = cnt + 1; msg = st } }
}
thread R on M {
  reg m, st, cnt
  while 1 { m = msg; if m != st { st = m; cnt = cnt + 1; ack = st } }
}
"""
"""Figure 1 of SAS 2013."""

ABP_PREDICATES = (
    *(op(name, "==", 0) for name in ("M.msg", "M.ack", "S.st", "S.a", "R.m", "R.st")),
    op("R.cnt", "==", "S.cnt"),
    op(op("R.cnt", "+", 1), "==", "S.cnt"),
)
"""Those of section 2.1 there."""

FENCED = """
node M { x = 0, y = 0 }
thread P on M { reg n; while 1 { n = n + 1; x = n; mfence; y = n; mfence } }
thread Q on M { reg u, v; u = x; v = y }
"""


def wide_of(program: Program, model: AnyModelName, bound: int = 1) -> list[str]:
    """The wide variables if all values are."""
    return [name for name, _ in reduce_program(program, model, (), ReductionOptions(bound=bound, narrow=0)).wide]


@pytest.mark.parametrize(("bound", "lifted"), [(1, 2), (2, 4)])
def test_abp_has_the_predicates_of_the_paper_under_pso(bound: int, lifted: int) -> None:
    program = load_program(ABP, "abp.rdma")
    slots = buffer_slots(program, True, wide_of(program, "pso", bound))
    found = extrapolated(ABP_PREDICATES, slots)
    assert len(found) == 8 + lifted
    lengths = buffer_predicates(buffer_length_names(program, True), bound)
    assert len(lengths) == 2 * (bound + 1) + 1
    if bound == 1:
        assert len(found) + len(lengths) == 15
        assert found[8:] == (op("S#M.msg#1", "==", 0), op("R#M.ack#1", "==", 0))


def test_a_slot_of_tso_may_hold_any_word_that_its_thread_writes_and_no_other() -> None:
    program = load_program(FENCED, "fenced.rdma")
    slots = buffer_slots(program, False, wide_of(program, "tso", 2))
    assert slots.of == {"M.x": ("P#1", "P#2"), "M.y": ("P#1", "P#2")}


def test_all_occurrences_of_a_word_are_in_one_slot_and_of_two_words_one_if_fences_stand_between_stores() -> None:
    program = load_program(FENCED, "fenced.rdma")
    slots = buffer_slots(program, True, wide_of(program, "pso", 1))
    assert slots.one
    twice: Expr = Binary("||", op("M.x", "<=", "M.y"), op("M.x", "==", 0))
    found = extrapolated((twice,), slots)
    assert set(found[1:]) == {
        Binary("||", op("P#M.x#1", "<=", "M.y"), op("P#M.x#1", "==", 0)),
        Binary("||", op("M.x", "<=", "P#M.y#1"), op("M.x", "==", 0)),
    }
    loose = buffer_slots(load_program(FENCED.replace("mfence; y", "y"), "loose.rdma"), True, ["P#M.x#1", "P#M.y#1"])
    assert not loose.one
    assert len(extrapolated((twice,), loose)) == 4


def test_cubes_are_carried_over_as_predicates_are() -> None:
    slots = Slots({"M.x": ("P#1",)})
    cube = (op("M.x", "==", 0), Unary("!", op("P.r", "==", 1)))
    assert extrapolated_cubes([cube], slots) == (cube, (op("P#1", "==", 0), cube[1]))


def test_figure_2_of_the_rma_paper_has_a_predicate_for_the_set_of_x() -> None:
    text = """
    node A { y = 1 }
    node B { r = 0, x = 2 }
    thread P on B { reg u; put A.y = x; x = 3; get r = A.y; u = r }
    """
    program = load_program(text, "figure2.rdma")
    sources = set_sources(program, wide_of(program, "rma"))
    assert sources == {"P@0": "B.x", "P@2": "A.y"}
    given = tuple(op(name, "==", 3) for name in ("P.u", "B.r", "A.y", "B.x"))
    assert set(set_predicates(given, sources)) == {*given, op("P@0", "==", 3), op("P@2", "==", 3)}
    related = set_predicates((op("A.y", "<=", "B.x"),), sources)
    assert related[1:] == (op("A.y", "<=", "P@0"), literal(op("P@2", "<=", "B.x")).predicate)


def carried(predicates: tuple[Expr, ...]) -> ExtrapolatedProgram:
    vocabulary = Vocabulary()
    for each in predicates:
        vocabulary.add(each)
    plain = Transformers(vocabulary, Formulas(z3), SolverCounts(), lambda: None, single=True)
    sources = {"T@0": "A.x"}
    return ExtrapolatedProgram(plain, set_predicates(predicates, sources), sources)


def test_sets_get_the_transformers_of_the_rma_paper() -> None:
    x, y, of_set = op("A.x", "==", 3), op("B.y", "==", 3), op("T@0", "==", 3)
    program = carried((x, y))
    number = {each: program.vocabulary.numbers[each] for each in (x, y, of_set)}
    bit = {each: 1 << number[each] for each in number}
    ((begin,),) = program.steps((Assignment("T@0", Name("A.x")),))
    assert begin.choice(number[of_set]).true == (Cube(bit[x], 0),)
    assert begin.choice(number[of_set]).false == (Cube(0, bit[x]),)
    ((add,),) = program.steps((Join("T@0", Name("A.x")),))
    assert add.choice(number[of_set]).true == (Cube(bit[x] | bit[of_set], 0),)
    assert add.choice(number[of_set]).false == (Cube(0, bit[x] | bit[of_set]),)
    ((take,),) = program.steps((Selection("B.y", "T@0"),))
    assert take.choice(number[y]).true == (Cube(bit[of_set], 0),)
    assert take.choice(number[y]).false == (Cube(0, bit[of_set]),)
    assert not take.writes(number[x])
    assert not take.writes(number[of_set])


def test_a_predicate_with_a_set_and_what_is_taken_from_it_becomes_unknown() -> None:
    both = literal(op("B.y", "<=", "A.x")).predicate
    program = carried((both,))
    lifted = program.vocabulary.numbers[literal(op("B.y", "<=", "T@0")).predicate]
    ((take,),) = program.steps((Selection("B.y", "T@0"),))
    assert take.choice(lifted).true == take.choice(lifted).false == ()
    assert take.choice(program.vocabulary.numbers[both]).true == ()


def test_no_two_elements_are_taken_for_one() -> None:
    program = carried((literal(op("A.x", "<=", "T@0")).predicate, op("A.x", "==", 1)))
    assert program.with_slot(Cube(1, 0), "A.x", "T@0") is None
    assert program.with_slot(Cube(0, 2), "A.x", "T@0") not in (None, EMPTY)


def test_predicates_have_one_form() -> None:
    rng = Random(5)
    signs = ("==", "!=", "<", "<=", ">", ">=")
    for _ in range(300):
        left = op(op(rng.randint(-3, 3), "*", "x"), rng.choice("+-"), op("y", "+", rng.randint(-3, 3)))
        atom = op(left, rng.choice(signs), op(rng.choice(["y", "z"]), "+", rng.randint(-3, 3)))
        said = literal(atom)
        for _ in range(8):
            values = {name: rng.randint(-5, 5) for name in "xyz"}
            assert bool(evaluate(said.predicate, values)) == (bool(evaluate(atom, values)) == said.positive)
        assert literal(said.predicate) == (said.predicate, True)
    assert literal(op("x", "<", "y")).predicate == literal(op("y", "<=", "x")).predicate
    assert literal(op(op(2, "*", "x"), "<=", 5)).predicate == op("x", "<=", 2)
    assert literal(op(op(2, "*", "x"), "==", 5)) == (Const(1), False)
    assert predicates_of(Binary("||", op("x", ">", 3), Unary("!", op("x", "<=", 3)))) == (op("x", "<=", 3),)
