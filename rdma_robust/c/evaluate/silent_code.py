"""Execution of what nobody sees: computation, control, and memory of one thread alone, each instruction a function.

A function is translated once. What others may see, what calls, and what is refused is left to
:class:`~rdma_robust.c.evaluate.thread_machine.ThreadMachine`, which also executes all that is here, one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rdma_robust.c.code import Address, Branch, CType, Fresh, Function, Instruction, JumpTo, Load, Register, Store
from rdma_robust.c.evaluate.arithmetic import COMPUTING, Executed, Registers, computing
from rdma_robust.c.evaluate.c_values import Object, Pointer, Value, map_one, range_of, raw_of, value_of_raw
from rdma_robust.c.evaluate.loop_code import HOT, MOST_INSTRUCTIONS, translated_loop
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.evaluate.thread_run import ThreadRun, bytes_of_text

_SEEN: Final = -1
"""What is returned where others may see the instruction: nothing was done."""
Cells = dict[int, tuple[int, Value]]
Addresses = dict[tuple[int, str], dict[int, Pointer]]
"""The addresses of the variables of a thread: by the depth of the call, the function, and the instruction there."""


class PrivateMemory:
    """The memory of a thread in a state, as far as nobody else sees accesses to it; `addresses` are those of
    the variables of the frame in execution, by the instructions that take them.

    `read` are the contents of objects that may be looked at, `owned` those that may be changed; `read_at`, `owned_at` and
    `there` are the same, and addresses that may be taken, by the instructions that name the variable.
    """

    __slots__ = ("_any", "_run", "addresses", "function", "loops", "owned", "owned_at", "read", "read_at", "state", "there")

    def __init__(self, run: ThreadRun, state: State, addresses: Addresses) -> None:
        self._run, self.state, self.function = run, state, state.frames[-1].function
        self.addresses = addresses.setdefault((len(state.frames), self.function.name), {})
        self.read: dict[Object, Cells] = {}
        self.owned: dict[Object, Cells] = {}
        self.read_at: dict[int, Cells] = {}
        self.owned_at: dict[int, Cells] = {}
        self.there: dict[int, Pointer] = {}
        self._any = run.world.units.any_locals()
        self.loops = run.world.loops.setdefault(id(self.function), (self.function, {}))[1]

    def cells(self, name: Object) -> Cells | None:
        """Return the contents of an object to be looked at, None if an access to it may be seen, or is special."""
        if name not in self.read:
            if name.kind == "text":
                self.read[name] = {at: (1, byte) for at, byte in enumerate(bytes_of_text(name))}
            elif name in self.state.memory and self._is_private(name):
                self.read[name] = self.state.memory[name].cells
            else:
                return None
        return self.read[name]

    def own(self, name: Object) -> Cells | None:
        """Return the contents of an object to be changed, None if an access to it may be seen, or is special."""
        if name not in self.owned:
            if name not in self.state.memory or not self._is_private(name):
                return None
            block = self.state.block(name)
            block.changed()
            self._replaced(name, block)
        return self.owned[name]

    def _is_private(self, name: Object) -> bool:
        run, known = self._run, self._run.world.known
        return (
            name.process == run.process
            and not (self.state.is_set_up and name in known.shared)
            and name not in known.ignored
            and name not in run.world.found.ignored
            and not run.is_watched(name)
            and (name.kind != "local" or (self.function.name, name.name) not in self._any)
            and (not (run.is_spawned or self.state.threads) or self._is_unreachable(name))
        )

    def _is_unreachable(self, name: Object) -> bool:
        """Whether an object is a local of this thread whose address is not taken: no other thread can access it."""
        if name.kind != "local" or name.key[0] != self._run.thread:
            return False
        function = self._run.world.units.function(str(name.key[3]))
        return function is not None and name.key[2] not in function.taken

    def begin(self, name: Object) -> bool:
        """Let a local have no value; return False if that may be seen."""
        if not self._is_private(name):
            return False
        block = ObjectBytes()
        self.state.place(name, block)
        self._replaced(name, block)
        return True

    def _replaced(self, name: Object, block: ObjectBytes) -> None:
        self.owned[name] = self.read[name] = block.cells
        self.read_at.clear()
        self.owned_at.clear()

    def raw_read(self, name: Object, offset: int, size: int) -> Value:
        """Return a raw value that is not one cell."""
        return self._run.raw_read(self.state, name, offset, size)

    def raw_write(self, name: Object, offset: int, size: int, raw: Value) -> None:
        """Store a raw value where no cell is like it."""
        self._run.raw_write(self.state, name, offset, size, raw)

    def glance(self, name: Object, offset: int, size: int) -> Value | None:
        """Return a raw value that is not one cell, None where that is refused."""
        try:
            return self.raw_read(name, offset, size)
        except Refusal:
            return None

    def put(self, name: Object, offset: int, size: int, raw: Value) -> bool:
        """Store a raw value where no cell is like it; return False where that is refused."""
        try:
            self.raw_write(name, offset, size, raw)
        except Refusal:
            return False
        return True

    def take(self, at: int, each: Address) -> Pointer | None:
        """Return the address that an instruction takes, None if that is not possible without making an object."""
        found = self.address(at, each, each.offset)
        if found.object not in self.state.memory and self._run.is_private(self.state, found.object):
            return None
        self.there[at] = found
        return found

    def address(self, at: int, each: Address | Fresh, offset: int = 0) -> Pointer:
        """Return the address of a variable that an instruction names."""
        if at not in self.addresses:
            run, variable = self._run, each.variable
            if variable.is_global:
                name = run.world.global_of(run.process, variable)
            else:
                name = run.local(len(self.state.frames) - 1, self.function.name, variable)
                run.world.declare(name, variable.type)
            self.addresses[at] = Pointer(name, offset)
        return self.addresses[at]


Silent = Callable[[Registers, PrivateMemory], int]


def _seen(_registers: Registers, _memory: PrivateMemory) -> int:
    return _SEEN


def _load(each: Load, after: int, named: int) -> Silent:
    """A load; `named` is the instruction that its address comes from, if that names a variable, else -1."""
    target, address, kind, size = each.target, each.address, each.type, each.type.size
    low, high = range_of(kind)

    def execute(registers: Registers, memory: PrivateMemory) -> int:
        where = registers[address]
        if type(where) is not Pointer:
            return _SEEN
        cells = memory.read_at.get(named)
        if cells is None:
            cells = memory.read.get(where.object) or memory.cells(where.object)
            if cells is None:
                return _SEEN
            if named >= 0:
                memory.read_at[named] = cells
        cell = cells.get(where.offset)
        raw = cell[1] if cell is not None and cell[0] == size else memory.raw_read(where.object, where.offset, size)
        is_plain = type(raw) is int and low <= raw <= high
        registers[target] = raw if is_plain else map_one(raw, lambda one: value_of_raw(one, kind))
        return after

    return execute


def _store(each: Store, after: int, named: int) -> Silent:
    """A store; `named` is the instruction that its address comes from, if that names a variable, else -1."""
    address, value, kind, size = each.address, each.value, each.type, each.type.size
    low, high = range_of(CType("int", size, size >= 4)) if size else (1, 0)

    def execute(registers: Registers, memory: PrivateMemory) -> int:
        where = registers[address]
        if type(where) is not Pointer:
            return _SEEN
        cells = memory.owned_at.get(named)
        if cells is None:
            cells = memory.owned.get(where.object) or memory.own(where.object)
            if cells is None:
                return _SEEN
            if named >= 0:
                memory.owned_at[named] = cells
        found = registers[value]
        is_plain = type(found) is int and low <= found <= high
        raw = found if is_plain else map_one(found, lambda one: raw_of(one, kind))
        cell = cells.get(where.offset)
        if cell is not None and cell[0] == size:
            cells[where.offset] = (size, raw)
        else:
            memory.raw_write(where.object, where.offset, size, raw)
        return after

    return execute


def _address(at: int, each: Address) -> Silent:
    target, after = each.target, at + 1

    def execute(registers: Registers, memory: PrivateMemory) -> int:
        found = memory.there.get(at) or memory.take(at, each)
        if found is None:
            return _SEEN
        registers[target] = found
        return after

    return execute


def _fresh(at: int, each: Fresh) -> Silent:
    def execute(_registers: Registers, memory: PrivateMemory) -> int:
        return at + 1 if memory.begin(memory.address(at, each).object) else _SEEN

    return execute


def _branch(condition: Register, then: int, otherwise: int) -> Silent:
    def execute(registers: Registers, _memory: PrivateMemory) -> int:
        found = registers[condition]
        return (then if found else otherwise) if type(found) is int else then if type(found) is Pointer else _SEEN

    return execute


def _goes_to(to: int) -> Silent:
    return lambda _registers, _memory: to


def _translated(process: str, function: Function, at: int, each: Instruction, names: dict[Register, int]) -> Executed:
    """Return what executes an instruction where nobody sees it."""
    join = function.joins.get(at)
    if join is not None:
        return _goes_to(join)
    match each:
        case Load(bits=None):
            return _load(each, at + 1, names.get(each.address, -1))
        case Store(bits=None):
            return _store(each, at + 1, names.get(each.address, -1))
        case Address():
            return _address(at, each)
        case Fresh(size=None):
            return _fresh(at, each)
        case JumpTo(to):
            return _goes_to(to)
        case Branch(condition, then, otherwise):
            return _branch(condition, then, otherwise)
        case _ if isinstance(each, COMPUTING):
            return computing(process, each, at + 1)
        case _:
            return _seen


def translated(run: ThreadRun, function: Function) -> tuple[list[Callable[..., int]], frozenset[int]]:
    """Return what executes each instruction of a function in a process, behind the last one something may be seen; and
    which ones are branches."""
    key, known = (run.process, id(function)), run.world.translated
    if key not in known:
        names = {each.target: at for at, each in enumerate(function.code) if isinstance(each, Address)}
        found = [_translated(run.process, function, at, each, names) for at, each in enumerate(function.code)]
        branches = frozenset(at for at, each in enumerate(function.code) if isinstance(each, JumpTo | Branch))
        known[key] = function, [*found, _seen], branches
    return known[key][1:]


def _rounds(head: int, registers: Registers, memory: PrivateMemory, most: int) -> tuple[int, int]:
    """Execute a loop that goes round, and those that it gets to, by their functions, once it has gone round often; return
    the next instruction, and how many were executed."""
    loops = memory.loops
    found, done = loops.get(head, 0), 0
    if isinstance(found, int):
        loops[head] = found + 1 if found < HOT else translated_loop(memory.function, head)
        return head, 0
    at = head
    while callable(found) and done < most:
        at, steps = found(registers, memory, most - done)
        done += steps
        if not steps:
            break
        found = loops.get(at, 0)
    return at, done


def silent_run(run: ThreadRun, state: State, addresses: Addresses, least: int) -> int:
    """Execute instructions until one may be seen, or until so many are done and the next one is a branch; return how many.

    What raises has changed nothing.
    """
    frame = state.frames[-1]
    operations, branches = translated(run, frame.function)
    registers, memory, at, count = frame.registers, PrivateMemory(run, state, addresses), frame.at, 0
    try:
        while count < least or at not in branches:
            to = operations[at](registers, memory)
            if to < 0:
                break
            count += 1
            if to <= at and count + MOST_INSTRUCTIONS < least:
                to, steps = _rounds(to, registers, memory, least - MOST_INSTRUCTIONS - count)
                count += steps
            at = to
    finally:
        frame.at = at
    return count
