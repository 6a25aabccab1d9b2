"""Statements of checked message programs as statements of the language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from rdma_robust.errors import NO_SPAN, InternalError
from rdma_robust.expr import Const, Name
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.formatter import format_tree
from rdma_robust.messages.language import message_program as made
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_library import library
from rdma_robust.messages.language.message_printer import MESSAGE_STYLE
from rdma_robust.messages.language.message_terms import Term, term_names
from rdma_robust.messages.language.written_terms import Families, TermTrees, TextNames
from rdma_robust.text import free_name


@dataclass(slots=True)
class Functions:
    """The functions that are written, each text once."""

    items: list[tree.FunctionItem] = field(default_factory=list)
    _named: dict[str, str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def name_of(self, name: str, parameters: Sequence[str], body: ast.Block) -> str:
        """Return what a function is called in the text, which has it from now on; `name` if there is no other of it."""
        item = tree.FunctionItem(ast.Ident(name), tuple(map(ast.Ident, parameters)), body)
        text = format_tree(ast.ProgramTree(tree.as_part((item,))), MESSAGE_STYLE)
        if text not in self._named:
            self._named[text] = shown = free_name(name, self._taken)
            self.items.append(tree.FunctionItem(ast.Ident(shown), item.parameters, body))
        return self._named[text]


@dataclass(slots=True)
class ProgramText:
    """The text that all processes of a program share: names, functions, and the registers outside of them."""

    program: made.MessageProgram
    families: Families
    names: TextNames
    shared: Sequence[str]
    functions: Functions = field(default_factory=Functions)


def foreign_names(block: made.Block) -> Iterator[str]:
    """Yield the registers that functions use in a block and do not have themselves: those outside of processes."""
    for statement in block:
        if isinstance(statement, made.InlinedCall):
            yield from (name for name in _used(statement.body) if "." not in name and name[0] != "$")
            continue
        for inner in made.inner_blocks(statement):
            yield from foreign_names(inner)


def _used(block: made.Block) -> Iterator[str]:
    """Yield the names in a block, those of functions that are called there too."""
    for statement in block:
        for part in _parts(statement):
            yield from _names(part)
        for inner in made.inner_blocks(statement):
            yield from _used(inner)


def _parts(statement: made.Statement) -> Iterator[Term | made.Place]:
    for name in statement.__slots__:
        value = getattr(statement, name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, made.Place | Term):
                yield each


def _names(part: Term | made.Place) -> Iterator[str]:
    if isinstance(part, made.Place):
        yield part.name
    for term in part.indices if isinstance(part, made.Place) else (part,):
        yield from term_names(term)


class ProcessTree:
    """One process, or one call of a function in it, as statements of the language.

    A register is declared where it is first assigned in the text, or else at the start.
    """

    def __init__(
        self,
        text: ProgramText,
        process: made.Process,
        prefix: str = "",
        parameters: Sequence[str] = (),
    ) -> None:
        self._text = text
        self._process = process
        self._prefix = prefix
        self.terms = TermTrees(text.families, text.names, prefix)
        self._result = _result_of(prefix, process)
        self._known = {*text.shared, *parameters}
        """Names that are declared by now."""
        self._first: list[str] = []
        """Names that must be declared at the start."""
        self._all: Counter[str] = Counter()
        self._here: Counter[str] = Counter()
        """How often each name occurs in the process or function, and in the block that is read."""

    def block(self, body: made.Block) -> ast.Block:
        """Return all statements of the process or function."""
        self._all = Counter(_used(body))
        lines = self._lines(body)
        own = (name for name in self._process.registers if name.startswith(self._prefix))
        self._first += [name for name in own if not set("$.") & {*name.removeprefix(self._prefix)} and self._is_left(name)]
        registers = [name for name in self._first if name not in self._process.requests]
        requests = [name for name in self._first if name in self._process.requests]
        start: list[object] = []
        for names, line in ((registers, tree.RegisterLine), (requests, tree.RequestLine)):
            if names:
                start.append(line(tuple(tree.Declarator(self.terms.name(name), None) for name in names)))
        return ast.Block(tree.as_part((*start, *lines)))

    def _is_left(self, name: str) -> bool:
        """Whether a register is not declared by now, nor named as the result of the function."""
        return name not in self._known and not (self._prefix and name == self._result)

    def _lines(self, body: made.Block) -> list[object]:
        around, self._here = self._here, Counter(_used(body))
        found: list[object] = []
        at = 0
        while at < len(body):
            line, at = self._line(body, at)
            found.append(line)
        self._here = around
        return found

    def _is_declared_by(self, place: made.Place) -> bool:
        """Whether what is stored to is a register that nothing has declared, and that occurs in this block only."""
        name = place.name
        return not place.indices and name not in self._known and self._here[name] == self._all[name]

    def _inner(self, body: made.Block) -> ast.Block:
        return ast.Block(tree.as_part(tuple(self._lines(body))))

    def _line(self, body: made.Block, at: int) -> tuple[object, int]:
        """Return the statement that begins at `at`, and where the next one does."""
        end = self._call_ends(body, at)
        if end is not None:
            return self._call(body, at, end)
        statement = body[at]
        match statement:
            case made.Assign(made.Place(name, ()), value) if self._prefix and name == self._result:
                if at + 1 < len(body) and isinstance(body[at + 1], made.Return):
                    return tree.ReturnLine(self.terms.term(value)), at + 2
                return self._assign(statement), at + 1
            case made.Assign():
                return self._assign(statement), at + 1
            case made.IssueCollective(request):
                return self._collective(
                    statement, None if statement.blocking else self._place(request)
                ), at + 1 + statement.blocking
            case made.IssueSend() | made.IssueReceive():
                hidden = statement.request.name[0] == "$"
                return self._message(statement, None if hidden else self._place(statement.request)), at + 1 + hidden
            case _:
                return self._other(statement), at + 1

    def _note(self, part: Term | made.Place) -> None:
        """Have the names in something declared at the start, unless they are by now."""
        for name in _names(part):
            if name not in self._known:
                self._known.add(name)
                self._first.append(name)

    def _term(self, term: Term) -> tree.Operand:
        self._note(term)
        return self.terms.term(term)

    def _inside(self, term: Term) -> ast.Expr:
        return cast(ast.Expr, self._term(term))

    def _place(self, place: made.Place) -> tree.IndexedName:
        self._note(place)
        return self.terms.place(place)

    def _assign(self, statement: made.Assign) -> object:
        name, given = statement.target.name, statement.value
        if isinstance(given, Name) and self._is_foreign(given.name):
            given = Const(0)  # the result of a function that gives none here
        value = self._term(given)
        if not self._is_declared_by(statement.target):
            return ast.Assign(tree.as_part(self._place(statement.target)), tree.as_part(value))
        self._known.add(name)
        return tree.RegisterLine((tree.Declarator(self.terms.name(name), None, value),))

    def _message(self, statement: made.IssueSend | made.IssueReceive, request: tree.IndexedName | None) -> object:
        last = len(self._text.program.processes) - 1
        port = ast.Ident(self._text.program.ports[statement.port]) if statement.port else None
        if isinstance(statement, made.IssueSend):
            self._note(statement.value)
            self._note(statement.to)
            self._note(statement.tag)
            tag = None if statement.tag == Const(0) else self.terms.within(statement.tag, 0, None)
            value, to = self.terms.term(statement.value), self.terms.within(statement.to, 0, last)
            said = self._said(statement.of_type), self._said(statement.size)
            return tree.SendLine(request, value, to, port, tag, NO_SPAN, statement.mode, *said)
        target = self._place(statement.target)
        if statement.of is not None:
            return tree.ReceiveLine(request, target, None, None, None, of=self._place(statement.of))
        source = self._pattern(statement.source, statement.sender, last)
        tagged = self._pattern(statement.tag, statement.which, None)
        said = self._said(statement.of_type), self._said(statement.room)
        return tree.ReceiveLine(request, target, source, port, tagged, NO_SPAN, None, *said)

    def _collective(self, statement: made.IssueCollective, request: tree.IndexedName | None) -> tree.CollectiveLine:
        group = self._text.program.groups[statement.group].name
        root, sig, give = (self._said(each) for each in (statement.root, statement.sig, statement.give))
        op = tree.IndexedName(ast.Ident(statement.fold), ()) if statement.fold else self._said(statement.op)
        get = None if statement.get is None else self._place(statement.get)
        named = ast.Ident(group) if group else None
        return tree.CollectiveLine(request, ast.Ident(statement.name), named, root, op, sig, give, get)

    def _said(self, term: Term | None) -> tree.Operand | None:
        return None if term is None else self._term(term)

    def _pattern(self, term: Term | None, stored: made.Place | None, high: int | None) -> tree.AnyOf | tree.Operand | None:
        if term is None:
            return None if stored is None else tree.AnyOf(self._place(stored))
        if stored is not None:
            raise InternalError(f"no text of the language stores in {stored.name} what a pattern asks for")
        self._note(term)
        return self.terms.within(term, 0, high)

    def _other(self, statement: made.Statement) -> object:
        match statement:
            case made.Probe(source, port, tag, sender, which, flag, taken=taken):
                last = len(self._text.program.processes) - 1
                named = ast.Ident(self._text.program.ports[port]) if port else None
                asked = self._pattern(source, sender, last), named, self._pattern(tag, which, None)
                held = None if taken is None else self._place(taken)
                return tree.ProbeLine(*asked, None if flag is None else self._place(flag), taken=held)
            case made.Requests(name, size):
                self._known.add(name)
                declared = tree.Declarator(self.terms.name(name), None if size is None else self._term(size))
                return tree.RequestLine((declared,))
            case made.Wait(()):
                return ast.Skip()
            case made.Wait(requests):
                return tree.WaitLine(tuple(map(self._place, requests)))
            case made.Completion(requests, how, tests, flag, which, places):
                into = tuple([self._place(each) for each in (flag, which, places) if each is not None])
                word: made.CompletionKind | Literal[""] = "" if how == "all" and len(requests) == 1 else how
                return tree.CompletionLine(tests, word, tuple(map(self._place, requests)), into)
            case made.Abort(error):
                return tree.AbortLine(self._term(error))
            case made.Assume(condition):
                return ast.Assume(self._inside(condition))
            case made.Assert(condition):
                return ast.Assert(self._inside(condition))
            case made.Halt():
                return ast.Halt()
            case made.Return():
                return tree.ReturnLine(None)
            case made.If():
                return self._if(statement)
            case made.While(condition, inner):
                return ast.While(self._inside(condition), self._inner(inner))
            case made.For(counter, low, high, inner):
                bounds = self._inside(low), self._inside(high)
                self._known.add(counter)
                return ast.For(self.terms.name(counter), *bounds, self._inner(inner))
            case made.Loop(inner):
                return ast.Loop(self._inner(inner))
            case made.Choose(branches):
                return ast.Choose(tuple(map(self._inner, branches)))
        raise InternalError(f"no statement of the language is {statement}")

    def _if(self, statement: made.If) -> ast.If:
        arms = []
        other: made.Block = (statement,)
        while len(other) == 1 and isinstance(other[0], made.If):
            inner = other[0]
            arms.append(ast.Arm(self._inside(inner.condition), self._inner(inner.then)))
            other = inner.other
        return ast.If(tuple(arms), self._inner(other) if other else None)

    def _is_foreign(self, name: str) -> bool:
        """Whether a register is that of a function that is called here."""
        return "." in name.removeprefix(self._prefix).removeprefix(".")

    def _call_ends(self, body: made.Block, at: int) -> int | None:
        """Return where the function is that is called here: before it stand its parameters and the mark of the library."""
        for end in range(at, len(body)):
            statement = body[end]
            match statement:
                case made.InlinedCall():
                    return end
                case made.CollectiveCall():
                    pass
                case made.Assign(made.Place(name, ())) if self._is_foreign(name):
                    pass
                case _:
                    return None
        return None

    def _call(self, body: made.Block, at: int, end: int) -> tuple[object, int]:
        inlined = body[end]
        assert isinstance(inlined, made.InlinedCall)
        given: dict[str, Term] = {}
        prefix, marked = f"{inlined.name}.", None
        for statement in body[at:end]:
            if isinstance(statement, made.CollectiveCall):
                marked = statement
            elif isinstance(statement, made.Assign):
                start, _, base = statement.target.name.partition(".")
                prefix = f"{start}."
                given[base] = statement.value
        prefix = _prefix_in(inlined, prefix)
        result = _result_of(prefix, self._process)
        given.pop(result.removeprefix(prefix), None)
        if marked is not None:
            call = self._library_call(marked, given)
        else:
            parameters = [f"{prefix}{base}" for base in given]
            inner = ProcessTree(self._text, self._process, prefix, parameters)
            written = inner.block(inlined.body)
            shown = [inner.terms.name(parameter).text for parameter in parameters]
            name = self._text.functions.name_of(inlined.name, shown, written)
            call = tree.FunctionCall(ast.Ident(name), tuple(map(self._term, given.values())))
        after = body[end + 1] if end + 1 < len(body) else None
        value = after.value if isinstance(after, made.Assign) else None
        if isinstance(after, made.Assign) and value == Name(result) and result in _used(inlined.body):
            return self._stored(after.target, call), end + 2
        return tree.CallLine(call), end + 1

    def _library_call(self, marked: made.CollectiveCall, given: dict[str, Term]) -> tree.FunctionCall:
        function = library().get(marked.name)
        parameters = [] if function is None else [each.text for each in function.parameters]
        arguments = {**given, **({} if marked.root is None or "root" in given else {"root": marked.root})}
        if function is None or not arguments.keys() <= set(parameters) <= arguments.keys():
            raise InternalError(f"{marked.name} is not called as the library is")
        return tree.FunctionCall(ast.Ident(marked.name), tuple(self._term(arguments[each]) for each in parameters))

    def _stored(self, place: made.Place, call: tree.FunctionCall) -> object:
        if not self._is_declared_by(place):
            return ast.Assign(tree.as_part(self._place(place)), tree.as_part(call))
        self._known.add(place.name)
        return tree.RegisterLine((tree.Declarator(self.terms.name(place.name), None, call),))


def _result_of(prefix: str, process: made.Process) -> str:
    """Return the register of a function's result, which gives way to one that the function has by that name."""
    given_way = f"{prefix}.result"
    return given_way if given_way in process.registers else f"{prefix}result"


def _prefix_in(inlined: made.InlinedCall, prefix: str) -> str:
    """Return the prefix of a function's registers: of one without parameters from what it stores to, if it does."""
    start = f"{inlined.name}."
    again = f"{inlined.name}@"
    own = [name for name in _used(inlined.body) if name.startswith((start, again))]
    return f"{own[0].partition('.')[0]}." if own and prefix == start else prefix
