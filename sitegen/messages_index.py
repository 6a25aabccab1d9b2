"""The index of litmus/messages: every program with what it is and what it expects under each buffer semantics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import Buffer, MessageClaim
from sitegen.litmus_index import HEADER, LITMUS, description
from sitegen.text import cell, table

MESSAGES: Final = LITMUS / "messages"
MESSAGES_INDEX: Final = MESSAGES / "README.md"

ABOUT: Final = (
    "Programs that pass messages. The first comment of each says what it is and why the answer is what it is; its "
    "`expect` lines have the answers, `expected/` has what else is compared. Where answers differ, they are those with "
    "rendezvous, with unbounded buffers, with a runtime that may or may not buffer, and with an eager limit if the program "
    "names one: zero / infinite / any / eager."
)

FAMILIES: Final = {
    "paper": (
        "Proving MCAPI executions",
        "The figures and benchmarks of the paper by Huang, Mercer and McCarthy, as it has them and with changes.",
    ),
    "order": (
        "What is in order",
        "Messages of one sender and receives of one endpoint keep their order where both are accepted: traps with tags, "
        "named sources and ports.",
    ),
    "buffers": (
        "What buffers change",
        "Programs whose answers depend on when a send completes, among them deadlocks of a runtime that buffers some.",
    ),
    "modes": (
        "Modes of sends and eager limits",
        "Sends that only a match completes, sends that are buffered, and runtimes that buffer what is small.",
    ),
    "probes": (
        "Looking for messages",
        "`probe`, `iprobe`, `mprobe`, `improbe`: what they see, what they do not, and what they promise.",
    ),
    "deadlocks": ("Deadlocks", "Every kind of waiting forever, and what looks like it."),
    "races": ("Races", "Receives that may take one of several messages: harmless ones and others."),
    "collectives": (
        "Collectives",
        "Barriers, broadcasts, reductions, gathers and scatters: together, in different orders, and forgotten.",
    ),
    "groups": (
        "Collective operations of groups",
        "`collective` and `icollective`: for whom a member waits, what it gets, and calls that do not belong together.",
    ),
    "completions": (
        "One of several requests",
        "`wait any`, `wait some`, `test` and its forms: what may be complete, and what is seen of it; and `abort`.",
    ),
    "requests": ("Requests", "When values are read and stored, and what happens to requests that are used again."),
    "leaks": ("Leaks", "Messages and receives that are left over when all processes have ended."),
    "faults": ("Faults", "Divisions, indices, ranks, tags and kinds that have no meaning."),
    "daemons": ("Servers", "Processes that may wait forever: servers, locks, buffers."),
    "choices": ("Choices and loops", "`choose`, `loop`, `while` and `assume` around messages."),
    "values": ("Values and functions", "Arrays as messages, globals, functions, arithmetic."),
    "verbs": ("Two-sided verbs", "Queue pairs, shared receive queues, receivers that are not ready, credits."),
    "mbi": (
        "MPI bugs",
        "The classes of mistakes that the MPI Bugs Initiative sorts its programs by, each rebuilt as a small program.",
    ),
    "long": ("Longer programs", "Elections, routers, queues, pipelines, exchanges, tokens, commits: 30 to 60 lines each."),
}
"""The folders of litmus/messages: the title of each and what its programs are about."""


def family_programs(family: str) -> list[Path]:
    """Return the programs of a folder."""
    return sorted((MESSAGES / family).glob("*.mp"), key=lambda path: path.stem)


def all_programs() -> list[Path]:
    """Return all programs that pass messages, folder by folder."""
    return [path for family in FAMILIES for path in family_programs(family)]


def messages_index() -> str:
    """Return the text of litmus/messages/README.md."""
    header = HEADER.replace("litmus_index", "messages_index")
    parts = [f"# Message passing\n\n{header}\n\n{len(all_programs())} programs. {ABOUT}\n"]
    return "\n".join([*parts, *(_family(family) for family in FAMILIES)])


def _family(family: str) -> str:
    title, about = FAMILIES[family]
    head = ("program", "what it is", "asserts", "deadlock", "race", "matchings")
    programs = family_programs(family)
    rows = [(f"[{path.stem}]({family}/{path.name})", cell(description(path)), *expected(path)) for path in programs]
    return f"## {title}\n\n{about}\n\n{table(head, rows)}"


def expected(path: Path) -> Iterator[str]:
    """Yield what a program expects of its asserts, of deadlocks, races and matchings; - where it says nothing."""
    program = load_messages(path.read_text(encoding="utf-8"), path.name)
    claims = program.claims
    for kinds in (("holds", "violated"), ("no deadlock", "deadlock"), ("no race", "race"), ("matchings",)):
        answers = [_answer(claims, kinds, each) for each in program.buffers]
        yield answers[0] if len(set(answers)) == 1 else " / ".join(answers)


def _answer(claims: tuple[MessageClaim, ...], kinds: tuple[str, ...], buffer: Buffer) -> str:
    for claim in claims:
        if claim.kind in kinds and buffer in claim.buffers:
            words = {"matchings": str(claim.number), "no deadlock": "no", "deadlock": "yes", "no race": "no", "race": "yes"}
            return words.get(claim.kind, claim.kind)
    return "-"
