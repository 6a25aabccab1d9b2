"""Words that are keywords in some places are names in all others: no program that uses them as names changes."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from rdma_robust import Verdict, check
from rdma_robust.language.flow.canonical import canonical_text
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.contextual import WORDS
from rdma_robust.language.syntax.formatter import format_source
from rdma_robust.language.syntax.grammar import load_grammar
from tests.support.shares import share

LITMUS = sorted((Path(__file__).parents[3] / "litmus").glob("*.rdma"))
NEW = sorted(load_grammar().literals[name] for name in WORDS)
COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
NAME = re.compile(r"[A-Za-z_]\w*")


def names_of(text: str) -> list[str]:
    """Return the names of a program, whatever they name."""
    keywords = set(load_grammar().keywords.values())
    words = dict.fromkeys(word for word in NAME.findall(COMMENTS.sub(" ", text)) if word not in keywords)
    return [word for word in words if word not in NEW]


def renamed(text: str, names: dict[str, str]) -> str:
    return NAME.sub(lambda word: names.get(word[0], word[0]), text)


@pytest.mark.parametrize("path", share(LITMUS, 8), ids=lambda p: p.stem)
def test_litmus_programs_with_new_words_as_names(path: Path) -> None:
    """Rename a few names after the other to words that the program does not have, and compare what is loaded."""
    text = COMMENTS.sub(" ", path.read_text(encoding="utf-8"))
    own = r"^\s*(for|macro|hardware|needs|posted|recv|send)\s+\w|\b(unsignaled|inline|fenced|imm|rpoll|trypoll)\b"
    if re.search(own, text, re.MULTILINE):
        return  # it uses the words themselves
    random = Random(path.stem)
    expected = canonical_text(load_program(text, "t"))
    names = names_of(text)
    random.shuffle(names)
    free = [word for word in NEW if not re.search(rf"\b{word}\b", text + expected)]
    for start in range(0, len(names), len(free)):
        some = names[start : start + len(free)]
        words = dict(zip(some, random.sample(free, len(some)), strict=True))
        found = canonical_text(load_program(renamed(text, words), "t"))
        assert renamed(found, {word: name for name, word in words.items()}) == expected


@pytest.mark.ci
def test_verdicts_with_each_word_as_each_kind_of_name() -> None:
    """Every name is renamed, each to another word; turn by turn each gets every word."""
    text = """\
program P
const C = 1
node A { x = 0, a[2] = 0 }
node B { y = 0 }
thread T on A {
  reg r
  put B.y = x
  poll B
  x = C
  r = cas(x, C, 1)
  a[r] = C
  if r == C { r = a[C] } else { get x = B.y }
  while r != C { r = x }
  r = x
}
thread U on B {
  reg r
  put A.x = C
  r = y
  assert r == C || r == 0
}
outcome T.r == 0 && U.r == 0 && B.y == 0 : forbidden under sc
expect not robust
"""
    found = check(text, max_states=20_000).verdict
    assert found in (Verdict.ROBUST, Verdict.NOT_ROBUST)
    names = ("P", "C", "A", "B", "x", "a", "y", "T", "U", "r")
    for turn in range(len(NEW)):
        given = renamed(text, dict(zip(names, NEW[turn:] + NEW[:turn], strict=False)))
        for layout in (given, given.replace("\n  ", "; ").replace("{;", "{")):
            assert check(layout, max_states=20_000).verdict is found, layout


@pytest.mark.ci
def test_each_word_as_each_kind_of_name_where_there_are_invariants_and_calls() -> None:
    """Every name is renamed, each to another word; turn by turn each gets every word."""
    text = """\
node A { x = 0, a[2] = 0 }
node B { y = 0 }
macro m(p, l) { l: p = 1 }
thread T on A {
  reg r
  L: r = swap(x, 1); K: mfence
  flush B; r = nondet(0, 5)
  get x = swap(B.y, r)
  m(x, M)
  r = faa(x, 2); while r != 1 { N: r = x }
}
invariant !(T at L && T at M) || T at K || (T ended) || T.r == A.a[1] || T at N || !T ended
outcome T.r == 0 : forbidden under tso, allowed under rma
expect safe under pso
"""
    expected = canonical_text(load_program(text, "t")).splitlines()
    names = ("A", "B", "x", "a", "y", "m", "p", "l", "T", "r", "L", "K", "M", "N")
    for turn in range(len(NEW)):
        words = dict(zip(names, NEW[turn:] + NEW[:turn], strict=False))
        one_line = renamed(text, words).replace("\n  ", "; ").replace("{;", "{")
        for layout in (renamed(text, words), one_line):
            found = canonical_text(load_program(layout, "t"))
            assert [len(line.split()) for line in found.splitlines()] == [len(line.split()) for line in expected], layout
            assert canonical_text(load_program(format_source(layout, "t"), "t")) == found


REQUESTS = """\
hardware cpu tso, reads ordered
domain 0..3
node A { x = 0, a[2] = 0 }
node B { y = 0, b = 0 }
node C { z = 0 }
macro m(p, q) { send p to q inline; put B.y = p imm 1 to q; send p to q }
thread T on A {
  reg r, s = 1
  put B.y = x unsignaled; put B.y = s inline imm s to U; put B.y = a[r] fenced inline unsignaled imm (s) to U
  K: send (r + s) to U inline; send -1 to U; send x to U; send a[1] to U unsignaled; L: send(s)to U inline
  get x = cas(B.y, s, r) unsignaled fenced; get x = faa(B.y, (s)) fenced; get x = B.y fenced
  poll B 2; poll B or C; r = poll C or B; s = trypoll B
  m(x, U)
  put B.y = (x) inline
  put C.z = s inline
  x = s
}
thread U on B {
  reg r
  posted b, y from T
  N: recv b from T; rpoll T; recv y from T
  r = rpoll T; b = r
}
"""


@pytest.mark.ci
def test_each_word_as_each_kind_of_name_where_there_are_requests_and_messages() -> None:
    """Every name is renamed, each to another word; turn by turn each gets every word."""
    expected = canonical_text(load_program(REQUESTS, "t")).splitlines()
    names = ("A", "B", "C", "x", "a", "y", "b", "z", "T", "U", "r", "s", "K", "L", "N", "m", "p", "q")
    for turn in range(len(NEW)):
        words = dict(zip(names, NEW[turn:] + NEW[:turn], strict=False))
        if words["m"] == "nondet":
            continue  # a macro of this name is always one, but calls of it are no statements here
        one_line = renamed(REQUESTS, words).replace("\n  ", "; ").replace("{;", "{")
        for layout in (renamed(REQUESTS, words), one_line):
            found = canonical_text(load_program(layout, "t"))
            assert [len(line.split()) for line in found.splitlines()] == [len(line.split()) for line in expected], layout
            assert canonical_text(load_program(format_source(layout, "t"), "t")) == found


@pytest.mark.parametrize("word", ["cas", "faa", "swap", "nondet"])
def test_macros_called_as_what_has_a_value(word: str) -> None:
    text = (
        f"node A {{ x }}\nmacro {word}(v) {{ x = v }}\nthread T on A {{ reg r\n{word}(2); l: {word}(3); r = swap(x, 1) }}\n"
    )
    steps = load_program(text, "t").threads[0].edges
    assert [step.text for _, _, step in steps] == ["x = 2", "x = 3", "r = swap(x, 1)"]


def test_words_beside_each_other_and_as_keywords_too() -> None:
    text = """\
const no = 0, hang = 1
node for { in = 0, macro[2] = 0, for = 2 }
node in { for = 0, no1 = 0 }

macro macro(for, in) { put in.for = 1 }
macro for(macro) { for in in no..hang { macro[in] = in } }

thread macro on for {
  reg hang1
  in = 1
  for macro1 in no..hang { macro[macro1] = no }
  for(macro)
  macro(for, in)
  macro [1] = hang
  for = no
}

expect no hang under sc, robust
"""
    program = load_program(text, "t")
    assert [s.text for _, _, s in sorted(program.threads[0].edges, key=lambda e: e[:2])] == [
        "in = 1",
        "macro[0] = no",
        "macro[1] = no",
        "macro[0] = 0",
        "macro[1] = 1",
        "put in.for = 1",
        "macro[1] = hang",
        "for = no",
    ]
    assert [e.text for e in program.expectations] == ["no hang under sc", "robust"]
    assert format_source(format_source(text, "t"), "t") == format_source(text, "t")
    assert canonical_text(load_program(format_source(text, "t"), "t")) == canonical_text(program)


FAMILIES = """\
const K = 2
node H { v = 0 }
node B[i in 0..K - 1] { w = i, s[K] = 0 }
thread F[j in 0..K - 1] on B[j] {
  reg r = j
  put H.v = w; poll H
  put B[(j + 1) % K].w = w; poll B[(j + 1) % K]
  s[j] = r
}
node M[*] { m = 1 }
thread W[*] on M[*] { reg q; q = m; put H.v = m }
thread L[* in 1..K] on H { v = K }
outcome F[1].r == 0 && B[K - 1].w == 1 : allowed under sc when K >= 2 && L == K
invariant !(F[0] ended) || B[1].s[0] == 0 || L[1] ended when F == 2
expect robust, hang under sc when L == 2
expect not robust when W >= K && L == 2
"""


@pytest.mark.ci
def test_each_word_as_each_kind_of_name_in_families_and_crowds() -> None:
    """Every name is renamed, each to another word; turn by turn each gets every word."""
    expected = canonical_text(load_program(FAMILIES, "t"))
    names = ("K", "H", "v", "B", "i", "w", "s", "F", "j", "r", "M", "m", "W", "q", "L")
    for turn in range(len(NEW)):
        words = dict(zip(names, NEW[turn:] + NEW[:turn], strict=False))
        given = renamed(FAMILIES, words)
        layouts = (given, re.sub(r"(\[[\w*]+) in ", r"\1\nin\n", given.replace("\n  ", "; ").replace("{;", "{")))
        for layout in layouts:
            found = canonical_text(load_program(layout, "t"))
            assert [len(line.split()) for line in found.splitlines()] == [
                len(line.split()) for line in expected.splitlines()
            ]
            assert canonical_text(load_program(format_source(layout, "t"), "t")) == found


def test_expect_lines_know_when_only_behind_a_claim() -> None:
    text = "const when = 1\nnode A { x = when }\nthread T on A { reg in = when; in = x }\nexpect robust when when == when"
    assert [e.text for e in load_program(text, "t").expectations] == ["robust"]
    assert format_source(text, "t").endswith("expect robust when when == when\n")
