"""The statements that are about another thread, and the threads that messages come from and go to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import Span
from rdma_robust.expr import VALUE, equals
from rdma_robust.language.check import advice
from rdma_robust.language.check.accesses import Lowering, StatementSteps
from rdma_robust.language.check.families import OneOfThem
from rdma_robust.language.check.lifetimes import HAPPENED
from rdma_robust.language.check.names import ProgramNames, ThreadNames, family_name
from rdma_robust.language.check.threads import ThreadResolver
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast, printer

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
