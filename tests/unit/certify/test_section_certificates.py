"""Certificates of programs with locked sections of several locations: valid as written, rejected where one is torn."""

from __future__ import annotations

import copy
from typing import Final

import pytest

from rdma_robust.errors import InternalError
from rdma_robust.evidence.produce import checkers_evidence
from rdma_robust.language.load import load_program
from rdma_robust.limits import NO_LIMITS
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from tests.agreement.test_sections import NAMED, NOT_ROBUST, mutants, randoms
from tests.support.certificates import Document, check, document, rejection, robustness
from tests.support.trencher_machine import robust
from tests.unit.certify.test_round_trip import SCHEMA

TSO: Final = CheckOptions(hardware=Model(cpu="tso"))
LOOPING: Final = NAMED["torn-pair-fenced"].replace("transition 4 5", "transition 4 0") + "\n"


def written(text: str, name: str = "program.rdma") -> Document:
    """The certificate of a program as JSON; programs of Trencher are known by how they begin."""
    data = robustness(text, TSO)
    assert data is not None, name
    return document(data)


@pytest.mark.parametrize("name", NAMED)
def test_named_programs_have_certificates(name: str) -> None:
    made = written(NAMED[name])
    SCHEMA.validate(made)
    assert check(made, NAMED[name]).claim == ("not-robust" if name in NOT_ROBUST else "robust")


def _agree(seeds: range) -> None:
    for text in [*randoms(seeds), *mutants(seeds)]:
        assert check(written(text), text).claim == ("robust" if robust(text) else "not-robust"), text


def test_random_programs_have_certificates() -> None:
    _agree(range(8))


@pytest.mark.long
def test_more_random_programs_have_certificates() -> None:
    _agree(range(2000, 2600))


def test_a_section_is_not_torn() -> None:
    """Without `joined`, in another order, or with another value, the events are none of the program's."""
    made, text = written(NAMED["torn-pair"]), NAMED["torn-pair"]
    events = made["evidence"]["events"]
    (number,) = [i for i, event in enumerate(events) if "joined" in event]
    apart = copy.deepcopy(made)
    del apart["evidence"]["events"][number]["joined"]
    assert "cannot make event 0" in rejection(apart, text)
    other = copy.deepcopy(made)
    other["evidence"]["events"][number]["joined"] = False
    assert rejection(other, text) == f"`evidence.events`[{number}].joined is not true"
    first = copy.deepcopy(made)
    first["evidence"]["events"][number - 1]["joined"] = True
    assert "belongs to nothing before it" in rejection(first, text)
    for member, value in (("written", 5), ("read", 5), ("line", 1)):
        changed = copy.deepcopy(made)
        changed["evidence"]["events"][number][member] = value
        assert rejection(changed, text)


def test_the_rules_of_the_checker_find_what_a_section_violates() -> None:
    for name in sorted(NOT_ROBUST):
        with pytest.raises(InternalError, match="the checker's rules find a violation"):
            checkers_evidence(load_program(NAMED[name], "program.trencher"), Model(cpu="tso"), 8, NO_LIMITS)


def test_a_robust_program_with_loops() -> None:
    made = written(LOOPING)
    assert check(made, LOOPING).claim == "robust"
    rows = made["evidence"]["states"]
    less = copy.deepcopy(made)
    less["evidence"]["states"] = rows[: len(rows) // 2]
    assert "not inductive" in rejection(less, LOOPING)
