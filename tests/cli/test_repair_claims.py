"""`repair --goal safe` under rdma: the cheapest insertions for what a program claims, and programs that need none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from tests.cli.test_repair import SCHEMA
from tests.conftest import Cli

RING: Final = """// Credit ring: producer on P, slots live in C's memory.
program ring
const SLOTS = 2
const ROUNDS = 4
domain 0..6

node P { stage[SLOTS], credit = SLOTS }
node C { ring[SLOTS], tail }

thread Producer on P {
  reg i, c
  while i < ROUNDS {
    c = credit
    while i >= c { c = credit }
    stage[i % SLOTS] = i + 1
    put C.ring[i % SLOTS] = stage[i % SLOTS] unsignaled
    i = i + 1
    put C.tail = i inline
    poll C
  }
}

thread Consumer on C {
  reg h, t, v
  while h < ROUNDS {
    t = tail
    while t == h { t = tail }
    v = ring[h % SLOTS]
    assert v == h + 1
    h = h + 1
    put P.credit = h + SLOTS inline unsignaled
  }
}
"""

LOG: Final = """// Replicated log, as I would write it in C: leader writes the entry to both
// backups, polls both completions ("acks"), then commits. On failover a reader
// sees commit on B1 and must find the entry on B2 as well.
program log2
const ENTRIES = 2
domain 0..3

node L { entry, commit }
node B1 { log[ENTRIES], commit }
node B2 { log[ENTRIES] }
node R { c, v }

thread Leader on L {
  reg i
  while i < ENTRIES {
    entry = i + 1
    put B1.log[i] = entry
    put B2.log[i] = entry
    poll B1
    poll B2
    i = i + 1
    put B1.commit = i inline unsignaled
  }
}

thread Reader on R {
  reg n, w
  get c = B1.commit
  poll B1
  n = c
  if n > 0 {
    get v = B2.log[n - 1]
    poll B2
    w = v
    assert w == n
  }
}
"""

MAIL: Final = """node A { v, w }
node B { data, flag }
thread Sender on A {
  v = 1
  put B.data = v
  v = 2
  put B.flag = w
  w = 1
  put B.flag = w
}
thread Receiver on B {
  reg f, d
  f = flag
  d = data
}
outcome B.data == 2 : forbidden under rdma
expect not robust
"""
"""The data must be sent as it was, which one poll does; that the last flag may come first does not matter."""

STORES: Final = """hardware cpu tso
node M { x, y, z }
thread T on M { reg r, s; x = 1; z = 1; r = y; s = z }
thread U on M { reg r, s; y = 1; r = x; s = z }
outcome T.r == 0 && U.r == 0 : forbidden under rdma
"""

FAMILY: Final = """node S { x }
node C[i in 0..1] { d }
domain 0..3
thread T[i in 0..1] on C[i] {
  d = i + 1
  put S.x = d
  d = 0
}
thread U on S {
  reg r
  r = x
  if r != 0 { r = x; assert r != 0 }
}
"""


def safe(cli: Cli, text: str, *options: str, code: int = 0) -> str:
    Path("program.rdma").write_text(text)
    answer = cli("repair", "--goal", "safe", *options, "program.rdma")
    assert answer.returncode == code, answer.stdout + answer.stderr
    return answer.stdout


def test_a_program_that_is_not_robust_and_keeps_its_claims_has_nothing_to_repair(cli: Cli, tmp_path: Path) -> None:
    assert "safe under rdma, nothing to repair" in safe(cli, RING, "-o", str(tmp_path / "same.rdma"))
    assert (tmp_path / "same.rdma").read_text() == RING
    assert cli("program.rdma").returncode == 1, "it is not robust"
    report = json.loads(safe(cli, RING, "--model", "rdma", "--format", "json"))
    SCHEMA.validate(report)
    assert (report["status"], report["solutions"], report["optimal"]) == ("safe", [], True)
    assert report["options"]["safe_under"] == "rdma"


@pytest.mark.ci
def test_the_cheapest_for_one_failing_assertion(cli: Cli) -> None:
    text = safe(cli, LOG, "--write")
    assert "safe under rdma at cost 70, no cheaper repair exists" in text
    assert "line   21  Leader  get scrap = B2.probe; poll B2  (flush, cost 70)" in text
    assert "  hangs: none" in text
    assert cli("verify", "program.rdma").returncode == 0


@pytest.mark.ci
def test_costs_are_those_of_the_robust_goal_and_it_takes_less(cli: Cli) -> None:
    cheap = json.loads(safe(cli, MAIL, "--format", "json"))
    SCHEMA.validate(cheap)
    assert [each["statements"] for each in cheap["solutions"][0]["insertions"]] == [["poll B"]]
    assert (cheap["solutions"][0]["cost"], cheap["optimal"], cheap["options"]["cost_flush"]) == (2, True, 5)
    assert "expect not robust" in cheap["solutions"][0]["patched"], "which it still is not"
    robust = json.loads(cli("repair", "--format", "json", "program.rdma").stdout)
    assert robust["solutions"][0]["cost"] > 2
    assert "at cost 9" in safe(cli, MAIL, "--cost-poll", "9")
    assert "expect robust" in safe(cli, MAIL.replace("  v = 2\n", "  v = 2\n  poll B\n").replace("w = 1", "skip"), code=0)


def test_the_hardware_is_the_one_asked_for(cli: Cli) -> None:
    assert "safe under rdma at cost 2, no cheaper repair exists" in safe(cli, STORES)
    plain = STORES.replace("hardware cpu tso\n", "")
    assert "nothing to repair" in safe(cli, plain)
    assert "at cost 6, " in safe(cli, plain, "--cpu", "tso", "--cost-mfence", "3")


def test_what_fails_under_sequential_consistency_has_no_repair(cli: Cli) -> None:
    text = safe(cli, MAIL.replace("outcome B.data == 2", "outcome B.data == 1"), code=1)
    assert "NO REPAIR" in text
    assert "line 16, `B.data == 1` is violated under sequential consistency, where insertions change nothing" in text


def test_invariants_count_where_threads_stand(cli: Cli) -> None:
    program = (
        "node A { }\nnode B { x }\nthread T on A { reg done; put B.x = 1; done = 1 }\ninvariant T.done == 0 || B.x == 1\n"
    )
    assert "safe under rdma at cost 9, no cheaper repair exists" in safe(cli, program)
    ended = program.replace("reg done; ", "").replace("; done = 1", "").replace("T.done == 0", "!(T ended)")
    assert "safe under rdma at cost 9, no cheaper repair exists" in safe(cli, ended)


def test_a_hang_on_the_hardware_only_is_no_way_out(cli: Cli) -> None:
    """What a line says of hangs is a claim; of others there may be none that is new."""
    text = """node A { v, ok }
node B { flag, data }
thread T on A { v = 1; put B.data = v; put B.flag = 1; v = 2 }
thread U on B { reg r; await flag == 1; r = data; while r != 1 { } }
expect no hang under rdma
"""
    answer = safe(cli, text)
    assert "safe under rdma at cost 2, no cheaper repair exists" in answer
    assert "hangs: none" in answer


def test_all_irreducible_sets(cli: Cli) -> None:
    report = json.loads(safe(cli, MAIL, "--all-minimal", "--format", "json"))
    assert report["complete"]
    costs = [each["cost"] for each in report["solutions"]]
    assert costs == sorted(costs)
    assert costs[0] == 2


def test_families_are_repaired_for_their_asserts(cli: Cli) -> None:
    answer = safe(cli, FAMILY)
    assert "safe under rdma at cost 2, no cheaper repair exists" in answer
    assert "+  poll S" in answer
    about_all = FAMILY + "outcome S.x == 0 : forbidden under rdma\n"
    assert "waits are not looked for in families" in safe(cli, about_all, code=3)
    assert "nothing to repair" in safe(cli, FAMILY.replace("  d = 0\n", "") + "outcome S.x == 0 : forbidden under rdma\n")


def test_without_claims_a_model_has_to_be_named(cli: Cli) -> None:
    claimless = MAIL.replace("outcome B.data == 2 : forbidden under rdma\n", "")
    safe(cli, claimless, code=2)
    assert "it claims nothing of what happens under rdma" in safe(cli, claimless, "--model", "rdma")


def test_what_is_cut_short_is_unknown_with_the_limit(cli: Cli) -> None:
    answer = safe(cli, LOG, "--max-states", "1", code=3)
    assert "UNKNOWN" in answer
    assert "the limit of 1 state" in answer


def test_a_run_is_learnt_from_on_its_own_way_through_a_choice(cli: Cli) -> None:
    """Both branches make the same events. A poll in the one that is asked for is enough."""
    text = """node A { v = 1 }
node B { d }
thread T on A {
  reg r
  put B.d = v
  choose { r = 1 } or { r = 2 }
  v = 2
}
outcome B.d == 2 && T.r == 2 : forbidden under rdma
expect unsafe under rdma
"""
    report = json.loads(safe(cli, text, "--model", "rdma", "--all-minimal", "--format", "json"))
    assert report["complete"]
    texts = [each["patched"] for each in report["solutions"]]
    assert any("choose { r = 1 } or { r = 2; poll B }" in each for each in texts)
    assert not any("{ r = 1; poll B }" in each or "{ poll B; r = 1 }" in each for each in texts)
    assert all("expect safe under rdma" in each for each in texts)


def test_a_flag_of_a_request_may_be_enough_and_lines_expect_what_is_true_then(cli: Cli) -> None:
    text = """node A { v }
node B { d }
thread T on A { v = 1; put B.d = v unsignaled; v = 2 }
outcome B.d == 2 : forbidden under rdma
expect not robust, unsafe under rdma
"""
    answer = safe(cli, text, "--model", "rdma", "--write")
    assert "safe under rdma at cost 1, no cheaper repair exists" in answer
    assert "expect robust, safe under rdma" in Path("program.rdma").read_text()
