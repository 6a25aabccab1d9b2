"""The statements of one process as flat code: local steps, and the points at which something visible happens."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields
from typing import Final, assert_never

from rdma_robust.contracts.runs.branch_merging import Go, merge_branches, only_computes
from rdma_robust.contracts.runs.run_points import (
    AwaitPoint,
    CalleePoint,
    ClaimPoint,
    EntryPoint,
    ExitPoint,
    Goto,
    Halted,
    Instruction,
    LocalStep,
    NonBlockingError,
    Pick,
    PostPoint,
    ReceivePoint,
    RequestPoint,
    RunCode,
    SendPoint,
    Spot,
)
from rdma_robust.contracts.runs.run_terms import TooManyError
from rdma_robust.contracts.runs.symbolic_data import Decisions
from rdma_robust.contracts.runs.term_code import Code, Registers, code_of
from rdma_robust.errors import Span
from rdma_robust.expr import Name
from rdma_robust.messages.language.message_program import (
    Assert,
    Assign,
    Assume,
    Block,
    Choose,
    CollectiveCall,
    For,
    Halt,
    If,
    InlinedCall,
    IssueReceive,
    IssueSend,
    Loop,
    Place,
    Process,
    Requests,
    Return,
    Statement,
    Wait,
    While,
)
from rdma_robust.messages.language.message_terms import Term

_BITS: Final = 100_000
"""Of a number in a register."""


def run_code(
    process: Process, contracted: Collection[str], abstract: Collection[str] = (), *, rendezvous: bool = False
) -> RunCode:
    """Return the code of a process; `contracted` are the functions whose entries and exits are points of their own.

    The bodies of those that are `abstract` are left out, if another function calls them. Where the process posts receives,
    or a send is complete only when it is got (`rendezvous`), all receives are posted and waited for. Raises
    NonBlockingError for posted receives from any in a function of whose callees only contracts count.
    """
    receives = list(_own_receives(process.body, abstract))
    posts = any(each.request.name != "$recv" for each in receives)
    if abstract and posts and any(each.source is None for each in receives):
        raise NonBlockingError("a receive from any, where receives are posted")
    maker = _Maker(contracted, abstract, posts=posts or rendezvous, rendezvous=rendezvous)
    maker.block(process.body)
    maker.code.append(Halted(process.span))
    for at in maker.returns.pop():
        maker.code[at] = Goto(len(maker.code) - 1)
    (function,) = process.body
    assert isinstance(function, InlinedCall)
    given = tuple((name, term.name) for name, term in function.call.arguments if isinstance(term, Name))
    registers = tuple(dict.fromkeys((*process.registers, *maker.registers)))
    return RunCode(tuple(maker.code), registers, given, rendezvous)


def _own_receives(part: object, abstract: Collection[str], *, outermost: bool = True) -> Iterator[IssueReceive]:
    """Yield the receives in statements but for those in bodies that are left out."""
    if isinstance(part, tuple):
        for each in part:
            yield from _own_receives(each, abstract, outermost=outermost)
    elif isinstance(part, IssueReceive):
        yield part
    elif isinstance(part, InlinedCall):
        if outermost or part.name not in abstract:
            yield from _own_receives(part.body, abstract, outermost=False)
    elif isinstance(part, If | While | For | Loop | Choose):
        for field in fields(part):
            yield from _own_receives(getattr(part, field.name), abstract, outermost=outermost)


class _Maker:
    """Appends the code of statements. `posts`: all receives are posted; `rendezvous`: all sends are waited for."""

    def __init__(
        self, contracted: Collection[str], abstract: Collection[str], *, posts: bool = False, rendezvous: bool = False
    ) -> None:
        self.contracted = contracted
        self.abstract = abstract
        self.posts = posts
        self.rendezvous = rendezvous
        self.code: list[Instruction] = []
        self.registers: list[str] = []
        self.returns: list[list[int]] = [[]]
        self.joins: list[list[int] | None] = [None]
        """For each function inside of another where its body ends, if it only computes."""

    def block(self, block: Block) -> None:
        for statement in block:
            self.statement(statement)

    def later(self) -> int:
        """Leave room for an instruction; return where."""
        self.code.append(Goto(0))
        return len(self.code) - 1

    def here(self) -> int:
        return len(self.code)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Assign(target, value, span):
                self._assign(target, code_of(value), span)
            case If():
                self._if(statement)
            case While(condition, body, span):
                test = self.later()
                self.block(body)
                self.code.append(Goto(test))
                self._test(test, condition, self.here(), span)
            case For():
                self._for(statement)
            case Loop(body, span):
                pick = self.later()
                self.block(body)
                self.code.append(Goto(pick))
                self.code[pick] = Pick([self.here(), pick + 1], span)
            case Choose():
                self._choose(statement)
            case InlinedCall():
                self._inlined(statement)
            case Return():
                self.returns[-1].append(self.later())
            case CollectiveCall():
                pass
            case Assume(condition, span):
                self.code.append(ClaimPoint(code_of(condition), True, span))
            case Assert(condition, span):
                self.code.append(ClaimPoint(code_of(condition), False, span))
            case Halt(span):
                self.code.append(Halted(span))
            case IssueSend() | IssueReceive() | Wait() | Requests():
                self._communication(statement)
            case _:
                assert_never(statement)

    def _communication(self, statement: IssueSend | IssueReceive | Wait | Requests) -> None:
        match statement:
            case IssueSend(request, value, to, port, tag, span):
                waited = request.name != "$send" or self.rendezvous
                sent = code_of(value), code_of(to), port, code_of(tag)
                self.code.append(SendPoint(*sent, span, _spot(request) if waited else None))
            case IssueReceive(request, target, source, port, tag, sender, which, span):
                asked = None if source is None else code_of(source)
                tagged = None if tag is None else code_of(tag)
                spots = _spot(target), None if sender is None else _spot(sender), None if which is None else _spot(which)
                receive = ReceivePoint(spots[0], asked, port, tagged, spots[1], spots[2], span)
                self.code.append(PostPoint(receive, _spot(request), span) if self.posts else receive)
            case Wait(places, span):
                hidden = () if self.rendezvous else ("$send",) if self.posts else ("$send", "$recv")
                self.code += [AwaitPoint(_spot(each), span) for each in places if each.name not in hidden]
            case Requests(name, size, span):
                self.code.append(RequestPoint(name, None if size is None else code_of(size), span))

    def _assign(self, target: Place, value: Code, span: Span) -> None:
        name, goes_to = target.name, self.here() + 1
        if not target.indices:

            def assign(registers: Registers, on: Decisions) -> int:
                new = value(registers, on)
                if type(new) is int and new.bit_length() > _BITS:
                    raise TooManyError("a number becomes too large to be followed")
                registers[name] = new
                return goes_to

            self.code.append(LocalStep(assign, span))
            return
        indices = tuple(code_of(each) for each in target.indices)

        def store(registers: Registers, on: Decisions) -> int:
            at = tuple([on.number(each(registers, on)) for each in indices])
            registers[name] = on.stored(registers[name], at, value(registers, on))
            return goes_to

        self.code.append(LocalStep(store, span))

    def _test(self, at: int, condition: Term, otherwise: int, span: Span, joins: list[int] | None = None) -> None:
        code, goes_to = code_of(condition), at + 1

        def test(registers: Registers, on: Decisions) -> int:
            return goes_to if on.decide(on.truth(code(registers, on))) else otherwise

        if joins is None:
            self.code[at] = LocalStep(test, span)
            return
        steps = self._step

        def join(registers: Registers, on: Decisions) -> int:
            condition = on.truth(code(registers, on))
            known = on.path.verdict(condition, on.terms)
            if known is None and not on.joining:
                on.joining = True
                try:
                    if merge_branches(steps, at, joins[0], registers, on):
                        return joins[0]
                finally:
                    on.joining = False
                known = on.decide(condition)
            return goes_to if (on.decide(condition) if known is None else known) else otherwise

        self.code[at] = LocalStep(join, span)

    def _step(self, at: int) -> Go | int | None:
        instruction = self.code[at]
        match instruction:
            case LocalStep():
                return instruction.go
            case Goto():
                return instruction.target
            case _:
                return None

    def _if(self, statement: If) -> None:
        test = self.later()
        self.block(statement.then)
        over = self.later()
        joins: list[int] | None = None
        if only_computes((statement,), returns=False):
            joins = [0]
        elif only_computes((statement,), returns=True):
            joins = self.joins[-1]
        self._test(test, statement.condition, self.here(), statement.span, joins)
        self.block(statement.other)
        self.code[over] = Goto(self.here())
        if joins is not None and joins is not self.joins[-1]:
            joins[0] = self.here()

    def _for(self, statement: For) -> None:
        counter = statement.counter
        following, last = f"{counter}$next{self.here()}", f"{counter}$last{self.here()}"
        self.registers += [counter, following, last]
        low, high, first = code_of(statement.low), code_of(statement.high), self.here() + 1

        def begin(registers: Registers, on: Decisions) -> int:
            least, most = on.number(low(registers, on)), on.number(high(registers, on))
            registers[following], registers[last] = least, most
            return first

        self.code.append(LocalStep(begin, statement.span))
        test = self.later()
        self.block(statement.body)
        self.code.append(Goto(test))
        over = self.here()

        def again(registers: Registers, on: Decisions) -> int:
            at = on.number(registers[following])
            if not on.decide(on.terms.compare("<=", at, on.number(registers[last]))):
                registers[following] = registers[last] = 0
                return over
            registers[counter], registers[following] = at, on.terms.add(at, 1)
            return test + 1

        self.code[test] = LocalStep(again, statement.span)

    def _choose(self, statement: Choose) -> None:
        pick = self.later()
        targets, overs = [], []
        for branch in statement.branches:
            targets.append(self.here())
            self.block(branch)
            overs.append(self.later())
        self.code[pick] = Pick(targets, statement.span)
        for at in overs:
            self.code[at] = Goto(self.here())

    def _inlined(self, statement: InlinedCall) -> None:
        contracted = statement.name in self.contracted
        if contracted:
            parameters = tuple((name, code_of(term)) for name, term in statement.call.arguments)
            self.code.append(EntryPoint(statement.name, parameters, statement.span))
        if statement.name in self.abstract and len(self.returns) > 1:
            given = tuple((name, term.name) for name, term in statement.call.arguments if isinstance(term, Name))
            self.code.append(CalleePoint(statement.name, statement.call.result, statement.span, given))
            self.code.append(ExitPoint(statement.name, statement.call.result, statement.span))
            return
        self.returns.append([])
        self.joins.append([0] if only_computes(statement.body, returns=True) else None)
        self.block(statement.body)
        for at in self.returns.pop():
            self.code[at] = Goto(self.here())
        joins = self.joins.pop()
        if joins is not None:
            joins[0] = self.here()
        if contracted:
            self.code.append(ExitPoint(statement.name, statement.call.result, statement.span))


def _spot(place: Place) -> Spot:
    return Spot(place.name, tuple(code_of(each) for each in place.indices))
