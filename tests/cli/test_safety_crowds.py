"""The installed commands: `reach` and `verify` for any number of copies of a thread."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import ROOT, Cli
from tests.support.shares import share

DATA = ROOT / "tests/data/crowd_claims"
SCHEMAS = {
    name: Draft202012Validator(json.loads((ROOT / f"rdma_robust/schema/{name}.schema.json").read_text()))
    for name in ("reach", "verify")
}

NAMED = [
    ("cas-lock", ["holds", "holds", "holds", "holds"], None),
    ("broken-lock", ["violated", "holds"], {"C": 2}),
    ("ticket-lock", ["violated", "holds", "holds", "holds"], {"C": 3}),
    ("ticket-wraps", ["violated", "unknown"], {"C": 3}),
    ("sequence-lock", ["holds", "holds"], None),
    ("references", ["holds"] * 6, None),
    ("semaphore", ["holds"] * 4, None),
    ("leader", ["holds"] * 3, None),
    ("crossed-locks", ["violated"], {"C": 1, "D": 1}),
]


@pytest.mark.parametrize(("name", "statuses", "numbers"), share(NAMED, 9, 2))
def test_named_programs(cli: Cli, name: str, statuses: list[str], numbers: dict[str, int] | None) -> None:
    """What holds is proven for any number of copies; what does not has the smallest number that violates it."""
    done = cli("verify", str(DATA / f"{name}.rdma"), "--format", "json")
    report = json.loads(done.stdout)
    SCHEMAS["verify"].validate(report)
    claims = report["results"][0]["claims"]
    assert [claim["status"] for claim in claims] == statuses
    violated = [claim for claim in claims if claim["status"] == "violated"]
    assert [claim["copies"] for claim in violated] == [{"numbers": numbers, "least": True}] * len(violated)
    assert all(claim["copies"] is None for claim in claims if claim["status"] == "holds")
    threads = {move["thread"] for claim in violated for move in claim["run"]}
    assert threads <= {None, *(f"{n}[{i}]" for n, many in (numbers or {}).items() for i in range(1, many + 1))}


REACHED = [
    ("semaphore", "count(C at inside) >= 2", {"C": 2}),
    ("semaphore", "count(C at inside) >= 3", None),
    ("semaphore", "count(C ended) >= 3 && Server.free == 2", {"C": 3}),
    ("leader", "some P: r == 0 && P at leader", {"P": 1}),
    ("leader", "count(P at leader) >= 1 && count(P: P ended && r == 1) >= 2", {"P": 3}),
    ("leader", "count(P at leader) >= 2", None),
]


@pytest.mark.parametrize(("name", "target", "numbers"), share(REACHED, 6, 1))
def test_targets(cli: Cli, name: str, target: str, numbers: dict[str, int] | None) -> None:
    done = cli("reach", str(DATA / f"{name}.rdma"), "--model", "sc", "-t", target, "--format", "json")
    report = json.loads(done.stdout)
    SCHEMAS["reach"].validate(report)
    assert report["answer"] == ("reachable" if numbers else "unreachable")
    assert report["copies"] == ({"numbers": numbers, "least": True} if numbers else None)
    assert done.returncode == (1 if numbers else 0)


def test_what_is_said(cli: Cli) -> None:
    """In the text of an answer stand the numbers, and the run is one of that many copies."""
    done = cli("verify", str(DATA / "broken-lock.rdma"))
    assert "2 claims for any number of copies of C" in done.stdout
    assert "with 2 copies of C, not with 1" in done.stdout
    assert {"C[1]", "C[2]"} <= set(re.findall(r"C\[\d\]", done.stdout))
    assert "C[3]" not in done.stdout
    done = cli("reach", str(DATA / "leader.rdma"), "-t", "count(P at leader) >= 2")
    assert "unreachable under RDMA for any number of copies of P: count(P at leader) >= 2" in done.stdout
    assert "the program is robust" in done.stdout


def test_a_program_that_is_not_robust(cli: Cli, tmp_path: Path) -> None:
    """What SC excludes is looked for with small numbers only, and that is said."""
    text = """\
node S { data = 0, flag = 0 }
node Client[*] { one = 1, seen = 0, flags = 0 }
thread C[*] on Client[*] {
  reg f, d
  put S.data = one
  put S.flag = one
  get flags = S.flag
  get seen = S.data
  poll S 4
  f = flags
  d = seen
}
invariant !(some C: f == 1 && d == 0 && C ended)
invariant !(some C: f == 1 && d == 1 && C ended) || S.flag == 1
"""
    (tmp_path / "many.rdma").write_text(text)
    report = json.loads(cli("verify", "many.rdma", "--no-hangs", "--max-states", "2000", "--format", "json").stdout)
    SCHEMAS["verify"].validate(report)
    for claim in report["results"][0]["claims"]:
        assert claim["status"] in ("violated", "unknown")
        if claim["status"] == "unknown":
            assert "not decided for more" in claim["reason"] or "reached the limit of 2000 states" in claim["reason"]
        else:
            assert "no run under SC leads there" in claim["reason"]


def test_named_threads_may_have_messages(cli: Cli, tmp_path: Path) -> None:
    """What is robust is inherited where SC finds a buffer for every message, with any number of copies."""
    text = """\
domain 0..2
node A { v = 1 }
node B { buf, got }
node Client[*] { o }
thread S on A { send v to R }
thread R on B { POSTED; reg r; rpoll S; r = buf; got = r }
thread C[*] on Client[*] { reg r; get o = B.got; poll B; r = o }
invariant all C: r <= 1
"""
    statuses = []
    for posted in ("posted buf from S", "skip"):
        (tmp_path / "m.rdma").write_text(text.replace("POSTED", posted))
        report = json.loads(cli("verify", "m.rdma", "--no-hangs", "--max-states", "300", "--format", "json").stdout)
        statuses.append([claim["status"] for claim in report["results"][0]["claims"]])
    assert statuses == [["holds", "holds"], ["violated", "unknown"]]


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("count(C at critical) == 0", "about the absence of copies is not decided for any number"),
        ("all C: r == 0", "about the absence of copies is not decided for any number"),
        ("count(C at critical) + count(C ended) >= 2", "is not compared with a number"),
        ("C at critical", "expected: `some C: ...` or `count(C at LABEL) >= 1`"),
        ("C[1] at critical", "hint: ask with a number, `-D C=1`, or ask `some C: ...` of any number"),
        ("some C: q == 1", "a copy of `C` has no such register"),
        ("some D: r == 1", "there is no thread `D`"),
        ("some C: count(C ended) >= 1", "a condition on copies inside of one"),
        ("count(r) >= 1", "this does not say which copies are counted"),
        ("count(C at nowhere) >= 1", "has no label `nowhere`"),
    ],
)
def test_what_cannot_be_asked(cli: Cli, target: str, says: str) -> None:
    done = cli("reach", str(DATA / "cas-lock.rdma"), "-t", target)
    assert done.returncode == 2
    assert says in done.stderr
    assert "^" in done.stderr


def test_with_a_number_the_claims_are_about_that_many(cli: Cli) -> None:
    """`-D C=2` writes the conditions out; P(2) has what any number has as its smallest."""
    path = str(DATA / "broken-lock.rdma")
    one, two = (cli("verify", path, "-D", f"C={n}", "--no-hangs", "--format", "json") for n in (1, 2))
    statuses = [json.loads(done.stdout)["results"][0]["claims"][0]["status"] for done in (one, two)]
    assert statuses == ["holds", "violated"]
    done = cli("reach", path, "-D", "C=2", "--model", "sc", "-t", "count(C ended) == 2 && count(C at critical) == 0")
    assert done.returncode == 1


def test_other_forms_of_report(cli: Cli) -> None:
    path = str(DATA / "broken-lock.rdma")
    sarif = json.loads(cli("verify", path, "--format", "sarif").stdout)
    (result,) = [r for r in sarif["runs"][0]["results"] if r["ruleId"] == "RR016"]
    assert "with 2 copies of C" in result["message"]["text"]
    assert 'failures="1"' in cli("verify", path, "--format", "junit").stdout


def test_the_formatter_keeps_conditions_on_copies(cli: Cli, tmp_path: Path) -> None:
    text = (
        DATA / "cas-lock.rdma"
    ).read_text() + "invariant   ( some C:r==1)||!( all C : r==0 )||count( C:C at critical )<2\n"
    (tmp_path / "t.rdma").write_text(text)
    assert cli("fmt", "-w", "t.rdma").returncode == 0
    last = (tmp_path / "t.rdma").read_text().splitlines()[-1]
    assert last == "invariant (some C: r == 1) || !(all C: r == 0) || count(C at critical) < 2"
