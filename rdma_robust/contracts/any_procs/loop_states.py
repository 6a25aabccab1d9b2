"""What registers hold before, in and after the iterations of a loop, in closed form."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from rdma_robust.contracts.any_procs.any_sums import summed
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
)
from rdma_robust.contracts.any_procs.loop_patterns import LoopEffect, changes
from rdma_robust.guarded_z3 import z3
from rdma_robust.messages.language.message_program import For
from rdma_robust.messages.language.message_terms import Term

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
