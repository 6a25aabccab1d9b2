"""Liveness of registers and of locals whose address is not taken, by the usual equations over the code of a function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from rdma_robust.c.code import (
    Address,
    Binary,
    Branch,
    Call,
    Cast,
    Fresh,
    FunctionReturn,
    Instruction,
    JumpTo,
    Load,
    Register,
    Store,
    Unary,
)

Thing = TypeVar("Thing")


def read_registers(each: Instruction) -> frozenset[Register]:
    """Return the registers that an instruction reads."""
    if isinstance(each, Call):
        callee = () if isinstance(each.callee, str) else (each.callee,)
        return frozenset((*each.arguments, *callee))
    names = _READS.get(type(each).__name__, ())
    return frozenset(found for name in names if isinstance(found := getattr(each, name), int))


_READS = {
    "Fresh": ("size",),
    "Load": ("address",),
    "Store": ("address", "value"),
    "CopyBytes": ("to", "source"),
    "Index": ("base", "index"),
    "AddressDifference": ("left", "right"),
    "Unary": ("value",),
    "Binary": ("left", "right"),
    "Cast": ("value",),
    "Branch": ("condition",),
    "FunctionReturn": ("value",),
}


def written_register(each: Instruction) -> Register | None:
    """Return the register that an instruction writes, None if it writes none."""
    found = getattr(each, "target", None)
    return found if isinstance(found, int) else None


def is_dropped(code: Sequence[Instruction], register: Register | None) -> bool:
    """Return whether nothing uses a register but what computes others that nothing uses, as compilers see without effort."""
    readers = [each for each in code if register in read_registers(each)]
    return register is None or all(
        isinstance(each, Unary | Binary | Cast) and is_dropped(code, each.target) for each in readers
    )


def followers(at: int, each: Instruction) -> tuple[int, ...]:
    """Return where the code may go on behind the instruction `at`."""
    if isinstance(each, JumpTo):
        return (each.to,)
    if isinstance(each, Branch):
        return (each.then, each.otherwise)
    return () if isinstance(each, FunctionReturn) else (at + 1,)


def taken_locals(code: Sequence[Instruction]) -> frozenset[str]:
    """Return the locals whose address goes anywhere but into a load or store of the whole of them, and all records."""
    named = {each.target: each.variable for each in code if isinstance(each, Address) and not each.variable.is_global}
    taken = {each.variable.unique for each in code if isinstance(each, Address) and _is_part(each)}
    for each in code:
        used = set(read_registers(each))
        if isinstance(each, Load | Store) and each.address in named and each.type.size == named[each.address].type.size:
            used.discard(each.address)
        if isinstance(each, Store):
            used.add(each.value)
        taken |= {named[register].unique for register in used if register in named}
    return frozenset(taken)


def _is_part(each: Address) -> bool:
    return each.offset != 0 or each.variable.type.kind in ("record", "array")


def live_before(
    code: Sequence[Instruction], taken: frozenset[str]
) -> tuple[tuple[frozenset[Register], ...], tuple[frozenset[str], ...]]:
    """Return the registers, and the locals whose address is not taken, that are live before each instruction."""
    registers = _solved(code, [(read_registers(each), _some(written_register(each))) for each in code])
    where = {each.target: each.variable.unique for each in code if isinstance(each, Address) and not each.variable.is_global}
    uses: list[tuple[frozenset[str], frozenset[str]]] = []
    for each in code:
        local = where.get(each.address, "") if isinstance(each, Load | Store) else ""
        local = each.variable.unique if isinstance(each, Fresh) else local
        reads = isinstance(each, Load) or (isinstance(each, Store) and each.bits is not None)
        known = frozenset({local} - {""} - taken)
        uses.append((known, frozenset()) if reads else (frozenset(), known))
    return registers, _solved(code, uses)


def _some(value: Thing | None) -> frozenset[Thing]:
    return frozenset() if value is None else frozenset({value})


def _solved(
    code: Sequence[Instruction], uses: Sequence[tuple[frozenset[Thing], frozenset[Thing]]]
) -> tuple[frozenset[Thing], ...]:
    """Return what is live before each instruction, of what each reads and writes."""
    live: list[frozenset[Thing]] = [frozenset()] * (len(code) + 1)
    before: list[list[int]] = [[] for _ in range(len(code) + 1)]
    for at, each in enumerate(code):
        for to in followers(at, each):
            before[to].append(at)
    todo = list(range(len(code)))
    waiting = set(todo)
    while todo:
        at = todo.pop()
        waiting.discard(at)
        reads, writes = uses[at]
        new = reads | (_joined(live[to] for to in followers(at, code[at])) - writes)
        if new != live[at]:
            live[at] = new
            more = [each for each in before[at] if each not in waiting]
            todo += more
            waiting.update(more)
    return tuple(live[:-1])


def _joined(sets: Iterable[frozenset[Thing]]) -> frozenset[Thing]:
    return frozenset[Thing]().union(*sets)
