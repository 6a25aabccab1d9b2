"""What a loop does to registers, by its text: sums, cells that move with the counter, and values of one iteration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, Literal

from rdma_robust.expr import Const, Name
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
    stores: dict[str, list[RegisterStore]] = {}
    for each in _stores(loop.body):
        stores.setdefault(each.register, []).append(each)
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
