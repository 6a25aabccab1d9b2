"""Certificates that were changed, cut short, or made up: each is rejected with a reason.

The invariants that the search hands out are minimal: no smaller downward-closed set contains every reachable state. So
whatever is taken away from one, it is no invariant any more; that makes these tests exhaustive where they say `every`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from rdma_robust.certify.document import InvalidCertificate, Setting, digest, read_document
from rdma_robust.certify.invariants import check_inductive
from rdma_robust.certify.traces import check_not_robust, trace_evidence
from rdma_robust.counters.program import CounterProgram
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.options import CheckOptions, Instrumentation
from rdma_robust.robustness.paper import instrument_paper
from rdma_robust.robustness.pivot import instrument_pivot
from tests.conftest import NOT_ROBUST, ROBUST, ROOT
from tests.support.certificates import (
    Document,
    at,
    changed,
    check,
    document,
    places,
    rejection,
    robustness,
    without,
    without_state,
)
from tests.support.traces import trace_in_order

POLLING = (ROOT / "litmus/mailbox-loop-polled.rdma").read_text(encoding="utf-8")
POLLED = (ROOT / "litmus/mailbox-polled.rdma").read_text(encoding="utf-8")
PLAIN = (ROOT / "litmus/mailbox-plain.rdma").read_text(encoding="utf-8")

Instrument = Callable[[Program], CounterProgram[Any]]


def made(text: str, options: CheckOptions | None = None) -> Document:
    data = robustness(text, options)
    assert data is not None
    return document(data)


def why_not_inductive(text: str, certificate: Document, instrument: Instrument = instrument_pivot) -> str:
    """The reason for which the evidence of a ROBUST certificate is rejected, without reading the text again and again."""
    try:
        check_inductive(instrument(load_program(text, "input")), certificate["evidence"])
    except InvalidCertificate as error:
        return str(error)
    return ""


# ---- the invariant of ROBUST


@pytest.mark.parametrize("text", [ROBUST, POLLED, POLLING], ids=["calm", "mailbox-polled", "mailbox-loop-polled"])
def test_every_state_is_needed(text: str) -> None:
    certificate = made(text)
    assert check(certificate, text)
    rows = range(certificate["evidence"]["states"])
    for row in rows if len(rows) < 30 else Random(1).sample(rows, 15):
        reason = why_not_inductive(text, without_state(certificate, row))
        assert "not inductive" in reason or "initial state" in reason, row


@pytest.mark.parametrize(
    ("text", "instrumentation", "instrument"),
    [(POLLED, "pivot", instrument_pivot), (POLLING, "pivot", instrument_pivot), (ROBUST, "paper", instrument_paper)],
    ids=["mailbox-polled", "mailbox-loop-polled", "calm by the paper"],
)
def test_every_value_matters(text: str, instrumentation: Instrumentation, instrument: Instrument) -> None:
    certificate = made(text, CheckOptions(instrumentation=instrumentation))
    rng = Random(2)
    for _ in range(20):
        i, row = rng.randrange(len(certificate["evidence"]["control"])), rng.randrange(certificate["evidence"]["states"])
        path = ("evidence", "control", i, "values", row)
        new = at(certificate, path) + rng.choice([1, -1])
        assert why_not_inductive(text, changed(certificate, path, new), instrument), (path, new)


def test_every_limit_matters() -> None:
    """A lower limit, also one instead of omega, makes no invariant."""
    certificate = made(POLLING)
    limits = [
        ("evidence", "counters", i, "limits", row)
        for i, column in enumerate(certificate["evidence"]["counters"])
        for row, limit in enumerate(column["limits"])
        if limit != 0
    ]
    for path in Random(3).sample(limits, 15):
        limit = at(certificate, path)
        reason = why_not_inductive(POLLING, changed(certificate, path, 7 if limit is None else limit - 1))
        assert "not inductive" in reason or "initial state" in reason, path


def test_an_invariant_of_another_program() -> None:
    certificate = made(ROBUST)
    certificate["input"]["sha256"] = made(NOT_ROBUST)["input"]["sha256"]
    assert "does not fit the instrumented program" in rejection(certificate, NOT_ROBUST)


def test_an_empty_set_is_no_invariant() -> None:
    certificate = made(POLLED)
    evidence = certificate["evidence"]
    evidence["states"] = 0
    for column in evidence["control"]:
        column["values"] = []
    for column in evidence["counters"]:
        column["limits"] = []
    assert "initial state" in rejection(certificate, POLLED)


def test_columns_must_fit() -> None:
    certificate = made(POLLED)
    name = certificate["evidence"]["control"][0]["name"]
    reasons = [
        rejection(changed(certificate, ("evidence", "states"), 3), POLLED),
        rejection(without(certificate, ("evidence", "control", 0)), POLLED),
        rejection(changed(certificate, ("evidence", "control", 1, "name"), name), POLLED),
        rejection(changed(certificate, ("evidence", "control", 1, "name"), "nothing"), POLLED),
        rejection(without(certificate, ("evidence", "counters", 0, "limits", 0)), POLLED),
        rejection(changed(certificate, ("evidence", "counters", 0, "limits", 0), -1), POLLED),
        rejection(changed(certificate, ("evidence", "invariant"), "trust me"), POLLED),
    ]
    assert all(reasons)
    assert len(set(reasons)) == len(reasons)


# ---- the trace of NOT ROBUST


def test_every_part_of_the_trace_matters() -> None:
    certificate = made(PLAIN)
    assert check(certificate, PLAIN).claim == "not-robust"
    accepted = []
    program, setting = load_program(PLAIN, "input"), Setting("pivot", False, False)
    for path in places(certificate["evidence"]):
        old = at(certificate["evidence"], path)
        if isinstance(old, dict | list):
            continue
        for new in (None, 0, 1, 2, 7, -3, "initial", "A.v", "B.d", "lW", "nlR", "nonsense", True):
            if type(new) is type(old) and new == old:
                continue
            try:
                check_not_robust(program, setting, changed(certificate["evidence"], path, new))
                accepted.append((path, new))
            except InvalidCertificate:
                pass
    assert not accepted


def test_every_event_matters() -> None:
    for text in (PLAIN, NOT_ROBUST):
        certificate = made(text)
        for i in range(len(certificate["evidence"]["events"])):
            assert rejection(without(certificate, ("evidence", "events", i)), text)


def test_the_trace_must_not_be_sequentially_consistent() -> None:
    program, trace = trace_in_order(PLAIN.split("await")[0] + "}", "Sender:0 Sender:1 Sender:2 Sender:3 Sender:4 Sender:5")
    certificate = made(program.source)
    assert certificate["claim"] == "not-robust"
    certificate["evidence"] = trace_evidence(program, trace)
    assert "sequential consistency allows" in rejection(certificate, program.source)


def test_the_trace_must_be_allowed_by_rdma() -> None:
    text = PLAIN.replace("v = 2", "poll B; v = 2", 1).split("await")[0] + "}"
    program, trace = trace_in_order(text, "Sender:0 Sender:4 Sender:1 Sender:2 Sender:3 Sender:5 Sender:6")
    certificate = made(PLAIN)
    certificate["input"]["sha256"] = made(text)["input"]["sha256"]
    certificate["evidence"] = trace_evidence(program, trace)
    assert "RDMA does not allow" in rejection(certificate, text)


# ---- the document


@pytest.mark.parametrize("text", [ROBUST, NOT_ROBUST])
def test_a_claim_about_another_text(text: str) -> None:
    certificate = made(text)
    assert "SHA-256" in rejection(certificate, text + "\n")
    flipped = changed(certificate, ("claim",), "not-robust" if certificate["claim"] == "robust" else "robust")
    assert rejection(flipped, text)
    assert "claim" in rejection(changed(certificate, ("claim",), "safe"), text)


def test_a_text_that_is_no_program() -> None:
    certificate = made(ROBUST)
    broken = ROBUST.replace("x = 1", "nothing = 1")
    assert check(certificate, ROBUST)
    reason = rejection(changed(certificate, ("input", "sha256"), digest(broken)), broken)
    assert "not well-formed: line 4" in reason


@pytest.mark.parametrize("text", [ROBUST, NOT_ROBUST])
def test_every_member_is_needed_and_none_is_added(text: str) -> None:
    certificate = made(text)
    entries = [path for path in places(certificate) if not isinstance(path[-1], int)]
    for path in entries if len(entries) < 25 else Random(7).sample(entries, 25):
        holder = at(certificate, path[:-1])
        if isinstance(holder, dict) and "mo" not in path[:-1]:
            assert rejection(without(certificate, path), text), path
        value = at(certificate, path)
        if isinstance(value, dict) and path[-1] != "mo":
            assert "unknown member" in rejection(changed(certificate, (*path, "more"), 1), text)
        for new in ({}, [], "text", 1.5, False, 10**40):
            same_kind = (isinstance(value, str) and isinstance(new, str)) or "tool" in path or path == ("input", "file")
            if not same_kind and new != value and path[-1] not in ("await_loops", "ordered_reads"):
                assert rejection(changed(certificate, path, new), text), (path, new)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not JSON"),
        (b"null", "not an object"),
        (b"[1, 2]", "not an object"),
        (b"\xff\xfe", "not UTF-8"),
        (b"{}", "no member 'format'"),
        (b'{"format": 1, "format": 2}', "twice"),
        (b'{"format": NaN}', "no number"),
        (b'{"format": 1.5}', "no integer"),
        (b"1" * 5000, "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"\x1f\x8bnonsense", "not a gzip file"),
    ],
)
def test_what_is_no_certificate(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidCertificate, match=reason):
        read_document(data)


def test_formats_and_versions_are_named() -> None:
    certificate = made(ROBUST)
    for path, new, reason in (
        (("format",), "rdma-robust/check", "its format is"),
        (("version",), 2, "knows version 1"),
        (("version",), True, "knows version 1"),
        (("options",), None, "`options`"),
        (("input", "kind"), "net", "`claim` about a net"),
    ):
        assert reason in rejection(changed(certificate, path, new), ROBUST)


def test_files_that_were_cut_short() -> None:
    data = robustness(POLLED)
    assert data is not None
    packed = gzip.compress(data)
    assert check(packed, POLLED)
    assert "something follows" in rejection(packed + b"x", POLLED)
    rng = Random(5)
    for whole in (data, packed):
        for end in [*(rng.randrange(len(whole)) for _ in range(30)), len(whole) - 3]:
            assert rejection(whole[:end], POLLED)


def test_random_damage_is_rejected_or_harmless() -> None:
    """Whatever a changed byte does, a certificate for the other claim does not come out, and nothing else is raised."""
    rng = Random(6)
    for text in (ROBUST, NOT_ROBUST, POLLED, PLAIN):
        data = robustness(text)
        assert data is not None
        claim = document(data)["claim"]
        for _ in range(30):
            damaged = bytearray(data)
            damaged[rng.randrange(len(damaged))] = rng.choice(b'0123456789"{}[]:,xnull -')
            try:
                proved = check(bytes(damaged), text)
            except InvalidCertificate:
                continue
            assert proved.claim == claim


def test_huge_numbers_are_only_numbers() -> None:
    certificate = made(POLLED)
    reason = rejection(changed(certificate, ("evidence", "states"), 10**4000), POLLED)
    assert "not" in reason
    assert len(reason) < 5000
    assert json.dumps(certificate)
