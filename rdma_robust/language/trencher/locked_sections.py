"""Sections between `lock` and `unlock` as atomic steps of one word or of several.

The way of a thread that has the memory locked is followed with its registers as expressions over what they were when it
locked, and over the values of the words that it touches, up to `unlock`. Each way is one step: it is taken where the
conditions of its checks hold, and the buffer is empty when it is.

A way that never unlocks (it waits, locks again, or goes in circles) makes no step: the thread waits in front of it.
Robustness is the same. Nobody touches memory once such a section has begun, so the events of the section are before no event
of others, and lie on no cycle; without them, the events of all others and their order are as they were. Whether threads hang
is not the same: who waits before a section keeps nobody out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.errors import SizeLimitError
from rdma_robust.expr import FALSE, TRUE, VALUE, Binary, Const, Expr, conj, disj, equals, negate, substitute, value_of
from rdma_robust.language.flow.valid_expressions import proven
from rdma_robust.language.trencher.trencher_syntax import AutomatonEdge
from rdma_robust.language.trencher.trencher_values import Place, Values

MOST_WAYS: Final = 500
"""What is followed of one section."""


@dataclass(frozen=True, slots=True)
class SectionWay:
    """One way through a section: to the state `target`, where `conditions` hold, over registers and what the words at
    `addresses` had: VALUE if it is one, `value_of` their places if there are several. Then words are `written`, by their
    places, and registers are set."""

    target: str
    conditions: tuple[Expr, ...]
    addresses: tuple[int, ...]
    written: tuple[tuple[int, Expr], ...]
    registers: tuple[tuple[str, Expr], ...]
    last: AutomatonEdge

    @property
    def guard(self) -> Expr:
        return conj(*self.conditions)


@dataclass(frozen=True, slots=True)
class _Now:
    """A point on a way: the words that it has touched, in order, and what is `written` to some, by their places."""

    state: str
    conditions: tuple[Expr, ...] = ()
    addresses: tuple[int, ...] = ()
    written: tuple[tuple[int, Expr], ...] = ()
    registers: tuple[tuple[str, Expr], ...] = ()

    def of(self, expr: Expr) -> Expr:
        return substitute(expr, dict(self.registers))

    def given(self, condition: Expr) -> _Now | None:
        """Return the point where a condition holds too, None if that cannot be."""
        if isinstance(condition, Const):
            return self if condition.value else None
        if any(_opposite(condition, known) for known in self.conditions):
            return None
        return self if condition in self.conditions else replace(self, conditions=(*self.conditions, condition))

    def touching(self, address: int) -> _Now:
        return self if address in self.addresses else replace(self, addresses=(*self.addresses, address))

    def held(self, address: int) -> Expr:
        """Return what the word at this address, which was touched, has here."""
        place = self.addresses.index(address)
        return dict(self.written).get(place, value_of(place))

    def storing(self, address: int, value: Expr) -> _Now:
        place = self.addresses.index(address)
        kept = (each for each in self.written if each[0] != place)
        return replace(self, written=tuple(sorted((*kept, (place, value)), key=lambda each: each[0])))

    def having(self, register: str, value: Expr) -> _Now:
        kept = tuple((name, each) for name, each in self.registers if name != register)
        return replace(self, registers=tuple(sorted((*kept, (register, value)), key=lambda each: each[0])))


@dataclass(frozen=True)
class Sections:
    """The sections of one thread: its transitions by the state that they leave, with their numbers, and the values that
    addresses can have."""

    thread: int
    out: Mapping[str, list[tuple[int, AutomatonEdge]]]
    values: Values

    def ways(self, lock: AutomatonEdge) -> list[SectionWay]:
        """Return the ways through the section that `lock` begins.

        Raises SizeLimitError if there are too many.
        """
        found: list[SectionWay] = []
        first = _Now(lock.target)
        seen, todo = {first}, [first]
        while todo:
            now = todo.pop()
            for index, t in self.out[now.state]:
                if t.kind == "unlock":
                    found.append(_ended(now, t))
                    continue
                for after in self._after(now, (self.thread, index), t):
                    if after not in seen:
                        if len(seen) >= MOST_WAYS:
                            raise SizeLimitError(
                                f"line {lock.span.line}: more than {MOST_WAYS} ways lead through what begins with `lock`"
                            )
                        seen.add(after)
                        todo.append(after)
        return list(dict.fromkeys(found))

    def always_unlocks(self, lock: AutomatonEdge) -> bool:
        """Whether every way through the section that `lock` begins is known to come to an `unlock`."""
        todo: list[tuple[str, frozenset[str]]] = [(lock.target, frozenset())]
        looked = 0
        while todo:
            state, before = todo.pop()
            looked += 1
            leaving = [t for _, t in self.out[state]]
            checks = [t.value for t in leaving if t.kind == "check"]
            going = any(t.kind not in ("check", "lock") for t in leaving) or proven(TRUE, disj(*checks))
            if state in before or not going or looked > MOST_WAYS or any(t.kind == "lock" for t in leaving):
                return False
            todo += ((t.target, before | {state}) for t in leaving if t.kind != "unlock")
        return True

    def _after(self, now: _Now, place: Place, t: AutomatonEdge) -> Iterator[_Now]:
        there = replace(now, state=t.target)
        match t.kind:
            case "lock":
                return
            case "check":
                passed = there.given(_condition(now.of(t.value)))
                if passed is not None:
                    yield passed
            case "local":
                yield there.having(t.register, now.of(t.value))
            case "read" | "write":
                for address, at in self._addressed(there, place, t):
                    yield self._accessed(at.touching(address), address, now, t)
            case _:
                yield there

    @staticmethod
    def _accessed(at: _Now, address: int, now: _Now, t: AutomatonEdge) -> _Now:
        if t.kind == "read":
            return at.having(t.register, at.held(address))
        return at.storing(address, now.of(t.value))

    def _addressed(self, there: _Now, place: Place, t: AutomatonEdge) -> Iterator[tuple[int, _Now]]:
        """Yield the words that an access can be about, each with the point at which it is; none if it is never made."""
        address = there.of(t.address)
        for each in sorted(self.values.addresses.get(place, ())):
            chosen = there.given(equals(address, Const(each)))
            if chosen is not None:
                yield each, chosen


_OPPOSITES: Final = frozenset({("==", "!="), ("!=", "=="), ("<", ">="), (">=", "<"), (">", "<="), ("<=", ">")})


def _opposite(one: Expr, other: Expr) -> bool:
    """Whether two conditions never hold together, as far as their form tells."""
    match one, other:
        case Binary(a, left, right), Binary(b, left2, right2) if (left, right) == (left2, right2):
            return (a, b) in _OPPOSITES
        case Binary("==", left, Const(a)), Binary("==", left2, Const(b)) if left == left2:
            return a != b
    return one == negate(other) or other == negate(one)


def _condition(expr: Expr) -> Expr:
    return TRUE if isinstance(expr, Const) and expr.value else FALSE if isinstance(expr, Const) else expr


def _ended(now: _Now, unlock: AutomatonEdge) -> SectionWay:
    if len(now.addresses) != 1:
        return SectionWay(unlock.target, now.conditions, now.addresses, now.written, now.registers, unlock)
    by = {value_of(0).name: VALUE}
    conditions = tuple(substitute(each, by) for each in now.conditions)
    written = tuple((place, substitute(value, by)) for place, value in now.written)
    registers = tuple((name, substitute(value, by)) for name, value in now.registers)
    return SectionWay(unlock.target, conditions, now.addresses, written, registers, unlock)
