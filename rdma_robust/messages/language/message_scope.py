"""Expressions, places and the patterns of messages in one process or function: names resolved, constants computed.

More than 400 lines: one scope, whose names every statement with an expression or a place is resolved in.
"""

from __future__ import annotations

from collections.abc import Mapping

from rdma_robust.diagnose import Reporter, did_you_mean, meant_at, quote
from rdma_robust.errors import Span
from rdma_robust.expr import Const, Name
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.collective_kinds import COLLECTIVES, FOLDS, FoldName
from rdma_robust.messages.language.message_folding import fold_operation
from rdma_robust.messages.language.message_program import (
    Abort,
    Completion,
    IssueCollective,
    IssueReceive,
    IssueSend,
    Place,
    Probe,
    Statement,
)
from rdma_robust.messages.language.message_terms import LONGEST, Element, Length, Operation, Term, Zeros
from rdma_robust.messages.language.message_world import BUILT_IN, TRUTHS, GlobalScope, LocalKind, LocalName, ProcessFamily

NOTHING = Const(0)
"""Stands for what was an error."""


class ProcessScope:
    """The names of one process or function, as far as it was read, and the expressions over them.

    `pid` is the own number, and `values` are constants besides those of the program. Where `strict` is false nothing is said
    of constants that are out of range: the statement may never be executed.
    """

    def __init__(
        self, world: GlobalScope, report: Reporter, pid: Term | None, values: Mapping[str, Term], prefix: str = ""
    ) -> None:
        self.world = world
        self.report = report
        self.pid = pid
        self.values = dict(values)
        self.prefix = prefix
        self.strict = True
        self.locals: dict[str, LocalName] = {}
        self.declared: list[tuple[str, LocalName]] = []
        """All that was ever declared, in the order of the text."""

    def declare(self, name: ast.Ident, kind: LocalKind, *, array: bool = False) -> LocalName:
        """Return what `name` is from here on; an error if it is something already."""
        text = name.text
        before = self.locals.get(text)
        made = LocalName(self.prefix + text, kind, name.span, array, again=before is not None)
        self.locals[text] = made
        self.declared.append((text, made))
        if before is not None and kind == before.kind and not before.visible:
            return made
        first = self.world.first.get(text) if before is None else before.span
        if text in self.values:
            self.report.error("RR904", name.span, f"{quote(text)} is a number in this process already")
        elif first is not None:
            self.report.error("RR904", name.span, f"{quote(text)} was declared before, on line {first.line}")
        elif text in BUILT_IN:
            self.report.error("RR904", name.span, f"{quote(text)} has a meaning of its own in expressions")
        return made

    def leave(self, before: int) -> None:
        """Note that a block ends, at whose start so many names were declared: those of it are known no more."""
        for _, local in self.declared[before:]:
            local.visible = False

    def find(self, name: ast.Ident) -> LocalName | None:
        """Return the register, request or counter that a name means here."""
        found = self.locals.get(name.text)
        if found is not None and found.visible:
            found.used = True
            return found
        glob = self.world.globals.get(name.text)
        if glob is not None:
            glob.used = True
        return glob

    def is_named(self, name: ast.Ident) -> None:
        """Note that a register or constant is named somewhere else, such as in a contract."""
        if self.find(name) is None and name.text in self.world.constants:
            self.world.constants[name.text].used = True

    def term(self, expr: object) -> Term:
        """Return the meaning of an expression."""
        match tree.operand(expr):
            case ast.NumberLiteral(value):
                return Const(value)
            case tree.OwnNumber():
                return self._known(self.pid, "PID", expr)
            case tree.ProcessCount():
                return self._known(None if self.pid is None else self.world.count(), "NPROCS", expr)
            case ast.Unary(op, arg):
                return fold_operation(op, self.term(arg))
            case ast.Binary(op, left, right):
                return self._binary(op, left, right)
            case tree.FunctionCall() as call:
                return self._built_in(call)
            case tree.IndexedName() as indexed:
                return self._value(indexed)

    def _known(self, term: Term | None, word: str, expr: object) -> Term:
        if term is None:
            span = tree.operand(expr).span
            self.report.error("RR916", span, f"{quote(word)} is not known here: only constants are")
        return NOTHING if term is None else term

    def _binary(self, op: str, left: object, right: object) -> Term:
        terms = self.term(left), self.term(right)
        if self.strict and op in "/%" and terms[1] == Const(0):
            self.report.error("RR917", tree.operand(right).span, "division by zero")
        return fold_operation(op, *terms)

    def _built_in(self, call: tree.FunctionCall) -> Term:
        name, arguments = call.name.text, call.arguments
        if name not in BUILT_IN:
            self._no_value(call)
            return NOTHING
        if len(arguments) != 1:
            self.report.error("RR906", call.span, f"`{name}` takes one argument, and here are {len(arguments) or 'none'}")
            return NOTHING
        term = self.term(arguments[0])
        return self.zeros(term, arguments[0].span) if name == "new" else Length(term)

    def zeros(self, size: Term, span: Span) -> Term:
        """Return an array of zeros; an error if there cannot be so many."""
        if self.strict and isinstance(size, Const) and size.value < 0:
            self.report.error("RR922", span, f"an array of {size.value} elements")
        if isinstance(size, Const) and size.value > LONGEST:
            self.report.error("RR922", span, f"an array of more than {LONGEST:,} elements")
            return Zeros(Const(0))
        return Zeros(size)

    def _no_value(self, call: tree.FunctionCall) -> None:
        name = call.name.text
        if name in self.world.poisoned:
            return
        if self.world.function(name) is None:
            self.unknown_function(call)
            return
        hint = f"write `r = {name}(...)` for a register `r` before, and use `r`"
        self.report.error("RR905", call.span, "a call stands alone on the right of `=`, not in an expression", hint=hint)

    def unknown_function(self, call: tree.FunctionCall) -> None:
        """Report that nothing of this name can be called."""
        name = call.name.text
        if name in self.world.poisoned:
            return
        known = [*self.world.functions, *self.world.library, *BUILT_IN]
        hint = meant_at(call.name.span, name, known)
        self.report.error("RR902", call.name.span, f"there is no function {quote(name)}", hint=hint)

    def _value(self, indexed: tree.IndexedName) -> Term:
        name, text = indexed.name, indexed.name.text
        if text in self.values:
            return self._number(indexed, self.values[text])
        local = self.find(name)
        if local is not None:
            return self._of_local(indexed, local)
        if text in self.world.constants:
            constant = self.world.constants[text]
            constant.used = True
            return self._number(indexed, Const(constant.value or 0))
        if text in self.world.families and self.pid is not None:
            return self._process(indexed, self.world.families[text])
        if text in TRUTHS:
            return self._number(indexed, Const(TRUTHS[text]))
        self._unknown(name)
        for index in indexed.indices:
            self.term(index)
        return NOTHING

    def _number(self, indexed: tree.IndexedName, term: Term) -> Term:
        if indexed.indices:
            self.report.error("RR911", indexed.span, f"{quote(indexed.name.text)} is a number and has no elements")
        return term

    def _of_local(self, indexed: tree.IndexedName, local: LocalName) -> Term:
        if local.kind == "request":
            message = f"{quote(indexed.name.text)} is a request, and has no value"
            self.report.error(
                "RR910", indexed.span, message, hint="`wait` waits for it; what was received is in the register"
            )
            return NOTHING
        if self.pid is None:
            self.report.error("RR916", indexed.span, f"{quote(indexed.name.text)} is a register, and not known here")
            return NOTHING
        if local.kind == "counter":
            return self._number(indexed, Name(local.written))
        found: Term = Name(local.written)
        for index in indexed.indices:
            found = Element(found, self.term(index))
        return found

    def _process(self, indexed: tree.IndexedName, family: ProcessFamily) -> Term:
        """Return the number of a process: `first + (k - low)`, and `new(size)[k - low]`, which is 0 or a fault."""
        name = indexed.name.text
        if not family.numbered:
            if indexed.indices:
                self.report.error("RR913", indexed.span, f"{quote(name)} is one process", hint=f"write `{name}`")
            return Const(family.first)
        if len(indexed.indices) != 1:
            said = f"{quote(name)} are {family.size} processes: which one?"
            self.report.error(
                "RR913", indexed.span, said, hint=f"write `{name}[{family.low}]`, or a register in the brackets"
            )
            return Const(family.first)
        index = self.term(indexed.indices[0])
        shifted = fold_operation("-", index, Const(family.low)) if family.low else index
        if isinstance(shifted, Const) and 0 <= shifted.value < family.size:
            return Const(family.first + shifted.value)
        if isinstance(shifted, Const) and self.strict:
            high = family.low + family.size - 1
            said = f"there is no process {quote(f'{name}[{shifted.value + family.low}]')}"
            numbers = f"a number from {family.low} to {high}" if family.size else ""
            self.report.error("RR914", indexed.span, said, expected=numbers)
        checked = Element(Zeros(Const(family.size)), shifted)
        return fold_operation("+", Const(family.first), Operation("+", (shifted, checked)))

    def _unknown(self, name: ast.Ident) -> None:
        text = name.text
        if text in self.world.poisoned:
            return
        hidden = self.locals.get(text)
        if hidden is not None:
            hint = f"what line {hidden.span.line} declares is known in its block only"
            self.report.error("RR901", name.span, f"{quote(text)} is not known here", hint=hint)
        elif self.world.function(text) is not None:
            said = f"{quote(text)} is a function, and has no value"
            self.report.error("RR901", name.span, said, hint=f"a call is written {quote(f'{text}(...)')}")
        elif self.pid is not None:
            names = [*self.locals, *self.values, *self.world.values()]
            hint_at = meant_at(name.span, text, names) or f"`reg {text}` declares a register"
            self.report.error("RR901", name.span, f"there is nothing called {quote(text)}", hint=hint_at)
        else:
            known = did_you_mean(text, self.world.constants)
            self.report.error("RR916", name.span, f"{quote(text)} is no constant that was declared before", hint=known)

    def register(self, indexed: tree.IndexedName) -> Place:
        """Return the place of a register or element of an array, to which something is stored."""
        name, text = indexed.name, indexed.name.text
        local = None if text in self.values else self.find(name)
        indices = tuple(self.term(index) for index in indexed.indices)
        if local is None or local.kind != "register":
            self._not_stored(indexed, local)
            return Place(text)
        return Place(local.written, indices)

    def _not_stored(self, indexed: tree.IndexedName, local: LocalName | None) -> None:
        text = indexed.name.text
        if local is not None and local.kind == "request":
            said = f"{quote(text)} is a request: only `isend` and `irecv` give it something"
            self.report.error("RR910", indexed.span, said)
            return
        what = None
        if local is not None:
            what = "the counter of a `for`, which only the `for` changes"
        elif text in self.values:
            what = "a number of this process, and never changes"
        elif text in self.world.constants:
            what = "a constant"
        elif text in self.world.families:
            what = "a process"
        if what is None:
            self._unknown(indexed.name)
        else:
            self.report.error("RR912", indexed.span, f"{quote(text)} is {what}", expected="a register")

    def request(self, indexed: tree.IndexedName, *, whole: bool = False) -> Place:
        """Return the place of one request or, where `whole` arrays may stand, of an array of them."""
        name, text = indexed.name, indexed.name.text
        indices = tuple(self.term(index) for index in indexed.indices)
        local = None if text in self.values else self.find(name)
        if local is None or local.kind != "request":
            if text not in self.world.poisoned:
                hint = f"`req {text}` declares a request"
                self.report.error("RR910", indexed.span, f"{quote(text)} is no request", hint=hint)
            return Place(text)
        if len(indices) > 1 or (indices and not local.array):
            what = "is one request" if not local.array else "is an array of requests, with one index"
            self.report.error("RR911", indexed.span, f"{quote(text)} {what}")
        elif local.array and not indices and not whole:
            self.report.error("RR911", indexed.span, f"{quote(text)} is an array of requests: which one?")
        return Place(local.written, indices)

    def port(self, name: ast.Ident | None) -> int:
        """Return the number of a port; 0 for the nameless one."""
        if name is None:
            return 0
        found = self.world.ports.get(name.text)
        if found is None and name.text not in self.world.poisoned:
            hint = did_you_mean(name.text, self.world.ports) or f"`port {name.text}` outside of processes declares it"
            self.report.error("RR903", name.span, f"there is no port {quote(name.text)}", hint=hint)
        return found or 0

    def group(self, name: ast.Ident | None) -> int:
        """Return the number of a group; 0 for that of all processes."""
        if name is None:
            return 0
        if name.text not in self.world.groups and name.text not in self.world.poisoned:
            hint = did_you_mean(name.text, self.world.groups) or f"`group {name.text} = {{0, 1}}` outside of processes"
            self.report.error("RR903", name.span, f"there is no group {quote(name.text)}", hint=hint)
            return 0
        return list(self.world.groups).index(name.text) + 1 if name.text in self.world.groups else 0


def issued_send(scope: ProcessScope, line: tree.SendLine, request: Place, span: Span) -> IssueSend:
    """Return the issue of a send."""
    value, to = scope.term(line.value), scope.term(line.to)
    _check_process(scope, to, line.to)
    port = scope.port(line.port)
    tag = NOTHING if line.tag is None else scope.term(line.tag)
    _check_tag(scope, tag, line.tag)
    of_type, size = (None if each is None else scope.term(each) for each in (line.of_type, line.size))
    return IssueSend(request, value, to, port, tag, span, line.mode, of_type, size)


def issued_receive(scope: ProcessScope, line: tree.ReceiveLine, request: Place, span: Span) -> IssueReceive:
    """Return the issue of a receive."""
    target = scope.register(line.target)
    source, sender = _pattern(scope, line.source)
    _check_process(scope, source, line.source)
    port = scope.port(line.port)
    tag, which = _pattern(scope, line.tag)
    _check_tag(scope, tag, line.tag)
    of = None if line.of is None else scope.request(line.of)
    of_type, room = (None if each is None else scope.term(each) for each in (line.of_type, line.room))
    return IssueReceive(request, target, source, port, tag, sender, which, span, of, of_type, room)


def issued_collective(scope: ProcessScope, line: tree.CollectiveLine, request: Place, span: Span) -> IssueCollective:
    """Return the call of a collective operation."""
    name = line.name.text
    kind = COLLECTIVES.get(name)
    if kind is None:
        hint = did_you_mean(name, COLLECTIVES) or f"there are {', '.join(sorted(COLLECTIVES))}"
        scope.report.error("RR923", line.name.span, f"there is no collective operation {quote(name)}", hint=hint)
        kind = COLLECTIVES["barrier"]
    elif kind.is_rooted and line.root is None:
        scope.report.error("RR924", line.span, f"{quote(name)} has a root", hint=f"`collective {name} root P`")
    fold = _fold(line.op)
    known = fold is not None or line.op is None
    if line.get is not None and (kind.gets == "nothing" or not (known or "fold" not in kind.gets)):
        why = "gives no value" if kind.gets == "nothing" else f"gives one where its `op` is one of {', '.join(FOLDS)}"
        scope.report.error("RR924", line.get.span, f"{quote(name)} {why}", hint="leave out `get`")
    root, give = (None if each is None else scope.term(each) for each in (line.root, line.give))
    _check_process(scope, root, line.root)
    op = None if line.op is None or fold is not None else scope.term(line.op)
    sig = None if line.sig is None else scope.term(line.sig)
    get = None if line.get is None else scope.register(line.get)
    group, blocking = scope.group(line.group), line.request is None
    return IssueCollective(request, name, group, root, op, sig, give, get, fold or "", blocking, span)


def _fold(op: tree.Operand | None) -> FoldName | None:
    """Return the operation that a name behind `op` means, whatever else is called so."""
    if not isinstance(op, tree.IndexedName) or op.indices:
        return None
    return next((each for each in FOLDS if each == op.name.text), None)


def in_scope(scope: ProcessScope, line: tree.ProbeLine | tree.CompletionLine | tree.AbortLine, span: Span) -> Statement:
    """Return what a statement is that has no others in it and no request of its own."""
    match line:
        case tree.ProbeLine():
            return _probed(scope, line, span)
        case tree.CompletionLine():
            return _completion(scope, line, span)
        case tree.AbortLine(error):
            return Abort(scope.term(error), span)


def _probed(scope: ProcessScope, line: tree.ProbeLine, span: Span) -> Probe:
    """Return a look for a message."""
    source, sender = _pattern(scope, line.source)
    _check_process(scope, source, line.source)
    port = scope.port(line.port)
    tag, which = _pattern(scope, line.tag)
    _check_tag(scope, tag, line.tag)
    flag = None if line.flag is None else scope.register(line.flag)
    taken = None if line.taken is None else scope.request(line.taken)
    return Probe(source, port, tag, sender, which, flag, span, taken)


def _completion(scope: ProcessScope, line: tree.CompletionLine, span: Span) -> Completion:
    """Return the completion of requests that can be."""
    requests = tuple([scope.request(each, whole=True) for each in line.requests])
    stored: list[Place | None] = [scope.register(each) for each in line.into]
    has_flag = line.tests and line.how != "some"
    flag, which, places = [*([] if has_flag else [None]), *stored, None, None][:3]
    return Completion(requests, line.how or "all", line.tests, flag, which, places, span)


def _pattern(scope: ProcessScope, part: tree.AnyOf | tree.Operand | None) -> tuple[Term | None, Place | None]:
    """Return what must be matched, None for anything, and where it is stored."""
    if part is None:
        return None, None
    if isinstance(part, tree.AnyOf):
        return None, None if part.stored is None else scope.register(part.stored)
    return scope.term(part), None


def _check_process(scope: ProcessScope, term: Term | None, part: tree.AnyOf | tree.Operand | None) -> None:
    if not scope.strict or not isinstance(term, Const) or isinstance(part, tree.AnyOf) or part is None:
        return
    known = scope.world.processes
    if term.value < 0 or (known and term.value >= known):
        numbers = f"a number from 0 to {known - 1}" if known else "0 or more"
        scope.report.error("RR914", part.span, f"there is no process {term.value}", expected=numbers)


def _check_tag(scope: ProcessScope, term: Term | None, part: tree.AnyOf | tree.Operand | None) -> None:
    if scope.strict and isinstance(term, Const) and term.value < 0 and not isinstance(part, tree.AnyOf) and part is not None:
        scope.report.error("RR915", part.span, f"the tag {term.value} is negative", expected="0 or more")
