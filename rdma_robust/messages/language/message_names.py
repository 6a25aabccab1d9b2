"""Names in `.mp` programs: what is declared, and their check, once for each process and function whatever numbers are."""

from __future__ import annotations

from typing import Final

from rdma_robust.diagnose import Reporter, listing, quote
from rdma_robust.errors import Span
from rdma_robust.expr import Const, Name
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_library import library
from rdma_robust.messages.language.message_parts import contract_names, function_calls_in
from rdma_robust.messages.language.message_program import ALL_BUFFERS, BUFFERS, Buffer, MessageClaim, Statement
from rdma_robust.messages.language.message_scope import ProcessScope
from rdma_robust.messages.language.message_warnings import (
    warn_never_read,
    warn_of_ports,
    warn_of_requests,
    warn_unreached_lines,
    warn_unused_names,
)
from rdma_robust.messages.language.message_world import (
    BUILT_IN,
    COLLECTIVE,
    DeclaredConstant,
    GlobalScope,
    InFunction,
    LocalName,
    ProcessFamily,
    TooLargeError,
)
from rdma_robust.messages.language.writing_out import Writer


class NameCheck:
    """Reads the declarations of one program, and looks at every process and function. Errors and warnings go to `report`.

    `poisoned` are names of which nothing certain is known.
    """

    def __init__(self, report: Reporter, poisoned: frozenset[str]) -> None:
        self.report = report
        self.declared = Declarations(report, poisoned)

    def read(self, found: ast.ProgramTree, *, any_number: bool = False) -> GlobalScope:
        """Return what the names of a program mean; functions may be for `any_number` of processes."""
        world = self.declared.read(found)
        self._check(found, world, any_number)
        return world

    def _check(self, found: ast.ProgramTree, world: GlobalScope, any_number: bool) -> None:
        """Check every process and function once, whatever its number and its arguments are."""
        start = ProcessScope(world, self.report, Name("PID"), {})
        self.globals(Writer(start, world))
        checked: list[ProcessScope] = []
        known = world.processes
        for item in tree.declarations(found):
            if isinstance(item, tree.Proc):
                counter = {} if item.numbers is None else {item.numbers.counter.text: Name(item.numbers.counter.text)}
                self._check_counter(item, world)
                checked.append(self._check_body(ProcessScope(world, self.report, Name("PID"), counter), world, item))
            elif isinstance(item, tree.FunctionItem):
                world.processes = 0 if any_number else known
                checked.append(self._check_body(ProcessScope(world, self.report, Name("PID"), {}), world, item))
                world.processes = known
        warn_unused_names(world, (each for scope in checked for each in scope.declared), self.report)
        warn_of_ports(found, self.report)
        for function in world.functions.values():
            self._check_recursion(function, world)

    def _check_counter(self, item: tree.Proc, world: GlobalScope) -> None:
        name = None if item.numbers is None else item.numbers.counter
        before = None if name is None else world.first.get(name.text)
        if name is not None and before is not None:
            self.report.error("RR904", name.span, f"{quote(name.text)} was declared before, on line {before.line}")

    def _check_body(self, scope: ProcessScope, world: GlobalScope, item: tree.Proc | tree.FunctionItem) -> ProcessScope:
        """Check a process or function, and return its names."""
        writer = Writer(scope, world, inside=InFunction("result") if isinstance(item, tree.FunctionItem) else None)
        if isinstance(item, tree.FunctionItem):
            for parameter in item.parameters:
                scope.declare(parameter, "register")
            for name in () if item.contract is None else contract_names(item.contract):
                scope.is_named(name)
        try:
            writer.block(item.body)
        except TooLargeError as too_large:
            self.report.error("RR919", item.name.span, f"{quote(item.name.text)} has {too_large}")
        warn_of_requests(item.body, self.report)
        warn_never_read(item.body, self.report)
        warn_unreached_lines(
            item.body, self.report, "the function" if isinstance(item, tree.FunctionItem) else "the process"
        )
        return scope

    def _check_recursion(self, function: tree.FunctionItem, world: GlobalScope) -> None:
        """Report a function that comes to call itself, where it calls the first one of that circle."""
        name = function.name.text
        for call in function_calls_in(function.body):
            path = _path(call.name.text, name, world)
            if path is not None:
                circle = listing((quote(each) for each in path), "and then")
                said = f"{quote(name)} calls itself" if len(path) == 1 else f"{quote(name)} calls itself: it calls {circle}"
                self.report.error("RR907", call.span, said, hint="use `while` or `for`: functions are written out")

    def globals(self, writer: Writer) -> list[Statement]:
        """Return what gives the registers their first values that are declared outside of processes."""
        found: list[Statement] = []
        for declared in self.declared.registers:
            found += writer.set_global(declared)
        return found


def _path(start: str, goal: str, world: GlobalScope) -> list[str] | None:
    """Return the functions from `start` to `goal` by which one calls the next, None if there are none."""
    paths, seen = [[start]], {start}
    for path in paths:
        if path[-1] == goal:
            return path
        function = world.functions.get(path[-1])
        for call in () if function is None else function_calls_in(function.body):
            if call.name.text not in seen:
                seen.add(call.name.text)
                paths.append([*path, call.name.text])
    return None


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
        self.eager: int | None = None
        self._constants = ProcessScope(self.world, report, None, {})
        self._first: Span | None = None

    def read(self, program: ast.ProgramTree) -> GlobalScope:
        """Return what the names of a program mean."""
        lines = [each for each in tree.declarations(program) if isinstance(each, tree.ExpectLine)]
        self.eager = next((word.limit for line in lines for word in line.buffers if word.limit is not None), None)
        for item in tree.declarations(program):
            self._item(item)
        for item in tree.declarations(program):
            if isinstance(item, tree.GroupLine):
                self._group(item)
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
            case tree.GroupLine() | ast.BrokenStatement():
                pass

    def _group(self, line: tree.GroupLine) -> None:
        """Note a group, whose members may be named before they are declared; each is in it once."""
        name, members = line.name.text, list[int]()
        scope = ProcessScope(self.world, self.report, Name("PID"), {})
        for each in line.members:
            term = scope.term(each)
            if not isinstance(term, Const):
                self.report.error("RR916", each.span, "this is no constant")
            elif term.value in members or not 0 <= term.value < self.world.processes:
                why = "is in it already" if term.value in members else "is not there"
                self.report.error("RR914", each.span, f"process {term.value} {why}")
            else:
                members.append(term.value)
        if name in self.world.groups:
            self.report.error("RR904", line.name.span, f"the group {quote(name)} was declared before")
        self.world.groups.setdefault(name, tuple(members))

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
            if word.limit not in (None, self.eager):
                about = f"`eager {word.limit}` contradicts `eager {self.eager}` further above"
                self.report.error("RR921", word.span, about, hint="a program has one limit; `--eager N` sets another")
            if said.setdefault(word.buffer, word.span) is not word.span:
                self.report.error("RR921", word.span, f"`{word.buffer}` is said twice", hint="take one of them out")
        for claim in line.claims:
            self._claim(claim, tuple(said) or (BUFFERS if self.eager is None else ALL_BUFFERS))

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
