"""A process of an instance as flat code in which calls of functions with a contract are instructions.

Code between two visible instructions (Enter, Leave, Send, Receive) is local.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from rdma_robust.contracts.language.contract_program import Contract, ContractProgram
from rdma_robust.contracts.language.function_instances import records_in
from rdma_robust.errors import Span
from rdma_robust.messages.language.message_program import (
    Assert,
    Assign,
    Assume,
    Block,
    Call,
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


@dataclass(frozen=True, slots=True)
class Enter:
    """A call of a function with a contract; of a local one no event."""

    contract: Contract
    call: Call
    span: Span


@dataclass(frozen=True, slots=True)
class Leave:
    """The end of a call; of local functions there is none."""

    contract: Contract
    call: Call
    span: Span


@dataclass(frozen=True, slots=True)
class Test:
    condition: Term
    otherwise: int
    span: Span


@dataclass(frozen=True, slots=True)
class Pick:
    """Choice i goes on at `targets[i]`. That of a `loop` is made a finite number of times."""

    targets: tuple[int, ...]
    is_loop: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Bounds:
    low: Term
    high: Term
    following: str
    last: str
    span: Span


@dataclass(frozen=True, slots=True)
class Round:
    """The next number of a `for`, or go on at `otherwise`."""

    counter: str
    following: str
    last: str
    otherwise: int
    span: Span


@dataclass(frozen=True, slots=True)
class Jump:
    target: int


@dataclass(frozen=True, slots=True)
class Post:
    """A receive that joins those that are posted: no event."""

    receive: IssueReceive
    span: Span


@dataclass(frozen=True, slots=True)
class WaitFor:
    """One place of a `wait`: an event for each single receive, and for each send that somebody has to get."""

    place: Place
    span: Span


Send = IssueSend
Receive = IssueReceive
Instruction = (
    Enter | Leave | Send | Receive | Post | WaitFor | Requests
    | Assign | Assume | Assert | Halt | Test | Pick | Bounds | Round | Jump
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Code:
    """The code of a process, which is over behind its last instruction."""

    instructions: tuple[Instruction, ...]
    registers: tuple[str, ...]


def code_of(program: ContractProgram, process: Process) -> Code:
    """Return the code of a process of an instance.

    Where a process posts receives, all of its receives are posted and waited for. Where it does not, a receive takes its
    message at once. Under `zero` all are posted, and all sends are waited for.
    """
    zero = program.buffer == "zero"
    posts = zero or any(isinstance(each, IssueReceive) and each.request.name != "$recv" for each in records_in(process.body))
    maker = _Maker(program, () if zero else ("$send",) if posts else ("$send", "$recv"), posts)
    maker.block(process.body)
    names = dict.fromkeys((*process.registers, *maker.registers))
    return Code(tuple(maker.code), tuple(names))


class _Maker:
    """Appends the code of statements; a jump whose target is not known yet is put in when it is."""

    def __init__(self, program: ContractProgram, hidden: tuple[str, ...], posts: bool) -> None:
        self.program, self.hidden, self.posts = program, hidden, posts
        self.code: list[Instruction] = []
        self.registers: list[str] = []
        self._returns: list[list[int]] = []

    def block(self, block: Block) -> None:
        for statement in block:
            self._statement(statement)

    def _later(self) -> int:
        """Leave room for an instruction; return where."""
        self.code.append(Jump(0))
        return len(self.code) - 1

    def _here(self) -> int:
        return len(self.code)

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Assign() | Assume() | Assert() | Halt() | Requests() | IssueSend():
                self.code.append(statement)
            case IssueReceive():
                self.code.append(Post(statement, statement.span) if self.posts else statement)
            case Wait(places, span):
                self.code += [WaitFor(each, span) for each in places if each.name not in self.hidden]
            case CollectiveCall():
                pass  # the call itself follows
            case Return():
                self._returns[-1].append(self._later())
            case InlinedCall():
                self._inlined(statement)
            case If() | While() | For() | Loop() | Choose():
                self._structured(statement)
            case _:
                assert_never(statement)

    def _inlined(self, inlined: InlinedCall) -> None:
        contract = self.program.contract(inlined.name)
        outermost = not self._returns
        if contract is not None:
            self.code.append(Enter(contract, inlined.call, inlined.span))
        self._returns.append([])
        self.block(inlined.body)
        for at in self._returns.pop():
            self.code[at] = Jump(self._here())
        if contract is not None and (contract.kind == "collective" or outermost):
            self.code.append(Leave(contract, inlined.call, inlined.span))

    def _structured(self, statement: If | While | For | Loop | Choose) -> None:
        match statement:
            case If(condition, then, other, span):
                test = self._later()
                self.block(then)
                over = self._later()
                self.code[test] = Test(condition, self._here(), span)
                self.block(other)
                self.code[over] = Jump(self._here())
            case While(condition, body, span):
                test = self._later()
                self.block(body)
                self.code.append(Jump(test))
                self.code[test] = Test(condition, self._here(), span)
            case For():
                self._for(statement)
            case Loop(body, span):
                pick = self._later()
                self.block(body)
                self.code.append(Jump(pick))
                self.code[pick] = Pick((self._here(), pick + 1), True, span)
            case Choose(branches, span):
                pick = self._later()
                targets, overs = [], []
                for branch in branches:
                    targets.append(self._here())
                    self.block(branch)
                    overs.append(self._later())
                self.code[pick] = Pick(tuple(targets), False, span)
                for at in overs:
                    self.code[at] = Jump(self._here())

    def _for(self, loop: For) -> None:
        following, last = f"{loop.counter}$next{self._here()}", f"{loop.counter}$last{self._here()}"
        self.registers += [loop.counter, following, last]
        self.code.append(Bounds(loop.low, loop.high, following, last, loop.span))
        test = self._later()
        self.block(loop.body)
        self.code.append(Jump(test))
        self.code[test] = Round(loop.counter, following, last, self._here(), loop.span)
