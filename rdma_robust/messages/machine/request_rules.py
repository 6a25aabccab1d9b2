"""Requests in the machine: which wait is open, what completes one of several, and what a process is held up by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Final

from rdma_robust.messages.language.message_program import Buffer, Completion, Place
from rdma_robust.messages.language.message_terms import FaultError, Value, require_number, value_of, with_element
from rdma_robust.messages.machine.flat_code import FlatProcess, WaitFor
from rdma_robust.messages.machine.group_calls import open_early
from rdma_robust.messages.machine.process_state import (
    ANYTHING,
    CollectiveHandle,
    Handle,
    MessageHandle,
    PendingHandle,
    ProcessFrame,
    ReceiveHandle,
    SendHandle,
    Spot,
    singles,
)


@dataclass(frozen=True, slots=True)
class RequestRules:
    """The rules for the requests of process number `me` of `count`, under a buffer semantics."""

    process: FlatProcess
    me: int
    count: int
    buffer: Buffer
    eager: int | None = None
    expecting: frozenset[int] = frozenset()
    groups: tuple[tuple[int, ...], ...] = ()

    def completions(self, frame: ProcessFrame, wanted: Completion) -> Sequence[int]:
        """Return the choices that requests leave as they are now, none for a fault; of many only one each, and all."""
        try:
            requests = [(name, at) for name, at, _ in self.singles_of(frame, wanted)]
        except FaultError:
            return ()
        active = [number for number, each in enumerate(requests) if handle_of(frame, each) is not None]
        ready = [number for number in active if self._is_complete(handle_of(frame, requests[number]))]
        nothing = (0,) if wanted.tests or not active else ()
        match wanted.how:
            case "any":
                return (*nothing, *(number + 1 for number in ready))
            case "all":
                return (*nothing, 1) if active and ready == active else nothing
            case "some":
                sizes = range(1, len(ready) + 1) if len(ready) <= _MOST_AT_ONCE else (1, len(ready))
                groups = chain.from_iterable(combinations(ready, size) for size in sizes)
                once = (each for each in groups if len({requests[number] for number in each}) == len(each))
                return (*nothing, *(sum(1 << number for number in each) for each in once))

    def _is_complete(self, handle: Handle | None) -> bool:
        """Whether a request is, or can be at any time: under `any` a buffer may be given to a send."""
        return is_handle_open(handle) or is_grantable(handle)

    def singles_of(self, frame: ProcessFrame, wanted: Completion) -> list[tuple[str, int, Handle | None]]:
        """Return the requests one by one, each with its index and what it is. Raises FaultError."""
        found: list[tuple[str, int, Handle | None]] = []
        for place in wanted.requests:
            whole = () if place.indices else singles(frame.requests[place.name])
            found += [(place.name, *each) for each in whole or (self.single(frame, place),)]
        if any(isinstance(handle, MessageHandle) for _, _, handle in found):
            raise FaultError("held")
        return found

    def lacks(self, frame: ProcessFrame) -> Sequence[PendingHandle]:
        """Return the active requests of the next step, if it completes some, that nothing but a match or a buffer opens."""
        wanted = self.process.code[frame.pc]
        try:
            found = self.singles_of(frame, wanted) if isinstance(wanted, Completion) else []
        except FaultError:
            return ()
        return [each for _, _, each in found if isinstance(each, PendingHandle) and not is_handle_open(each)]

    def buffers(self, frame: ProcessFrame, choice: int) -> list[int]:
        """Return the sends that a choice completes by a buffer: under `any`, of a step that completes requests."""
        wanted = self.process.code[frame.pc]
        done = self.completed(frame, wanted, choice).requests if isinstance(wanted, Completion) else ()
        handles = (handle_of(frame, each) for each in done)
        return [each.nth for each in handles if isinstance(each, SendHandle) and not is_handle_open(each)]

    def chooses_among_many(self, frame: ProcessFrame) -> bool:
        """Whether the next step completes some of more requests than are tried in every way."""
        wanted = self.process.code[frame.pc]
        if not isinstance(wanted, Completion) or wanted.how != "some":
            return False
        return any(choice.bit_count() > _MOST_AT_ONCE for choice in self.completions(frame, wanted))

    def awaited(self, frame: ProcessFrame) -> Single | None:
        """Return the single request that the next step passes, if it is a wait for one."""
        instruction = self.process.code[frame.pc]
        if not isinstance(instruction, WaitFor):
            return None
        try:
            return instruction.place.name, self.awaited_single(frame, instruction.place)[0]
        except FaultError:
            return None

    def blocking(self, frame: ProcessFrame) -> PendingHandle | None:
        """Return the request that the process waits for and whose wait is not open, None if its next step is enabled."""
        instruction = self.process.code[frame.pc]
        if not isinstance(instruction, WaitFor):
            return None
        try:
            handle = self.awaited_single(frame, instruction.place)[1]
        except FaultError:
            return None
        return handle if isinstance(handle, PendingHandle) and not is_handle_open(handle) else None

    def held_up(self, frame: ProcessFrame) -> PendingHandle | None:
        """Return the same, also where the process waits for one of several: the first send that is not matched, else the
        first receive or collective operation; under `any` a buffer may let it go on."""
        wanted = self.process.code[frame.pc]
        if not isinstance(wanted, Completion):
            return self.blocking(frame)
        lacking = () if wanted.tests else self.lacks(frame)
        if not lacking or len(lacking) < sum(handle is not None for _, _, handle in self.singles_of(frame, wanted)):
            return None
        return min(lacking, key=lambda each: (SendHandle, ReceiveHandle, CollectiveHandle).index(type(each)))

    def spare(self, frame: ProcessFrame, request: Place | None) -> int:
        """Return the index of a request that holds no message. Raises FaultError."""
        if request is None:
            return ANYTHING
        at, handle = self.single(frame, request)
        if isinstance(handle, MessageHandle):
            raise FaultError("held")
        return at

    def activate(self, frame: ProcessFrame, request: Place, handle: Handle) -> None:
        """Make the request active; one that is active is lost, its operation stays."""
        put_request(frame, request.name, self.spare(frame, request), handle)

    def single(self, frame: ProcessFrame, request: Place) -> tuple[int, Handle | None]:
        """Return the index (ANYTHING for none) of one request, and what it is. Raises FaultError."""
        slot = frame.requests[request.name]
        if not request.indices:
            if isinstance(slot, tuple):
                raise FaultError("kind")
            return ANYTHING, slot
        at = require_number(value_of(request.indices[0], frame.registers))
        if not isinstance(slot, tuple):
            raise FaultError("kind")
        if not 0 <= at < len(slot):
            raise FaultError("index")
        return at, slot[at]

    def awaited_single(self, frame: ProcessFrame, place: Place) -> tuple[int, Handle | None]:
        """Return the index and what is waited for next; of an array the element at the cursor, of an empty one nothing."""
        slot = frame.requests[place.name]
        if place.indices or not isinstance(slot, tuple):
            return self.single(frame, place)
        return (frame.cursor, slot[frame.cursor]) if slot else (ANYTHING, None)

    def pass_wait(self, frame: ProcessFrame, place: Place) -> bool:
        """Pass one request; return whether the wait goes on with the next element of an array."""
        at, handle = self.awaited_single(frame, place)
        if isinstance(handle, MessageHandle):
            raise FaultError("held")
        _pass(frame, place.name, at, handle)
        slot = frame.requests[place.name]
        if not place.indices and isinstance(slot, tuple) and frame.cursor + 1 < len(slot):
            frame.cursor += 1
            return True
        frame.cursor = 0
        return False

    def complete(self, frame: ProcessFrame, wanted: Completion, choice: int) -> None:
        """Complete what is chosen, and store which that is."""
        done = self.completed(frame, wanted, choice)
        for single in done.requests:
            _pass(frame, *single, handle_of(frame, single))
        for place, values in done.stored(wanted):
            name, indices = spot_of(place, frame.registers)
            for at, value in values:
                store_at((name, (*indices, *at)), value, frame.registers)

    def completed(self, frame: ProcessFrame, wanted: Completion, choice: int) -> CompletionChoice:
        """Return what a choice completes. Raises FaultError."""
        found = self.singles_of(frame, wanted)
        numbers = tuple(_chosen(wanted, choice, len(found)))
        active = any(handle is not None for _, _, handle in found)
        return CompletionChoice(choice, numbers, tuple([found[number][:2] for number in numbers]), active)


@dataclass(frozen=True, slots=True)
class CompletionChoice:
    """A choice and what it completes: the numbers of the requests, and which they are; and whether any of all was active."""

    choice: int
    numbers: tuple[int, ...]
    requests: tuple[Single, ...]
    active: bool

    def stored(self, wanted: Completion) -> Iterator[tuple[Place, list[tuple[tuple[int, ...], int]]]]:
        """Yield the places to which something is stored, in order, with the index and value of what is."""
        number = self.choice - 1 if wanted.how == "any" else len(self.numbers) if self.active else -1
        if wanted.flag is not None:
            yield wanted.flag, [((), int(self.choice > 0 or not self.active))]
        if wanted.which is not None:
            yield wanted.which, [((), number)]
        if wanted.places is not None:
            yield wanted.places, [((at,), each) for at, each in enumerate(self.numbers)]


_MOST_AT_ONCE: Final = 10
"""Of so many complete requests every set is tried that can be seen at once."""


def is_handle_open(handle: Handle | None) -> bool:
    """Whether the wait for an active request can be passed."""
    match handle:
        case SendHandle(nth):
            return nth == ANYTHING
        case ReceiveHandle(got=got):
            return got is not None
        case CollectiveHandle(is_open=is_open):
            return is_open
        case _:
            return False


def is_grantable(handle: Handle | None) -> bool:
    """Whether an active request is one that is complete at any time under `any`, though no match or entry makes it so."""
    if isinstance(handle, CollectiveHandle):
        return handle.got is not None and not handle.is_open
    return isinstance(handle, SendHandle) and not handle.matched and not is_handle_open(handle)


def _chosen(wanted: Completion, choice: int, count: int) -> Iterator[int]:
    """Yield which of so many requests a choice completes."""
    match wanted.how:
        case "any":
            yield from (choice - 1,) if choice else ()
        case "all":
            yield from range(count) if choice else ()
        case "some":
            yield from (number for number in range(count) if choice >> number & 1)


def _pass(frame: ProcessFrame, name: str, at: int, handle: Handle | None) -> None:
    """Pass the wait for one request, which is open: it is inactive then, and what it has received is stored."""
    if handle is not None:
        put_request(frame, name, at, None)
    if isinstance(handle, CollectiveHandle) and handle.target is not None:
        if isinstance(handle.got, str):
            raise FaultError(handle.got)
        for each in handle.got or ():
            store_at(handle.target, each, frame.registers)
    if isinstance(handle, ReceiveHandle):
        assert handle.got is not None
        spots = (handle.target, handle.sender, handle.which)
        for spot, value in zip(spots, handle.got, strict=True):
            if spot is not None:
                store_at(spot, value, frame.registers)


Single = tuple[str, int]
"""One request: its name and its index, ANYTHING if it is in no array."""


def holder(frame: ProcessFrame, kind: type[SendHandle] | type[ReceiveHandle], nth: int) -> Single | None:
    """Return the request of an unmatched operation, if it is not lost."""
    for name, slot in frame.requests.items():
        for index, handle in singles(slot):
            if isinstance(handle, kind) and handle.nth == nth:
                return name, index
    return None


def handle_of(frame: ProcessFrame, single: Single) -> Handle | None:
    """Return what one request is."""
    slot = frame.requests[single[0]]
    return slot[single[1]] if isinstance(slot, tuple) else slot


def active_singles(frame: ProcessFrame) -> Iterator[tuple[Single, Handle]]:
    """Yield the requests that are active, one by one."""
    for name, slot in frame.requests.items():
        yield from (((name, at), handle) for at, handle in singles(slot) if handle is not None)


def open_send(frame: ProcessFrame, nth: int) -> None:
    """Open the wait for a send, if its request is not lost."""
    single = holder(frame, SendHandle, nth)
    if single is not None:
        put_request(frame, *single, SendHandle(ANYTHING))


def grant_buffer(frame: ProcessFrame, handle: Handle | None) -> None:
    """Open the wait for a request under `any`: its send gets a buffer, or its call is over for this process."""
    if isinstance(handle, SendHandle):
        open_send(frame, handle.nth)
    elif isinstance(handle, CollectiveHandle):
        open_early(frame, handle)


def put_request(frame: ProcessFrame, name: str, at: int, handle: Handle | None) -> None:
    slot = frame.requests[name]
    if isinstance(slot, tuple):
        frame.requests[name] = (*slot[:at], handle, *slot[at + 1 :])
    else:
        frame.requests[name] = handle


def spot_of(place: Place, registers: dict[str, Value]) -> Spot:
    return place.name, tuple(require_number(value_of(each, registers)) for each in place.indices)


def store_at(spot: Spot, value: Value, registers: dict[str, Value]) -> None:
    name, indices = spot
    registers[name] = with_element(registers[name], indices, value)
