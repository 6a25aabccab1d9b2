"""The reports of a batch: they say what is so, keep to their formats, and let no text from outside out of its place."""

from __future__ import annotations

import csv
import json
import re
import zlib
from base64 import b64decode
from collections.abc import Callable
from io import StringIO
from typing import Any
from urllib.parse import unquote

import pytest
from jsonschema import Draft4Validator, Draft202012Validator
from lxml import etree
from referencing import Registry, Resource

from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.formats.sarif import artifact
from rdma_robust.reports.batch.batch_exchange import COLUMNS, write_csv, write_json, write_jsonl, write_junit, write_sarif
from rdma_robust.reports.batch.batch_formats import FORMS
from rdma_robust.reports.batch.batch_markdown import code, text, write_markdown
from rdma_robust.reports.batch.batch_view import BatchReport, ReportEntry, family_of_file
from tests.conftest import INVALID, NOT_ROBUST, ROBUST, ROOT
from tests.support.batches import HOSTILE_NAMES, entry, hostile, litmus, report_of
from tests.support.questions import failure

SARIF = Draft4Validator(json.loads((ROOT / "tests/data/sarif-2.1.0-rtm.5.json").read_text()))
JUNIT = etree.XMLSchema(etree.parse(str(ROOT / "tests/data/junit-10.xsd")))
SCHEMAS = [json.loads((ROOT / f"rdma_robust/schema/{name}.schema.json").read_text()) for name in ("report", "check")]
REPORT = Draft202012Validator(
    SCHEMAS[0], registry=Registry().with_resources([(s["$id"], Resource.from_contents(s)) for s in SCHEMAS])
)


@pytest.fixture(scope="module")
def nasty() -> BatchReport:
    return hostile()


@pytest.fixture(scope="module")
def suite() -> BatchReport:
    return litmus("mailbox-plain", "mailbox-polled", "sb-put-plain", "spin-cancel-spin", "ring-two-slots-plain")


@pytest.fixture(scope="module", params=["nasty", "suite"])
def report(request: pytest.FixtureRequest) -> BatchReport:
    found: BatchReport = request.getfixturevalue(request.param)
    return found


def sarif(report: BatchReport) -> Any:
    return json.loads(write_sarif(report))["runs"][0]


def test_sarif_is_valid(report: BatchReport) -> None:
    SARIF.validate(json.loads(write_sarif(report)))


def test_junit_is_valid(report: BatchReport) -> None:
    JUNIT.assertValid(etree.fromstring(write_junit(report).encode()))


def test_json_is_valid(report: BatchReport) -> None:
    document = json.loads(write_json(report))
    REPORT.validate(document)
    assert [json.loads(line) for line in write_jsonl(report).splitlines()] == document["results"]
    assert [s["file"] for s in document["sources"]] == [r["file"] for r in document["results"]]
    assert sum(f["programs"] for f in document["families"]) == document["summary"]["programs"]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_text_that_can_be_written(nasty: BatchReport, form: str) -> None:
    FORMS[form].write(nasty).encode()


@pytest.mark.parametrize("form", FORMS)
def test_nothing_done_is_a_report_too(form: str) -> None:
    """A run can be interrupted before its first program is done."""
    assert FORMS[form].write(report_of([])) or form == "jsonl"


@pytest.mark.parametrize("form", FORMS)
def test_the_same_batch_gives_the_same_report(suite: BatchReport, form: str) -> None:
    assert FORMS[form].write(suite) == FORMS[form].write(suite)


def test_sarif_points_at_the_lines(suite: BatchReport) -> None:
    """The regions of the mailbox cover the overtaken put and the write that overtakes it, to the character."""
    source = (ROOT / "litmus/mailbox-plain.rdma").read_text().split("\n")
    found = next(r for r in sarif(suite)["results"] if r["ruleId"] == "RR010")

    def marked(location: dict[str, Any]) -> str:
        region = location["physicalLocation"]["region"]
        return source[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1]

    assert found["level"] == "error"
    assert marked(found["locations"][0]) == "put B.d = v"
    assert {marked(place) for place in found["relatedLocations"]} == {"put B.d = v", "v = 2"}
    run, cycle = (flow["threadFlows"][0]["locations"] for flow in found["codeFlows"])
    assert [marked(step["location"]) for step in run] == ["v = 1", "v = 2", "put B.d = v", "put B.d = v"]
    assert [step["executionOrder"] for step in run] == [1, 2, 3, 4]
    assert [step["importance"] for step in run] == ["important", "essential", "important", "important"]
    assert {marked(step["location"]) for step in cycle} == {"put B.d = v", "v = 2"}
    assert found["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "litmus/mailbox-plain.rdma",
        "uriBaseId": "%SRCROOT%",
    }


def test_sarif_rules_are_those_of_the_results(nasty: BatchReport) -> None:
    run = sarif(nasty)
    rules = run["tool"]["driver"]["rules"]
    assert {r["ruleId"] for r in run["results"]} >= {"RR010", "RR011", "RR201"}
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert all(rule["help"]["text"] and rule["help"]["markdown"] for rule in rules)


def test_sarif_fingerprints_do_not_depend_on_places() -> None:
    """Code scanning knows a finding again when lines move, and takes another cycle for another finding."""

    def prints(program: str) -> list[dict[str, str]]:
        return [r["partialFingerprints"] for r in sarif(report_of([entry("a.rdma", program)]))["results"]]

    moved = "// a comment\n\n" + NOT_ROBUST
    assert prints(NOT_ROBUST) == prints(moved) != prints(NOT_ROBUST.replace("put B.y = 1", "put B.y = 2"))


def test_sarif_with_expect_tells_only_of_mismatches() -> None:
    names = ("mailbox-plain", "mailbox-polled")
    assert [r["ruleId"] for r in sarif(litmus(*names))["results"]] == ["RR010"]
    assert sarif(litmus(*names, expect=True))["results"] == []
    wrong = entry("wrong.rdma", ROBUST.replace("expect robust", "expect not robust"))
    silent = entry("silent.rdma", ROBUST.replace("expect robust", ""))
    found = sarif(report_of([wrong, silent], expect=True))["results"]
    assert [r["ruleId"] for r in found] == ["RR012", "RR013"]
    assert found[0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 6


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_sarif_uris_are_relative_and_lead_to_the_file(name: str) -> None:
    place = artifact(f"some/../folder/{name}")
    assert re.fullmatch(r"[A-Za-z0-9%/._~-]+", place["uri"])
    assert unquote(place["uri"], errors="surrogateescape") == f"folder/{name}"
    assert artifact(str(ROOT.parent / "elsewhere.rdma"))["uri"].startswith("file:///")
    assert artifact(str(ROOT / "litmus/a b.rdma")) == {"uri": "litmus/a%20b.rdma", "uriBaseId": "%SRCROOT%"}


def test_sarif_messages_have_no_links() -> None:
    found = failure("[x](http:y) a[0] [b] (c).rdma", "unreadable", "[no](1)")
    notes = sarif(report_of([ReportEntry(found)]))["invocations"][0]["toolExecutionNotifications"]
    assert notes[0]["message"]["text"] == r"\[x](http:y) a[0] [b] (c).rdma: \[no](1)"


def test_junit_counts(nasty: BatchReport) -> None:
    root = etree.fromstring(write_junit(nasty).encode())
    cases = root.findall(".//testcase")
    claims = sum(len(entry.claims.findings) for entry in nasty.entries if entry.claims)
    assert claims
    assert int(root.get("tests")) == len(cases) == len(nasty.entries) + claims
    assert int(root.get("failures")) == len(root.findall(".//failure")) == nasty.summary["not_robust"]
    assert int(root.get("errors")) == len(root.findall(".//error")) == nasty.summary["error"] + nasty.summary["unknown"]
    for suite in root.findall("testsuite"):
        assert int(suite.get("tests")) == len(suite.findall("testcase"))


def test_junit_explains(suite: BatchReport) -> None:
    root = etree.fromstring(write_junit(suite).encode())
    failure = root.find(".//testcase[@name='litmus/mailbox-plain.rdma']/failure")
    assert "NOT ROBUST" in failure.get("message")
    assert "the NIC may read `v`" in re.sub(r"\s+", " ", failure.text)
    assert root.find(".//testcase[@name='litmus/mailbox-polled.rdma']/failure") is None


def test_csv_has_a_row_a_program_and_no_formula(nasty: BatchReport) -> None:
    rows = list(csv.DictReader(StringIO(write_csv(nasty), newline="")))
    assert len(rows) == len(nasty.entries)
    for row, item in zip(rows, nasty.entries, strict=True):
        assert set(row) == set(COLUMNS)
        assert row["verdict"] == item.result.verdict
        assert row["sha256"] == (item.sha256 or "")
        assert not [cell for cell in row.values() if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]
        assert "\n" not in row["file"]


def test_markdown_tables_keep_their_columns(nasty: BatchReport) -> None:
    """No name breaks out of its cell: an unescaped pipe or a line end would."""
    lines = [line for line in write_markdown(nasty).splitlines() if line.startswith("| ")]
    programs = lines[lines.index("| program | verdict | expected? | note | states | time |") :]
    assert len(programs) == len(nasty.entries) + 2
    for line in programs:
        assert len(re.findall(r"(?<!\\)\|", line)) == 7


def test_markdown_escapes() -> None:
    assert text("a|b <i> [x](y) @me `c` #1") == r"a\|b \<i\> \[x\]\(y\) \@me \`c\` \#1"
    assert code("plain") == "`plain`"
    assert code("with `ticks` and | pipe") == r"`` with `ticks` and \| pipe ``"
    assert code("two\nlines") == "`two lines`"


def test_markdown_tells_what_needs_attention(suite: BatchReport) -> None:
    written = write_markdown(suite)
    assert "`litmus/mailbox-plain.rdma`: NOT ROBUST" in written
    assert "the CPU goes on without waiting" in written.replace("\\", "")


@pytest.mark.parametrize("write", [write_markdown, write_csv, write_junit])
def test_no_control_characters_get_out(nasty: BatchReport, write: Callable[[BatchReport], str]) -> None:
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202e\ud800-\udfff]", write(nasty).replace("\x7f", ""))


def test_families() -> None:
    assert [family_of_file(n) for n in ("a/sb-put.rdma", "sb.rdma", "-x.rdma", "<stdin>", "a.b-c.rdma")] == [
        "sb",
        "sb",
        "-x.rdma",
        "<stdin>",
        "a.b",
    ]
    report = litmus("mailbox-plain", "mailbox-polled", "sb-put-plain")
    totals = [(f.family, f.programs, f.robust, f.not_robust) for f in report.families]
    assert totals == [("mailbox", 2, 1, 1), ("sb", 1, 0, 1)]
    assert valid_unicode("\udcff") == "\\udcff"


def test_the_page_names_the_codes_of_messages() -> None:
    page = FORMS["html"].write(report_of([entry("bad.rdma", INVALID)]))
    packed = re.findall(r"[A-Za-z0-9+/=]{200,}", page)
    details = "".join(unpacked(each) for each in packed)
    assert "unknown name <code>xx</code> <code>RR201</code>" in details


def unpacked(text: str) -> str:
    """What is behind a row of the page, nothing for other long words."""
    try:
        return zlib.decompress(b64decode(text)).decode()
    except (ValueError, zlib.error):
        return ""
