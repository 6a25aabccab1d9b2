"""The program of the language description, completely; and what else its rules allow."""

from __future__ import annotations

import pytest

from rdma_robust.expr import Binary, Const, Name
from rdma_robust.language.flow import cfg, claims
from rdma_robust.language.flow.spinning import waits
from rdma_robust.language.load import load_program, parse_program
from rdma_robust.language.syntax import ast
from tests.unit.language.language_support import errors_of, show, show_edge

EXAMPLE = """\
// comments: // to end of line, /* block */
program mp_polled                 // optional name; default: the file's stem
const N = 2                       // named integer constants
domain 0..3                       // optional value range; required once a program does arithmetic

node A { data = 0, flag = 0, one = 1, ring[N] = 0 }   // variables, arrays, initial values (default 0)
node B { buf = 0, ready = 0 }

thread T1 on A {
  reg r0, r1 = 5                  // registers, private to the thread, initially 0 unless given
  data = 1                        // local write of an expression over registers and constants
  r0 = data                       // local read
  r1 = r0 + 1                     // register arithmetic: + - * / % == != < <= > >= && || ! ( )
  r0 = cas(flag, 0, r1)           // local compare-and-swap: returns the old value; also as a bare statement
  put B.buf = data                // remote write: B.buf := data (source: a variable of this node)
  put B.ready = 1                 // shorthand: reads a hidden read-only cell of this node holding 1
  get data = B.buf                // remote read: data := B.buf
  poll B                          // wait for the earliest unpolled operation towards B
  rfence B                        // remote fence towards B
  ring[r0] = 2                    // array index: an expression over registers and constants
  assume flag == 1                // block until true (also spelt `await`); at most one shared read, an lR event
  assert r0 <= r1                 // safety property; same form as assume
  if r0 == 0 { skip } else { data = 2 }
  while flag != 1 { }             // each evaluation reads `flag` once
  loop { put B.buf = data }       // any number of times, also zero
  choose { skip } or { data = 0 } // non-deterministic choice, two or more branches
  halt                            // end this thread
}
thread T2 on B { reg r; assume ready == 1; r = buf }   // statements end at a newline or ';'

outcome T2.r == 0 && A.flag == 0 : forbidden under sc, allowed under rdma   // about final states
expect not robust                 // expected verdict: `robust` or `not robust`
"""


@pytest.fixture(scope="module")
def example() -> cfg.Program:
    return load_program(EXAMPLE, "some/folder/example.rdma")


def test_declarations(example: cfg.Program) -> None:
    assert (example.name, example.file, example.source) == ("mp_polled", "some/folder/example.rdma", EXAMPLE)
    assert example.nodes == ("A", "B")
    assert [f"{c}={c.init}" for c in example.cells if not c.hidden] == [
        "A.data=0",
        "A.flag=0",
        "A.one=1",
        "A.ring[0]=0",
        "A.ring[1]=0",
        "B.buf=0",
        "B.ready=0",
    ]
    assert example.cells[-1] == cfg.Cell("A", "const 1", 1, hidden=True)
    assert [(t.name, t.node, t.registers) for t in example.threads] == [
        ("T1", "A", (("r0", 0), ("r1", 5))),
        ("T2", "B", (("r", 0),)),
    ]
    assert (example.domain, example.expect_robust, example.allow_loopback) == ((0, 3), False, False)


def test_outcomes(example: cfg.Program) -> None:
    (line,) = example.outcomes
    register, cell = Binary("==", Name("T2.r"), Const(0)), Binary("==", Name("A.flag"), Const(0))
    assert line.condition == Binary("&&", register, cell)
    assert line.claims == (claims.OutcomeClaim(False, "sc"), claims.OutcomeClaim(True, "rdma"))
    assert line.text == "outcome T2.r == 0 && A.flag == 0 : forbidden under sc, allowed under rdma"
    assert EXAMPLE[line.span.start : line.span.end] == line.text


def test_warnings(example: cfg.Program) -> None:
    assert [(d.severity, d.span.line, d.message) for d in example.warnings] == [
        ("warning", 6, "variable `A.one` is never used"),
        ("warning", 10, "the initial value 5 is outside the domain 0..3"),
    ]


def test_graphs(example: cfg.Program) -> None:
    first, second = ([show_edge(t, *edge) for edge in cfg.steps(t)] for t in example.threads)
    assert first == [
        "0>1: W A.data 1",
        "1>2: R A.data r0:=V",
        "2>3: - [((0 <= (r0 + 1)) && ((r0 + 1) <= 3))] r1:=(r0 + 1)",
        "2>D: - [!((0 <= (r0 + 1)) && ((r0 + 1) <= 3))] !overflow",
        "3>4: CAS A.flag 0 r1 r0:=V",
        "4>5: PUT B.buf A.data",
        "5>6: PUT B.ready A.const 1",
        "6>7: GET A.data B.buf",
        "7>8: POLL B",
        "8>9: NF B",
        "9>10: W A.ring[0] 2 [(r0 == 0)]",
        "9>10: W A.ring[1] 2 [(r0 == 1)]",
        "9>D: - [!((0 <= r0) && (r0 <= 1))] !index out of range",
        "10>11: R A.flag [(V == 1)]",
        "11>12: - [(r0 <= r1)]",
        "11>12: - [!(r0 <= r1)] !assertion",
        "12>13: - [(r0 == 0)]",
        "12>14: - [!(r0 == 0)]",
        "13>13: R A.flag [(V != 1)]",
        "13>15: R A.flag [!(V != 1)]",
        "14>13: W A.data 2",
        "15>15: PUT B.buf A.data",
        "15>16: -",
        "16>X: -",
        "16>X: W A.data 0",
    ]
    assert second == ["0>1: R B.ready [(V == 1)]", "1>X: R B.buf r:=V"]
    assert waits(example)


def program_of(text: str) -> cfg.Program:
    return load_program(text, "dir/my-file.rdma")


def test_defaults() -> None:
    program = program_of("node M { }\nnode A { x, y = 1 }\nthread T on M { }\n")
    assert (program.name, program.domain, program.expect_robust, program.outcomes) == ("my-file", None, None, ())
    assert [c.init for c in program.cells] == [0, 1]
    thread = program.threads[0]
    assert (thread.entry, thread.exit, cfg.steps(thread)) == (0, 0, [])
    assert program_of("").threads == ()


def test_constant_expressions() -> None:
    program = program_of("const N = 2, M = -N * (3 - 1) % 3\ndomain M - 1..N + 8\nnode A { a[N + 1] = -M, b = N / 2 == 1 }")
    assert program.domain == (-2, 10)
    assert [(c.name, c.init) for c in program.cells] == [("a[0]", 1), ("a[1]", 1), ("a[2]", 1), ("b", 1)]


def test_the_domain_holds_wherever_it_stands() -> None:
    text = "node A { x = 7 }\nthread T on A { reg r; r = x + 1 }\n"
    last = program_of(f"{text}const N = 3\ndomain 0..N")
    first = program_of(f"const N = 3\ndomain 0..N\n{text}")
    assert last.domain == first.domain == (0, 3)
    assert [show_edge(last.threads[0], *e) for e in cfg.steps(last.threads[0])] == [
        show_edge(first.threads[0], *e) for e in cfg.steps(first.threads[0])
    ]
    assert len(cfg.steps(last.threads[0])) == 2
    assert [d.message for d in last.warnings] == ["the initial value 7 is outside the domain 0..3"]


def test_threads_and_nodes_may_share_names() -> None:
    text = "node A { x, ring[2] }\nnode B { x }\nthread A on B { reg r; r = x }\nthread T on A { x = 1; ring[0] = 1 }\n"
    program = program_of(
        f"const K = 1\n{text}outcome A.r == 0 || A.x == K || A.ring[K] == 2 || B.x == 1 : forbidden under rdma"
    )
    assert show(program.outcomes[0].condition) == "((((A.r == 0) || (A.x == 1)) || (A.ring[1] == 2)) || (B.x == 1))"


def test_undefined_outcomes_do_not_hold() -> None:
    program = program_of("domain 0..1\nnode A { x }\nthread T on A { x = 1 }\noutcome 1 / A.x == 1 : allowed under sc")
    assert show(program.outcomes[0].condition) == "((A.x != 0) && ((1 / A.x) == 1))"


@pytest.mark.parametrize(
    "text",
    [
        "node A { x\n y = 1\n\n z, }",
        "node A { x; y }",
        "node A\n{\n}\n",
        "node A { x } node B { y } thread T on A { x = 1 } expect robust",
        "const N = 1 +\n 2",
        "const N = (1\n + 2)",
        "const N = 1, // one\n M = 2",
        "node A { x }\nthread T on A { if x { x = 1 }\n\n else { x = 2 }\nchoose { }\n// c\nor { } x = 1 }",
        "node A { x }\nthread T on A { x = 1;; ; x = 2; }",
        "node A { ring[2] }\nthread T on A { ring[\n1\n] = 1 }",
        "node A { x }\r\nthread T on A {\r\n  x = 1\r\n}\r\n",
        "\ufeffnode A { x }",
        "node A { format, orx, polling, Put, if_, whiles, x1 }",
        "node A { x } /* a\n b */ node B { y }",
        "node A { x }\nthread T on A { x = 1 /* two\n lines */ x = 2 }",
        "node A { x }\nthread T on A { reg r\n r = x - -1 == 0 // c\n}\ndomain 0..1",
        "node A { x = 007 }",
        "node A { x }//",
        "expect not robust",
    ],
)
def test_layouts(text: str) -> None:
    assert errors_of(text) is None


def test_names_that_begin_with_keywords_are_names() -> None:
    (item,) = parse_program("node format { orx, polling }", "f").items
    assert isinstance(item, ast.NodeDeclaration)
    assert [c.name.text for c in item.cells] == ["orx", "polling"]


@pytest.mark.parametrize(
    ("expression", "tree"),
    [
        ("1 + 2 * 3", "(1 + (2 * 3))"),
        ("8 - 2 - 1", "((8 - 2) - 1)"),
        ("r || q && r == (q < r + 1)", "(r || (q && (r == (q < (r + 1)))))"),
        ("!r == q", "(!r == q)"),
        ("-r % q", "(-r % q)"),
        ("(r || q) && r", "((r || q) && r)"),
        ("(r < q) < 1", "((r < q) < 1)"),
    ],
)
def test_precedence(expression: str, tree: str) -> None:
    (item,) = parse_program(f"const N = {expression}", "f").items
    assert isinstance(item, ast.Constants)
    value = item.bindings[0].value
    assert value is not None
    assert _shape(value) == tree


def _shape(expr: ast.Expr) -> str:
    match expr:
        case ast.NumberLiteral(value):
            return str(value)
        case ast.Ref(_, name):
            return name.text
        case ast.Unary(op, arg):
            return f"{op}{_shape(arg)}"
        case ast.Binary(op, left, right):
            return f"({_shape(left)} {op} {_shape(right)})"
        case _:
            raise AssertionError(expr)


def test_warnings_of_each_kind() -> None:
    program = program_of(
        "const N = 1\ndomain 0..2\nnode A { x = 9, unused }\nnode B { y }\n"
        "thread T on A {\n  reg r, s\n  x = 3\n  assume x == 4\n  r = cas(x, 5, 6)\n"
        "  put B.y = 7\n  poll B\n  halt\n  x = 1\n}\n"
        "thread U on B {\n  poll A\n}\n"
    )
    assert [(d.span.line, d.message) for d in program.warnings] == [
        (1, "constant `N` is never used"),
        (3, "the initial value 9 is outside the domain 0..2"),
        (3, "variable `A.unused` is never used"),
        (6, "register `T.s` is never used"),
        (7, "3 is outside the domain 0..2"),
        (8, "this is never reached"),
        (8, "4 is outside the domain 0..2"),
        (9, "5 is outside the domain 0..2"),
        (9, "6 is outside the domain 0..2"),
        (10, "7 is outside the domain 0..2"),
        (16, "`poll A` blocks forever: thread U has no operation towards A"),
    ]
