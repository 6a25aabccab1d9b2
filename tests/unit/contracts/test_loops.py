"""Loops with contracts: mistakes in them, what is proved of any number of rounds, and what is not."""

from __future__ import annotations

import pytest

from rdma_robust.contracts.checks.function_checks import Checking, checked
from rdma_robust.contracts.contract_answers import FunctionAnswer
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.errors import Diagnostic, ProgramError
from rdma_robust.limits import NO_LIMITS
from rdma_robust.messages.language.load_messages import load_messages

FRAME = """\
reg g
fun f(n)
contract collective {
  bounds g in 0..1;
  bounds n in 0..2;
  requires \\agree(n) && n >= 0;
  assigns g;
  ENSURES
} {
  reg v, w[2], last = n
  HEAD
  contract loop rounds { CLAUSES } { BODY }
}
"""

ERRORS = [
    ("for i in 1..n", "requires g == 0;", "skip", "RR959", "requires g == 0", "`requires` does not stand in the contract"),
    ("for i in 1..n", "ensures g == 0;", "skip", "RR959", "ensures g == 0", "`ensures` does not stand"),
    ("for i in 1..n", "behavior one: invariant 1;", "skip", "RR959", "behavior one:", "`behavior` does not stand"),
    ("for i in 1..n", "decreases n; decreases g;", "skip", "RR959", "decreases g", "there is a `decreases` already"),
    ("for i in 1..n", "complete behaviors;", "skip", "RR959", "complete behaviors", "`behavior` does not stand"),
    ("for i in 1..n", "invariant \\result == 1;", "skip", "RR951", "\\result", "`\\result` cannot stand in `invariant`"),
    (
        "for i in 1..n",
        "invariant \\pre(v) == 1;",
        "skip",
        "RR951",
        "v",
        "`v` is a register of the function, and has no value",
    ),
    ("for i in 1..n", "invariant nothing == 1;", "skip", "RR901", "nothing", "there is nothing called `nothing` here"),
    ("for i in 1..n", "waitsfor \\pre(g);", "skip", "RR951", "\\pre(g)", "`\\pre` cannot stand in a path clause"),
    ("for i in 1..n", "assigns v;", "skip", "RR952", "v", "there is no register `v` declared outside"),
    ("for i in 1..n", "assigns g[v];", "v = i", "RR959", "g[v]", "`v` may change from round to round"),
    ("for i in 1..n", "quiet from g;", "skip", "RR959", "quiet from g", "`g` may change from round to round"),
    ("for i in 1..n", "bounds u in 0..1;", "skip", "RR953", "u", "`u` is no input of `rounds`"),
    ("for i in 1..n", "invariant 1;", "return", "RR960", "return", "`return` leaves `rounds` from inside"),
    ("while v < 2", "invariant 1;", "if PID == 0 { halt }", "RR960", "halt", "`halt` leaves `rounds` from inside"),
    (
        "for i in 1..n",
        "invariant 1;",
        "n = 1",
        "RR960",
        "for i in 1..n",
        "`n`, by which the last round is known, may change",
    ),
    (
        "for i in g..n",
        "invariant 1;",
        "recv g",
        "RR960",
        "for i in g..n",
        "`g`, by which the last round is known, may change",
    ),
]


def program(head: str, clauses: str, body: str, ensures: str = "") -> str:
    changed = {"HEAD": head, "CLAUSES": clauses, "BODY": body, "ENSURES": ensures}
    text = FRAME
    for word, put in changed.items():
        text = text.replace(word, put)
    return text


def errors_of(text: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(ProgramError) as raised:
        load_contracts(text, "a.mp")
    return raised.value.diagnostics


@pytest.mark.parametrize(("text", "code", "place", "message"), [(program(*each[:3]), *each[3:]) for each in ERRORS])
def test_an_error(text: str, code: str, place: str, message: str) -> None:
    (error,) = errors_of(text)
    assert error.code == code
    assert error.message.startswith(message)
    assert text[error.span.start : error.span.end].startswith(place)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("fun f() { while 0 contract loop l { invariant 1; } { skip } }", "RR960"),
        (
            "fun f() contract local { assigns \\nothing; } { while 0 contract loop l { waitsfor 0; } { skip } }",
            "RR954",
        ),
        (
            "fun f(x) contract local { assigns \\nothing; } { while 0 contract loop l { invariant \\on(0, x); } { skip } }",
            "RR951",
        ),
        ("proc P { while 0 contract loop l { invariant 1; } { skip } }", "RR960"),
        (
            "fun f() contract collective { assigns \\nothing; } { while 0 contract loop f { invariant 1; } { skip } }",
            "RR904",
        ),
        (
            "fun f() contract collective { assigns \\nothing; } { while 0 contract loop bcast { invariant 1; } { skip } }",
            "RR904",
        ),
        ("fun f() contract collective { assigns \\nothing; invariant 1; } { skip }", "RR959"),
        ("fun f() contract loop l { assigns \\nothing; } { skip }", "RR101"),
    ],
)
def test_a_loop_with_a_contract_where_none_can_stand(text: str, code: str) -> None:
    assert code in {each.code for each in errors_of(text)}


def answers(text: str, procs: tuple[int, ...] = (1, 2, 3)) -> dict[str, FunctionAnswer]:
    found = checked(load_contracts(text, "a.mp"), Checking(procs), NO_LIMITS)
    return {each.name: each for each in found}


def verdicts(text: str) -> dict[str, str]:
    return {name: each.verdict for name, each in answers(text).items()}


def modes(text: str) -> set[str]:
    """Return how the function is verified: `modular` is from the invariants, `inlined` with all rounds that there are."""
    found = answers(text, (2,))["f"]
    assert found.verdict == "VERIFIED"
    return {each.mode for each in found.answers}


KEPT = "invariant \\agree(n) && 0 <= g && g <= 1;"


def test_contracts_of_loops_are_ignored_where_programs_run() -> None:
    text = "proc P { reg x\n f(x) }\n" + program("for i in 1..n", KEPT, "g = 1 - g")
    plain = text.replace(f"\n  contract loop rounds {{ {KEPT} }}", "")
    assert load_messages(text, "a.mp").processes == load_messages(plain, "a.mp").processes


def test_any_number_of_rounds() -> None:
    """Nothing bounds the number of rounds, and still everything is known: of an invariant that a round keeps."""
    text = program("for i in 1..n", KEPT, "g = 1 - g", "ensures 0 <= g && g <= 1;").replace("  bounds n in 0..2;\n", "")
    found = answers(text)
    assert {name: {(one.verdict, one.mode) for one in each.answers} for name, each in found.items()} == {
        "f": {("VERIFIED", "modular")},
        "rounds": {("VERIFIED", "modular")},
    }


def test_an_invariant_that_is_not_true_at_first() -> None:
    text = program("for i in 1..n", "invariant \\agree(n) && g == 1;", "g = 1")
    assert verdicts(text) == {"f": "VIOLATED", "rounds": "VERIFIED"}
    (one, *_) = answers(text)["f"].answers
    assert one.counterexample is not None
    assert (one.counterexample.error, one.counterexample.collate) == ("INV", 1)


def test_an_invariant_that_rounds_do_not_keep_though_it_is_never_false() -> None:
    """The function is verified with all rounds that there are; without bounds for them it is open."""
    text = program("for i in 1..n", "invariant \\agree(n); invariant v < 3;", "v = v + 1")
    found = answers(text)
    assert {name: each.verdict for name, each in found.items()} == {"f": "VERIFIED", "rounds": "VIOLATED"}
    assert {one.mode for one in found["f"].answers} == {"inlined"}
    (weak,) = found["f"].answers[0].weak
    assert weak.function == "rounds"


def test_a_while_ends_only_if_something_decreases() -> None:
    text = program("while v < n", "invariant \\agree(n) && \\agree(v); CLAUSE", "v = v + 1")
    assert modes(text.replace("CLAUSE", "")) == {"inlined"}
    assert modes(text.replace("CLAUSE", "decreases n - v;")) == {"modular"}
    assert verdicts(text.replace("CLAUSE", "decreases v;"))["rounds"] == "VIOLATED"


def test_what_a_loop_changes_is_not_known_afterwards() -> None:
    text = program("for i in 1..n", "invariant \\agree(n);", "v = i", "ensures g == \\pre(g);")
    assert modes(text) == {"modular"}
    assert modes(text.replace("v = i", "g = g")) == {"inlined"}
    after = text.replace("v = i }", "v = i }\n  assert v == n || v == 0")
    assert modes(after) == {"inlined"}
    assert modes(after.replace("invariant \\agree(n);", "invariant \\agree(n) && v == i - 1;")) == {"modular"}


def test_an_invariant_with_a_product() -> None:
    """What `requires` equates are inputs; a product of two is none."""
    text = program("for i in 1..n", "invariant \\agree(n) && g == v * w[0];", "skip").replace(
        "rounds { ", "rounds { bounds w len 2..2; "
    )
    assert verdicts(text)["rounds"] == "VERIFIED"


def test_rounds_are_told_from_functions() -> None:
    kinds = {name: each.kind for name, each in answers(program("for i in 1..n", KEPT, "skip"), (1,)).items()}
    assert kinds == {"f": "collective", "rounds": "loop"}


def test_what_an_inner_loop_is_not_known_to_wait_for_is_not_believed_of_the_outer_one() -> None:
    text = (
        "fun f(x)\ncontract collective {\n  bounds x in 0..1;\n  assigns \\nothing;\n  waitsfor \\all;\n} {\n  reg c\n"
        "  for i in 1..1 contract loop outer { invariant c == 0; waitsfor \\all if i == 2; } {\n"
        "    for j in 1..1 contract loop inner { invariant c == 0; waitsfor \\all if j == 2; } { c = 0 }\n  }\n}\n"
    )
    found = {name: each.verdict for name, each in answers(text, (2,)).items()}
    assert found == {"f": "VIOLATED", "outer": "UNKNOWN", "inner": "UNKNOWN"}
