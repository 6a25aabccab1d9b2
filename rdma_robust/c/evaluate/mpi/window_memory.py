"""Windows of MPI: the memory that each process has in one, made with the window or attached to it later; their attributes.

A dynamic window has the memory that is attached on any way: that it is attached before others reach it is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rdma_robust.c.evaluate.c_values import Object, Pointer, Value
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.libc import allocated
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.mpi.handles import handle_key, known_object, members
from rdma_robust.c.evaluate.one_sided.spmd import barrier, begin, store_handle
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.libraries.mpi import NUMBERS


@dataclass(frozen=True, slots=True)
class Window:
    """A window: its number, and its processes."""

    number: int
    processes: tuple[str, ...]

    @property
    def label(self) -> str:
        """What its queue pairs are called; the first window has those without a name."""
        return f"win{self.number}_" if self.number else ""

    @property
    def group(self) -> tuple[str, int]:
        """What flushes of the window complete."""
        return "window", self.number


@dataclass(frozen=True, slots=True)
class Region:
    """The part of a window that a process has: memory, its bytes, the unit of displacements, and how the window was made."""

    base: Pointer | None
    size: int
    unit: int
    flavor: int


def window(call: CallContext, index: int) -> Window:
    """Return the window that an argument is."""
    found = handle_key(call.arguments[index], "window")
    if found is None:
        raise Refusal("RR812", "this window is not known here", "MPI_Win_create or MPI_Win_allocate makes one")
    return Window(int(found[0]), tuple(map(str, found[1:])))


def _region(call: CallContext, of: Window, process: str) -> Region:
    found = call.run.world.known.regions.get(("window", of.number, process))
    if not isinstance(found, Region):
        raise Refusal("RR812", f"{process} does not make this window", "all processes call MPI_Win_create")
    return found


def memory_at(call: CallContext, of: Window, peer: str, at: int, extent: tuple[int, int]) -> tuple[Object, int]:
    """Return where a displacement, which is an argument, is in the memory of a process: the object, and the offset. A
    transfer reaches bytes from there, from the first of `extent` to the one behind the last. Raises RR813 outside of the
    window."""
    region = _region(call, of, peer)
    if region.flavor == NUMBERS["WIN_FLAVOR_DYNAMIC"]:
        return _attached(call, of, peer, at, extent)
    distance = call.number(at, "the displacement") * region.unit
    low, high = distance + extent[0], distance + extent[1]
    if region.base is None or low < 0 or high > region.size:
        raise Refusal("RR813", f"bytes {low} to {high} are outside of the window of {peer}, which has {region.size}")
    return region.base.object, region.base.offset + distance


def _attached(call: CallContext, of: Window, peer: str, at: int, extent: tuple[int, int]) -> tuple[Object, int]:
    """Return the memory at a displacement of a dynamic window, which is an address there."""
    name, offset = call.address(at, "this displacement of a dynamic window")
    low, high = offset + extent[0], offset + extent[1]
    for each in call.run.world.known.said:
        match each:
            case ("attached", of.number, Pointer(object, first), int(size)) if object == name and name.process == peer:
                if first <= low and high <= first + size:
                    return name, offset
            case _:
                pass
    said = f"bytes {low} to {high} of `{name.name}` are not attached to this window by {peer}"
    raise Refusal("RR813", said, "MPI_Win_attach")


def memory_of_windows(call: CallContext) -> set[Object]:
    """Return the memory of this process that others reach by any window."""
    world, found = call.run.world, set[Object]()
    for each in (*world.known.regions.values(), *world.found.regions.values()):
        if isinstance(each, Region) and each.base is not None:
            found.add(each.base.object)
    for said in (*world.known.said, *world.found.said):
        if isinstance(said, tuple) and said[0] == "attached" and isinstance(said[2], Pointer):
            found.add(said[2].object)
    return found


# making and freeing


def _made(call: CallContext, region: Region, communicator_at: int, window_at: int) -> Result:
    """Say what this process has in a new window, and store its handle. All processes make it."""
    processes = members(call, communicator_at)
    number = call.state.numbers.get("windows", 0)
    call.state.numbers["windows"] = number + 1
    known = call.run.world.found.regions.setdefault(("window", number, call.run.process), region)
    if known != region:
        raise Refusal("RR844", "this window is other memory on other ways", "make it at one place")
    store_handle(call, call.arguments[window_at], "window", (number, *processes))
    begin(call)
    return barrier(call, members=processes) if call.state.is_set_up and number else 0


def _create(call: CallContext) -> Result:
    """`MPI_Win_create`: memory, size, unit of displacements, info, communicator, where the window goes."""
    size, unit = call.number(1, "the size of the window"), call.number(2, "the unit of displacements")
    return _made(call, Region(known_object(call.arguments[0]), size, unit, NUMBERS["WIN_FLAVOR_CREATE"]), 4, 5)


def _allocate(call: CallContext) -> Result:
    """`MPI_Win_allocate`: size, unit, info, communicator, where the address and the window go."""
    size, unit = call.number(0, "the size of the window"), call.number(1, "the unit of displacements")
    base = allocated(call, size, "win")
    call.set_private(call.arguments[4], 8, base, "the address of the window")
    return _made(call, Region(known_object(base), size, unit, NUMBERS["WIN_FLAVOR_ALLOCATE"]), 3, 5)


def _create_dynamic(call: CallContext) -> Result:
    """`MPI_Win_create_dynamic`: info, communicator, where the window goes."""
    return _made(call, Region(None, 0, 1, NUMBERS["WIN_FLAVOR_DYNAMIC"]), 1, 2)


def _attach(call: CallContext) -> Result:
    """`MPI_Win_attach`: window, memory, size."""
    name, offset = call.address(1, "what is attached")
    attached = ("attached", window(call, 0).number, Pointer(name, offset), call.number(2, "the size"))
    call.run.world.found.said.add(attached)
    return 0


def _free(call: CallContext) -> Result:
    name, offset = call.address(0, "this window")
    call.arguments = [call.run.raw_read(call.state, name, offset, 8), *call.arguments[1:]]
    found = window(call, 0)
    call.run.raw_write(call.state, name, offset, 8, 0)
    return barrier(call, members=found.processes)


def _alias(call: CallContext) -> Result:
    raise Refusal("RR842", f"`{call.name}` gives loads and stores to another process", "MPI_Win_allocate, MPI_Put, MPI_Get")


# attributes

_ATTRIBUTES: Final[dict[int, tuple[str, int, Callable[[Region], int]]]] = {
    NUMBERS["WIN_SIZE"]: ("size", 8, lambda region: region.size),
    NUMBERS["WIN_DISP_UNIT"]: ("unit", 4, lambda region: region.unit),
    NUMBERS["WIN_CREATE_FLAVOR"]: ("flavor", 4, lambda region: region.flavor),
    NUMBERS["WIN_MODEL"]: ("model", 4, lambda _: NUMBERS["WIN_UNIFIED"]),
}
"""What the attributes of a window that are numbers are called, the bytes of each, and the number."""


def _get_attribute(call: CallContext) -> Result:
    """`MPI_Win_get_attr`: window, key, where the answer goes, and whether there is one. The answer is the address of the
    window's memory, or one of a number."""
    of, key = window(call, 0), call.number(1, "the attribute")
    if key != NUMBERS["WIN_BASE"] and key not in _ATTRIBUTES:
        raise Refusal("RR814", "attributes of programs are not modelled", "those of MPI, as MPI_WIN_SIZE")
    region = call.run.world.found.regions.get(("window", of.number, call.run.process))
    assert isinstance(region, Region)
    answer: Value = region.base or 0
    if key != NUMBERS["WIN_BASE"]:
        called, size, number = _ATTRIBUTES[key]
        held = Object("handle", call.run.process, called, ("attribute", of.number))
        call.run.world.sizes[held] = size
        call.state.place(held, ObjectBytes({0: (size, number(region))}))
        answer = Pointer(held)
    call.set_private(call.arguments[2], 8, answer, "the answer")
    call.set_private(call.arguments[3], 4, 1, "the answer")
    return 0


WINDOW_MEMORY: Final[dict[str, Handler]] = {
    "MPI_Win_create": _create,
    "MPI_Win_allocate": _allocate,
    "MPI_Win_create_dynamic": _create_dynamic,
    "MPI_Win_attach": _attach,
    "MPI_Win_detach": lambda _: 0,
    "MPI_Win_allocate_shared": _alias,
    "MPI_Win_shared_query": _alias,
    "MPI_Win_free": _free,
    "MPI_Win_get_attr": _get_attribute,
}
