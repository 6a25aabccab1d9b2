"""Counter programs and expressions as text for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rdma_robust.counters.program import Add, Assign, Body, Choose, CounterProgram, Forget, Require, Statement, Zero
from rdma_robust.expr import Binary, Const, Expr, Ite, Name, Unary


def show_expr(expr: Expr) -> str:
    """Return `expr` fully parenthesised, with `test ? a : b` for a choice; no two signs stand side by side."""
    match expr:
        case Const(value):
            return str(value)
        case Name(name):
            return name
        case Unary(op, Unary() | Const() as arg):
            return f"{op}({show_expr(arg)})"
        case Unary(op, arg):
            return f"{op}{show_expr(arg)}"
        case Binary(op, left, right):
            return f"({show_expr(left)} {op} {show_expr(right)})"
        case Ite(test, then, other):
            return f"({show_expr(test)} ? {show_expr(then)} : {show_expr(other)})"


def show_statement(statement: Statement) -> str:
    match statement:
        case Require(condition):
            return f"require {show_expr(condition)}"
        case Assign(updates):
            return ", ".join(f"{name} := {show_expr(value)}" for name, value in updates)
        case Add(counter, amount):
            return f"{counter} {'+' if amount >= 0 else '-'}= {abs(amount)}"
        case Zero(counter):
            return f"prune unless {counter} == 0"
        case Forget(counter):
            return f"forget {counter}"
        case Choose(name, options):
            return f"{name} := one of " + ", ".join(f"{v} if {show_expr(test)}" for v, test in options)


def show_program(program: CounterProgram[Any]) -> str:
    """Return the whole program: variables, counters, every command as an indented tree, and the targets."""
    return "\n".join(_lines(program)) + "\n"


def _lines(program: CounterProgram[Any]) -> Iterator[str]:
    yield f"counter program {program.name}"
    for name, value in program.variables:
        yield f"  var {name} = {value}"
    for counter in program.counters:
        yield f"  counter {counter} = 0"
    for index, process in enumerate(program.processes):
        yield f"process {process.name} (pc{index} = {process.entry})"
        for command in process.commands:
            yield f"  {command.source} -> {command.target}"
            yield from _body(command.body, "    ")
    for target in program.targets:
        at = "" if target.process is None else f"pc{target.process} == {target.location} && "
        yield f"target {at}{show_expr(target.condition)}"


def _body(body: Body[Any], indent: str) -> Iterator[str]:
    for statement in body.statements:
        if statement != Assign(()):
            yield indent + show_statement(statement)
    for label in body.labels:
        yield f"{indent}=> {label}"
    for number, branch in enumerate(body.then, 1):
        yield f"{indent}alternative {number}"
        yield from _body(branch, indent + "  ")
