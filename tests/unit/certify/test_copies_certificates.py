"""Certificates for any number of copies: made by the checker's own search, and checked against the program."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from rdma_robust.certify.checker import COPIES_CHECKS, PROGRAM_CHECKS
from rdma_robust.certify.copies_places import PARTS, SOME_COPY, marks_apart, marks_together, released_marks
from rdma_robust.certify.document import GZIP
from rdma_robust.certify.hardware import EventKind
from rdma_robust.certify.remembered import BESIDE, Marks, PivotAccesses, Trail, WriteGroup
from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.evidence.of_copies import copies_evidence
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.model import RDMA
from tests.support.certificates import changed, document
from tests.support.copies_certificates import by_own_search, certificate_of, checked, first_bad, refusal
from tests.support.copies_programs import EXAMPLES, Example
from tests.support.random_deployed import model_of
from tests.support.shares import share
from tests.unit.certify.test_round_trip import SCHEMA

LARGE = {
    *("lock", "lock, not flushed", "guard", "IRIW, polled", "IRIW, polled, order none", "4 copies", "store buffers, fenced"),
    *("a relay of own words", "a copy that reads the pivot", "a store that another one overwrites"),
}
"""Programs that take more than a quarter of a second."""

LARGEST = {"IRIW, polled", "IRIW, polled, order none", "a copy that reads the pivot"}
"""Programs that take several seconds: these are left to `make test-long`."""

MARKS = {name: [pytest.mark.long if name in LARGEST else pytest.mark.ci] for name in LARGE}
CASES = [
    *share(name for name in EXAMPLES if name not in MARKS),
    *(pytest.param(name, marks=MARKS[name]) for name in EXAMPLES if name in MARKS),
]


@pytest.mark.parametrize("name", CASES)
def test_named_programs(name: str) -> None:
    """The verdict for any number, the fewest copies with which it is another one, and a certificate of either."""
    example = EXAMPLES[name]
    program, model = example.program, model_of(example.program)
    outcome, found = first_bad(program, model, min(example.least or 3, 4))
    assert by_own_search(program, model, NO_LIMITS) == found == ("robust" if example.least is None else "not-robust")
    if example.least is not None:
        assert outcome is not None and outcome.copies is not None
        assert sum(number for _, number in outcome.copies.numbers) == example.least
    data = certificate_of(program, model, outcome)
    if not data.startswith(GZIP):
        SCHEMA.validate(document(data))
    proved = checked(data, program)
    assert proved.claim == found
    assert "copies of" in proved.by or "copy of" in proved.by
    assert certificate_of(program, model, outcome) == data


def test_evidence_about_one_of_each_thread_proves_nothing() -> None:
    program = EXAMPLES["puts"].program
    certificate = document(certificate_of(program, RDMA))
    for claim, table in PROGRAM_CHECKS.items():
        for kind in table:
            other = changed(changed(certificate, ("claim", "kind"), claim), ("evidence", "kind"), kind)
            assert f"not one of {', '.join(COPIES_CHECKS[claim])}" in refusal(json.dumps(other).encode(), program)
    assert not {kind for each in PROGRAM_CHECKS.values() for kind in each} & {
        kind for each in COPIES_CHECKS.values() for kind in each
    }


def test_where_the_rules_find_a_violation_there_is_no_certificate() -> None:
    with pytest.raises(InternalError, match="the checker's rules find a violation"):
        copies_evidence(EXAMPLES["2 copies"].program, RDMA, 8, NO_LIMITS)
    with pytest.raises(SizeLimitError, match="limit of states after 3 markings"):
        copies_evidence(EXAMPLES["guard"].program, RDMA, 8, Limits(states=2))


LOOPING = """node S { x }
node CN[*] { one = 1, got }
thread C[*] on CN[*] { loop { put S.x = one; choose { poll S } or { skip } } }
thread T on S { reg r; loop { r = x } }
"""


def test_completions_without_bound_are_any_number() -> None:
    program = Example(LOOPING, None).program
    data = certificate_of(program, RDMA)
    assert None in [limit for copy in document(data)["evidence"]["copies"] for limit in copy[3]]
    assert checked(data, program).claim == "robust"


# ---- what a copy is known by

MINE, OTHERS = Cell("CN[2]", "mine"), Cell("S", "x")
FULL = Marks(
    PivotAccesses(0, OTHERS, True),
    beta=frozenset({((3, "S"), EventKind.PUT_WRITES), ((0, "B"), EventKind.FENCE)}),
    cpu=frozenset({3, 0}),
    forced=frozenset({(3, "S"), (0, "B")}),
    overtaken=frozenset({(3, "S"), (0, "B")}),
    read=frozenset({MINE, OTHERS}),
    written=frozenset({MINE, OTHERS}),
    poisoned=frozenset({MINE, OTHERS}),
    poison_carried=frozenset({3, 0}),
    poison_taken=frozenset({3, 0}),
    tainted_threads=frozenset({3, 0}),
    tainted_reads=frozenset({MINE, OTHERS}),
    tainted_writes=frozenset({MINE, OTHERS}),
    stores=frozenset({3, 0}),
    forwarding=frozenset({(OTHERS, 3), (MINE, 3)}),
    atomics=frozenset({MINE, OTHERS}),
    awaited=frozenset({(3, "S"), (0, "B")}),
    settled=frozenset({((3, "S"), WriteGroup("G")), ((0, "B"), BESIDE)}),
    on_words=frozenset({((3, "S"), MINE), ((0, "B"), OTHERS)}),
    under_way=frozenset({((3, "S"), EventKind.PUT_READS), ((0, "B"), EventKind.GET_READS)}),
    behind=frozenset({((3, "S"), EventKind.PUT_WRITES, "G"), ((0, "B"), EventKind.FENCE, "G")}),
    trails=frozenset(
        {
            (("issued", "G"), Trail(frozenset({0, 3}), read=frozenset({OTHERS}), tells=frozenset({(0, "B")}))),
            (("read", "G"), Trail(written=frozenset({OTHERS}), writes=frozenset({((0, "B"), EventKind.PUT_WRITES)}))),
        }
    ),
)


def test_every_set_of_marks_has_a_share_of_a_copy() -> None:
    common, share = marks_apart(FULL, 3, frozenset({MINE}))
    of_all = {"pivot", "closed", "alpha_value", "half", "split"}
    assert {field.name for field in fields(Marks)} - set(PARTS) == of_all
    assert all(len(part) == (2 if name == "forwarding" else 1) for name, part in zip(PARTS, share, strict=True))
    assert common.forwarding == {(OTHERS, SOME_COPY)}
    assert marks_together(common, share) == FULL
    assert dict(common.trails)["issued", "G"].threads == {0}
    assert released_marks(common, share).forwarding == frozenset()


def test_a_pivot_is_on_a_word_that_its_thread_knows() -> None:
    """Of a thread that there is one of, no pivot is on a word that each copy has for itself."""
    text = "node S { x }\nnode CN[*] { g }\nthread C[*] on CN[*] { get g = S.x }\nthread T on S { x = 1 }\n"
    program = Example(text, None).program
    certificate = document(certificate_of(program, RDMA))
    named = [i for i, marks in enumerate(certificate["evidence"]["marks"]) if marks["pivot"]["thread"] == "T"]
    assert named
    for i in named:
        forged = changed(certificate, ("evidence", "marks", i, "pivot", "cell"), "CN.g")
        assert "the pivot is on a location that its thread does not know" in refusal(json.dumps(forged).encode(), program)
