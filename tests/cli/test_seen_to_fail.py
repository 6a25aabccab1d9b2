"""A claim that a check has seen to fail is said, and counts with `--expect`, unless an `expect` line says so."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.conftest import ROOT, Cli

ALWAYS = """
node A {{ x = 0 }}
node B {{ y = 0 }}

thread T on A {{
  reg r
  put B.y = 1
  poll B
  r = x
  assert r == {value}
}}

expect robust{more}
"""
GOES_ON = """
node A { x, g }
node B { z }

thread T on A {
  assert x == 1
  put B.z = g
  g = 1
}

expect not robust"""
OVERFLOWS = "domain 0..1\nnode A { x = 0 }\nthread T on A {\n  reg r = 1\n  x = r + r\n}\nexpect robust"
HANGS = "node A { x = 0 }\nthread T on A {\n  await x == 1\n}\nexpect robust"
FAILS = ALWAYS.format(value=1, more="")
HOLDS = ALWAYS.format(value=0, more="")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FAILS, "line 10: failing assertion that is not expected"),
        (GOES_ON, "line 6: failing assertion that is not expected"),
        (OVERFLOWS, "line 5: overflow that is not expected"),
        (HANGS, "line 3: a hang that is not expected"),
    ],
)
def test_a_claim_that_fails_counts_and_is_said(cli: Cli, tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "fails.rdma"
    file.write_text(text)
    found = cli("check", "--expect", "--quiet", "--no-explain", str(file))
    assert found.returncode == 1
    assert said in found.stdout
    found = cli("check", "--quiet", "--no-explain", str(file))
    assert "reachable" in found.stdout or "hangs" in found.stdout


@pytest.mark.parametrize(
    ("text", "foreseen"),
    [
        (FAILS, "violated under sc"),
        (GOES_ON, "violated under rdma"),
        (OVERFLOWS, "violated under sc"),
        (HANGS, "hang under sc"),
    ],
)
def test_a_program_that_is_meant_to_fail_says_so(cli: Cli, tmp_path: Path, text: str, foreseen: str) -> None:
    file = tmp_path / "meant.rdma"
    file.write_text(f"{text.rstrip()}, {foreseen}\n")
    found = cli("check", "--expect", "--quiet", "--no-explain", str(file))
    assert (found.returncode, len(found.stdout.splitlines())) == (0, 1)
    assert cli("check", "--expect", "--format", "concise", str(file)).stdout == ""
    assert cli("verify", "--quiet", str(file)).returncode == 0
    assert cli("report", "--expect", "--no-cache", "--quiet", "-o", str(tmp_path / "r.json"), str(file)).returncode == 0


def test_where_nothing_fails_a_line_that_says_so_counts(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "holds.rdma"
    file.write_text(ALWAYS.format(value=0, more=", violated under sc"))
    found = cli("check", "--expect", "--no-explain", str(file))
    assert found.returncode == 1
    assert "line 13: `violated under sc`, but nothing goes wrong" in found.stdout
    assert cli("verify", "--quiet", str(file)).returncode == 1


def test_what_fails_on_the_hardware_alone_is_not_foreseen_by_a_line_about_sc(cli: Cli, tmp_path: Path) -> None:
    text = """
node A { d = 0, x = 0 }
node B { v = 1 }

thread T on A {
  reg r
  get d = B.v
  r = d
  assert r == 1
}

expect not robust, violated under MODEL
"""
    for model, code in (("rdma", 0), ("sc", 1)):
        file = tmp_path / f"{model}.rdma"
        file.write_text(text.replace("MODEL", model))
        found = cli("verify", "--no-explain", str(file))
        assert found.returncode == code, found.stdout


def test_a_row_says_why_it_counts(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "none.rdma").write_text(HOLDS.replace("expect robust", ""))
    (tmp_path / "other.rdma").write_text(HOLDS.replace("expect robust", "expect not robust"))
    found = cli("check", "--expect", "--no-explain", str(tmp_path))
    assert "no `expect` line about the verdict" in found.stdout
    assert "line 13: expected not robust" in found.stdout


def test_every_form_has_what_fails(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "fails.rdma"
    file.write_text(FAILS)
    result = json.loads(cli("check", "--format", "json", str(file)).stdout)["results"][0]
    assert (result["as_expected"], [each["line"] for each in result["broken"]]) == (False, [10])
    assert [fault["met"] for fault in result["faults"]] == [True]
    log = json.loads(cli("check", "--expect", "--format", "sarif", str(file)).stdout)["runs"][0]["results"]
    assert [(each["ruleId"], each["level"]) for each in log] == [("RR014", "error")]
    suite = ET.fromstring(cli("check", "--expect", "--format", "junit", str(file)).stdout)
    assert suite.get("failures") == "1"
    assert "failing assertion" in next(iter(suite.iter("failure"))).get("message", "")


def test_trencher_programs_say_it_in_a_comment(cli: Cli, tmp_path: Path) -> None:
    text = (ROOT / "litmus/trencher/mcs-torn.trencher").read_text()
    for claims, code in (("robust", 1), ("robust, hang under sc", 0)):
        file = tmp_path / f"{code}.trencher"
        file.write_text(text.replace("robust, hang under sc", claims))
        assert cli("check", "--expect", "--quiet", "--no-explain", str(file)).returncode == code
