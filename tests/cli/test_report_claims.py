"""The installed command: claims in the reports of `report`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from jsonschema import Draft4Validator, Draft202012Validator
from lxml import etree
from referencing import Registry, Resource

from tests.cli.test_many_claims import HANGS, UNKNOWN, VACUOUS, VIOLATED
from tests.conftest import NOT_ROBUST, ROBUST, ROOT, Cli

SARIF = Draft4Validator(json.loads((ROOT / "tests/data/sarif-2.1.0-rtm.5.json").read_text()))
JUNIT = etree.XMLSchema(etree.parse(str(ROOT / "tests/data/junit-10.xsd")))
SCHEMAS = [json.loads((ROOT / f"rdma_robust/schema/{name}.schema.json").read_text()) for name in ("report", "check")]
REPORT = Draft202012Validator(
    SCHEMAS[0], registry=Registry().with_resources([(s["$id"], Resource.from_contents(s)) for s in SCHEMAS])
)
FORMS = ("html", "md", "json", "csv", "junit", "sarif")
FAST = ("--max-states", "300", "--repair", "0")


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RDMA_ROBUST_CACHE", str(tmp_path / "cache"))
    (tmp_path / "p").mkdir()
    texts = {"a": ROBUST, "b": VIOLATED, "c": HANGS, "d": VACUOUS, "e": UNKNOWN, "f": "node A {\n", "g": NOT_ROBUST}
    for name, text in texts.items():
        (tmp_path / "p" / f"{name}.rdma").write_text(text)
    return tmp_path


def test_every_form_shows_violated_claims(cli: Cli, programs: Path) -> None:
    done = cli("report", "p", "-o", "out/", *FAST, *(f"--format={form}" for form in FORMS))
    assert done.returncode == 2
    assert "2 claims violated" in done.stderr
    out = programs / "out"
    report = json.loads((out / "report.json").read_text())
    REPORT.validate(report)
    claims = dict(zip("abcdefg", report["claims"], strict=True))
    assert claims["f"] is None
    statuses = {name: [each["status"] for each in found["findings"]] for name, found in claims.items() if found}
    assert statuses == {
        "a": ["holds"],
        "b": ["violated", "holds"],
        "c": ["violated"],
        "d": ["unreachable", "holds"],
        "e": ["unknown", "unknown"],
        "g": ["holds", "holds", "holds"],
    }
    hang = claims["c"]["findings"][0]
    assert [(wait["thread"], wait["line"]) for wait in hang["waits"]] == [("T", 3)]
    assert [step["line"] for step in claims["b"]["findings"][0]["run"]] == [3]
    rows = {row["family"]: row for row in csv.DictReader((out / "report.csv").read_text().splitlines())}
    assert rows["b"]["violated"] == "assert r == 1 (line 4)"
    assert rows["a"]["violated"] == rows["e"]["violated"] == ""
    text = (out / "report.md").read_text()
    assert "line 4: `assert r == 1` is **VIOLATED**" in text
    assert "`no hang under rdma` is **VIOLATED**" in text and "T waits at line 3" in text
    assert 'data-filter="violated"' in (out / "report.html").read_text()


def test_junit_and_sarif_have_a_finding_for_each(cli: Cli, programs: Path) -> None:
    assert cli("report", "p", "-o", "out/", *FAST, "--format=junit", "--format=sarif").returncode == 2
    log = json.loads((programs / "out/report.sarif").read_text())
    SARIF.validate(log)
    found: dict[str, list[str]] = {}
    for result in log["runs"][0]["results"]:
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        found.setdefault(Path(uri).stem, []).append(result["ruleId"])
    assert {name: codes for name, codes in found.items() if name in "abcdeg"} == {
        "b": ["RR016"],
        "c": ["RR016"],
        "d": ["RR017"],
        "e": ["RR010"],
        "g": ["RR010"],
    }
    tree = etree.parse(str(programs / "out/report.junit.xml")).getroot()
    JUNIT.assertValid(tree)
    cases = {case.get("name"): [each.tag for each in case] for case in tree.iter("testcase")}
    assert cases["p/b.rdma: line 4: assert r == 1"] == ["failure"]
    assert cases["p/c.rdma: no hang under rdma"] == ["failure"]
    assert cases["p/d.rdma: line 5: assert r == 2"] == ["skipped"]
    assert cases["p/e.rdma: no hang under rdma"] == ["skipped"]
    assert cases["p/g.rdma: no hang under rdma"] == ["system-out"]


@pytest.mark.parametrize(
    ("file", "options", "code"),
    [
        ("b", (), 1),
        ("c", (), 1),
        ("c", ("--expect",), 1),
        ("b", ("--claims", "0"), 0),
        ("c", ("--claims", "0"), 0),
        ("d", (), 0),
        ("a", ("--expect",), 0),
    ],
)
def test_violated_claims_count_and_nothing_else_of_them(cli: Cli, file: str, options: tuple[str, ...], code: int) -> None:
    done = cli("report", f"p/{file}.rdma", "-o", "r.json", *FAST, *options)
    assert done.returncode == code
    report = json.loads(Path("r.json").read_text())
    REPORT.validate(report)
    assert report["summary"]["exit_code"] == code
    assert (report["claims"][0] is None) == ("0" in options)


def test_answers_for_claims_are_kept(cli: Cli) -> None:
    for name in ("b", "c", "e"):
        cli("report", f"p/{name}.rdma", "-o", "first.json", *FAST, "--claims", "2")
        again = cli("report", f"p/{name}.rdma", "-o", "again.json", *FAST, "--claims", "2")
        assert "1 from the cache" in again.stderr
        first, second = (json.loads(Path(f"{each}.json").read_text()) for each in ("first", "again"))
        assert first["claims"] == second["claims"]
    longer = cli("report", "p/e.rdma", "-o", "r.json", *FAST, "--claims", "3")
    assert "from the cache" not in longer.stderr
    longer = cli("report", "p/b.rdma", "-o", "r.json", *FAST, "--claims", "3")
    assert "1 from the cache" in longer.stderr
    assert "from the cache" not in cli("report", "p/b.rdma", "-o", "r.json", *FAST, "--claims", "0").stderr


def test_claims_out_of_time_cost_nothing_else(cli: Cli) -> None:
    endless = UNKNOWN.replace(
        "x = 1 } }", "x = 1 } }\nthread V on A { loop { put B.y = x } }\nthread W on A { loop { put B.y = x } }"
    )
    Path("p/h.rdma").write_text(endless)
    done = cli("report", "p/h.rdma", "-o", "r.json", "--claims", "0.3", "--repair", "0")
    assert done.returncode == 1
    report = json.loads(Path("r.json").read_text())
    REPORT.validate(report)
    assert report["results"][0]["verdict"] == "not-robust"
    claims = report["claims"][0]
    assert claims["reason"] or {each["status"] for each in claims["findings"]} == {"unknown"}
