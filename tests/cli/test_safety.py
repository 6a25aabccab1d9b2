"""The installed commands: `reach` and `verify`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import NOT_ROBUST, ROOT, Cli

SCHEMAS = {
    name: Draft202012Validator(json.loads((ROOT / f"rdma_robust/schema/{name}.schema.json").read_text()))
    for name in ("reach", "verify")
}


@pytest.fixture
def sb(tmp_path: Path) -> str:
    (tmp_path / "sb.rdma").write_text(NOT_ROBUST)
    names = [line.split()[1] for line in NOT_ROBUST.splitlines() if line.startswith("thread")]
    registers = NOT_ROBUST.partition("outcome ")[2].partition(" : ")[0]
    return " && ".join([*(f"{name} ended" for name in names), "drained", registers])


def test_reach_under_rdma_but_not_under_sc(cli: Cli, sb: str) -> None:
    done = cli("reach", "sb.rdma", "--target", sb)
    assert done.returncode == 1
    assert "REACHABLE under RDMA" in done.stdout
    assert "Checked: replayed by the machine, and by the axioms." in done.stdout
    done = cli("reach", "sb.rdma", "--model", "sc", "--target", sb)
    assert done.returncode == 0
    assert "unreachable under SC" in done.stdout
    assert "all SC executions were searched" in done.stdout


@pytest.mark.parametrize("model", ["rdma", "sc"])
def test_reach_json_follows_its_schema(cli: Cli, sb: str, model: str) -> None:
    done = cli("reach", "sb.rdma", "--model", model, "--target", sb, "--format", "json")
    report = json.loads(done.stdout)
    SCHEMAS["reach"].validate(report)
    assert report["exit_code"] == done.returncode == (1 if model == "rdma" else 0)
    assert (report["run"] is not None) == (model == "rdma")


def test_a_limit_is_named(cli: Cli, tmp_path: Path) -> None:
    text = "node A { s = 1 }\nnode B { y }\nthread T on A { loop { put B.y = s }\n }\n"
    text += "thread U on B { await y == 1\n assume y == 0 }\n"
    (tmp_path / "loop.rdma").write_text(text)
    done = cli("reach", "loop.rdma", "-t", "U at 5 && B.y == 2", "--max-states", "50")
    assert done.returncode == 3
    assert "UNKNOWN" in done.stdout
    assert "reached the limit of 50 states" in done.stdout


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("T9 ended", "there is no thread `T9`"),
        ("nobody.x == 1", "`nobody` is neither a thread nor a node"),
        ("nothing == 1", "a target names `Thread.register` and `Node.variable`"),
        ("drained = 1", "equality is written `==`"),
        ("", "the target ends too early"),
        ("drained == 12ab", "digits"),
    ],
)
def test_bad_targets_are_refused(cli: Cli, sb: str, target: str, says: str) -> None:
    assert sb
    done = cli("reach", "sb.rdma", "--target", target)
    assert done.returncode == 2
    assert says in done.stderr
    assert "--target:1:" in done.stderr
    assert done.stdout == ""


def test_a_node_may_be_called_drained_and_a_long_target_is_none_too_deep(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "named.rdma").write_text("node drained { z, ended }\nthread at on drained { z = 1\n ended = 1\n}\n")
    assert "REACHABLE" in cli("reach", "named.rdma", "-t", "drained.z == 1 && drained && at at 3 && !(at ended)").stdout
    assert "unreachable" in cli("reach", "named.rdma", "-t", "drained.z == 0 && drained.ended == 1 && at ended").stdout
    long = " && ".join(["drained.z == 1"] * 150)
    assert "REACHABLE" in cli("reach", "named.rdma", "-t", long).stdout
    assert "REACHABLE" in cli("reach", "named.rdma", "-t", f"{long} && {long}").stdout
    done = cli("reach", "named.rdma", "-t", "!" * 300 + "(drained.z == 1)")
    assert done.returncode == 2
    assert "more than 200 levels of operators" in done.stderr


def test_reach_without_a_target_or_a_program(cli: Cli, sb: str) -> None:
    assert "--target" in cli("reach", "sb.rdma").stderr
    assert cli("reach", "none.rdma", "-t", sb).returncode == 2


def test_verify_says_which_argument_was_used(cli: Cli, sb: str) -> None:
    assert sb
    done = cli("verify", "sb.rdma")
    assert done.returncode == 0
    assert "3 claims: 3 hold" in done.stdout
    assert "a run of the hardware; no run under SC leads there" in done.stdout
    assert "all SC executions were searched" in done.stdout


def test_verify_reports_a_violation_with_its_run(cli: Cli, tmp_path: Path) -> None:
    text = "node A { x }\nthread T on A { reg r\n x = 1\n r = x\n assert r == 0\n}\n"
    (tmp_path / "bad.rdma").write_text(text)
    done = cli("verify", "bad.rdma")
    assert done.returncode == 1
    assert "VIOLATED" in done.stdout
    assert "it goes wrong in this run" in done.stdout
    report = json.loads(cli("verify", "bad.rdma", "--format", "json").stdout)
    SCHEMAS["verify"].validate(report)
    claim, hang = report["claims"]
    assert (claim["status"], claim["argument"], claim["line"]) == ("violated", "sc run", 5)
    assert (hang["status"], hang["kind"], hang["line"], hang["hang"]) == ("holds", "hang", None, None)
    assert "assertion" in claim["run"][-1]["faults"]


def test_verify_takes_many_files_and_answers_with_the_worst(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "good.rdma").write_text("node A { x }\nthread T on A { x = 1 }\noutcome A.x == 0 : forbidden under rdma\n")
    (tmp_path / "bad.rdma").write_text("node A { x }\nthread T on A { reg r\n r = x\n assert r == 1 }\n")
    (tmp_path / "worse.rdma").write_text("node A {\n")
    done = cli("verify", "good.rdma", "bad.rdma")
    assert done.returncode == 1
    assert "in this run" not in done.stdout
    done = cli("verify", ".", "--explain")
    assert done.returncode == 2
    assert "2 claims: 2 hold" in done.stdout
    assert "in this run" in done.stdout
    assert "worse.rdma:" in done.stderr


def test_a_violated_claim_comes_before_an_unknown_one_but_not_over_files(cli: Cli, tmp_path: Path) -> None:
    loop = "node A { s = 1 }\nnode B { y }\nthread T on A { loop { put B.y = s\n s = 1 }\n }\n"
    user = "thread U on B { reg r\n await y == 1\n r = y\n assert r == 1\n"
    (tmp_path / "unknown.rdma").write_text(f"{loop}{user} }}\n")
    (tmp_path / "both.rdma").write_text(f"{loop}{user} assert r == 0 }}\n")
    (tmp_path / "bad.rdma").write_text("node A { x }\nthread T on A { reg r\n r = x\n assert r == 1 }\n")
    limits = ("--no-hangs", "--max-states", "60")
    codes = [cli("verify", f"{name}.rdma", *limits).returncode for name in ("unknown", "both", "bad")]
    assert codes == [3, 1, 1]
    assert cli("verify", "bad.rdma", "unknown.rdma", *limits).returncode == 3


def test_nothing_to_verify_is_said(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "plain.rdma").write_text("node A { x }\nthread T on A { x = 1 }\n")
    done = cli("verify", "plain.rdma", "--no-hangs")
    assert done.returncode == 0
    assert "nothing to verify" in done.stdout
