"""The writers: rows, totals, exit codes and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from rdma_robust.frame.answer import Answer
from rdma_robust.frame.exits import Exit, worst
from rdma_robust.frame.formats.answer_table import AnswerTable
from rdma_robust.frame.formats.json_text import dump, layout
from rdma_robust.frame.formats.section import document
from rdma_robust.frame.question import Layout, Section
from rdma_robust.language.flow.cfg import FaultKind
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.questions.robustness_question import CHECK, RobustnessAsking
from rdma_robust.reports.check.result import Result, exit_of, result_of, summarise
from rdma_robust.reports.check.robustness_view import RobustnessView, expected_word, result_object, verdicts_line
from rdma_robust.semantics.trace import EventType
from rdma_robust.text import one_line, printable
from tests.conftest import ROOT
from tests.support.questions import failure, gave_up
from tests.unit.reports.samples import outcome

RESULT_SCHEMA = json.loads((ROOT / "rdma_robust/schema/check.schema.json").read_text())
FOUND = result_of(outcome(), "sb.rdma")
CALM = replace(FOUND, verdict="robust", witness=None, expected=None, as_expected=None)
INVALID = failure("bad.rdma", "invalid", "line 1: no")
BROKEN = failure("bug.rdma", "internal", "internal error: no")
LOST = gave_up("long.rdma", "reached the time limit")


@pytest.mark.parametrize(
    ("result", "plain", "expecting"),
    [
        (FOUND, Exit.NOT_ROBUST, Exit.OK),
        (CALM, Exit.OK, Exit.NOT_ROBUST),
        (replace(CALM, expected="robust", as_expected=True), Exit.OK, Exit.OK),
        (replace(CALM, expected="not-robust", as_expected=False), Exit.OK, Exit.NOT_ROBUST),
        (INVALID, Exit.INVALID, Exit.INVALID),
        (failure("x", "unreadable", "no"), Exit.INVALID, Exit.INVALID),
        (LOST, Exit.UNKNOWN, Exit.UNKNOWN),
        (BROKEN, Exit.INTERNAL, Exit.INTERNAL),
    ],
)
def test_exit_codes(result: Result, plain: Exit, expecting: Exit) -> None:
    assert exit_of(result, False) is plain
    assert exit_of(result, True) is expecting


def test_the_worst_wins() -> None:
    codes = [Exit.OK, Exit.NOT_ROBUST, Exit.UNKNOWN, Exit.INVALID, Exit.INTERNAL]
    for k, code in enumerate(codes, 1):
        assert worst(codes[:k]) is code
        assert worst(codes[:k][::-1]) is code
    assert worst([]) is Exit.OK


def test_an_undecided_program_is_neither_as_expected_nor_not() -> None:
    undecided = result_of(replace(outcome(), verdict=Verdict.UNKNOWN, witness=None), "sb.rdma")
    assert undecided.as_expected is None
    assert expected_word(undecided) == "?"


def text(files: list[str], *, expect: bool) -> AnswerTable[Result]:
    return RobustnessView(RobustnessAsking(CheckOptions(), expect), full=False).text(Layout(files))


def test_rows_align_and_totals_add_up() -> None:
    results = [FOUND, CALM, INVALID, LOST, BROKEN]
    report = text([r.file for r in results], expect=True)
    (head,) = report.header()
    rows = [line for r in results for line in report.lines(r)]
    assert len(rows) == 5
    assert {row.index(row.split()[1]) for row in rows} == {head.index("verdict")}
    summary = summarise(results, requested=5, expect=True, time_s=1)
    assert summary.exit_code == Exit.INTERNAL
    (totals,) = verdicts_line(results, summary, expect=True)
    assert totals.startswith("5 programs: 1 robust, 1 not robust, 1 unknown, 2 errors; 1 as expected, 1 not")
    stopped = summarise(results[:2], requested=5, expect=False, time_s=1, stopped=Exit.INTERRUPTED)
    assert verdicts_line(results[:2], stopped, expect=True)[0].startswith("interrupted: 2 of 5 done")


def test_a_row_stays_one_line_whatever_the_reason() -> None:
    report = text(["a\nb"], expect=False)
    (row,) = report.lines(failure("a\nb", "unreadable", "no\nsuch \x1b[31mfile" + "x" * 1000))
    assert row.isprintable()
    assert len(row) < 300


@pytest.mark.parametrize("result", [FOUND, CALM, INVALID, BROKEN, LOST], ids=lambda r: r.file)
def test_json_follows_the_schema(result: Result) -> None:
    summary = summarise([result], requested=1, expect=False, time_s=0.5)
    asking = RobustnessAsking(CheckOptions(timeout=1.5, memory=100))
    report = json.loads(layout(document(Section(CHECK, asking, [Answer(result)], summary))))
    Draft202012Validator(RESULT_SCHEMA).validate(report)
    assert report["results"] == [json.loads(dump(result_object(result)))]


def test_the_witness_in_json_has_the_trace_with_its_relations() -> None:
    witness = json.loads(dump(result_object(FOUND)))["witness"]
    ids = [e["id"] for e in witness["events"]]
    assert ids == list(range(len(ids)))
    assert all(e["line"] in (4, 5) and e["column"] > 0 for e in witness["events"] if e["part"] != "init")
    assert witness["relations"]["rf"]
    assert [edge["target"] for edge in witness["cycle"]] == [
        *(edge["source"] for edge in witness["cycle"][1:]),
        witness["cycle"][0]["source"],
    ]


@given(st.text())
def test_escaped_text_is_printable_and_says_the_same(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert one_line(text, 20).isprintable()
    assert len(one_line(text, 20)) <= 20
    if text.isprintable():
        assert shown == text


def test_the_schema_knows_every_event_and_fault() -> None:
    properties = [d.get("properties", {}) for d in RESULT_SCHEMA["$defs"].values()]
    lists = [p[name]["enum"] for p in properties for name in ("type", "kind") if "enum" in p.get(name, {})]
    assert {t.value for t in EventType} in [set(each) for each in lists]
    kinds = {kind for each in get_args(FaultKind) for kind in get_args(each) or (each,)}
    assert kinds in [set(each) for each in lists]
