"""The statements of one process as flat code: local steps, and the points at which something visible happens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields
from typing import Final, assert_never

from rdma_robust.contracts.runs.run_terms import Condition, SymbolicTerm, TooManyError
from rdma_robust.contracts.runs.symbolic_data import Data, Decisions, ForkError, NeedsDecisionError
from rdma_robust.contracts.runs.term_code import (
    AwaitPoint,
    CalleePoint,
    ClaimPoint,
    Code,
    EntryPoint,
    ExitPoint,
    Instruction,
    LocalStep,
    NonBlockingError,
    PostPoint,
    ReceivePoint,
    Registers,
    RequestPoint,
    RunCode,
    SendPoint,
    Spot,
    code_of,
)
from rdma_robust.errors import InternalError, Span
from rdma_robust.expr import Name
from rdma_robust.messages.language.message_program import (
    Abort,
    Assert,
    Assign,
    Assume,
    Block,
    Choose,
    CollectiveCall,
    Completion,
    For,
    Halt,
    If,
    InlinedCall,
    IssueCollective,
    IssueReceive,
    IssueSend,
    Loop,
    Place,
    Probe,
    Process,
    Requests,
    Return,
    Wait,
    While,
)
from rdma_robust.messages.language.message_terms import FaultError
from rdma_robust.messages.machine.flat_code import CodeMaker, EndOfProcess, Jump, Simple

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
    maker = _RunMaker(contracted, abstract, posts=posts or rendezvous, rendezvous=rendezvous)
    code = maker.made(process)
    (function,) = process.body
    assert isinstance(function, InlinedCall)
    given = tuple((name, term.name) for name, term in function.call.arguments if isinstance(term, Name))
    registers = tuple(dict.fromkeys((*process.registers, *maker.registers)))
    return RunCode(tuple(code), registers, given, rendezvous)


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


class _RunMaker(CodeMaker[Instruction]):
    """Makes :class:`RunCode`. `posts`: all receives are posted; `rendezvous`: all sends are waited for."""

    def __init__(self, contracted: Collection[str], abstract: Collection[str], *, posts: bool, rendezvous: bool) -> None:
        super().__init__()
        self.contracted = contracted
        self.abstract = abstract
        self.posts = posts
        self.rendezvous = rendezvous
        self.joins: list[list[int] | None] = [None]
        """For each function inside of another where its body ends, if it only computes."""
        self.branches: list[list[int] | None] = []
        """For each `if` inside of another where both of its branches meet again, if they only compute."""

    def simple(self, statement: Simple | Wait) -> None:
        match statement:
            case Assign(target, value, span):
                self._assign(target, code_of(value), span)
            case CollectiveCall():
                pass
            case Assume(condition, span):
                self.code.append(ClaimPoint(code_of(condition), True, span))
            case Assert(condition, span):
                self.code.append(ClaimPoint(code_of(condition), False, span))
            case Halt(span):
                self.code.append(EndOfProcess(span))
            case Probe() | IssueReceive(of=Place()) | Completion() | IssueCollective() | Abort():
                raise InternalError("a contract is checked with a statement that RR962 refuses")
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

    def test(self, at: int, statement: If | While, otherwise: int) -> None:
        code, goes_to = code_of(statement.condition), at + 1
        joins = self.branches[-1] if isinstance(statement, If) else None

        def test(registers: Registers, on: Decisions) -> int:
            return goes_to if on.decide(on.truth(code(registers, on))) else otherwise

        if joins is None:
            self.code[at] = LocalStep(test, statement.span)
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

        self.code[at] = LocalStep(join, statement.span)

    def _step(self, at: int) -> Go | int | None:
        instruction = self.code[at]
        match instruction:
            case LocalStep():
                return instruction.go
            case Jump():
                return instruction.target
            case _:
                return None

    def if_(self, statement: If) -> None:
        own = [0] if only_computes((statement,), returns=False) else None
        self.branches.append(self.joins[-1] if own is None and only_computes((statement,), returns=True) else own)
        super().if_(statement)
        self.branches.pop()
        if own is not None:
            own[0] = self.here()

    def begin(self, loop: For, following: str, last: str) -> None:
        low, high, first = code_of(loop.low), code_of(loop.high), self.here() + 1

        def begin(registers: Registers, on: Decisions) -> int:
            least, most = on.number(low(registers, on)), on.number(high(registers, on))
            registers[following], registers[last] = least, most
            return first

        self.code.append(LocalStep(begin, loop.span))

    def again(self, at: int, loop: For, registers: tuple[str, str], otherwise: int) -> None:
        counter, (following, last), goes_to = loop.counter, registers, at + 1

        def again(registers: Registers, on: Decisions) -> int:
            at = on.number(registers[following])
            if not on.decide(on.terms.compare("<=", at, on.number(registers[last]))):
                registers[following] = registers[last] = 0
                return otherwise
            registers[counter], registers[following] = at, on.terms.add(at, 1)
            return goes_to

        self.code[at] = LocalStep(again, loop.span)

    def inlined(self, statement: InlinedCall) -> None:
        name, call, span = statement.name, statement.call, statement.span
        if name in self.contracted:
            self.code.append(EntryPoint(name, tuple((each, code_of(term)) for each, term in call.arguments), span))
        if name in self.abstract and len(self.returns) > 1:
            given = tuple((each, term.name) for each, term in call.arguments if isinstance(term, Name))
            self.code += [CalleePoint(name, call.result, span, given), ExitPoint(name, call.result, span)]
            return
        self.joins.append([0] if only_computes(statement.body, returns=True) else None)
        super().inlined(statement)
        joins = self.joins.pop()
        if joins is not None:
            joins[0] = self.here()
        if name in self.contracted:
            self.code.append(ExitPoint(name, call.result, span))


def _spot(place: Place) -> Spot:
    return Spot(place.name, tuple(code_of(each) for each in place.indices))


# Branches that only compute: followed both, and joined by if-then-else instead of one path for each.
#
# What a program computes by `if x != 0 { r = x } else { r = y }` is one term then. Where a branch could fault, takes a
# decision about a length, or leaves arrays that differ, the path forks as it does everywhere else.

_PATHS: Final = 8
"""Paths that are joined, at most."""

_STEPS: Final = 200
"""Steps of all of them together."""

Go = Callable[[dict[str, Data], Decisions], int]


def only_computes(block: Block, *, returns: bool) -> bool:
    """Whether a block has nothing but assignments and `if`, and `return` where that is allowed."""
    for statement in block:
        match statement:
            case Assign():
                pass
            case If(_, then, other):
                if not (only_computes(then, returns=returns) and only_computes(other, returns=returns)):
                    return False
            case Return():
                if not returns:
                    return False
            case _:
                return False
    return True


def merge_branches(
    steps: Callable[[int], Go | int | None], at: int, ends: int, registers: dict[str, Data], on: Decisions
) -> bool:
    """Execute what is between `at` and `ends` on all paths and join them in `registers`; return False if that cannot be.

    `steps` says what is at a place: a local step, where to go on, or None for what is no local step.
    """
    if on.trying:
        return False
    before = on.path
    number = len(before.facts)
    todo = [(at, dict(registers), before.copy())]
    found: list[tuple[Condition, dict[str, Data]]] = []
    left = _STEPS
    try:
        while todo:
            place, mine, on.path = todo.pop()
            while place != ends:
                left -= 1
                step = steps(place)
                if step is None or left < 0:
                    return False
                if isinstance(step, int):
                    place = step
                    continue
                try:
                    place = step(mine, on)
                except ForkError as fork:
                    if fork.condition is None or len(todo) + len(found) >= _PATHS:
                        return False
                    path = on.path
                    for value in (True, False):
                        on.path = path.copy()
                        if on.choose(fork.condition, value=value):
                            todo.append((place, dict(mine), on.path))
                    break
            else:
                found.append((on.terms.conjunction(on.path.facts[number:]), mine))
    except (FaultError, NeedsDecisionError):
        return False
    finally:
        on.path = before
    return bool(found) and _joined(found, registers, on)


def _joined(found: Sequence[tuple[Condition, dict[str, Data]]], registers: dict[str, Data], on: Decisions) -> bool:
    new: dict[str, Data] = {}
    for name in registers:
        values = [mine[name] for _, mine in found]
        last = values[-1]
        if all(each is last or (isinstance(each, int) and each == last) for each in values):
            new[name] = last
            continue
        value: Data = last
        for (condition, _), each in zip(found[:-1], values[:-1], strict=True):
            if not isinstance(each, int | SymbolicTerm) or not isinstance(value, int | SymbolicTerm):
                return False
            value = on.terms.either(condition, each, value)
        new[name] = value
    registers.update(new)
    return True
