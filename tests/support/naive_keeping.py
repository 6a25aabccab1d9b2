"""Whether a program with insertions does what the program does, by whole graphs of states under sequential consistency.

Both must end in the same states, every step of the program must still be taken in some run, and a thread that waits forever
must do so in the program too, with the same registers and the same memory. Nothing is reduced, and the programs are not
followed together, as `repair/keeping.py` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rdma_robust.digraph import components
from rdma_robust.expr import TRUE
from rdma_robust.language.flow.cfg import Program, Silent, Step
from rdma_robust.semantics.machines.chosen import sc_machine_of


class TooLarge(Exception):
    """There are more states than are looked at."""


@dataclass(frozen=True)
class Behaviour:
    """`finals` are memory and registers at the end; `hangs` the threads that wait forever, with registers and memory;
    `done` the texts of the steps that some run takes, but for those that do nothing: a poll in a branch of `choose` may have
    made the choice."""

    finals: frozenset[Any]
    hangs: frozenset[Any]
    done: frozenset[tuple[int, str]]

    def keeps(self, program: Behaviour) -> bool:
        """Whether this, of a program with insertions, is no other than that of the program."""
        return self.finals == program.finals and self.hangs <= program.hangs and self.done >= program.done


def behaviour(program: Program, most: int = 3000) -> Behaviour:
    """Return what a program does under sequential consistency. Raises TooLarge."""
    machine: Any = sc_machine_of(program)
    number: dict[Any, int] = {}
    states: list[Any] = []
    following: dict[int, list[int]] = {}
    done: set[tuple[int, str]] = set()

    def known(state: Any) -> int:
        if state not in number:
            if len(states) >= most:
                raise TooLarge
            number[state] = len(states)
            states.append(state)
        return number[state]

    for move in machine.initial():
        known(move.state)
    for place, state in enumerate(states):
        moves = machine.successors(state)
        following[place] = [known(move.state) for move in moves]
        taken = ((move.action.thread, step) for move in moves for step in (move.action.step, *move.action.silent))
        done |= {(t, step.text) for t, step in taken if not _is_idle(step)}
    finals, hangs = set(), set()
    for component in components(following):
        inside = set(component)
        if any(after not in inside for each in component for after in following[each]):
            continue
        for each in (states[k] for k in component):
            here = [(t, s.registers) for t, s in enumerate(each.threads)]
            memory = _memory(program, each)
            if machine.is_final(each):
                finals.add((tuple(here), memory))
                continue
            ended = [s.point == program.threads[t].exit for t, s in enumerate(each.threads)]
            hangs |= {(t, registers, memory) for (t, registers), end in zip(here, ended, strict=True) if not end}
    return Behaviour(frozenset(finals), frozenset(hangs), frozenset(done))


def _is_idle(step: Step | None) -> bool:
    return step is not None and isinstance(step.op, Silent) and step.guard == TRUE and not step.assigns


def _memory(program: Program, state: Any) -> tuple[int, ...]:
    cells = zip(program.cells, state.memory, strict=True)
    return tuple(value for cell, value in cells if not cell.hidden and not cell.name.startswith(("probe", "scrap")))
