"""`explain` on programs with any number of copies of a thread, as users see it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT, Cli

CROWDS = ROOT / "litmus/crowds"


def told(cli: Cli, name: str, code: int) -> str:
    """Return the explanation of a program of the suite in one line."""
    answer = cli("explain", str(CROWDS / f"{name}.rdma"))
    assert answer.returncode == code and not answer.stderr
    return " ".join(answer.stdout.split())


def test_a_violation_is_told_with_its_copies(cli: Cli) -> None:
    text = told(cli, "lock-cas-data-elsewhere", 1)
    assert "There can be any number of copies of `C`. What follows is a run with 2 copies of `C`" in text
    assert "C[2] NIC to D" in text


def test_robust_for_any_number_names_what_keeps_orders_once(cli: Cli) -> None:
    text = told(cli, "lock-cas-data-elsewhere-flushed", 0)
    assert "It is robust for any number of copies of C" in text
    assert "`poll D` (line 12) keeps the order" in text
    assert "C[1]" not in text and "C[2]" not in text and "Client[1]" not in text


def test_what_is_said_of_two_copies_is_not_said_of_any_number(cli: Cli) -> None:
    found = json.loads(cli("explain", "--format", "json", str(CROWDS / "iriw-readers-polled.rdma")).stdout)
    assert {pair["thread"] for pair in found["pairs"]} <= {"C", "WriteX", "WriteY"}
    assert {pair["why"] for pair in found["pairs"]} <= {None, "no-race", "search"}


@pytest.mark.parametrize("form", ["html", "svg", "dot"])
def test_every_form_has_the_copies(cli: Cli, form: str, tmp_path: Path) -> None:
    path = tmp_path / f"it.{form}"
    assert cli("explain", str(CROWDS / "two-templates.rdma"), "--format", form, "-o", str(path)).returncode == 1
    text = path.read_text(encoding="utf-8")
    assert "W[1]" in text and "R[1]" in text


def test_the_report_knows_any_number(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    answer = cli("report", str(CROWDS / "mp-put.rdma"), str(CROWDS / "iriw-readers.rdma"), "--no-cache", "-o", str(path))
    assert answer.returncode == 1
    found = json.loads(path.read_text(encoding="utf-8"))["results"]
    assert [each["verdict"] for each in found] == ["robust", "not-robust"]


def test_claims_that_count_copies_are_no_hindrance(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "counted.rdma"
    text = "node S { x }\nthread T[*] on S { reg r; a: r = x; x = 1 }\n"
    path.write_text(text + "outcome count(T: r == 1) >= 1 : allowed under sc\ninvariant count(T at a) <= 2\n")
    answer = cli("explain", str(path))
    assert answer.returncode == 0 and not answer.stderr
    assert "robust for any number of copies of T" in " ".join(answer.stdout.split())


def test_a_run_without_the_copies_that_put_a_constant(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "constant.rdma"
    path.write_text(
        "node S { x }\nnode D { x }\nthread C[*] on S { put D.x = 1 }\nthread T on D { put S.x = 2; poll S }\n",
        encoding="utf-8",
    )
    answer = cli("reach", str(path), "-t", "S.x == 2")
    assert "with no copy of C" in answer.stdout and not answer.stderr
