"""Message programs with a few statements changed: swapped, taken out, put into another process, with other partners."""

from __future__ import annotations

import random
from dataclasses import replace

from rdma_robust.expr import Const
from rdma_robust.messages.language.message_program import Block, IssueReceive, IssueSend, MessageProgram, Statement, Wait

Unit = Block
"""A statement, or a send or receive with its wait."""


def mutated_messages(program: MessageProgram, seed: int) -> MessageProgram:
    """Return a program with one to three changes; the same seed makes the same."""
    chance = random.Random(seed)
    bodies = [_units(each.body) for each in program.processes]
    for _ in range(chance.randint(1, 3)):
        _change(bodies, chance)
    processes = tuple(
        replace(process, body=tuple(each for unit in units for each in unit))
        for process, units in zip(program.processes, bodies, strict=True)
    )
    return replace(program, processes=processes)


def _units(body: Block) -> list[Unit]:
    found: list[Unit] = []
    for each in body:
        if isinstance(each, Wait) and found and isinstance(found[-1][-1], IssueSend | IssueReceive):
            found[-1] = (*found[-1], each)
        else:
            found.append((each,))
    return found


def _change(bodies: list[list[Unit]], chance: random.Random) -> None:
    units = chance.choice([each for each in bodies if each])
    at = chance.randrange(len(units))
    match chance.randrange(8):
        case 0 | 1 if at + 1 < len(units):
            units[at], units[at + 1] = units[at + 1], units[at]
        case 2 if len(units) > 1:
            units.pop(at)
        case 3:
            units.insert(at, units[chance.randrange(len(units))])
        case _:
            units[at] = tuple(_with_another(each, len(bodies), chance) for each in units[at])


def _with_another(statement: Statement, processes: int, chance: random.Random) -> Statement:
    partner = Const(chance.randrange(processes))
    if isinstance(statement, IssueSend):
        return replace(statement, to=partner)
    if isinstance(statement, IssueReceive):
        return replace(statement, source=chance.choice([None, None, partner]))
    return statement
