"""Certificates of safety: true ones are accepted for every model and engine, forged ones are refused and counted."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rdma_robust import TOOL
from rdma_robust.analyses.prove.prove import decide_safety
from rdma_robust.analyses.prove.safety_outcome import Safety
from rdma_robust.analyses.prove.transition_system import EngineName
from rdma_robust.certify.checker import verify
from rdma_robust.certify.document import InvalidCertificate, read_document
from rdma_robust.certify.safety import implications
from rdma_robust.certify.safety.models import reduced_program
from rdma_robust.certify.safety.thread_steps import Variables
from rdma_robust.evidence.envelope import write_document
from rdma_robust.evidence.of_safety import evidence_of, run_moves, safety_certificate
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from tests.conftest import ROOT
from tests.support.safety_certificates import MODELS, all_but_bad, evidence_for, random_claimed, refusal, weakened

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/certificate-v2.json").read_text()))

TICKET = """
node M { next = 0, serving = 0, data = 0 }
thread T0 on M { reg t, d
  loop { t = faa(next, 1); await serving == t; cs: d = data; assert d == t; data = d + 1; FENCE serving = t + 1 } }
thread T1 on M { reg t, d
  loop { t = faa(next, 1); await serving == t; cs: d = data; assert d == t; data = d + 1; FENCE serving = t + 1 } }
invariant !(T0 at cs && T1 at cs)
"""

DEKKER = """
node M { x = 0, y = 0 }
thread T0 on M { reg r; x = 1; FENCE r = y; assume r == 0; cs: skip }
thread T1 on M { reg r; y = 1; FENCE r = x; assume r == 0; cs: skip }
invariant !(T0 at cs && T1 at cs)
"""

SENT = """
node A { x = 0 }
node B { y = 0, seen = 0 }
thread T on A { reg r; loop { r = x; x = r + 1; put B.y = x; FLUSH } }
thread U on B { reg s; loop { s = y; seen = s } }
invariant B.y <= A.x
invariant B.seen <= B.y
"""

COUNTED = """
node A { got = 0 }
node B { y = 0 }
thread T on A { reg r, s; loop { get got = faa(B.y, 1); FLUSH r = got; assert r == s; s = s + 1 } }
invariant A.got <= B.y
"""

DRAWN = """
node M { x = 0, y = 0 }
thread T on M { reg r, s; loop { r = nondet(0, 9); s = nondet(); x = r + r; FENCE y = s } }
invariant M.x >= 0 && M.x <= 18
"""

PIPED = """
node A { x = 1, z = 0 }
node B { y = 0, w = 5 }
thread T on A { reg r; get z = B.w; rfence B; put B.y = x; POLL x = 9; get z = B.y; poll B; poll B; r = z; assert r == 1 }
"""

SAFE: list[tuple[str, str, AnyModelName]] = [
    *(("ticket", TICKET.replace("FENCE", "mfence;"), model) for model in ("sc", "tso", "pso")),
    ("ticket unfenced", TICKET.replace("FENCE", ""), "tso"),
    *(("dekker", DEKKER.replace("FENCE", "mfence;"), model) for model in ("sc", "tso", "pso")),
    *(("sent", SENT.replace("FLUSH", "flush B").replace("invariant B.seen <= B.y", ""), model) for model in ("sc", "rma")),
    *(("sent flushed", SENT.replace("FLUSH", "flush B"), model) for model in ("rma", "rdma")),
    ("piped", PIPED.replace("POLL", "poll B; poll B;").replace("poll B; poll B; r", "poll B; r"), "rdma"),
    ("counted", COUNTED.replace("FLUSH", "flush B;"), "rma"),
    *(("drawn", DRAWN.replace("FENCE", "mfence;"), model) for model in ("sc", "pso")),
]

UNSAFE: list[tuple[str, str, AnyModelName, str]] = [
    ("ticket", TICKET.replace("FENCE", ""), "pso", TICKET.replace("FENCE", "mfence;")),
    ("dekker", DEKKER.replace("FENCE", "mfence;", 1).replace("FENCE", ""), "tso", DEKKER.replace("FENCE", "mfence;")),
    ("sent", SENT.replace("FLUSH", ""), "rma", SENT.replace("FLUSH", "flush B")),
    ("counted", COUNTED.replace("FLUSH", ""), "rma", COUNTED.replace("FLUSH", "flush B;")),
    (
        "piped",
        PIPED.replace("POLL", ""),
        "rdma",
        PIPED.replace("POLL", "poll B; poll B;").replace("poll B; poll B; r", "poll B; r"),
    ),
]


def loaded(text: str) -> Program:
    return load_program(text, "program.rdma")


@pytest.mark.parametrize(("name", "text", "model"), SAFE, ids=[f"{name} {model}" for name, _, model in SAFE])
def test_what_is_proven_has_a_certificate(name: str, text: str, model: AnyModelName) -> None:
    outcome = decide_safety(loaded(text), model, Limits.of(20.0))
    assert outcome.safety is Safety.SAFE, (name, outcome.reason)
    made = safety_certificate(outcome, "program.rdma")
    assert made is not None
    data = write_document(made, TOOL)
    SCHEMA.validate(json.loads(data))
    proved = verify(read_document(data), text, "program.rdma")
    assert (proved.claim, proved.model) == ("safe", model)
    assert proved.by.startswith("an inductive invariant of ")


@pytest.mark.parametrize(("name", "text", "model", "safe"), UNSAFE, ids=[f"{name} {model}" for name, _, model, _ in UNSAFE])
def test_a_program_with_a_fence_less_is_refused_the_invariant_of_the_safe_one(
    name: str, text: str, model: AnyModelName, safe: str
) -> None:
    program = loaded(text)
    assert decide_safety(program, model, Limits.of(20.0)).safety is Safety.UNSAFE, name
    evidence = evidence_for(loaded(safe), model)
    assert evidence is not None
    assert refusal(loaded(safe), model, evidence) == ""
    assert refusal(program, model, evidence) != ""
    for lazy in (True, False):
        assert refusal(program, model, evidence | {"lazy": lazy}) != ""


@pytest.mark.ci
def test_changed_evidence_is_refused() -> None:
    """All of it, but for a condition that the others imply, and a bound that is never reached."""
    refused: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    for name, text, model in SAFE:
        if name in ("sent", "drawn"):
            continue
        program = loaded(text)
        evidence = evidence_for(program, model)
        assert evidence is not None
        for sort, forged in weakened(evidence, Random(7), 2):
            (refused if refusal(program, model, forged) else accepted)[sort] += 1
    always = {"a state left out", "a program point changed", "a value changed", "what is in flight changed"}
    assert accepted.keys() <= {"a condition added", "the bound changed"}, accepted
    assert all(refused[sort] >= 6 for sort in (*always, "a region left out", "a condition tightened")), refused
    assert refused["a condition added"] >= 3
    assert refused["the bound changed"] >= 3
    assert sum(refused.values()) >= 80


def run_evidence(text: str, model: AnyModelName) -> dict[str, Any]:
    outcome = decide_safety(loaded(text), model, Limits.of(20.0))
    assert outcome.run is not None
    made = safety_certificate(outcome, "program.rdma")
    assert made is not None
    whole = json.loads(write_document(made, TOOL))
    SCHEMA.validate(whole)
    found: dict[str, Any] = whole["evidence"]
    return found


@pytest.mark.parametrize(("name", "text", "model", "safe"), UNSAFE, ids=[f"{name} {model}" for name, _, model, _ in UNSAFE])
def test_a_run_proves_what_is_unsafe_and_nothing_else(name: str, text: str, model: AnyModelName, safe: str) -> None:
    """With a move left out, twice, or changed it is mostly no run; whatever it is, the safe program has none like it."""
    program = loaded(text)
    evidence = run_evidence(text, model)
    assert refusal(program, model, evidence, "unsafe") == "", name
    assert refusal(loaded(safe), model, evidence, "unsafe") != ""
    assert refusal(program, "sc", evidence, "unsafe") != ""
    moves = evidence["moves"]
    refused = []
    for i, move in enumerate(moves):
        others = [{"does": does} for does in ("step", "read", "write", "store") if does != move["does"]]
        steps = [] if move["step"] is None else [{"step": move["step"] + 1}]
        for changed in (*others, *steps):
            forged = {"kind": evidence["kind"], "moves": [*moves[:i], move | changed, *moves[i + 1 :]]}
            refused.append(refusal(program, model, forged, "unsafe") != "")
            assert refusal(loaded(safe), model, forged, "unsafe") != ""
    assert sum(refused) >= 0.95 * len(refused)
    for forged in (moves[:-1], [*moves, moves[-1]], []):
        assert refusal(program, model, {"kind": evidence["kind"], "moves": forged}, "unsafe") != ""


def test_what_a_nondet_draws_must_be_in_its_range() -> None:
    text = """
node M { x = 0 }
thread T on M { reg r; r = nondet(0, 100); x = r }
outcome M.x == 70 : forbidden under sc
"""
    evidence = run_evidence(text, "sc")
    assert [move["value"] for move in evidence["moves"]] == [70, None]
    assert refusal(loaded(text), "sc", evidence, "unsafe") == ""
    narrower = loaded(text.replace("100", "60"))
    assert "not possible" in refusal(narrower, "sc", evidence, "unsafe")
    evidence["moves"][0]["value"] = None
    assert "not possible" in refusal(loaded(text), "sc", evidence, "unsafe")


def agree(seeds: range) -> Counter[str]:
    """On random programs: whatever is proven has a certificate; nothing proves what is not so."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        for model in MODELS:
            program = random_claimed(seed, model)
            outcome = decide_safety(program, model, Limits.of(20.0, states=20_000))
            if outcome.safety is Safety.SAFE:
                for lazy in (True, False):
                    evidence = evidence_for(program, model, lazy=lazy)
                    assert evidence is not None
                    assert refusal(program, model, evidence) == "", (seed, model, lazy)
                    seen["accepted"] += 1
            elif outcome.run is not None:
                run = run_moves(program, outcome.run)
                assert refusal(program, model, run, "unsafe") == "", (seed, model)
                seen["runs"] += 1
                bound = {"sc": 1, "rma": seed % 3}.get(model, 8)
                for lazy in (True, False):
                    system = reduced_program(Variables(program, frozenset(), {}), model, bound, lazy=lazy)
                    forged = json.loads(json.dumps(evidence_of(system, all_but_bad(system))))
                    assert refusal(program, model, forged) != "", (seed, model, lazy)
                    seen["refused"] += 1
    return seen


def test_random_programs_agree() -> None:
    seen = agree(range(8))
    assert seen["accepted"] >= 20
    assert seen["refused"] >= 10
    assert seen["runs"] >= 5


@pytest.mark.long
def test_many_random_programs_agree() -> None:
    seen = agree(range(100, 400))
    assert seen["accepted"] >= 500
    assert seen["refused"] >= 300


def test_what_the_envelope_says_is_checked() -> None:
    text = DEKKER.replace("FENCE", "mfence;")
    outcome = decide_safety(loaded(text), "sc", Limits.of(20.0))
    made = safety_certificate(outcome, "program.rdma")
    assert made is not None
    whole = json.loads(write_document(made, TOOL))
    reasons = []
    for change in (
        {"options": {"model": "tso"}},
        {"options": {"model": "power"}},
        {"options": {}},
        {"claim": {"kind": "unsafe"}},
        {"claim": {"kind": "robust"}},
        {"evidence": {"kind": "nothing-forbidden"}},
        {"input": whole["input"] | {"sha256": "0" * 64}},
    ):
        with pytest.raises(InvalidCertificate) as caught:
            verify(read_document(json.dumps(whole | change).encode()), text, "program.rdma")
        reasons.append(str(caught.value))
    assert len(set(reasons)) == len(reasons)
    assert "forbids something" in reasons[5]
    weaker = text.replace("invariant !(T0 at cs && T1 at cs)", "invariant !(T0 at cs)")
    with pytest.raises(InvalidCertificate, match="not about this text"):
        verify(read_document(json.dumps(whole).encode()), weaker, "program.rdma")


def test_a_program_that_forbids_nothing_says_so() -> None:
    text = DEKKER.replace("FENCE", "").replace("invariant !(T0 at cs && T1 at cs)", "")
    made = safety_certificate(decide_safety(loaded(text), "tso"), None)
    assert made is not None
    data = write_document(made, TOOL)
    SCHEMA.validate(json.loads(data))
    assert verify(read_document(data), text, "x").by == "the program forbids nothing"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"wide": ["M.none"]}, "no register or location 'M.none'"),
        ({"threads": []}, "not about the threads"),
        ({"words": ["M.y", "M.x"]}, "does not name the locations"),
        ({"memory": [[0]]}, "has 1 numbers, not 2"),
        ({"conditions": [["<", 1]]}, "operator '<' with 1 arguments"),
        ({"conditions": ["$0"]}, "there is no wide variable '$0'"),
        ({"regions": [[3]]}, "names number 3 of 0"),
        ({"states": [[1, 2]]}, "not an array of 4"),
        ({"states": []}, "the initial state is not in the set"),
        ({"bound": -1}, "negative"),
        ({"lazy": 1}, "not true or false"),
        ({"more": 1}, "unknown member"),
    ],
)
def test_evidence_is_read_without_trust(change: dict[str, object], why: str) -> None:
    program = loaded(DEKKER.replace("FENCE", "mfence;"))
    evidence = evidence_for(program, "tso")
    assert evidence is not None
    assert why in refusal(program, "tso", evidence | change)


PLAIN_TICKET = """
node M { next = 0, serving = 0 }
thread T0 on M { reg t; loop { t = faa(next, 1); await serving == t; cs: skip; serving = t + 1 } }
thread T1 on M { reg t; loop { t = faa(next, 1); await serving == t; cs: skip; serving = t + 1 } }
invariant !(T0 at cs && T1 at cs)
"""

SUM = """
node M { a = 0, b = 0, sum = 0 }
thread T on M { reg x, y
  loop { choose { x = x + 1 } or { y = y + 1 }; a = x; b = y; sum = x + y } }
invariant T.x + T.y >= M.sum
"""


@pytest.mark.parametrize(
    ("text", "model", "engine"),
    [
        (PLAIN_TICKET, "sc", "predicates"),
        (PLAIN_TICKET, "sc", "spacer"),
        (SUM, "sc", "predicates"),
        (SUM, "sc", "spacer"),
    ],
    ids=["ticket predicates", "ticket spacer", "sum predicates", "sum spacer"],
)
def test_every_engine_leaves_certificates(text: str, model: AnyModelName, engine: EngineName) -> None:
    outcome = decide_safety(loaded(text), model, Limits.of(20.0), engine=engine)
    assert (outcome.safety, outcome.engine) == (Safety.SAFE, engine)
    made = safety_certificate(outcome, None)
    assert made is not None
    assert "checked with " in verify(made, text, "program.rdma").by


def test_what_z3_decides_is_refused_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = safety_certificate(decide_safety(loaded(SUM), "sc", Limits.of(20.0), engine="predicates"), None)
    assert made is not None
    assert "checked with z3 " in verify(made, SUM, "program.rdma").by
    monkeypatch.setattr(implications, "z3_version", lambda: None)
    with pytest.raises(InvalidCertificate, match=r"z3.*is not installed here: pip install z3-solver"):
        verify(made, SUM, "program.rdma")
