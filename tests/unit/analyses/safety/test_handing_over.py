"""`verify` gives to `prove` what it cannot answer, and says so."""

from __future__ import annotations

import pytest

from rdma_robust import Status, verify
from rdma_robust.analyses.prove.path_replay import shows
from rdma_robust.analyses.prove.transition_system import safety_claims
from rdma_robust.analyses.safety.handing_over import verify_all
from rdma_robust.analyses.safety.questions import Answer, Argument
from rdma_robust.analyses.safety.verify import Checked, Verified
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import rdma

TICKET = """node A { next, serving }
thread T1 on A { reg t; loop { t = faa(next, 1); await serving == t; cs: skip; serving = t + 1 } }
thread T2 on A { reg t; loop { t = faa(next, 1); await serving == t; cs: skip; serving = t + 1 } }
invariant !(T1 at cs && T2 at cs)
expect safe under tso, unsafe under pso
"""
SB = """node A { x, y }
thread T1 on A { reg r; x = 1; r = y }
thread T2 on A { reg r; y = 1; r = x }
outcome T1.r == 0 && T2.r == 0 : forbidden under sc, allowed under tso, forbidden under pso, forbidden under rma
"""
FAR = """domain 0..3000
node A { x }
thread T on A { reg c; loop { assume c < 3000; c = c + 1; x = c } }
thread U on A { reg a, b; loop { a = x; b = x; assert a <= b } }
"""
ORDERED = """node A { x, w }
node B { y, z }
thread T on A { reg r, s; get x = B.y; get w = B.z; poll B; poll B; r = x; s = w; assert !(r == 1 && s == 0); assert r <= 1 }
thread U on B { reg c; c = nondet(); z = 1; y = 1 }
"""


def by_kind(verified: Verified) -> dict[str, Checked]:
    """The answers by their models, `safe` ones by what they say."""
    return {c.claim.text if c.claim.kind == "safe" else f"{c.claim.kind} {c.claim.model}": c for c in verified.checked}


def test_unbounded_data_are_proven_and_safety_is_a_claim() -> None:
    answers = by_kind(verify(TICKET, max_states=20_000))
    assert {name: (c.status.value, c.answer.argument.value) for name, c in answers.items()} == {
        "invariant rdma": ("holds", "proof"),
        "safe under tso": ("holds", "proof"),
        "unsafe under pso": ("violated", "proof"),
    }
    assert "`prove` has a proof under model tso" in answers["safe under tso"].answer.reason


def test_a_program_that_is_not_safe_has_a_run() -> None:
    broken = TICKET.replace("await serving == t", "await serving <= t")
    verified = verify(broken, max_states=20_000)
    answers = by_kind(verified)
    assert answers["safe under tso"].status is Status.VIOLATED and answers["unsafe under pso"].status is Status.HOLDS
    for model in ("tso", "rdma"):
        answer = answers["safe under tso" if model == "tso" else "invariant rdma"]
        assert answer.answer.argument is Argument.MODEL_RUN and answer.model_run is not None
        assert answer.model_run.model == model
        (claim,) = safety_claims(verified.program, model)
        assert shows(verified.program, answer.model_run, claim)


def test_outcomes_under_other_models() -> None:
    answers = by_kind(verify(SB, hangs=False, max_states=5000))
    assert {name: (c.status.value, c.answer.argument.value) for name, c in answers.items()} == {
        "outcome sc": ("holds", "sc exhausted"),
        "outcome tso": ("holds", "model run"),
        "outcome pso": ("violated", "model run"),
        "outcome rma": ("holds", "proof"),
    }


def test_what_is_left_open_is_proven() -> None:
    """The own search meets its limit; the reason names both."""
    verified = verify(FAR, hangs=False, max_states=500)
    reasons = [c.answer.reason for c in verified.checked if "assert a" in c.claim.text]
    assert reasons == ["`prove` has a proof under model rdma"]


def test_an_invariant_is_searched_for_before_it_is_handed_over() -> None:
    text = "node A { x }\nnode B { y }\nthread T on A { reg r; x = 1; put B.y = x; poll B; here: r = 2 }\n"
    claims = "invariant A.x < 2\ninvariant !(T at here && B.y == 0)\ninvariant !(T ended && T.r != 2)\ninvariant T.r < 2\n"
    found = verify(text + claims, hangs=False)
    assert [(c.claim.text, c.status.value, c.answer.argument.value) for c in found.checked] == [
        ("invariant A.x < 2", "holds", "rdma exhausted"),
        ("invariant !(T at here && B.y == 0)", "violated", "rdma run"),
        ("invariant !(T ended && T.r != 2)", "holds", "thread"),
        ("invariant T.r < 2", "violated", "sc run"),
    ]


def test_a_fence_of_store_buffers_is_no_access_for_the_own_search() -> None:
    text = (
        SB.replace("x = 1;", "x = 1; mfence;")
        .replace("y = 1;", "y = 1; mfence;")
        .replace("allowed under", "forbidden under")
    )
    found = verify(text + "thread T3 on A { reg r; mfence; r = x; assert r == 0 }\n", max_states=5000)
    assert {f"{c.claim.kind} {c.claim.model}": c.status.value for c in found.checked} == {
        **dict.fromkeys(("outcome sc", "outcome tso", "outcome pso", "outcome rma", "hang rdma"), "holds"),
        "assertion rdma": "violated",
    }


def test_hangs_of_programs_with_unbounded_data_are_open() -> None:
    answers = verify(TICKET + "expect no hang under sc\n", max_states=20_000)
    (hang,) = [c for c in answers.checked if c.claim.kind == "hang"]
    assert hang.status is Status.UNKNOWN and "whether a program with unbounded data hangs" in hang.answer.reason
    assert not any(c.claim.kind == "hang" for c in verify(TICKET, max_states=20_000).checked)


def test_a_model_without_the_operations_is_not_asked() -> None:
    text = "node A { x }\nnode B { y }\nthread T on A { put B.y = x; poll B }\noutcome B.y == 1 : forbidden under tso\n"
    (answer,) = verify(text, hangs=False).checked
    assert (answer.status, answer.answer.answer) == (Status.UNKNOWN, Answer.UNKNOWN)
    assert answer.answer.reason.startswith("`prove` was not asked: `put` needs a network: model tso is one shared memory")


def test_what_is_not_decided_says_so_for_both() -> None:
    """A thread that stores forever fills every buffer: neither bounded buffers nor a bounded search end it."""
    text = "node A { x, y }\nthread T on A { loop { x = 1; x = 0; y = 1 } }\nthread U on A { reg r; r = x; halt }\n"
    (answer,) = verify(text + "outcome U.r == 5 : forbidden under tso\n", hangs=False, max_states=300).checked
    assert answer.status is Status.UNKNOWN and answer.answer.reason.startswith("`prove` leaves it open: ")


def test_a_run_with_reads_in_any_order_is_none_of_ordered_reads() -> None:
    """With ordered reads there are fewer runs than `prove` knows: its proofs hold there, its runs may not be possible."""
    program = load_program(ORDERED, "ordered.rdma")
    free, ordered = (verify_all(program, Limits(), rdma(reads)).checked for reads in (False, True))
    assert [c.status for c in free] == [Status.VIOLATED, Status.HOLDS]
    assert [c.status for c in ordered] == [Status.UNKNOWN, Status.HOLDS]
    assert ordered[0].answer.reason.endswith("`prove` has a run, with reads that are not ordered")


@pytest.mark.parametrize("model", ["sc", "rdma"])
def test_claims_of_bounded_programs_are_answered_as_ever(model: str) -> None:
    text = "node A { x }\nnode B { y }\nthread T on A { put B.y = 1; poll B }\noutcome B.y == 0 : forbidden under " + model
    (answer,) = verify(text + "\n", hangs=False).checked
    assert answer.answer.argument in (Argument.SC_EXHAUSTED, Argument.ROBUST, Argument.RDMA_EXHAUSTED)
    assert answer.model_run is None
