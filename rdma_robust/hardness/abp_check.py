"""Checks of the transfer programs: all that a receiver can have received when it ends, word by word, by every run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from rdma_robust.errors import InternalError
from rdma_robust.hardness.abp import Transfer, received_word, transfer_program
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import NO_LIMITS
from rdma_robust.semantics.machines.machine import Move
from rdma_robust.semantics.machines.rdma import RdmaMachine, RdmaState
from rdma_robust.semantics.machines.state_space import explore

RECEIVER = 1
"""The receiver's place among the threads of a transfer program."""


@dataclass(frozen=True, slots=True)
class TransferResult:
    """All that a receiver can have received of `word` when it ends, shortest first, and the states of the search."""

    word: str
    received: tuple[str, ...]
    states: int

    @property
    def wrong(self) -> tuple[str, ...]:
        return tuple(each for each in self.received if each != self.word)

    @property
    def loses(self) -> bool:
        """Whether something received lacks a symbol: it is not the word with symbols repeated."""
        repeated = re.compile("".join(f"(?:{re.escape(letter)})+" for letter in self.word))
        return any(repeated.fullmatch(each) is None for each in self.wrong)

    @property
    def duplicates(self) -> bool:
        """Whether something received has a symbol twice: it is not the word with symbols left out."""
        return any(not _is_subsequence(each, self.word) for each in self.wrong)


def words(letters: Sequence[str], length: int) -> list[str]:
    """Return all words of up to `length` letters, the shortest first."""
    return ["".join(word) for n in range(length + 1) for word in product(letters, repeat=n)]


def check_transfer(word: str, letters: Sequence[str], transfer: Transfer) -> TransferResult:
    """Return what the receiver of a transfer of `word` can have received when it ends, by all runs of the RDMA machine.

    It has room for one letter more than the word has; runs in which it reads more are not counted.
    """
    program = transfer_load(word, letters, transfer)
    search = explore(RdmaMachine(program), NO_LIMITS)
    if search.cut is not None:
        raise InternalError("a search without limits was cut")
    registers = len(program.threads[RECEIVER].registers)
    found = {received_word(letters, final[-registers:]) for final in search.finals}
    return TransferResult(word, tuple(sorted(found, key=lambda w: (len(w), w))), search.states)


def transfer_load(word: str, letters: Sequence[str], transfer: Transfer) -> Program:
    """Return the transfer program of `word`, checked."""
    return load_decidable(transfer_program(word, letters, transfer), f"transfer-{transfer.name.lower()}.rdma")


def wrong_run(program: Program, word: str, letters: Sequence[str]) -> tuple[Move, ...] | None:
    """Return a shortest run of a transfer program after which the receiver has ended with something else than `word`."""
    machine = RdmaMachine(program)
    exit_point = program.threads[RECEIVER].exit
    came: dict[RdmaState, tuple[Move, RdmaState | None]] = {}
    layer: list[RdmaState] = []
    for move in machine.initial():
        came[move.state] = (move, None)
        layer.append(move.state)
    for state in layer:
        place = state.threads[RECEIVER]
        if place.point == exit_point and received_word(letters, place.registers) != word:
            return _path(came, state)
        for move in machine.reduced(state):
            if move.state not in came:
                came[move.state] = (move, state)
                layer.append(move.state)
    return None


def _path(came: dict[RdmaState, tuple[Move, RdmaState | None]], state: RdmaState) -> tuple[Move, ...]:
    run: list[Move] = []
    here: RdmaState | None = state
    while here is not None:
        move, here = came[here]
        run.append(move)
    return tuple(reversed(run))


def _is_subsequence(part: str, whole: str) -> bool:
    rest = iter(whole)
    return all(letter in rest for letter in part)
