"""From a Trencher program to flow graphs: one node, one variable for each address, one automaton a thread."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import PurePath
from typing import Final

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import SizeLimitError
from rdma_robust.expr import (
    FALSE,
    OPERATORS,
    TRUE,
    VALUE,
    Binary,
    Const,
    Expr,
    Ite,
    Name,
    Unary,
    conj,
    equals,
    names,
    negate,
    substitute,
    with_operands,
)
from rdma_robust.language.flow import cfg
from rdma_robust.language.flow.going_wrong import failing
from rdma_robust.language.syntax.grammar import load_grammar
from rdma_robust.language.trencher.locked_sections import Sections, SectionWay
from rdma_robust.language.trencher.trencher_syntax import (
    AutomataFile,
    AutomatonEdge,
    ThreadAutomatonText,
    read_automata_file,
)
from rdma_robust.language.trencher.trencher_values import Values, values_of
from rdma_robust.model import Hardware

Interval = tuple[int, int]
MOST_BITS: Final = 16


def without_bits(expr: Expr, domain: Interval) -> Expr:
    """Return an expression without `&` that has the same values where all names are in `domain`.

    Raises SizeLimitError where its operands have more than MOST_BITS bits.
    """
    match expr:
        case Binary("&", left, right):
            return _and(without_bits(left, domain), without_bits(right, domain), domain)
        case Ite():
            return expr
        case _:
            return with_operands(expr, lambda each: without_bits(each, domain))


def interval(expr: Expr, domain: Interval) -> Interval:
    """Return bounds of the values of an expression whose names are in `domain`."""
    match expr:
        case Const(value):
            return value, value
        case Name():
            return domain
        case Unary("-", arg):
            low, high = interval(arg, domain)
            return -high, -low
        case Binary("+" | "-" | "*" as op, left, right):
            ends = [OPERATORS[op](a, b) for a in interval(left, domain) for b in interval(right, domain)]
            return min(ends), max(ends)
        case Binary("/" | "%", left, Const(by)) if by > 0:
            low, high = interval(left, domain)
            if expr.op == "/":
                return -(-low // by) if low < 0 else low // by, -(-high // by) if high < 0 else high // by
            return (0 if low >= 0 else 1 - by), (0 if high <= 0 else by - 1)
        case Binary("&", left, right):
            ends = [*interval(left, domain), *interval(right, domain)]
            size = 1 << max(abs(end).bit_length() for end in ends)
            return -size if min(ends) < 0 else 0, size - 1
        case _:
            return 0, 1


def _and(left: Expr, right: Expr, domain: Interval) -> Expr:
    if isinstance(left, Const) and not isinstance(right, Const):
        left, right = right, left
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(left.value & right.value)
    ends = (*interval(left, domain), *interval(right, domain))
    signed = min(ends) < 0
    if not signed and isinstance(right, Const) and right.value & (right.value + 1) == 0:
        return Binary("%", left, Const(right.value + 1))
    width = max(end.bit_length() for end in ends)
    if width > MOST_BITS:
        raise SizeLimitError(f"`&` of numbers of {width} bits, of more than {MOST_BITS}, is not written out")
    size = 1 << width
    first, second = _bits(left, size, signed), _bits(right, size, signed)
    parts: list[Expr] = [_times(_times(first(1 << k), second(1 << k)), 1 << k) for k in range(width)]
    whole = reduce(lambda a, b: Binary("+", a, b), parts) if parts else Const(0)
    if not signed:
        return whole
    both = _times(Binary("<", left, Const(0)), Binary("<", right, Const(0)))
    return Binary("-", whole, _times(both, size))


def _bits(expr: Expr, size: int, signed: bool) -> Callable[[int], Expr]:
    """Return what gives a bit of an expression, by its weight."""
    raised = Binary("+", expr, Const(size)) if signed else expr

    def bit(weight: int) -> Expr:
        if isinstance(expr, Const):
            return Const(int(bool(expr.value & weight)))
        shifted = raised if weight == 1 else Binary("/", raised, Const(weight))
        return equals(Binary("%", shifted, Const(2)), Const(1))

    return bit


def _times(left: Expr, right: Expr | int) -> Expr:
    by = Const(right) if isinstance(right, int) else right
    if Const(0) in (left, by):
        return Const(0)
    return left if by == Const(1) else by if left == Const(1) else Binary("*", left, by)


NODE: Final = "M"
"""The node on which everything is."""

_UNKNOWN_TO_LANGUAGE: Final = re.compile(r"\W", re.ASCII)
Range = tuple[int, int]


def read_trencher(text: str, file: str, addresses: Range | None = None, *, trusting: bool = False) -> cfg.Program:
    """Return the program in `text`, with `cpu tso` as its hardware; `file` is its name for messages.

    `addresses` are the words that there are, if the values of addresses have no end that is found; without it `memory_size`
    says so, and otherwise such an address is an error. If `trusting`, steps do not ask whether values stay in the domain
    that are known to do so under sequential consistency. Raises ProgramError with every error of the file, SizeLimitError
    for what is not decided: locked sections with too many ways through them, or more of anything than there can be.
    """
    report = Reporter(file, text)
    automata = read_automata_file(text, report)
    report.raise_errors()
    values = values_of(automata)
    if addresses is None and automata.memory_size is not None:
        addresses = 0, automata.memory_size - 1
    _bound_addresses(automata, values, addresses, report)
    report.raise_errors()
    found = {address for each in values.addresses.values() for address in each}
    cells = {address: cfg.Cell(NODE, _variable(address)) for address in sorted(found)}
    thread_names = _names(thread.name for thread in automata.threads)
    threads = tuple(
        _Building(number, thread, thread_names[thread.name], values, cells, trusting).thread()
        for number, thread in enumerate(automata.threads)
    )
    if sum(len(thread.edges) for thread in threads) > cfg.MAX_STEPS or len(cells) > cfg.MAX_CELLS:
        raise SizeLimitError(f"as flow graphs it has more than {cfg.MAX_STEPS} steps or {cfg.MAX_CELLS} words")
    return cfg.Program(
        PurePath(file).stem,
        file,
        text,
        (NODE,),
        tuple(cells.values()),
        threads,
        (values.low, values.high),
        expectations=tuple(automata.expectations),
        hardware=Hardware(cpu="tso"),
    )


def left_out(program: cfg.Program) -> str:
    """Return what of a program of Trencher its flow graphs do not do, in words; nothing for any other program.

    Robustness is decided all the same, but what is said never to happen may.
    """
    faults = (step.fault for thread in program.threads for _, _, step in thread.edges)
    cut = next((fault for fault in faults if fault is not None and fault.kind == "value not followed"), None)
    if cut is not None:
        return cut.message
    report = Reporter(program.file, program.source)
    for number, thread in enumerate(read_automata_file(program.source, report).threads):
        sections = Sections(number, _numbered(thread), Values())
        for lock in (t for t in thread.transitions if t.kind == "lock"):
            if not sections.always_unlocks(lock):
                return (
                    f"thread {thread.name} may keep the memory locked from line {lock.span.line} on, which is not followed"
                )
    return ""


def _numbered(thread: ThreadAutomatonText) -> dict[str, list[tuple[int, AutomatonEdge]]]:
    """Return the transitions that leave each state, with their numbers."""
    out: dict[str, list[tuple[int, AutomatonEdge]]] = {state: [] for state in thread.leaving()}
    for index, t in enumerate(thread.transitions):
        out[t.source].append((index, t))
    return out


def _variable(address: int) -> str:
    return f"m{address}" if address >= 0 else f"m_{-address}"


def _bound_addresses(automata: AutomataFile, values: Values, addresses: Range | None, report: Reporter) -> None:
    """Where values were not followed to their end, take the words that there are, or complain."""
    if values.by != "cut":
        return
    for number, thread in enumerate(automata.threads):
        for index, t in enumerate(thread.transitions):
            if t.kind not in ("read", "write"):
                continue
            if isinstance(t.address, Const):
                values.addresses[number, index] = {t.address.value}
            elif addresses is not None:
                values.addresses[number, index] = set(range(addresses[0], addresses[1] + 1))
            else:
                report.error(
                    "RR633",
                    t.address_span,
                    f"the address {quote(report.written(t.address_span))} has no bound that was found",
                    hint="say how many words there are: a line `memory_size N`, or `--addresses lo..hi`",
                )


def _names(given: Iterable[str]) -> dict[str, str]:
    """Return names that the language has as well, different ones for different names."""
    keywords = frozenset(load_grammar().keywords.values())
    found: dict[str, str] = {}
    for name in given:
        plain = _UNKNOWN_TO_LANGUAGE.sub("_", name)
        plain = f"_{plain}" if plain[:1].isdigit() else plain
        number = 1
        while (made := plain if number == 1 and plain not in keywords else f"{plain}_{number}") in found.values():
            number += 1
        found.setdefault(name, made)
    return found


def flow_graph_labels(automaton: ThreadAutomatonText) -> dict[str, str]:
    """Return the labels that the states of a thread have in its flow graph."""
    return _names(automaton.leaving())


@dataclass
class _Building:
    """The flow graph of one thread. `_at` maps states outside of locked sections to program points."""

    number: int
    automaton: ThreadAutomatonText
    name: str
    values: Values
    cells: dict[int, cfg.Cell]
    trusting: bool = False
    _at: dict[str, int] = field(default_factory=dict)
    _edges: list[cfg.Edge] = field(default_factory=list)
    _points: int = 1

    def thread(self) -> cfg.Thread:
        """Point 0 is the exit, for every state that nothing leaves."""
        out = _numbered(self.automaton)
        self._leaving = out
        self._sections = Sections(self.number, out, self.values)
        used = [t.register for t in self.automaton.transitions if t.register]
        used += [name for t in self.automaton.transitions for e in (t.value, t.address) for name in names(e)]
        self._registers = _names(dict.fromkeys(used))
        self._renamed: dict[str, Expr] = {old: Name(new) for old, new in self._registers.items()}
        entry = self._point(self.automaton.initial)
        done: set[str] = set()
        while left := [state for state in self._at if state not in done]:
            for state in left:
                done.add(state)
                for index, t in out[state]:
                    self._add(index, t)
        registers = tuple((name, 0) for name in self._registers.values())
        return cfg.Thread(
            self.name, NODE, registers, tuple(range(self._points)), tuple(self._edges), entry, 0, labels=self._labels()
        )

    def _labels(self) -> tuple[tuple[str, int], ...]:
        shown = flow_graph_labels(self.automaton)
        return tuple((shown[state], point) for state, point in self._at.items() if point)

    def _point(self, state: str) -> int:
        if state not in self._at:
            self._at[state] = self._fresh() if self._leaving[state] else 0
        return self._at[state]

    def _fresh(self) -> int:
        self._points += 1
        return self._points - 1

    def _add(self, index: int, t: AutomatonEdge) -> None:
        source = self._at[t.source]
        if t.kind == "lock":
            for way in self._sections.ways(t):
                self._add_way(source, t, way)
        elif t.kind != "unlock":  # who has nothing locked waits at it
            target = self._point(t.target)
            for op, guard in self._operations(index, t):
                self._step(source, target, cfg.Step(op, guard, self._assigned(t), t.span, t.text))
            self._step_outside(source, index, t)

    def _operations(self, index: int, t: AutomatonEdge) -> Iterator[tuple[cfg.Op, Expr]]:
        match t.kind:
            case "check":
                yield cfg.Silent(), self._of(t.value)
            case "mfence":
                yield cfg.MFence(), TRUE
            case "read" | "write":
                address, value = self._of(t.address), self._of(t.value)
                for each in sorted(self.values.addresses.get((self.number, index), ())):
                    op = cfg.Read(self.cells[each]) if t.kind == "read" else cfg.Write(self.cells[each], value)
                    guard = equals(address, Const(each))
                    if guard != FALSE:
                        yield op, guard
            case _:
                yield cfg.Silent(), TRUE

    def _assigned(self, t: AutomatonEdge) -> tuple[tuple[str, Expr], ...]:
        if t.kind == "read":
            return ((self._registers[t.register], VALUE),)
        return ((self._registers[t.register], self._of(t.value)),) if t.kind == "local" else ()

    def _step(self, source: int, target: int, step: cfg.Step) -> None:
        """Add a step, taken only where the values that it keeps are followed."""
        kept = [value for _, value in step.assigns if value != VALUE]
        match step.op:
            case cfg.Write(_, value) | cfg.Rmw(_, value) if value != VALUE:
                kept.append(value)
            case cfg.Section(_, writes):
                kept += (value for _, value in writes)
        self._edges.append((source, target, replace(step, guard=conj(step.guard, *map(self._inside, kept)))))

    def _add_way(self, source: int, lock: AutomatonEdge, way: SectionWay) -> None:
        text = "lock ... unlock"
        target = self._point(way.target)
        guard = self._of(way.guard)
        assigns = tuple((self._registers[name], self._of(expr)) for name, expr in way.registers)
        if not way.addresses:
            between = self._fresh() if assigns else target
            self._edges.append((source, between, cfg.Step(cfg.MFence(), guard, (), lock.span, text)))
            if assigns:
                self._step(between, target, cfg.Step(cfg.Silent(), TRUE, assigns, lock.span, text))
            return
        cells = tuple(self.cells[address] for address in way.addresses)
        written = tuple((place, self._of(value)) for place, value in way.written)
        reading: cfg.Section | cfg.Rmw = cfg.Section(cells) if len(cells) > 1 else failing(cfg.Rmw(cells[0], VALUE))
        op: cfg.Op = reading
        if written:
            op = cfg.Section(cells, written) if len(cells) > 1 else cfg.Rmw(cells[0], written[0][1])
        self._step(source, target, cfg.Step(op, guard, assigns, lock.span, text))
        if self.values.by == "cut":
            for value in (*(value for _, value in assigns), *(value for _, value in written)):
                self._fault(source, lock, reading, conj(guard, negate(self._inside(value))), text)

    def _of(self, expr: Expr) -> Expr:
        return without_bits(substitute(expr, self._renamed), (self.values.low, self.values.high))

    def _inside(self, value: Expr) -> Expr:
        """Return the condition that a value is one of those that are followed, true where that is known."""
        low, high = self.values.low, self.values.high
        least, most = interval(value, (low, high))
        if self.values.by == "sets" or (self.trusting and self.values.by == "states") or (low <= least and most <= high):
            return TRUE
        return conj(
            TRUE if low <= least else Binary(">=", value, Const(low)),
            TRUE if most <= high else Binary("<=", value, Const(high)),
        )

    def _step_outside(self, source: int, index: int, t: AutomatonEdge) -> None:
        """Where the range was cut: the step that leaves it, and ends what is followed of the thread."""
        if self.values.by != "cut" or t.kind not in ("read", "write", "local"):
            return
        outside: list[Expr] = []
        if t.kind != "read":
            outside.append(negate(self._inside(self._of(t.value))))
        if t.kind != "local" and not isinstance(t.address, Const):
            known = [equals(self._of(t.address), Const(each)) for each in sorted(self.values.addresses[self.number, index])]
            outside.append(conj(*map(negate, known)))
        for condition in outside:
            self._fault(source, t, cfg.Silent(), condition, t.text)

    def _fault(self, source: int, t: AutomatonEdge, op: cfg.Op, condition: Expr, text: str) -> None:
        if condition != FALSE:
            message = f"values grow beyond {self.values.low}..{self.values.high}, which is as far as they are followed"
            fault = cfg.Fault("value not followed", message, t.span, text)
            self._edges.append((source, self._fresh(), cfg.Step(op, condition, (), t.span, text, fault)))
