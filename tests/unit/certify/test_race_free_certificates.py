"""Certificates of race-free programs that were changed: each is refused, or proves the claim all the same.

Of a set of states here every one is reached by the checker's own rules, so what is taken away from it is missed.
"""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rdma_robust.certify.checker import verify
from rdma_robust.certify.document import PROGRAM, Certificate, InvalidCertificate, content_digest
from rdma_robust.certify.hardware import USUAL, Platform
from rdma_robust.certify.race_invariants import check_race_free
from rdma_robust.errors import SizeLimitError
from rdma_robust.evidence.of_races import race_free_evidence
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from tests.conftest import ROOT
from tests.support.certificates import at, changed, places

RING = (ROOT / "litmus/races/ring-of-credits.rdma").read_text(encoding="utf-8")
UNSIGNALED = (ROOT / "litmus/races/unsignaled-polled-of-standard.rdma").read_text(encoding="utf-8")
POSTED = (ROOT / "litmus/races/buffer-read-first.rdma").read_text(encoding="utf-8")
MULTIPATH = (ROOT / "litmus/races/multipath-acknowledged.rdma").read_text(encoding="utf-8")
CASES = [(UNSIGNALED, Platform(order="none")), (POSTED, USUAL), (MULTIPATH, Platform(order="multipath"))]
SCHEMA = Draft202012Validator(
    {
        "$defs": json.loads((ROOT / "rdma_robust/schema/certificate-v2.json").read_text())["$defs"],
        "$ref": "#/$defs/marked_states",
    }
)
GATHERING = """\
node A { a }
node B { b }
thread T on A {
  loop { put B.b = a }
  poll B
}
"""


def evidence_of(text: str, platform: Platform = USUAL) -> dict[str, Any]:
    made = race_free_evidence(load_program(text, "given.rdma"), platform, 8, Limits())
    found: dict[str, Any] = json.loads(json.dumps(made))
    return found


def refusal(text: str, platform: Platform, evidence: object) -> str:
    try:
        check_race_free(load_program(text, "given.rdma"), platform, evidence)
    except InvalidCertificate as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize(("text", "platform"), CASES)
def test_every_state_is_needed(text: str, platform: Platform) -> None:
    evidence = evidence_of(text, platform)
    SCHEMA.validate(evidence)
    assert refusal(text, platform, evidence) == ""
    for row in range(len(evidence["states"])):
        less = {**evidence, "states": evidence["states"][:row] + evidence["states"][row + 1 :]}
        said = refusal(text, platform, less)
        assert "leads out of it" in said or "the initial state is not in" in said, row


@pytest.mark.parametrize(("text", "platform"), CASES)
def test_every_entry_matters(text: str, platform: Platform) -> None:
    """Numbers one more or less, truths the other way round, names of others, and lists without their first element."""
    evidence = evidence_of(text, platform)
    rng = Random(1)
    paths = [path for path in places(evidence) if path[0] in ("states", "marks", "mail", "threads")]
    for path in rng.sample(paths, min(50, len(paths))):
        match at(evidence, path):
            case bool(value):
                new: object = not value
            case int(value):
                new = value + rng.choice((-1, 1))
            case str(value):
                new = f"{value}x"
            case list([_, *rest]):
                new = rest
            case _:
                continue
        assert refusal(text, platform, changed(evidence, path, new)), path


@pytest.mark.parametrize("member", ["covered", "events", "words"])
def test_marks_that_are_left_out_are_missed(member: str) -> None:
    less = deepcopy(evidence_of(RING))
    known = [marks for marks in less["marks"] if marks.pop(member, None)]
    assert known and refusal(RING, USUAL, less)


def test_of_other_hardware_it_proves_nothing() -> None:
    evidence = evidence_of(RING)
    assert refusal(RING, Platform(order="none"), evidence)
    claim = Certificate(PROGRAM, None, content_digest(RING), {"kind": "race-free"}, _options("none"), evidence)
    with pytest.raises(InvalidCertificate, match="the invariant "):
        verify(claim, RING, "ring.rdma")
    assert verify(replace(claim, options=_options("default")), RING, "ring.rdma").claim == "race-free"


def _options(order: str) -> dict[str, object]:
    model = {"network": "rdma", "cpu": "sc", "atomics": "hca", "order": order, "ordered_reads": False}
    return {"model": model, "await_loops": False}


def test_nothing_is_proved_of_any_number_of_threads() -> None:
    text = "node A { a }\nthread T[*] on A { a = 1 }\n"
    claim = Certificate(
        PROGRAM, None, content_digest(text), {"kind": "race-free"}, _options("default"), {"kind": "marked-states"}
    )
    with pytest.raises(InvalidCertificate, match="races are asked of numbers"):
        verify(claim, text, "any.rdma")


def test_completions_that_gather_without_bound_have_none() -> None:
    with pytest.raises(SizeLimitError, match="gather without bound"):
        race_free_evidence(load_program(GATHERING, "given.rdma"), USUAL, 8, Limits())
