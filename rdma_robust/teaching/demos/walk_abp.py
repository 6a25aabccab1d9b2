"""The walk-through of `demo abp`: sending symbols by puts, three ways, each checked by every run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rdma_robust.errors import UsageError
from rdma_robust.hardness.abp import (
    CHANNEL,
    RECEIVER,
    Transfer,
    TransferResult,
    check_transfer,
    received_word,
    transfer_load,
    words,
    wrong_run,
)
from rdma_robust.language.flow.cfg import Program, Put, Read, Write
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.pipeline import check_program
from rdma_robust.semantics.machines.machine import Move, Verb
from rdma_robust.teaching.demos.walk import Animation, Block, CodeListing, Paragraph, WalkSection, WalkTable, Walkthrough

MOST_WORDS = 100
LONGEST_WORD = 8
SHOWN = 4
NAMES = {Transfer.BARE: "bare", Transfer.TOLD: "as told", Transfer.CHECKED: "with the last check"}


def abp_walk(word: str, letters: str, length: int) -> Walkthrough:
    """Return the walk-through for all words of up to `length` of the `letters`, with programs and runs for `word`.

    Raises UsageError for letters that occur twice or cannot be seen, a word of others, and more than can be checked.
    """
    _validate(word, letters, length)
    chosen = list(dict.fromkeys([*words(letters, length), word]))
    results = {transfer: [check_transfer(w, letters, transfer) for w in chosen] for transfer in Transfer}
    programs = {transfer: transfer_load(word, letters, transfer) for transfer in Transfer}
    return Walkthrough(
        "abp",
        "Sending symbols by puts: bare, and with an alternating bit",
        f"rdma-robust demo abp --word {shlex.quote(word)} --letters {shlex.quote(letters)} --length {length}",
        (
            _problem(),
            _programs(programs, word),
            _tables(results, length),
            _runs(programs, word, letters),
            _why(),
            _try(word, letters, length),
        ),
    )


def _validate(word: str, letters: str, length: int) -> None:
    if not letters or len(set(letters)) < len(letters):
        raise UsageError("--letters must be at least one letter, each once")
    bad = next((c for c in letters if c.isspace() or not c.isprintable()), None)
    if bad is not None:
        raise UsageError(f"{bad!a} in --letters cannot be a letter: it cannot be seen")
    if not word or set(word) - set(letters):
        raise UsageError(f"--word must be a word of the letters {letters}; --letters names others")
    if len(word) > LONGEST_WORD:
        raise UsageError(f"--word may have {LONGEST_WORD} letters: every run of it is checked")
    most = min(length, LONGEST_WORD + 1)
    if most > LONGEST_WORD or sum(len(letters) ** k for k in range(most + 1)) > MOST_WORDS:
        raise UsageError(
            f"--length {length} is too long: every run of each word is checked, and only words of up to {LONGEST_WORD} "
            f"letters, {MOST_WORDS} of them"
        )


def _problem() -> WalkSection:
    return WalkSection(
        "The problem",
        (
            Paragraph(
                "One thread is to send a sequence of symbols to a thread on another node, by puts and local accesses "
                "alone: no poll, no fence, no get. The sender has a read-only variable for each symbol, so it does not "
                "matter when the NIC reads it, and puts of one queue pair reach memory in program order. But "
                "nobody tells the receiver when a put arrives, and any number may arrive between two of its steps. It "
                "can read a symbol twice, or miss one that was overwritten before it looked."
            ),
            Paragraph(
                "If exactly the symbols sent are received, whatever the hardware does, then puts are queues without a "
                "bound. That is what makes reachability undecidable (Theorem 3.1; `rdma-robust demo pcp`)."
            ),
        ),
    )


def _programs(programs: dict[Transfer, Program], word: str) -> WalkSection:
    notes = {
        Transfer.BARE: "The receiver takes whatever symbol it finds, until it finds the end symbol.",
        Transfer.TOLD: "Each symbol is followed by a flag. The protocol as the paper's Section 3 tells it: read the symbol; "
        "reset it; check that the flag is not yet set; wait for the flag; reset it.",
        Transfer.CHECKED: f"One line more in each round: `await {CHANNEL.symbol} == 0` at its end.",
    }
    blocks: list[Block] = []
    for transfer, program in programs.items():
        blocks.append(Paragraph(notes[transfer]))
        title = f"{NAMES[transfer]}: the program that sends {word}"
        blocks.append(CodeListing(title, "rdma", program.source, program.file))
    return WalkSection("Three ways to send", tuple(blocks))


def _tables(results: dict[Transfer, list[TransferResult]], length: int) -> WalkSection:
    summary = [
        (
            NAMES[transfer],
            str(len(checked)),
            f"{sum(c.states for c in checked):,}",
            str(sum(not c.wrong for c in checked)),
            str(sum(c.loses for c in checked)),
            str(sum(c.duplicates for c in checked)),
        )
        for transfer, checked in results.items()
    ]
    chosen = [c.word for c in results[Transfer.BARE]]
    rows = [
        (chosen[k] or "(empty)", *(_received(results[transfer][k]) for transfer in Transfer)) for k in range(len(chosen))
    ]
    head = ("transfer", "words", "states", "always right", "can lose", "can duplicate")
    return WalkSection(
        "Every word, every run",
        (
            Paragraph(
                f"For each word of up to {length} letter{'' if length == 1 else 's'} the RDMA machine is run in every "
                "possible way (of steps whose order cannot matter, in one order). What the receiver has recorded when "
                "it ends is compared with the word. It has room for one letter more than were sent, and runs in which "
                "it reads still more are left out."
            ),
            WalkTable("How many words always arrive unchanged, and what can happen to the others:", head, tuple(summary)),
            WalkTable(
                "What can be received instead of each word, shortest first:",
                ("sent", *(NAMES[transfer] for transfer in Transfer)),
                tuple(rows),
            ),
        ),
    )


def _received(checked: TransferResult) -> str:
    if not checked.wrong:
        return "-"
    shown = ", ".join(each or "(empty)" for each in checked.wrong[:SHOWN])
    more = len(checked.wrong) - SHOWN
    return shown + (f" and {more} more" if more > 0 else "")


def _runs(programs: dict[Transfer, Program], word: str, letters: str) -> WalkSection:
    blocks: list[Block] = []
    for transfer, program in programs.items():
        run = wrong_run(program, word, letters)
        if run is None:
            blocks.append(Paragraph(f"{NAMES[transfer]}: no run of this program ends with anything but {word}."))
            continue
        end = received_word(letters, run[-1].state.threads[RECEIVER].registers)
        title = f"{NAMES[transfer]}: a shortest run that sends {word} and receives {end or 'nothing'}"
        blocks.append(Animation(title, program, run, _notes(run, word, end)))
    if all(check_program(program, CheckOptions()).verdict is Verdict.ROBUST for program in programs.values()):
        blocks.append(
            Paragraph(
                "Nothing here is a matter of reordering: `rdma-robust check` finds all three programs robust, so the "
                "same happens under sequential consistency. There too the sender can put twice between two steps of "
                "the receiver."
            )
        )
    return WalkSection("How it goes wrong", tuple(blocks))


def _notes(run: Sequence[Move], word: str, end: str) -> tuple[str, ...]:
    teller = _Teller([*word, "the end symbol"])
    notes = [teller.note(move) for move in run]
    notes[-1] = f"{notes[-1]} The receiver ends: it was sent {word} and has received {end or 'nothing'}.".lstrip()
    return tuple(notes)


class _Teller:
    """Follows a run of a transfer program and says what its moves mean for the sequence of symbols."""

    def __init__(self, sent: Sequence[str]) -> None:
        self._sent = sent
        self._arrived = self._flags = self._flags_seen = self._flags_reset = 0
        self._read: set[int] = set()

    def note(self, move: Move) -> str:
        """Return what the next move of the run means, empty if nothing."""
        action = move.action
        match action.verb, None if action.step is None else action.step.op:
            case Verb.FLUSH, Put(target, _):
                return self._symbol_arrives() if target.name == CHANNEL.symbol else self._flag_arrives()
            case Verb.ACCESS, Read(cell) if cell.name == CHANNEL.symbol and action.read:
                return self._symbol_read()
            case Verb.ACCESS, Read(cell) if cell.name == CHANNEL.flag and action.read:
                return self._flag_seen()
            case Verb.ACCESS, Write(cell, _) if cell.name == CHANNEL.flag:
                return self._flag_reset()
        return ""

    def _symbol_arrives(self) -> str:
        lost = self._arrived and self._arrived not in self._read
        self._arrived += 1
        over = f", and overwrites symbol {self._arrived - 1}, which was never read" if lost else ""
        return f"Symbol {self._arrived} arrives: {self._sent[self._arrived - 1]}{over}."

    def _flag_arrives(self) -> str:
        self._flags += 1
        return f"Flag {self._flags} arrives."

    def _symbol_read(self) -> str:
        again = " a second time" if self._arrived in self._read else ""
        self._read.add(self._arrived)
        return f"Symbol {self._arrived} is received{again}: {self._sent[self._arrived - 1]}."

    def _flag_seen(self) -> str:
        self._flags_seen = self._flags
        if self._flags == self._flags_reset + 1:
            return f"Flag {self._flags} is seen."
        between = "and" if self._flags == self._flags_reset + 2 else "to"
        return f"Flags {self._flags_reset + 1} {between} {self._flags} have arrived, and look like one."

    def _flag_reset(self) -> str:
        unseen = self._flags > self._flags_seen
        self._flags_reset = self._flags
        return f"This wipes out flag {self._flags} too, which nobody has seen." if unseen else ""


def _why() -> WalkSection:
    return WalkSection(
        "Why the last check is enough",
        (
            Paragraph(
                "Claim: in every run that completes round i, the i-th symbol is received, and at the last check "
                "exactly the first i symbols and the first i flags have arrived, and both words are reset."
            ),
            Paragraph(
                "Round i begins with both words reset. A symbol is read, so at least symbol i has arrived. Then the "
                "flag is found not set, and nobody has reset it since the round began: flag i has not arrived, so "
                "symbol i is the last that has, and it is what was read. Then the flag is found set: flag i has "
                "arrived before it is reset. At last the word for symbols is found empty, though nobody has reset it "
                "since symbol i was read: symbol i + 1 has not arrived, let alone its flag, so the reset has wiped out "
                "flag i and no other."
            ),
            Paragraph(
                "Without the last check flag i + 1 can arrive just before the reset and be wiped out, and symbol i + 2 "
                "after it can overwrite symbol i + 1. Flag i + 2 then passes for the one that was lost. So the "
                "protocol as the paper's text tells it loses symbols; it never duplicates one, because it resets what "
                "it has read."
            ),
            Paragraph(
                "The receiver does not come to its end in every run: where a check fails, it waits forever. That is "
                "no harm. Reachability asks whether some run gets there, and those that do have received every symbol."
            ),
        ),
    )


def _try(word: str, letters: str, length: int) -> WalkSection:
    longer = word + letters[0] if len(word) < LONGEST_WORD else word[:-1]
    mine = f"--word {shlex.quote(word)} --letters {shlex.quote(letters)}"
    target = f"'Receiver ended && Receiver.r{len(word)} == END'"
    commands = [
        f"demo abp --word {shlex.quote(longer)} --letters {shlex.quote(letters)} --length {length}",
        f"demo abp {mine} -o transfers/",
        "check transfers/",
        f"reach transfers/transfer-told.rdma -t {target}",
        f"reach transfers/transfer-checked.rdma -t {target}",
        "explore transfers/transfer-told.rdma",
        "demo pcp --top a,ab,bba --bottom baa,aa,bb",
    ]
    return WalkSection(
        "What to try next",
        (
            Paragraph(
                "`reach` asks whether the receiver can end with one symbol too few. It answers by other means than "
                "this demo."
            ),
            CodeListing("", "console", "".join(f"$ rdma-robust {each}\n" for each in commands)),
        ),
    )
