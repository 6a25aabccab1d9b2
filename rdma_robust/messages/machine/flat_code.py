"""Processes as flat code: the structured statements of a process, with jumps.

Each instruction but a jump is one :class:`Step` of a schedule: every simple statement, every evaluation of the test of an
`if`, `while` or `for`, the bounds of a `for`, every choice, and every single request of a `wait`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar, assert_never

from rdma_robust.errors import NO_SPAN, Span
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
    Statement,
    Wait,
    While,
    is_look,
)
from rdma_robust.messages.language.message_terms import Term

Simple = (
    Assign | Requests | IssueSend | IssueReceive | Probe | IssueCollective | Completion | CollectiveCall | Assume | Assert
    | Abort | Halt
)  # fmt: skip


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
    span: Span = NO_SPAN


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

    @property
    def looks(self) -> bool:
        """Whether it may look for messages, or send what is to be expected."""
        ready = (isinstance(each, IssueSend) and each.mode == "ready" for each in self.code)
        return any(map(is_look, self.code)) or any(ready)

    def is_head(self, at: int) -> bool:
        """Whether an instruction is one at which a process that runs forever comes by again and again."""
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
    maker = _FlatMaker()
    code = maker.made(process)
    end = len(code) - 1
    return FlatProcess(
        process.name,
        process.daemon,
        tuple(code),
        tuple(_landing(code, min(at + 1, end)) for at in range(len(code))),
        _landing(code, 0),
        tuple(dict.fromkeys((*process.registers, *maker.registers))),
        process.requests,
    )


Each = TypeVar("Each")


class CodeMaker(ABC, Generic[Each]):
    """The one compiler of structured statements to jumps: a jump whose target is not known yet is put in when it is.

    What instructions there are besides :class:`Jump`, :class:`BranchChoice` and :class:`EndOfProcess` says a subclass.
    """

    def __init__(self) -> None:
        self.code: list[Each | Jump | BranchChoice | EndOfProcess] = []
        self.registers: list[str] = []
        self.returns: list[list[int]] = [[]]

    @abstractmethod
    def simple(self, statement: Simple | Wait) -> None:
        """Append what a statement without others in it does."""

    @abstractmethod
    def test(self, at: int, statement: If | While, otherwise: int) -> None:
        """Put in `at` the test of a statement, whose body follows; if its condition is false it goes on at `otherwise`."""

    @abstractmethod
    def begin(self, loop: For, following: str, last: str) -> None:
        """Append the evaluation of the bounds of a `for`, kept in two registers."""

    @abstractmethod
    def again(self, at: int, loop: For, registers: tuple[str, str], otherwise: int) -> None:
        """Put in `at` the test of a `for`, whose body follows."""

    def made(self, process: Process) -> list[Each | Jump | BranchChoice | EndOfProcess]:
        """Return the code of a process, which is over at the last instruction."""
        self.block(process.body)
        self.land(self.returns.pop())
        self.code.append(EndOfProcess(process.span))
        return self.code

    def block(self, block: Block) -> None:
        """Append the code of statements."""
        for statement in block:
            self.statement(statement)

    def later(self) -> int:
        """Leave room for an instruction; return where."""
        self.code.append(Jump(0))
        return len(self.code) - 1

    def here(self) -> int:
        """Return where the next instruction will be."""
        return len(self.code)

    def land(self, jumps: list[int]) -> None:
        """Let what was left open go on here."""
        for at in jumps:
            self.code[at] = Jump(self.here())

    def statement(self, statement: Statement) -> None:
        """Append the code of a statement."""
        match statement:
            case If():
                self.if_(statement)
            case While(_, body):
                test = self.later()
                self.block(body)
                self.code.append(Jump(test))
                self.test(test, statement, self.here())
            case For():
                self._for(statement)
            case Loop(body, span):
                pick = self.later()
                self.block(body)
                self.code.append(Jump(pick))
                self.code[pick] = BranchChoice((self.here(), pick + 1), span)
            case Choose():
                self._choose(statement)
            case InlinedCall():
                self.inlined(statement)
            case Return():
                self.returns[-1].append(self.later())
            case (
                Assign()
                | Requests()
                | IssueSend()
                | IssueReceive()
                | Probe()
                | IssueCollective()
                | Wait()
                | Completion()
                | CollectiveCall()
                | Assume()
                | Assert()
                | Abort()
                | Halt()
            ):
                self.simple(statement)
            case _:
                assert_never(statement)

    def if_(self, statement: If) -> None:
        """Append the code of a branch."""
        test = self.later()
        self.block(statement.then)
        over = self.later()
        self.test(test, statement, self.here())
        self.block(statement.other)
        self.land([over])

    def inlined(self, statement: InlinedCall) -> None:
        """Append the code of a function."""
        self.returns.append([])
        self.block(statement.body)
        self.land(self.returns.pop())

    def _for(self, loop: For) -> None:
        following, last = f"{loop.counter}$next{self.here()}", f"{loop.counter}$last{self.here()}"
        self.registers += [loop.counter, following, last]
        self.begin(loop, following, last)
        test = self.later()
        self.block(loop.body)
        self.code.append(Jump(test))
        self.again(test, loop, (following, last), self.here())

    def _choose(self, statement: Choose) -> None:
        pick = self.later()
        targets, overs = [], []
        for branch in statement.branches:
            targets.append(self.here())
            self.block(branch)
            overs.append(self.later())
        self.code[pick] = BranchChoice(tuple(targets), statement.span)
        self.land(overs)


class _FlatMaker(CodeMaker[Instruction]):
    """Makes the code that :class:`FlatProcess` has."""

    def simple(self, statement: Simple | Wait) -> None:
        if isinstance(statement, Wait):
            self.code += [WaitFor(place, statement.span) for place in statement.requests]
        else:
            self.code.append(statement)

    def test(self, at: int, statement: If | While, otherwise: int) -> None:
        self.code[at] = Test(statement.condition, otherwise, again=isinstance(statement, While), span=statement.span)

    def begin(self, loop: For, following: str, last: str) -> None:
        self.code.append(LoopBounds(loop.low, loop.high, following, last, loop.span))

    def again(self, at: int, loop: For, registers: tuple[str, str], otherwise: int) -> None:
        self.code[at] = Round(loop.counter, *registers, otherwise, loop.span)
