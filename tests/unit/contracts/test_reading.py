"""Contracts as they are read: long and short forms, behaviors, words in places, files without processes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rdma_robust.contracts.language import spec_terms as spec
from rdma_robust.contracts.language.contract_program import (
    CONTRACT_BUFFERS,
    AssignedCells,
    AssignsClause,
    Contract,
    ContractClaim,
    InputBounds,
    PathClause,
    ProcessSet,
    StateClause,
)
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.runs.runs_engine import runs
from rdma_robust.errors import ProgramError
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_printer import format_messages
from rdma_robust.messages.language.message_words import WORDS, message_grammar

LAST = spec.Apply("-", (spec.SpecCount(), spec.SpecNumber(1)))
ALL = ProcessSet(spec.SpecNumber(0), LAST)
OTHERS = ProcessSet(spec.SpecNumber(0), LAST, others=True)
ROOT = ProcessSet(spec.Parameter("root"), spec.Parameter("root"))
AT_ROOT = spec.Apply("==", (spec.SpecPid(), spec.Parameter("root")))

SHORT = """
port data
reg u
fun f(val, root) contract collective {
  waitsfor \\all; quiet to 0..2 tag 4 until root; quiet from \\others; quiet from root tag val;
} { return val }
"""
LONG = """
port data
reg u
fun f(val, root)
contract
collective

{
  ensures \\no \\exit(PID) \\after \\enter(PID)
    \\until \\enter(\\all)
  ;
  ensures \\no \\send(PID, 0..2, 4) \\after \\enter(PID) \\until \\enter(root); // and
  requires \\no \\send(\\others, PID) \\after \\exit(\\others) \\until \\exit(PID);
  requires \\no \\send(root, PID, val) \\after \\exit(root) \\until \\exit(PID); }
{ return val }
"""
MANY = """
reg u, v
fun f(val, root)
contract collective {
  bounds val len 0..2 in \\i..9;
  requires 0 <= root;
  behavior root: assumes PID == root;
    assigns u, v[0..root];
    ensures \\result == 1 ==> \\old(u)[2] == u;
    quiet to \\others until \\all if root;
  behavior other:
    assigns \\nothing;
} { return 1 }
expect contract f violated ITF from 3
"""


def the_contract(text: str) -> Contract:
    (found,) = load_contracts(text, "t.mp").contracts
    return found


def test_long_forms_mean_what_the_short_ones_mean() -> None:
    number = ProcessSet(spec.SpecNumber(0), spec.SpecNumber(2))
    assert the_contract(SHORT).paths == (
        PathClause("waitsfor", ALL),
        PathClause("quiet to", number, tag=spec.SpecNumber(4), until=ROOT),
        PathClause("quiet from", OTHERS),
        PathClause("quiet from", ROOT, tag=spec.Parameter("val")),
    )
    assert the_contract(LONG) == the_contract(SHORT)


def test_behaviors_are_written_out() -> None:
    program = load_contracts(MANY, "t.mp")
    (found,) = program.contracts
    assert found.clauses[0] == StateClause("requires", spec.Apply("<=", (spec.SpecNumber(0), spec.Parameter("root"))))
    old = spec.Item(spec.OldValue(spec.Global("u")), spec.SpecNumber(2))
    implied = spec.Apply("==", (spec.FunctionResult(), spec.SpecNumber(1))), spec.Apply("==", (old, spec.Global("u")))
    assert found.clauses[1:] == (StateClause("ensures", spec.Apply("==>", implied), AT_ROOT),)
    cells = AssignedCells("u"), AssignedCells("v", spec.SpecNumber(0), spec.Parameter("root"))
    assert found.frames == (AssignsClause(cells, AT_ROOT), AssignsClause(()))
    condition = spec.Apply("&&", (AT_ROOT, spec.Parameter("root")))
    assert found.paths == (PathClause("quiet to", OTHERS, until=ALL, condition=condition),)
    length = (spec.SpecNumber(0), spec.SpecNumber(2))
    assert found.bounds[0] == InputBounds("val", (length,), spec.BoundVariable("i"), spec.SpecNumber(9))
    assert [(each.name, each.text) for each in found.bounds[1:]] == [("u", "u len 0..NPROCS + 1")], "an array by its use"
    assert program.claims == (ContractClaim("f", False, "ITF", 3),)
    assert program.globals == ("u", "v")


@pytest.mark.parametrize(
    ("shown", "brackets"),
    [
        ("a ==> b ==> a", "a ==> (b ==> a)"),
        ("a && b ==> a || b", "(a && b) ==> (a || b)"),
        ("a ==> b ? a : b ? 1 : 2", "(a ==> b) ? a : (b ? 1 : 2)"),
        ("a ? \\forall t in 0..a ? 1 : 2 : t ? 3 : 4 : 5", "a ? (\\forall t in 0..(a ? 1 : 2) : (t ? 3 : 4)) : 5"),
        ("a && \\forall t in 0..1 : t && b", "a && (\\forall t in 0..1 : (t && b))"),
        ("a == -\\sum t in 0..1 : t + b", "a == (-(\\sum t in 0..1 : (t + b)))"),
        ("\\let x = a : x == b", "(\\let x = (a) : (x == b))"),
        ("a[b][1] + 2 * \\pre(a)[0]", "(((a)[b])[1]) + (2 * (\\pre(a)[0]))"),
    ],
)
def test_words_that_begin_an_expression_go_on_as_far_as_they_can(shown: str, brackets: str) -> None:
    text = "reg a, b\nfun f() contract collective {{ ensures {}; }} {{ }}\n"
    assert the_contract(text.format(shown)) == the_contract(text.format(brackets))
    assert format_messages(text.format(shown), "t.mp") == format_messages(text.format(brackets), "t.mp")


def test_a_file_of_contracts_needs_no_process_and_no_number_of_them() -> None:
    text = """
reg a[NPROCS]
fun f(x) contract collective {
  assigns a;
  ensures a[0] == x;
} {
  for p in 1..NPROCS - 1 { send x / NPROCS to p }
  send x to 5
}
"""
    assert load_messages(text, "t.mp").warnings == ()
    assert load_contracts(text, "t.mp").warnings == ()
    assert load_messages(text, "t.mp").processes == ()


def test_the_library_has_contracts_which_a_function_of_its_name_hides() -> None:
    program = load_contracts("fun bcast(x) contract local { assigns \\nothing; } { }\n", "t.mp")
    assert [each.name for each in program.library] == ["barrier", "reduce", "allreduce", "gather", "scatter"]
    bcast, barrier = program.contract("bcast"), program.contract("barrier")
    assert bcast is not None and bcast.kind == "local"
    assert barrier is not None and barrier.kind == "collective" and barrier.span.file == "library.mp"


def test_calls_also_through_functions_without_a_contract() -> None:
    text = """
fun low() contract local { assigns \\nothing; } { }
fun middle() { low(); bcast(1, 0); middle2() }
fun middle2() { middle3(); low() }
fun middle3() { barrier() }
fun high() contract collective { assigns \\nothing; } { low(); middle(); low() }
"""
    found = {each.name: each.calls for each in load_contracts(text, "t.mp").contracts}
    assert found == {"low": (), "high": ("low", "bcast", "barrier")}


def test_the_library_calls_its_own_functions_also_where_they_are_hidden() -> None:
    text = """
fun bcast(x, root) contract collective { requires x == 7; assigns \\nothing; } { return 99 }
fun f(v) contract collective { assigns \\nothing; ensures \\result == \\sum t in 0..NPROCS - 1 : \\on(t, v); } {
  v = allreduce(v)
  return v
}
"""
    program = load_contracts(text, "t.mp")
    allreduce = program.contract("allreduce")
    assert allreduce is not None and allreduce.calls == ("reduce",)
    assert runs(program, "f", 3).verdict == "VERIFIED"


WORDS_AS_NAMES = """
port {2}
reg {1}
fun f({0}, other)
contract collective {{
  bounds {1} len 0..1 in 0..1;
  requires {1} == {1} && \\forall z in {0}..{0} : {0} ? {0} : {1}[{0}];
  assigns {1}, {1}[{0}..{0}];
  waitsfor {0} if {0};
  quiet to {0} on {2} tag {0} until {0}..{0} if {0};
  quiet from {0}..{0} on {2};
  behavior {0}: assumes {0};
    ensures \\let {3} = {0} : {3} && \\exists {4} in {3}..{0} : {4};
}} {{
  {1} = {0}
  return {0}
}}
expect contract f verified
"""


@pytest.mark.parametrize("at", range(5))
def test_words_of_contracts_are_names_in_contracts_too(at: int) -> None:
    names = sorted(message_grammar().literals[kind] for kind in WORDS - {"LEN"})
    for first in range(at, len(names), 5):
        text = WORDS_AS_NAMES.format(*(names[(first + k) % len(names)] for k in range(5)))
        (found,) = load_contracts(text, "t.mp").contracts
        assert (len(found.clauses), len(found.paths), len(found.bounds), found.parameters[0]) == (2, 3, 1, names[first])
        formatted = format_messages(text, "t.mp")
        assert format_messages(formatted, "t.mp") == formatted


def test_the_port_without_a_name() -> None:
    clauses = "quiet from 0 on \\nameless tag 1; quiet to 0 on \\nameless until 0;"
    text = f"port data\nfun f() contract collective {{ {clauses} }} {{ }}\n"
    (contract,) = load_contracts(text, "t.mp").contracts
    assert [each.port for each in contract.paths] == [0, 0]
    formatted = format_messages(text, "t.mp")
    assert formatted.count(" on \\nameless") == 2
    assert load_contracts(formatted, "t.mp").contracts == (contract,)
    for word in ("\\others", "\\nothing"):
        with pytest.raises(ProgramError, match="unexpected"):
            load_contracts(text.replace("\\nameless", word), "t.mp")


@pytest.mark.parametrize("name", ["barrier", "bcast", "reduce", "allreduce", "gather", "scatter"])
def test_the_contracts_of_the_library_are_true(name: str) -> None:
    program = load_contracts("fun f() contract local { assigns \\nothing; } { }\n", "t.mp")
    for buffer in CONTRACT_BUFFERS:
        there = replace(program, buffer=buffer)
        assert [runs(there, name, procs).verdict for procs in range(1, 6)] == ["VERIFIED"] * 5
