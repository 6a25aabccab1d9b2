"""Certificates about message programs: what is claimed is proved, and nothing else is accepted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rdma_robust import TOOL
from rdma_robust.certify.checker import verify
from rdma_robust.certify.document import Certificate, InvalidCertificate, read_document
from rdma_robust.certify.messages.proven_claims import check_message_claim
from rdma_robust.evidence.envelope import write_document
from rdma_robust.evidence.of_messages import message_certificates
from rdma_robust.limits import Limits
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, Buffer
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import MessageQuestions
from tests.conftest import ROOT
from tests.support.random_messages import TASTES, random_messages
from tests.support.shares import chunks

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/certificate-v2.json").read_text()))

RACE = """
proc Server {
  reg v, w
  recv v from any
  recv w from any
  assert v + w == 3
}
proc Client[i in 1..2] { send i to Server }
"""
WRONG = RACE.replace("v + w == 3", "v == 1")
HEAD_ON = """
proc P { reg v; send 1 to Q; recv v from Q }
proc Q { reg v; send 2 to P; recv v from P }
"""
ASKED = """
proc Client { reg v; send 1 to Server; recv v from Server; assert v == 2 }
daemon proc Server { reg v; while 1 { recv v from any; send v + 1 to Client } }
"""
CHOOSING = """
proc P { choose { send 1 to Q } or { send 2 to Q on other } }
proc Q { reg v; req h, k; h = irecv v; k = irecv v on other; choose { wait h } or { wait k } }
port other
"""
PROGRAMS = {"race": RACE, "wrong": WRONG, "head-on": HEAD_ON, "asked": ASKED, "choosing": CHOOSING}


def made(text: str, buffer: Buffer) -> dict[str, Certificate]:
    program = load_messages(text, "p.mp")
    answer = by_states(program, buffer, MessageQuestions(), Limits())
    found = message_certificates(program, answer, Limits(), "p.mp")
    assert not found.complaints
    assert set(found.certificates) == {"asserts", "deadlock"}
    return found.certificates


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_written_is_accepted(name: str, buffer: Buffer) -> None:
    for certificate in made(PROGRAMS[name], buffer).values():
        data = write_document(certificate, TOOL)
        SCHEMA.validate(json.loads(data))
        proved = verify(read_document(data), PROGRAMS[name], "p.mp")
        assert (proved.claim, proved.model) == (certificate.claim["kind"], buffer)


def test_claims_are_those_of_the_answer() -> None:
    kinds = {
        (name, buffer): [made(PROGRAMS[name], buffer)[word].claim["kind"] for word in ("asserts", "deadlock")]
        for name in ("race", "wrong", "head-on")
        for buffer in BUFFERS
    }
    assert kinds["race", "any"] == ["holds", "deadlock-free"]
    assert kinds["wrong", "zero"] == ["violated", "deadlock-free"]
    assert kinds["head-on", "infinite"] == ["holds", "deadlock-free"]
    assert kinds["head-on", "any"] == kinds["head-on", "zero"] == ["holds", "deadlocks"]


Change = Callable[[dict[str, Any]], object]
FORGERIES: dict[str, tuple[str, Buffer, str, Change]] = {
    "a state left out": ("race", "any", "asserts", lambda e: e["states"].pop()),
    "no states": ("race", "zero", "deadlock", lambda e: e["states"].clear()),
    "another state instead": ("race", "zero", "deadlock", lambda e: e["states"].__setitem__(0, ["World", ["list"]])),
    "a state that breaks the rules": (
        "race",
        "zero",
        "deadlock",
        lambda e: e["states"].append(["World", ["list"], ["list", 1], ["list", 2]]),
    ),
    "no state at all": ("race", "zero", "deadlock", lambda e: e["states"].append(["set", 1])),
    "an unknown record": ("race", "zero", "deadlock", lambda e: e["states"].append(["Worlds", 1])),
    "a record with too much": ("race", "zero", "deadlock", lambda e: e["states"].append(["At", 1, 2, 3, 4, 5])),
    "a run cut short": ("wrong", "zero", "asserts", lambda e: e["moves"].pop()),
    "a run with a move too many": ("wrong", "zero", "asserts", lambda e: e["moves"].insert(0, {"step": 9})),
    "a match that is none": ("wrong", "zero", "asserts", lambda e: e["moves"].insert(0, {"match": [0, 0, 1, 0]})),
    "a match of three numbers": ("wrong", "zero", "asserts", lambda e: e["moves"].append({"match": [0, 0, 1]})),
    "a buffer where there is none": ("head-on", "zero", "deadlock", lambda e: e["moves"].append({"buffer": 0})),
    "a deadlock that goes on": ("head-on", "zero", "deadlock", lambda e: e["moves"].pop()),
    "a negative process": ("head-on", "zero", "deadlock", lambda e: e["moves"].append({"step": -1})),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused(name: str) -> None:
    program, buffer, word, change = FORGERIES[name]
    certificate = made(PROGRAMS[program], buffer)[word]
    evidence = json.loads(json.dumps(certificate.evidence))
    change(evidence)
    with pytest.raises(InvalidCertificate):
        verify(replace(certificate, evidence=evidence), PROGRAMS[program], "p.mp")


SWAPS: list[tuple[str, Buffer, str, str]] = [
    ("wrong", "any", "deadlock", "holds"),
    ("head-on", "any", "asserts", "deadlock-free"),
    ("wrong", "any", "asserts", "deadlocks"),
    ("head-on", "any", "deadlock", "violated"),
]


@pytest.mark.parametrize(("name", "buffer", "word", "claim"), SWAPS)
def test_the_proof_of_one_claim_is_none_of_another(name: str, buffer: Buffer, word: str, claim: str) -> None:
    certificate = replace(made(PROGRAMS[name], buffer)[word], claim={"kind": claim})
    with pytest.raises(InvalidCertificate):
        verify(certificate, PROGRAMS[name], "p.mp")


def test_more_buffers_need_more_states() -> None:
    certificate = made(HEAD_ON, "infinite")["deadlock"]
    with pytest.raises(InvalidCertificate):
        verify(replace(certificate, options={"buffer": "any"}), HEAD_ON, "p.mp")
    with pytest.raises(InvalidCertificate):
        verify(certificate, HEAD_ON.replace("2", "3"), "p.mp")


@pytest.mark.parametrize("text", ["proc P { reg x; while 1 { x = 1 - x } }"])
def test_endless_computations_get_none(text: str) -> None:
    program = load_messages(text, "p.mp")
    found = message_certificates(program, by_states(program, "any", MessageQuestions(), Limits()), Limits(), None)
    assert not found.certificates
    assert found.complaints


def certified(seeds: range) -> int:
    """Make and verify certificates of random programs; return how many."""
    count = 0
    for seed in seeds:
        for taste in TASTES:
            program = replace(random_messages(seed, taste), source="")
            for buffer in BUFFERS:
                answer = by_states(program, buffer, MessageQuestions(pairs=False), Limits.of(10, 2000))
                found = message_certificates(program, answer, Limits.of(20), None)
                for certificate in found.certificates.values():
                    count += 1
                    check(program, certificate)
    return count


def check(program: Any, certificate: Certificate) -> None:
    data = read_document(write_document(certificate, TOOL))
    check_message_claim(program, data.options["buffer"], str(data.claim["kind"]), data.evidence)  # type: ignore[arg-type]


def test_random_programs_are_certified() -> None:
    assert certified(range(2)) > 10


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_long_random_programs_are_certified(chunk: int) -> None:
    assert certified(range(100 + 20 * chunk, 120 + 20 * chunk)) > 100
