"""Outcomes of runs: what counts of the last state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from rdma_robust.errors import Span
from rdma_robust.expr import Const, Name
from rdma_robust.messages.language.message_program import (
    Assert,
    Assign,
    Block,
    MessageProgram,
    Place,
    Process,
    Statement,
    with_blocks,
)
from rdma_robust.messages.language.message_terms import Operation, Term, Value
from rdma_robust.messages.machine.flat_code import FlatProcess
from rdma_robust.messages.machine.process_state import LocalState, Status

FAILED = "$false."
"""Registers that remember which assertions were false begin so."""


class RememberingProgram(NamedTuple):
    """A program whose assertions are remembered in registers, and the place of the assertion of each such register."""

    program: MessageProgram
    places: dict[tuple[int, str], Span]


def remembering(program: MessageProgram) -> RememberingProgram:
    """Return `program` with a register for each assertion, 1 once it was false; the runs are the same, step by step."""
    places: dict[tuple[int, str], Span] = {}
    processes = []
    for number, process in enumerate(program.processes):
        made: dict[str, Span] = {}
        body = tuple(_block(process.body, made))
        processes.append(replace(process, body=body, registers=(*process.registers, *made)))
        places |= {(number, register): span for register, span in made.items()}
    return RememberingProgram(replace(program, processes=tuple(processes)), places)


def _block(block: Block, made: dict[str, Span]) -> Iterator[Statement]:
    for statement in block:
        if isinstance(statement, Assert):
            register = f"{FAILED}{len(made)}"
            made[register] = statement.span
            yield Assign(Place(register), _or_false(register, statement.condition), statement.span)
        else:
            yield with_blocks(statement, lambda inner: tuple(_block(inner, made)))


def _or_false(register: str, condition: Term) -> Operation:
    """Return 1 if the condition is false or was before; it is evaluated in any case, as it may be a fault."""
    return Operation("?", (Operation("!", (condition,)), Const(1), Name(register)))


@dataclass(frozen=True, slots=True)
class Ending:
    """How one process is at the end of a run: `at` is where it waits or has stopped, `false` are the assertions that were
    false, and `values` its final values; a daemon that waits has none."""

    status: Status
    at: int
    false: tuple[str, ...]
    values: tuple[tuple[str, Value], ...]

    @property
    def failure(self) -> Ending:
        """Return the same without its values."""
        return replace(self, values=())


Outcome = tuple[Ending, ...]
"""The endings of all processes."""


def process_ending(process: Process, flat: FlatProcess, local: LocalState) -> Ending:
    """Return how a process is that stays in `local`."""
    values = dict(zip(flat.registers, local.registers, strict=True))
    false = tuple(name for name, value in values.items() if name.startswith(FAILED) and value)
    own = [name for name in process.registers if "." not in name and not name.startswith("$")]
    kept = () if process.daemon and local.status != "ended" else tuple((name, values[name]) for name in own)
    return Ending(local.status, 0 if local.status == "ended" else local.pc, false, kept)
