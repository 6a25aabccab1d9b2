"""Hints: what to write instead."""

from __future__ import annotations

from collections.abc import Iterable

from rdma_robust.language import ast, printer
from rdma_robust.language.diagnose import MAX_QUOTED, did_you_mean, listing, quote
from rdma_robust.language.names import NodeNames, ThreadNames, World


def written(ref: ast.Ref) -> str:
    """Return a reference as text; only its beginning if it is long."""
    text = printer.reference(ref)
    return text if len(text) <= MAX_QUOTED else f"{ref.name.text}[...]"


def unqualified(ref: ast.Ref) -> str:
    """Return a reference as text without its owner."""
    return written(ast.Ref(None, ref.name, ref.index))


def declared_later(world: World, name: str) -> str:
    """Return a hint if `name` is a constant, node or thread declared further down."""
    later = world.later.get(name)
    return f"it is declared later, on line {later.span.line}; move that line up" if later is not None else ""


def some_register(thread: ThreadNames) -> str:
    """Return a register to use in an example."""
    return next(iter(thread.registers), "r")


def some_variable(node: NodeNames | None, other_than: str = "") -> str:
    """Return a variable of `node` to use in an example."""
    variables = node.variables.values() if node is not None else ()
    scalars = [v.name for v in variables if v.size is None and v.name != other_than]
    return scalars[0] if scalars else "x"


def through_register(thread: ThreadNames, ref: ast.Ref) -> str:
    """Return how to read a shared cell first."""
    register = some_register(thread)
    return f"read it into a register first: `{register} = {written(ref)}`"


def unknown_name(world: World, thread: ThreadNames, name: str) -> str:
    """Return the nearest name a thread could have meant."""
    own = thread.node.variables if thread.node is not None else {}
    known: list[str] = [*thread.registers, *own, *world.constants]
    return did_you_mean(name, known) or declared_later(world, name) or _elsewhere(world, thread, name)


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
    return f"on its own node a thread writes `{register} = {source}`, then `{unqualified(statement.target)} = {register}`"


def nodes(world: World, name: str) -> str:
    """Return a hint for an unknown node."""
    return declared_later(world, name) or did_you_mean(name, world.nodes) or _list("the nodes are", world.nodes)


def _list(what: str, names: Iterable[str]) -> str:
    shown = list(names)
    return f"{what} {listing((quote(n) for n in shown), 'and')}" if 0 < len(shown) <= 5 else ""


def owners(world: World, name: str) -> str:
    """Return a hint for what is neither a thread nor a node."""
    return declared_later(world, name) or did_you_mean(name, [*world.threads, *world.nodes])


def members(node: NodeNames, name: str) -> str:
    """Return a hint for an unknown variable of a node."""
    return did_you_mean(name, node.variables) or _list(f"the variables of {node.name} are", node.variables)
