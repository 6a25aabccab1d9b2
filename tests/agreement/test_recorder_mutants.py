"""Recorded logs of which each rule of the recorder decides one: without the rule another answer comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rdma_robust import check
from rdma_robust.errors import UsageError
from rdma_robust.language.load import load_program
from rdma_robust.record import card_events, joined_threads, recorded_order, recorded_statements, recorded_text
from rdma_robust.record.recorded_program import RecordedProgram

SET_UP = "1 M 0 1000 100 7 @\n 2 Q 256 0 @\n 3 Q 257 0 @\n 4 K 256 257 7 @\n 5 K 257 256 7 @\n"
PUT = SET_UP + "6 W p 1000 8 1 @\n 7 P 256 0 2 1040 0 0 0 1 1000 8 - @\n 8 E 256 @\n"
"""A word is written and put; whoever writes it next without a poll may be seen by the card."""
WRITES = "W p 1000 8 5 @"
POSTS = "P 256 0 2 1040 0 0 0 1 1000 8 - @"


def answer(folder: Path, threads: tuple[str, ...], *, tso: bool = False) -> str:
    """Return what becomes of the logs of threads, each of a process and a number: a verdict, or `refused`."""
    (folder / "region.0").write_bytes(bytes(256))
    for text in threads:
        key, _, lines = text.partition("|")
        (folder / f"log.{key}").write_text("".join(f"{line.strip()}\n" for line in lines.strip().splitlines()))
    try:
        text = recorded_text.recorded_text(folder, "logged")
    except UsageError:
        return "refused"
    found = check(load_program(text, "logged.rdma"), cpu="tso" if tso else None)
    return found.verdict.name


def without(name: str) -> Callable[[Any], None]:
    """Return the mutant that has no edges of a kind."""
    return lambda patch: patch.setattr(recorded_order, name, lambda *_: [])


def drops_lines(starts: str) -> Callable[[Any], None]:
    """Return the mutant that leaves out the statements that begin with a word."""

    def mutate(patch: Any) -> None:
        add = RecordedProgram.add
        patch.setattr(
            RecordedProgram, "add", lambda self, event, text: None if text.startswith(starts) else add(self, event, text)
        )

    return mutate


def flag(name: str) -> Callable[[Any], None]:
    """Return the mutant that does not know a flag of requests."""
    return lambda patch: patch.setattr(recorded_statements, name, 0)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule, what is left out, the logs that notice it, and the answers with the rule and without it."""

    rule: str
    mutate: Callable[[Any], None]
    threads: tuple[str, ...]
    right: str
    wrong: str
    tso: bool = False


def all_ordered(patch: Any) -> None:
    patch.setattr(
        joined_threads,
        "_edges",
        lambda run: {b.number: {a.number} for a, b in zip(run.events, run.events[1:], strict=False)},
    )


def no_turns(patch: Any) -> None:
    joined = joined_threads.with_joined_threads
    patch.setattr(recorded_text, "with_joined_threads", lambda *given: replace(joined(*given), turns=frozenset()))


def none_moved(patch: Any) -> None:
    patch.setattr(joined_threads, "_placed", lambda events, *_: {each.number: each.number for each in events})


def any_order(patch: Any) -> None:
    patch.setattr(card_events, "_refuse_overtaking", lambda *_: None)


def pair(*between: str) -> tuple[str, ...]:
    first, second = between
    return f"1.1|{PUT}{first}", f"1.2|{second}"


SHARED = (
    "1.1|1 M 0 1000 100 7 @\n 2 Q 256 0 @\n 4 Q 258 0 @\n 6 K 256 257 7 @\n 8 K 258 259 7 @\n"
    "12 P 256 2 0 0 0 0 0 0 @\n 13 E 256 @\n 14 P 258 2 0 0 0 0 0 0 @\n 15 E 258 @",
    "2.1|3 Q 257 300 @\n 5 Q 259 300 @\n 7 K 257 256 7 @\n 9 K 259 258 7 @\n"
    "10 V 300 0 @\n 11 V 300 0 @\n 16 C 259 1 0 0 @\n 17 C 257 1 0 0 @",
)
MUTANTS = (
    Mutant("semaphores", without("_semaphores"), pair("9 T 20 0 @", f"10 Y 20 0 @\n 11 {WRITES}"), "NOT_ROBUST", "ROBUST"),
    Mutant(
        "locks", without("_locks"), pair("9 L 20 0 @\n 10 U 20 0 @", f"11 L 20 0 @\n 12 {WRITES}"), "NOT_ROBUST", "ROBUST"
    ),
    Mutant(
        "streams",
        without("_streams"),
        pair("9 > p1 0 @\n 10 + p1 8 @", f"11 < p1 8 @\n 12 {WRITES}"),
        "NOT_ROBUST",
        "ROBUST",
    ),
    Mutant(
        "barriers",
        drops_lines("barrier"),
        pair("9 I 20 2 @\n 10 B 20 0 @", f"11 B 20 0 @\n 12 {WRITES}"),
        "NOT_ROBUST",
        "ROBUST",
    ),
    Mutant("creation", drops_lines("start"), pair("9 c 9 0 @", f"10 b 9 0 @\n 11 {WRITES}"), "NOT_ROBUST", "ROBUST"),
    Mutant(
        "end",
        drops_lines("join"),
        (f"1.1|{SET_UP}6 c 6 0 @\n 20 j 6 0 @\n 21 {WRITES}", f"1.2|7 b 6 0 @\n 8 {POSTS}\n 9 E 256 @\n 10 Z @"),
        "NOT_ROBUST",
        "ROBUST",
    ),
    Mutant("polls", drops_lines("poll"), (f"1.1|{PUT}9 C 256 0 0 0 @\n 10 {WRITES}",), "ROBUST", "NOT_ROBUST"),
    Mutant(
        "reads",
        drops_lines("assume"),
        (
            f"1.1|{SET_UP}9 R v 1048 8 1 @\n 10 {POSTS}\n 11 E 256 @\n 12 R v 1050 8 1 @",
            "1.2|6 W v 1050 8 1 @\n 7 R v 1040 8 0 @\n 8 W v 1048 8 1 @",
        ),
        "ROBUST",
        "NOT_ROBUST",
    ),
    Mutant(
        "inline data",
        flag("INLINE"),
        (f"1.1|{SET_UP}6 W p 1000 8 1 @\n 7 P 256 0 10 1040 0 0 0 1 1000 8 0100000000000000 @\n 8 E 256 @\n 9 {WRITES}",),
        "ROBUST",
        "NOT_ROBUST",
    ),
    Mutant(
        "fenced requests",
        flag("FENCE"),
        (
            f"1.1|{SET_UP}6 P 256 4 2 1080 0 0 0 1 1000 8 - @\n 7 E 256 @\n 8 P 256 0 3 1040 0 0 0 1 1000 8 - @\n 9 E 256 @",
            "1.2|10 R v 1040 8 0 @\n 11 W v 1080 8 3 @",
        ),
        "ROBUST",
        "NOT_ROBUST",
    ),
    Mutant(
        "turns that nothing orders",
        all_ordered,
        pair(WRITES.replace("W", "9 W"), "10 C 256 0 0 0 @\n 11 W p 1080 8 1 @"),
        "refused",
        "NOT_ROBUST",
    ),
    Mutant(
        "fences between turns",
        no_turns,
        (
            f"1.1|{PUT}9 W v 1048 8 1 @\n 10 T 20 0 @",
            f"1.2|11 Y 20 0 @\n 12 R v 1050 8 0 @\n 13 {POSTS}\n 14 E 256 @",
            "1.3|15 W v 1050 8 1 @\n 16 F @\n 17 R v 1048 8 1 @",
        ),
        "ROBUST",
        "NOT_ROBUST",
        tso=True,
    ),
    Mutant(
        "what waits, moved",
        none_moved,
        (
            *pair(f"9 Y 30 0 @\n 12 Y 20 0 @\n 13 {WRITES}", "10 C 256 0 0 0 @\n 11 T 20 0 @"),
            "1.3|-2 W p 1078 8 1 @\n -1 T 30 0 @",
        ),
        "ROBUST",
        "refused",
    ),
    Mutant("shared receives in order", any_order, SHARED, "refused", "ROBUST"),
)


@pytest.mark.ci
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.rule)
def test_each_rule_of_the_recorder_is_noticed(mutant: Mutant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("right", "wrong"):
        (tmp_path / name).mkdir()
    assert answer(tmp_path / "right", mutant.threads, tso=mutant.tso) == mutant.right
    mutant.mutate(monkeypatch)
    assert answer(tmp_path / "wrong", mutant.threads, tso=mutant.tso) == mutant.wrong
