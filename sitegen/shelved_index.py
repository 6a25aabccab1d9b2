"""The indexes of the folders of the litmus suite whose programs are about one thing: every program with what it is, what it
needs, and its verdict, shelf by shelf."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sitegen.litmus_index import HEADER, LITMUS, description, link
from sitegen.text import cell, table


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of the suite. A shelf is a title, what its programs are about, and a pattern of their names; a program stands
    on the first shelf that fits. `column` is the head of the column before the verdict, and what stands there; `comment` is
    what the first comment of each program says, and `decided` which command decides them, if not the usual one."""

    path: Path
    title: str
    about: str
    shelves: tuple[tuple[str, str, str], ...]
    column: tuple[str, Callable[[Path], str]]
    comment: str = "what it is and where it comes from"
    decided: str = ""

    @property
    def index(self) -> Path:
        return self.path / "README.md"

    def programs(self) -> list[Path]:
        return sorted(self.path.glob("*.rdma"), key=lambda path: path.stem)

    def shelf_of(self, path: Path) -> str:
        """Return the title of the shelf of a program. Raises ValueError if none fits."""
        for title, _, pattern in self.shelves:
            if re.match(pattern, path.stem):
                return title
        raise ValueError(f"{path.name} is on no shelf of {self.path.name}: sitegen/shelved_index.py")

    def text(self) -> str:
        """Return the text of the folder's README.md."""
        header = HEADER.replace("litmus_index", "shelved_index")
        decided = self.decided or f"`rdma-robust litmus/{self.path.name}/*.rdma` decides them."
        told = f"{self.about} The first comment of each says {self.comment}. {decided}"
        parts = [f"# {self.title}\n\n{header}\n\n{len(self.programs())} programs. {told}\n"]
        head = ("program", "what it is", self.column[0], "verdict")
        for title, about, _ in self.shelves:
            found = [p for p in self.programs() if self.shelf_of(p) == title]
            rows = [(link(p.stem), cell(description(p)), self.column[1](p), verdict(p)) for p in found]
            parts.append(f"## {title}\n\n{about[0].upper()}{about[1:]}.\n\n{table(head, rows)}")
        return "\n".join(parts)


def hardware(path: Path) -> str:
    """Return what the program's `hardware` line says, - without one."""
    found = re.search(r"^hardware (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else "-"


def copies(path: Path) -> str:
    """Return how many copies a violation needs in all, as the program expects it, - where there is none."""
    found = re.search(r"^expect not robust when (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return str(sum(map(int, re.findall(r">= (\d+)", found[1])))) if found else "-"


def races(path: Path) -> str:
    """Return whether the program expects a data race, and on which hardware if it says so."""
    found = re.search(r"^expect .*\brace( free)?$", path.read_text(encoding="utf-8"), re.MULTILINE)
    said = "-" if found is None else "race free" if found[1] else "RACE"
    return said if hardware(path) == "-" else f"{said} ({hardware(path)})"


def verdict(path: Path) -> str:
    """Return the verdict that the program expects, as a report prints it."""
    found = re.search(r"^expect (not )?robust(?:, race(?: free)?)?$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return "-" if found is None else "NOT ROBUST" if found[1] else "robust"


DEPLOYED: Final = Folder(
    LITMUS / "deployed",
    "RDMA as deployed",
    "Programs for RDMA as deployed: store buffers, completions, remote atomics, messages, weaker orders.",
    (
        ("Store buffers", "the CPUs of x86 (`cpu tso`)", r"tso-|store-"),
        (
            "Completions",
            "unsignaled, inline and fenced requests, shared completion queues",
            r"(un)?(signaled|fenced)-|inline-|poll|shared-|trypoll|two-buffers|batch|depth-",
        ),
        (
            "Order table",
            "the cells of remote atomics, and those that weaker orders give up",
            r"order-|(multipath|relaxed)-n(rw|aw|ar|lw)-",
        ),
        ("Remote atomics", "what they exclude, and what their answer tells", r"atomics-|put-into|quiet-|fetch-|operands?-"),
        (
            "Protocols with atomics",
            "locks, tickets, barriers, queues, counters",
            r"lock-|sherman|farm-commit|barrier-faa|queue-|refcount|version|election",
        ),
        ("Messages", "sends, receives, writes with immediate", r"send-|rpc-|imm-|barrier-send|farm-lock"),
        (
            "Weaker orders",
            "adaptive routing (`order multipath`) and relaxed ordering (`order relaxed`)",
            r"deepep|nccl|multipath-|acknowledged-|relaxed-|reads-",
        ),
    ),
    ("hardware", hardware),
    comment="what it is and why the answer is what it is, and where it comes from; a `hardware` line says what it runs on",
    decided="`rdma-robust litmus/deployed/*.rdma` decides them, `rdma-robust models litmus/deployed/NAME.rdma` shows one on"
    " all hardware.",
)

CROWDS: Final = Folder(
    LITMUS / "crowds",
    "Any number of clients",
    "Programs with templates `[*]`, decided for every number of copies at once.",
    (
        (
            "Shapes",
            "store buffering, message passing, load buffering, independent reads",
            r"sb-|mp-|iriw-|lb-|two-templates|private-|announce-",
        ),
        ("Locks", "by the CPU's and by the NIC's compare-and-swap, tickets", r"lock-|ticket-"),
        ("Sequence locks", "one writer, any number of readers", r"seqlock-"),
        ("Requests and mailboxes", "slots of a server that clients claim", r"rpc-|mailbox-"),
        ("Publishing", "one publisher, any number of subscribers that poll", r"publish-"),
        ("Queues, counters, elections", "by fetch-and-add and compare-and-swap", r"work-queue|refcount|election|barrier-"),
        ("Numbers", "programs whose smallest number of copies is known", r"needs-|tournament-"),
        ("Accelerators", "memory behind the NIC of one host", r"accelerator-"),
        ("Store buffers", "threads of one machine (`cpu tso`)", r"tso-"),
    ),
    ("copies", copies),
    comment="what it is and why the answer is what it is",
    decided="`rdma-robust litmus/crowds/*.rdma` decides them, `-D C=3` makes it 3 copies of C.",
)

BARRIERS: Final = Folder(
    LITMUS / "barriers",
    "Barriers",
    "Programs in which threads wait for each other by `barrier`.",
    (
        ("What a barrier orders", "and what it does not", r"barrier-(stores|put|source|two|other)"),
        ("Programs", "exchanges, rounds, and a thread that does not come", r"barrier-"),
    ),
    ("hardware", hardware),
    comment="what it is and why the answer is what it is, and where it comes from",
)

LIFETIMES: Final = Folder(
    LITMUS / "lifetimes",
    "Threads that are started and joined",
    "Programs with `start` and `join`: what they order, and that requests in flight are not covered.",
    (
        ("Starting", "what the starter has done comes first", r"start-"),
        ("Joining", "what the CPU of a thread has done comes first", r"join-"),
    ),
    ("hardware", hardware),
)

LANES: Final = Folder(
    LITMUS / "lanes",
    "Several queue pairs to one node",
    "Programs with lanes: data on one queue pair of a thread and a notification on another.",
    (
        ("Data and flag", "a flag behind data, waited for, flushed, on its own lane", r"flag-"),
        ("Fences and polls", "those of one lane say nothing of another", r"get-|buffer-"),
        ("Messages", "each lane has messages and receives of its own", r"message-|striped-|notification-"),
    ),
    ("hardware", hardware),
)

GUARANTEES: Final = Folder(
    LITMUS / "guarantees",
    "What protocols rely on",
    "Small protocols with `needs` lines: the guarantees of a network that are enough for each.",
    (
        ("Notifications", "something behind data tells of it", r"flag-|counter-|ticket-|told-"),
        ("Locks and counters", "data behind a lock, a counter behind another one", r"data-|two-counters|entry-"),
        ("Reads", "a flag or a version is read, and data", r"two-reads|read-|version-"),
    ),
    ("hardware", hardware),
    decided="`rdma-robust needs litmus/guarantees --expect` compares them.",
)

OWN_TABLES: Final = Folder(
    LITMUS / "own-tables",
    "Tables that programs name",
    "Programs with the order table of a file beside them, or of flags of libfabric.",
    (
        ("Data and flag", "a flag behind data", r"flag-"),
        ("Data and counter", "an atomic behind data", r"counter-"),
        ("Data and notification", "a message behind data on another queue pair", r"notification-"),
    ),
    ("hardware", hardware),
    comment="what it is and who says so",
)

RNR: Final = Folder(
    LITMUS / "rnr",
    "Messages that wait for a buffer",
    "Programs under `hardware rnr wait`: a message that finds no buffer waits, and is no fault.",
    (
        ("Receives", "posted when there is something to come", r"exchange|receive-"),
        ("Sources", "used again behind a message that waits", r"source-|told-"),
        ("Several words", "of a message that waits as a whole", r"words-"),
    ),
    ("hardware", hardware),
)

TABLES: Final = Folder(
    LITMUS / "hardware",
    "Hardware as its pages have it",
    "Programs under order tables of vendors and libraries, in pairs that two tables tell apart.",
    (
        ("Data and flag", "a flag, a signal or an unlock behind data", r"flag-|signal-|unlock-|atomic-signal-"),
        (
            "Messages",
            "data and messages, and which buffer one takes",
            r"message-|two-messages-|data-behind-message|immediate-|told-by-|buffers-|stream-",
        ),
        ("Read back and acknowledge", "before somebody else is told", r"read-back|acknowledged"),
        (
            "Locks and counters",
            "atomics, and what is before or behind them",
            r"lock-|two-counters-|counter-|ticket-|data-behind-a-ticket",
        ),
        ("Reads", "what is read together, or before something is written", r"two-reads-|version-|slot-|entry-"),
    ),
    ("hardware", hardware),
    comment="what it is and who says so",
)

WORDS: Final = Folder(
    LITMUS / "words",
    "Messages of several words",
    "Programs that send several words in one message.",
    (
        ("Landing", "in which order the words of a message are there", r"words-(last|multipath)"),
        ("Sources", "when the words of a message may be written again", r"words-(inline|reused)|words$"),
        ("Buffers", "messages and buffers of several lengths", r"words-"),
    ),
    ("hardware", hardware),
)

STANDARDS: Final = Folder(
    LITMUS / "standards",
    "What standards promise",
    "Programs of OpenSHMEM and MPI under `order none`: nothing is promised of two requests of one origin; under "
    "`order accumulate`: only that atomics on one word stay in order.",
    (
        ("Puts", "data, flags and signals", r"nbi-|put-|signal-|source-|read-back|fence-"),
        ("Atomics", "on one word, and with operands in memory", r"two-fetch|atomic-|operands?-"),
        ("Accumulates", "those of MPI, of one origin on one location and on several", r"accumulate"),
    ),
    ("hardware", hardware),
    comment="where it comes from",
)

FLUSHES: Final = Folder(
    LITMUS / "flushes",
    "Flushes and order",
    "Programs with `flush` (shmem_quiet, MPI_Win_flush) and `order` (shmem_fence): what they keep in order, and "
    "what they do not.",
    (
        ("Flushes", "the thread waits until what it has posted has taken effect", r"flush-"),
        ("Order", "remote writes and atomics before it come before those behind it, and nobody waits", r"order-"),
    ),
    ("hardware", hardware),
)

REGIONS: Final = Folder(
    LITMUS / "regions",
    "Relaxed regions",
    "Programs with words in memory regions that are registered with relaxed ordering: what may pass what.",
    (
        ("Payload and flag", "the later of two requests decides", r"bulk-|flag-|counter-"),
        ("Reads that flush", "by the word that is read at the other side", r"flush-"),
        ("Answers and fences", "by the own word, and what a fence pushes out", r"answers-|fence-"),
        ("Messages", "what a receive completion covers", r"immediate-|message-"),
    ),
    ("hardware", hardware),
)

MEMORIES: Final = Folder(
    LITMUS / "memories",
    "Memory behind a NIC",
    "Programs with an accelerator's memory behind the NIC of its host (`node G via H`): what a flag, a completion "
    "and a read that flushes tell of it.",
    (
        ("Data and flag", "two memories are two paths", r"data-|signal-"),
        (
            "Reads that flush",
            "by a NIC, of a word of that memory",
            r"flushed-|read-|one-flush-|two-cards-|flag-|operands?-",
        ),
        ("Completions", "they are the host's", r"immediate-|message-|receive-|get-|completed-|counter-|polled-"),
        ("Forever", "rings of one slot, and rails", r"ring-|rails-"),
    ),
    ("hardware", hardware),
)

RACES: Final = Folder(
    LITMUS / "races",
    "Data races",
    "Programs with and without data races, from protocols and standards (docs/races.md).",
    (
        ("Data and flag", "who has seen the flag reads the data", r"flag-|multipath-|store-|lock-"),
        (
            "Buffers",
            "of requests in flight, and of messages",
            r"source-|buffer-|completions-|ring-|unsignaled-|acknowledged-",
        ),
        ("Barriers", "and what NICs still have to do", r"barrier-"),
        ("What counts as an access", "looks, and swaps that fail", r"look-|failed-"),
        ("Races and robustness", "neither follows from the other", r"two-"),
    ),
    ("races?", races),
    decided="`rdma-robust races litmus/races --expect` decides them.",
)

FOLDERS: Final = (
    DEPLOYED,
    CROWDS,
    LIFETIMES,
    FLUSHES,
    REGIONS,
    MEMORIES,
    STANDARDS,
    BARRIERS,
    LANES,
    RNR,
    TABLES,
    WORDS,
    GUARANTEES,
    OWN_TABLES,
    RACES,
)
