"""Declarations of `.mp` programs: constants, ports, processes, and what is expected."""

from __future__ import annotations

from typing import Final

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import Span
from rdma_robust.expr import Const
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_library import library
from rdma_robust.messages.language.message_program import BUFFERS, Buffer, MessageClaim
from rdma_robust.messages.language.message_scope import ProcessScope
from rdma_robust.messages.language.message_world import (
    BUILT_IN,
    COLLECTIVE,
    DeclaredConstant,
    GlobalScope,
    LocalName,
    ProcessFamily,
)

MAX_PROCESSES: Final = 10_000
"""Processes of one program."""

_OPPOSITE: Final = {"holds": "violated", "deadlock": "no deadlock", "race": "no race"}
_ABOUT: Final = {**_OPPOSITE, **{no: yes for yes, no in _OPPOSITE.items()}}


class Declarations:
    """Reads what is declared in a file, in its order. Processes and functions may be used before."""

    def __init__(self, report: Reporter, poisoned: frozenset[str]) -> None:
        self.report = report
        self.world = GlobalScope(poisoned=poisoned, library=library())
        self.name: str | None = None
        self.registers: list[tree.Declarator] = []
        self.claims: list[MessageClaim] = []
        self._constants = ProcessScope(self.world, report, None, {})
        self._first: Span | None = None

    def read(self, program: ast.ProgramTree) -> GlobalScope:
        """Return what the names of a program mean."""
        for item in tree.declarations(program):
            self._item(item)
        return self.world

    def _item(self, item: tree.Declaration) -> None:
        match item:
            case ast.ProgramName(name):
                if self._first is not None:
                    said = f"a second `program` line; the first is on line {self._first.line}"
                    self.report.error("RR206", item.span, said)
                    return
                self.name, self._first = name.text, item.span
            case ast.Constants(bindings):
                for binding in bindings:
                    self._constant(binding)
            case tree.PortLine(names):
                for name in names:
                    self._port(name)
            case tree.RegisterLine(registers):
                for declared in registers:
                    self._register(declared)
            case tree.FunctionItem():
                self._function(item)
            case tree.Proc():
                self._proc(item)
            case tree.ExpectLine():
                self._expect(item)
            case ast.BrokenStatement():
                pass

    def _is_new(self, name: ast.Ident) -> bool:
        """Note where a name is declared that stands in expressions; an error if it was before."""
        before = self.world.first.setdefault(name.text, name.span)
        if before is not name.span:
            self.report.error("RR904", name.span, f"{quote(name.text)} was declared before, on line {before.line}")
        elif name.text in BUILT_IN:
            self.report.error("RR904", name.span, f"{quote(name.text)} has a meaning of its own in expressions")
        return before is name.span

    def _number(self, expr: object) -> int | None:
        """Return the value of a constant expression, None after an error."""
        term = self._constants.term(expr)
        if isinstance(term, Const):
            return term.value
        if not self.report.failed:
            self.report.error("RR916", tree.operand(expr).span, "this is no constant")
        return None

    def _constant(self, binding: ast.Binding) -> None:
        value = self._number(binding.value)
        if self._is_new(binding.name):
            self.world.constants[binding.name.text] = DeclaredConstant(value, binding.name.span)

    def _port(self, name: ast.Ident) -> None:
        if name.text == COLLECTIVE:
            hint = "take another name; `barrier()` and the like use this port"
            self.report.error("RR920", name.span, f"the port {quote(name.text)} is that of the library", hint=hint)
        elif name.text in self.world.ports:
            self.report.error("RR904", name.span, f"the port {quote(name.text)} was declared before")
        self.world.ports.setdefault(name.text, len(self.world.ports) + 1)

    def _register(self, declared: tree.Declarator) -> None:
        if isinstance(declared.value, tree.FunctionCall) and declared.value.name.text not in BUILT_IN:
            hint = "call it at the start of the processes that need it"
            self.report.error("RR905", declared.value.span, "no function is called outside of processes", hint=hint)
        if self._is_new(declared.name):
            self.world.globals[declared.name.text] = LocalName(declared.name.text, "register", declared.name.span)
            self.registers.append(declared)

    def _function(self, item: tree.FunctionItem) -> None:
        name = item.name
        before = self.world.functions.get(name.text)
        if before is not None:
            line = before.name.span.line
            self.report.error("RR904", name.span, f"the function {quote(name.text)} was declared before, on line {line}")
        elif name.text in BUILT_IN:
            self.report.error("RR920", name.span, f"{quote(name.text)} has a meaning of its own in expressions")
        else:
            self.world.functions[name.text] = item

    def _proc(self, item: tree.Proc) -> None:
        low, size = 0, 1
        if item.numbers is not None:
            bounds = self._number(item.numbers.low), self._number(item.numbers.high)
            low, high = bounds[0] or 0, bounds[1]
            size = 0 if bounds[0] is None or high is None else high - low + 1
            if size < 0:
                said = f"from {low} to {high} there are fewer than no processes"
                self.report.error("RR918", item.numbers.span, said, hint="write the smaller number first")
                size = 0
        if not self._is_new(item.name):
            return
        if self.world.processes + size > MAX_PROCESSES:
            self.report.error("RR918", item.name.span, f"there are more than {MAX_PROCESSES:,} processes")
            size = 0
        self.world.families[item.name.text] = ProcessFamily(item, self.world.processes, low, size)
        self.world.processes += size

    def _expect(self, line: tree.ExpectLine) -> None:
        said: dict[Buffer, Span] = {}
        for word in line.buffers:
            if said.setdefault(word.buffer, word.span) is not word.span:
                self.report.error("RR921", word.span, f"`{word.buffer}` is said twice", hint="take one of them out")
        for claim in line.claims:
            self._claim(claim, tuple(said) or BUFFERS)

    def _claim(self, claim: tree.ClaimWords, buffers: tuple[Buffer, ...]) -> None:
        for before in self.claims:
            shared = [each for each in before.buffers if each in buffers]
            at = f"{before.span.line}:{before.span.column}"
            if not shared or before.kind not in (claim.kind, _ABOUT.get(claim.kind)):
                continue
            same = before.kind == claim.kind and before.number == claim.number
            said = "is said twice; the first is at" if same else f"contradicts `{_shown(before)}` at"
            message = f"`{_shown(claim)}` under `{shared[0]}` {said} {at}"
            self.report.error("RR921", claim.span, message, hint="take one of them out")
            return
        self.claims.append(MessageClaim(claim.kind, buffers, claim.number, self.report.at(claim.span)))


def _shown(claim: tree.ClaimWords | MessageClaim) -> str:
    return f"matchings {claim.number}" if claim.kind == "matchings" else claim.kind
