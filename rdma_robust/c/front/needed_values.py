"""Values that decide something: liveness that does not count what only goes into values that decide nothing.

A counter of errors that is only printed, or returned by `main`, decides nothing: neither does a branch on it, if both ways
do nothing but compute such values and print, and meet again. So a thread need not remember it, and such a branch is left
out. This is liveness of faint variables, by the usual equations, with branches without effect beside it.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.c.code import (
    Address,
    AddressDifference,
    Binary,
    Branch,
    Call,
    Cast,
    ConstantValue,
    Fresh,
    FunctionAddress,
    FunctionReturn,
    Index,
    Instruction,
    JumpTo,
    Load,
    Register,
    Store,
    TextAddress,
    Unary,
)
from rdma_robust.c.front.live_registers import followers, read_registers, written_register

LocalOrRegister = Register | str
"""A register, or the unique name of a local whose address is not taken."""
_PRINTING: Final = frozenset(("printf", "fprintf", "puts", "fputs", "putchar", "fputc", "fflush", "perror"))
_ENDING: Final = frozenset(("exit", "_exit", "_Exit", "shmem_global_exit", "MPI_Abort"))
"""Functions whose numbers nobody looks at: those that only print do nothing else."""
_STREAMS: Final = frozenset(("stdout", "stderr"))
_COMPUTING: Final = (
    ConstantValue, TextAddress, FunctionAddress, Address, Index, AddressDifference, Unary, Binary, Cast,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NeededValues:
    """Registers and locals that decide something, before each instruction; and where branches without effect go on,
    whatever their condition."""

    before: tuple[frozenset[LocalOrRegister], ...]
    joins: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class _Region:
    """Both ways of a branch that do nothing but compute and print: where they meet, and what they write."""

    join: int
    written: frozenset[LocalOrRegister]


class _Code:
    """The code of a function with what its registers are addresses of."""

    def __init__(self, name: str, code: Sequence[Instruction], taken: frozenset[str]) -> None:
        self.is_main, self.code = name == "main", code
        addresses = [each for each in code if isinstance(each, Address)]
        self._local = {
            each.target: each.variable.unique
            for each in addresses
            if not each.variable.is_global and each.variable.unique not in taken
        }
        streams = {each.target for each in addresses if each.variable.is_global and each.variable.name in _STREAMS}
        self._streams = frozenset(each.target for each in code if isinstance(each, Load) and each.address in streams)
        self._texts = frozenset(each.target for each in code if isinstance(each, TextAddress))

    def local(self, each: Instruction) -> str | None:
        """Return the local that an instruction loads, stores or begins, None for other memory."""
        if isinstance(each, Fresh):
            return each.variable.unique
        return self._local.get(each.address) if isinstance(each, Load | Store) else None

    def is_silent(self, each: Instruction) -> bool:
        """Whether an instruction does nothing but compute a register or a local, or print."""
        match each:
            case Load(target) if target in self._streams:
                return True
            case Load() | Store():
                return self.local(each) is not None
            case Fresh(_, size):
                return size is None
            case Call(callee=str(callee), arguments=arguments, types=types) if callee in _PRINTING:
                pointers = {one for one, kind in zip(arguments, types, strict=False) if kind.kind == "pointer"}
                return pointers <= self._streams | self._texts
            case _:
                return isinstance(each, (*_COMPUTING, JumpTo, Branch))

    def region(self, at: int) -> _Region | None:
        """Return what lies behind a branch until its ways meet, None if that does anything: code that goes forward only."""
        waiting = sorted(set(followers(at, self.code[at])))
        written: set[LocalOrRegister] = set()
        while len(waiting) > 1:
            here = heapq.heappop(waiting)
            each = self.code[here]
            if here <= at or not self.is_silent(each):
                return None
            for to in followers(here, each):
                if to <= here:
                    return None
                if to not in waiting:
                    heapq.heappush(waiting, to)
            stored = None if isinstance(each, Load) else self.local(each)
            written |= {one for one in (written_register(each), stored) if one is not None}
        return _Region(waiting[0], frozenset(written)) if waiting and waiting[0] > at else None

    def needed(self, each: Instruction, after: frozenset[LocalOrRegister]) -> frozenset[LocalOrRegister]:
        """Return what is needed before an instruction, of what is needed behind it."""
        target, reads, local = written_register(each), read_registers(each), self.local(each)
        left = after - {target} if target in after else after
        match each:
            case Load() if local is not None and target in after:
                return left | reads | {local}
            case Store(address, _, _, bits) if local is not None:
                kept = after if bits is not None else after - {local}
                return kept | (reads if local in after else {address})
            case Fresh():
                return left - {local} | reads if local is not None else left | reads
            case Call(callee=str(callee), arguments=arguments, types=types) if callee in _PRINTING | _ENDING:
                return left | {one for one, kind in zip(arguments, types, strict=False) if kind.kind == "pointer"}
            case FunctionReturn() if self.is_main:
                return left
            case _ if isinstance(each, _COMPUTING) and target not in after:
                return left
            case _:
                return left | reads


def needed_values(name: str, code: Sequence[Instruction], taken: frozenset[str]) -> NeededValues:
    """Return what decides something in the code of a function: of its registers, and the locals whose address is not
    taken."""
    of = _Code(name, code, taken)
    regions = {at: of.region(at) for at, each in enumerate(code) if isinstance(each, Branch)}
    behind = [followers(at, each) for at, each in enumerate(code)]
    before: list[frozenset[LocalOrRegister]] = [frozenset()] * (len(code) + 1)
    depending: list[set[int]] = [set() for _ in range(len(code) + 1)]
    for at in range(len(code)):
        region = regions.get(at)
        for to in (*behind[at], *(() if region is None else (region.join,))):
            depending[to].add(at)
    todo = list(range(len(code)))
    waiting = set(todo)
    while todo:
        at = todo.pop()
        waiting.discard(at)
        region = regions.get(at)
        if region is not None and not region.written & before[region.join]:
            new = before[region.join]
        else:
            ways = behind[at]
            after = before[ways[0]] if len(ways) == 1 else frozenset[LocalOrRegister]().union(*(before[to] for to in ways))
            new = of.needed(code[at], after)
        if new != before[at]:
            before[at] = new
            more = depending[at] - waiting
            todo += more
            waiting |= more
    joins = {at: each.join for at, each in regions.items() if each is not None and not each.written & before[each.join]}
    return NeededValues(tuple(before[:-1]), joins)
