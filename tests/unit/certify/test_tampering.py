"""Certificates that were changed, cut short, or made up: each is rejected with a reason.

Of the invariants here every state is reached by the checker's own rules. So whatever is taken away from one, it is no
invariant any more; that makes these tests exhaustive where they say `every`.
"""

from __future__ import annotations

import gzip
import json
from random import Random

import pytest

from rdma_robust.certify.document import InvalidCertificate, content_digest, read_document
from rdma_robust.certify.hardware import USUAL
from rdma_robust.certify.violations import check_not_robust
from rdma_robust.evidence.of_traces import trace_evidence
from rdma_robust.language.load import load_program
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


def made(text: str) -> Document:
    data = robustness(text)
    assert data is not None
    return document(data)


def weakened(reason: str) -> bool:
    return "not inductive" in reason or "initial state" in reason


# ---- the invariant of ROBUST


@pytest.mark.parametrize("text", [ROBUST, POLLED, POLLING], ids=["calm", "mailbox-polled", "mailbox-loop-polled"])
def test_every_state_is_needed(text: str) -> None:
    certificate = made(text)
    assert check(certificate, text)
    rows = range(len(certificate["evidence"]["states"]))
    for row in rows if len(rows) < 30 else Random(1).sample(rows, 15):
        assert weakened(rejection(without_state(certificate, row), text)), row


@pytest.mark.parametrize("text", [POLLED, POLLING], ids=["mailbox-polled", "mailbox-loop-polled"])
def test_every_number_matters(text: str) -> None:
    """Where threads are, what cells hold, which marks there are: each in its list, and by its number."""
    certificate = made(text)
    rng = Random(2)
    paths = [path for path in places(certificate["evidence"]) if type(at(certificate["evidence"], path)) is int]
    for path in rng.sample(paths, 40):
        here = ("evidence", *path)
        # A higher limit is no weaker proof of the same: only lower ones must be noticed.
        new = at(certificate, here) + (-1 if path[0] == "states" and path[2] == 3 else rng.choice([1, -1]))
        assert rejection(changed(certificate, here, new), text), (path, new)


def test_every_limit_matters() -> None:
    """A lower limit, also one instead of omega, makes no invariant."""
    certificate = made(POLLING)
    limits = [
        ("evidence", "states", row, 3, i)
        for row, state in enumerate(certificate["evidence"]["states"])
        for i, limit in enumerate(state[3])
        if limit != 0
    ]
    for path in Random(3).sample(limits, 15):
        limit = at(certificate, path)
        assert weakened(rejection(changed(certificate, path, 7 if limit is None else limit - 1), POLLING)), path


def test_every_mark_matters() -> None:
    """What is remembered since the first event of beta: more of it, less of it, and another pivot."""
    certificate = made(POLLED)
    for i, marks in enumerate(certificate["evidence"]["marks"]):
        here = ("evidence", "marks", i)
        for member in ("read_in_beta", "written_in_beta", "poisoned", "cpu_in_beta", "forced_polls", "beta"):
            listed = marks[member]
            if listed:
                assert rejection(changed(certificate, (*here, member), listed[1:]), POLLED), (i, member)
        assert rejection(changed(certificate, (*here, "closed"), not marks["closed"]), POLLED), i
        other = "read" if marks["pivot"]["access"] == "write" else "write"
        assert rejection(changed(certificate, (*here, "pivot", "access"), other), POLLED), i


def test_a_class_of_pivots_cannot_be_left_out() -> None:
    certificate = made(POLLED)
    evidence = certificate["evidence"]
    pivots = {json.dumps(marks["pivot"]) for marks in evidence["marks"]}
    assert len(pivots) > 2
    for pivot in pivots:
        gone = {i for i, marks in enumerate(evidence["marks"]) if json.dumps(marks["pivot"]) == pivot}
        states = [state for state in evidence["states"] if state[2] not in gone]
        reason = rejection(changed(certificate, ("evidence", "states"), states), POLLED)
        assert "as the first event of beta leads out of it" in reason, pivot


def test_an_invariant_of_another_program() -> None:
    certificate = made(ROBUST)
    certificate["input"]["sha256"] = made(NOT_ROBUST)["input"]["sha256"]
    assert "not inductive" in rejection(certificate, NOT_ROBUST)
    renamed = ROBUST.replace("T1", "T3")
    certificate["input"]["sha256"] = content_digest(renamed)
    assert "not about the threads of the program" in rejection(certificate, renamed)
    moved = ROBUST.replace("x }", "z }").replace("x = 1", "z = 1").replace("A.x", "A.z")
    certificate["input"]["sha256"] = content_digest(moved)
    assert "the program has no 'A.x'" in rejection(certificate, moved)


def test_an_empty_set_is_no_invariant() -> None:
    certificate = changed(made(POLLED), ("evidence", "states"), [])
    assert "initial state" in rejection(certificate, POLLED)


def test_what_an_invariant_leaves_out_must_be_so() -> None:
    """A cell that is not listed is never written; completions that are not counted allow every poll."""
    certificate = made(POLLED)
    evidence = certificate["evidence"]
    for i, cell in enumerate(evidence["cells"]):
        less = without(certificate, ("evidence", "cells", i))
        less["evidence"]["states"] = [[at_, [*v[:i], *v[i + 1 :]], m, c] for at_, v, m, c in evidence["states"]]
        reason = rejection(less, POLLED)
        assert f"says nothing of {cell}" in reason or "is not among" in reason
    assert len(evidence["counted"]) == 1
    blind = changed(certificate, ("evidence", "counted"), [])
    blind["evidence"]["states"] = [[*state[:3], []] for state in evidence["states"]]
    assert "not inductive" in rejection(blind, POLLED)


DECIDED = """node A { x, y, z }
node B { b }
thread T on A { reg r = 1; x = 0; if r == 1 { put B.b = x; poll B } else { put B.b = x }; x = 2; z = 1 }
thread S on A { reg s; s = x }
"""


def test_an_open_register_takes_both_ways() -> None:
    """A register left open may have any value: here it decides whether the put is polled before its source is written."""
    certificate = made(DECIDED)
    assert check(certificate, DECIDED)
    thread = certificate["evidence"]["threads"][0]
    assert thread["registers"] == ["r"]
    known = [i for i, local in enumerate(thread["states"]) if local[3] is not None]
    assert known
    for i in known:
        assert weakened(rejection(changed(certificate, ("evidence", "threads", 0, "states", i, 3), None), DECIDED)), i


def test_states_must_fit() -> None:
    certificate = made(POLLED)
    threads = ("evidence", "threads")
    name = certificate["evidence"]["threads"][0]["thread"]
    reasons = [
        rejection(without(certificate, ("evidence", "states", 0, 3)), POLLED),
        rejection(without(certificate, (*threads, 0)), POLLED),
        rejection(changed(certificate, (*threads, 1, "thread"), name), POLLED),
        rejection(changed(certificate, (*threads, 1, "registers"), ["nothing"]), POLLED),
        rejection(changed(certificate, (*threads, 0, "states", 0), [0]), POLLED),
        rejection(changed(certificate, (*threads, 0, "states", 0, 0), None), POLLED),
        rejection(changed(certificate, (*threads, 0, "states", 0, 1), 999), POLLED),
        rejection(changed(certificate, ("evidence", "states", 0, 3, 0), -1), POLLED),
        rejection(changed(certificate, ("evidence", "states", 1, 0, 0), 10**6), POLLED),
        rejection(changed(certificate, ("evidence", "states", 2, 2), 10**6), POLLED),
        rejection(changed(certificate, ("evidence", "cells", 0), "A.nothing"), POLLED),
        rejection(changed(certificate, ("evidence", "counted", 0, "remote"), "Nowhere"), POLLED),
        rejection(changed(certificate, ("evidence", "kind"), "trust me"), POLLED),
        rejection(changed(certificate, ("evidence", "kind"), "trace"), POLLED),
    ]
    assert all(reasons)
    assert len(set(reasons)) > len(reasons) - 3, reasons


# ---- the trace of NOT ROBUST


def test_every_part_of_the_trace_matters() -> None:
    certificate = made(PLAIN)
    assert check(certificate, PLAIN).claim == "not-robust"
    accepted = []
    program = load_program(PLAIN, "input")
    for path in places(certificate["evidence"]):
        old = at(certificate["evidence"], path)
        if isinstance(old, dict | list) or path == ("kind",):
            continue
        for new in (None, 0, 1, 2, 7, -3, "initial", "A.v", "B.d", "lW", "nlR", "nonsense", True):
            if type(new) is type(old) and new == old:
                continue
            try:
                check_not_robust(program, USUAL, changed(certificate["evidence"], path, new))
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
    assert certificate["claim"] == {"kind": "not-robust"}
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
    claim = certificate["claim"]["kind"]
    flipped = changed(certificate, ("claim", "kind"), "not-robust" if claim == "robust" else "robust")
    assert "evidence.kind" in rejection(flipped, text)
    assert "claim" in rejection(changed(certificate, ("claim", "kind"), "harmless"), text)
    assert "options" in rejection(changed(certificate, ("claim", "kind"), "safe"), text)


def test_a_text_that_is_no_program() -> None:
    certificate = made(ROBUST)
    broken = ROBUST.replace("x = 1", "nothing = 1")
    assert check(certificate, ROBUST)
    reason = rejection(changed(certificate, ("input", "sha256"), content_digest(broken)), broken)
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
        (("version",), 1, "its version is 1, and this tool knows version 2; make it anew"),
        (("version",), 3, "its version is 3, and this tool knows version 2"),
        (("version",), True, "knows version 2"),
        (("options",), None, "`options`"),
        (("options", "model", "network"), "none", "`options.model.network`"),
        (("options", "model", "cpu"), "pso", "`options.model.cpu`"),
        (("input", "kind"), "spec", "`options`"),
        (("input", "kind"), "c", "`input.kind`"),
        (("input", "kind"), "flow-graphs", "a program that is no text"),
        (("claim", "kind"), "harmless", "`claim.kind`"),
        (("claim", "kind"), "safe", "`options`"),
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
        claim = document(data)["claim"]["kind"]
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
