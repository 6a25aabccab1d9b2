"""The programs of litmus/contracts: both engines say what is expected, and the command says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from rdma_robust.contracts.language.contract_program import CLASSES
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.limits import NO_LIMITS
from sitegen.contracts_index import SECTIONS, claims_of, contract_programs
from tests.conftest import Cli
from tests.support.contracts_oracle.interleavings import by_interleavings
from tests.support.shares import share

PROGRAMS: Final = contract_programs()
RIGHT: Final = [path for path in PROGRAMS if SECTIONS[0][2](path.stem)]


ZERO: Final = [path for path in PROGRAMS if claims_of(path, "zero")]


def claims(path: Path, buffer: str = "infinite") -> dict[str, str]:
    """Return what is expected of each function: `verified`, a class, or `violated`."""
    return {
        name: claim.split(" from ")[0].removeprefix("violated ").removesuffix(" any n")
        for name, claim in claims_of(path, buffer).items()
    }


def test_there_is_everything_that_there_should_be() -> None:
    """Every class is expected somewhere; of each program of the thesis there are two variants at least."""
    assert len(RIGHT) >= 21
    assert all(set(claims(path).values()) == {"verified"} for path in RIGHT)
    assert {claim for path in PROGRAMS for claim in claims(path).values()} == {*CLASSES, "verified", "violated"}
    wrong = [
        path.stem for path in PROGRAMS if set(claims(path).values()) != {"verified"} or path.stem == "allreduce_dr-not-told"
    ]
    for path in RIGHT:
        # Figure 10.6 is about the sort.
        variants = [name for name in wrong if name.startswith(f"{path.stem}-")]
        assert len(variants) >= (1 if path.stem.endswith("_w") and path.stem != "gather_w" else 2), path.stem


def decided(cli: Cli, path: Path, *options: str) -> None:
    answer = cli("contracts", "check", "--expect", "--format", "json", *options, str(path))
    report = json.loads(answer.stdout)
    (result,) = report["results"]
    said = {each["name"]: each["verdict"] for each in result["functions"]}
    expected = claims(path, result["buffer"])
    wanted = {name: "VERIFIED" if claim == "verified" else "VIOLATED" for name, claim in expected.items()}
    assert {name: said[name] for name in wanted} == wanted
    assert answer.returncode == 0, answer.stdout + answer.stderr


MOST: Final = {"allreduce_dr-not-told": "1..4"}
"""What goes wrong for every n that is asked for counts if nothing is said of it; with four processes this one is right."""


@pytest.mark.parametrize("path", share(PROGRAMS, 40), ids=lambda path: path.stem)
def test_what_is_expected_is_found(cli: Cli, path: Path) -> None:
    decided(cli, path, "--procs", MOST.get(path.stem, "1..3"))


@pytest.mark.ci
@pytest.mark.parametrize("path", share(ZERO, 2), ids=lambda path: path.stem)
def test_what_is_expected_where_sends_wait(cli: Cli, path: Path) -> None:
    decided(cli, path, "--procs", "1..3", "--buffer", "zero")
    decided(cli, path, "--procs", "1..3", "--buffer", "zero", "--self-check")


EVERY: Final = [path for path in PROGRAMS if any(claim.endswith("any n") for claim in claims_of(path).values())]


@pytest.mark.parametrize("path", share(EVERY, 20), ids=lambda path: path.stem)
def test_what_is_expected_for_every_n_is_proved(cli: Cli, path: Path) -> None:
    names = [name for name, claim in claims_of(path).items() if claim.endswith("any n")]
    done = cli("contracts", "check", "--expect", "--any-n", "--procs", "2", "--only", ",".join(names), str(path))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_other_ways_find_the_same(cli: Cli, path: Path) -> None:
    if path.stem != "endless":
        decided(cli, path, "--procs", MOST.get(path.stem, "1..3"), "--self-check")


@pytest.mark.long
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_oracle_finds_the_same(path: Path) -> None:
    if path.stem == "endless" or path.stem.startswith("loop_"):
        return
    program = load_contracts(path.read_text(encoding="utf-8"), path.name)
    for name, claim in claims(path, "infinite").items():
        procs = range(1, 5 if path.stem in MOST else 4)
        found = {by_interleavings(program, name, each, NO_LIMITS).verdict for each in procs}
        assert ("VIOLATED" in found) == (claim != "verified"), (name, found)
        assert "UNKNOWN" not in found


@pytest.mark.long
@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_programs_are_right_for_more_processes(cli: Cli, path: Path) -> None:
    decided(cli, path, "--procs", "4..5")
