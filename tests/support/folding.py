"""Programs written shorter: runs of statements folded into `for` blocks and macros at random, which mean the same."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from rdma_robust.language.load import parse_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.formatter import format_tree
from rdma_robust.language.syntax.tree_limits import blocks_of, statements_in


def folded(text: str, random: Random) -> str:
    """Return a program that expands to the one in `text`."""
    folding = _Folding(random)
    tree = parse_program(text, "p")
    items = [folding.thread(item) if isinstance(item, ast.ThreadDeclaration) else item for item in tree.items]
    macros = folding.macros
    random.shuffle(macros)
    at = random.randrange(len(items) + 1)
    return format_tree(ast.ProgramTree((*items[:at], *macros, *items[at:])))


class _Folding:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.macros: list[ast.Item] = []

    def thread(self, item: ast.ThreadDeclaration) -> ast.ThreadDeclaration:
        return replace(item, body=self.block(item.body))

    def block(self, block: ast.Block) -> ast.Block:
        statements = [self.inside(s) for s in block.statements]
        for _ in range(self.random.randrange(3)):
            begin = self.random.randrange(len(statements) + 1)
            end = min(len(statements), begin + self.random.randrange(4))
            run = tuple(statements[begin:end])
            if run and not any(isinstance(s, ast.Registers) for s in statements_in(ast.Block(run))):
                statements[begin:end] = [self.macro(run) if self.random.random() < 0.6 else self.loop(run)]
        return ast.Block(tuple(statements))

    def inside(self, statement: ast.Statement) -> ast.Statement:
        match statement:
            case ast.While(_, body) | ast.Loop(body) | ast.For(body=body):
                return replace(statement, body=self.block(body))
            case ast.Choose(branches):
                return replace(statement, branches=tuple(map(self.block, branches)))
            case ast.If(arms, otherwise):
                made = tuple(replace(arm, block=self.block(arm.block)) for arm in arms)
                return replace(statement, arms=made, otherwise=otherwise and self.block(otherwise))
            case _:
                return statement

    def loop(self, run: tuple[ast.Statement, ...]) -> ast.Statement:
        """Return a `for` with one copy; the counter stands for a number that occurs."""
        number = next((n for s in run if not blocks_of(s) for n in _numbers(s)), 0)
        name = f"i{self.random.randrange(10**6)}"
        body = tuple(_put_in(s, ast.NumberLiteral(number), name) for s in run)
        return ast.For(ast.Ident(name), ast.NumberLiteral(number), ast.NumberLiteral(number), ast.Block(body))

    def macro(self, run: tuple[ast.Statement, ...]) -> ast.Statement:
        """Return a call; some of what the statements name are parameters."""
        found = list(dict.fromkeys(ref for s in run if not blocks_of(s) for ref in _refs(s)))
        chosen = self.random.sample(found, min(len(found), self.random.randrange(3)))
        parameters = []
        for k, ref in enumerate(chosen):
            name = f"p{k}_{self.random.randrange(10**6)}"
            run = tuple(_put_in(s, ref, name) for s in run)
            parameters.append(name)
        name = f"m{len(self.macros)}"
        self.macros.append(ast.Macro(ast.Ident(name), tuple(map(ast.Ident, parameters)), ast.Block(run)))
        return ast.MacroCall(ast.Ident(name), tuple(chosen))


def _refs(statement: ast.Statement) -> list[ast.Ref]:
    match statement:
        case ast.Assign(target, ast.Ref() as value) if value.index is None:
            return [target, value]
        case ast.Assign(target) | ast.PutStatement(target) | ast.GetStatement(target):
            return [target]
        case _:
            return []


def _numbers(statement: ast.Statement) -> list[int]:
    match statement:
        case ast.Assign(_, ast.NumberLiteral(value)) | ast.PutStatement(_, ast.NumberLiteral(value)):
            return [value]
        case _:
            return []


def _put_in(statement: ast.Statement, old: ast.Expr, name: str) -> ast.Statement:
    """Return a statement with a name instead of `old`, where it has it as a whole side."""
    new = ast.Ref(None, ast.Ident(name), None)
    match statement:
        case ast.Assign(target, value, op):
            return ast.Assign(new if target == old else target, new if value == old else value, op)
        case ast.PutStatement(target, source):
            return ast.PutStatement(new if target == old else target, new if source == old else source)
        case ast.GetStatement(target, source):
            return ast.GetStatement(new if target == old else target, new if source == old else source)
        case _:
            return statement
