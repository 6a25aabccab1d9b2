"""The state of a thread during evaluation: its frames, private memory, and what it knows of its queue pairs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace

from rdma_robust.c.code import Binary, Branch, Call, Function, Register, Variable
from rdma_robust.c.evaluate.c_values import (
    Object,
    Pointer,
    Scalar,
    Symbolic,
    UnknownValue,
    Value,
    is_random,
    map_one,
    restricted,
)  # fmt: skip
from rdma_robust.c.evaluate.memory import ObjectBytes, decided_before


@dataclass(frozen=True, slots=True)
class WaitingCompletion:
    """A signaled request that waits for a poll: what its work completion says, and how many places of the send queue are
    free once it is taken, its own and those of the requests before it that are not signaled."""

    identity: Value
    opcode: int
    length: Scalar
    places: int = 1


@dataclass(frozen=True, slots=True)
class Receive:
    """A posted receive that waits for a message: its `wr_id`, and its buffers."""

    identity: Value
    buffers: tuple[tuple[Object, int, int], ...]


@dataclass(frozen=True, slots=True)
class UnfilledBuffer:
    """A buffer that a library stores a message in later, which nobody may access until then: object, offset and size; the
    number of its request, and what is expected."""

    slot: int
    object: Object | None
    offset: int
    size: int
    element: int
    expected: Hashable

    def has_some(self, name: Object, offset: int, size: int) -> bool:
        """Whether some of the bytes are in this buffer."""
        return self.object == name and offset < self.offset + self.size and self.offset < offset + size


Segment = tuple[Object, int, int]
"""A buffer of a request: object, offset, length in bytes."""


@dataclass(frozen=True, slots=True)
class Request:
    """A work request for a send queue. `kind` is write, read, send, cas or faa; flags are those of the queue pair too.

    It moves elements of so many bytes, one by one, if there is an `element`.
    """

    kind: str
    identity: Value = 0
    segments: tuple[Segment, ...] = ()
    remote: Value = 0
    operands: tuple[Value, ...] = ()
    immediate: Value | None = None
    is_signaled: bool = False
    is_inline: bool = False
    is_fenced: bool = False
    element: int = 0

    def values(self) -> tuple[Value, ...]:
        """Return all in it that may depend on what was read."""
        return self.identity, self.remote, *self.operands, self.immediate or 0

    def changed(self, change: Callable[[Value], Value]) -> Request:
        """Return the request with other values, where they may depend on something."""
        operands, immediate = tuple(map(change, self.operands)), None if self.immediate is None else change(self.immediate)
        return replace(
            self, identity=change(self.identity), remote=change(self.remote), operands=operands, immediate=immediate
        )


@dataclass(frozen=True, slots=True)
class ConnectedPair:
    """A queue pair as its thread knows it; `connection` is empty until it is connected. `taken` counts its messages.

    `send_room` and `receive_room` are how many requests its queues have room for, 0 if that is not counted; `unsignaled` are
    the requests behind the last signaled one, and `sent` the messages so far, where those are counted.
    """

    send_queue: Value
    receive_queue: Value
    all_signaled: bool = False
    connection: str = ""
    waiting: tuple[WaitingCompletion, ...] = ()
    receives: tuple[Receive, ...] = ()
    taken: int = 0
    building: tuple[Request, ...] = ()
    send_room: int = 0
    receive_room: int = 0
    unsignaled: int = 0
    sent: int = 0


_MANY = 3


@dataclass(frozen=True, slots=True)
class Events:
    """The events of a completion queue as a thread knows them: how many it has asked for and not waited for, three for many;
    whether a completion that may have made one was polled since; and whether one tells of a completion that is there."""

    outstanding: int = 0
    is_stale: bool = False
    is_certain: bool = False

    def asked(self) -> Events:
        """One more was asked for."""
        return replace(self, outstanding=min(self.outstanding + 1, _MANY))

    def taken(self) -> Events:
        """One was waited for: it tells of a completion, unless that may have been polled before."""
        left = self.outstanding if self.outstanding == _MANY else max(self.outstanding - 1, 0)
        return Events(left, self.is_stale and left > 0, self.outstanding > 0 and not self.is_stale)

    def polled(self) -> Events:
        """A completion was polled."""
        return replace(self, is_certain=False, is_stale=self.is_stale or (self.outstanding > 0 and not self.is_certain))


@dataclass(slots=True)
class Frame:
    """A call: its function, the next instruction, the values of registers, and where the result goes.

    `pending` is what an instruction that takes several steps has found so far.
    """

    function: Function
    at: int = 0
    registers: dict[Register, Value] = field(default_factory=dict)
    target: Register | None = None
    pending: Value | None = None

    def copy(self) -> Frame:
        """Return a frame that can be changed by itself."""
        return Frame(self.function, self.at, dict(self.registers), self.target, self.pending)


class State:
    """A thread somewhere on its way. Blocks are shared between states until one of them changes one."""

    __slots__ = ("_own", "events", "frames", "is_set_up", "memory", "numbers", "queue_pairs", "threads")

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.memory: dict[Object, ObjectBytes] = {}
        self.queue_pairs: dict[Object, ConnectedPair] = {}
        self.numbers: dict[Hashable, int] = {}
        self.events: dict[Object, Events] = {}
        self.threads: tuple[str, ...] = ()
        self.is_set_up = False
        self._own: set[Object] = set()

    def copy(self) -> State:
        """Return a state that can be changed by itself."""
        other = State()
        other.frames = [frame.copy() for frame in self.frames]
        other.memory, other.queue_pairs, other.numbers = dict(self.memory), dict(self.queue_pairs), dict(self.numbers)
        other.threads, other.is_set_up, other.events = self.threads, self.is_set_up, dict(self.events)
        self._own = set()
        return other

    def become(self, other: State) -> None:
        """Take over another state, which is not used any more."""
        for slot in self.__slots__:
            setattr(self, slot, getattr(other, slot))

    def block(self, name: Object) -> ObjectBytes:
        """Return the block of an object to be changed; there is one."""
        if name not in self._own:
            self.memory[name] = self.memory[name].copy()
            self._own.add(name)
        return self.memory[name]

    def place(self, name: Object, block: ObjectBytes) -> None:
        """Let an object have new contents."""
        self.memory[name] = block
        self._own.add(name)

    def drop(self, name: Object) -> None:
        """Let an object be no more."""
        self.memory.pop(name, None)
        self._own.discard(name)

    def key(self) -> Hashable:
        """Return what is equal for states that go on alike."""
        frames = tuple(
            (each.function.name, each.at, each.target, each.pending, frozenset(each.registers.items()))
            for each in self.frames
        )
        memory = frozenset((name, block.key()) for name, block in self.memory.items())
        queues, numbers = frozenset(self.queue_pairs.items()), frozenset(self.numbers.items())
        return frames, memory, queues, numbers, frozenset(self.events.items()), self.threads, self.is_set_up

    def cells(self) -> int:
        """Return how many values its memory has."""
        return sum(len(block.cells) for block in self.memory.values())

    def symbols(self) -> Iterator[Symbolic]:
        """Yield the symbolic values in it."""
        for frame in self.frames:
            yield from (value for value in frame.registers.values() if isinstance(value, Symbolic))
            if isinstance(frame.pending, Symbolic):
                yield frame.pending
        for block in self.memory.values():
            yield from block.symbols()
        for pair in self.queue_pairs.values():
            for each in (*pair.waiting, *pair.receives, *(value for built in pair.building for value in built.values())):
                value = each.identity if isinstance(each, WaitingCompletion | Receive) else each
                if isinstance(value, Symbolic):
                    yield value

    def restrict(self, register: str, raws: frozenset[Scalar]) -> State:
        """Return a copy in which a register holds one of `raws`."""
        other = self.copy()
        other._change(
            lambda value: restricted(value, register, raws),
            lambda block: any(value.register == register for value in block.symbols()),
        )
        return other

    def _change(self, changed: Callable[[Value], Value], has_some: Callable[[ObjectBytes], bool]) -> None:
        """Change all values in it that depend on something; of blocks those of which it is said that they have some."""
        for frame in self.frames:
            frame.registers = {key: changed(value) for key, value in frame.registers.items()}
            if frame.pending is not None:
                frame.pending = changed(frame.pending)
        for name, block in list(self.memory.items()):
            if has_some(block):
                self.block(name).change(changed)
        for name, pair in self.queue_pairs.items():
            self.queue_pairs[name] = replace(
                pair,
                waiting=tuple(replace(each, identity=changed(each.identity)) for each in pair.waiting),
                receives=tuple(replace(each, identity=changed(each.identity)) for each in pair.receives),
                building=tuple(each.changed(changed) for each in pair.building),
            )

    def both_ways(self, branch: Branch, *, is_random: bool) -> tuple[State, State]:
        """Return this state and a copy behind a branch; what was drawn has decided if its condition `is_random`."""
        if is_random:
            self.spend_random()
        other = self.copy()
        self.frames[-1].at, other.frames[-1].at = branch.then, branch.otherwise
        return self, other

    def remainders(self, divisor: int) -> Iterator[State]:
        """Yield copies in which the random left operand of the instruction in execution is each remainder of a division."""
        frame = self.frames[-1]
        each = frame.function.code[frame.at]
        assert isinstance(each, Binary)
        left = frame.registers[each.left]
        self.spend_random()
        for remainder in range(divisor):
            other = self.copy()
            drawn = map_one(left, lambda x, drawn=remainder: drawn if is_random(x) else x)  # type: ignore[misc]
            other.frames[-1].registers[each.left] = drawn
            yield other

    def spend_random(self) -> None:
        """Let no value that was drawn so far be any number: something is decided by one, of which others may be made."""
        self._change(
            lambda value: map_one(value, decided_before),
            lambda block: any(map_one(value, decided_before) != value for _, value in block.cells.values()),
        )

    def prune(self, thread: str) -> None:
        """Forget registers and locals that nothing will use, what they hold where it decides nothing, and locals of frames
        that are no more."""
        last = len(self.frames) - 1
        alive: list[frozenset[str]] = []
        needed: list[frozenset[Register | str]] = []
        pointed: set[Object] = set()
        for number, frame in enumerate(self.frames):
            live = _live(frame, number < last)
            frame.registers = {
                key: value if key in live.needed else UNUSED
                for key, value in frame.registers.items()
                if key in live.registers
            }
            alive.append(live.variables)
            needed.append(live.needed | frame.function.taken)
            pointed.update(value.object for value in frame.registers.values() if isinstance(value, Pointer))
        for name in [each for each in self.memory if each.kind == "local" and each.key[0] == thread]:
            depth, unique = name.key[1], name.key[2]
            assert isinstance(depth, int)
            assert isinstance(unique, str)
            if depth <= last and unique in needed[depth]:
                continue
            if depth > last or (unique not in alive[depth] and name not in pointed):
                self.drop(name)
            elif self.memory[name].cells or self.memory[name].zero:
                self.place(name, ObjectBytes())


UNUSED = UnknownValue("what decides nothing")
"""What a register holds where its value decides nothing."""


@dataclass(frozen=True, slots=True)
class _Live:
    """The registers and locals of a frame that may be used, and those whose value decides something."""

    registers: frozenset[Register] = frozenset()
    variables: frozenset[str] = frozenset()
    needed: frozenset[Register | str] = frozenset()


def _live(frame: Frame, is_waiting: bool) -> _Live:
    """Return what is live in a frame; one that waits for a call goes on behind it, or at it."""
    function, at = frame.function, frame.at
    is_behind = is_waiting and frame.pending is None
    at += is_behind
    if at >= len(function.code):
        return _Live()
    registers, needed = function.live[at], function.needed[at]
    call = function.code[frame.at]
    if is_behind and isinstance(call, Call) and call.target is not None:
        registers, needed = registers - {call.target}, needed - {call.target}
    return _Live(registers, function.live_variables[at], needed)


def local_of(process: str, thread: str, depth: int, function: str, variable: Variable) -> Object:
    """Return the object of a local variable: of a thread, a depth of calls, and a function there."""
    return Object("local", process, variable.name, (thread, depth, variable.unique, function))
