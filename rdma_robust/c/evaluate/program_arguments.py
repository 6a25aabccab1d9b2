"""The arguments that `main` of a C program is run with."""

from __future__ import annotations

from typing import Final

from rdma_robust.c.evaluate.c_values import Object, Pointer, Scalar, Value
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.round_facts import World
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.evaluate.thread_run import text_of

_ADDRESS: Final = 8


def program_arguments(world: World, state: State, process: str) -> list[Value]:
    """Return `argc` and `argv` of a process, which has the list behind `argv` from now on: the name of the program, the
    arguments that were given (`--arg`), and NULL."""
    given: list[Scalar] = [Pointer(text_of(process, f"{each}\0".encode())) for each in ("program", *world.units.arguments)]
    found = Object("handle", process, "argv", ("argv",))
    cells: dict[int, tuple[int, Value]] = {_ADDRESS * at: (_ADDRESS, each) for at, each in enumerate((*given, 0))}
    state.place(found, ObjectBytes(cells))
    world.sizes[found] = _ADDRESS * len(cells)
    return [len(given), Pointer(found)]
