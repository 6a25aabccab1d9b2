"""The check of programs that were made without a text, for all that holds of one that was checked as a text.

The engines rely on it: on threads that touch only what they may, on guards that keep every value in the domain and every
division defined, and on names that do not clash.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import NO_SPAN, Diagnostic, Span
from rdma_robust.expr import TRUE, VALUE, Expr, names, value_of
from rdma_robust.language.check.meaning import divides_by_no_zero, in_domain, is_wrapped
from rdma_robust.language.flow import cfg
from rdma_robust.language.flow.going_wrong import only_reads
from rdma_robust.language.flow.valid_expressions import (
    crowd_messages,
    is_integer,
    proven,
    wrong_cards,
    wrong_counts,
    wrong_crowds,
    wrong_hardware,
    wrong_in,
    wrong_lane,
    wrong_lanes,
    wrong_meeting,
    wrong_message,
    wrong_payload,
    wrong_places,
    wrong_posted,
    wrong_sender,
)

MAX_POINT: Final = 1_000_000
"""Numbers of program points are below: sets of them are bit masks."""

_REGISTER: Final = re.compile(r"\$?[A-Za-z_]\w*", re.ASCII)
_WORD: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MEMBER: Final = re.compile(r"[A-Za-z_]\w*(\[(0|[1-9]\d*)\])?", re.ASCII)
"""The name of a node or thread, with a number if it is one of several."""
_VARIABLE: Final = re.compile(r"[A-Za-z_]\w*(\[(0|[1-9]\d*)\])?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something that is wrong, and where: the span of the step, else none."""

    message: str
    span: Span = NO_SPAN
    hint: str = ""

    def __str__(self) -> str:
        return self.message


def validate(program: cfg.Program, *, proofs: bool = False) -> None:
    """Raise ProgramError with everything that is wrong with a program that was put together by hand.

    What only proofs can do something with is wrong too, unless they are to be made.
    """
    report = Reporter(program.file, program.source)
    for each in complaints(program, proofs=proofs):
        report.error("RR622", each.span, each.message, hint=each.hint)
    report.raise_errors()


def valid_for_proofs(program: cfg.Program) -> cfg.Program:
    """Return `program` with what only proofs can do something with as `undecided`, wherever it comes from.

    Raises ProgramError as :func:`validate` does for proofs.
    """
    validate(program, proofs=True)
    if program.undecided:
        return program
    left = tuple(Diagnostic("error", "RR622", each.message, each.span, hint=each.hint) for each in complaints(program))
    return replace(program, undecided=left)


def complaints(program: cfg.Program, *, proofs: bool = False) -> Iterator[Complaint]:
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


def _declarations(program: cfg.Program) -> Iterator[Complaint]:
    seen = [c for c in program.cells if not c.hidden]
    for what, declared in (("node", program.nodes), ("thread", [t.name for t in program.threads])):
        yield from _words(what, declared, _MEMBER)
        yield from _repeated(what, declared)
    yield from map(Complaint, wrong_crowds(program))
    yield from _words("variable", (c.name for c in seen), _VARIABLE)
    yield from _repeated("variable", map(str, program.cells))
    yield from _arrays((c.node, c.name) for c in seen)
    if len(program.cells) > cfg.MAX_CELLS:
        yield Complaint(f"too many variables: more than {cfg.MAX_CELLS:,}")
    for cell in program.cells:
        if cell.node not in program.nodes:
            yield Complaint(f"variable {quote(str(cell))} is on a node that is not declared")
        elif cell.card != program.card_of(cell.node) and not cell.hidden:
            yield Complaint(f"variable {quote(str(cell))} lies behind another NIC than its node says")
        if not is_integer(cell.init):
            yield Complaint(f"the initial value of {quote(str(cell))} is no integer of at most 18 digits")
    yield from _domain(program)
    yield from map(Complaint, (*wrong_hardware(program), *wrong_cards(program)))
    count = 0
    for thread in program.threads:
        if thread.node not in program.nodes:
            yield Complaint(f"thread {thread.name} runs on {quote(thread.node)}, which is no node")
        registers = [name for name, _ in thread.registers]
        yield from _words("register", registers, _REGISTER)
        yield from _repeated(f"in thread {thread.name}, register", registers)
        for name, value in thread.registers:
            if not is_integer(value):
                what = f"the initial value of register {quote(f'{thread.name}.{name}')}"
                yield Complaint(f"{what} is no integer of at most 18 digits")
        yield from _points(thread)
        yield from _labels(thread)
        yield from _words("lane", (lane for lane, _ in thread.lanes), _MEMBER)
        yield from map(Complaint, (*wrong_lanes(program, thread), *wrong_posted(program, thread)))
        count += len(thread.edges)
    if count > cfg.MAX_STEPS:
        yield Complaint(f"this program is too large: its control-flow graphs have more than {cfg.MAX_STEPS:,} steps")
    yield from _outcomes(program)
    yield from _invariants(program)


def _arrays(variables: Iterable[tuple[str, str]]) -> Iterator[Complaint]:
    """An array has every element from 0 on, and its name is its own. `variables` are nodes and names."""
    found: dict[tuple[str, str], set[str]] = {}
    for node, variable in variables:
        name, _, index = variable.partition("[")
        found.setdefault((node, name), set()).add(index)
    for (node, name), indices in found.items():
        if indices != {""} and indices != {f"{k}]" for k in range(len(indices))}:
            yield Complaint(f"array {quote(f'{node}.{name}')} is not whole: its elements are numbered from 0, without gaps")


def _domain(program: cfg.Program) -> Iterator[Complaint]:
    if program.domain is None:
        return
    if not isinstance(program.domain, tuple) or len(program.domain) != 2 or not all(map(is_integer, program.domain)):
        yield Complaint(f"the domain {program.domain!r} is no pair of integers of at most 18 digits")
    elif program.domain[0] > program.domain[1]:
        yield Complaint(f"the domain {program.domain[0]}..{program.domain[1]} is empty")


def _points(thread: cfg.Thread) -> Iterator[Complaint]:
    known = frozenset(thread.points)
    for point in dict.fromkeys(
        (thread.entry, thread.exit, *thread.points, *(p for u, v, _ in thread.edges for p in (u, v)))
    ):
        if not is_integer(point) or not 0 <= point < MAX_POINT:
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
        if not isinstance(step, cfg.Step):
            yield Complaint(f"an edge of thread {thread.name} has no step")


def _labels(thread: cfg.Thread) -> Iterator[Complaint]:
    names = [name for name, _ in thread.labels]
    yield from _words("label", names)
    yield from _repeated(f"in thread {thread.name}, label", names)
    known = frozenset(thread.points)
    for name, point in thread.labels:
        if point not in known:
            yield Complaint(
                f"label {quote(name)} of thread {thread.name} is at point {point!r}, which its graph does not have"
            )


def _invariants(program: cfg.Program) -> Iterator[Complaint]:
    known = {str(c) for c in program.cells if not c.hidden}
    known |= {f"{t.name}.{r}" for t in program.threads for r, _ in t.registers}
    for line in program.invariants:
        for message in (*wrong_places(program, line.atoms), *wrong_counts(program, line.counts, known)):
            yield Complaint(message, line.span)
        for name, _ in line.atoms:
            if name in known:
                yield Complaint(f"in an invariant, {quote(name)} has two meanings", line.span)
        said = {name for name, _ in (*line.atoms, *line.counts)}
        messages = list(wrong_in(line.condition, known | said, has_domain=True))
        for message in messages:
            yield Complaint(f"in an invariant, {message}", line.span)
        if not messages and not proven(TRUE, divides_by_no_zero(line.condition)):
            yield Complaint("an invariant divides by what may be zero", line.span)


def _outcomes(program: cfg.Program) -> Iterator[Complaint]:
    known = {str(c) for c in program.cells if not c.hidden}
    registers = {f"{t.name}.{r}" for t in program.threads for r, _ in t.registers}
    twice, known = known & registers, known | registers
    for line in program.outcomes:
        for message in wrong_counts(program, line.counts, known):
            yield Complaint(message, line.span)
        messages = list(wrong_in(line.condition, known | {name for name, _ in line.counts}, has_domain=True))
        if not messages:
            both = sorted(twice.intersection(names(line.condition)))
            messages = [f"{quote(name)} is both a register and a variable" for name in both]
        for message in messages:
            yield Complaint(f"in an outcome, {message}", line.span)
        if not messages and not proven(TRUE, divides_by_no_zero(line.condition)):
            yield Complaint("an outcome divides by what may be zero", line.span)


_GIVES_VALUE: Final = (cfg.Read, cfg.Cas, cfg.Rmw, cfg.Section, cfg.Nondet, cfg.RecvPoll)
"""The operations with a VALUE that registers can take."""


def _wraps(op: cfg.Op) -> tuple[Expr, ...]:
    return (op.wraps[0],) if isinstance(op, cfg.RemoteRmw) and op.wraps is not None else ()


@dataclass(frozen=True)
class _Thread:
    program: cfg.Program
    thread: cfg.Thread
    proofs: bool

    def complaints(self) -> Iterator[Complaint]:
        cells = frozenset(self.program.cells)
        ends = {*self.thread.points} - {source for source, _, _ in self.thread.edges} - {self.thread.exit}
        for _, target, step in cfg.steps(self.thread):
            messages = [*self._operation(step, cells), *self._expressions(step)]
            if not messages:
                messages += self._values(step)
            messages += self._fault(step, target in ends)
            what = f"thread {self.thread.name}, {quote(step.text)}" if step.text else f"thread {self.thread.name}"
            for message in messages:
                yield Complaint(f"{what}: {message}", step.span)

    def _operation(self, step: cfg.Step, cells: frozenset[cfg.Cell]) -> Iterator[str]:
        if isinstance(step.op, cfg.Nondet) and not self.proofs:
            yield f"{type(step.op).__name__} is left to `prove`: nothing else decides it"
        yield from crowd_messages(self.program, self.thread, step.op)
        match step.op:
            case cfg.Silent() | cfg.MFence() | cfg.Nondet():
                return
            case cfg.Read(cell) | cfg.Write(cell, _) | cfg.Cas(cell, _, _) | cfg.Rmw(cell, _, _):
                yield from self._own(cell, cells) if not cell.moment else self._declared(cell, cells, True)
            case cfg.Section(words, writes):
                yield from (each for cell in words for each in self._own(cell, cells))
                if len({*words}) < len(words) or not {k for k, _ in writes} <= {*range(len(words))}:
                    yield "a section has each of its locations once, and writes only these"
            case cfg.Put(target, source):
                yield from self._own(source, cells, hidden=True)
                yield from self._remote(target, cells, step.op.lane)
            case cfg.InlinePut() | cfg.Send() | cfg.ImmPut():
                yield from self._request(step.op, cells)
            case cfg.Recv(cell, sender, lane):
                yield from self._own(cell, cells, hidden=cell.void)
                yield from wrong_sender(self.program, self.thread, sender, lane)
            case cfg.RecvPoll(sender, lane):
                yield from wrong_sender(self.program, self.thread, sender, lane)
            case cfg.BarrierWait(threads):
                yield from wrong_meeting(self.program, self.thread, threads)
            case cfg.Get(target, source) | cfg.RemoteRmw(target, source, _, _):
                if target is not None:
                    yield from self._own(target, cells)
                for operand in step.op.operands if isinstance(step.op, cfg.RemoteRmw) else ():
                    yield from self._own(operand, cells)
                yield from self._remote(source, cells, step.op.lane)
            case cfg.Poll(node, lane) | cfg.RFence(node, lane) | cfg.Flush(node, lane) | cfg.OrderFence(node, lane):
                yield from self._queue_pair(node, lane)
            case other:
                yield f"{other!r} is no operation"

    def _request(self, op: cfg.InlinePut | cfg.Send | cfg.ImmPut, cells: frozenset[cfg.Cell]) -> Iterator[str]:
        if op.data is not None:
            yield from wrong_payload(op.data)
        if op.data is not None and op.data.source is not None:
            yield from self._own(op.data.source, cells, hidden=True)
        if isinstance(op, cfg.Send):
            yield from self._queue_pair(op.node, op.lane)
        else:
            yield from self._remote(op.target, cells, op.lane)
        if not isinstance(op, cfg.InlinePut):
            yield from wrong_message(self.program, self.thread, op)

    def _own(self, cell: cfg.Cell, cells: frozenset[cfg.Cell], hidden: bool = False) -> Iterator[str]:
        yield from self._declared(cell, cells, hidden)
        if cell.card != self.program.card_of(self.thread.node):
            yield f"{quote(str(cell))} is on another node"

    def _remote(self, cell: cfg.Cell, cells: frozenset[cfg.Cell], lane: str) -> Iterator[str]:
        yield from self._declared(cell, cells, False)
        yield from self._queue_pair(cell.card, lane)

    @staticmethod
    def _declared(cell: cfg.Cell, cells: frozenset[cfg.Cell], hidden: bool) -> Iterator[str]:
        if cell not in cells:
            yield f"the program has no variable {quote(str(cell))} like this"
        elif cell.hidden and not hidden:
            yield f"{quote(str(cell))} is the hidden constant of a put"

    def _queue_pair(self, node: str, lane: str) -> Iterator[str]:
        yield from wrong_lane(self.thread, lane, node)
        if node not in self.program.nodes:
            yield f"unknown node {quote(node)}"
        elif self.program.card_of(node) != node:
            yield f"{quote(node)} has no NIC: its memory lies behind that of {self.program.card_of(node)}"
        elif node in self.program.many_nodes and node != self.thread.node:
            yield f"there are many of {quote(node)}, each of which only its own thread names"
        elif node == self.program.card_of(self.thread.node) and not self.program.allow_loopback:
            yield f"{quote(node)} is its own node, to which only `allow loopback` gives a queue pair"

    def _expressions(self, step: cfg.Step) -> Iterator[str]:
        registers = {name for name, _ in self.thread.registers}
        has_domain = self.proofs or self.program.domain is not None
        value = registers | {VALUE.name}
        if isinstance(step.op, cfg.Section):
            value = registers | {value_of(k).name for k in range(len(step.op.cells))}
        elif isinstance(step.op, cfg.RemoteRmw):
            value |= {value_of(k).name for k in range(len(step.op.operands))}
        yield from wrong_in(
            step.guard, value if isinstance(step.op, cfg.Read | cfg.Rmw | cfg.Section) else registers, has_domain=has_domain
        )
        for register, expr in step.assigns:
            if register not in registers:
                yield f"unknown register {quote(register)}"
            known = value if isinstance(step.op, _GIVES_VALUE) else registers
            yield from wrong_in(expr, known, has_domain=has_domain)
        if len({register for register, _ in step.assigns}) < len(step.assigns):
            yield "a register is assigned twice in one step"
        if step.assigns and not isinstance(step.op, (cfg.Silent, *_GIVES_VALUE)):
            yield "only steps that read, or touch nothing, assign registers: make it two steps"
        data: cfg.Payload | None = getattr(step.op, "data", None)
        reads = isinstance(step.op, cfg.Rmw | cfg.Section | cfg.RemoteRmw) or (data is not None and data.source is not None)
        for expr in (*cfg.operands(step.op), *_wraps(step.op)):
            yield from wrong_in(expr, value if reads else registers, has_domain=has_domain)

    def _values(self, step: cfg.Step) -> Iterator[str]:
        """Every value that is computed must be defined, and every one that is kept must be in the domain."""
        if not proven(TRUE, divides_by_no_zero(step.guard)):
            yield "the guard divides by what may be zero: ask `d != 0 &&` before"
        domain = self.program.domain
        moment = isinstance(step.op, cfg.Cas | cfg.Rmw) and step.op.cell.moment
        compared = step.op.expected if isinstance(step.op, cfg.Cas) else None
        for expr in (*(e for _, e in step.assigns), *cfg.operands(step.op)):
            if not proven(step.guard, divides_by_no_zero(expr)):
                yield "it divides by what may be zero: ask for `d != 0` in the guard"
            elif expr is not compared and not moment and not self._kept(step, expr, domain):
                yield "a value may leave the domain: ask in the guard that it does not"

    def _kept(self, step: cfg.Step, expr: Expr, domain: tuple[int, int] | None) -> bool:
        """Whether a value stays in the domain."""
        if isinstance(step.op, cfg.RemoteRmw) and domain is not None and is_wrapped(expr, domain):
            return True
        return proven(step.guard, in_domain(expr, domain))

    def _fault(self, step: cfg.Step, at_end: bool) -> Iterator[str]:
        if step.fault is None:
            return
        if not only_reads(step.op) or step.assigns:
            yield "a step that goes wrong does nothing but read"
        if step.fault.kind != "assertion" and not at_end:
            yield f"{step.fault.kind} ends the execution: it must lead to a point without steps that is not the exit"
