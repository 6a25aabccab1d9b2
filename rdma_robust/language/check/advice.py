"""Hints: what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from rdma_robust.diagnose import MAX_QUOTED, Hint, listing, meant_at, quote, written_instead
from rdma_robust.language.check.names import (
    Kind,
    NodeNames,
    ProgramNames,
    SharedVariable,
    ThreadNames,
    declared,
    family_name,
)
from rdma_robust.language.check.rewrites import Site, insertion
from rdma_robust.language.syntax import ast, printer
from rdma_robust.language.syntax.tree_limits import statements_in

_TRUTH: Final = {"true": "1", "True": "1", "false": "0", "False": "0"}


def shown_reference(ref: ast.Ref) -> str:
    """Return a reference as text; only its beginning if it is long."""
    text = printer.reference(ref)
    return text if len(text) <= MAX_QUOTED else f"{ref.name.text}[...]"


def unqualified(ref: ast.Ref) -> str:
    """Return a reference as text without its owner."""
    return shown_reference(ast.Ref(None, ref.name, ref.index))


def declared_later(world: ProgramNames, name: str, *kinds: Kind) -> str:
    """Return a hint if `name` is declared further down as one of `kinds`."""
    for kind in kinds:
        later = world.later.get((kind, family_name(name)))
        if later is not None:
            return later_text(kind, family_name(name), later.span.line)
    return ""


def _names_variable(statement: ast.Statement, name: str) -> bool:
    """Return whether a statement names `name` where only a variable can stand."""
    match statement:
        case ast.PutStatement(_, ast.Ref(owner=None) as ref) | ast.GetStatement(ast.Ref(owner=None) as ref, _):
            return ref.name.text == name
        case ast.Call(call) | ast.Assign(_, ast.CasCall() as call):
            return call.target.owner is None and call.target.name.text == name
    return False


def later_text(kind: str, name: str, line: int) -> str:
    """Return the hint that a name is declared further down."""
    return f"the {kind} {quote(name)} is declared later, on line {line}; move that line up"


def element_hint(ref: ast.Ref, variable: SharedVariable) -> Hint:
    """Return a hint if an array is named without an index, or a variable with one."""
    if variable.certain and (ref.index is None) != (variable.size is None):
        return Hint("it is no array" if variable.size is None else "it is an array: name one of its elements")
    return Hint("")


def first_element(source: str, ref: ast.Ref) -> Hint:
    """Return the hint that an array is named by its elements."""
    return Hint(f"for example `{shown_reference(ref)}[0]`", (insertion(source, ref.span.end, "[0]"),))


def unknown_name(world: ProgramNames, thread: ThreadNames, site: Site, ref: ast.Ref) -> Hint:
    """Return the nearest name a thread could have meant by `ref`."""
    name = ref.name
    if name.text in _TRUTH:
        return written_instead(name.span, _TRUTH[name.text])
    own = thread.node.variables if thread.node is not None else {}
    known: list[str] = [*thread.registers, *own, *world.constants]
    later = declared_later(world, name.text, "constant") or _register_later(thread, name.text)
    return meant_at(name.span, name.text, known) or Hint(later) or _elsewhere(world, thread, site, ref)


def _register_later(thread: ThreadNames, name: str) -> str:
    lines = (s for s in (thread.body.statements if thread.body else ()) if isinstance(s, ast.Registers))
    later = next((r for line in lines for r in line.registers if r.name.text == name), None)
    return later_text("register", name, later.span.line) if later else ""


def _elsewhere(world: ProgramNames, thread: ThreadNames, site: Site, ref: ast.Ref) -> Hint:
    name = ref.name.text
    owners = [t.name for t in world.threads_with(name) if t is not thread]
    if owners:
        return Hint(f"it is a register of {listing(owners[:3], 'and')}; registers are private to their thread")
    if name in world.nodes:
        return Hint(f"it is a node; its variables are written `{name}.VARIABLE`")
    private = next((node for node in world.nodes.values() if node.private and name in node.variables), None)
    if private is not None:
        return Hint(f"each copy of {family_name(private.name)} has its own, which only the thread there names")
    if thread.node is None:
        return Hint("")
    if re.search(rf"\bfor\s+{name}\s+in\b", site.source):
        return Hint("the counter of a `for` is known only in its block")
    if ref.index is not None:
        return Hint(f"declare it first: an array in `node {family_name(thread.node.name)}`")
    if site.body is not None and any(_names_variable(s, name) for s in statements_in(site.body)):
        return site.rewritten(f"declare it first: a variable in `node {family_name(thread.node.name)}`", (), variable=name)
    text = f"declare it first: `reg {name}` here, or a variable in `node {family_name(thread.node.name)}`"
    return site.rewritten(text, (), registers=[name])


def nodes(world: ProgramNames, name: ast.Ident) -> Hint:
    """Return a hint for an unknown node."""
    later = Hint(declared_later(world, name.text, "node"))
    known = declared(world, "node", world.nodes)
    return later or meant_at(name.span, name.text, known) or Hint(listed_names("the nodes are", known))


def lanes(world: ProgramNames, owner: str, name: ast.Ident) -> Hint:
    """Return a hint for an unknown lane of the thread `owner`."""
    known = world.lanes.get(owner, {})
    if name.text in world.nodes:
        return Hint("it is a node; without a lane its queue pair that has no name is meant")
    declare = f"declare it: `qp {family_name(name.text)} to NODE` in thread {owner}"
    return meant_at(name.span, name.text, known) or Hint(listed_names("its lanes are", known) or declare)


def threads(world: ProgramNames, name: ast.Ident, own: str) -> Hint:
    """Return a hint for an unknown thread."""
    known = declared(world, "thread", world.placed)
    if name.text in world.nodes:
        return Hint(f"it is a node; {listed_names('the threads are', known) or 'a thread is named here'}")
    others = [thread for thread in known if thread != own]
    return meant_at(name.span, name.text, others) or Hint(listed_names("the other threads are", others))


def listed_names(what: str, names: Iterable[str]) -> str:
    """Return a few names with what they are; nothing of many."""
    shown = list(names)
    return f"{what} {listing((quote(n) for n in shown), 'and')}" if 0 < len(shown) <= 5 else ""


def owners(world: ProgramNames, name: ast.Ident) -> Hint:
    """Return a hint for what is neither a thread nor a node."""
    later = Hint(declared_later(world, name.text, "node", "thread"))
    known = [*declared(world, "thread", world.threads), *declared(world, "node", world.nodes)]
    return later or meant_at(name.span, name.text, known)


def member_hint(node: NodeNames, name: ast.Ident) -> Hint:
    """Return a hint for an unknown variable of a node."""
    all_of_them = Hint(listed_names(f"the variables of {node.name} are", node.variables))
    return meant_at(name.span, name.text, node.variables) or all_of_them
