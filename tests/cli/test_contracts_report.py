"""Contracts in the reports of `report`, and in the forms of `contracts check` for other tools."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft4Validator, Draft202012Validator
from referencing import Registry, Resource

from tests.conftest import ROOT, Cli
from tests.support.contract_texts import written_contracts
from tests.support.message_texts import written

SARIF = Draft4Validator(json.loads((ROOT / "tests/data/sarif-2.1.0-rtm.5.json").read_text()))
SCHEMAS = [
    json.loads((ROOT / f"rdma_robust/schema/{name}.schema.json").read_text())
    for name in ("report", "check", "messages-check", "contracts-check")
]
REPORT = Draft202012Validator(
    SCHEMAS[0], registry=Registry().with_resources([(each["$id"], Resource.from_contents(each)) for each in SCHEMAS])
)
FORMS = ("html", "md", "json", "jsonl", "csv", "junit", "sarif")
NAMES = ["./bcast.mp", "./broken.mp", "./gather.mp", "./ring.mp"]


@pytest.fixture(autouse=True)
def programs(tmp_path: Path) -> None:
    written_contracts(tmp_path)
    (tmp_path / "last.mp").unlink()


def log(text: str) -> Any:
    """The results of a SARIF log, which is valid."""
    whole = json.loads(text)
    SARIF.validate(whole)
    return whole["runs"][0]["results"]


def test_contracts_are_in_every_form(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, "ring")
    (tmp_path / "ring.mp").write_text((tmp_path / "ring.mp").read_text() + (tmp_path / "bcast.mp").read_text())
    forms = [word for form in FORMS for word in ("--format", form)]
    done = cli("report", ".", "-o", "out/", "--no-cache", *forms)
    assert done.returncode == 2
    assert "1 message program: 1 good" in done.stderr, "files with contracts only are no programs that are good"
    assert "4 files with contracts, 3 functions: 2 verified, 1 violated, 1 in error" in done.stderr
    assert done.stderr.count("[RR101]") == 1
    reports = {path.name.removeprefix("report."): path.read_text() for path in (tmp_path / "out").iterdir()}
    page = reports["html"]
    assert '<h2 id="contracts-title">Contracts</h2>' in page
    assert "gather_w, n = 3: ITF, a receive from any may take a message from outside" in page
    assert page.count('role="img"') >= 1 and "When they" not in page and "<h3>Inputs</h3>" in page
    assert "| `./gather.mp` | gather\\_w | VIOLATED | ITF | 3\\.\\.4 | yes |" in reports["md"]
    found = json.loads(reports["json"])
    REPORT.validate(found)
    assert [each["file"] for each in found["contracts"]] == NAMES
    assert {each["file"] for each in found["messages"]} == {"./ring.mp"}
    assert [json.loads(line)["file"] for line in reports["jsonl"].splitlines()][3:] == NAMES
    rows = [row for row in csv.DictReader(reports["csv"].splitlines()) if not row["buffer"]]
    assert [(row["function"], row["verdict"], row["class"], row["n"]) for row in rows] == [
        ("bcast", "verified", "", "1..4"),
        ("", "error", "", ""),
        ("gather_w", "violated", "ITF", "3..4"),
        ("bcast", "verified", "", "1..4"),
    ]
    suite = next(each for each in ElementTree.fromstring(reports["junit.xml"]) if each.get("name") == "contracts")
    assert [(case.get("name"), [part.tag for part in case]) for case in suite] == [
        ("./bcast.mp: bcast", []),
        ("./broken.mp", ["error"]),
        ("./gather.mp: gather_w", ["failure"]),
        ("./ring.mp: bcast", []),
    ]
    assert [each["ruleId"] for each in log(reports["sarif"])] == ["RR101", "RR901", "RR035"]


@pytest.mark.ci
@pytest.mark.parametrize(("old", "new", "code"), [("", "", 0), ("violated ITF from 3", "verified", 1), ("expect", "//", 1)])
def test_claims_count_with_expect(cli: Cli, tmp_path: Path, old: str, new: str, code: int) -> None:
    text = (tmp_path / "gather.mp").read_text()
    (tmp_path / "gather.mp").write_text(text.replace(old, new) if old else text)
    done = cli("report", "gather.mp", "bcast.mp", "-o", "r.md", "--expect", "--no-cache")
    page = (tmp_path / "r.md").read_text()
    assert "## Contracts" in page and "## Programs" not in page
    assert (done.returncode, f"{2 - code} as expected, {code} not" in done.stderr) == (code, True)


def test_a_violation_is_at_its_place_with_its_run(cli: Cli, tmp_path: Path) -> None:
    (found,) = log(cli("contracts", "check", "bcast.mp", "gather.mp", "--format", "sarif").stdout)
    place = found["locations"][0]["physicalLocation"]["region"]
    assert (found["ruleId"], found["level"], place) == (
        "RR035",
        "error",
        {"startLine": 16, "startColumn": 7, "endColumn": 24},
    )
    steps = found["codeFlows"][0]["threadFlows"][0]["locations"]
    said = [each["location"]["message"]["text"] for each in steps]
    assert said[:2] == ["P1 sends 11 to P0", "P0 takes 11 from P1"]
    (tmp_path / "gather.mp").write_text((tmp_path / "gather.mp").read_text().replace("violated", "verified //"))
    lines = cli("contracts", "check", "gather.mp", "broken.mp", "--expect", "--format", "concise").stdout.splitlines()
    assert lines[0].startswith("gather.mp:16:7: error: gather_w, n = 3: ITF, ")
    assert [line.split(" [")[-1] for line in lines] == ["RR035]", "RR101]", "RR901]"]


def test_contracts_are_kept_between_runs(cli: Cli, tmp_path: Path) -> None:
    arguments = ("report", "bcast.mp", "gather.mp", "--cache", "kept", "--format", "json", "-o", "out/")
    first = cli(*arguments)
    reports = [json.loads((tmp_path / "out/report.json").read_text())["contracts"]]
    again = cli(*arguments)
    reports.append(json.loads((tmp_path / "out/report.json").read_text())["contracts"])
    assert first.returncode == again.returncode == 1
    assert "cache" not in first.stderr
    assert "2 files with contracts, 2 functions: 1 verified, 1 violated; 2 from the cache" in again.stderr
    assert reports[0] == reports[1]


def test_contracts_in_c_are_in_reports(cli: Cli, tmp_path: Path) -> None:
    data = ROOT / "tests/data/c/contracts"
    for name in ("scatter", "scatter-first"):
        (tmp_path / f"{name}.c").write_text((data / f"{name}.c").read_text())
    (tmp_path / "other.c").write_text("int x;\n")
    done = cli("report", "scatter.c", "scatter-first.c", "-o", "out/", "--no-cache", "--format", "sarif", "--format", "md")
    assert "2 files with contracts, 2 functions: 1 verified, 1 violated" in done.stderr
    (found,) = log((tmp_path / "out/report.sarif").read_text())
    place = found["locations"][0]["physicalLocation"]
    assert (found["ruleId"], place["artifactLocation"]["uri"], place["region"]["startLine"]) == (
        "RR033",
        "scatter-first.c",
        8,
    )
    assert "| `scatter-first.c` | scatter | VIOLATED | SGV |" in (tmp_path / "out/report.md").read_text()
    checked = cli("contracts", "check", "--procs", "1", "--format", "json", ".")
    files = [each["file"] for each in json.loads(checked.stdout)["results"]]
    assert "./scatter.c" in files and "./gather.mp" in files and "./other.c" not in files
