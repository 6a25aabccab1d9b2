"""What every program has that was checked as a text, asked of programs that were not.

The engines rely on it: on threads that touch only what they may, on guards that keep every value in the domain and every
division defined, and on names that do not clash.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.expr import TRUE, VALUE, Binary, Const, Expr, Ite, Name, Unary, names, negate
from rdma_robust.language.check.meaning import COMPARISONS, defined, in_domain
from rdma_robust.language.flow.cfg import (
    MAX_CELLS,
    MAX_STEPS,
    Cas,
    Cell,
    Flush,
    Get,
    MFence,
    Nondet,
    Poll,
    Program,
    Put,
    Read,
    RemoteRmw,
    RFence,
    Rmw,
    Silent,
    Step,
    Thread,
    Write,
    steps,
)
from rdma_robust.language.flow.exclusive import conjuncts, exclusive

MAX_POINT: Final = 1_000_000
"""Numbers of program points are below: sets of them are bit masks."""

MAX_LEVELS: Final = 400
"""Levels of operators in an expression. Later passes recurse over them."""

LEAST_TOO_LARGE: Final = 10**18
"""Numbers have at most 18 digits, in texts too. The compiled kernels compute with 64 bits."""

_REGISTER: Final = re.compile(r"\$?[A-Za-z_]\w*", re.ASCII)
_WORD: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w*(\[(0|[1-9]\d*)\])?", re.ASCII)
_ARITHMETIC: Final = frozenset("+-*/%")
_OPERATORS: Final = {"-", "!"}, _ARITHMETIC | COMPARISONS | {"&&", "||"}


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something that is wrong, and where: the span of the step, else none."""

    message: str
    span: Span = NO_SPAN
    hint: str = ""

    def __str__(self) -> str:
        return self.message


def validate(program: Program, *, proofs: bool = False) -> None:
    """Raise ProgramError with everything that is wrong with a program that was put together by hand.

    What only proofs can do something with is wrong too, unless they are to be made.
    """
    report = Reporter(program.file, program.source)
    for each in complaints(program, proofs=proofs):
        report.error("RR622", each.span, each.message, hint=each.hint)
    report.raise_errors()


def complaints(program: Program, *, proofs: bool = False) -> Iterator[Complaint]:
    """Yield everything that is wrong with a program; without `proofs` also what only they can do something with."""
    found = list(_declarations(program))
    yield from found
    if not found:
        for thread in program.threads:
            yield from _Thread(program, thread, proofs).complaints()


def _repeated(what: str, words: Iterable[str]) -> Iterator[Complaint]:
    for word, times in Counter(words).items():
        if times > 1:
            yield Complaint(f"{what} {quote(word)} is declared {times} times")


def _words(what: str, words: Iterable[str], form: re.Pattern[str] = _WORD) -> Iterator[Complaint]:
    for word in words:
        if not isinstance(word, str) or not form.fullmatch(word):
            yield Complaint(f"{quote(str(word))} is no name for a {what}", hint="letters, digits and `_`, no digit first")


def _declarations(program: Program) -> Iterator[Complaint]:
    seen = [c for c in program.cells if not c.hidden]
    for what, declared in (("node", program.nodes), ("thread", [t.name for t in program.threads])):
        yield from _words(what, declared)
        yield from _repeated(what, declared)
    yield from _words("variable", (c.name for c in seen), _VARIABLE)
    yield from _repeated("variable", map(str, program.cells))
    yield from _arrays(str(c) for c in seen)
    if len(program.cells) > MAX_CELLS:
        yield Complaint(f"too many variables: more than {MAX_CELLS:,}")
    for cell in program.cells:
        if cell.node not in program.nodes:
            yield Complaint(f"variable {quote(str(cell))} is on a node that is not declared")
        if not _integer(cell.init):
            yield Complaint(f"the initial value of {quote(str(cell))} is no integer of at most 18 digits")
    yield from _domain(program)
    count = 0
    for thread in program.threads:
        if thread.node not in program.nodes:
            yield Complaint(f"thread {thread.name} runs on {quote(thread.node)}, which is no node")
        registers = [name for name, _ in thread.registers]
        yield from _words("register", registers, _REGISTER)
        yield from _repeated(f"in thread {thread.name}, register", registers)
        for name, value in thread.registers:
            if not _integer(value):
                what = f"the initial value of register {quote(f'{thread.name}.{name}')}"
                yield Complaint(f"{what} is no integer of at most 18 digits")
        yield from _points(thread)
        count += len(thread.edges)
    if count > MAX_STEPS:
        yield Complaint(f"this program is too large: its control-flow graphs have more than {MAX_STEPS:,} steps")
    yield from _outcomes(program)


def _arrays(variables: Iterable[str]) -> Iterator[Complaint]:
    """An array has every element from 0 on, and its name is its own."""
    found: dict[str, set[str]] = {}
    for variable in variables:
        name, _, index = variable.partition("[")
        found.setdefault(name, set()).add(index)
    for name, indices in found.items():
        if indices != {""} and indices != {f"{k}]" for k in range(len(indices))}:
            yield Complaint(f"array {quote(name)} is not whole: its elements are numbered from 0, without gaps")


def _integer(value: object) -> bool:
    """Whether it is a number as the language has them: no truth value, which would be printed as a word."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LEAST_TOO_LARGE


def _domain(program: Program) -> Iterator[Complaint]:
    if program.domain is None:
        return
    if not isinstance(program.domain, tuple) or len(program.domain) != 2 or not all(map(_integer, program.domain)):
        yield Complaint(f"the domain {program.domain!r} is no pair of integers of at most 18 digits")
    elif program.domain[0] > program.domain[1]:
        yield Complaint(f"the domain {program.domain[0]}..{program.domain[1]} is empty")


def _points(thread: Thread) -> Iterator[Complaint]:
    known = frozenset(thread.points)
    for point in dict.fromkeys(
        (thread.entry, thread.exit, *thread.points, *(p for u, v, _ in thread.edges for p in (u, v)))
    ):
        if not _integer(point) or not 0 <= point < MAX_POINT:
            yield Complaint(f"in thread {thread.name}, {point!r} is no program point: they are numbers below {MAX_POINT:,}")
        elif point not in known and point in (thread.entry, thread.exit):
            yield Complaint(f"thread {thread.name} begins or ends at point {point}, which its graph does not have")
        elif point not in known:
            yield Complaint(
                f"an edge of thread {thread.name} begins or ends at point {point}, which its graph does not have"
            )
    if any(source == thread.exit for source, _, _ in thread.edges):
        yield Complaint(f"thread {thread.name} goes on from its exit, point {thread.exit}")
    for _, _, step in thread.edges:
        if not isinstance(step, Step):
            yield Complaint(f"an edge of thread {thread.name} has no step")


def _outcomes(program: Program) -> Iterator[Complaint]:
    known = {str(c) for c in program.cells if not c.hidden}
    registers = {f"{t.name}.{r}" for t in program.threads for r, _ in t.registers}
    twice, known = known & registers, known | registers
    for line in program.outcomes:
        messages = list(_expression(line.condition, known, has_domain=True))
        if not messages:
            both = sorted(twice.intersection(names(line.condition)))
            messages = [f"{quote(name)} is both a register and a variable" for name in both]
        for message in messages:
            yield Complaint(f"in an outcome, {message}", line.span)
        if not messages and not _proven(TRUE, defined(line.condition)):
            yield Complaint("an outcome divides by what may be zero", line.span)


def _levels(expr: Expr) -> int:
    """The levels of operators, counted without recursion."""
    deepest, todo = 0, [(expr, 1)]
    while todo:
        part, level = todo.pop()
        deepest = max(deepest, level)
        match part:
            case Unary(_, arg):
                todo.append((arg, level + 1))
            case Binary(_, left, right):
                todo += [(left, level + 1), (right, level + 1)]
            case _:
                pass
    return deepest


def _expression(expr: Expr, known: set[str], *, has_domain: bool) -> Iterator[str]:
    """Yield what is wrong with an expression over `known` names."""
    if _levels(expr) > MAX_LEVELS:
        yield f"an expression has more than {MAX_LEVELS} levels of operators"
        return
    todo = [expr]
    while todo:
        match todo.pop():
            case Const(value):
                if not _integer(value):
                    yield f"{value!r} is no integer of at most 18 digits"
            case Name(name):
                if name not in known:
                    nothing = "what is read is used where nothing is read"
                    yield nothing if name == VALUE.name else f"unknown name {quote(name)}"
            case Unary(op, arg):
                todo.append(arg)
                if op not in _OPERATORS[0]:
                    yield f"unknown operator {quote(op)}"
                elif op == "-" and not has_domain:
                    yield "arithmetic (`-`) in a program without a domain"
            case Binary(op, left, right):
                todo += [right, left]
                if op not in _OPERATORS[1]:
                    yield f"unknown operator {quote(op)}"
                elif op in _ARITHMETIC and not has_domain:
                    yield f"arithmetic ({quote(op)}) in a program without a domain"
            case Ite():
                yield "programs have no choice inside of an expression"
            case other:
                yield f"{other!r} is no expression"


def _proven(guard: Expr, claim: Expr) -> bool:
    """Whether `claim` is known to hold where `guard` does."""
    held = set(conjuncts(guard))
    if all(part in held for part in _parts(claim)):
        return True
    return exclusive(guard, negate(claim), same_read=True)


def _parts(claim: Expr) -> Iterator[Expr]:
    if isinstance(claim, Binary) and claim.op == "&&":
        yield from _parts(claim.left)
        yield from _parts(claim.right)
    elif claim != TRUE:
        yield claim


_GIVES_VALUE: Final = (Read, Cas, Rmw, Nondet)
"""The operations with a VALUE that registers can take."""


@dataclass(frozen=True)
class _Thread:
    program: Program
    thread: Thread
    proofs: bool

    def complaints(self) -> Iterator[Complaint]:
        cells = frozenset(self.program.cells)
        ends = {*self.thread.points} - {source for source, _, _ in self.thread.edges} - {self.thread.exit}
        for _, target, step in steps(self.thread):
            messages = [*self._operation(step, cells), *self._expressions(step)]
            if not messages:
                messages += self._values(step)
            messages += self._fault(step, target in ends)
            what = f"thread {self.thread.name}, {quote(step.text)}" if step.text else f"thread {self.thread.name}"
            for message in messages:
                yield Complaint(f"{what}: {message}", step.span)

    def _operation(self, step: Step, cells: frozenset[Cell]) -> Iterator[str]:
        if isinstance(step.op, Nondet | Flush | RemoteRmw) and not self.proofs:
            yield f"{type(step.op).__name__} is left to `prove`: nothing else decides it"
        match step.op:
            case Silent() | MFence() | Nondet():
                return
            case Read(cell) | Write(cell, _) | Cas(cell, _, _) | Rmw(cell, _, _):
                yield from self._own(cell, cells)
            case Put(target, source):
                yield from self._own(source, cells, hidden=True)
                yield from self._remote(target, cells)
            case Get(target, source) | RemoteRmw(target, source, _, _):
                yield from self._own(target, cells)
                yield from self._remote(source, cells)
            case Poll(node) | RFence(node) | Flush(node):
                yield from self._queue_pair(node)
            case other:
                yield f"{other!r} is no operation"

    def _own(self, cell: Cell, cells: frozenset[Cell], hidden: bool = False) -> Iterator[str]:
        yield from self._declared(cell, cells, hidden)
        if cell.node != self.thread.node:
            yield f"{quote(str(cell))} is on another node"

    def _remote(self, cell: Cell, cells: frozenset[Cell]) -> Iterator[str]:
        yield from self._declared(cell, cells, False)
        yield from self._queue_pair(cell.node)

    @staticmethod
    def _declared(cell: Cell, cells: frozenset[Cell], hidden: bool) -> Iterator[str]:
        if cell not in cells:
            yield f"the program has no variable {quote(str(cell))} like this"
        elif cell.hidden and not hidden:
            yield f"{quote(str(cell))} is the hidden constant of a put"

    def _queue_pair(self, node: str) -> Iterator[str]:
        if node not in self.program.nodes:
            yield f"unknown node {quote(node)}"
        elif node == self.thread.node and not self.program.allow_loopback:
            yield f"{quote(node)} is its own node, to which only `allow loopback` gives a queue pair"

    def _expressions(self, step: Step) -> Iterator[str]:
        registers = {name for name, _ in self.thread.registers}
        has_domain = self.proofs or self.program.domain is not None
        value = registers | {VALUE.name}
        yield from _expression(step.guard, value if isinstance(step.op, Read | Rmw) else registers, has_domain=has_domain)
        for register, expr in step.assigns:
            if register not in registers:
                yield f"unknown register {quote(register)}"
            known = value if isinstance(step.op, _GIVES_VALUE) else registers
            yield from _expression(expr, known, has_domain=has_domain)
        if len({register for register, _ in step.assigns}) < len(step.assigns):
            yield "a register is assigned twice in one step"
        if step.assigns and not isinstance(step.op, (Silent, *_GIVES_VALUE)):
            yield "only steps that read, or touch nothing, assign registers: make it two steps"
        known = value if isinstance(step.op, Rmw | RemoteRmw) else registers
        for expr in _operands(step):
            yield from _expression(expr, known, has_domain=has_domain)

    def _values(self, step: Step) -> Iterator[str]:
        """Every value that is computed must be defined, and every one that is kept must be in the domain."""
        if not _proven(TRUE, defined(step.guard)):
            yield "the guard divides by what may be zero: ask `d != 0 &&` before"
        domain = self.program.domain
        compared = step.op.expected if isinstance(step.op, Cas) else None
        for expr in (*(e for _, e in step.assigns), *_operands(step)):
            if not _proven(step.guard, defined(expr)):
                yield "it divides by what may be zero: ask for `d != 0` in the guard"
            elif expr is not compared and not _proven(step.guard, in_domain(expr, domain)):
                yield "a value may leave the domain: ask in the guard that it does not"

    def _fault(self, step: Step, at_end: bool) -> Iterator[str]:
        if step.fault is None:
            return
        if not isinstance(step.op, Silent | Read) or step.assigns:
            yield "a step that goes wrong does nothing but read"
        if step.fault.kind != "assertion" and not at_end:
            yield f"{step.fault.kind} ends the execution: it must lead to a point without steps that is not the exit"


def _operands(step: Step) -> tuple[Expr, ...]:
    match step.op:
        case Write(_, value):
            return (value,)
        case Cas(_, expected, new):
            return (expected, new)
        case Rmw(_, new, when) | RemoteRmw(_, _, new, when):
            return (new, when)
        case Nondet(low, high):
            return tuple(end for end in (low, high) if end is not None)
        case _:
            return ()
