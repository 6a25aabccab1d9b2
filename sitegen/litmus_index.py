"""The index of the litmus suite: shelves of families, and every program once, in the words of its first comment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sitegen.text import cell, table

LITMUS = Path(__file__).parents[1] / "litmus"
INDEX = LITMUS / "README.md"
HEADER = "<!-- Written by `make promote`: edit sitegen/litmus_index.py and the programs, not this page. -->"


@dataclass(frozen=True)
class Shelf:
    """`families` are what the names of its programs begin with, apart by blanks; `first` is the program to read first."""

    title: str
    holds: str
    first: str
    families: str


SHELVES = (
    Shelf(
        "order-table",
        "The cells of the order table: a thread makes two events, another one looks at the later word first. It is "
        "robust iff the hardware keeps the order. `twoqp` are two queue pairs; `polled`, `fenced` and `flushed` say "
        "what stands between the two operations, `short` that it is one poll too few.",
        "order-nrw-cpu",
        "order",
    ),
    Shelf(
        "shapes",
        "The classic shapes of weak memory, with puts and gets for remote stores and loads: store buffering (`sb`), "
        "message passing (`mp`), load buffering (`lb`), the independent readers (`iriw`), coherence (`co..`), and "
        "what a NIC flushes (`nfo`).",
        "sb-put-plain",
        "sb mp lb 2plus2w r s wrc iriw corr corw cowr coww loopback nfo",
    ),
    Shelf(
        "completions",
        "How many polls are enough, and for which queue pair: a word that is sent and then used again, with straight "
        "code, with loops, and with puzzles in which completions count like tokens.",
        "mailbox-plain",
        "mailbox forward polls credit pingpong",
    ),
    Shelf(
        "algorithms",
        "Mutual exclusion, barriers and hand-shakes: algorithms that are right under sequential consistency, spread "
        "over nodes in more than one way. What they promise stands in assertions and `outcome` lines.",
        "peterson-server",
        "dekker peterson bakery kessels lamport szymanski lock lockserver mcs handoff barrier spin",
    ),
    Shelf(
        "protocols",
        "What systems do with RDMA: rings and remote calls, optimistic reads, replication, publishing of pointers, "
        "and the alternating-bit protocol.",
        "rpc-herd",
        "ring rpc queue rendezvous abp versioned seqlock register publish btree mu",
    ),
    Shelf(
        "values",
        "What is read: `&&` and `||` stop as soon as the result is known.",
        "short-circuit-and-read",
        "short",
    ),
    Shelf(
        "scale",
        "Families that grow with a number, for benchmarks and for tests of limits.",
        "scale-ring-n3-plain",
        "scale",
    ),
    Shelf(
        "families",
        "Written once for any number of threads and nodes, `[i in 0..N - 1]`; `rdma-robust scale -D N=2..6` decides each.",
        "family-mail-plain",
        "family",
    ),
)


def litmus_index() -> str:
    """Return the text of litmus/README.md."""
    programs = sorted(LITMUS.glob("*.rdma"), key=lambda path: path.stem)
    robust = sum(is_robust(path) for path in programs)
    head = (
        f"# The litmus suite\n\n{HEADER}\n\n"
        f"{len(programs)} programs, {robust} of them robust. Each says in its first lines what it asks, why the answer is "
        "what it is, and where it comes from; its `expect` line has the verdict, `expected/` what else is checked. "
        "`rdma-robust litmus/*.rdma`, `rdma-robust litmus` and `rdma-robust 'litmus/**'` decide them all.\n\n"
    )
    menu = table(
        ("category", "programs", "read first"),
        ((f"[{s.title}](#{s.title})", str(len(on(s, programs))), link(s.first)) for s in SHELVES),
    )
    return head + menu + "".join(_shelf(shelf, programs) for shelf in SHELVES)


def on(shelf: Shelf, programs: list[Path]) -> list[Path]:
    """Return the programs that stand on the shelf, family by family."""
    return [path for family in shelf.families.split() for path in programs if path.name.partition("-")[0] == family]


def _shelf(shelf: Shelf, programs: list[Path]) -> str:
    rows = (
        (link(path.stem), cell(description(path)), "robust" if is_robust(path) else "NOT ROBUST")
        for path in on(shelf, programs)
    )
    return (
        f"\n## {shelf.title}\n\n{shelf.holds} Read {link(shelf.first)} first.\n\n"
        f"{table(('program', 'what it is', 'verdict'), rows)}"
    )


def link(name: str) -> str:
    return f"[{name}]({name}.rdma)"


def description(path: Path) -> str:
    """Return the first sentence of the comment at the head of a program."""
    text = " ".join(_comment(path))
    found = re.match(r".*?[.?](?= |$)", text)
    return found[0] if found else text


def _comment(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//"):
            return
        yield line.removeprefix("//").strip()


@cache
def goldens(family: str) -> dict[str, dict[str, dict[str, str]]]:
    """Return what the tool answered for each program of a family, as litmus/expected/ keeps it."""
    text = (LITMUS / "expected" / f"{family}.json").read_text(encoding="utf-8")
    read: dict[str, dict[str, dict[str, str]]] = json.loads(text)
    return read


def is_robust(path: Path) -> bool:
    """Return whether the tool answers robust: a line `expect` may say more, or speak of some numbers only."""
    return goldens(path.stem.partition("-")[0])[path.stem]["pivot"]["verdict"] == "robust"
