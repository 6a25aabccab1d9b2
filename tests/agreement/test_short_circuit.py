"""`&&` and `||` read what they come to: as nested `if`s do, by brute force, and where no side reads as ever."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from rdma_robust.expr import evaluate
from rdma_robust.language.flow import cfg
from rdma_robust.language.load import load_program, parse_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.formatter import format_tree
from rdma_robust.model import RDMA
from rdma_robust.options import CheckOptions
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.machines.outcomes import explore_outcomes
from tests.support.compare import by, by_oracle, count_agreeing
from tests.support.random_programs import Size, random_program

CONNECTED = Size(threads=(2, 2), instructions=(2, 4), total=7, connectives=True)


def nested(block: ast.Block, registers: frozenset[str]) -> ast.Block:
    """Return a block in which no condition of an `if` or `assert` has a connective, and none of an `assume` that reads."""
    return ast.Block(tuple(made for statement in block.statements for made in _nested(statement, registers)))


def _nested(statement: ast.Statement, registers: frozenset[str]) -> Iterable[ast.Statement]:
    match statement:
        case ast.If(arms, otherwise):
            other = () if otherwise is None else nested(otherwise, registers).statements
            for arm in reversed(arms):
                other = _decided(arm.condition, nested(arm.block, registers).statements, other)
            return other
        case ast.Assert(condition):
            return _decided(condition, (), (ast.Assert(ast.NumberLiteral(0)),))
        case ast.Assume(ast.Binary("&&" | "||" as op, left, right), keyword) if not _reads(left, registers):
            waits, goes = (ast.Assume(right, keyword),), (() if op == "||" else (ast.Assume(ast.NumberLiteral(0), keyword),))
            return _decided(left, *((waits, goes) if op == "&&" else (goes, waits)))
        case ast.Choose(branches):
            return (ast.Choose(tuple(nested(branch, registers) for branch in branches)),)
        case _:
            return (statement,)


def _decided(
    condition: ast.Expr, then: tuple[ast.Statement, ...], other: tuple[ast.Statement, ...]
) -> tuple[ast.Statement, ...]:
    match condition:
        case ast.Binary("&&", left, right):
            return _decided(left, _decided(right, then, other), other)
        case ast.Binary("||", left, right):
            return _decided(left, then, _decided(right, then, other))
        case ast.Unary("!", inner):
            return _decided(inner, other, then)
        case _:
            return (ast.If((ast.Arm(condition, ast.Block(then)),), ast.Block(other)),)


def _reads(expr: ast.Expr, registers: frozenset[str]) -> bool:
    match expr:
        case ast.Ref(name=name):
            return name.text not in registers
        case ast.Unary(_, arg):
            return _reads(arg, registers)
        case ast.Binary(_, left, right):
            return _reads(left, registers) or _reads(right, registers)
        case _:
            return False


def written_as_ifs(text: str) -> str:
    """Return a program without connectives in front of reads that does the same."""
    items: list[ast.Item] = []
    for item in parse_program(text, "f").items:
        if isinstance(item, ast.ThreadDeclaration):
            declared = (s for s in item.body.statements if isinstance(s, ast.Registers))
            names = frozenset(each.name.text for s in declared for each in s.registers)
            item = replace(item, body=nested(item.body, names))
        items.append(item)
    return format_tree(ast.ProgramTree(tuple(items)))


def final_states(program: cfg.Program) -> set[tuple[object, ...]]:
    """Return the final states, each with the machines that reach it."""
    report = explore_outcomes(program, RDMA, max_states=50_000)
    assert report.sc.cut is None and report.rdma.cut is None
    return {(frozenset(zip(report.names, state.values, strict=True)), state.sc, state.rdma) for state in report.states}


def programs(seeds: Iterable[int]) -> Iterator[tuple[str, str]]:
    """Yield random programs with connectives, and as they are with `if`s."""
    for seed in seeds:
        text = random_program(Random(f"short circuit {seed}"), CONNECTED)
        if "&&" in text or "||" in text:
            yield text, written_as_ifs(text)


@pytest.mark.parametrize(
    "wanted", [12, pytest.param(150, marks=pytest.mark.ci), pytest.param(3_000, marks=pytest.mark.long)]
)
def test_connectives_do_what_nested_ifs_do(wanted: int) -> None:
    robust = compared = 0
    for text, apart in programs(range(4 * wanted)):
        one, other = (load_program(each, "f") for each in (text, apart))
        verdicts = [decide(each, CheckOptions()).verdict for each in (one, other)]
        assert verdicts[0] is verdicts[1], text
        assert final_states(one) == final_states(other), text
        robust += verdicts[0].value == "robust"
        compared += 1
        if compared == wanted:
            break
    assert compared == wanted and 0 < robust < compared


@pytest.mark.parametrize(
    "wanted", [10, pytest.param(100, marks=pytest.mark.ci), pytest.param(2_000, marks=pytest.mark.long)]
)
def test_connectives_over_reads_are_brute_force(wanted: int) -> None:
    seeds = range(700_000, 700_000 + 2 * wanted)
    assert count_agreeing(seeds, CONNECTED, by("pivot", large=0), by_oracle, enough=wanted) == wanted
    assert count_agreeing(seeds, CONNECTED, by("paper", 15_000), by("pivot"), enough=wanted // 4) == wanted // 4


def test_where_no_side_reads_a_condition_is_one_silent_step_for_each_truth() -> None:
    rng = Random(5)
    for _ in range(60):
        condition = _condition(rng, 3)
        text = f"node A {{ x }}\nthread T on A {{\nreg r, q\nif {condition} {{ x = 1 }} else {{ x = 2 }}\n}}"
        program = load_program(text, "f")
        first = [step for source, _, step in program.threads[0].edges if source == program.threads[0].entry]
        assert all(step.op == cfg.Silent() for step in first if step.text.startswith("if"))
        for r, q in product(range(3), repeat=2):
            assert sum(bool(evaluate(step.guard, {"r": r, "q": q})) for step in first) == 1


def _condition(rng: Random, depth: int) -> str:
    if not depth or rng.random() < 0.2:
        return f"{rng.choice('rq')} {rng.choice(['==', '!=', '<'])} {rng.randrange(3)}"
    return f"({_condition(rng, depth - 1)} {rng.choice(['&&', '||'])} {_condition(rng, depth - 1)})"
