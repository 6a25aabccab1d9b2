"""Registers before, in and after the iterations of a loop in closed form, and the patterns in its text that allow it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from rdma_robust.contracts.any_procs.any_values import (
    ArrayTerm,
    Int,
    LazyValue,
    NumberTerm,
    TermValue,
    UnrecognisedError,
    Unusable,
    conditional,
    in_range,
    number_constant,
    summed,
)
from rdma_robust.digraph import by_key
from rdma_robust.expr import Const, Name
from rdma_robust.guarded_z3 import z3
from rdma_robust.messages.language.message_program import (
    Assert,
    Assign,
    Assume,
    Block,
    For,
    If,
    InlinedCall,
    IssueReceive,
    Return,
    Statement,
)
from rdma_robust.messages.language.message_terms import Element, Operation, Term

if TYPE_CHECKING:
    from rdma_robust.contracts.any_procs.any_events import Registers
    from rdma_robust.contracts.any_procs.any_execution import ParametricExecution


class LoopContext:
    """One loop of a process that begins with `registers` and goes over the range `span`."""

    def __init__(
        self, walk: ParametricExecution, loop: For, number: int, registers: Registers, span: tuple[Int, Int]
    ) -> None:
        self.walk = walk
        self.loop = loop
        self.number = number
        self.registers = registers
        self.low, self.high = span
        self.changes = changes(loop)
        self._ends: dict[int, tuple[Int, Registers]] = {}
        self._outer = dict(walk.loops)

    def iteration(self, counter: Int) -> None:
        """Go through one iteration, and note what happens there."""
        self.walk.iteration(self.loop, self.number, counter, (self.low, self.high), self._start(counter))

    def after(self) -> Registers:
        """Return what registers hold after the loop."""
        found = dict(self.registers)
        for name, changed in self.changes.items():
            found[name] = LazyValue(partial(self._upto, name, changed, self.high, last=True))
        found[self.loop.counter] = Unusable(f"line {self.loop.span.line}: the counter after its loop")
        return found

    def _start(self, counter: Int) -> Registers:
        """Return what registers hold as an iteration begins."""
        found = dict(self.registers)
        for name, changed in self.changes.items():
            found[name] = LazyValue(partial(self._upto, name, changed, counter - 1, last=False))
        return found

    def _end(self, counter: Int) -> Registers:
        """Return what registers hold as an iteration ends."""
        known = self._ends.get(counter.get_id())
        if known is None:
            walk = self.walk.aside()
            walk.loops = dict(self._outer)
            walk.function.depth += 1
            try:
                end = walk.iteration(self.loop, self.number, counter, (self.low, self.high), self._start(counter))
            finally:
                walk.function.depth -= 1
            known = self._ends[counter.get_id()] = counter, end
        return known[1]

    def _upto(self, name: str, changed: LoopEffect, last_one: Int, *, last: bool) -> TermValue:
        """Return what a register holds after the iterations up to one."""
        before = self.registers.get(name) or number_constant(0)
        why = f"line {self.loop.span.line}: what iterations do to {name} depends on those before"
        if changed.kind == "other" or (changed.kind == "own" and not last):
            return Unusable(why)
        if changed.kind == "own":
            return conditional(self.low <= last_one, lambda: LazyValue(lambda: self._end(last_one)[name]), lambda: before)
        if changed.kind == "once":
            terms = self.walk.aside().terms(self.registers, self.loop.span)
            only = terms.number(changed.index)
            return conditional(
                in_range(only, self.low, last_one), lambda: LazyValue(lambda: self._end(only)[name]), lambda: before
            )
        indices = self._indices(changed.prefix)
        if changed.kind == "sum":
            return self._replaced(before, indices, lambda at: self._total(name, indices, at, last_one))
        return self._replaced(before, indices, lambda at: self._moved(name, changed, indices, at, last_one))

    def _indices(self, prefix: tuple[Term, ...]) -> list[Int]:
        terms = self.walk.aside().terms(self.registers, self.loop.span)
        return [terms.number(each) for each in prefix]

    def _replaced(self, array: TermValue, indices: list[Int], made: Callable[[TermValue], TermValue]) -> TermValue:
        """Return an array in which something else stands at a place."""
        if not indices:
            return made(array)
        at = indices[0]
        new = LazyValue(lambda: self._replaced(array.cell(at), indices[1:], made))
        return ArrayTerm(array.length(), lambda k: conditional(k == at, lambda: new, lambda: array.cell(k)))

    def _total(self, name: str, indices: list[Int], before: TermValue, last_one: Int) -> TermValue:
        """Return a number to which each iteration up to one has added something."""

        def added(counter: Int) -> Int:
            start = z3.FreshInt("sum")
            registers = self._start(counter)
            registers[name] = self._replaced(
                self.registers.get(name) or number_constant(0), indices, lambda _: NumberTerm(start)
            )
            walk = self.walk.aside()
            walk.loops = dict(self._outer)
            end = walk.iteration(self.loop, self.number, counter, (self.low, self.high), registers)[name]
            for each in indices:
                end = end.cell(each)
            return _difference(end.number(), start)

        total = before.number() + summed(self.low, last_one, added)
        # what was no number stays as it is: the first addition is a fault
        return conditional(before.is_number(), lambda: NumberTerm(total), lambda: before)

    def _moved(self, name: str, changed: LoopEffect, indices: list[Int], before: TermValue, last_one: Int) -> TermValue:
        """Return an array of which each iteration up to one has changed one cell, which moves with the counter."""
        probe = z3.FreshInt("probe")
        registers = {**self.registers, self.loop.counter: NumberTerm(probe)}
        distance = z3.simplify(self.walk.aside().terms(registers, self.loop.span).number(changed.index) - probe)
        if contains(distance, probe):
            raise UnrecognisedError(f"line {self.loop.span.line}: which cell of {name} changes")

        def cell(k: Int) -> TermValue:
            counter = z3.simplify(k - distance)

            def changed_cell() -> TermValue:
                array = self._end(counter)[name]
                for each in indices:
                    array = array.cell(each)
                return array.cell(k)

            return conditional(
                in_range(counter, self.low, last_one), lambda: LazyValue(changed_cell), lambda: before.cell(k)
            )

        return ArrayTerm(before.length(), cell)


def contains(term: Int, part: Int) -> bool:
    """Whether a term has another one in it."""
    todo, seen = [term], set()
    while todo:
        each = todo.pop()
        if each.eq(part):
            return True
        if each.get_id() not in seen:
            seen.add(each.get_id())
            todo += [each.body()] if z3.is_quantifier(each) else each.children()
    return False


def _difference(end: Int, start: Int) -> Int:
    """Return what was added to `start`."""
    if z3.is_app_of(end, z3.Z3_OP_ITE):
        test, then, other = end.children()
        if contains(test, start):
            raise UnrecognisedError("a sum is looked at while it grows")
        return z3.If(test, _difference(then, start), _difference(other, start))
    found = z3.simplify(end - start)
    if contains(found, start):
        raise UnrecognisedError("a sum is looked at while it grows")
    return found


# What a loop does to registers, by its text: sums, cells that move with the counter, and values of one iteration.


@dataclass(frozen=True, slots=True)
class RegisterStore:
    """A place in the text that stores to a register; `value` is None for what is received or called."""

    register: str
    indices: tuple[Term, ...]
    value: Term | None


_ZERO: Final = Const(0)


@dataclass(frozen=True, slots=True)
class LoopEffect:
    """How a loop changes a register.

    - `own`: each iteration stores to it before anything is read from it, if it is read at all;
    - `sum`: what stands at `prefix` grows by a number in each iteration, and is looked at nowhere else;
    - `cells`: of the array at `prefix` the cell at `index`, which moves with the counter;
    - `once`: only the iteration stores to it whose counter is `index`, which no iteration changes;
    - `other`: nothing of these.
    """

    kind: Literal["own", "sum", "cells", "once", "other"]
    prefix: tuple[Term, ...] = ()
    index: Term = _ZERO


def all_statements(block: Block) -> Iterator[Statement]:
    """Yield every statement of a block in the order of the text, also those inside of others."""
    for each in block:
        yield each
        for part in fields(each):
            inner = getattr(each, part.name)
            if isinstance(inner, tuple) and part.name in ("body", "then", "other"):
                yield from all_statements(inner)


def returns_early(block: Block) -> bool:
    """Whether a block may leave the function in which it stands."""
    for each in block:
        if isinstance(each, Return):
            return True
        inner: list[Block] = []
        if isinstance(each, If):
            inner = [each.then, each.other]
        elif isinstance(each, For):
            inner = [each.body]
        if any(map(returns_early, inner)):
            return True
    return False


def has_no_events(block: Block) -> bool:
    """Whether a block is made of assignments, branches and assertions alone."""
    return all(
        isinstance(each, Assign | Assert)
        or (isinstance(each, If) and has_no_events(each.then) and has_no_events(each.other))
        for each in block
    )


def stored_in(block: Block) -> set[str]:
    """Return the registers to which a block stores."""
    return {each.register for each in _stores(block)}


def registers_in(part: object) -> Iterator[str]:
    """Yield every register in terms, as often as it stands there."""
    if isinstance(part, Name):
        yield part.name
    elif isinstance(part, tuple):
        for each in part:
            yield from registers_in(each)
    elif is_dataclass(part):
        for field in fields(part):
            yield from registers_in(getattr(part, field.name))


def _stores(block: Block) -> Iterator[RegisterStore]:
    for each in all_statements(block):
        match each:
            case Assign(target, value):
                yield RegisterStore(target.name, target.indices, value)
            case IssueReceive():
                yield RegisterStore(each.target.name, each.target.indices, None)
            case For(counter):
                yield RegisterStore(counter, (), None)
            case InlinedCall() if each.call.result:
                yield RegisterStore(each.call.result, (), None)


def _reads(block: Block) -> list[str]:
    """Return the registers that a block looks at, as often as it does."""
    found: list[str] = []
    for each in all_statements(block):
        parts: tuple[Any, ...] = ()
        match each:
            case Assign(target, value):
                parts = (target.indices, value)
            case If(condition) | Assert(condition) | Assume(condition):
                parts = (condition,)
            case For(_, low, high):
                parts = (low, high)
            case InlinedCall():
                parts = tuple(term for _, term in each.call.arguments)
            case _ if not isinstance(each, Return):
                parts = tuple(
                    getattr(each, field.name) for field in fields(each) if field.name not in ("request", "requests")
                )
        found += registers_in(parts)
    return found


def changes(loop: For) -> dict[str, LoopEffect]:
    """Return for each register that the body may change how; the counter of the loop itself is none of them."""
    stores = by_key((each.register, each) for each in _stores(loop.body))
    reads = _reads(loop.body)
    moving = {*stores, loop.counter}
    found = {name: _changed(each, reads.count(name), moving, loop.counter) for name, each in stores.items()}
    for name, changed in found.items():
        if changed.kind == "own":
            only = set(_only(loop.body, name, loop.counter, None))
            (index,) = only if len(only) == 1 else (None,)
            if index is not None and not moving & set(registers_in(index)):
                found[name] = LoopEffect("once", index=index)
    return found


def _only(block: Block, register: str, counter: str, index: Term | None) -> Iterator[Term | None]:
    """Yield for each place that stores to a register what the counter is there, None if nothing of it is known."""
    for each in block:
        match each:
            case If(Operation("==", (Name(name), term)), then, other) if name == counter:
                yield from _only(then, register, counter, term)
                yield from _only(other, register, counter, index)
            case If(Operation("==", (term, Name(name))), then, other) if name == counter:
                yield from _only(then, register, counter, term)
                yield from _only(other, register, counter, index)
            case If(_, then, other):
                yield from _only(then, register, counter, index)
                yield from _only(other, register, counter, index)
            case _ if register in stored_in((each,)):
                yield index


def _changed(stores: list[RegisterStore], reads: int, moving: set[str], counter: str) -> LoopEffect:
    first = stores[0].indices
    same = all(each.indices == first for each in stores)
    fixed = not any(each in moving for each in registers_in(first))
    if same and fixed and all(_adds(each) for each in stores) and reads == len(stores):
        return LoopEffect("sum", first)
    if not any(each.indices for each in stores):
        return LoopEffect("own")
    for depth, index in enumerate(first):
        names = set(registers_in(index))
        if not all(each.indices[: depth + 1] == first[: depth + 1] for each in stores):
            return LoopEffect("other")
        if names & moving:
            return LoopEffect("cells", first[:depth], index) if names & moving == {counter} else LoopEffect("other")
    return LoopEffect("other")


def _adds(store: RegisterStore) -> bool:
    """Whether a statement adds to what was at its place."""
    match store.value:
        case Operation("+", (left, added)):
            return left == _at(store) and store.register not in registers_in(added)
    return False


def _at(store: RegisterStore) -> Term:
    place: Term = Name(store.register)
    for index in store.indices:
        place = Element(place, index)
    return place
