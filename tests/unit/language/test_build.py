"""Programs made in Python are those of the texts, and what is wrong with them is said.

More than 400 lines: every statement and declaration of the language in one table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import get_args

import pytest

from rdma_robust import Span, Verdict, check, reach, verify
from rdma_robust.analyses.explain.compose import explanation
from rdma_robust.analyses.repair.plan import repair_program
from rdma_robust.analyses.safety.verify import Status
from rdma_robust.build import ProgramBuilder, Relaxed, Sync, ThreadBuilder
from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.exports import ExportOptions, export_program
from rdma_robust.expr import TRUE, VALUE, Binary, Const, Expr, Ite, Name, Unary
from rdma_robust.language.flow import cfg, claims
from rdma_robust.language.flow.canonical import canonical_text, same_program
from rdma_robust.language.flow.valid import complaints
from rdma_robust.language.load import has_text, load_program, parse_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import all_statements
from rdma_robust.options import CheckOptions
from rdma_robust.semantics.machines.outcomes import explore_outcomes
from rdma_robust.teaching.explorer.session import Session
from tests.support.random_programs import SMALL, random_program
from tests.support.rebuilt import rebuilt
from tests.support.shares import share
from tests.unit.language.language_support import load


@pytest.mark.parametrize("loops", share([True, False], 2))
def test_statements_make_the_graphs_of_the_text(loops: bool) -> None:
    for seed in range(80):
        text = random_program(Random(seed), replace(SMALL, atomics=seed % 2 == 0), loops=loops)
        program = rebuilt(text)
        assert same_program(program, load_program(text, "p")), text
        assert has_text(program)


@pytest.mark.parametrize("loops", share([True, False], 2))
def test_automata_do_what_the_text_does(loops: bool) -> None:
    verdicts = set()
    for seed in range(30):
        text = random_program(Random(seed), replace(SMALL, atomics=seed % 2 == 0), loops=loops)
        built, loaded = rebuilt(text, automata=True), load_program(text, "p")
        outcomes = [check(p, max_states=3_000, ordered_reads=seed % 2 == 0) for p in (built, loaded)]
        assert outcomes[0].verdict is outcomes[1].verdict, text
        assert outcomes[0].spin_only is outcomes[1].spin_only, text
        verdicts.add(outcomes[0].verdict)
        if not loops:
            ours, theirs = (explore_outcomes(p) for p in (built, loaded))
            assert {s.values for s in ours.only_rdma} == {s.values for s in theirs.only_rdma}, text
    assert {Verdict.ROBUST, Verdict.NOT_ROBUST} <= verdicts


def test_what_is_for_proofs() -> None:
    builder = ProgramBuilder("ticket")
    builder.node("A", turn=0, x=0)
    builder.node("B", y=0)
    thread = builder.thread("T", on="A", r=0)
    with thread.loop():
        thread.label("cs").faa("turn", 1, into="r").label("done")
    thread.flush("B").mfence().nondet("r").nondet("x", 0, "r").label("end")
    automaton = builder.automaton("U", "A", "a", "b", r=2)
    automaton.edge("a", "b", "x = nondet(0, r)", when="r == 1")
    builder.invariant("!(T at cs) || T at done || T at end || A.x == 0").expect_safe("tso").expect_safe("rma", safe=False)
    builder.outcome("A.x == 0", tso="forbidden", rma="allowed")
    assert builder.text.splitlines()[3:] == [
        "thread T on A {",
        "  reg r = 0",
        "  loop {",
        "    cs: r = faa(turn, 1)",
        "    done: skip",
        "  }",
        "  flush B",
        "  mfence",
        "  r = nondet()",
        "  x = nondet(0, r)",
        "  end: skip",
        "}",
        "thread U on A {",
        "  reg r = 2",
        "  assume r == 1",
        "  x = nondet(0, r)",
        "}",
        "invariant !(T at cs) || T at done || T at end || A.x == 0",
        "expect safe under tso",
        "expect unsafe under rma",
        "outcome A.x == 0 : forbidden under tso, allowed under rma",
    ]
    program = builder.program()
    assert [e.text for e in program.expectations] == ["safe under tso", "unsafe under rma"]
    assert [name for name, _ in program.threads[0].labels] == ["cs", "done", "end"]
    edges = [
        (source, target, type(step.op).__name__, step.guard != TRUE) for source, target, step in program.threads[1].edges
    ]
    assert edges == [(0, 1, "Nondet", True), (1, 2, "Write", False)]
    assert len(program.undecided) == 4


def store_buffering(*, polled: bool = False) -> cfg.Program:
    """Return a program that never was a text: two automata that tell each other and look."""
    builder = ProgramBuilder("built", domain=(0, 3))
    builder.node("A", x=0, s=0)
    builder.node("B", y=0, s=0)
    for name, on, to, own in (("T", "A", "B.y", "x"), ("U", "B", "A.x", "y")):
        automaton = builder.automaton(name, on, "idle", "done", r=0, at=Span.of_line("model.c", 3))
        automaton.edge("idle", "told", f"put {to} = 1", at=Span.of_line("model.c", 7))
        if polled:
            automaton.edge("told", "flushed", f"get s = {to}").edge("flushed", "p1", f"poll {to[0]}").edge(
                "p1", "ready", f"poll {to[0]}"
            )
        automaton.edge("ready" if polled else "told", "done", f"r = {own}", at=Span.of_line("model.c", 9))
    builder.outcome("T.r == 0 && U.r == 0", sc="forbidden")
    return builder.program("built.c")


def test_a_program_without_text_can_be_asked_everything() -> None:
    program = store_buffering()
    outcome = check(program, self_check=True)
    assert outcome.verdict is Verdict.NOT_ROBUST
    assert set(outcome.checked_by) >= {"axioms", "paper", "brute force"}
    assert check(store_buffering(polled=True)).verdict is Verdict.ROBUST
    assert program.source == canonical_text(program)
    told = explanation(outcome, CheckOptions())
    assert told.verdict == "not-robust"
    assert {mark.line for mark in told.lines} <= {n for n, line in enumerate(program.source.split("\n"), 1) if "->" in line}
    for form in ("promela", "spec", "dot", "json"):
        assert export_program(program, ExportOptions(form)).text  # type: ignore[arg-type]
    assert len(explore_outcomes(program).only_rdma) == 1
    assert verify(program).status is Status.HOLDS
    assert reach(program, "T ended && U ended && T.r == 0 && U.r == 0").answer.value == "reachable"
    assert Session(program).about().source == tuple(program.source.splitlines())
    assert Session(program).fingerprint != Session(store_buffering(polled=True)).fingerprint
    with pytest.raises(UsageError, match="a repair edits the text of a program, and this one"):
        repair_program(program)


def test_a_repair_is_for_programs_that_do_what_their_text_does() -> None:
    plain = load_program("node A { x }\nnode B { y }\nthread T on A { x = 1; put B.y = x; x = 2 }", "p.rdma")
    assert repair_program(plain).status == "repaired"
    with pytest.raises(UsageError, match=r"^p.rdma: a repair edits"):
        repair_program(replace(plain, threads=plain.threads * 1, cells=plain.cells[:1]))


def test_spans_say_where_a_step_came_from() -> None:
    steps = [step for _, _, step in cfg.steps(store_buffering().threads[0])]
    assert [(s.span.file, [(o.file, o.line) for o in s.span.chain()]) for s in steps] == [
        ("built.c", [("model.c", 7)]),
        ("built.c", [("model.c", 9)]),
    ]
    builder = ProgramBuilder("p")
    builder.node("A", ["x"])
    macro = replace(Span.of_line("macro.h", 4), origin=Span.of_line("main.c", 30))
    builder.thread("T", "A").write("x", 1).write("z", 2, at=macro)
    with pytest.raises(ProgramError) as caught:
        builder.program()
    assert str(caught.value).split("\n") == [
        "p:5:3: error: unknown name `z` [RR201]",
        "  5 |   z = 2",
        "    |   ^",
        "  expanded from macro.h:4",
        "  expanded from main.c:30",
        "  hint: declare it first: `reg z` here, or a variable in `node A`",
    ]
    loaded = load("x = 1")
    assert (
        {s.span.file for _, _, s in cfg.steps(loaded.threads[0])} == {"test.rdma"} == {w.span.file for w in loaded.warnings}
    )


def blocks(thread: ThreadBuilder) -> None:
    with thread.when("r == 0"), thread.loop_while("r > 1"):
        thread.assign("r", "r - 1")
    with thread.otherwise(), thread.loop():
        thread.halt()
    with thread.choose() as choice:
        with choice.branch():
            thread.skip()
        with choice.branch():
            thread.mfence()


Said = Callable[[ThreadBuilder], object]

STATEMENTS: list[tuple[str, Said]] = [
    ("qp bulk to B, ctl to B depth 2", lambda t: t.qp("bulk", "B").qp("ctl", "B", depth=2)),
    ("posted b from U on back", lambda t: t.posted("b", sender="U", on="back")),
    ("put B.y = x unsignaled fenced on bulk", lambda t: t.put("B.y", "x", unsignaled=True, fenced=True, on="bulk")),
    ("put B.y = r + 1 inline imm 1 to U", lambda t: t.put("B.y", "r + 1", inline=True, imm=1, to="U")),
    ("get x = B.y on ctl", lambda t: t.get("x", "B.y", on="ctl")),
    ("get x = fetch(B.y)", lambda t: t.get("x", "fetch(B.y)")),
    ("get x = swap(B.y, 2) fenced", lambda t: t.get("x", "swap(B.y, 2)", fenced=True)),
    ("faa(B.y, 1) on bulk", lambda t: t.faa("B.y", 1, on="bulk")),
    ("cas(B.y, 0, 1) unsignaled", lambda t: t.cas("B.y", 0, 1, unsignaled=True)),
    ("swap(B.y, r)", lambda t: t.swap("B.y", "r")),
    ("send x to U on ctl", lambda t: t.send("x", "U", on="ctl")),
    ("recv b from U", lambda t: t.recv("b", "U")),
    ("recv b from U on back", lambda t: t.recv("b", "U", on="back")),
    ("rpoll U", lambda t: t.rpoll("U")),
    ("r = rpoll U on back", lambda t: t.rpoll("U", into="r", on="back")),
    ("poll bulk 2", lambda t: t.poll("bulk", times=2)),
    ("r = poll bulk or ctl or B", lambda t: t.poll("bulk", "ctl", "B", into="r")),
    ("r = trypoll ctl", lambda t: t.trypoll("r", "ctl")),
    ("rfence bulk", lambda t: t.rfence("bulk")),
    ("flush bulk", lambda t: t.flush("bulk")),
    ("order B", lambda t: t.order("B")),
    ("barrier T, U", lambda t: t.barrier("T", "U")),
    ("barrier", lambda t: t.barrier()),
    ("start U", lambda t: t.start("U")),
    ("join U", lambda t: t.join("U")),
    ("mfence", lambda t: t.mfence()),
    ("here: await x == 1", lambda t: t.label("here").await_("x == 1")),
    ("assume x == 1", lambda t: t.assume("x == 1")),
    ("assert r == 1", lambda t: t.check("r == 1")),
    ("r = cas(x, 0, 1)", lambda t: t.cas("x", 0, 1, into="r")),
    (
        "if r == 0 { while r > 1 { r = r - 1 } } else { loop { halt } }; choose { skip } or { mfence }",
        blocks,
    ),
]

OF_TEXTS = {ast.For, ast.MacroCall, ast.BrokenStatement}
"""What no builder says: Python makes copies itself, and what is broken is no statement."""


def test_the_builder_says_every_statement_of_the_language() -> None:
    declared = "domain 0..9\nnode A { sync relaxed x = 1, b }\nnode H {}\nnode B via H { y }\n"
    seen: set[type] = set()
    for written, said in STATEMENTS:
        builder = ProgramBuilder("p", domain=(0, 9))
        builder.node("A", x=Sync(Relaxed(1)), b=0)
        builder.node("H")
        builder.node("B", y=0, via="H")
        said(builder.thread("T", "A", r=0))
        text = f"program p\n{declared}thread T on A {{\n reg r = 0\n {written} }}"
        built, parsed = (list(all_statements(parse_program(each, "p"))) for each in (builder.text, text))
        if not isinstance(parsed[1], ast.Lanes):
            assert built == parsed
        assert [lane for s in built if isinstance(s, ast.Lanes) for lane in s.lanes] == [
            lane for s in parsed if isinstance(s, ast.Lanes) for lane in s.lanes
        ]
        seen |= {type(each) for each in built}
    assert seen == set(get_args(ast.Statement)) - OF_TEXTS


Wrong = Callable[[ProgramBuilder], object]


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda b: b.thread("T", "A").put("B.z", "x"), ProgramError, "node B has no variable `z`"),
        (lambda b: b.thread("T", "A").poll("A"), ProgramError, "is the node thread T itself runs on"),
        (lambda b: b.thread("T", "A").assume("x == y"), ProgramError, "is on another node"),
        (lambda b: b.thread("T", "A").write("x", "x + 1"), ProgramError, "is a shared variable"),
        (lambda b: b.thread("T", "C"), ProgramError, "unknown node `C`"),
        (lambda b: b.thread("T", "A", x=0), ProgramError, "has the name of a variable of node A"),
        (lambda b: b.thread("T", "A").statement("x = = 1"), ProgramError, "unexpected `=`"),
        (lambda b: b.thread("T", "A").statement("x = 1\nthread U on A {"), UsageError, "a part of one line"),
        (lambda b: b.thread("T", "A").statement("x = 1 // }"), UsageError, "a part of one line"),
        (lambda b: b.thread("T", "A").write("x", 1.5), UsageError, "it must be a number"),
        (lambda b: b.thread("T", "A").otherwise().__enter__(), UsageError, "must follow a block of `when`"),
        (lambda b: b.thread("T", "A").choose().__enter__().branch().__enter__().poll("C"), ProgramError, "unexpected end"),
        (lambda b: b.node("two words"), UsageError, "is no name for a node"),
        (lambda b: b.thread("T", "A").qp("l", "B", depth=0), ProgramError, "`0` is no depth of a send queue"),
        (lambda b: b.thread("T", "A").put("B.y", "x", on="q[i]"), UsageError, "is no name of a lane"),
        (lambda b: b.thread("T", "A").put("B.y", "x", on="bulk"), ProgramError, "this thread has no lane `bulk`"),
        (lambda b: b.outcome("A.x == 1"), UsageError, "an outcome without a claim"),
        (lambda b: b.outcome("A.q == 1", sc="allowed"), ProgramError, "A has no variable `q`"),
        (lambda b: b.automaton("T", "A", "p", "q").edge("q", "p"), UsageError, "no edge leaves it"),
        (
            lambda b: b.automaton("T", "A", "p", "q").edge("pp", "q"),
            UsageError,
            "never comes to location `pp`; did you",
        ),
        (lambda b: b.automaton("T", "A", "p", "q").edge("p", "q", "reg r"), UsageError, "`reg` is no action"),
        (lambda b: b.automaton("T", "A", "p", "q").edge("p", "q", "x = 1", when="x"), ProgramError, "a guard is made of"),
        (lambda b: b.automaton("T", "A", "p", "q").edge("p", "q", "x = = 1", when="1"), ProgramError, "unexpected"),
        # Lines that would take in the next one: two edges would be one statement.
        (lambda b: b.automaton("T", "A", "p", "q").edge("p", "q", "cas(x, 0,").edge("p", "q", "1)"), UsageError, "be whole"),
        (lambda b: b.automaton("T", "A", "p", "q").edge("p", "q", "x = 1 +"), UsageError, "be whole"),
        (lambda b: b.automaton("T", "A", "p", "q").edge("p", "q", "skip", when="(1"), UsageError, "be whole"),
        (lambda b: b.automaton("T", "A", "p", "q").edge("p", "q", 5), ProgramError, "unexpected"),
        (lambda _: ProgramBuilder("p", domain=(0, 1.5)), UsageError, "a bound of the domain is 1.5: it must be a number"),
        (lambda b: b.automaton("T", "A", "p", "q").edge("p", "q", "x = 1 + w"), ProgramError, "unknown name `w`"),
    ],
)
def test_what_is_wrong_is_said(wrong: Wrong, error: type[Exception], message: str) -> None:
    builder = ProgramBuilder("p")
    builder.node("A", x=0)
    builder.node("B", y=0)
    with pytest.raises(error, match=message):
        wrong(builder)
        builder.program()


def changed(step: cfg.Step) -> cfg.Program:
    """Return a program whose first step is `step`."""
    program = load("x = 1; put B.z = 1")
    thread = program.threads[0]
    edges = tuple((source, target, step if source == thread.entry else old) for source, target, old in cfg.steps(thread))
    return replace(program, threads=(replace(thread, edges=edges),))


A, B = cfg.Cell("A", "x"), cfg.Cell("B", "z")
R = Name("r")


def step(op: cfg.Op, guard: Expr = TRUE, **more: object) -> cfg.Step:
    return cfg.Step(op, guard, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (step(cfg.Read(B)), "`B.z` is on another node"),
        (step(cfg.Write(cfg.Cell("A", "nothing"), Const(1))), "no variable `A.nothing`"),
        (step(cfg.Write(cfg.Cell("A", "x", 7), Const(1))), "no variable `A.x` like this"),
        (step(cfg.Write(A, Name("w"))), "unknown name `w`"),
        (step(cfg.Write(A, VALUE)), "where nothing is read"),
        (step(cfg.Write(A, Binary("+", R, Const(1)))), "may leave the domain"),
        (step(cfg.Write(A, Binary("/", R, Name("q")))), "divides by what may be zero"),
        (step(cfg.Write(A, Ite(R, R, R))), "no choice inside"),
        (step(cfg.Write(A, Binary("&", R, R))), "unknown operator `&`"),
        (step(cfg.Silent(), Binary("/", R, Name("q"))), "the guard divides"),
        (step(cfg.Silent(), VALUE), "where nothing is read"),
        (step(cfg.Cas(A, Const(0), Const(1)), VALUE), "where nothing is read"),
        (step(cfg.Read(A), assigns=(("w", VALUE),)), "unknown register `w`"),
        (step(cfg.Read(A), assigns=(("r", VALUE), ("r", VALUE))), "assigned twice"),
        (step(cfg.Poll("B"), assigns=(("r", Const(1)),)), "only steps that read"),
        (step(cfg.Poll("A")), "its own node"),
        (step(cfg.RFence("C")), "unknown node `C`"),
        (step(cfg.Put(A, A)), "its own node"),
        (step(cfg.Get(A, cfg.Cell("A", "const 1", 1, hidden=True))), "hidden constant"),
        (step(cfg.Silent(), fault=cfg.Fault("overflow", "", Span(1, 1, 1, 1, 0, 0))), "overflow ends the execution"),
        (step(cfg.Poll("B"), fault=cfg.Fault("assertion", "", Span(1, 1, 1, 1, 0, 0))), "does nothing but read"),
    ],
)
def test_steps_that_no_text_makes_are_refused(bad: cfg.Step, message: str) -> None:
    assert list(complaints(changed(step(cfg.Silent())))) == []
    with pytest.raises(ProgramError, match=message):
        check(changed(bad))


def test_programs_that_no_text_makes_are_refused() -> None:
    program = load("x = r; r = x")
    thread = program.threads[0]
    deep: Expr = R
    for _ in range(3_000):
        deep = Unary("!", deep)
    loop = (*thread.edges, (thread.exit, 0, cfg.Step(cfg.Silent())))
    astray = (*thread.edges, (0, 70, cfg.Step(cfg.Silent())))
    for bad, message in (
        (replace(program, nodes=("A", "A", "B")), "node `A` is declared 2 times"),
        (replace(program, nodes=("A",)), "on a node that is not declared"),
        (replace(program, domain=(3, 0)), "the domain 3..0 is empty"),
        (replace(program, cells=(*program.cells, program.cells[0])), "`A.x` is declared 2 times"),
        (replace(program, cells=(*program.cells, cfg.Cell("A", "a b"))), "`a b` is no name for a variable"),
        (replace(program, cells=(*program.cells, cfg.Cell("A", "big", 1.5))), "is no integer"),  # type: ignore[arg-type]
        (replace(program, cells=(*program.cells, cfg.Cell("A", "big", True))), "the initial value of `A.big` is no integer"),
        (replace(program, cells=(*program.cells, cfg.Cell("A", "big", 10**18))), "is no integer"),
        (replace(program, threads=(replace(thread, registers=(("r", 1.5),)),)), "of register `T.r` is no integer"),  # type: ignore[arg-type]
        (replace(program, domain=(0, 1.5)), "no pair of integers"),  # type: ignore[arg-type]
        (changed(step(cfg.Silent(), Const(True))), "True is no integer"),
        (replace(program, cells=(*program.cells, cfg.Cell("A", "v[1]"))), "array `A.v` is not whole"),
        (replace(program, cells=(*program.cells, cfg.Cell("A", "x[0]"))), "array `A.x` is not whole"),
        (replace(program, threads=(thread, thread)), "thread `T` is declared 2 times"),
        (replace(program, threads=(replace(thread, node="C"),)), "which is no node"),
        (replace(program, threads=(replace(thread, exit=77),)), "which its graph does not have"),
        (replace(program, threads=(replace(thread, entry=-1),)), "-1 is no program point"),
        (replace(program, threads=(replace(thread, edges=loop),)), "goes on from its exit"),
        (
            replace(program, threads=(replace(thread, edges=astray),)),
            "begins or ends at point 70, which its graph does not have",
        ),
        (
            replace(
                program,
                threads=(replace(thread, name="A", registers=(("x", 0),), edges=()),),
                outcomes=(claims.OutcomeLine(Name("A.x"), (), program.warnings[0].span, ""),),
            ),
            "`A.x` is both a register and a variable",
        ),
        (changed(step(cfg.Silent(), deep)), "more than 400 levels"),
        (
            replace(program, outcomes=(claims.OutcomeLine(Name("A.q"), (), program.warnings[0].span, ""),)),
            "unknown name `A.q`",
        ),
    ):
        with pytest.raises(ProgramError, match=message):
            check(bad)


def test_every_text_makes_a_valid_program() -> None:
    for seed in range(60):
        program = load_program(random_program(Random(seed), SMALL, loops=True), "p")
        assert list(complaints(program)) == []
