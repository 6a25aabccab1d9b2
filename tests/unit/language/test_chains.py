"""What is long is not deep: chains of operators, `else if`, `choose` and arguments; and comparisons in a row are refused."""

from __future__ import annotations

from functools import reduce
from random import Random

import pytest

from rdma_robust.errors import ProgramError
from rdma_robust.expr import OPERATORS, Const, Name, conj, depth, disj, evaluate
from rdma_robust.language.load import load_program, load_program_and_target, parse_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.formatter import format_source
from rdma_robust.language.syntax.printer import expression
from rdma_robust.language.syntax.tree_limits import expression_depth as tree_depth
from rdma_robust.limits import Limits
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_printer import format_messages
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import MessageQuestions
from tests.unit.language.language_support import load

LONG = 1_000
KINDS = (("&&",), ("||",), ("+",), ("+", "-"), ("*",))


def constant(text: str) -> ast.Expr:
    (item,) = parse_program(f"const N = {text}", "f").items
    assert isinstance(item, ast.Constants)
    assert item.bindings[0].value is not None
    return item.bindings[0].value


def worth(expr: ast.Expr) -> int:
    match expr:
        case ast.NumberLiteral(value):
            return value
        case ast.Unary(op, arg):
            return -worth(arg) if op == "-" else int(not worth(arg))
        case ast.Binary(op, left, right):
            return applied(op, worth(left), worth(right))
        case _:
            raise AssertionError(expr)


def applied(op: str, left: int, right: int) -> int:
    match op:
        case "&&":
            return int(bool(left) and bool(right))
        case "||":
            return int(bool(left) or bool(right))
        case _:
            return OPERATORS[op](left, right)


def operand(rng: Random, level: int, ops: tuple[str, ...]) -> tuple[str, int]:
    if level and rng.random() < 0.2:
        text, value = chain(rng, rng.randint(2, 20), level - 1, rng.choice(KINDS) if rng.random() < 0.5 else ops)
        return f"({text})", value
    value = rng.randrange(2 if ops == ("*",) else 4)
    return str(value), value


def chain(rng: Random, length: int, level: int, ops: tuple[str, ...]) -> tuple[str, int]:
    """A chain and its value, calculated from left to right."""
    text, value = operand(rng, level, ops)
    for _ in range(length - 1):
        op = rng.choice(ops)
        more, other = operand(rng, level, ops)
        text, value = f"{text} {op} {more}", applied(op, value, other)
    return text, value


def test_chains_mean_what_they_mean_from_left_to_right_and_are_printed_as_they_were() -> None:
    rng = Random(36)
    for _ in range(60):
        text, value = chain(rng, rng.randint(2, 60), 2, rng.choice(KINDS))
        tree = constant(text)
        assert worth(tree) == value, text
        printed = expression(tree)
        assert constant(printed) == tree, text
        assert printed.replace("(", "").replace(")", "") == text.replace("(", "").replace(")", "")


@pytest.mark.parametrize("ops", KINDS)
def test_long_chains_are_not_deep(ops: tuple[str, ...]) -> None:
    text = "1" + "".join(f" {ops[at % len(ops)]} {at % 3 and 1}" for at in range(10_000))
    tree = constant(text)
    assert tree_depth(tree) < 30
    assert expression(tree) == text


def test_chains_within_chains_are_as_deep_as_their_parentheses() -> None:
    text = "1"
    for _ in range(12):
        text = " && ".join(["1"] * 30 + [f"({text})"])
    assert worth(constant(text)) == 1


@pytest.mark.parametrize("op", ["/", "%"])
def test_what_cannot_be_put_together_otherwise_is_as_deep_as_it_is_long(op: str) -> None:
    assert worth(constant(f"1 {op} " + f" {op} ".join(["1"] * 50))) == (1 if op == "/" else 0)
    with pytest.raises(ProgramError, match="nested more than 100 deep"):
        constant(f" {op} ".join(["1"] * 150))


@pytest.mark.parametrize("op", ["&&", "||", "+"])
def test_conditions_of_thousands_of_operands_are_read(op: str) -> None:
    each = " == 1" if op != "+" else ""
    condition = f" {op} ".join(f"r{each}" for _ in range(LONG))
    program = load(f"r = x\nif {condition} {{ x = 1 }}")
    assert max(depth(step.guard) for _, _, step in program.threads[0].edges) < 40


@pytest.mark.ci
def test_thousands_of_branches_are_read_and_laid_out() -> None:
    arms = " else ".join(f"if r == {at} {{ x = {at % 4} }}" for at in range(LONG))
    branches = " or ".join(f"{{ x = {at % 4} }}" for at in range(LONG))
    assert len(load(arms).threads[0].edges) >= 3 * LONG - 1
    assert len(load(f"choose {branches}").threads[0].edges) == LONG
    for body in (arms, f"choose {branches}"):
        laid_out = format_source(f"node A {{ x }}\nthread T on A {{ reg r\n{body} }}", "f")
        assert format_source(laid_out, "f") == laid_out


def test_thousands_of_arguments_are_read() -> None:
    names = ", ".join(f"p{at}" for at in range(LONG))
    used = " + ".join(f"p{at}" for at in range(LONG))
    program = load_program(
        f"domain 0..{LONG}\nnode A {{ x }}\nmacro m({names}) {{ x = {used} }}\n"
        f"thread T on A {{ m({', '.join('1' * LONG)}) }}",
        "f",
    )
    (edge,) = program.threads[0].edges
    assert evaluate(edge[2].op.value, {}) == LONG  # type: ignore[union-attr]


@pytest.mark.parametrize("arms", [2, 100, 101, 250])
def test_message_programs_take_the_branch_that_is_meant(arms: int) -> None:
    chain = " else ".join(f"if r == {at} {{ q = {at + 1} }}" for at in range(arms))
    for value, expected in ((0, 1), (arms // 2, arms // 2 + 1), (arms - 1, arms), (arms, -1)):
        text = f"proc P {{\nreg r = {value}, q\n{chain} else {{ q = 0 - 1 }}\nassert q == {expected}\n}}"
        answer = by_states(load_messages(text, "f"), "infinite", MessageQuestions(), Limits())
        assert (answer.violated, answer.deadlocked) == ("no", "no"), (value, expected)
    assert format_messages(format_messages(text, "f"), "f") == format_messages(text, "f")


@pytest.mark.ci
def test_chains_of_message_programs_and_of_clauses_are_read() -> None:
    for op in ("&&", "+"):
        of_parts = f" {op} ".join(f"r >= {at}" if op != "+" else "r" for at in range(LONG))
        contract = f"contract collective {{ requires {of_parts}; }}"
        text = f"fun f(r) {contract} {{ assert {of_parts} }}\nproc P {{ reg r\nr = {of_parts}\n}}"
        assert format_messages(format_messages(text, "f"), "f") == format_messages(text, "f")


def test_conditions_of_many_parts_are_not_deep() -> None:
    parts = [Name(f"r{at}") for at in range(LONG)]
    for make, op in ((conj, "&&"), (disj, "||")):
        assert depth(make(*parts)) < 25
        few = make(*parts[:8])
        assert few == reduce(lambda left, right: type(few)(op, left, right), parts[:8])  # type: ignore[call-arg]
    assert conj(*parts, Const(0)) == Const(0)
    assert disj(*parts, Const(1)) == Const(1)
    assert conj() == Const(1)
    assert disj() == Const(0)


ROWS = [
    ("0 <= r < 3", "write `0 <= r && r < 3`, or `(0 <= r) < 3` if"),
    ("r == 1 == x", "write `r == 1 && 1 == x`, or `(r == 1) == x` if"),
    ("r != 1 < x", "write `r != 1 && 1 < x`, or `r != (1 < x)` if"),
    ("0 < r < 2 <= x", "write `0 < r && r < 2 && 2 <= x`, or `((0 < r) < 2) <= x` if"),
    ("1 && (0 <= r + 1 < 3)", "write `0 <= r + 1 && r + 1 < 3`, or `(0 <= r + 1) < 3` if"),
]
PLACES = [
    "node A {{ x }}\nthread T on A {{ reg r\nassert {0} }}",
    "node A {{ x }}\nthread T on A {{ reg r\nif r == 1 {{ }} else if {0} {{ }} }}",
    "node A {{ x }}\nthread T on A {{ reg r\nwhile {0} {{ }} }}",
    "node A {{ x, y[4] }}\nthread T on A {{ reg r\ny[{0}] = 1 }}",
    "node A {{ x }}\nthread T on A {{ reg r\nr = {0} }}",
    "node A {{ x }}\ninvariant {0}",
    "node A {{ x }}\noutcome {0} : allowed under sc",
    "node A {{ x }}\nexpect robust when {0}",
    "const N = {0}",
    "macro m(x) {{ reg r\nif {0} {{ }} }}",
]
MESSAGE_PLACES = [
    "proc P {{ reg r, x\nassert {0} }}",
    "proc P {{ reg r, x\nif {0} {{ }} }}",
    "proc P {{ reg r, x\nsend {0} to 0 }}",
    "reg r = {0}",
    "fun f(r, x) {{ return {0} }}",
]


@pytest.mark.parametrize(("row", "readings"), ROWS)
def test_comparisons_in_a_row_are_refused_with_both_readings(row: str, readings: str) -> None:
    for place in PLACES:
        with pytest.raises(ProgramError, match="comparisons in a row") as found:
            load_program(place.format(row), "f")
        said = [each for each in found.value.diagnostics if each.code == "RR111"]
        assert len(said) == 1, place
        assert said[0].hint.startswith(readings)
    for place in MESSAGE_PLACES:
        with pytest.raises(ProgramError, match="comparisons in a row") as found:
            load_messages(place.format(row), "f")
        assert [each.hint.startswith(readings) for each in found.value.diagnostics if each.code == "RR111"] == [True], place


def test_comparisons_in_a_row_are_refused_in_targets_and_before_anything_is_laid_out() -> None:
    with pytest.raises(ProgramError, match="comparisons in a row") as found:
        load_program_and_target("node A { x }\nthread T on A { reg r\nr = x }", "f", "A.x == 0 && 0 <= T.r < 3")
    assert found.value.diagnostics[0].span.column == 13
    with pytest.raises(ProgramError, match="comparisons in a row"):
        format_source("const N = 0 < 1 < 2", "f")
    with pytest.raises(ProgramError, match="comparisons in a row"):
        format_messages("const N = 0 < 1 < 2", "f")


@pytest.mark.parametrize(
    "meant", ["(0 <= r) < 3", "0 <= r && r < 3", "(r == 1) == (q == 1)", "r == (q < 2)", "!(r < 1) == q"]
)
def test_comparisons_with_parentheses_are_what_is_said(meant: str) -> None:
    load(f"if {meant} {{ x = 1 }}")
    assert expression(constant(meant)) == meant
