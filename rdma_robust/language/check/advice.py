"""Hints: what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rdma_robust.diagnose import MAX_QUOTED, did_you_mean, listing, quote
from rdma_robust.language.check.names import Kind, NodeNames, ThreadNames, World
from rdma_robust.language.syntax import ast, printer

UNUSED: Final = "tmp"
_TRUTH: Final = {"true": "1", "True": "1", "false": "0", "False": "0"}


def written(ref: ast.Ref) -> str:
    """Return a reference as text; only its beginning if it is long."""
    text = printer.reference(ref)
    return text if len(text) <= MAX_QUOTED else f"{ref.name.text}[...]"


def unqualified(ref: ast.Ref) -> str:
    """Return a reference as text without its owner."""
    return written(ast.Ref(None, ref.name, ref.index))


def declared_later(world: World, name: str, *kinds: Kind) -> str:
    """Return a hint if `name` is declared further down as one of `kinds`."""
    for kind in kinds:
        later = world.later.get((kind, name))
        if later is not None:
            return f"the {kind} {quote(name)} is declared later, on line {later.span.line}; move that line up"
    return ""


def some_register(thread: ThreadNames) -> str:
    """Return a register to use in an example."""
    return next(iter(thread.registers), "r")


def some_variable(node: NodeNames | None, other_than: str = "") -> str:
    """Return a variable of `node` to use in an example."""
    variables = node.variables.values() if node is not None else ()
    scalars = [v.name for v in variables if v.size is None and v.name != other_than]
    return scalars[0] if scalars else "x"


def through_register(thread: ThreadNames, ref: ast.Ref, expr: ast.Expr, before: str = "") -> str:
    """Return how to read a shared cell first, and `before` followed by what `expr` becomes then."""
    used = _names(expr)
    register = next((r for r in thread.registers if r not in used), None)
    declare = "" if register is not None else f"`reg {UNUSED}` and "
    name = register if register is not None else UNUSED
    rest = printer.expression(_replace(expr, ref, ast.Ref(None, ast.Ident(name), None)))
    then = f", then `{before}{rest}`" if before and len(before + rest) <= MAX_QUOTED else ""
    return f"read it into a register first: {declare}`{name} = {written(ref)}`{then}"


def _names(expr: ast.Expr) -> set[str]:
    match expr:
        case ast.Ref(_, name, index):
            return {name.text} | (_names(index) if index is not None else set())
        case ast.Unary(_, arg):
            return _names(arg)
        case ast.Binary(_, left, right):
            return _names(left) | _names(right)
        case ast.CasCall(target, expected, new):
            return _names(target) | _names(expected) | _names(new)
        case ast.Number():
            return set()


def _replace(expr: ast.Expr, old: ast.Ref, new: ast.Ref) -> ast.Expr:
    """Return `expr` with `new` for every reference equal to `old`."""
    match expr:
        case ast.Ref():
            if expr == old:
                return new
            index = _replace(expr.index, old, new) if expr.index is not None else None
            return ast.Ref(expr.owner, expr.name, index)
        case ast.Unary(op, arg):
            return ast.Unary(op, _replace(arg, old, new))
        case ast.Binary(op, left, right):
            return ast.Binary(op, _replace(left, old, new), _replace(right, old, new))
        case ast.CasCall(target, expected, value):
            return ast.CasCall(target, _replace(expected, old, new), _replace(value, old, new))
        case ast.Number():
            return expr


def unknown_name(world: World, thread: ThreadNames, name: str) -> str:
    """Return the nearest name a thread could have meant."""
    if name in _TRUTH:
        return f"write `{_TRUTH[name]}`"
    own = thread.node.variables if thread.node is not None else {}
    known: list[str] = [*thread.registers, *own, *world.constants]
    return did_you_mean(name, known) or declared_later(world, name, "constant") or _elsewhere(world, thread, name)


def _elsewhere(world: World, thread: ThreadNames, name: str) -> str:
    owners = [t.name for t in world.threads_with(name) if t is not thread]
    if owners:
        return f"it is a register of {listing(owners[:3], 'and')}; registers are private to their thread"
    if name in world.nodes:
        return f"it is a node; its variables are written `{name}.VARIABLE`"
    return f"declare it first: `reg {name}` here, or a variable in `node {thread.node.name}`" if thread.node else ""


def remote_read(thread: ThreadNames, place: str, node: str) -> str:
    """Return how a thread gets a value of another node."""
    local = some_variable(thread.node)
    return f"`get {local} = {place}`, `poll {node}`, then read `{local}`"


def remote_write(thread: ThreadNames, place: str, value: ast.Expr) -> str:
    """Return how a thread writes a value to another node."""
    own = thread.node.variables if thread.node is not None else {}
    match value:
        case ast.Number() | ast.Unary("-", ast.Number()):
            return f"`put {place} = {printer.expression(value)}`"
        case ast.Ref(owner=None) if value.name.text in own:
            return f"`put {place} = {written(value)}`"
        case _:
            local = some_variable(thread.node)
            return f"`{local} = {printer.expression(value)}`, then `put {place} = {local}`"


def local_instead(thread: ThreadNames, statement: ast.Put | ast.Get) -> str:
    """Return how to copy between two variables of the thread's own node."""
    register = some_register(thread)
    source = printer.expression(statement.source)
    local = f"`{register} = {source}`, then `{unqualified(statement.target)} = {register}`"
    return f"on its own node a thread writes {local}; or say `allow loopback` at the top"


def nodes(world: World, name: str) -> str:
    """Return a hint for an unknown node."""
    return declared_later(world, name, "node") or did_you_mean(name, world.nodes) or _list("the nodes are", world.nodes)


def _list(what: str, names: Iterable[str]) -> str:
    shown = list(names)
    return f"{what} {listing((quote(n) for n in shown), 'and')}" if 0 < len(shown) <= 5 else ""


def owners(world: World, name: str) -> str:
    """Return a hint for what is neither a thread nor a node."""
    return declared_later(world, name, "node", "thread") or did_you_mean(name, [*world.threads, *world.nodes])


def members(node: NodeNames, name: str) -> str:
    """Return a hint for an unknown variable of a node."""
    return did_you_mean(name, node.variables) or _list(f"the variables of {node.name} are", node.variables)
