"""Terms over inputs: equal ones are one, and what is computed of them is what the language computes."""

from __future__ import annotations

import random

from rdma_robust.contracts.runs.fact_solver import FactSolver, term_value
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.run_terms import Condition, Number, SymbolicTerm, TermTable
from rdma_robust.expr import OPERATORS, divide, modulo


def inputs(terms: TermTable, count: int = 3) -> list[SymbolicTerm]:
    return [terms.input(f"x{number}", -5, 5) for number in range(count)]


def random_number(terms: TermTable, leaves: list[SymbolicTerm], rng: random.Random, depth: int) -> tuple[Number, object]:
    """Return a number and, beside it, how it was made: a tree of operators."""
    if depth == 0:
        leaf: Number = rng.choice([*leaves, rng.randint(-4, 4)])
        return leaf, leaf
    (a, left), (b, right) = (random_number(terms, leaves, rng, depth - 1) for _ in range(2))
    op = rng.choice("+-*/%?<=")
    if op == "?":
        (c, test) = random_number(terms, leaves, rng, depth - 1)
        return terms.either(terms.truth(c), a, b), ("?", test, left, right)
    if op in "<=":
        op = "<=" if op == "<" else "=="
        return terms.counted(terms.compare(op, a, b)), (op, left, right)
    made = {"+": terms.add(a, b), "-": terms.add(a, b, -1), "*": terms.multiply(a, b)}.get(op)
    return (terms.divide(op, a, b) if made is None else made), (op, left, right)


def plain(tree: object, model: dict[SymbolicTerm, int]) -> int:
    """Return what a tree is worth, by Python alone."""
    match tree:
        case int():
            return tree
        case SymbolicTerm():
            return model[tree]
        case ("?", test, left, right):
            return plain(left if plain(test, model) else right, model)
        case (op, left, right):
            a, b = plain(left, model), plain(right, model)
            if op in ("/", "%"):
                return 0 if not b else (divide if op == "/" else modulo)(a, b)
            return OPERATORS[str(op)](a, b)
    raise AssertionError(tree)


def test_what_is_computed_is_what_operators_do() -> None:
    rng = random.Random(1)
    for _ in range(400):
        terms = TermTable()
        leaves = inputs(terms)
        number, tree = random_number(terms, leaves, rng, 3)
        for _ in range(5):
            model = {leaf: rng.randint(-5, 5) for leaf in leaves}
            assert term_value(number, model) == plain(tree, model), (tree, model)


def test_facts_that_a_model_meets_are_possible_and_those_z3_denies_are_not() -> None:
    rng = random.Random(2)
    for _ in range(60):
        terms = TermTable()
        leaves = inputs(terms, 2)
        made = [random_number(terms, leaves, rng, 2)[0] for _ in range(2)]
        facts = [each for each in map(terms.truth, made) if isinstance(each, SymbolicTerm)]
        path = Path()
        assumed = all(path.assume(each, terms) for each in facts)
        possible = FactSolver(terms).possible(facts)[0] if facts else True
        seen = any(
            all(term_value(each, {leaves[0]: a, leaves[1]: b}) for each in facts) for a in range(-5, 6) for b in range(-5, 6)
        )
        assert possible is seen
        assert assumed or not seen


def test_sums_in_another_order_are_one_term() -> None:
    terms = TermTable()
    a, b, c = inputs(terms)
    assert terms.total((a, b, c)) is terms.total((c, b, a))
    assert terms.multiply(terms.add(a, b), c) is terms.add(terms.multiply(c, b), terms.multiply(a, c))
    same: Condition = terms.compare("==", terms.add(a, b), terms.add(b, a))
    assert same is True
    assert terms.compare("<", a, b) is terms.negation(terms.compare("<=", b, a))
