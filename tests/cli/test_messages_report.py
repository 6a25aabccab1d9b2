"""Programs that pass messages in the reports of `report`."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import ROBUST, Cli
from tests.support.message_texts import written

FORMS = ("html", "md", "json", "jsonl", "junit", "csv")


@pytest.fixture
def reports(cli: Cli, tmp_path: Path) -> dict[str, str]:
    written(tmp_path, "relay", "ring", "broken")
    (tmp_path / "calm.rdma").write_text(ROBUST)
    forms = [word for form in FORMS for word in ("--format", form)]
    done = cli("report", ".", "-o", "out/", "--no-cache", *forms)
    assert done.returncode == 2
    assert "3 message programs: 1 good, 1 violated, 1 with deadlocks, 1 in error" in done.stderr
    return {path.name.removeprefix("report."): path.read_text() for path in (tmp_path / "out").iterdir()}


def test_message_programs_are_in_every_form(reports: dict[str, str]) -> None:
    page = reports["html"]
    assert "Programs that pass messages" in page
    assert "VIOLATED under zero, infinite and any: line 5: assert v == 1 is false: v is 2" in page
    assert page.count('role="img"') >= 3
    assert "| `./relay.mp` | VIOLATED | zero, any | yes | 1 | 2 | states |" in reports["md"]
    found = json.loads(reports["json"])
    assert [each["file"] for each in found["results"]] == ["./calm.rdma"]
    assert [(each["file"], each["buffer"]) for each in found["messages"]][:2] == [
        ("./broken.mp", None),
        ("./relay.mp", "zero"),
    ]
    assert found["summary"]["exit_code"] == 2
    lines = [json.loads(line) for line in reports["jsonl"].splitlines()]
    assert len(lines) == 1 + 1 + 3 + 3
    suite = next(each for each in ElementTree.fromstring(reports["junit.xml"]) if each.get("name") == "messages")
    assert [(case.get("name"), [part.tag for part in case]) for case in suite] == [
        ("./broken.mp", ["error"]),
        ("./relay.mp", ["failure"]),
        ("./ring.mp", []),
    ]
    assert [line.split(",")[0] for line in reports["csv"].splitlines()[2:]] == [
        "./broken.mp",
        *3 * ["./relay.mp"],
        *3 * ["./ring.mp"],
    ]


@pytest.mark.ci
def test_claims_count_with_expect(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, "relay", "swap")
    assert cli("report", "relay.mp", "swap.mp", "-o", "r.md", "--expect", "--no-cache").returncode == 0
    assert cli("report", "relay.mp", "swap.mp", "-o", "r.md", "--no-cache").returncode == 1


@pytest.mark.ci
def test_a_second_run_decides_nothing(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, "relay", "ring")
    arguments = ("report", ".", "--cache", "kept", "--format", "json", "--format", "html", "-o", "out/")
    first = cli(*arguments)
    reports = [json.loads((tmp_path / "out/report.json").read_text())["messages"]]
    page = (tmp_path / "out/report.html").read_text()
    again = cli(*arguments)
    reports.append(json.loads((tmp_path / "out/report.json").read_text())["messages"])
    assert first.returncode == again.returncode == 1
    assert "cache" not in first.stderr
    assert "2 message programs: 1 good, 1 violated, 1 with deadlocks; 2 from the cache" in again.stderr
    assert "none decided" not in again.stderr
    assert reports[0] == reports[1]
    assert (tmp_path / "out/report.html").read_text().count('role="img"') == page.count('role="img"') >= 2
    (tmp_path / "ring.mp").write_text((tmp_path / "ring.mp").read_text().replace("N = 3", "N = 4"))
    edited = cli(*arguments)
    assert "1 with deadlocks; 1 from the cache" in edited.stderr
    assert len(json.loads((tmp_path / "out/report.json").read_text())["messages"][-1]["processes"]) == 4
    expected = cli(*arguments, "--expect").stderr
    assert "2 as expected, 0 not" in expected and "cache" not in expected
    assert "cache" not in cli("report", "ring.mp", "--no-cache", "-o", "r.json").stderr
