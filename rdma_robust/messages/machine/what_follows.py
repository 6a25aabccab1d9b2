"""The future of a process at a place in its code: which registers it reads, to which endpoints it sends.

Both are least fixpoints over its flat code, as bits of a number, and both may say too much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rdma_robust.expr import Const
from rdma_robust.messages.language.message_program import (
    Abort,
    Assert,
    Assign,
    Assume,
    CollectiveCall,
    Completion,
    IssueCollective,
    IssueReceive,
    IssueSend,
    Place,
    Probe,
    Requests,
)
from rdma_robust.messages.language.message_terms import term_names
from rdma_robust.messages.machine.flat_code import BranchChoice, FlatProcess, Instruction, LoopBounds, Round, Test, WaitFor
from rdma_robust.messages.machine.process_state import CollectiveHandle, LocalState, ReceiveHandle, singles


@dataclass(frozen=True, slots=True)
class WhatFollows:
    """For each instruction the registers that are read from there on before they are written, and the endpoints sent to.

    `used` are the registers that each instruction itself reads, `bits` those of the registers.
    """

    used: tuple[int, ...]
    reads: tuple[int, ...]
    sends: tuple[int, ...]
    bits: dict[str, int]


def what_follows(process: FlatProcess, processes: int, ports: int) -> WhatFollows:
    """Return what may follow each instruction. Endpoint (process, port) is bit `process * ports + port`."""
    bits = {name: 1 << at for at, name in enumerate(process.registers)}

    masks = [tuple(_mask(names, bits) for names in _used_and_written(each)) for each in process.code]

    def read(at: int, after: int) -> int:
        used, written = masks[at]
        return (after & ~written) | used

    def sent(at: int, after: int) -> int:
        instruction = process.code[at]
        if not isinstance(instruction, IssueSend):
            return after
        targets = (instruction.to.value,) if isinstance(instruction.to, Const) else range(processes)
        return after | sum(1 << (to * ports + instruction.port) for to in targets if 0 <= to < processes)

    return WhatFollows(tuple([used for used, _ in masks]), _backwards(process, read), _backwards(process, sent), bits)


def _backwards(process: FlatProcess, before: Callable[[int, int], int]) -> tuple[int, ...]:
    """Return the least solution of: what holds before an instruction is `before` of it and what holds after it."""
    found = [0] * len(process.code)
    changed = True
    while changed:
        changed = False
        for at in reversed(range(len(process.code))):
            after = 0
            for each in _next(process, at):
                after |= found[each]
            new = before(at, after)
            if new != found[at]:
                found[at], changed = new, True
    return tuple(found)


def _next(process: FlatProcess, at: int) -> Iterator[int]:
    instruction = process.code[at]
    if isinstance(instruction, BranchChoice):
        yield from map(process.landing, instruction.targets)
        return
    if at < process.end:
        yield process.following[at]
    if isinstance(instruction, Test | Round):
        yield process.landing(instruction.otherwise)


def _mask(names: Iterable[str], bits: dict[str, int]) -> int:
    mask = 0
    for name in names:
        mask |= bits[name]
    return mask


def _used_and_written(instruction: Instruction) -> tuple[list[str], list[str]]:
    """Return the registers that an instruction reads, and those that it writes as a whole without having read them."""
    match instruction:
        case Assign(target, value):
            written = [] if target.indices else [target.name]
            return [*term_names(value), *_of_place(target)], written
        case IssueSend(request, value, to, _, tag, of_type=of_type, size=size):
            terms = [each for each in (value, to, tag, of_type, size) if each is not None]
            return [*(name for each in terms for name in term_names(each)), *_of_indices(request)], []
        case IssueReceive(request, target, source, _, tag, sender, which, of=of, of_type=of_type, room=room):
            terms = [each for each in (source, tag, of_type, room) if each is not None]
            places = [each for each in (target, sender, which) if each is not None]
            used = [name for each in terms for name in term_names(each)] + [
                name for each in places for name in _of_place(each)
            ]
            return [*used, *_of_indices(request), *_of_indices(of)], []
        case Probe(source, _, tag, sender, which, flag, taken=taken):
            terms = [each for each in (source, tag) if each is not None]
            places = [each for each in (sender, which, flag) if each is not None]
            read = [name for each in terms for name in term_names(each)]
            return [*read, *(name for each in places for name in _of_place(each)), *_of_indices(taken)], []
        case IssueCollective(request, _, _, root, op, sig, give, get):
            terms = [each for each in (root, op, sig, give) if each is not None]
            told = [name for each in terms for name in term_names(each)]
            return [*told, *([] if get is None else _of_place(get)), *_of_indices(request)], []
        case WaitFor(place):
            return list(_of_indices(place)), []
        case Completion(requests, flag=flag, which=which, places=places):
            read = [name for each in requests for name in _of_indices(each)]
            stored = [each for each in (flag, which) if each is not None]
            array = [] if places is None else [*_of_indices(places), places.name]
            return [*read, *(name for each in stored for name in _of_place(each)), *array], []
        case Abort(error):
            return list(term_names(error)), []
        case Requests(size=size) if size is not None:
            return list(term_names(size)), []
        case Test(condition) | Assume(condition) | Assert(condition):
            return list(term_names(condition)), []
        case LoopBounds(low, high, following, last):
            return [*term_names(low), *term_names(high)], [following, last]
        case Round(_, following, last):
            return [following, last], []
        case CollectiveCall(root=root) if root is not None:
            return list(term_names(root)), []
        case _:
            return [], []


def _of_indices(place: Place | None) -> Iterator[str]:
    for each in () if place is None else place.indices:
        yield from term_names(each)


def _of_place(place: Place) -> Iterator[str]:
    """Yield what is read where a place is written: its indices, and the array if it is an element."""
    yield from _of_indices(place)
    if place.indices:
        yield place.name


def without_the_unread(follows: WhatFollows, local: LocalState, blocking: object) -> LocalState:
    """Return `local` with 0 in the registers that nothing reads any more: what the process does is the same.

    Elements of arrays that a posted receive will store into are read then. What the receive that is waited for will
    overwrite is not read before, but by the wait itself, if it is in the index of the request.
    """
    reads = follows.reads[local.pc]
    names = follows.bits
    if isinstance(blocking, ReceiveHandle):
        for spot in (blocking.target, blocking.sender, blocking.which):
            if spot is not None and not spot[1]:
                reads &= ~names[spot[0]] | follows.used[local.pc]
    for slot in local.requests:
        for _, handle in singles(slot):
            for spot in (handle.target, handle.sender, handle.which) if isinstance(handle, ReceiveHandle) else ():
                if spot is not None and spot[1]:
                    reads |= names[spot[0]]
            if isinstance(handle, CollectiveHandle) and handle.target is not None:
                reads |= names[handle.target[0]] if handle.target[1] else 0
    registers = tuple(value if reads >> at & 1 else 0 for at, value in enumerate(local.registers))
    return local if registers == local.registers else local._replace(registers=registers)
