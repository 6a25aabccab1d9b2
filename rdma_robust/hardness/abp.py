"""Sending a sequence of symbols by puts: bare, by the alternating-bit protocol as told in the paper, and repaired.

The sender has a read-only variable for each symbol, so it does not matter when the NIC reads it, and puts the symbols
one after the other into one word `symbol` of the receiver's node. Puts of one queue pair reach memory in program order,
but any number of them may do so between two steps of the receiver. With the protocol every put of a symbol is
followed by a put of 1 to a second word, `flag`.

**What the checks of the receiver prove.** Let X1 F1 X2 F2 ... be the puts of symbols and flags in the order in which
they reach memory. Round i of the receiver is

    s = symbol; assume s != 0; symbol = 0; await flag == 0; await flag == 1; flag = 0; await symbol == 0

Claim: in a run that completes round i, s is the i-th symbol, and at the last check exactly the first 2i puts have
reached memory, and symbol == 0 and flag == 0. Proof by induction; before round 1 nothing has reached memory.

- s != 0, and symbol was 0 at the end of round i - 1, so at least Xi has reached memory when s is read.
- flag was 0 then too, and the receiver has not written it when it finds flag == 0, so Fi has not reached memory. So at
  that point exactly 2i - 1 puts have, the last of them Xi, before s was read: s is the i-th symbol, and nothing has
  overwritten symbol = 0.
- flag == 1 is found later, so Fi has reached memory by then, before flag = 0.
- symbol == 0 at the end: since symbol = 0 only puts have written the word, none of them 0, so X(i+1) has not reached
  memory. So exactly 2i puts have: F(i+1) has not, and flag = 0 was the last write of the flag. QED.

So a receiver that comes to its end has received exactly what was sent. Conversely, delivering Xi just before the read
and Fi just before `await flag == 1` completes every round. The last check is not in the paper's text. Without it F(i+1)
may reach memory between `await flag == 1` and `flag = 0` and be wiped out. If X(i+2) has arrived too by then, X(i+1) is
lost: round i + 1 reads X(i+2), finds flag == 0, and takes F(i+2) for its own (`demo abp` shows such a run).

Source: Section 3 of the paper, Figures 2 and 3; the last check is ours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product

from rdma_robust.errors import InternalError
from rdma_robust.hardness.symbols import EMPTY, alphabet, comment_lines, laid_out, nested_lines, symbol_variable
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import NO_LIMITS
from rdma_robust.semantics.machines.machine import Move, MoveTrail
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.rdma import RdmaMachine

ONE = "one"


class Transfer(Enum):
    """How a symbol is handed over."""

    BARE = "bare"
    TOLD = "as told"
    CHECKED = "checked"


@dataclass(frozen=True, slots=True)
class SymbolChannel:
    """Where symbols go: the receiver's node, and on it the word for symbols and the word for flags."""

    node: str
    symbol: str
    flag: str


def send_symbol(channel: SymbolChannel, source: str, transfer: Transfer = Transfer.CHECKED) -> list[str]:
    """Return the statements that send the symbol in the read-only variable `source` of the sender's node."""
    put = f"put {channel.node}.{channel.symbol} = {source}"
    return [put] if transfer is Transfer.BARE else [put, f"put {channel.node}.{channel.flag} = {ONE}"]


def receive_symbol(channel: SymbolChannel, register: str, accept: str, transfer: Transfer = Transfer.CHECKED) -> list[str]:
    """Return the statements that receive a symbol into `register` and go on only if the expression `accept` is true.

    `accept` is over registers and must be false if `register` is 0, the value of a word without a symbol.
    """
    bare = [f"{register} = {channel.symbol}", f"assume {accept}"]
    told = [
        f"{channel.symbol} = {EMPTY}",
        f"await {channel.flag} == 0",
        f"await {channel.flag} == 1",
        f"{channel.flag} = 0",
    ]
    checked = [f"await {channel.symbol} == {EMPTY}"]
    return {Transfer.BARE: bare, Transfer.TOLD: bare + told, Transfer.CHECKED: bare + told + checked}[transfer]


CHANNEL = SymbolChannel("B", "symbol", "flag")
ABOUT = {
    Transfer.BARE: "each symbol by one put, nothing else.",
    Transfer.TOLD: "by the alternating-bit protocol as the paper's text tells it, without a last check.",
    Transfer.CHECKED: "by the alternating-bit protocol, with a last check that no symbol has arrived too soon.",
}


def transfer_program(word: str, letters: Sequence[str], transfer: Transfer) -> str:
    """Return the text of a program that sends `word` and then an end symbol, and a receiver that ends at the end symbol.

    The receiver records what it receives in registers r1, r2, ..., by the places of the letters in `letters` counted from 1,
    and has room for one letter more than were sent: enough to see one that came twice. See :func:`received_word`.
    Raises ValueError if `word` has a letter that is not in `letters`.
    """
    if set(word) - set(letters):
        raise ValueError("the word has other letters")
    end = len(letters) + 1
    registers = [f"r{k}" for k in range(1, len(word) + 3)]
    body = [f"reg {', '.join(registers)}"]
    for register in registers[:-1]:
        body += receive_symbol(CHANNEL, register, f"{register} != {EMPTY}", transfer)
        body.append(f"if {register} == END {{ halt }}")
    body += receive_symbol(CHANNEL, registers[-1], f"{registers[-1]} == END", transfer)
    used = alphabet([word])
    flags = "" if transfer is Transfer.BARE else ", flag = 0"
    ones = "" if transfer is Transfer.BARE else f", {ONE} = 1"
    cells = [f"{symbol_variable(letter)} = {letters.index(letter) + 1}" for letter in used]
    sources = [*(symbol_variable(letter) for letter in word), "letter_end"]
    values = [*(f"{letter} = {k}" for k, letter in enumerate(letters, 1)), f"end = {end}"]
    lines = [
        *comment_lines(
            [
                f"Sends {f'the word {word}' if word else 'no letters'} and an end symbol, {ABOUT[transfer]}",
                f"Symbols: {', '.join(values)}.",
            ]
        ),
        f"program transfer_{transfer.name.lower()}",
        f"const END = {end}",
        "",
        f"node A {{ {', '.join([*cells, 'letter_end = END'])}{ones} }}",
        f"node B {{ symbol = 0{flags} }}",
        "",
        *nested_lines("thread Sender on A", [line for source in sources for line in send_symbol(CHANNEL, source, transfer)]),
        "",
        *nested_lines("thread Receiver on B", body),
    ]
    return laid_out(lines)


def received_word(letters: Sequence[str], registers: Sequence[int]) -> str:
    """Return the word that a receiver of :func:`transfer_program` which has ended holds in its registers."""
    values = registers[: registers.index(len(letters) + 1)]
    return "".join(letters[value - 1] for value in values)


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
    agenda = [MoveTrail(None, move) for move in machine.initial()]
    seen = {trail.move.state for trail in agenda}
    for trail in agenda:
        state = trail.move.state
        place = state.threads[RECEIVER]
        if place.point == exit_point and received_word(letters, place.registers) != word:
            return trail.run()
        new = [move for move in machine.reduced(state) if move.state not in seen]
        seen.update(move.state for move in new)
        agenda += [MoveTrail(trail, move) for move in new]
    return None


def _is_subsequence(part: str, whole: str) -> bool:
    rest = iter(whole)
    return all(letter in rest for letter in part)
