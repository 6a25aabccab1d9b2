"""Programs once more, by the builder: from their syntax trees, as statements and as automata."""

from __future__ import annotations

from rdma_robust.build import Array, AutomatonBuilder, Initial, ProgramBuilder, Relaxed, Sync, ThreadBuilder
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import parse_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.printer import expression, reference, statement


def rebuilt(text: str, automata: bool = False) -> Program:
    """Return the program in `text`, built by statements or by edges."""
    tree = parse_program(text, "p")
    domain = next(((i.low, i.high) for i in tree.items if isinstance(i, ast.Domain)), None)
    bounds = None if domain is None else (int(expression(domain[0])), int(expression(domain[1])))
    loopback = any(isinstance(i, ast.AllowLoopback) for i in tree.items)
    builder = ProgramBuilder("p", domain=bounds, loopback=loopback)
    for item in tree.items:
        match item:
            case ast.NodeDeclaration(name, cells, via=via):
                variables = {}
                for cell in cells:
                    initial = 0 if cell.init is None else expression(cell.init)
                    given: Initial = initial if cell.size is None else Array(expression(cell.size), initial)
                    regional = Relaxed(given) if cell.relaxed else given
                    variables[cell.name.text] = Sync(regional) if cell.sync else regional
                builder.node(name.text, variables, via="" if via is None else via.text)
            case ast.ThreadDeclaration(name, node, body):
                registers = {
                    b.name.text: 0 if b.value is None else expression(b.value)
                    for s in body.statements
                    if isinstance(s, ast.Registers)
                    for b in s.registers
                }
                if automata:
                    edges = _Edges(builder.automaton(name.text, node.text, "0", "end", **registers))
                    edges.block(body, "0", "end")
                else:
                    _statements(builder.thread(name.text, node.text, **registers), body)
            case _:
                pass
    return builder.program("p")


def _statements(thread: ThreadBuilder, block: ast.Block) -> None:
    for each in block.statements:
        match each:
            case ast.Registers():
                pass
            case ast.PutStatement(target, source):
                thread.put(reference(target), expression(source))
            case ast.GetStatement(target, source):
                thread.get(expression(target), expression(source))
            case ast.PollStatement(node):
                thread.poll(node.text)
            case ast.RFenceStatement(node):
                thread.rfence(node.text)
            case ast.Assert(condition):
                thread.check(expression(condition))
            case ast.Assign(target, ast.CasCall(cell, expected, new)):
                thread.cas(reference(cell), expression(expected), expression(new), into=reference(target))
            case ast.Assign(target, ast.RmwCall(kind, cell, value)):
                (thread.faa if kind == "faa" else thread.swap)(reference(cell), expression(value), into=reference(target))
            case ast.Call(ast.RmwCall(kind, cell, value)):
                (thread.faa if kind == "faa" else thread.swap)(reference(cell), expression(value))
            case ast.Assign(target, ast.NondetCall(low, high)) if low is not None and high is not None:
                thread.nondet(reference(target), expression(low), expression(high))
            case ast.MFenceStatement():
                thread.mfence()
            case ast.LabelStatement(label):
                thread.label(label.text)
            case ast.Assign(target, value):
                thread.write(reference(target), expression(value))
            case ast.If(arms, otherwise):
                assert len(arms) == 1
                with thread.when(expression(arms[0].condition)):
                    _statements(thread, arms[0].block)
                if otherwise is not None:
                    with thread.otherwise():
                        _statements(thread, otherwise)
            case ast.While(condition, body):
                with thread.loop_while(expression(condition)):
                    _statements(thread, body)
            case ast.Loop(body):
                with thread.loop():
                    _statements(thread, body)
            case ast.Choose(branches):
                with thread.choose() as choice:
                    for branch in branches:
                        with choice.branch():
                            _statements(thread, branch)
            case _:
                thread.statement(statement(each))


class _Edges:
    """Adds the edges of statements from one location to another."""

    def __init__(self, automaton: AutomatonBuilder) -> None:
        self.automaton = automaton
        self._fresh = (str(number) for number in range(1, 10_000))

    def block(self, block: ast.Block, source: str, target: str) -> None:
        statements = [s for s in block.statements if not isinstance(s, ast.Registers)]
        at = source
        for number, each in enumerate(statements):
            if isinstance(each, ast.Halt):
                self.automaton.edge(at, "end")
                return
            goal = target if number + 1 == len(statements) and target != source else next(self._fresh)
            self.statement(each, at, goal)
            at = goal
        if at != target:
            self.automaton.edge(at, target)

    def statement(self, each: ast.Statement, source: str, target: str) -> None:
        edge = self.automaton.edge
        match each:
            case ast.If(arms, otherwise):
                self._branch(arms[0].block, source, target, expression(arms[0].condition))
                self._branch(otherwise or ast.Block(()), source, target, f"!({expression(arms[0].condition)})")
            case ast.While(condition, body):
                self._branch(body, source, source, expression(condition))
                edge(source, target, f"assume !({expression(condition)})")
            case ast.Loop(body):
                self._branch(body, source, source, "1")
                edge(source, target)
            case ast.Choose(branches):
                for branch in branches:
                    self._branch(branch, source, target, "1")
            case _:
                edge(source, target, statement(each))

    def _branch(self, block: ast.Block, source: str, target: str, condition: str) -> None:
        inside = next(self._fresh)
        self.automaton.edge(source, inside, f"assume {condition}")
        self.block(block, inside, target)
