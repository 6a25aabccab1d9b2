"""Hints that propose other statements: with names that the file does not use yet, and with the edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rdma_robust.diagnose import MAX_QUOTED, Hint
from rdma_robust.language.check import advice
from rdma_robust.language.check.names import ProgramNames, ThreadNames
from rdma_robust.language.check.rewrites import Site, at_the_top, fresh_name, references, replacing
from rdma_robust.language.syntax import ast, printer


@dataclass(frozen=True, slots=True)
class Proposals:
    """Makes hints about a part of a statement of `thread`."""

    world: ProgramNames
    thread: ThreadNames
    site: Site

    def through_register(self, ref: ast.Ref, whole: ast.Expr, before: str = "") -> Hint:
        """Return how to read a shared cell first, and `before` followed by what the expression `whole` becomes then."""
        name = fresh_name(self.site.source, "tmp")
        rest = printer.expression(_replace(whole, ref, ast.Ref(None, ast.Ident(name), None)))
        again = isinstance(self.site.part, ast.Assume) and self.site.part.keyword == "await"
        then = f", then `{before}{rest}`" if before and len(before + rest) <= MAX_QUOTED and not again else ""
        wait = f", and wait in a loop: `while !({rest})`" if again and len(rest) <= MAX_QUOTED else ""
        place, before_it, first, at = self._index_first(ref)
        text = (
            f"{before_it}read it into a new register first: `reg {name}`, `{name} = "
            f"{advice.shown_reference(place)}`{then}{wait}"
        )
        first.append(f"{name} = {printer.reference(place)}")
        return self.site.rewritten(text, replacing(ref, name, whole), first, registers=[*at, name])

    def local_update(self, target: ast.Ref, value: ast.Expr) -> Hint:
        """Return how a variable of the thread's node takes `value`, which reads it."""
        name = fresh_name(self.site.source, "tmp")
        place, before_it, first, at = self._index_first(target)
        rest = printer.expression(_replace(value, target, ast.Ref(None, ast.Ident(name), None)))
        first.append(f"{name} = {printer.reference(place)}")
        more = ""
        if self._reads(value, target):
            first.append(f"{name} = {rest}")
            more, rest = f", `{name} = {_cut(rest)}`", name
        own = f"{printer.reference(place)} = {rest}"
        then = f"{more}, then `{own}`" if len(own) <= MAX_QUOTED else ""
        text = (
            f"{before_it}read it into a new register first: `reg {name}`, `{name} = {advice.shown_reference(place)}`{then}"
        )
        return self.site.rewritten(text, [self.site.replaced(own)], first, registers=[*at, name])

    def remote(self, ref: ast.Ref, place: ast.Ref, expr: ast.Expr, verb: str, private: bool) -> Hint:
        """Return how a thread reads `place`, which `expr` names as `ref`, or, as the `verb` says, writes `expr` to it."""
        if verb == "writes":
            return self.remote_write(place, expr)
        part = self.site.part
        if isinstance(part, ast.Assign) and part.op and part.target is ref:
            return self._remote_update(ref, place, part.value)
        return self.remote_read(ref, place, expr, private)

    def _remote_update(self, ref: ast.Ref, place: ast.Ref, value: ast.Expr) -> Hint:
        """Return how a thread changes `place`, named as `ref`, to `value`, which reads it. It is no atomic operation."""
        node = place.owner.text if place.owner is not None else ""
        got, name = fresh_name(self.site.source, "got"), fresh_name(self.site.source, "tmp")
        place, before, first, at = self._index_first(place)
        shown = printer.reference(place)
        rest = printer.expression(_replace(value, ref, ast.Ref(None, ast.Ident(got), None)))
        first += [f"get {got} = {shown}", f"poll {node}", f"{name} = {rest}", f"{got} = {name}"]
        steps = f"`get {got} = {advice.shown_reference(place)}`, `poll {node}`, `{name} = {_cut(rest)}`, `{got} = {name}`"
        text = (
            f"{before}with a new variable of this node and `reg {name}`: {steps}, then `put "
            f"{advice.shown_reference(place)} = {got}`"
        )
        edits = [self.site.replaced(f"put {shown} = {got}")]
        return self.site.rewritten(text, edits, first, registers=[*at, name], variable=got)

    def old_value(self, target: ast.Ref, call: ast.AtomicCall) -> Hint:
        """Return how the old value of an atomic operation comes into a variable."""
        name = fresh_name(self.site.source, "tmp")
        word = printer.expression(call).partition("(")[0]
        text = (
            f"take it into a new register: `reg {name}`, `{name} = {word}(...)`, then "
            f"`{advice.shown_reference(target)} = {name}`"
        )
        own = f"{printer.reference(target)} = {name}"
        first = [f"{name} = {printer.expression(call)}"]
        return self.site.rewritten(text, [self.site.replaced(own)], first, registers=[name])

    def remote_read(self, ref: ast.Ref, place: ast.Ref, whole: ast.Expr, private: bool) -> Hint:
        """Return how a thread gets the value of `place`, which `whole` names as `ref`.

        Where the expression reads something else too, or may read nothing (`private`), the value goes through a register.
        """
        node = place.owner.text if place.owner is not None else ""
        got = fresh_name(self.site.source, "got")
        place, before, first, at = self._index_first(place)
        first += [f"get {got} = {printer.reference(place)}", f"poll {node}"]
        text = (
            f"{before}with a new variable of this node: `get {got} = {advice.shown_reference(place)}`, `poll {node}`, then "
        )
        if not private and not self._reads(whole, ref):
            text = f"{text}read `{got}`"
            return self.site.rewritten(text, replacing(ref, got, whole), first, registers=at, variable=got)
        name = fresh_name(self.site.source, "tmp")
        text += f"read it into a new register: `reg {name}`, `{name} = {got}`"
        first.append(f"{name} = {got}")
        return self.site.rewritten(text, replacing(ref, name, whole), first, registers=[*at, name], variable=got)

    def remote_write(self, place: ast.Ref, value: ast.Expr) -> Hint:
        """Return how a thread writes `value` to `place`."""
        place, before, first, at = self._index_first(place)
        if self._can_be_put(value):
            text = f"put {printer.reference(place)} = {printer.expression(value)}"
            shown = f"{before}`put {advice.shown_reference(place)} = {_short(value)}`"
            return self.site.rewritten(shown, [self.site.replaced(text)], first, registers=at)
        return self._stored_first(ast.PutStatement(place, value), f"{before}with", first, at)

    def request_of(self, statement: ast.PutStatement | ast.SendStatement) -> Hint:
        """Return how a thread puts or sends a value that the NIC cannot see."""
        return self._stored_first(statement, "store it first, in")

    def _index_first(self, place: ast.Ref) -> tuple[ast.Ref, str, list[str], list[str]]:
        """Return a place whose index reads nothing shared, how to make it (a text, and statements), and new registers."""
        if place.index is None or not self._reads(place.index):
            return place, "", [], []
        at = fresh_name(self.site.source, "at")
        text = f"read the index into a new register: `reg {at}`, `{at} = {_short(place.index)}`; then "
        indexed = replace(place, index=ast.Ref(None, ast.Ident(at), None))
        return indexed, text, [f"{at} = {printer.expression(place.index)}"], [at]

    def _stored_first(
        self,
        statement: ast.PutStatement | ast.SendStatement,
        how: str,
        before: Sequence[str] = (),
        registers: Sequence[str] = (),
    ) -> Hint:
        source, value = self.site.source, statement.source
        sent = fresh_name(source, "sent")
        register = fresh_name(source, "tmp") if self._reads(value) or isinstance(value, ast.CasCall) else ""
        steps = [(register, value), (sent, ast.Ref(None, ast.Ident(register), None))] if register else [(sent, value)]
        first = [*before, *(f"{name} = {printer.expression(each)}" for name, each in steps)]
        shown = ", ".join(f"`{name} = {_short(each)}`" for name, each in steps)
        new = f"a new variable of this node{f' and `reg {register}`' if register else ''}"
        made = printer.statement(replace(statement, source=ast.Ref(None, ast.Ident(sent), None)))
        then = (
            f"put {advice.shown_reference(statement.target)} = {sent}" if isinstance(statement, ast.PutStatement) else made
        )
        text = f"{how} {new}: {shown}, then `{then}`"
        edits = [self.site.replaced(made)]
        declared = [*registers, register] if register else registers
        return self.site.rewritten(text, edits, first, registers=declared, variable=sent)

    def request_of_remote(self, statement: ast.PutStatement, source: ast.Ref) -> Hint:
        """Return how a thread passes a value on from one node to another."""
        node = source.owner.text if source.owner is not None else ""
        got = fresh_name(self.site.source, "got")
        shown = (
            f"`get {got} = {advice.shown_reference(source)}`, `poll {node}`, then `put "
            f"{advice.shown_reference(statement.target)} = {got}`"
        )
        first = [f"get {got} = {printer.reference(source)}", f"poll {node}"]
        edits = [self.site.replaced(printer.statement(replace(statement, source=ast.Ref(None, ast.Ident(got), None))))]
        return self.site.rewritten(f"with a new variable of this node: {shown}", edits, first, variable=got)

    def local_instead(self, statement: ast.PutStatement | ast.GetStatement) -> Hint:
        """Return how to copy between two variables of the thread's own node, or what is meant if one is on another node."""
        target, source = (_unowned(each) for each in (statement.target, statement.source))
        assert isinstance(target, ast.Ref)
        far = next((each for each in (target, *references(source)) if not self._is_here(each)), None)
        if far is not None:
            return self._on_another_node(far, target, source)
        own, value = printer.reference(target), printer.expression(source)
        also = "; or say `allow loopback` at the top"
        if not self._reads(source):
            text = f"on its own node a thread writes `{advice.shown_reference(target)} = {_short(source)}`{also}"
            return self.site.rewritten(text, [self.site.replaced(f"{own} = {value}")])
        name = fresh_name(self.site.source, "tmp")
        text = (
            f"on its own node a thread writes `{name} = {_short(source)}`, then "
            f"`{advice.shown_reference(target)} = {name}`, "
        )
        text += f"with a new `reg {name}`{also}"
        first = [f"{name} = {value}"]
        return self.site.rewritten(text, [self.site.replaced(f"{own} = {name}")], first, registers=[name])

    def _is_here(self, ref: ast.Ref) -> bool:
        own = self.thread.node.variables if self.thread.node is not None else {}
        return ref.name.text in own or self._is_private(ref)

    def _on_another_node(self, far: ast.Ref, target: ast.Ref, source: ast.Expr) -> Hint:
        """Return the remote operation that is meant where one side, `far`, is no variable of this node."""
        node = next(self.world.nodes_with(far.name.text), None)
        near = source if far is target else target
        if (
            node is None
            or (near is source and not self._can_be_put(source))
            or not all(map(self._is_here, references(near)))
        ):
            return Hint("")
        place = printer.reference(replace(far, owner=ast.Ident(node.name)))
        meant = (
            f"put {place} = {printer.expression(source)}" if far is target else f"get {printer.reference(target)} = {place}"
        )
        return self.site.rewritten(f"did you mean `{meant}`?", [self.site.replaced(meant)])

    def loopback(self) -> Hint:
        """Return how a node gets a queue pair with itself."""
        text = "only other nodes have a queue pair; `allow loopback` at the top gives this node one too"
        return Hint(text, (at_the_top(self.site.source, "allow loopback"),))

    def _can_be_put(self, value: ast.Expr) -> bool:
        match value:
            case ast.NumberLiteral() | ast.Unary("-", ast.NumberLiteral()):
                return True
            case ast.Ref(owner=None, name=name):
                own = self.thread.node.variables if self.thread.node is not None else {}
                free = name.text not in self.thread.registers
                return free and (name.text in own or (name.text in self.world.constants and value.index is None))
        return False

    def _reads(self, expr: ast.Expr, but: ast.Ref | None = None) -> bool:
        """Return whether an expression names a shared variable, other than as `but`."""
        return any(each != but and not self._is_private(each) for each in references(expr))

    def _is_private(self, ref: ast.Ref) -> bool:
        return ref.owner is None and (ref.name.text in self.thread.registers or ref.name.text in self.world.constants)


def _unowned(expr: ast.Expr) -> ast.Expr:
    return replace(expr, owner=None) if isinstance(expr, ast.Ref) else expr


def _short(expr: ast.Expr) -> str:
    return _cut(printer.expression(expr))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_QUOTED else "..."


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
            return ast.Binary(op, _replace(left, old, new), _replace(right, old, new), inner=expr.inner)
        case ast.CasCall(target, expected, value):
            return ast.CasCall(target, _replace(expected, old, new), _replace(value, old, new))
        case ast.RmwCall(kind, target, value):
            return ast.RmwCall(kind, target, _replace(value, old, new))
        case ast.NondetCall(low, high):
            low, high = (None if bound is None else _replace(bound, old, new) for bound in (low, high))
            return ast.NondetCall(low, high)
        case ast.NumberLiteral() | ast.FetchCall() | ast.ThreadAt() | ast.ThreadEnded() | ast.CopiesWhere():
            return expr
