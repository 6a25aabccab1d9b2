"""Words of a thread's own node that requests are about, one or several of an array, and receives for messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, Literal

from rdma_robust.diagnose import Hint, Reporter, quote
from rdma_robust.errors import Edit, Span
from rdma_robust.expr import VALUE, Const, equals
from rdma_robust.language.check import advice
from rdma_robust.language.check.accesses import Lowering, StatementSteps
from rdma_robust.language.check.families import FamilyMember, OneOfThem, check_lane_family, lane_names
from rdma_robust.language.check.lifetimes import HAPPENED
from rdma_robust.language.check.names import (
    NodeNames,
    ProgramNames,
    QueuePairName,
    Register,
    SharedVariable,
    ThreadNames,
    family_name,
)
from rdma_robust.language.check.program_lines import depth_of
from rdma_robust.language.check.resolve import ConstantResolver
from rdma_robust.language.check.substitution import Substitution
from rdma_robust.language.check.threads import ThreadResolver, VariableAccess
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast, printer
from rdma_robust.language.syntax.tree_limits import first_line


def checked_via(
    item: ast.NodeDeclaration, via: ast.Ident, one: FamilyMember, world: ProgramNames, report: Reporter
) -> ast.Ident:
    """Return the node behind whose card the memory of one of a declaration lies, after checking that it has one."""
    if item.family is not None and item.family.low is None:
        message = f"there is any number of nodes {quote(item.name.text)}: memory behind a NIC is that of nodes with names"
        report.error("RR450", item.family.span, message, expected="a node, or a family with a range")
        return via
    named = Substitution(one.scope, report, OneOfThem(world, report, "place")).place(via)
    name = quote(named.text)
    if named.text in world.poisoned:
        return named
    if named.text == one.name:
        report.error("RR450", via.span, f"the memory of {name} lies behind its own NIC", expected="another node")
    elif named.text in world.vias:
        message = f"{name} has no NIC: its memory lies behind that of {world.card(named.text)}"
        hint = Hint(f"`via {world.card(named.text)}`", (Edit(via.span, world.card(named.text)),))
        report.error("RR450", via.span, message, hint=hint)
    elif named.text not in world.nodes:
        report.error("RR202", via.span, f"unknown node {name}", hint=partial(advice.nodes, world, named))
    return named


def has_card(node: NodeNames, name: ast.Ident, world: ProgramNames, report: Reporter) -> bool:
    """Return whether a node that is named for a queue pair has a card; if not that is reported."""
    card = world.vias.get(node.name)
    if card is not None:
        message = f"{quote(node.name)} has no NIC: its memory lies behind that of {card}, and so do its queue pairs"
        report.error("RR451", name.span, message, hint=Hint(f"write {quote(card)}", (Edit(name.span, card),)))
    return card is None


_CROWDS: Final = {
    "message": "have no messages",
    "start": "start no others",
    "join": "join no others",
}
"""What the threads of a crowd do not do."""


class OtherThreads:
    """A checker of what a thread says of others. What is wrong goes to the report."""

    def __init__(
        self,
        world: ProgramNames,
        report: Reporter,
        thread: ThreadNames,
        spend: Callable[[Span], None],
    ) -> None:
        self.world = world
        self.report = report
        self.thread = thread
        self.names = ThreadResolver(world, report, thread)
        self._spend = spend

    def lowering(self, statement: ast.Statement) -> Lowering:
        return self._lowering_of(printer.statement(statement), statement.span)

    def _lowering_of(self, text: str, span: Span) -> Lowering:
        return Lowering(text, self.report.at(span), self.world.domain, self._spend, self.report)

    def receiver(self, name: ast.Ident) -> tuple[str, str] | None:
        """Return the thread that a message goes to and its node; None after an error."""
        found = self.peer(name, "a message goes to a thread of another node")
        return None if found is None or found[1] is None else (found[0], found[1])

    def sender(self, name: ast.Ident) -> str | None:
        """Return the thread that messages come from; None after an error."""
        found = self.peer(name, "messages come from a thread of another node")
        return None if found is None else found[0]

    def start(self, statement: ast.Statement, name: ast.Ident) -> StatementSteps:
        """Return the step of `start THREAD`: a locked store to the word that the thread waits for."""
        thread = self._lifetime(name, "start")
        if thread is None:
            return StatementSteps()
        self.thread.starts.setdefault(thread, []).append(self.report.at(statement.span))
        return self.lowering(statement).plain(cfg.Rmw(self.world.moment_cell("start", thread), HAPPENED))

    def join(self, statement: ast.Statement, name: ast.Ident) -> StatementSteps:
        """Return the steps of `join THREAD`: with an empty store buffer, wait for the word that says that it has ended."""
        thread = self._lifetime(name, "join")
        if thread is None:
            return StatementSteps()
        waits = self.lowering(statement).plain(cfg.Read(self.world.moment_cell("end", thread)))
        waits.then = [replace(step, guard=equals(VALUE, HAPPENED)) for step in waits.then]
        waits.before = self.lowering(statement).plain(cfg.MFence())
        return waits

    def _lifetime(self, name: ast.Ident, about: Literal["start", "join"]) -> str | None:
        """Return the other thread of a `start` or `join`; None after an error."""
        place = self._thread_named(name, about)
        if place is None:
            return None
        thread = place[0]
        if thread == self.thread.name:
            self.report.error("RR440", name.span, f"{quote(thread)} is this thread itself: `{about}` names another one")
            return None
        return thread

    def _thread_named(self, name: ast.Ident, about: Literal["message", "start", "join"]) -> tuple[str, ast.Ident] | None:
        """Return a thread that a statement is `about`, and where it runs; None after an error."""
        world, own = self.world, self.thread
        if own.crowd:
            message = f"there is any number of threads {quote(family_name(own.name))}, which {_CROWDS[about]}"
            named = "messages, `start` and `join` are about two threads that have names"
            self.report.error("RR230", name.span, message, hint=named)
            return None
        if name.index is not None:
            name = OneOfThem(world, self.report, "statement")(name, "thread")
        place = world.placed.get(name.text)
        if place is None and name.text not in world.poisoned:
            hint = advice.threads(world, name, own.name)
            self.report.error("RR225", name.span, f"unknown thread {quote(name.text)}", hint=hint)
        return None if place is None else (name.text, place)

    def peer(self, name: ast.Ident, role: str) -> tuple[str, str | None] | None:
        world, own = self.world, self.thread
        found = self._thread_named(name, "message")
        if found is None or own.node is None:
            return None
        name, place = replace(name, text=found[0]), found[1]
        if name.text == own.name:
            self.report.error("RR410", name.span, f"{quote(name.text)} is this thread itself: {role}")
            return None
        if world.card(place.text) == world.card(own.node.name) and not world.loopback:
            self.report.error(
                "RR410",
                name.span,
                f"thread {quote(name.text)} runs on {place.text}, as thread {own.name} does: {role}",
                hint=self.names.proposals.loopback(),
            )
            return None
        return name.text, place.text

    def threads_on(self, node: str) -> str:
        card = self.world.card
        at = {name: card(place.text) for name, place in self.world.placed.items() if name != self.thread.name}
        found = [name for name, place in at.items() if place == card(node)]
        return advice.listed_names(f"on {node} there is", found) or f"there is no thread on {node}"


class QueuePairChecker(OtherThreads):
    """A checker of queue pairs and lanes. What is wrong goes to the report."""

    def queue_pair(self, name: ast.Ident) -> QueuePairName | None:
        """Return the queue pair that a lane, or else a node, stands for; None after an error."""
        if name.index is not None:
            name = OneOfThem(self.world, self.report, "statement")(name, "node")
        if name.text in self.world.lanes.get(self.thread.name, {}):
            return self.lane(self.thread.name, name, None)
        node = self.names.node(name)
        if node is None or self.thread.node is None or not has_card(node, name, self.world, self.report):
            return None
        if self.is_own_card(node) and not self.world.loopback:
            message = f"{quote(name.text)} is {self._own_place()}"
            self.report.error("RR401", name.span, message, hint=self.names.proposals.loopback())
            return None
        return QueuePairName(node.name)

    def is_own_card(self, node: NodeNames) -> bool:
        """Whether a node uses the card that this thread's does."""
        return self.thread.node is not None and self.world.card(node.name) == self.world.card(self.thread.node.name)

    def _own_place(self) -> str:
        own = self.thread.node
        behind = own is not None and own.name in self.world.vias
        return f"the node {'whose NIC ' * behind}thread {self.thread.name} itself {'uses' if behind else 'runs on'}"

    def lane(self, owner: str, name: ast.Ident, to: str | None) -> QueuePairName | None:
        """Return a lane of the thread `owner`, which must go to the node `to` unless that is None; None after an error."""
        if name.index is not None:
            name = OneOfThem(self.world, self.report, "statement")(name, "node")
        known, of = self.world.lanes.get(owner, {}), "this thread" if owner == self.thread.name else f"thread {owner}"
        if name.text not in known:
            if name.text not in self.world.poisoned:
                hint = advice.lanes(self.world, owner, name)
                self.report.error("RR202", name.span, f"{of} has no lane {quote(name.text)}", hint=hint)
            return None
        if owner == self.thread.name and name.text not in self.thread.lanes:
            self.report.error(
                "RR202", name.span, f"lane {quote(name.text)} is declared further down", hint="move the `qp` line up"
            )
        node = known[name.text]
        if node in self.world.vias:
            return None
        if node is not None and to is not None and node != to:
            message = f"lane {quote(name.text)} of {of} goes to {node}, and this is about {to}"
            there = advice.listed_names(f"to {to} there is", [lane for lane, end in known.items() if end == to])
            self.report.error("RR411", name.span, message, hint=there or f"declare one: `qp NAME to {to}`")
            return None
        return None if node is None else QueuePairName(node, name.text)

    def pair_of(
        self, node: str, statement: ast.PutStatement | ast.GetStatement | ast.SendStatement | ast.Call
    ) -> QueuePairName | None:
        """Return the queue pair to the card of `node` that a request is posted on; None after an error."""
        on, card = next((flag.lane for flag in statement.flags if flag.lane is not None), None), self.world.card(node)
        return QueuePairName(card) if on is None else self.lane(self.thread.name, on, card)

    def declare_lanes(self, statement: ast.Lanes) -> StatementSteps:
        """Declare the lanes of a `qp` line: no step does that."""
        constants = ConstantResolver(self.world, self.report)
        for each in statement.lanes:
            node = self.names.node(each.node)
            if node is None or not has_card(node, each.node, self.world, self.report):
                pass
            elif self.is_own_card(node) and not self.world.loopback:
                message = f"{quote(node.name)} is {self._own_place()}"
                self.report.error("RR401", each.node.span, message, hint=self.names.proposals.loopback())
            if ("node", each.name.text) in self.world.groups or each.name.text in self.world.nodes:
                self.report.error("RR205", each.name.span, f"lane {quote(each.name.text)} has the name of a node")
            check_lane_family(each, constants, self.report)
            depth = None if each.depth is None else constants.value(each.depth)
            if each.depth is not None and depth is not None:
                depth = depth_of(depth, first_line(each.depth.span), self.report)
            for name in lane_names(each, constants):
                if depth is not None:
                    self.thread.depths[name] = depth
                before = self.thread.lanes.setdefault(name, each.name.span)
                if before is not each.name.span:
                    message = f"lane {quote(name)} was declared before, on line {before.line}"
                    self.report.error("RR204", each.name.span, message)
        return StatementSteps()

    def sender_on(self, name: ast.Ident, on: ast.Flag | None) -> tuple[str, str] | None:
        """Return the thread that messages come from, and its lane that they come on; None after an error."""
        found = self.sender(name)
        if found is None or on is None or on.lane is None:
            return None if found is None else (found, cfg.NAMELESS)
        pair = self.lane(found, on.lane, None if self.thread.node is None else self.world.card(self.thread.node.name))
        return None if pair is None else (found, pair.lane)


class BufferChecker(QueuePairChecker):
    """Checks own words, and receives for messages. What is wrong goes to the report and makes no steps."""

    def own_cell(self, ref: ast.Ref, role: str) -> VariableAccess | None:
        """Return the access to a cell of this node; None after an error. `role` says why it must be one."""
        found = self.names.find(ref, role=role)
        if isinstance(found, SharedVariable):
            return self.names.access(ref, found)
        if found is not None:
            kind = "register" if isinstance(found, Register) else "constant"
            self.report.error("RR309", ref.span, f"{quote(ref.name.text)} is a {kind}: {role}")
        return None

    def several(self, first: ast.Expr, last: ast.Expr | None, role: str) -> tuple[cfg.Cell, ...] | None:
        """Return the words of an array of this node from `first` to that with the index `last`; None after an error."""
        assert isinstance(first, ast.Ref)
        assert first.index is not None
        assert last is not None
        ends = [self.names.private(end, "which words it has is said by constants") for end in (first.index, last)]
        found = self.names.find(first, role=role)
        low, high = (end.expr.value if isinstance(end.expr, Const) else None for end in ends)
        if found is None:
            return None
        if not isinstance(found, SharedVariable) or found.size is None:
            self.report.error("RR443", first.span, f"{quote(first.name.text)} is no array", expected="an array of this node")
        elif low is None or high is None:
            self.report.error("RR443", first.span, "which words it has is known only while it runs", expected="constants")
        elif not 0 <= low <= high < found.size:
            self.report.error("RR443", first.span, f"no words {low} to {high}", expected=f"words from 0 to {found.size - 1}")
        else:
            return found.cells[low : high + 1]
        return None

    def receive(self, statement: ast.RecvStatement) -> StatementSteps:
        """Return the steps of `recv`."""
        role, first, last = "`recv` posts a variable of this node", statement.buffer.first, statement.buffer.last
        found = self.sender_on(statement.sender, statement.on)
        several = None if last is None else self.several(first, last, role)
        buffer = self.own_cell(first, role) if last is None else None
        if found is None or (several is None and buffer is None):
            return StatementSteps()
        ends, (sender, lane) = (found[0], self.thread.name, found[1]), found
        self.thread.receives.append((ends, 1 if several is None else len(several), self.report.at(statement.span)))
        if several is not None:
            return self.lowering(statement).plain(cfg.Recv(several[0], sender, lane, several[1:]))
        assert buffer is not None
        return self.lowering(statement).touch([buffer], lambda cells: cfg.Recv(cells[0], sender, lane))

    def posted(self, statement: ast.PostedStatement) -> StatementSteps:
        """Declare receives that are posted before anything runs: no step does that."""
        found = self.sender_on(statement.sender, statement.on)
        role = "`posted` names variables of this node"
        for words in statement.buffers:
            ref = words.first
            if words.last is not None:
                self._post(statement, found, self.several(ref, words.last, role))
                continue
            buffer = self.own_cell(ref, role)
            if buffer is None or found is None:
                continue
            if buffer.index is None or isinstance(buffer.index, Const):
                number = 0 if buffer.index is None else buffer.index.value
                self._post(statement, found, buffer.variable.cells[number : number + 1])
            else:
                self.report.error(
                    "RR415",
                    ref.span,
                    f"which element {quote(advice.shown_reference(ref))} is, is not known before anything runs",
                    expected="an index that is a constant",
                )
        return StatementSteps()

    def _post(
        self, statement: ast.PostedStatement, found: tuple[str, str] | None, cells: tuple[cfg.Cell, ...] | None
    ) -> None:
        """Note a receive that is posted before anything runs; nothing after an error."""
        if found is not None and cells is not None:
            sender, lane = found
            ends = sender, self.thread.name, lane
            self.thread.receives.append((ends, len(cells), self.report.at(statement.span)))
            self.thread.posted.append((sender, cells, lane))
