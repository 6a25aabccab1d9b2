"""What programs have for proofs: atomics, fences and flushes, choices, labels, invariants, claims of every model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rdma_robust import check, prove
from rdma_robust.analyses.prove.safety_outcome import Safety
from rdma_robust.errors import ProgramError
from rdma_robust.expr import Const, Name
from rdma_robust.language.check.refusals import model_refusals
from rdma_robust.language.flow import cfg, claims
from rdma_robust.language.flow.canonical import canonical_text
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.language.flow.valid import complaints, valid_for_proofs
from rdma_robust.language.load import decidable, load_decidable, load_program, read_target, written_out_tree
from rdma_robust.language.syntax.formatter import format_source, format_tree
from tests.unit.language.language_support import show_edge

NODES = "node A { x = 0, y, ring[2] }\nnode B { z, any }\n"


def program(statements: str, head: str = "", tail: str = "") -> cfg.Program:
    """Load a thread `T` with these statements between declarations."""
    return load_program(f"{head}{NODES}thread T on A {{\n  reg r, q\n{statements}\n}}\n{tail}", "test.rdma")


def graph(statements: str, head: str = "") -> list[str]:
    thread = program(statements, head).threads[0]
    return sorted(show_edge(thread, *edge) for edge in cfg.steps(thread))


def errors(text: str, *, decide: bool = False) -> list[tuple[str, int, int, str]]:
    """Return what is wrong with a program: codes, places and messages."""
    try:
        (load_decidable if decide else load_program)(text, "test.rdma")
    except ProgramError as error:
        return [(d.code, d.span.line, d.span.column, d.message) for d in error.diagnostics]
    return []


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("mfence", ["0>X: MF"]),
        ("flush B", ["0>X: FLUSH B"]),
        ("swap(x, 3)", ["0>X: RMW A.x 3"]),
        ("r = faa(x, q)", ["0>X: RMW A.x (V + q) r:=V"]),
        ("faa(ring[r], 1)", ["0>D: - [!((0 <= r) && (r <= 1))] !index out of range", "0>X: RMW A.ring[0] (V + 1) [(r == 0)]",
                             "0>X: RMW A.ring[1] (V + 1) [(r == 1)]"]),
        ("r = swap(x, q / r)", ["0>D: - [!(r != 0)] !division by zero", "0>X: RMW A.x (q / r) [(r != 0)] r:=V"]),
        ("get x = cas(B.z, r, q + 1)", ["0>X: GET A.x RMW B.z (q + 1) if (V == r)"]),
        ("get x = faa(B.z, r)", ["0>X: GET A.x RMW B.z (V + r)"]),
        ("get x = swap(B.z, 2)", ["0>X: GET A.x RMW B.z 2"]),
        ("r = nondet()", ["0>X: ANY .. r:=V"]),
        ("r = nondet(q, 9)", ["0>X: ANY q..9 r:=V"]),
        ("r = nondet(1, 2)", ["0>X: - r:=1", "0>X: - r:=2"]),
        ("x = nondet(1, 2)", ["0>X: W A.x 1", "0>X: W A.x 2"]),
        ("x = nondet(0, q)", ["0>1: ANY 0..q $chosen:=V", "1>X: W A.x $chosen"]),
        ("r = x + 1; x = r * r", ["0>1: R A.x r:=(V + 1)", "1>X: W A.x (r * r)"]),
    ],
)  # fmt: skip
def test_steps_of_statements(statements: str, expected: list[str]) -> None:
    assert graph(statements) == sorted(expected)


def test_sixty_four_values_are_alternatives_and_more_are_not() -> None:
    assert len(graph("r = nondet(0, 63)")) == 64
    assert graph("r = nondet(0, 64)") == ["0>X: ANY 0..64 r:=V"]


def test_a_domain_bounds_what_is_added_and_chosen() -> None:
    few = "domain 0..2\n"
    assert graph("r = faa(x, 1)", few) == [
        "0>D: RMW A.x V if 0 [!((0 <= (V + 1)) && ((V + 1) <= 2))] !overflow",
        "0>X: RMW A.x (V + 1) [((0 <= (V + 1)) && ((V + 1) <= 2))] r:=V",
    ]
    assert graph("r = nondet()", few) == ["0>X: - r:=0", "0>X: - r:=1", "0>X: - r:=2"]
    assert graph("r = nondet(2, 3)", few) == ["0>D: - !overflow", "0>X: - r:=2"]
    assert graph("r = nondet(q + 1, 2)", few)[0].endswith("!overflow")


def test_loading_takes_what_deciding_does_not() -> None:
    text = f"{NODES}thread T on A {{ reg r\n  r = x - 1; r = r + 1\n  flush B\n  get x = swap(B.z, 1)\n  x = nondet()\n}}\n"
    loaded = load_program(text, "test.rdma")
    assert not list(complaints(loaded, proofs=True))
    assert len(list(complaints(loaded))) == 3
    told = [
        ("RR301", 4, 7, "arithmetic (`-`) in a program without a domain"),
        ("RR312", 7, 7, "`nondet` of more than 64 values, or of bounds that are no constants, is left to `prove`"),
    ]
    assert [(d.code, d.span.line, d.span.column, d.message) for d in loaded.undecided] == told
    assert errors(text, decide=True) == told
    with pytest.raises(ProgramError):
        decidable(loaded)


def test_what_is_left_to_proofs_stands_beside_errors_only_where_nothing_is_to_be_proven() -> None:
    text = f"{NODES}thread T on A {{ x = w; x = nondet() }}\n"
    assert [code for code, *_ in errors(text)] == ["RR201", "RR312"]
    assert [code for code, *_ in errors(f"{text}expect safe under sc\n")] == ["RR201"]
    assert [code for code, *_ in errors(f"{text}expect safe under sc\n", decide=True)] == ["RR201", "RR312"]


LABELS = """\
  a: skip
  b: loop { c: r = x }
  d: if r == 1 { e: skip } else { f: halt }
  choose { g: x = 1 } or { h: x = 2 }
  i: while x != 1 { }
  while 1 { j: skip }
"""


def test_every_label_has_a_place_of_its_own() -> None:
    thread = program(LABELS).threads[0]
    points = dict(thread.labels)
    assert sorted(points) == list("abcdefghij")
    assert len(set(points.values())) == 10
    texts = {name: {s.text for source, _, s in thread.edges if source == point} for name, point in thread.labels}
    assert texts["a"] == {"skip"} and texts["c"] == {"r = x"} and texts["f"] == {"halt"} and texts["g"] == {"x = 1"}


def test_labels_outlive_blocking_reads_and_listings() -> None:
    loaded = program(LABELS)
    again = blocking(loaded)
    assert again.threads[0].labels == loaded.threads[0].labels
    point = dict(loaded.threads[0].labels)["i"]
    assert len([s for source, _, s in again.threads[0].edges if source == point]) == 1
    assert "  label i = " in canonical_text(loaded)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: x = 1; a: y = 1", [("RR204", "label `a` was declared before, on line 6")]),
        ("for i in 0..1 { a: x = i }", [("RR204", "label `a` stands in several copies, and a label names one place")]),
        ("m(); m()", [("RR204", "label `in` stands in several copies, and a label names one place")]),
        ("n(a); n(b); n(c)", []),
        ("n(1)", [("RR222", "the argument for `L` is `1` here, where it must be the name of a label")]),
        ("for i in 0..0 { i: x = 1 }", []),
        ("a: reg w", [("RR101", "unexpected `reg`")]),
        ("a: b: skip", [("RR101", "unexpected `:`")]),
        ("r = nondet(3, 2)", [("RR311", "there is no value from 3 to 2")]),
        ("r = 1 + faa(x, 1)", [("RR304", "`faa` cannot be part of an expression")]),
        ("r = 1 + nondet()", [("RR304", "`nondet` cannot be part of an expression")]),
        ("x = swap(y, 1)", [("RR305", "the old value goes to a register, not to `x`")]),
        ("r = faa(B.z, 1)", [("RR308", "`B.z` is on another node: `faa` works on a variable of this node")]),
        ("flush A", [("RR401", "`A` is the node thread T itself runs on")]),
        ("flush C", [("RR202", "unknown node `C`")]),
        ("get x = cas(y, 0, 1)", [("RR402", "`get` needs a variable of another node, with the node's name")]),
        ("get x = swap(B.z, y + 1)", [("RR306", "`y` is a shared variable: a remote `swap` takes operands along when it is "
                                       "posted, but for a variable that stands alone")]),
        ("nondet()", [("RR219", "there is no macro `nondet`")]),
    ],
)  # fmt: skip
def test_messages(text: str, found: list[tuple[str, str]]) -> None:
    macros = "macro m() { in: skip }\nmacro n(L) { L: skip }\n"
    told = errors(f"{macros}{NODES}thread T on A {{ reg r\n{text}\n}}\nexpect safe under sc\n")
    assert [(code, message) for code, _, _, message in told] == found


def test_invariants_stand_anywhere_and_name_threads_nodes_and_labels() -> None:
    tail = "thread U on B { w: flush A }\ninvariant !(T at a && U at w) || T ended || T.r + 1 == A.ring[1]\n"
    loaded = program("a: skip", "invariant U ended || B.z / B.any == 0\n", tail)
    first, second = loaded.invariants
    assert first.atoms == (("U ended", claims.EndedAtom("U")),)
    assert second.atoms == (
        ("T at a", claims.PointAt("T", "a")),
        ("U at w", claims.PointAt("U", "w")),
        ("T ended", claims.EndedAtom("T")),
    )
    assert second.text == "invariant !(T at a && U at w) || T ended || T.r + 1 == A.ring[1]"
    assert not [w for w in loaded.warnings if "label" in w.message]
    never = program("halt\n a: x = 1", tail="invariant !(T at a)\n")
    assert never.threads[0].labels == () and never.invariants[0].condition == Const(1)


@pytest.mark.parametrize(
    ("condition", "code", "message"),
    [
        ("T at b", "RR224", "thread T has no label `b`"),
        ("V at a", "RR217", "there is no thread `V`"),
        ("A ended", "RR217", "there is no thread `A`"),
        ("r == 0", "RR502", "`r` is not a constant; an invariant names `Thread.register` and `Node.variable`"),
        ("T at", "RR101", "unexpected `at`"),
        ("T.r at a", "RR101", "unexpected `at`"),
    ],
)
def test_wrong_invariants(condition: str, code: str, message: str) -> None:
    (found,) = errors(f"{NODES}thread T on A {{ reg r\n a: r = x }}\ninvariant {condition}\n")
    assert (found[0], found[3]) == (code, message)


def test_a_label_nobody_names_is_warned_of() -> None:
    told = [w.message for w in program("a: x = 1\n b: y = 1", tail="invariant T at b\n").warnings]
    assert "label `T.a` is never used" in told and "label `T.b` is never used" not in told


def test_targets_know_labels() -> None:
    loaded = program("a: skip\n b: x = 1")
    (name, atom), *_ = read_target(loaded, "T at a || T ended").atoms
    assert (name, atom) == ("T at a", type(atom)("T", (dict(loaded.threads[0].labels)["a"],)))
    assert read_target(load_program("node faa { x }\nthread swap on faa { x = 1 }", "t"), "faa.x == 1 && swap ended").atoms
    with pytest.raises(ProgramError, match="no label"):
        read_target(loaded, "T at c")


def test_claims_of_every_model() -> None:
    claims = ", ".join(f"forbidden under {model}" for model in ("sc", "tso", "pso", "rma", "rdma"))
    text = f"outcome A.x == 0 : {claims}\nexpect robust\nexpect safe under tso, unsafe under rma, no hang under sc\n"
    loaded = program("x = 1", tail=text)
    assert [c.model for c in loaded.outcomes[0].claims] == ["sc", "tso", "pso", "rma", "rdma"]
    assert [e.text for e in loaded.expectations] == ["robust", "safe under tso", "unsafe under rma", "no hang under sc"]
    wrong = "thread T on A { x = 1 }\nexpect safe under rma\nexpect unsafe under rma, safe under rma\n"
    assert [(line, message) for _, line, _, message in errors(f"{NODES}{wrong}")] == [
        (5, "`expect unsafe under rma` contradicts `expect safe under rma` at 4:8"),
        (5, "`expect safe under rma` is said twice; the first is at 4:8"),
    ]


def test_layout_of_what_is_new() -> None:
    written = """\
macro e() { }
macro m(L) { reg q
L:q=x }
node A { x }
node B { y }
thread T on A { reg r
 a :  r=x // one
 b: /* two */ if r==1 { c:skip } else { d: r=faa( x,1) }
 e();f:e()
 h:m(k) ; i: for z in 0..1 { r = z }
 l: loop { o: swap(x,1) }
 get x=cas( B.y,r,1 ) ; flush   B;mfence; r=nondet( 0,r ); r=nondet( )
 u:e() }
invariant !( T at  a)&&( T   ended||B.y==0 )
expect safe  under tso,unsafe under rma
"""
    formatted = format_source(written, "t")
    assert (
        formatted
        == """\
macro e() { }
macro m(L) {
  reg q
  L: q = x
}
node A { x }
node B { y }
thread T on A {
  reg r
  a: r = x // one
  /* two */
  b: if r == 1 { c: skip } else { d: r = faa(x, 1) }
  e()
  f: e()
  h: m(k)
  i: for z in 0..1 { r = z }
  l: loop { o: swap(x, 1) }
  get x = cas(B.y, r, 1)
  flush B
  mfence
  r = nondet(0, r)
  r = nondet()
  u: e()
}
invariant !(T at a) && (T ended || B.y == 0)
expect safe under tso, unsafe under rma
""".replace("x // one", "x  // one")
    )
    assert format_source(formatted, "t") == formatted
    expanded = format_tree(written_out_tree(written, "t"))
    assert "  f: skip\n" in expanded and "  k: m_q = x\n" in expanded and expanded.rstrip().endswith("unsafe under rma")
    graphs = [canonical_text(load_program(text, "t")) for text in (written, formatted, expanded)]
    assert graphs[0] == graphs[1] == graphs[2]


REMOTE = "put B.z = x; get x = B.z; poll B; rfence B; flush B; get x = faa(B.z, 1)"


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("sc", []),
        ("tso", ["put", "get", "poll", "rfence", "flush", "get"]),
        ("pso", ["put", "get", "poll", "rfence", "flush", "get"]),
        ("rma", ["poll", "rfence"]),
        ("rdma", ["get"]),
    ],
)
def test_what_a_model_does_not_have(model: claims.AnyModelName, words: list[str]) -> None:
    loaded = program(f"{REMOTE}; cas(x, 0, 1); mfence; faa(x, 1)")
    found = model_refusals(loaded, model)
    assert [loaded.source[d.span.start : d.span.end].split()[0] for d in found] == words
    assert {d.code for d in found} <= {"RR408"}


def test_the_words_of_refusals() -> None:
    loaded = program(REMOTE)
    assert model_refusals(loaded, "tso")[0].message == (
        "`put` needs a network: model tso is one shared memory; use --model rma or rdma"
    )
    assert model_refusals(loaded, "rma")[0].message == (
        "`poll` counts completions, which model rma does not have; use `flush B`"
    )


def test_labels_and_invariants_of_programs_built_by_hand() -> None:
    loaded = program("a: x = 1", tail="invariant T at a || A.x == 1 || T ended\n")
    thread, line = loaded.threads[0], loaded.invariants[0]
    assert not list(complaints(loaded))
    for wrong, said in (
        (replace(loaded, threads=(replace(thread, labels=(("a", 9),)),)), "label `a` of thread T is at point 9"),
        (replace(loaded, threads=(replace(thread, labels=(("a", 0), ("a", 1))),)), "label `a` is declared 2 times"),
        (replace(loaded, invariants=(replace(line, atoms=()),)), "in an invariant, unknown name `T at a`"),
        (replace(loaded, invariants=(replace(line, atoms=(("T at a", claims.PointAt("T", "b")),)),)), "no label `b`"),
        (
            replace(loaded, invariants=(replace(line, atoms=(("A.x", claims.EndedAtom("U")),)),)),
            "thread `U`, which there is",
        ),
    ):
        assert said in "; ".join(map(str, complaints(wrong)))


def test_programs_built_by_hand_are_refused_too() -> None:
    loaded = program("x = 1")
    thread = loaded.threads[0]

    def with_step(step: cfg.Step) -> cfg.Program:
        return replace(loaded, threads=(replace(thread, edges=((thread.entry, thread.exit, step),)),))

    drawn = with_step(cfg.Step(cfg.Nondet(), assigns=(("r", Name("$value")),)))
    assert "left to `prove`" in "".join(map(str, complaints(drawn)))
    assert not list(complaints(drawn, proofs=True))
    assert len(valid_for_proofs(drawn).undecided) == 1
    with pytest.raises(ProgramError):
        check(drawn)
    assert prove(with_step(cfg.Step(cfg.Flush("B"))), "rma").safety is Safety.SAFE


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        *(("cpu tso", True), ("order multipath", True), ("reads ordered", True)),
        *(("cpu sc, order default", False), ("reads unordered", False)),
    ],
)
def test_other_hardware_than_that_of_the_machine_is_refused(line: str, refused: bool) -> None:
    """`prove` said SAFE of the paper's network where a program names another one."""
    text = f"hardware {line}\nnode A {{ v }}\nnode B {{ x }}\nthread T on A {{\n  put B.x = v\n  put B.x = v\n}}\n"
    found = model_refusals(load_program(text, "p.rdma"), "rdma")
    assert [each.code for each in found] == ["RR408"] * refused
    assert not model_refusals(load_program(text.replace("put B.x = v", "v = 1"), "p.rdma"), "tso")
