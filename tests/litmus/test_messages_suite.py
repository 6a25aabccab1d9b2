"""The programs of litmus/messages: what they expect, what is pinned of them, and how they are written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, get_args

import pytest

from rdma_robust.limits import Limits
from rdma_robust.messages.engines.one_run import by_one_run
from rdma_robust.messages.engines.sat import by_sat
from rdma_robust.messages.language.message_printer import format_messages
from rdma_robust.messages.language.message_program import (
    ALL_BUFFERS,
    BUFFERS,
    Buffer,
    ClaimKind,
    MessageClaim,
    MessageProgram,
)
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import BufferAnswer
from rdma_robust.messages.replay.replaying import confirm_answer
from sitegen.messages_index import FAMILIES, MESSAGES, all_programs, family_programs
from tests.conftest import ROOT, Cli
from tests.litmus.message_goldens import ALL, EXPECTED, RACED, effects, facts, load, read_golden, warnings
from tests.support.shares import share

PROGRAMS: Final = all_programs()
QUICK: Final = [family for family in FAMILIES if family != "long"]
QUESTIONS: Final = ({"holds", "violated"}, {"deadlock", "no deadlock"}, {"race", "no race"}, {"matchings"})
UNDECIDED: Final = {
    "completions/test-until-it-comes": "a loop can go beyond 8 rounds",
    "choices/loop-counts": "a loop can go beyond 8 rounds",
    "choices/loop-idle": "a loop can go beyond 8 rounds",
    "deadlocks/spinning-is-no-deadlock": "a loop can go beyond 8 rounds",
    "faults/length": "an array whose length is known only in the run",
    "modes/eager-race": "a receive that may get a number or an array",
}
"""What `sat` does not decide, and what it says."""

SEES: Final = (
    "what probes see",
    "whether a receive is posted for what is sent `ready`",
    "who has entered a collective operation",
)

Engine = Callable[[MessageProgram, Buffer], BufferAnswer | None]


def met(claim: MessageClaim, answer: BufferAnswer) -> bool | None:
    """Return whether an answer is as claimed; None if the engine did not find out."""
    known = {"yes": True, "no": False, "unknown": None}
    if claim.kind == "matchings":
        found = answer.matchings
        assert found is not None
        return found.count == claim.number if found.exact or found.count > claim.number else None
    if claim.kind in ("race", "no race"):
        truth = True if answer.races else False if answer.pairs is not None and answer.pairs_exact else None
    else:
        truth = known[answer.deadlocked if "deadlock" in claim.kind else answer.violated]
    return truth if truth is None or claim.kind in ("violated", "deadlock", "race") else not truth


def test_there_are_enough_of_every_kind() -> None:
    assert len(PROGRAMS) >= 80
    claims = [claim for path in PROGRAMS for claim in load(path).claims]
    assert {(claim.kind, buffer) for claim in claims for buffer in claim.buffers} == {
        (kind, buffer) for kind in get_args(ClaimKind) for buffer in ALL_BUFFERS
    }
    assert sum(path.read_text(encoding="utf-8").count("\n") > 40 for path in family_programs("long")) >= 10
    assert {path.stem for path in EXPECTED.glob("*.json")} == set(FAMILIES)


def test_programs_whose_answers_differ_between_buffers() -> None:
    """A deadlock only where some are buffered, one that buffers make, and violations that need a buffer."""
    found = {(path.stem, tuple(expects(path, kind))) for path in PROGRAMS for kind in ("deadlock", "violated")}
    assert ("only-any", ("any",)) in found
    assert ("buffers-make-it-worse", ("infinite", "any")) in found
    assert ("figure-1", ("infinite", "any")) in found


def expects(path: Path, kind: ClaimKind) -> list[Buffer]:
    claims = [claim for claim in load(path).claims if claim.kind == kind]
    return [buffer for buffer in BUFFERS if any(buffer in claim.buffers for claim in claims)]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_program_answers_all_questions_once(family: str) -> None:
    for path in family_programs(family):
        program = load(path)
        assert path.read_text(encoding="utf-8").startswith("//"), path
        assert warnings(program) == read_golden(path).get("warnings", []), path
        for buffer in program.buffers:
            kinds = [claim.kind for claim in program.claims if buffer in claim.buffers]
            assert all(sum(kind in of for kind in kinds) == 1 for of in QUESTIONS), (path, buffer, kinds)


@pytest.mark.parametrize("family", [*QUICK, pytest.param("long", marks=pytest.mark.ci)])
def test_states_finds_what_is_expected_and_what_is_pinned(family: str) -> None:
    for path in family_programs(family):
        program, golden = load(path), read_golden(path)
        for buffer in program.buffers:
            answer = by_states(program, buffer, ALL, Limits())
            confirm_answer(program, answer)
            wrong = [claim for claim in program.claims if buffer in claim.buffers and not met(claim, answer)]
            assert not wrong, (path, buffer, wrong, answer.reason)
            assert facts(answer) | {"states": answer.work["states"]} == pinned(golden, buffer), (path, buffer)


def pinned(golden: dict[str, Any], buffer: Buffer) -> dict[str, Any]:
    """Return what is pinned of answers, without what races change."""
    return {name: each for name, each in golden[buffer].items() if name != "effects"}


@pytest.mark.parametrize("family", ["races", *share([family for family in FAMILIES if family != "races"], 20)])
def test_what_races_change_is_what_is_pinned(family: str) -> None:
    for path in family_programs(family):
        for buffer in RACED:
            told = read_golden(path)[buffer].get("effects")
            assert effects(load(path), buffer) == ({} if told is None else {"effects": told}), (path, buffer)


def test_races_that_change_nothing_values_and_more() -> None:
    said = {
        "same-value": "none",
        "sum": "values",
        "sum-forgotten": "none",
        "two-races-compared": "values",
        "last-wins": "failure",
    }
    for stem, effect in said.items():
        found = read_golden(MESSAGES / f"races/{stem}.mp")["zero"]["effects"]
        assert {each.split(": ")[1] for each in found} == {effect}


def named_sources(program: MessageProgram, buffer: Buffer) -> BufferAnswer | None:
    return by_one_run(program, buffer, ALL, Limits())


def sat(program: MessageProgram, buffer: Buffer) -> BufferAnswer | None:
    return by_sat(program, buffer, ALL, Limits())


@pytest.mark.parametrize("family", share(FAMILIES, 20))
@pytest.mark.parametrize("engine", [named_sources, sat])
def test_other_engines_find_what_is_expected_and_what_is_pinned(engine: Engine, family: str) -> None:
    """Or they say why they do not know: for loops without a bound, and for what is not encoded."""
    for path in family_programs(family):
        program, golden = load(path), read_golden(path)
        for buffer in program.buffers:
            answer = engine(program, buffer)
            if answer is None:
                continue
            confirm_answer(program, answer)
            claims = [claim for claim in program.claims if buffer in claim.buffers]
            assert False not in [met(claim, answer) for claim in claims], (path, buffer)
            if answer.reason:
                known = SEES if program.looks else (UNDECIDED[f"{path.parent.name}/{path.stem}"],)
                assert any(each in answer.reason for each in known), path
                continue
            assert all(met(claim, answer) for claim in claims), (path, buffer)
            wanted = {name: each for name, each in pinned(golden, buffer).items() if name != "states"}
            assert facts(answer) == wanted, (path, buffer)


@pytest.mark.parametrize("family", share(FAMILIES, 5))
def test_programs_are_written_in_their_one_layout(family: str) -> None:
    for path in family_programs(family):
        text = path.read_text(encoding="utf-8")
        assert format_messages(text, path.name) == text, path


@pytest.mark.parametrize("family", share(FAMILIES, len(FAMILIES)))
def test_the_command_finds_all_as_expected(family: str, installed: Cli) -> None:
    folder = ROOT / "litmus/messages" / family
    answer = installed("messages", "check", "--expect", "--jobs", "1", str(folder))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    number = len(family_programs(family))
    assert f"{number} as expected, 0 not" in answer.stdout, answer.stdout
