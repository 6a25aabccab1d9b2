"""Families in every command: threads and nodes are called P[0] and Peer[2] wherever they are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT, Cli

MAIL = str(ROOT / "litmus/family-mail-plain.rdma")


def test_reports_and_explanations_name_the_copies(cli: Cli, tmp_path: Path) -> None:
    (witness,) = (each["witness"] for each in json.loads(cli("check", "--format", "json", MAIL).stdout)["results"])
    named = {event["thread"] for event in witness["events"]} - {None}
    assert named == {"P[0]", "P[1]", "P[2]"} and {"Peer[0].mail"} <= {event["cell"] for event in witness["events"]}
    explained = cli("explain", MAIL).stdout
    assert "P[0] line 10 reads Peer[0].mail = 0, later overwritten by P[2] line 9 (NIC)" in " ".join(explained.split())
    assert cli("explain", MAIL, "-o", "page.html").returncode == 1
    page = (tmp_path / "page.html").read_text()
    assert all(f"P[{k}]" in page and f"Peer[{k}].mail" in page for k in range(3))
    assert cli("report", MAIL, "--no-cache", "-o", "report.html", "--claims", "0").returncode == 1
    found = cli("outcomes", MAIL).stdout
    assert "P[0].seen" in found and "holds      allowed under rdma" in found


def test_certificates_of_families(cli: Cli, tmp_path: Path) -> None:
    files = [str(ROOT / f"litmus/family-{name}.rdma") for name in ("mail-plain", "slots")]
    assert cli("check", "--certificate", "proofs", "-D", "N=2,3", *files).returncode == 1
    for name in ("mail-plain", "slots"):
        for number in (2, 3):
            (proof,) = (tmp_path / "proofs").glob(f"family-{name}.rdma,N={number}.json*")
            assert cli("verify-certificate", "-D", f"N={number}", str(proof)).returncode == 0


@pytest.mark.parametrize(("condition", "code"), [("P[0].seen == 0 && P[2] ended", 1), ("P[0] ended && P[0].seen > 1", 0)])
def test_targets_name_copies(cli: Cli, condition: str, code: int) -> None:
    assert cli("reach", "-t", condition, MAIL).returncode == code


def test_models_for_other_tools_have_names_without_brackets(cli: Cli) -> None:
    told = cli("export", "--to", "promela", MAIL).stdout
    assert "proctype" in told and "P_0" in told and "/* Peer[0].mail@1" in told
    assert cli("export", "--to", "spec", MAIL).returncode == 0
    assert "beta[P[0]>Peer[1]]" in cli("export", "--to", "dot", MAIL).stdout


def test_a_range_goes_through_families_with_their_claims(cli: Cli) -> None:
    done = cli("scale", "-D", "N=2..5", "--expect", str(ROOT / "litmus/family-polls-two.rdma"))
    assert done.returncode == 0 and "Robust up to N = 2, not robust from N = 3." in done.stdout
    assert done.stdout.count("yes") == 4
