"""What one thread can do, straight from the syntax tree and straight from the graph: the two must agree.

Both enumerate sequences of events up to a length, with every value a read could return. Which of several faults of one
statement is reported is left open, so all of them count as `fault`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from rdma_robust.errors import NO_SPAN
from rdma_robust.expr import OPERATORS, evaluate
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import blocks_of

VALUES = (0, 2)
LOW, HIGH = 0, 3
SIZE = 2
Trace = tuple[str, ...]
Registers = tuple[tuple[str, int], ...]


class Failure(Exception):
    """The thread goes wrong here."""


class Needed(Exception):
    """The evaluation has come to the shared cell, from left to right."""


def traces_of_graph(program: cfg.Program, length: int) -> set[Trace]:
    """Return the events of every run of the first thread, cut after `length` events."""
    thread = program.threads[0]
    outgoing: dict[int, list[tuple[int, cfg.Step]]] = {}
    for source, target, step in cfg.steps(thread):
        outgoing.setdefault(source, []).append((target, step))
    labels = {point: f"@{name}" for name, point in thread.labels}
    assert len(labels) == len(thread.labels), "two labels of one place"
    begin = (labels[thread.entry],) if thread.entry in labels else ()
    start: tuple[int, Registers, Trace] = (thread.entry, thread.registers, begin)
    seen = {start}
    todo = [start]
    while todo:
        point, registers, trace = todo.pop()
        if point == thread.exit:
            seen.add((point, registers, (*trace, "end")))
            continue
        for target, step in outgoing.get(point, []):
            for event, env in _events(step, dict(registers)):
                after = trace if event == "" else (*trace, event)
                if step.fault is not None:
                    kind = "assertion" if step.fault.kind == "assertion" else "fault"
                    after = (*trace, kind) if kind == "fault" else (*after, kind)
                if len(after) <= length:
                    seen.add((-1, (), after))
                if target in labels:
                    after = (*after, labels[target])
                state = (target, tuple(env.items()), after)
                if state not in seen and len(after) <= length:
                    seen.add(state)
                    todo.append(state)
    return {(), *(trace for _, _, trace in seen)}


def _events(step: cfg.Step, env: dict[str, int]) -> Iterator[tuple[str, dict[str, int]]]:
    match step.op:
        case cfg.Read(cell) | cfg.Cas(cell):
            for value in VALUES:
                full = {**env, "$value": value}
                if evaluate(step.guard, full):
                    event = f"R {cell} {value}"
                    if isinstance(step.op, cfg.Cas):
                        event = f"CAS {cell} {value} {evaluate(step.op.expected, env)} {evaluate(step.op.new, env)}"
                    yield event, env | {name: evaluate(value, full) for name, value in step.assigns}
            return
        case cfg.Write(cell, value):
            if evaluate(step.guard, env):
                yield f"W {cell} {evaluate(value, env)}", env
            return
        case cfg.Rmw(cell, new, when):
            for value in VALUES:
                full = {**env, "$value": value}
                if evaluate(step.guard, full):
                    assert evaluate(when, full) or step.fault is not None
                    event = f"RMW {cell} {value} {evaluate(new, full)}"
                    yield event, env | {name: evaluate(value, full) for name, value in step.assigns}
            return
        case cfg.Silent():
            event = ""
        case cfg.MFence():
            event = "MF"
        case cfg.Put(target, source):
            event = f"PUT {target} {source}"
        case cfg.Get(target, source):
            event = f"GET {target} {source}"
        case cfg.Poll(node):
            event = f"POLL {node}"
        case cfg.RFence(node):
            event = f"NF {node}"
    if evaluate(step.guard, env):
        yield event, env | {name: evaluate(value, env) for name, value in step.assigns}


def traces_of_tree(body: tuple[ast.Statement, ...], start: Registers, length: int) -> set[Trace]:
    """Return the events of every run of these statements, cut after `length` events."""
    first: tuple[tuple[ast.Statement, ...], Registers, Trace] = (body, start, ())
    seen = {first}
    traces: set[Trace] = {()}
    todo = [first]
    while todo:
        rest, registers, trace = todo.pop()
        if not rest:
            traces.add((*trace, "end"))
            continue
        for events, then, env in _run(rest[0], rest[1:], dict(registers)):
            after = (*trace, *events)
            if len(after) > length:
                continue
            traces.add(after)
            state = (then, tuple(env.items()), after)
            if state not in seen and "fault" not in events:
                seen.add(state)
                todo.append(state)
    return traces


Choice = tuple[Trace, tuple[ast.Statement, ...], dict[str, int]]


def _run(statement: ast.Statement, rest: tuple[ast.Statement, ...], env: dict[str, int]) -> Iterator[Choice]:
    try:
        yield from _step(statement, rest, env)
    except Failure:
        yield ("fault",), (), env


def _step(statement: ast.Statement, rest: tuple[ast.Statement, ...], env: dict[str, int]) -> Iterator[Choice]:
    match statement:
        case ast.Loop() | ast.Choose() | ast.While() | ast.If():
            yield from _with_blocks(statement, rest, env)
        case ast.Assume(condition) | ast.Assert(condition):
            for events, result in _readings(condition, env):
                if result:
                    yield events, rest, env
                elif result is None:
                    yield events, (), env
                elif isinstance(statement, ast.Assert):
                    yield (*events, "assertion"), rest, env
        case ast.Assign(ast.Ref(None, ast.Ident(name)), ast.CasCall() as call) if name in env:
            for event, old in _cas(call, env):
                yield (event,), rest, env | {name: old}
        case ast.Assign(ast.Ref(None, ast.Ident(name)), ast.RmwCall() as call) if name in env:
            for events, old in _rmw(call, env):
                yield events, (rest if old is not None else ()), env | {name: old or 0}
        case ast.Assign(target, ast.NondetCall(ast.NumberLiteral(low), ast.NumberLiteral(high))):
            for value in range(low, high + 1):
                yield from _run(ast.Assign(target, ast.NumberLiteral(value)), rest, env)
        case ast.Assign(ast.Ref(None, ast.Ident(name)), value) if name in env:
            for events, result in _readings(value, env, kept=True):
                yield events, (rest if result is not None else ()), env | {name: result or 0}
        case ast.Assign(target, value):
            cell = _cell(target, env)
            yield (f"W {cell} {_kept(value, _value(value, env, None))}",), rest, env
        case ast.Call(ast.RmwCall() as call):
            for events, old in _rmw(call, env):
                yield events, (rest if old is not None else ()), env
        case ast.Call(call):
            assert isinstance(call, ast.CasCall)
            for event, _ in _cas(call, env):
                yield (event,), rest, env
        case ast.PutStatement(target, source):
            cell = _cell(target, env)
            yield (f"PUT {cell} {_source(source, env)}",), rest, env
        case ast.GetStatement(target, source):
            cell = _cell(target, env)
            assert isinstance(source, ast.Ref)
            yield (f"GET {cell} {_cell(source, env)}",), rest, env
        case ast.PollStatement(node):
            yield (f"POLL {node.text}",), rest, env
        case ast.RFenceStatement(node):
            yield (f"NF {node.text}",), rest, env
        case ast.Halt():
            yield (), (), env
        case ast.Skip():
            yield (), rest, env
        case ast.MFenceStatement():
            yield ("MF",), rest, env
        case ast.LabelStatement(name):
            yield (f"@{name.text}",), (_labelled(statement, rest[0]), *rest[1:]) if rest else (), env
        case _:
            raise AssertionError(statement)


def _with_blocks(statement: ast.Statement, rest: tuple[ast.Statement, ...], env: dict[str, int]) -> Iterator[Choice]:
    match statement:
        case ast.Loop(inner):
            yield (), rest, env
            yield (), (*inner.statements, *_again(statement), *rest), env
        case ast.Choose(branches):
            for branch in branches:
                yield (), (*branch.statements, *rest), env
        case ast.While(condition, inner):
            for events, result in _readings(condition, env):
                again = (*inner.statements, *_again(statement), *rest) if result else rest
                yield events, again if result is not None else (), env
        case ast.If(arms, otherwise):
            others = ast.If(arms[1:], otherwise) if len(arms) > 1 else ast.Choose((otherwise or ast.Block(()),))
            for events, result in _readings(arms[0].condition, env):
                inner_statements = arms[0].block.statements if result else (others,)
                yield events, (*inner_statements, *rest) if result is not None else (), env


def _readings(expr: ast.Expr, env: dict[str, int], kept: bool = False) -> Iterator[tuple[Trace, int | None]]:
    """Yield the events and the value of an expression, for each value its shared cell may have; None after a fault.

    The cell is read where the evaluation comes to it.
    """
    try:
        value = _value(expr, env, None)
        yield (), _kept(expr, value) if kept else value
        return
    except Needed:
        access = next(ref for ref in _refs(expr) if ref.name.text not in env)
    cell = _cell(access, env)
    for read in VALUES:
        try:
            value = _value(expr, env, read)
            yield (f"R {cell} {read}",), _kept(expr, value) if kept else value
        except Failure:
            yield ("fault",), None


def comes_to_a_cell(expr: ast.Expr) -> bool:
    """Whether the evaluation of a condition over the registers r and q comes to a shared cell, for some values of these."""
    for r, q in product(range(-LOW - 2, HIGH + 3), repeat=2):
        try:
            _value(expr, {"r": r, "q": q}, None)
        except Needed:
            return True
        except Failure:
            pass
    return False


def _cas(call: ast.CasCall, env: dict[str, int]) -> Iterator[tuple[str, int]]:
    cell = _cell(call.target, env)
    expected, new = _value(call.expected, env, None), _kept(call.new, _value(call.new, env, None))
    for old in VALUES:
        yield f"CAS {cell} {old} {expected} {new}", old


def _rmw(call: ast.RmwCall, env: dict[str, int]) -> Iterator[tuple[Trace, int | None]]:
    cell = _cell(call.target, env)
    value = _value(call.value, env, None)
    if call.kind == "swap":
        value = _kept(call.value, value)
    for old in VALUES:
        try:
            new = value if call.kind == "swap" else _kept(ast.Binary("+", call.target, call.value), old + value)
            yield (f"RMW {cell} {old} {new}",), old
        except Failure:
            yield ("fault",), None


def _labelled(label: ast.LabelStatement, statement: ast.Statement) -> ast.Statement:
    """Return a statement that, if it is a loop, comes by its label each time."""
    match statement:
        case ast.Loop() if _idle(statement):
            return statement
        case ast.Loop() | ast.While():
            return replace(statement, span=replace(NO_SPAN, file=label.name.text))
        case _:
            return statement


def _idle(statement: ast.Statement) -> bool:
    """Whether a statement does nothing, however often it does it."""
    inside = [each for block in blocks_of(statement) for each in block.statements]
    return isinstance(statement, ast.Skip) or (isinstance(statement, ast.Loop | ast.Choose) and all(map(_idle, inside)))


def _again(loop: ast.Loop | ast.While) -> tuple[ast.Statement, ...]:
    """Return what a loop comes back to."""
    label = loop.span.file
    return (ast.LabelStatement(ast.Ident(label)), loop) if label else (loop,)


def _source(source: ast.Expr, env: dict[str, int]) -> str:
    return f"A.const {source.value}" if isinstance(source, ast.NumberLiteral) else _cell(source, env)


def _cell(ref: ast.Expr, env: dict[str, int]) -> str:
    assert isinstance(ref, ast.Ref)
    node = ref.owner.text if ref.owner is not None else "A"
    if ref.index is None:
        return f"{node}.{ref.name.text}"
    index = _value(ref.index, env, None)
    if not 0 <= index < SIZE:
        raise Failure
    return f"{node}.{ref.name.text}[{index}]"


def _refs(expr: ast.Expr) -> Iterator[ast.Ref]:
    match expr:
        case ast.Ref():
            yield expr
        case ast.Unary(_, arg):
            yield from _refs(arg)
        case ast.Binary(_, left, right):
            yield from _refs(left)
            yield from _refs(right)
        case _:
            pass


def _kept(expr: ast.Expr, value: int) -> int:
    """Return a value that is stored; copies and truth values always fit."""
    free = isinstance(expr, ast.Ref) or (isinstance(expr, ast.Unary) and expr.op == "!")
    free = free or (isinstance(expr, ast.Binary) and expr.op not in {"+", "-", "*", "/", "%"})
    if not free and not LOW <= value <= HIGH:
        raise Failure
    return value


def _value(expr: ast.Expr, env: dict[str, int], read: int | None) -> int:
    match expr:
        case ast.NumberLiteral(value):
            return value
        case ast.Ref(_, ast.Ident(name)):
            if name in env:
                return env[name]
            if read is None:
                raise Needed
            return read
        case ast.Unary(op, arg):
            inner = _value(arg, env, read)
            return -inner if op == "-" else int(not inner)
        case ast.Binary("&&", left, right):
            return int(bool(_value(left, env, read)) and bool(_value(right, env, read)))
        case ast.Binary("||", left, right):
            return int(bool(_value(left, env, read)) or bool(_value(right, env, read)))
        case ast.Binary(op, left, right):
            try:
                return OPERATORS[op](_value(left, env, read), _value(right, env, read))
            except ZeroDivisionError:
                raise Failure from None
        case _:
            raise AssertionError(expr)
