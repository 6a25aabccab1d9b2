"""Reading and writing `.spec`: what each part means, what is refused, and that the fast way is the general way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from rdma_robust.counters.explicit import Cone, ExplicitVass, VassEdge, to_net
from rdma_robust.counters.vass import CounterEffect
from rdma_robust.errors import ProgramError
from rdma_robust.petri.net import Net
from rdma_robust.petri.spec import reader
from rdma_robust.petri.spec.reader import read_spec
from rdma_robust.petri.spec.spec_syntax import SpecSyntaxError, parse_spec
from rdma_robust.petri.spec.writer import place_names, write_spec
from tests.conftest import ROOT
from tests.support.random_nets import random_net

STRAY = [*";,'=[]+-#\n", "->", ">=", "in", "true", "vars", "rules", "init", "target", "invariants", "7", "x"]
CORPUS = sorted((ROOT / "tests/nets").glob("*.spec"))

SMALL = """vars a b
rules
 a >= 1 -> b' = b + 1;
init a = 1, b = 0
target b >= 3
"""

ODD = """\ufeff# a licence, with CR LF line ends\r
vars\tvars1 rulesets _init targets\r
     invariant in_ trueish\r
rules vars1>=1,trueish>=02->vars1'=vars1-1,\t_init' = _init+ 7;  # two on a line
  true, rulesets >= 2, rulesets >= 1 -> ;true->rulesets'=rulesets+1, in_' = in_ - 0, targets' = targets;
  _init >= 5 -> _init' = _init - 3, rulesets' = rulesets - 2;

init
  vars1 = 1

  , trueish in [2 , 5]
  , rulesets >= 3, in_ = 4, in_ >= 2, in_ in [0,9] # targets and invariant are not mentioned
target _init >= 7, _init>=6
  rulesets >= 1in_>=0
  , vars1 >= 1
invariants vars1 = 45, rulesets = 90
 _init=1targets=0, in_=2
 trueish = 1, trueish = 1
"""


def test_every_part_of_the_format() -> None:
    net = read_spec(ODD, "odd.spec")
    assert net.places == ("vars1", "rulesets", "_init", "targets", "invariant", "in_", "trueish")
    assert [(t.guard, t.delta, t.line) for t in net.transitions] == [
        (((0, 1), (6, 2)), ((0, -1), (2, 7)), 4),
        (((1, 2),), (), 5),
        ((), ((1, 1),), 5),
        (((1, 2), (2, 5)), ((1, -2), (2, -3)), 6),
    ]
    assert [t.name for t in net.transitions] == ["r1", "r2", "r3", "r4"]
    assert net.least == (1, 3, 0, 0, 0, 4, 2)
    assert net.most == (1, None, None, None, None, 4, 5)
    assert net.targets == (((2, 7),), ((1, 1),), ((0, 1),))
    assert net.weights == (((0, 45), (1, 90)), ((2, 1),), ((5, 2),))


def test_big_numbers_stay_whole() -> None:
    assert read_spec(SMALL.replace("a >= 1", f"a >= {10**999}"), "big.spec").transitions[0].guard == ((0, 10**999),)
    net = read_spec(SMALL.replace("b >= 3", f"b >= {10**30}").replace("b + 1", f"b + {3**80}"), "big.spec")
    assert net.targets == (((1, 10**30),),)
    assert net.transitions[0].delta == ((1, 3**80),)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("b + 1", "b + a", "3:12: error: `b' = b + a` is a transfer"),
        ("b + 1", "a", "`b' = a` is a transfer"),
        ("b + 1", "a + 1", "`b' = a + 1` is a transfer"),
        ("b + 1", "b + b", "`b' = b + b` is a transfer"),
        ("b + 1", "0", "`b' = 0` sets a place to a number"),
        ("b + 1", "1 + b", "expected: `,` or `;`"),
        ("b + 1;", "b + 1, b' = b - 1;", "3:24: error: `b` is updated twice"),
        ("a >= 1 ->", "a = 1 ->", "a guard that holds only up to a number"),
        ("a >= 1 ->", "a in [1,2] ->", "a guard that holds only up to a number"),
        ("a >= 1 ->", "->", "expected: `true` or a place"),
        ("a >= 1 ->", "a >= 1, ->", "expected: `true` or a place"),
        ("a >= 1 ->", "a >= 1 b >= 1 ->", "unexpected `b`"),
        ("a >= 1 ->", "a >= 1 =>", "the arrow of a rule is `->`"),
        ("a >= 1 ->", "a <= 1 ->", "a constraint is `x >= 3`"),
        ("a >= 1 ->", "a >= -1 ->", "expected: a number"),
        ("b + 1;", "b + 1", "4:1: error: unexpected `init`"),
        ("b + 1;", "b + 1.5;", "unexpected `.`"),
        ("b + 1;", "b * 2;", "adding or subtracting"),
        ("b >= 3", "b = 3", "5:8: error: a target that is not upward-closed"),
        ("b >= 3", "b in [3,4]", "5:8: error: a target that is not upward-closed"),
        ("b >= 3", "c >= 3", "there is no place `c`"),
        ("b >= 3", "b >= " + "9" * 5000, "this number has 5,000 digits, more than 1,000"),
        ("a = 1, b", "a = " + "1" * 1001 + ", b", "1,001 digits"),
        ("b + 1", "b + " + "0" * 1001, "1,001 digits"),
        ("b >= 3", "in >= 3", "unexpected `in`"),
        ("target b >= 3", "target", "unexpected end of the file"),
        ("target b >= 3", "", "the section `target`"),
        ("target", "goal", "unexpected `goal`"),
        ("a = 1, b", "a = 1, a = 2, b", "no number of tokens in `a` meets this"),
        ("a = 1, b", "a in [3,2], b", "no number of tokens in `a` meets this"),
        ("a = 1, b", "a = 1 b", "expected: `,` or `target`"),
        ("a = 1, b", ", a = 1, b", "unexpected `,`"),
        ("vars a b", "vars a b a", "1:10: error: the place `a` is declared twice"),
        ("vars a b", "vars a, b", "expected: `rules` or a place"),
        ("vars a b", "vars a true b", "unexpected `true`"),
        ("vars a b", "vars \u00e4 b", "ASCII letters"),
        ("vars a b", "vars a b /* */", "comments start with `#`"),
        ("vars a b", "rules vars a b", "the section `rules` begins too early"),
        ("init", "init a = 1 init", "the section `init` begins a second time"),
        ("vars", "program x vars", "1:1: error: unexpected `program`"),
    ],
)
def test_what_is_wrong_is_said_where(old: str, new: str, said: str) -> None:
    text = SMALL.replace(old, new, 1)
    with pytest.raises(ProgramError) as caught:
        read_spec(text, "wrong.spec")
    assert said in str(caught.value)
    assert "^" in str(caught.value)


def test_all_errors_are_collected() -> None:
    text = (
        SMALL.replace("b + 1", "bb + 1").replace("b = 0", "c = 0").replace("b >= 3", "d >= 3").replace("rules", "rules x y;")
    )
    with pytest.raises(ProgramError) as caught:
        read_spec(text, "wrong.spec")
    assert [(d.span.line, d.span.column) for d in caught.value.diagnostics] == [(2, 9), (3, 17), (4, 13), (5, 8)]
    assert caught.value.diagnostics[1].hint == "did you mean `b`?"
    with pytest.raises(ProgramError) as caught:
        read_spec(SMALL.replace("b' = b + 1", "x' = x + 1, y' = y + 1"), "wrong.spec")
    assert [d.message for d in caught.value.diagnostics] == [f"there is no place `{n}`" for n in "xxyy"]


def test_a_file_full_of_errors_is_not_read_to_its_end() -> None:
    text = SMALL.replace("init", "a => b;\n" * 500 + "init")
    with pytest.raises(ProgramError) as caught:
        read_spec(text, "wrong.spec")
    assert len(caught.value.diagnostics) == 101
    assert "and 400 more errors" in caught.value.diagnostics[-1].message


@pytest.mark.parametrize("length", range(len(SMALL) - 3))
def test_a_file_cut_short_is_no_net(length: int) -> None:
    with pytest.raises(ProgramError, match="unexpected"):
        read_spec(SMALL[:length], "cut.spec")


def read(text: str) -> Net | str:
    try:
        return read_spec(text, "x.spec")
    except ProgramError as error:
        return str(error)


def texts() -> Iterator[str]:
    """The corpus, small and odd files, random ones, and all of these with small damage."""
    rng = Random(7)
    for _ in range(40):
        yield write_spec(random_net(rng))
    whole = [SMALL, ODD, *(path.read_text(encoding="utf-8") for path in CORPUS)]
    yield from whole
    for number in range(1000):
        text = whole[number % 2] if number % 3 else rng.choice(whole[:40])
        yield damaged(rng, text)


def damaged(rng: Random, text: str) -> str:
    """Tokens taken out, put in, repeated, swapped or glued together."""
    parts = re.findall(r"\s+|#[^\n]*|[A-Za-z_0-9]+|->|>=|.", text)
    for _ in range(rng.choice([1, 1, 2, 3])):
        at = rng.randrange(len(parts))
        match rng.randrange(5):
            case 0:
                del parts[at]
            case 1:
                parts.insert(
                    at, rng.choice([*";,'=[]+-#\n", "->", ">=", "in", "true", "vars", "rules", "init", "target", "7", "x"])
                )
            case 2:
                parts.insert(at, rng.choice(parts))
            case 3:
                other = rng.randrange(len(parts))
                parts[at], parts[other] = parts[other], parts[at]
            case _:
                parts[at] = parts[at].strip() or " "
    return "".join(parts)


@pytest.mark.ci
def test_the_fast_way_is_the_general_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nets and messages are the same with the fast reader off, and what is wrong is what the whole grammar refuses."""
    sample = list(dict.fromkeys(texts()))
    fast = [read(text) for text in sample]
    for name in ("usual_names", "usual_rule", "usual_conjunctions"):
        monkeypatch.setattr(reader, name, lambda *_: None)
    assert sum(isinstance(answer, Net) for answer in fast) > 100
    assert sum(isinstance(answer, str) for answer in fast) > 500
    for text, answer in zip(sample, fast, strict=True):
        assert read(text) == answer, text


def test_the_parts_are_read_as_the_whole_grammar_reads_them() -> None:
    for text in list(texts())[:800:2]:
        answer = read(text)
        try:
            tree = parse_spec(text.removeprefix("\ufeff"))
        except SpecSyntaxError:
            assert isinstance(answer, str), text
            assert re.search(r"error: (unexpected|the section)", answer), text
        else:
            assert not re.search(r"error: (unexpected|the section)", str(answer)), text
            if isinstance(answer, Net):
                assert [len(list(tree.find_data(name))) for name in ("rule",)] == [len(answer.transitions)], text
                assert len(list(next(tree.find_data("target")).find_data("conjunction"))) == len(answer.targets), text


def without_names(net: Net) -> Net:
    return replace(net, name="", transitions=tuple(replace(t, name="", line=0) for t in net.transitions))


def test_what_is_written_is_read_again() -> None:
    rng = Random(3)
    nets = [random_net(rng) for _ in range(300)] + [
        read_spec(ODD, "odd"),
        *(read_spec(p.read_text(), p.name) for p in CORPUS),
    ]
    for net in nets:
        assert without_names(read_spec(write_spec(net), "again")) == without_names(net)


def test_places_get_names_of_the_format() -> None:
    wanted = ("a", "a b", "a_b", "in", "_in", "9", "", "a-b", "\u00e9", "target", "a_b_2")
    names = place_names(wanted)
    assert names == ("a", "a_b_3", "a_b", "_in_2", "_in", "_9", "_", "a_b_4", "__2", "_target", "a_b_2")
    assert len(set(names)) == len(wanted)


def test_nets_that_the_format_lacks() -> None:
    nothing = ExplicitVass("no\ntarget", ("q",), (), (VassEdge(0, 0, CounterEffect((), ()), "x\ny"),), 0, (), ())
    net = read_spec(write_spec(to_net(nothing)), "x")
    assert (net.places, net.least, net.most, net.targets) == (("q", "never_marked"), (1, 0), (1, 0), (((1, 1),),))
    all_covered = replace(nothing, targets=(Cone(0, ()),))
    assert read_spec(write_spec(replace(to_net(all_covered), targets=((),))), "x").targets == ((),)
    assert read_spec(write_spec(Net("", (), (), (), (), ())), "x").targets == (((0, 1),),)
