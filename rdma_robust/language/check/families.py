"""Nodes and threads of which one declaration makes several, or any number: which there are, and which of them is meant.

The tree of a program whose families are written out has one declaration for each node and thread, with a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Final, Literal

from rdma_robust.diagnose import Copy, Hint, Reporter, quote
from rdma_robust.errors import Edit
from rdma_robust.expr import Const, Expr
from rdma_robust.language.check.macros import names_mentioned
from rdma_robust.language.check.names import Group, ProgramNames
from rdma_robust.language.check.resolve import ConstantResolver
from rdma_robust.language.check.substitution import ExpansionScope, Meaning, PlaceKind, number_expr
from rdma_robust.language.flow.cfg import MAX_CELLS
from rdma_robust.language.syntax import ast, printer
from rdma_robust.language.syntax.tree_limits import alone

_MANY: Final = 1_000_003
"""Stands for a number that is not given; nothing depends on it."""


def applies_here(
    item: ast.Expect | ast.OutcomeDeclaration | ast.InvariantDeclaration, world: ProgramNames, report: Reporter
) -> bool:
    """Return whether a claim is about the program as it is, with its constants and its numbers of copies.

    Errors in its condition go to the report. A claim is about any number of each crowd that its condition does not name, and
    about given numbers of those that it does. So it is set aside where a number is given and not named, as well as where one
    is named and not given. An invariant of any number is one of each.
    """
    resolver = _NumberResolver(world, report)
    value = Const(1) if item.when is None else resolver.resolve(item.when)
    crowds = {group.name: group for (kind, _), group in world.groups.items() if kind == "thread" and group.many}
    given = {name for name, group in crowds.items() if not group.is_open}
    if any(crowds[name].is_open for name in resolver.named_crowds):
        return False
    if given - resolver.named_crowds and not isinstance(item, ast.InvariantDeclaration):
        return False
    return isinstance(value, Const) and bool(value.value)


class _NumberResolver(ConstantResolver):
    """The name of a family or crowd of threads is the number of them."""

    def __init__(self, world: ProgramNames, report: Reporter) -> None:
        super().__init__(world, report)
        self.named_crowds: set[str] = set()

    def named(self, ref: ast.Ref) -> Expr:
        group = self.world.groups.get(("thread", ref.name.text)) if ref.owner is None else None
        if group is None or ref.name.text in self.world.constants:
            return super().named(ref)
        self.no_index(ref)
        return self._number(group)

    def _number(self, group: Group) -> Expr:
        if group.many:
            self.named_crowds.add(group.name)
        return Const(_MANY if group.numbers is None else len(group.numbers))


NONE_SUCH = "[]"
"""Behind the name of a family: one that is not there, of which all was said. No name of a program ends so."""


KINDS: Final[tuple[PlaceKind, ...]] = ("thread", "node")


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """One node or thread of a declaration: its name, what its index stands for, and where it is reported to be.

    `family` is the one it belongs to and its number; `many`, that it stands for any number.
    """

    name: str
    scope: ExpansionScope = field(default_factory=ExpansionScope)
    family: tuple[str, int] | None = None
    many: bool = False
    copy: Copy | None = None


def declared_kind(item: ast.NodeDeclaration | ast.ThreadDeclaration) -> PlaceKind:
    """Return which kind of place a declaration makes."""
    return "node" if isinstance(item, ast.NodeDeclaration) else "thread"


def numbers_of(family: ast.FamilyRange, constants: ConstantResolver) -> range | None:
    if family.low is None or family.high is None:
        return None
    low, high = constants.value(family.low), constants.value(family.high)
    if low is None or high is None or low < 0 or high < low - 1 or high - low >= MAX_CELLS:
        return None
    return range(low, high + 1)


def lane_names(lane: ast.LaneDeclaration, constants: ConstantResolver) -> list[str]:
    """Return the names of what a declaration in a `qp` line makes; none if its range is wrong."""
    if lane.family is None:
        return [lane.name.text]
    return [f"{lane.name.text}[{number}]" for number in numbers_of(lane.family, constants) or ()]


def check_lane_family(lane: ast.LaneDeclaration, constants: ConstantResolver, report: Reporter) -> None:
    """Report a range of lanes that is none."""
    if lane.family is None:
        return
    if lane.family.low is None or lane.family.high is None:
        message = f"there is no any number of lanes {quote(lane.name.text)}: a thread has so many queue pairs"
        report.error("RR229", lane.family.span, message, expected="a range, as in `qp q[i in 0..3] to NODE`")
    elif (
        constants.value(lane.family.low) is not None
        and constants.value(lane.family.high) is not None
        and numbers_of(lane.family, constants) is None
    ):
        expected = f"numbers from 0 on, at most {MAX_CELLS:,}"
        report.error(
            "RR229", lane.family.span, f"{quote(lane.name.text)} has a range that is none of lanes", expected=expected
        )


def own_node(item: ast.ThreadDeclaration, one: FamilyMember) -> ast.Ident:
    """Return the node of one thread of a declaration, as it is written or, if it has one of its own, by its name."""
    if item.on_own and one.family is not None:
        return ast.Ident(f"{item.node.text}[{one.family[1]}]", item.node.span)
    return item.node


def family_members(
    item: ast.NodeDeclaration | ast.ThreadDeclaration, world: ProgramNames, report: Reporter
) -> Iterator[FamilyMember]:
    """Yield what a declaration makes, in order, after checking its range. Errors go to the report."""
    if item.family is not None:
        _check(item, item.family, world, report)
    yield from declared_members(item, world.groups.get((declared_kind(item), item.name.text)))


def declared_members(item: ast.NodeDeclaration | ast.ThreadDeclaration, group: Group | None) -> Iterator[FamilyMember]:
    family = item.family
    if family is None or group is None:
        yield FamilyMember(item.name.text)
    elif family.low is None:
        yield FamilyMember(item.name.text, many=True)
    else:
        numbers = group.numbers or ()
        for value in numbers:
            name, scope, where = group.member(value), ExpansionScope(), group.member(value)
            if family.counter is not None:
                scope = ExpansionScope({family.counter.text: Meaning("number", number_expr(value, family.counter.span))})
                where = f"{name}, where {family.counter.text} is {value}"
            copy = Copy(f"{declared_kind(item)} {group.name}", name, where, len(numbers))
            yield FamilyMember(name, scope, (group.name, value), copy=copy)


def _check(
    item: ast.NodeDeclaration | ast.ThreadDeclaration, family: ast.FamilyRange, world: ProgramNames, report: Reporter
) -> None:
    """Check the names and the range of a family."""
    _check_names(item, family, world, report)
    constants = ConstantResolver(world, report)
    if family.low is None or family.high is None:
        return
    low, high = constants.value(family.low), constants.value(family.high)
    name = quote(item.name.text)
    if low is None or high is None:
        return
    if low < 0:
        report.error("RR229", family.low.span, f"{name} would begin with the number {low}", expected="0 or more")
    elif high < low - 1:
        message = f"{name} would have {high - low + 1} {declared_kind(item)}s: {low}..{high}"
        report.error("RR229", family.span, message, expected=f"{low - 1} or more behind the `..`; {low - 1} is for none")
    elif high - low >= MAX_CELLS:
        message = f"{name} would have {high - low + 1:,} {declared_kind(item)}s; there can be {MAX_CELLS:,}"
        report.error("RR214", family.span, message)
    elif (group := world.groups.get((declared_kind(item), item.name.text))) is not None and group.numbers is None:
        message = f"more than {MAX_CELLS:,} {declared_kind(item)}s in families, with the {high - low + 1:,} of {name}"
        report.error("RR214", family.span, message)


def _check_names(
    item: ast.NodeDeclaration | ast.ThreadDeclaration, family: ast.FamilyRange, world: ProgramNames, report: Reporter
) -> None:
    for what, name in ((f"{declared_kind(item)} family", item.name), ("index", family.counter)):
        constant = None if name is None else world.constants.get(name.text)
        if name is not None and constant is not None:
            message = f"{what} {quote(name.text)} has the name of a constant (line {constant.span.line})"
            report.error("RR205", name.span, message)
    counter = family.counter
    if counter is None:
        return
    if isinstance(item, ast.NodeDeclaration):
        own = {cell.name.text: cell.name for cell in item.cells}
        what = "variable"
    else:
        lines = (each for each in item.body.statements if isinstance(each, ast.Registers))
        own, what = {each.name.text: each.name for line in lines for each in line.registers}, "register"
    if counter.text in own:
        line = own[counter.text].span.line
        report.error("RR205", counter.span, f"index {quote(counter.text)} has the name of a {what} (line {line})")


Where = Literal["statement", "place", "claim", "other claim", "target"]
"""Where a name stands: `place` is that behind `on`. A claim about other numbers than there are is an `other claim`, and may
name what is not there. A target is asked for by a command."""


class OneOfThem:
    """Says which node or thread a name with an index means. In statements nobody names one of a crowd."""

    def __init__(self, world: ProgramNames, report: Reporter, where: Where) -> None:
        self._world = world
        self._report = report
        self._where = where
        self._constants = ConstantResolver(world, report)

    def __call__(self, name: ast.Ident, kind: PlaceKind) -> ast.Ident:
        """Return the name of the node or thread itself; after an error one of which nothing more is said. A lane may stand
        where a node can, and whose it is, and whether it has one of that number, is not known here."""
        group = self._world.groups.get((kind, name.text))
        if group is None and name.index is not None and kind == "node" and self._is_lane_family(name.text):
            value = self._constants.value(name.index)
            return self._nobody(name) if value is None else ast.Ident(f"{name.text}[{value}]", name.span)
        if group is None:
            return self._no_family(name, kind)
        if group.many and self._where in ("statement", "place"):
            return self._of_crowd(name, kind)
        if name.index is None:
            what = "any number" if group.is_open else "a family"
            expected = _any_of_them(group, kind) if group.is_open else _example(group)
            self._report.error("RR227", name.span, f"{quote(name.text)} is {what} of {kind}s", expected=expected)
            return self._some(name, group)
        value = self._constants.value(name.index)
        if value is None:
            return self._some(name, group)
        if group.is_open:
            return self._number_of_any(name, kind, group, value)
        if group.numbers is None or value in group.numbers:
            return self._some(name, group) if group.numbers is None else ast.Ident(group.member(value), name.span)
        if self._where != "other claim":
            self._outside(name, kind, group, value)
        return self._nobody(name)

    def _is_lane_family(self, name: str) -> bool:
        return any(lane.startswith(f"{name}[") for lanes in self._world.lanes.values() for lane in lanes)

    def _of_crowd(self, name: ast.Ident, kind: PlaceKind) -> ast.Ident:
        """Report that a statement names one of a crowd."""
        shown = quote(printer.place_text(name))
        if self._where == "place":
            message = f"there is any number of nodes {quote(name.text)}, and one thread of a crowd runs on each"
            hint = f"write `thread NAME[*] on {name.text}[*]`, or take the `[*]` away where the node is declared"
        elif kind == "node":
            message = f"{shown}: there is any number of nodes {quote(name.text)}, each of which only its own thread names"
            hint = "that thread names its variables alone, without the node"
        else:
            message = f"{shown}: there is any number of threads {quote(name.text)}, of which no statement names one"
            hint = "messages, `start` and `join` are about two threads that have names"
        self._report.error("RR230", name.span, message, hint=hint)
        return self._nobody(name)

    def _number_of_any(self, name: ast.Ident, kind: PlaceKind, group: Group, value: int) -> ast.Ident:
        """Return what stands for one of any number, in a claim that is about given numbers only."""
        if self._where == "other claim":
            return ast.Ident(group.name, name.span)
        how = f"say for how many this holds, for example `when {group.name} >= {value}` at the end of the line"
        if self._where == "target":
            how = f"ask with a number, `-D {group.name}={value}`, or ask `some {group.name}: ...` of any number"
        message = f"whether there is a {kind} {quote(group.member(value))} depends on how many there are"
        self._report.error("RR507", name.span, message, hint=how)
        return self._nobody(name)

    def _no_family(self, name: ast.Ident, kind: PlaceKind) -> ast.Ident:
        world = self._world
        declared = name.text in (world.nodes if kind == "node" else world.placed)
        is_lane = kind == "node" and any(name.text in lanes for lanes in world.lanes.values())
        if name.index is not None and (declared or is_lane) and name.text not in world.poisoned:
            hint = Hint(f"write {quote(name.text)}", (Edit(name.span, name.text),))
            one = f"one {kind if declared else 'lane'} {quote(name.text)}"
            message = f"{quote(printer.place_text(name))}: there is {one}, no family of them"
            self._report.error("RR227", name.span, message, hint=hint)
        return name if name.index is None else ast.Ident(name.text, alone(name))

    def _outside(self, name: ast.Ident, kind: PlaceKind, group: Group, value: int) -> None:
        numbers = group.numbers
        assert numbers is not None
        there = f"{numbers[0]} to {numbers[-1]}" if numbers else ""
        self._report.error(
            "RR228",
            name.index.span if name.index is not None else name.span,
            f"there is no {kind} {quote(group.member(value))}",
            expected=there,
            hint="" if there else f"the family {quote(group.name)} is empty",
        )

    def _some(self, name: ast.Ident, group: Group) -> ast.Ident:
        """Return one of a family that there is, where nothing depends on which."""
        if self._where in ("statement", "place"):
            return self._nobody(name)
        return ast.Ident(group.member(group.numbers[0]), name.span) if group.numbers else self._nobody(name)

    def _nobody(self, name: ast.Ident) -> ast.Ident:
        self._world.poisoned.add(name.text + NONE_SUCH)
        return ast.Ident(name.text + NONE_SUCH, name.span)


def _any_of_them(group: Group, kind: PlaceKind) -> str:
    if kind == "node":
        return "the name of its variable alone, in a condition on a copy, as in `some C: x == 1`"
    return f"`some {group.name}: ...` or `count({group.name} at LABEL) >= 1`"


def _example(group: Group) -> str:
    number = group.numbers[0] if group.numbers else 1
    return f"one of them, such as {quote(group.member(number))}"


def plain_names(world: ProgramNames, taken: Iterable[str]) -> dict[str, str]:
    """Return for each node and thread of a family a name without brackets that is not `taken`: `Peer_2` for `Peer[2]`."""
    found: dict[str, str] = {}
    used = set(taken)
    for name in (*world.nodes, *world.threads):
        if "[" in name and name not in found:
            plain = name.replace("[", "_").replace("]", "")
            while plain in used:
                plain += "_"
            used.add(plain)
            found[name] = plain
    return found


def single_declaration(item: ast.ThreadDeclaration, name: str, node: str) -> ast.ThreadDeclaration:
    """Return the declaration of one thread of a family, on its node."""
    return replace(item, name=replace(item.name, text=name), node=ast.Ident(node, item.node.span), family=None, on_own=False)


@dataclass(frozen=True)
class PlainNames:
    """Puts plain names in. Claims about other numbers are left out, but for those about a crowd without a number."""

    world: ProgramNames
    names: Mapping[str, str]
    of_claim: bool = False

    def items(self, item: ast.Item) -> tuple[ast.Item, ...]:
        """Return what stands for a declaration in a program without families."""
        if not isinstance(item, ast.OutcomeDeclaration | ast.Expect | ast.InvariantDeclaration):
            return (self(item),)
        put_in = replace(self, of_claim=True)
        if applies_here(item, self.world, Reporter("", "")):
            return (put_in(replace(item, when=None)),)
        named = () if item.when is None else names_mentioned(ast.Assert(item.when))
        return (put_in(item),) if any(self._group("thread", name, is_open=True) for name in named) else ()

    def _group(self, kind: PlaceKind, name: str, *, is_open: bool) -> Group | None:
        group = self.world.groups.get((kind, name))
        return group if group is not None and group.is_open is is_open else None

    def __call__(self, part: Any) -> Any:
        """Return a part of a tree with plain names."""
        match part:
            case ast.Ref(None, name, None) if (
                self.of_claim and (group := self._group("thread", name.text, is_open=False)) is not None
            ):
                return ast.NumberLiteral(len(group.numbers or ()), part.span)
            case ast.Ident(index=None):
                return replace(part, text=self.names.get(part.text, part.text))
            case ast.Ident(text) if any(self._group(kind, text, is_open=True) for kind in KINDS):
                return part
            case ast.Ident():
                kind: PlaceKind = "thread" if ("thread", part.text) in self.world.groups else "node"
                found = OneOfThem(self.world, Reporter("", ""), "claim")(part, kind)
                return replace(found, text=self.names.get(found.text, found.text))
            case tuple():
                return tuple(map(self, part))
            case _ if is_dataclass(part) and not isinstance(part, type):
                return replace(part, **{f.name: self(getattr(part, f.name)) for f in fields(part)})
            case _:
                return part
