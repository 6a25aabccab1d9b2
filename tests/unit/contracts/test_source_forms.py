"""Contracts as ACSL and the thesis write them mean what the short words mean, in both engines, and are laid out so again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rdma_robust.contracts.checks.function_checks import Checking, checked
from rdma_robust.contracts.contract_answers import FunctionAnswer, ProcsAnswer
from rdma_robust.contracts.language.contract_program import Contract
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.errors import ProgramError
from rdma_robust.limits import NO_LIMITS
from rdma_robust.messages.language.message_printer import format_messages
from tests.support.contracts_agreement import compared
from tests.support.contracts_oracle.interleavings import by_interleavings

FRAME = "fun f(x, y) contract collective {{ bounds x in 0..2; bounds y in 0..2; assigns \\nothing; {} }} {{ return x }}\n"
NO = "\\no \\exit(PID) \\after \\enter(PID) \\until \\enter({})"
TO = "\\no \\send(PID, 0..1) \\after \\enter(PID) \\until \\enter(0)"

SAME = [
    ("requires 0 <= x < 2;", "requires 0 <= x && x < 2;"),
    ("requires 2 > x >= y > 0;", "requires 2 > x && (x >= y && y > 0);"),
    ("requires x == y < 2;", "requires x == y && y < 2;"),
    ("requires !(0 <= x < 2) || y == 0;", "requires !(0 <= x && x < 2) || y == 0;"),
    ("requires \\forall t in 0..1 : 0 <= x <= t;", "requires \\forall t in 0..1 : 0 <= x && x <= t;"),
    ("requires 0 <= x < \\sum t in 0..1 : t;", "requires 0 <= x && x < \\sum t in 0..1 : t;"),
    ("behavior b: assumes 0 <= x < 2; ensures 1;", "behavior b: assumes 0 <= x && x < 2; ensures 1;"),
    ("bounds z in 0..(0 <= PID < 2 ? 1 : 2);", "bounds z in 0..(0 <= PID && PID < 2 ? 1 : 2);"),
    ("waitsfor 0 if 0 <= x < 2;", "waitsfor 0 if 0 <= x && x < 2;"),
    ("requires true && !false;", "requires 1 && !0;"),
    ("requires \\forall t; \\on(t, x) == x;", "requires \\forall t in 0..NPROCS - 1 : \\on(t, x) == x;"),
    ("requires \\exists int t; t == x;", "requires \\exists t in 0..NPROCS - 1 : t == x;"),
    ("requires (\\forall t; t <= x) && y == 0;", "requires (\\forall t in 0..NPROCS - 1 : t <= x) && y == 0;"),
    ("requires \\mpi_agree(x);", "requires \\agree(x);"),
    ("requires \\mpi_comm_rank < \\mpi_comm_size;", "requires PID < NPROCS;"),
    (f"ensures {NO.format('1')} if x == 0;", "waitsfor 1 if x == 0;"),
    (f"ensures x == 0 ==> {NO.format('1')};", "waitsfor 1 if x == 0;"),
    (f"ensures x == 0 ==> y == 0 ==> {NO.format('1')};", "waitsfor 1 if x == 0 && y == 0;"),
    (f"ensures {NO.format('0')} && {NO.format('1')};", "waitsfor 0; waitsfor 1;"),
    (f"ensures x == 0 ==> {NO.format('0')} && {TO};", "waitsfor 0 if x == 0; quiet to 0..1 until 0 if x == 0;"),
    (f"ensures (x == 0 ==> {NO.format('0')}) && {NO.format('1')};", "waitsfor 0 if x == 0; waitsfor 1;"),
    (f"behavior b: assumes x; ensures y ==> {NO.format('0')};", "behavior b: assumes x; waitsfor 0 if y;"),
    (
        "requires PID == 0 ==> \\no \\send(1, PID) \\after \\exit(1) \\until \\exit(PID);",
        "quiet from 1 if PID == 0;",
    ),
    (f"ensures \\result == x && {NO.format('0')};", "ensures \\result == x; waitsfor 0;"),
]


def contract_of(clauses: str) -> Contract:
    text = FRAME.format(clauses).replace("f(x, y)", "f(x, y, z)")
    (found,) = load_contracts(text, "t.mp").contracts
    return replace(found, span=Contract.__dataclass_fields__["span"].default)


@pytest.mark.parametrize(("source", "short"), SAME, ids=[each[0] for each in SAME])
def test_a_form_of_the_source_means_what_the_short_words_mean(source: str, short: str) -> None:
    one, other = contract_of(source), contract_of(short)
    assert (one.clauses, one.paths, one.bounds) == (other.clauses, other.paths, other.bounds)


@pytest.mark.parametrize("source", [each[0] for each in SAME])
def test_what_is_laid_out_means_the_same(source: str) -> None:
    text = FRAME.format(source).replace("f(x, y)", "f(x, y, z)")
    laid = format_messages(text, "t.mp")
    assert format_messages(laid, "t.mp") == laid
    one, other = load_contracts(text, "t.mp").contracts[0], load_contracts(laid, "t.mp").contracts[0]
    assert (one.clauses, one.paths, one.bounds) == (other.clauses, other.paths, other.bounds)
    assert "<=" not in source or "&&" in source or "&&" not in laid, "a row stays a row"


@pytest.mark.parametrize("inner", ["(0 <= x) < 2", "x == (y < 2)", "(0 <= x < 2) == y", "!(0 <= x < 2)", "-(x < y < 2) + 1"])
def test_parentheses_around_comparisons_stay(inner: str) -> None:
    laid = format_messages(FRAME.format(f"requires {inner};"), "t.mp")
    assert f"requires {inner};" in laid


def answer(text: str, *, procs: tuple[int, ...] = (1, 2, 3)) -> FunctionAnswer:
    return list(checked(load_contracts(text, "t.mp"), Checking(procs=procs), NO_LIMITS))[-1]


def oracles(text: str, procs: tuple[int, ...] = (1, 2, 3)) -> list[ProcsAnswer]:
    """Return what all interleavings show."""
    return [by_interleavings(load_contracts(text, "t.mp"), "f", each, NO_LIMITS) for each in procs]


BEHAVIORS = "behavior a: assumes x == 0; ensures \\result == 0; behavior b: assumes {}; ensures \\result == x; {};"
VERDICTS = [
    ("ensures 0 <= \\result < 3;", "VERIFIED"),
    ("ensures 0 <= \\result < 2;", "VIOLATED"),
    ("ensures \\result == \\max(x, \\min(x, y));", "VERIFIED"),
    ("ensures \\result == \\max(x, y, 0);", "VIOLATED"),
    ("ensures \\min(\\result, y, 5) == (x <= y ? x : y);", "VERIFIED"),
    ("ensures false ==> \\result == 9;", "VERIFIED"),
    ("requires \\forall t; \\on(t, x) == 1; ensures \\result == 1;", "VERIFIED"),
    ("requires \\exists t; \\on(t, x) == 1; ensures \\result == 1;", "VIOLATED"),
    (BEHAVIORS.format("x > 0", "complete behaviors"), "VERIFIED"),
    (BEHAVIORS.format("x > 0", "disjoint behaviors"), "VERIFIED"),
    (BEHAVIORS.format("x > 1", "complete behaviors a, b"), "VIOLATED"),
    (BEHAVIORS.format("x > 1", "disjoint behaviors a, b"), "VERIFIED"),
    (BEHAVIORS.format("x >= 0", "disjoint behaviors b, a"), "VIOLATED"),
    (BEHAVIORS.format("x >= 0", "complete behaviors b"), "VERIFIED"),
    ("requires x != 1;" + BEHAVIORS.format("x > 1", "complete behaviors"), "VERIFIED"),
]


@pytest.mark.parametrize(("clauses", "verdict"), VERDICTS, ids=[each[0] for each in VERDICTS])
def test_the_engine_and_the_oracle_decide_them(clauses: str, verdict: str) -> None:
    assert answer(FRAME.format(clauses), procs=(1, 2)).verdict == verdict
    assert ("VIOLATED" in [each.verdict for each in oracles(FRAME.format(clauses), (1, 2))]) == (verdict == "VIOLATED")


@pytest.mark.parametrize("clauses", [each[0] for each in VERDICTS])
def test_the_engines_find_the_same_classes(clauses: str) -> None:
    compared(load_contracts(FRAME.format(clauses), "t.mp"), "f", 2)


SUM = """
fun total(x)
contract collective {
  bounds x in 0..1; assigns \\nothing; ensures \\result == \\sum t in 0..NPROCS - 1 : \\on(t, x); waitsfor \\all;
} {
  reg s, y
  if PID == 0 { s = x; for i in 1..NPROCS - 1 { recv y from i; s = s + y }; for i in 1..NPROCS - 1 { send s to i } }
  else { send x to 0; recv s from 0 }
  return s
}
fun solve(v) contract collective { bounds v in 0..2; requires 0 <= v; assigns \\nothing; ensures \\result == 0; } {
  reg left = 1, b
  while left > 0
  contract loop converge {
    invariant 0 <= v && \\agree(left);
    invariant left <= 0 ==> v == 0;
    decreases DECREASES;
  } {
    if v > 0 { v = v - 1 }
    b = v > 0
    left = total(b)
  }
  return v
}
"""


def test_what_gets_smaller_may_be_a_sum_over_all_processes() -> None:
    decreases = "left > 0 ? 1 + \\sum t in 0..NPROCS - 1 : \\on(t, v) : 0"
    found = answer(SUM.replace("DECREASES", decreases), procs=(1, 2))
    assert found.verdict == "VERIFIED"
    own = answer(SUM.replace("DECREASES", "left > 0 ? 1 + v : 0"), procs=(2,))
    assert own.verdict == "VIOLATED", "a process that is ready does not get smaller itself"


NOTHING = [
    ("requires x > 5; ensures \\result == 9;", "return x", "no input within the bounds meets `requires`"),
    ("requires x < 1 < x; ensures \\result == 9;", "return x", "no input within the bounds meets `requires`"),
    ("ensures \\result == 9;", "assume x > 5; return x", "every run is set aside by an `assume` that is false"),
    ("ensures \\result == 9;", "if PID == 0 { assume false }; return x", "every run is set aside"),
]


@pytest.mark.parametrize(("clauses", "body", "why"), NOTHING, ids=[f"{each[0]} {each[1]}" for each in NOTHING])
def test_that_nothing_was_checked_is_no_positive_answer(clauses: str, body: str, why: str) -> None:
    text = FRAME.format(clauses).replace("return x", body)
    found = answer(text)
    assert found.verdict == "UNKNOWN"
    assert all(f"nothing was checked: {why}" in each.reason for each in found.answers)
    assert all(each.verdict == "VERIFIED" and why in each.reason for each in oracles(text))


def test_numbers_of_processes_for_which_nothing_is_required_are_said() -> None:
    found = answer(FRAME.format("requires NPROCS >= 2; ensures \\result == x;"))
    assert found.verdict == "VERIFIED"
    assert [bool(each.reason) for each in found.answers] == [True, False, False]


def test_an_assume_that_leaves_something_is_no_matter() -> None:
    found = answer(FRAME.format("ensures \\result == 2;").replace("return x", "assume x > 1; return x"))
    assert found.verdict == "VERIFIED" and not any(each.reason for each in found.answers)


CASCADES = [
    "fun f(x) contract collective { assigns \\nothing; ensures \\result == 2 * x; } { return x << 1 }",
    "fun f(x) contract collective { assigns \\nothing; ensures \\result == 2 * x; } { if x > 0 { return x ^ 1 } }",
]


@pytest.mark.parametrize("text", CASCADES)
def test_one_mistake_is_one_error(text: str) -> None:
    with pytest.raises(ProgramError) as raised:
        load_contracts(text, "t.mp")
    (error,) = raised.value.diagnostics
    assert error.code in {"RR101", "RR106"} and error.hint is not None and "bit operators" in str(error.hint)


ARRAYS = [
    ("requires len(x) >= 1;", "return x", {"x": 1}),
    ("ensures \\result == x[0];", "return x", {"x": 1}),
    ("ensures len(\\on(0, x)) >= 0;", "return x", {"x": 1}),
    ("requires \\forall t in 0..1 : x[t][0] == 0;", "return x", {"x": 2}),
    ("requires \\let z = x : z[0] == y;", "return x", {"x": 1}),
    ("requires x == new(2);", "return x", {"x": 1}),
    ("assigns g[0..x[0]];", "g[0] = 1; return y", {"x": 1, "g": 1}),
    ("waitsfor x[0];", "barrier(); return y", {"x": 1}),
    ("ensures \\result == 1;", "if len(x) > 0 { y = x[0] }; return 1", {"x": 1}),
    ("ensures \\result == 1;", "y = inner(x); return 1", {"x": 1}),
    ("ensures \\result == 1;", "x = new(2); x[0] = 1; return 1", {}),
    ("ensures \\result == 1;", "recv x from any; y = x[0]; return 1", {}),
    ("ensures g[0] == 1;", "g = new(1); g[0] = 1; return 1", {}),
    ("ensures \\old(g)[0] == 1;", "g = new(1); g[0] = 1; return 1", {"g": 1}),
    ("ensures \\result == x;", "return x", {}),
]


@pytest.mark.parametrize(("clauses", "body", "arrays"), ARRAYS, ids=[f"{each[0]} {each[1]}" for each in ARRAYS])
def test_what_an_input_is_follows_from_its_use(clauses: str, body: str, arrays: dict[str, int]) -> None:
    inner = "fun inner(a) { return len(a) }\nreg g\n"
    text = f"{inner}fun f(x, y) contract collective {{ {clauses} }} {{ {body} }}\n"
    program = load_contracts(text, "t.mp")
    assert {each.name: len(each.lengths) for each in program.contracts[0].bounds} == arrays
    assert sum(each.code == "RR756" for each in program.warnings) == len(arrays)


CONTRADICTIONS = [
    "bounds x in 0..3; requires len(x) >= 1;",
    "bounds x len 0..1; requires x >= 1;",
    "bounds x len 0..1; requires x[0][0] == 1;",
    "bounds x len 0..1 len 0..1; requires x[0] + 1 == 1;",
    "requires len(x) >= 1; ensures \\result == x + 1;",
    "requires x == 1 && x[0] == 1;",
    "requires 0 <= x < len(x);",
    "waitsfor x; requires len(x) == 1;",
]


@pytest.mark.parametrize("clauses", CONTRADICTIONS)
def test_an_input_is_no_number_and_an_array(clauses: str) -> None:
    with pytest.raises(ProgramError) as raised:
        load_contracts(f"fun f(x, y) contract collective {{ assigns \\nothing; {clauses} }} {{ return x }}\n", "t.mp")
    assert [each.code for each in raised.value.diagnostics] == ["RR961"]


BROADCAST = """
fun bc(dat, root) contract collective {
  bounds root in 0..NPROCS-1;
  requires \\agree(root) && 0 <= root < NPROCS && len(dat) >= 1;
  assigns \\nothing;
  ensures \\result == \\on(root, dat);
} {
  if PID == root { for i in 0..NPROCS - 1 { if i != root { SEND } } } else { recv dat from root }
  return dat
}
"""


def test_a_broadcast_of_arrays_in_which_nobody_sends() -> None:
    found = answer(BROADCAST.replace("SEND", "skip"))
    assert [each.verdict for each in found.answers] == ["VERIFIED", "VIOLATED", "VIOLATED"]
    assert found.answers[1].counterexample is not None and found.answers[1].counterexample.error == "DL"
    assert answer(BROADCAST.replace("SEND", "send dat to i")).verdict == "VERIFIED"
