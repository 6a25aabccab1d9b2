"""Processes as flat code: the structured statements of a process, with jumps.

Each instruction but a jump is one :class:`Step` of a schedule: every simple statement, every evaluation of the test of an
`if`, `while` or `for`, the bounds of a `for`, every choice, and every single request of a `wait`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from rdma_robust.errors import NO_SPAN, Span
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

Simple = Assign | Requests | IssueSend | IssueReceive | CollectiveCall | Assume | Assert | Halt


@dataclass(frozen=True, slots=True)
class WaitFor:
    """One place of a `wait`; an array of requests takes a step for each, and one if it has none."""

    place: Place
    span: Span


@dataclass(frozen=True, slots=True)
class Test:
    """Go on behind it if the condition is true, else at `otherwise`; `again` for that of a `while`."""

    condition: Term
    otherwise: int
    again: bool
    span: Span


@dataclass(frozen=True, slots=True)
class BranchChoice:
    """Choice i goes on at `targets[i]`."""

    targets: tuple[int, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class LoopBounds:
    """Keep both bounds of a `for` in the hidden registers `following` and `last`."""

    low: Term
    high: Term
    following: str
    last: str
    span: Span


@dataclass(frozen=True, slots=True)
class Round:
    """The test of a `for`: its counter gets the following number, or it is left, and keeps the last it had."""

    counter: str
    following: str
    last: str
    otherwise: int
    span: Span


@dataclass(frozen=True, slots=True)
class Jump:
    """Go on at `target`: no step."""

    target: int


@dataclass(frozen=True, slots=True)
class EndOfProcess:
    """The end of the process: no step."""

    span: Span = NO_SPAN


Instruction = Simple | WaitFor | Test | BranchChoice | LoopBounds | Round | Jump | EndOfProcess


@dataclass(frozen=True, slots=True)
class FlatProcess:
    """The code of a process, which starts at `start` and is over at its last instruction.

    `following[i]` is the instruction behind number i that is no jump.
    """

    name: str
    daemon: bool
    code: tuple[Instruction, ...]
    following: tuple[int, ...]
    start: int
    registers: tuple[str, ...]
    requests: tuple[str, ...]

    @property
    def end(self) -> int:
        return len(self.code) - 1

    @property
    def calls_procedures(self) -> bool:
        """Whether it may call a library procedure."""
        return any(isinstance(each, CollectiveCall) for each in self.code)

    def is_head(self, at: int) -> bool:
        """Whether an instruction is one at which a process that runs for ever comes by again and again."""
        instruction = self.code[at]
        return isinstance(instruction, BranchChoice) or (isinstance(instruction, Test) and instruction.again)

    def landing(self, at: int) -> int:
        """Return the first instruction that is no jump, from `at` on."""
        return _landing(self.code, at)


def _landing(code: tuple[Instruction, ...] | list[Instruction], at: int) -> int:
    instruction = code[at]
    while isinstance(instruction, Jump):
        at = instruction.target
        instruction = code[at]
    return at


def flat(process: Process) -> FlatProcess:
    """Return the code of a process; the counters of `for` and what it keeps are among its registers."""
    maker = _Maker()
    maker.block(process.body)
    end = len(maker.code)
    for at in maker.returns.pop():
        maker.code[at] = Jump(end)
    code = [*maker.code, EndOfProcess(process.span)]
    return FlatProcess(
        process.name,
        process.daemon,
        tuple(code),
        tuple(_landing(code, min(at + 1, end)) for at in range(len(code))),
        _landing(code, 0),
        tuple(dict.fromkeys((*process.registers, *maker.registers))),
        process.requests,
    )


class _Maker:
    """Appends the code of statements; a jump whose target is not known yet is put in when it is."""

    def __init__(self) -> None:
        self.code: list[Instruction] = []
        self.registers: list[str] = []
        self.returns: list[list[int]] = [[]]

    def block(self, block: Block) -> None:
        for statement in block:
            self.statement(statement)

    def later(self) -> int:
        """Leave room for an instruction; return where."""
        self.code.append(Jump(0))
        return len(self.code) - 1

    def here(self) -> int:
        return len(self.code)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Wait(places, span):
                self.code += [WaitFor(place, span) for place in places]
            case If():
                self.if_(statement)
            case While(condition, body, span):
                test = self.later()
                self.block(body)
                self.code.append(Jump(test))
                self.code[test] = Test(condition, self.here(), again=True, span=span)
            case For():
                self.for_(statement)
            case Loop(body, span):
                pick = self.later()
                self.block(body)
                self.code.append(Jump(pick))
                self.code[pick] = BranchChoice((self.here(), pick + 1), span)
            case Choose():
                self.choose(statement)
            case InlinedCall(_, body):
                self.returns.append([])
                self.block(body)
                for at in self.returns.pop():
                    self.code[at] = Jump(self.here())
            case Return():
                self.returns[-1].append(self.later())
            case Assign() | Requests() | IssueSend() | IssueReceive() | CollectiveCall() | Assume() | Assert() | Halt():
                self.code.append(statement)
            case _:
                assert_never(statement)

    def if_(self, statement: If) -> None:
        test = self.later()
        self.block(statement.then)
        over = self.later()
        self.code[test] = Test(statement.condition, self.here(), again=False, span=statement.span)
        self.block(statement.other)
        self.code[over] = Jump(self.here())

    def for_(self, statement: For) -> None:
        following, last = f"{statement.counter}$next{self.here()}", f"{statement.counter}$last{self.here()}"
        self.registers += [statement.counter, following, last]
        self.code.append(LoopBounds(statement.low, statement.high, following, last, statement.span))
        test = self.later()
        self.block(statement.body)
        self.code.append(Jump(test))
        self.code[test] = Round(statement.counter, following, last, self.here(), statement.span)

    def choose(self, statement: Choose) -> None:
        pick = self.later()
        targets, overs = [], []
        for branch in statement.branches:
            targets.append(self.here())
            self.block(branch)
            overs.append(self.later())
        self.code[pick] = BranchChoice(tuple(targets), statement.span)
        for at in overs:
            self.code[at] = Jump(self.here())
