"""Groups of processes (MPI 4.1, 7.3): what is made of two of them or of ranges, and how they compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.one_sided.spmd import store_handle
from rdma_robust.c.libraries.mpi import NUMBERS
from rdma_robust.c.lock_step.call_arguments import PROC_NULL, communicator_at, group_members, wrong
from rdma_robust.c.lock_step.topology_calls import numbers_at, store_numbers

_INT: Final = 4
Processes = tuple[int, ...]


def _store(call: CallContext, members: Processes) -> Result:
    store_handle(call, call.arguments[-1], "group", tuple(f"P{each}" for each in members))
    return 0


def _of_two(combine: Callable[[Processes, Processes], Processes]) -> Handler:
    """Two groups, where the new one goes."""
    return lambda call: _store(call, combine(group_members(call, 0), group_members(call, 1)))


def _ranges(*, included: bool) -> Handler:
    """Group, number of ranges, each as first rank, last rank and stride, where the new one goes."""

    def handler(call: CallContext) -> Result:
        members, count = group_members(call, 0), call.number(1, "the number of ranges")
        found = numbers_at(call, 2, 3 * count, "the list of ranges")
        ranks: list[int] = []
        for first, last, stride in zip(found[::3], found[1::3], found[2::3], strict=True):
            if not stride:
                raise wrong(call, "invalid-argument", "the stride of a range is 0")
            ranks += range(first, last + (1 if stride > 0 else -1), stride)
        if any(not 0 <= each < len(members) for each in ranks) or len(set(ranks)) < len(ranks):
            raise wrong(call, "invalid-rank", f"a rank is not one of {len(members)}, or is there twice")
        kept = ranks if included else [each for each, _ in enumerate(members) if each not in ranks]
        return _store(call, tuple(members[each] for each in kept))

    return handler


def _translate(call: CallContext) -> Result:
    """Group, number of ranks, ranks, other group, where their ranks there go."""
    here, there = group_members(call, 0), group_members(call, 3)
    found: list[int] = []
    for each in numbers_at(call, 2, call.number(1, "the number of ranks"), "the list of ranks"):
        if each != PROC_NULL and not 0 <= each < len(here):
            raise wrong(call, "invalid-rank", f"rank {each} of {len(here)} processes")
        is_there = each != PROC_NULL and here[each] in there
        found.append(each if each == PROC_NULL else there.index(here[each]) if is_there else NUMBERS["UNDEFINED"])
    store_numbers(call, 4, tuple(found))
    return 0


def _alike(first: Processes, second: Processes, same: str) -> str:
    return same if first == second else "SIMILAR" if set(first) == set(second) else "UNEQUAL"


def _compare_groups(call: CallContext) -> Result:
    found = _alike(group_members(call, 0), group_members(call, 1), "IDENT")
    call.set_private(call.arguments[2], _INT, NUMBERS[found], "the answer")
    return 0


def _compare(call: CallContext) -> Result:
    """Two communicators, where the answer goes."""
    first, second = (communicator_at(call, at, has_two_groups=True) for at in (0, 1))
    same = "IDENT" if first.name == second.name else "CONGRUENT"
    both = [_alike(first.members, second.members, same), _alike(first.remote, second.remote, same)]
    found = max(both, key=lambda each: NUMBERS[each])
    call.set_private(call.arguments[2], _INT, NUMBERS[found], "the answer")
    return 0


GROUP_CALLS: Final[dict[str, Handler]] = {
    "MPI_Group_union": _of_two(lambda first, second: (*first, *(each for each in second if each not in first))),
    "MPI_Group_intersection": _of_two(lambda first, second: tuple(each for each in first if each in second)),
    "MPI_Group_difference": _of_two(lambda first, second: tuple(each for each in first if each not in second)),
    "MPI_Group_range_incl": _ranges(included=True),
    "MPI_Group_range_excl": _ranges(included=False),
}
"""The calls that make a group."""
COMPARING_CALLS: Final[dict[str, Handler]] = {
    "MPI_Group_translate_ranks": _translate,
    "MPI_Group_compare": _compare_groups,
    "MPI_Comm_compare": _compare,
}
