"""`repair` of families: an insertion goes into the template, so into every copy, and counts once."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from rdma_robust import Verdict, check, verify
from rdma_robust.analyses.repair.edits import SourceText, apply_edits, gaps
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.safety.verify import Status
from rdma_robust.language.defines import with_definitions
from tests.conftest import Cli

RING = """\
const N = 2
node Peer[i in 0..N-1] { one = 1, seen = 0 }

thread P[i in 0..N-1] on Peer[i] {
  reg r
  put Peer[(i + 1) % N].seen = one // tell the next one
  r = seen
}
expect not robust
"""
STAGED = """\
const N = 2
node Hub { slot[N], count }
node Peer[i in 0..N-1] { word = 1 }
thread P[i in 0..N-1] on Peer[i] {
  put Hub.slot[i] = word
  word = 2
}
thread H on Hub { reg r, s; r = slot[0]; s = slot[N - 1] }
"""
FLAGS = """\
const N = 2
node Far { flag }
node Near[i in 0..N-1] { data }
node Peer[i in 0..N-1] { one = 1 }
thread P[i in 0..N-1] on Peer[i] { put Near[i].data = one; put Far.flag = one }
thread R[i in 0..N-1] on Near[i] { reg a, b; get a2 = Far.flag; poll Far; a = a2; b = data }
""".replace("node Near[i in 0..N-1] { data }", "node Near[i in 0..N-1] { data, a2 }")
CROWD = """\
node S { x }
node Client[*] { one = 1 }
thread C[*] on Client[*] { put S.x = one; one = 2 }
thread D on S { reg r; r = x }
"""


@pytest.mark.parametrize("number", [2, 3])
def test_a_ring_is_repaired_in_its_template(cli: Cli, tmp_path: Path, number: int) -> None:
    (file := tmp_path / "ring.rdma").write_text(RING)
    done = cli("repair", "-D", f"N={number}", "--write", "ring.rdma")
    assert done.returncode == 0 and "repaired at cost 9, no cheaper repair exists" in done.stdout
    assert "what goes into a family goes into each of its threads" in " ".join(done.stdout.split())
    assert file.read_text() == RING.replace("seen = 0 }", "seen = 0, scrap = 0, probe = 0 }").replace(
        "// tell the next one\n",
        "// tell the next one\n  get scrap = Peer[(i + 1) % N].probe\n  poll Peer[(i + 1) % N]\n  poll Peer[(i + 1) % N]\n",
    ).replace("expect not robust", "expect robust")
    assert cli("check", "--expect", "-D", "N=2..4", "ring.rdma").returncode == 0


def test_an_insertion_counts_once_and_is_an_edit_of_the_text(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "staged.rdma").write_text(STAGED)
    for number in (1, 2, 4):
        report = json.loads(cli("repair", "-D", f"N={number}", "--format", "json", "staged.rdma").stdout)
        (solution,) = report["solutions"]
        assert [(i["kind"], i["thread"], i["node"], i["cost"]) for i in solution["insertions"]] == [
            ("poll", "P[i]", "Hub", 2)
        ]
        (edit,) = solution["edits"]
        before = with_definitions(STAGED, [f"N={number}"])
        after = before[: edit["offset"]] + edit["text"] + before[edit["offset"] + edit["removed"] :]
        assert check(after).verdict is Verdict.ROBUST and check(before).verdict is Verdict.NOT_ROBUST


@pytest.mark.ci
@pytest.mark.parametrize("text", [RING, STAGED, FLAGS], ids=["ring", "staged", "flags"])
def test_nothing_cheaper_of_polls_and_fences_does(text: str) -> None:
    """All sets of up to two polls and fences (of the largest program, of one), towards nodes as the program names them."""
    found = repair(text, "t")
    assert found.status == "repaired" and found.optimal
    cost = found.solutions[0].cost
    source = SourceText.of(text, "t")
    terms = {0: ["Peer[(i + 1) % N]"]} if text is RING else {0: ["Hub"], 1: []} if text is STAGED else {
        0: ["Near[i]", "Far"], 1: ["Far"]
    }  # fmt: skip
    single = [
        (place, f"{word} {term}", price)
        for place in gaps(source)
        for term in terms[place.thread]
        for word, price in (("poll", 2), ("rfence", 1))
    ]
    tried = 0
    for size in (1,) if text is FLAGS else (1, 2):
        for chosen in itertools.combinations(single, size):
            if sum(price for _, _, price in chosen) < cost:
                other, _ = apply_edits(text, [source.insert(place, [statement]) for place, statement, _ in chosen])
                tried += 1
                if check(other).verdict is Verdict.ROBUST:
                    assert any(c.claim.kind == "hang" and c.status is not Status.HOLDS for c in verify(other).checked), other
    assert tried >= 2


def test_a_crowd_with_a_number_is_repaired(cli: Cli, tmp_path: Path) -> None:
    (file := tmp_path / "crowd.rdma").write_text(CROWD)
    assert cli("repair", "-D", "C=2", "--write", "crowd.rdma").returncode == 0
    assert file.read_text() == CROWD.replace("= one; one", "= one; poll S; one")


def test_what_a_family_does_not_need_goes_from_its_template(cli: Cli, tmp_path: Path) -> None:
    (file := tmp_path / "staged.rdma").write_text(STAGED.replace("word = 2", "poll Hub; rfence Hub; word = 2"))
    done = cli("repair", "--remove-needless", "--write", "staged.rdma")
    assert done.returncode == 0 and "P[i]  without rfence Hub" in done.stdout
    assert file.read_text() == STAGED.replace("word = 2", "poll Hub; word = 2")
    # A get alone must not go: the second poll of every copy takes it.
    (tmp_path / "ring.rdma").write_text(RING)
    assert cli("repair", "-D", "N=3", "--write", "ring.rdma").returncode == 0
    assert "nothing is needless" in cli("repair", "--remove-needless", "ring.rdma").stdout


def test_threads_of_a_family_that_others_send_to_are_unknown(cli: Cli, tmp_path: Path) -> None:
    text = """\
node A[i in 0..1] { b, x = 1, y }
thread T on A[0] { reg r; send x to U[1]; put A[1].y = x; r = y }
thread U[i in 1..1] on A[i] { reg r; posted b from T; r = rpoll T; put A[0].y = x; r = y }
thread W[i in 0..1] on A[i] { reg r; put A[1 - i].y = x; r = y }
"""
    (tmp_path / "sends.rdma").write_text(text)
    done = cli("repair", "sends.rdma", "--timeout", "20")
    assert done.returncode in (2, 3), done.stdout


def test_waits_for_safety_are_not_looked_for_in_families(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "staged.rdma").write_text(STAGED)
    done = cli("repair", "--goal", "safe", "--model", "rma", "staged.rdma")
    assert done.returncode == 3 and "waits are not looked for in families" in " ".join(done.stdout.split())
