"""Helpers for the tests of the language room: graphs as lines of text, and random programs as syntax trees."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from rdma_robust.errors import ProgramError
from rdma_robust.expr import Binary, Const, Expr, Name, Unary
from rdma_robust.language.flow import cfg
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.language.load import load_decidable
from rdma_robust.language.syntax import ast

HEADER = """\
domain 0..3
const N = 2
node A { x = 0, y = 0, ring[N] = 0 }
node B { z = 0, buf[N] = 0 }
thread T on A {
  reg r, q
"""


def load(statements: str, *, await_loops: bool = False) -> cfg.Program:
    """Load a thread `T` with these statements, after :data:`HEADER`."""
    return blocking(load_decidable(f"{HEADER}{statements}\n}}\n", "test.rdma"), await_loops)


def edges(statements: str, *, await_loops: bool = False) -> list[str]:
    """Return the edges of thread `T` with these statements, as :func:`show_edge` writes them."""
    thread = load(statements, await_loops=await_loops).threads[0]
    return [show_edge(thread, *edge) for edge in cfg.steps(thread)]


def show_edge(thread: cfg.Thread, source: int, target: int, step: cfg.Step) -> str:
    """Return `from>to: access [guard] assignments !fault`; the exit is X, the dead end D."""

    def point(number: int) -> str:
        if number == thread.exit:
            return "X"
        return "D" if number > thread.exit else str(number)

    parts = [f"{point(source)}>{point(target)}:", show_op(step.op)]
    if step.guard != Const(1):
        parts.append(f"[{show(step.guard)}]")
    parts += [f"{name}:={show(value)}" for name, value in step.assigns]
    if step.fault is not None:
        parts.append(f"!{step.fault.kind}")
    return " ".join(parts)


def show_op(op: cfg.Op) -> str:
    match op:
        case cfg.Silent():
            return "-"
        case cfg.Read(cell):
            return f"R {cell}"
        case cfg.Write(cell, value):
            return f"W {cell} {show(value)}"
        case cfg.Cas(cell, expected, new):
            return f"CAS {cell} {show(expected)} {show(new)}"
        case cfg.Rmw(cell, new, when):
            return f"RMW {cell} {show(new)}{'' if when == Const(1) else f' if {show(when)}'}"
        case cfg.MFence():
            return "MF"
        case cfg.Put(target, source):
            return f"PUT {target} {source}"
        case cfg.Get(target, source):
            return f"GET {target} {source}"
        case cfg.Poll(node):
            return f"POLL {node}"
        case cfg.RFence(node):
            return f"NF {node}"
        case cfg.Flush(node):
            return f"FLUSH {node}"
        case cfg.Nondet(low, high):
            return f"ANY {'' if low is None else show(low)}..{'' if high is None else show(high)}"
        case cfg.RemoteRmw(target, source, new, when):
            return f"GET {target} RMW {source} {show(new)}{'' if when == Const(1) else f' if {show(when)}'}"


def show(expr: Expr) -> str:
    match expr:
        case Const(value):
            return str(value)
        case Name("$value"):
            return "V"
        case Name(name):
            return name
        case Unary(op, arg):
            return f"{op}{show(arg)}"
        case Binary(op, left, right):
            return f"({show(left)} {op} {show(right)})"
        case _:
            raise AssertionError(expr)


def errors_of(source: str) -> ProgramError | None:
    """Return what `load_decidable` raises, or None."""
    try:
        load_decidable(source, "test.rdma")
    except ProgramError as error:
        return error
    return None


BODIES: st.SearchStrategy[tuple[ast.Statement, ...]] = st.integers(0, 2**32).map(lambda seed: Generator(Random(seed)).body())
"""Statements for :func:`program`; drawn by seed, since drawing each part by Hypothesis takes most of a test's time."""

_OPERATORS = ("+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||")


def _ref(name: str, index: ast.Expr | None = None, owner: str | None = None) -> ast.Ref:
    return ast.Ref(ast.Ident(owner) if owner is not None else None, ast.Ident(name), index)


@dataclass
class Generator:
    """Draws statements over the names of :data:`HEADER`."""

    random: Random
    labels: int = 0

    def body(self) -> tuple[ast.Statement, ...]:
        return self._statements(5, 3)

    def expression(self, size: int, shared: ast.Expr | None = None) -> ast.Expr:
        """Return an expression of at most `size` operands, over registers, numbers and `shared`."""
        pick = self.random.random()
        if size <= 1 or pick < 0.2:
            leaves = [ast.NumberLiteral(self.random.randrange(5)), self._register(), shared or self._register()]
            return self.random.choice(leaves)
        if pick < 0.35:
            return ast.Unary(self.random.choice("-!"), self.expression(size - 1, shared))
        left = self.random.randint(1, size - 1)
        op = self.random.choice(_OPERATORS)
        return ast.Binary(op, self.expression(left, shared), self.expression(size - left, shared))

    def _register(self) -> ast.Ref:
        return _ref(self.random.choice("rq"))

    def _index(self) -> ast.Expr:
        return self.random.choice([ast.NumberLiteral(0), ast.NumberLiteral(1), self._register(), self.expression(3)])

    def _own(self) -> ast.Ref:
        return self.random.choice([_ref("x"), _ref("y"), _ref("x", None, "A"), _ref("ring", self._index())])

    def _remote(self) -> ast.Ref:
        return self.random.choice([_ref("z", None, "B"), _ref("buf", self._index(), "B")])

    def _reading(self) -> ast.Expr:
        return self.expression(5, self._own() if self.random.random() < 0.8 else None)

    def _statements(self, longest: int, depth: int) -> tuple[ast.Statement, ...]:
        found: list[ast.Statement] = []
        for _ in range(self.random.randint(0, longest)):
            if self.random.random() < 0.15:
                self.labels += 1
                found.append(ast.LabelStatement(ast.Ident(f"L{self.labels}")))
            found.append(self._statement(depth))
        return tuple(found)

    def _block(self, depth: int) -> ast.Block:
        return ast.Block(self._statements(2, depth - 1))

    def _statement(self, depth: int) -> ast.Statement:
        if depth == 0 or self.random.random() < 0.6:
            return self._simple()
        match self.random.randrange(4):
            case 0:
                arms = tuple(ast.Arm(self._reading(), self._block(depth)) for _ in range(self.random.choice((1, 1, 2))))
                return ast.If(arms, self.random.choice([None, self._block(depth)]))
            case 1:
                return ast.While(self._reading(), self._block(depth))
            case 2:
                return ast.Loop(self._block(depth))
            case _:
                return ast.Choose(tuple(self._block(depth) for _ in range(self.random.choice((2, 2, 3)))))

    def _simple(self) -> ast.Statement:
        match self.random.randrange(13):
            case 0 | 1:
                return ast.Assign(self._register(), self._reading())
            case 11:
                return self.random.choice([ast.Call(self._rmw()), ast.Assign(self._register(), self._rmw())])
            case 12:
                chosen = ast.NondetCall(
                    ast.NumberLiteral(self.random.randrange(2)), ast.NumberLiteral(self.random.randint(1, 4))
                )
                return ast.Assign(self.random.choice([self._register(), self._own()]), chosen)
            case 2:
                return ast.Assign(self._own(), self.expression(3))
            case 3:
                return ast.Assign(self._register(), self._cas())
            case 4:
                return ast.Call(self._cas())
            case 5:
                return ast.PutStatement(
                    self._remote(), self.random.choice([self._own(), ast.NumberLiteral(self.random.randrange(5))])
                )
            case 6:
                return ast.GetStatement(self._own(), self._remote())
            case 7:
                return self.random.choice([ast.PollStatement(ast.Ident("B")), ast.RFenceStatement(ast.Ident("B"))])
            case 8:
                return ast.Assume(self._reading(), self.random.choice(("assume", "await")))
            case 9:
                return ast.Assert(self._reading())
            case _:
                return self.random.choice([ast.Skip(), ast.Halt(), ast.MFenceStatement()])

    def _cas(self) -> ast.CasCall:
        return ast.CasCall(self._own(), self.expression(2), self.expression(3))

    def _rmw(self) -> ast.RmwCall:
        return ast.RmwCall(self.random.choice(["faa", "swap"]), self._own(), self.expression(2))


def program(body: tuple[ast.Statement, ...]) -> ast.ProgramTree:
    """Return a program like :data:`HEADER` with a thread `T` of these statements."""
    n = _ref("N")
    cells_a = (
        ast.CellDeclaration(ast.Ident("x"), None, ast.NumberLiteral(0)),
        ast.CellDeclaration(ast.Ident("y"), None, None),
    )
    cells_a += (ast.CellDeclaration(ast.Ident("ring"), n, None),)
    cells_b = (
        ast.CellDeclaration(ast.Ident("z"), None, None),
        ast.CellDeclaration(ast.Ident("buf"), n, ast.NumberLiteral(0)),
    )
    registers = ast.Registers((ast.Binding(ast.Ident("r"), None), ast.Binding(ast.Ident("q"), ast.NumberLiteral(1))))
    return ast.ProgramTree(
        (
            ast.Domain(ast.NumberLiteral(0), ast.NumberLiteral(3)),
            ast.Constants((ast.Binding(ast.Ident("N"), ast.NumberLiteral(2)),)),
            ast.NodeDeclaration(ast.Ident("A"), cells_a),
            ast.NodeDeclaration(ast.Ident("B"), cells_b),
            ast.ThreadDeclaration(ast.Ident("T"), ast.Ident("A"), ast.Block((registers, *body))),
        )
    )
