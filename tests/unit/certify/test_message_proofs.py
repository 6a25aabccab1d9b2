"""Certificates of message programs by proof: nothing false is proved, and a proof that was changed is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from bench.message_programs import figure_8, senders
from rdma_robust import TOOL
from rdma_robust.certify.checker import verify
from rdma_robust.certify.document import InvalidCertificate, read_document
from rdma_robust.certify.messages.proved_formulas import SafeClaim, check_proof, flaw
from rdma_robust.certify.messages.unfolded_terms import TooMuch
from rdma_robust.evidence import of_messages
from rdma_robust.evidence.envelope import write_document
from rdma_robust.evidence.of_message_proofs import proof_of
from rdma_robust.evidence.of_messages import message_certificates
from rdma_robust.evidence.proof_trimming import trimmed
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.sat import by_sat
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, Buffer, MessageProgram
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import MessageQuestions
from tests.conftest import ROOT
from tests.support.named_messages import NAMED
from tests.support.random_messages import random_messages
from tests.support.shares import chunks

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/certificate-v2.json").read_text()))
CLAIMS: tuple[SafeClaim, ...] = ("holds", "deadlock-free")

LOOPS = """
proc Client[i in 1..2] { reg v; send i to Server; recv v from Server; assert v == 10 * i }
daemon proc Server { reg v, s; while 1 { recv v from any s; if v == 1 { send 10 to s } else { send 10 * v to s } } }
"""
TAGS = """
proc P { reg n; loop { n = n + 1; assume n < 3; send n to Q tag n } send 0 to Q tag 9 }
proc Q { reg v, t; while t != 9 { recv v from P tag any t; assert t == 9 || v == t } }
"""
PROGRAMS = {
    "figure 8": figure_8(2), "largest of 4": senders(4, "max"), "sum of 5": senders(5, "sum"), "loops": LOOPS, "tags": TAGS,
}  # fmt: skip


def proved(program: MessageProgram, buffer: Buffer, claim: SafeClaim) -> dict[str, Any] | None:
    """Return what certificates have as evidence, None if there is no proof."""
    try:
        return json.loads(json.dumps(proof_of(program, buffer, claim, 4, Limits.of(60))))  # type: ignore[no-any-return]
    except TooMuch:
        return None


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_written_is_accepted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = load_messages(PROGRAMS[name], "p.mp")
    for buffer in BUFFERS if name == "figure 8" else BUFFERS[1:2]:
        answer = by_sat(program, buffer, MessageQuestions(), Limits())
        monkeypatch.setattr(of_messages, "FEW_STEPS", 0)
        found = message_certificates(program, answer, Limits(), "p.mp")
        assert set(found.certificates) == {"asserts", "deadlock"}
        assert found.certificates["asserts"].evidence["kind"] == "message-proof"
        for certificate in found.certificates.values():
            data = write_document(certificate, TOOL)
            SCHEMA.validate(json.loads(read_plain(data)))
            verify(read_document(data), PROGRAMS[name], "p.mp")


def read_plain(data: bytes) -> bytes:
    import gzip  # noqa: PLC0415

    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def disagreements(program: MessageProgram) -> tuple[list[str], int]:
    """Return which claims have a proof though they are false, and how many proofs were accepted."""
    wrong, count = [], 0
    for buffer in BUFFERS:
        answer = by_states(program, buffer, MessageQuestions(pairs=False), Limits.of(20))
        truths = {"holds": answer.violated, "deadlock-free": answer.deadlocked}
        for claim in CLAIMS:
            if truths[claim] == "unknown":
                continue
            evidence = proved(program, buffer, claim)
            if evidence is not None and truths[claim] == "yes":
                wrong.append(f"{program.name}: {claim} under {buffer}")
            elif evidence is not None:
                check_proof(program, buffer, claim, evidence)
                count += 1
    return wrong, count


@pytest.mark.parametrize("name", NAMED)
def test_named_programs_have_no_false_proof(name: str) -> None:
    assert disagreements(load_messages(NAMED[name].text, name))[0] == []


def test_random_programs_have_no_false_proof() -> None:
    found = [disagreements(random_messages(seed)) for seed in range(12)]
    assert [each for wrong, _ in found for each in wrong] == []
    assert sum(count for _, count in found) > 20


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_many_random_programs_have_no_false_proof(chunk: int) -> None:
    found = [disagreements(random_messages(seed)) for seed in range(1000 + 250 * chunk, 1250 + 250 * chunk)]
    assert [each for wrong, _ in found for each in wrong] == []
    assert sum(count for _, count in found) > 300


Change = Callable[[dict[str, Any]], object]
FORGERIES: dict[str, tuple[Change, str]] = {
    "a circle left out": (lambda e: e["circles"].pop(), "the proof does not refute"),
    "no circles": (lambda e: e["circles"].clear(), "the proof does not refute"),
    "a circle that is none": (lambda e: e["circles"].insert(0, [0, 0, 0]), "circle 0 is none"),
    "a circle of no send": (lambda e: e["circles"].insert(0, [99, 0, 0]), "circle 0 does not name"),
    "a circle of half a match": (lambda e: e["circles"][0].pop(), "circle 0 does not name"),
    "a circle turned round": (lambda e: e["circles"].__setitem__(0, turned(e["circles"][0])), "circle 0 is none"),
    "a lemma left out": (lambda e: e["lemmas"].pop(0), "the proof does not refute"),
    "no lemmas": (lambda e: e["lemmas"].clear(), "the last lemma is not the empty clause"),
    "the end cut off": (lambda e: e["lemmas"].pop(), "the last lemma is not the empty clause"),
    "a lemma without reasons": (lambda e: e["lemmas"].insert(0, [1, 0]), "contradict nothing"),
    "the empty clause first": (lambda e: e["lemmas"].insert(0, [0]), "contradict nothing"),
    "a lemma from itself": (lambda e: e["lemmas"].insert(0, [-1, 0, 10**9]), "comes later or is none"),
    "a lemma from clause -1": (lambda e: e["lemmas"].insert(0, [-1, 0, -1]), "comes later or is none"),
    "a lemma without end": (lambda e: e["lemmas"].insert(0, [1]), "has no 0"),
    "a pair too many": (lambda e: e["dropped"].insert(0, [0, 0, 2]), "pair 0 must not be dropped"),
    "a pair dropped twice": (lambda e: e["dropped"].append(e["dropped"][0]), "must not be dropped"),
    "another reason": (lambda e: e["dropped"][0].__setitem__(2, 5 - e["dropped"][0][2]), "pair 0 must not be dropped"),
    "an unknown reason": (lambda e: e["dropped"][0].__setitem__(2, 7), "pair 0 must not be dropped"),
    "no such pair": (lambda e: e["dropped"][0].__setitem__(0, 99), "pair 0 must not be dropped"),
    "half a pair": (lambda e: e["dropped"][0].pop(), "pair 0 must not be dropped"),
    "a negative bound of loops": (lambda e: e.__setitem__("loop_bound", -1), "is negative"),
    "a member too many": (lambda e: e.__setitem__("engine", "sat"), "unknown member"),
}


def turned(circle: list[int]) -> list[int]:
    """Return a circle the other way round."""
    matches = [circle[at : at + 3] for at in range(0, len(circle), 3)]
    return [number for match in matches[::-1] for number in match] if len(matches) > 2 else [circle[0], circle[4], circle[4]]


@pytest.fixture(scope="module")
def of_figure_8() -> tuple[MessageProgram, dict[str, Any]]:
    program = load_messages(figure_8(3), "figure-8.mp")
    evidence = proved(program, "infinite", "holds")
    assert evidence is not None
    assert evidence["circles"]
    assert evidence["dropped"]
    return program, evidence


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused(name: str, of_figure_8: tuple[MessageProgram, dict[str, Any]]) -> None:
    program, evidence = of_figure_8
    change, reason = FORGERIES[name]
    changed = json.loads(json.dumps(evidence))
    change(changed)
    with pytest.raises(InvalidCertificate, match=reason):
        check_proof(program, "infinite", "holds", changed)


SUMS = """
proc Server { reg a[3]; for i in 0..2 { recv a[i] } assert a[0] + 2 * a[1] - a[2] <= 10; assert a[0] + a[1] + a[2] > 5 }
proc Client[i in 1..4] { send i to Server }
"""
"""At most 3 + 2 * 4 - 1, at least 1 + 2 + 3: of four messages any three arrive, so multipliers of sends are not negative."""

OF_SUMS: dict[str, Change] = {
    "a smaller bound": lambda e: e["sums"][0]["most"]["sends"].__setitem__(0, -5),
    "a sum left out": lambda e: e["sums"].pop(),
    "another assertion": lambda e: e["sums"][0].__setitem__("mark", e["sums"][1]["mark"]),
    "no such assertion": lambda e: e["sums"][0].__setitem__("mark", 99),
    "a number too many": lambda e: e["sums"][1]["least"]["sends"].append(0),
    "a number missing": lambda e: e["sums"][1]["least"]["receives"].pop(),
    "a negative number for a send": lambda e: moved(e["sums"][1]["least"], 9),
    "most for least": lambda e: e["sums"][1].__setitem__("least", e["sums"][1]["most"]),
}


def moved(multipliers: dict[str, list[int]], count: int) -> None:
    """Take so much from each send and add it to each receive: no receive adds more, but one send is left over."""
    multipliers["sends"] = [each - count for each in multipliers["sends"]]
    multipliers["receives"] = [each + count for each in multipliers["receives"]]


@pytest.mark.parametrize("name", OF_SUMS)
def test_sums_are_bounded_by_multipliers(name: str) -> None:
    program = load_messages(SUMS.replace("<= 10", "<= 11"), "p.mp")
    evidence = proved(program, "zero", "holds")
    assert evidence is not None
    assert len(evidence["sums"]) == 2
    check_proof(program, "zero", "holds", evidence)
    OF_SUMS[name](evidence)
    with pytest.raises(InvalidCertificate, match=r"does not (show|refute)"):
        check_proof(program, "zero", "holds", evidence)


@pytest.mark.parametrize("wrong", [("<= 10", "<= 9"), ("> 5", "> 6")])
def test_what_a_sum_can_be_is_not_excluded(wrong: tuple[str, str]) -> None:
    program = load_messages(SUMS.replace(*wrong), "p.mp")
    assert by_states(program, "zero", MessageQuestions(), Limits()).violated == "yes"
    assert proved(program, "zero", "holds") is None


def test_what_is_proved_is_about_this_claim_buffer_bound_and_program() -> None:
    program = load_messages(LOOPS, "p.mp")
    evidence = proved(program, "infinite", "holds")
    assert evidence is not None
    check_proof(program, "infinite", "holds", evidence)
    for claim, buffer in (("deadlock-free", "infinite"), ("holds", "zero")):
        with pytest.raises(InvalidCertificate):
            check_proof(program, buffer, claim, evidence)  # type: ignore[arg-type]
    with pytest.raises(InvalidCertificate):
        check_proof(program, "infinite", "holds", {**evidence, "loop_bound": 1})
    with pytest.raises(InvalidCertificate):
        check_proof(load_messages(LOOPS.replace("10 * v", "11 * v"), "p.mp"), "infinite", "holds", evidence)


def test_a_bound_that_is_passed_is_no_proof() -> None:
    """Two rounds of the server are needed; with one the unfolding has no violation, but a run goes on behind its end."""
    program = load_messages(LOOPS.replace("10 * v", "11 * v"), "p.mp")
    for bound in range(3):
        with pytest.raises(TooMuch, match="does not prove"):
            proof_of(program, "infinite", "holds", bound, Limits.of(60))


def test_proofs_are_checked_step_by_step() -> None:
    clauses = [(1, 2), (-1, 2), (1, -2), (-1, -2)]
    assert flaw(clauses, [((2,), (0, 1)), ((), (4, 2, 3))]) == ""
    assert "more than one literal" in flaw(clauses, [((), (0, 1, 2, 3))])
    assert "contradict nothing" in flaw(clauses, [((3,), ()), ((), (4,))])
    assert "not the empty clause" in flaw(clauses, [])


def test_trimmed_proofs_rest_on_what_is_needed() -> None:
    clauses = [(1, 2), (-1, 2), (1, -2), (-1, -2), (5, 6)]
    lemmas = trimmed(clauses, [(5, 6, 7), (2,), (1,)], lambda: None)
    assert flaw(clauses, lemmas) == ""
    assert all(5 not in lemma for lemma, _ in lemmas)


def test_arrays_that_are_sent_are_left_to_states() -> None:
    text = "proc P { reg a[2]; send a to Q } proc Q { reg b; recv b; assert b[0] == 0 }"
    program = load_messages(text, "p.mp")
    with pytest.raises(TooMuch, match="arrays are sent"):
        proof_of(program, "zero", "holds", 8, Limits())
    answer = replace(by_states(program, "zero", MessageQuestions(), Limits()), engine="sat")
    found = message_certificates(program, answer, Limits(), "p.mp")
    assert {each.evidence["kind"] for each in found.certificates.values()} == {"message-states"}
