"""Loops that all processes go through together: the names in them, and what they are written out to.

Where contracts count, such a loop is an :class:`InlinedCall` of all its rounds, named :func:`all_rounds`. In it stands, at
each head of the loop, a call of a function with the loop's name and an empty body; after that of a round the body, which is
named :func:`one_round`. The arguments of these calls are what the registers of the function are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rdma_robust.expr import Const, Name
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import first_line
from rdma_robust.messages.language import message_program as made
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.contract_tree import AtEntry, ContractText
from rdma_robust.messages.language.message_folding import fold_operation
from rdma_robust.messages.language.message_parts import all_lines, contract_names, inner_operands, operands_of, places_in
from rdma_robust.messages.language.message_terms import Operation, Term
from rdma_robust.messages.language.message_world import GlobalScope

if TYPE_CHECKING:
    from rdma_robust.messages.language.writing_out import Writer

Looping = ast.While | ast.For

MORE: Final = "\\more"
"""The parameter of the head of a loop that says whether the process goes on."""


def entry_parameter(name: str) -> str:
    """Return the name of the parameter that has what a register or parameter was when the function was entered."""
    return f"\\pre({name})"


def all_rounds(name: str) -> str:
    """Return the name of all rounds of a loop together, as one call; no name of the language has a point in it."""
    return f"{name}.rounds"


def one_round(name: str) -> str:
    """Return the name of one round of a loop, as a call."""
    return f"{name}.round"


def contract_of_loop(line: object) -> ContractText | None:
    """Return the contract of a loop, None if it has none or is none."""
    found = line.contract if isinstance(line, ast.While | ast.For) else None
    return found if isinstance(found, ContractText) else None


def loops_with_contracts(block: ast.Block) -> Iterator[Looping]:
    """Yield the loops in a block that have a contract."""
    for line in all_lines(block):
        if isinstance(line, ast.While | ast.For) and line.contract is not None:
            yield line


def loop_names(line: Looping) -> tuple[str, ...]:
    """Return the names in a loop and its contract, each once: its counter first."""
    contract = contract_of_loop(line)
    found = [line.counter.text, *_names(line.low, line.high)] if isinstance(line, ast.For) else [*_names(line.condition)]
    found += [] if contract is None else [each.text for each in contract_names(contract)]
    for inner in all_lines(line.body):
        found += _names(*operands_of(inner))
        nested = contract_of_loop(inner)
        found += [] if nested is None else [each.text for each in contract_names(nested)]
    return tuple(dict.fromkeys(found))


def _names(*parts: object) -> Iterator[str]:
    return (place.name.text for place in places_in(*parts))


def names_before(block: ast.Block) -> tuple[str, ...]:
    """Return the names inside of `\\pre` in the contracts of the loops of a block, each once."""
    found: dict[str, None] = {}
    for line in loops_with_contracts(block):
        stack: list[tuple[object, bool]] = [(line.contract, False)]
        while stack:
            part, inside = stack.pop()
            inside = inside or isinstance(part, AtEntry)
            name = getattr(part, "name", None)
            if inside and isinstance(name, ast.Ident):
                found.setdefault(name.text)
            stack += [(each, inside) for each in inner_operands(part)]
    return tuple(found)


def remembered_names(function: tree.FunctionItem, world: GlobalScope) -> tuple[str, ...]:
    """Return the parameters and registers declared outside whose values at entry the loops of a function look at."""
    known = {each.text for each in function.parameters} | world.globals.keys()
    return tuple(name for name in names_before(function.body) if name in known)


def entry_assignments(writer: Writer, function: tree.FunctionItem, prefix: str) -> list[made.Statement]:
    """Return what stores, as a function is entered, the values that its loops look at by `\\pre`."""
    writer.remembered_names = remembered_names(function, writer.world)
    span = writer.at(function.name.span)
    return [
        made.Assign(writer.hidden_register(prefix + entry_parameter(name)), _value(writer, name), span)
        for name in writer.remembered_names
    ]


def _value(writer: Writer, name: str) -> Term:
    return writer.scope.term(tree.IndexedName(ast.Ident(name), ()))


def written_for(writer: Writer, line: ast.For, counter: str, ends: tuple[Term, Term]) -> list[made.Statement]:
    """Return a `for` with a contract whose counter and ends are known."""
    low, high = ends
    after = Operation("?", (fold_operation("<=", low, high), fold_operation("+", high, Const(1)), low))
    heads = _Heads(writer, line, line.counter.text)
    body = (heads.head(Const(1)), heads.round(writer.block(line.body)))
    loop = made.For(counter, low, high, body, writer.at(line.span))
    return [heads.all((loop, heads.head(Const(0), after)), low)]


def written_while(writer: Writer, line: ast.While, condition: Term) -> list[made.Statement]:
    """Return a `while` with a contract whose condition is known."""
    heads = _Heads(writer, line)
    body = (heads.head(Const(1)), heads.round(writer.block(line.body)))
    return [heads.all((made.While(condition, body, writer.at(line.span)), heads.head(Const(0))))]


class _Heads:
    """Makes the calls that a loop consists of."""

    def __init__(self, writer: Writer, line: Looping, counter: str = "") -> None:
        contract = contract_of_loop(line)
        assert contract is not None
        assert contract.name is not None
        self.name, self.counter = contract.name.text, counter
        self.span = writer.at(first_line(line.span))
        scope, prefix = writer.scope, writer.scope.prefix
        known = {name for name, each in scope.locals.items() if each.visible and each.kind != "request"}
        known |= scope.values.keys()
        stored = writer.remembered_names
        self.given = [(entry_parameter(name), Name(prefix + entry_parameter(name))) for name in stored]
        self.own = [(name, _value(writer, name)) for name in loop_names(line) if name in known]

    def _call(self, counter: Term | None, more: Term | None = None) -> made.Call:
        own = [(name, counter if counter is not None and name == self.counter else value) for name, value in self.own]
        first: list[tuple[str, Term]] = [] if more is None else [(MORE, more)]
        return made.Call((*first, *self.given, *own), "")

    def head(self, more: Term, counter: Term | None = None) -> made.InlinedCall:
        """Return the call at a head, where `more` says whether a round follows."""
        return made.InlinedCall(self.name, (), self.span, self._call(counter, more))

    def round(self, body: made.Block) -> made.InlinedCall:
        return made.InlinedCall(one_round(self.name), body, self.span, self._call(None))

    def all(self, body: made.Block, counter: Term | None = None) -> made.InlinedCall:
        return made.InlinedCall(all_rounds(self.name), body, self.span, self._call(counter))
