"""OpenSHMEM: collective functions.

What moves data is what the standard says of it: who has data puts it into the targets of others once it has come to the
call, and tells them; who needs it waits for that, and for nothing else. So a broadcast is no barrier: its root goes on. A
reduction can end for nobody before all have come: each process reads its source, all meet, and each writes its target. What
is contributed to it is known, or the result is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import Scalar, UnknownValue, Value
from rdma_robust.c.evaluate.calls import CallContext, Result
from rdma_robust.c.evaluate.one_sided.contributions import COMBINED, contributed, reduction_results
from rdma_robust.c.evaluate.one_sided.spmd import meeting, reaches_others, twin
from rdma_robust.c.evaluate.one_sided.tellings import Piece, Telling, deliver, hear
from rdma_robust.c.evaluate.operations import ThreadStatement
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.shmem.contexts import ShmemContext, active_set, own_team
from rdma_robust.c.evaluate.word_copies import copied
from rdma_robust.c.libraries.openshmem import ShmemFunction

_UNKNOWN: Final = UnknownValue("what a collective function gives")
_Range = tuple[int, int, int]
"""Bytes: where they go in the target, where they are in the source, and how many."""


@dataclass(frozen=True, slots=True)
class _Collective:
    """A call of a team or an active set: its members, target and source as arguments, the numbers behind them, the type."""

    call: CallContext
    operation: str
    members: tuple[str, ...]
    target: int
    numbers: tuple[int, ...]
    type: CType

    @property
    def own(self) -> int:
        """The place of this process among the members."""
        return self.members.index(self.call.run.process)

    @property
    def telling(self) -> Telling:
        """What processes tell each other when data is there."""
        return Telling((self.operation, self.members), self.operation)

    def sent(self, number: int, ranges: Sequence[_Range]) -> list[ThreadStatement]:
        """Return what gives a member bytes of the source, and tells it; to the process itself it is a copy."""
        call, peer = self.call, self.members[number]
        to, at = call.address(self.target, "the target")
        source, start = call.address(self.target + 1, "the source")
        for name in (to, source):
            twin(call, name, peer)
        if number != self.own:
            pieces = [
                Piece((twin(call, to, peer), at + there), (source, start + here), size) for there, here, size in ranges
            ]
            return deliver(call, self.telling, peer, pieces, self.type.size)
        found: list[ThreadStatement] = []
        for there, here, size in ranges:
            if (to, at + there) != (source, start + here):
                found += copied(call.run, call.state, (to, at + there), (source, start + here), size)
        return found

    def heard(self, number: int) -> list[ThreadStatement]:
        """Return what waits until a member has given its bytes."""
        return [] if number == self.own else hear(self.call, self.telling, self.members[number])

    def exchanged(self, ranges: Callable[[int], Sequence[_Range]]) -> list[ThreadStatement]:
        """Return what gives each member bytes, and waits for those of each."""
        everybody = range(len(self.members))
        found = [each for number in everybody for each in self.sent(number, ranges(number))]
        return [*found, *(each for number in everybody for each in self.heard(number))]


_Work = Callable[[_Collective], list[ThreadStatement]]


def _collective(work: _Work, count: int = 1) -> Callable[..., Result]:
    """Return the handler of a function with so many numbers behind target and source: in front of them is a team, or behind
    all an active set."""

    def handler(call: CallContext, function: ShmemFunction, _context: ShmemContext) -> Result:
        operation = function.operation.removeprefix("old_").removesuffix("_to_all").removesuffix("_reduce")
        is_old = function.operation.startswith("old_") or function.operation.endswith("_to_all")
        target = 0 if is_old else 1
        team = active_set(call, target + 2 + count) if is_old else own_team(call, call.arguments[0])
        members = team.processes(call)
        numbers = tuple(call.number(target + 2 + each, "a number of this call") for each in range(count))
        if call.run.process not in members:
            raise Refusal("RR818", f"{call.run.process} is none of the processes that call `{call.name}`")
        reaches_others(call)
        found = work(_Collective(call, operation, members, target, numbers, function.type))
        return call.step(found) if found else 0

    return handler


def _broadcast(what: _Collective) -> list[ThreadStatement]:
    """The root gives its source to all; by the call of a team to itself too."""
    size, root = what.numbers[0] * what.type.size, what.numbers[1]
    if not 0 <= root < len(what.members):
        raise Refusal("RR818", f"there is no process {root} here: there are {len(what.members)}")
    if not size:
        return []
    if what.own != root:
        return what.heard(root)
    others = [number for number in range(len(what.members)) if number != root or what.target]
    return [each for number in others for each in what.sent(number, [(0, 0, size)])]


def _fixed(what: _Collective) -> list[ThreadStatement]:
    """`fcollect`: the sources one behind the other, all of one length."""
    size = what.numbers[0] * what.type.size
    return what.exchanged(lambda _: [(what.own * size, 0, size)]) if size else []


def _collected(what: _Collective) -> list[ThreadStatement]:
    """`collect`: the sources one behind the other, of different lengths."""
    sizes = contributed(what.call, what.operation, what.members, what.numbers[0])
    before = [each for each in sizes if isinstance(each, int)]
    if len(before) < len(sizes):
        raise Refusal("RR814", "how many elements others contribute is not known here", "a number that is known")
    at, size = sum(before[: what.own]) * what.type.size, what.numbers[0] * what.type.size
    found = what.sent(what.own, [(at, 0, size)]) if size else []
    others = [number for number in range(len(sizes)) if number != what.own]
    if size:
        found += [each for number in others for each in what.sent(number, [(at, 0, size)])]
    return [*found, *(each for number in others if before[number] for each in what.heard(number))]


def _all_to_all(what: _Collective) -> list[ThreadStatement]:
    size = what.numbers[0] * what.type.size
    return what.exchanged(lambda number: [(what.own * size, number * size, size)]) if size else []


def _all_to_all_strided(what: _Collective) -> list[ThreadStatement]:
    there, here, count = what.numbers
    size, own = what.type.size, what.own

    def ranges(number: int) -> list[_Range]:
        return [((own * count + at) * there * size, (number * count + at) * here * size, size) for at in range(count)]

    return what.exchanged(ranges) if count else []


# reductions


def _reduction(what: _Collective) -> list[ThreadStatement]:
    count = what.numbers[0]
    if not count:
        return []
    own, reads = _elements(what, count)
    known = tuple(each if isinstance(each, int) else _UNKNOWN for each in own)
    given = contributed(what.call, what.operation, what.members, known)
    values = reduction_results(what.call, what.operation, given, count, what.type)
    return [*reads, *meeting(what.members), *_written(what, values)]


def _elements(what: _Collective, count: int) -> tuple[list[Value], list[ThreadStatement]]:
    """Return the elements of the source, and the reads that others see."""
    call, element = what.call, CType("int", what.type.size)
    name, offset = call.address(what.target + 1, "the source")
    values: list[Value] = []
    reads: list[ThreadStatement] = []
    for index in range(count):
        at = offset + index * what.type.size
        value, read = call.run.load(call.state, call.frame, name, at, kind=element, hint=f"part{index}")
        values.append(value)
        reads += read
    return values, reads


def _written(what: _Collective, values: Sequence[Scalar]) -> list[ThreadStatement]:
    call, element = what.call, CType("int", what.type.size)
    name, offset = call.address(what.target, "the target")
    writes: list[ThreadStatement] = []
    for index, value in enumerate(values):
        at = offset + index * what.type.size
        writes += call.run.store(call.state, call.frame, name, at, kind=element, value=value)
    return writes


REDUCTIONS: Final[Mapping[str, Callable[..., Result]]] = {
    **{f"{name}_{form}": _collective(_reduction) for name in COMBINED for form in ("reduce", "to_all")},
    **dict.fromkeys(("broadcast", "old_broadcast"), _collective(_broadcast, 2)),
    **dict.fromkeys(("fcollect", "old_fcollect"), _collective(_fixed)),
    **dict.fromkeys(("collect", "old_collect"), _collective(_collected)),
    **dict.fromkeys(("alltoall", "old_alltoall"), _collective(_all_to_all)),
    **dict.fromkeys(("alltoalls", "old_alltoalls"), _collective(_all_to_all_strided, 3)),
}
"""The handlers of collective functions, by their operations."""
