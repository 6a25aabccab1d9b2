"""Whether it matters that a program is not robust: its claims, else its final states, else why it is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from rdma_robust.analyses.safety import matters
from rdma_robust.analyses.safety.matters import MATTERS
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Matters
from rdma_robust.pipeline import check_text
from rdma_robust.reports.check.paragraphs import matters_line

DATA = Path(__file__).parents[3] / "data" / "spin"
SB = """\
node A { x }
node B { y }
thread P on A { reg r
put B.y = 1
r = x
END }
thread Q on B { reg s
put A.x = 1
s = y }
"""


def asked(text: str, options: CheckOptions | None = None) -> Matters | None:
    return check_text(text, "t", options or CheckOptions(), more=(MATTERS,), crowds=True).matters


def test_it_is_asked_only_of_programs_that_are_not_robust_and_only_where_it_is_wanted() -> None:
    assert asked("node A { x }\nthread P on A { x = 1 }") is None
    assert check_text(SB.replace("END", ""), "t", CheckOptions()).matters is None


def test_claims_that_hold_on_the_hardware() -> None:
    found = asked((DATA / "credit-ring.rdma").read_text())
    assert found is not None
    assert {claim.status for claim in found.claims} == {"holds"}
    assert matters_line(found) == "Does it matter? Not for what it claims: 9 claims hold on the hardware."


def test_a_claim_that_fails_on_the_hardware_alone() -> None:
    line = "outcome P.r == 0 && Q.s == 0 : forbidden under rdma"
    found = asked(SB.replace("END", "") + line)
    assert found is not None
    (claim,) = found.claims
    assert (claim.status, claim.line, claim.under_sc) == ("violated", 10, False)
    assert matters_line(found).startswith("Does it matter? Yes: 1 of 1 claim fails on the hardware: outcome (line 10): ")


def test_a_claim_that_fails_under_sc_too() -> None:
    found = asked(SB.replace("END", "assert r == 1"))
    assert found is not None
    assert [(claim.status, claim.under_sc) for claim in found.claims] == [("violated", True)]
    assert "under sequential consistency too" in matters_line(found)
    assert "Yes" not in matters_line(found)


def test_final_states_of_a_program_that_claims_nothing() -> None:
    new, same = asked(SB.replace("END", "")), asked((DATA / "store-buffering-registers.rdma").read_text())
    assert new is not None
    assert new.final_states is not None
    assert [dict(state)["P.r"] for state in new.final_states] == [0]
    assert "new, as " in matters_line(new)
    assert same is not None
    assert same.final_states == ()
    assert matters_line(same).endswith("the same as under sequential consistency.")


def test_what_a_program_says_to_be_possible_is_no_claim_that_it_does_not_matter() -> None:
    found = asked(SB.replace("END", "") + "outcome P.r == 0 && Q.s == 0 : allowed under rdma, forbidden under sc")
    assert found is not None
    assert found.claims == ()
    assert found.final_states


def test_what_is_left_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matters, "MOST_STATES", 2)
    found = asked(SB.replace("END", ""))
    assert found is not None
    assert found.final_states is None
    assert matters_line(found).startswith("Does it matter? Not known: ")
    monkeypatch.setattr(matters, "what_matters", lambda *_: 1 / 0)
    lost = asked(SB.replace("END", ""))
    assert lost is not None
    assert "division by zero" in lost.skipped[0]


def test_of_any_number_of_copies_it_is_not_asked() -> None:
    text = (
        SB.replace("END", "")
        .replace("thread P on A", "thread P[*] on A")
        .replace("put B.y = 1", "put B.y = 1\npoll B\nx = 0")
    )
    found = check_text(text, "t", CheckOptions(), more=(MATTERS,), crowds=True)
    assert found.matters is None or found.matters.skipped
