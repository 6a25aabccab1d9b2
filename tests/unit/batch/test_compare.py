"""What got better and what got worse, and that only reports are compared."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rdma_robust.batch.compare import compare, read_report
from rdma_robust.errors import UsageError
from rdma_robust.reports.batch.batch_exchange import write_json
from rdma_robust.reports.batch.compare_report import comparison_json as write_changes
from rdma_robust.reports.batch.compare_report import comparison_markdown, comparison_text
from tests.conftest import ROOT
from tests.support.batches import HOSTILE_NAMES, hostile, litmus

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/compare.schema.json").read_text()))


def document(*programs: tuple[str, str, bool | None], sha: str = "0", interrupted: bool = False) -> str:
    results = [{"file": f, "verdict": v, "as_expected": e, "reason": f"why {f}"} for f, v, e in programs]
    sources = [{"file": f, "sha256": sha * 64} for f, _, _ in programs]
    whole = {"format": "rdma-robust/report", "version": 1, "tool": {"version": "1"}, "interrupted": interrupted}
    return json.dumps(whole | {"results": results, "sources": sources})


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (("robust", None), ("not-robust", None), "regression"),
        (("robust", None), ("unknown", None), "regression"),
        (("not-robust", None), ("unknown", None), "regression"),
        (("unknown", None), ("error", None), "regression"),
        (("not-robust", None), ("robust", None), "improvement"),
        (("unknown", None), ("not-robust", None), "improvement"),
        (("error", None), ("robust", None), "improvement"),
        (("not-robust", True), ("robust", False), "regression"),
        (("robust", False), ("not-robust", True), "improvement"),
        (("robust", True), ("not-robust", True), "regression"),
        (("robust", True), ("unknown", None), "regression"),
        (("robust", True), ("robust", False), "same"),
        (("error", None), ("error", None), "same"),
    ],
)
def test_better_or_worse(old: tuple[str, bool | None], new: tuple[str, bool | None], kind: str) -> None:
    found = compare(*(read_report(name, document(("a.rdma", *side))) for name, side in (("old", old), ("new", new))))
    assert [c.kind for c in found.changes] == [kind]


def test_order_and_totals() -> None:
    old = read_report("old.json", document(("gone", "robust", None), ("a", "robust", None), ("b", "unknown", None)))
    new = read_report(
        "new.json",
        document(("b", "robust", None), ("a", "not-robust", None), ("came", "error", None), sha="1", interrupted=True),
    )
    found = compare(old, new)
    assert [(c.file, c.kind, c.edited) for c in found.changes] == [
        ("b", "improvement", True),
        ("a", "regression", True),
        ("came", "new", None),
        ("gone", "missing", None),
    ]
    text = comparison_text(found)
    assert "Regressions:\n  a: robust -> NOT ROBUST (the program was edited)\n" in text
    assert "The new report is of a run that was interrupted" in text
    assert text.endswith("1 regression, 1 improvement, 1 new program, 1 missing program, 0 verdicts unchanged\n")
    assert "- `a`: robust -> **NOT ROBUST** \\(the program was edited\\)\n" in comparison_markdown(found)
    changes = json.loads(write_changes(found))
    SCHEMA.validate(changes)
    none = {"regression": 0, "improvement": 0, "new": 0, "missing": 0, "same": 0}
    programs = {"regression": 1, "improvement": 1, "new": 1, "missing": 1, "same": 0}
    assert changes["summary"] == {**programs, "claims": none, "worse": 1, "better": 1}


def test_real_reports_compare() -> None:
    plain, both = (litmus(*names) for names in (("mailbox-plain",), ("mailbox-plain", "mailbox-polled")))
    found = compare(read_report("old", write_json(plain)), read_report("new", write_json(both)))
    assert [(c.file, c.kind) for c in found.changes] == [
        ("litmus/mailbox-plain.rdma", "same"),
        ("litmus/mailbox-polled.rdma", "new"),
    ]


def test_hostile_names_stay_names() -> None:
    nasty = write_json(hostile())
    empty: dict[str, Any] = json.loads(nasty) | {"results": [], "sources": []}
    found = compare(read_report("old", json.dumps(empty)), read_report("new", nasty))
    SCHEMA.validate(json.loads(write_changes(found)))
    for written in (comparison_text(found), comparison_markdown(found)):
        assert "\x1b" not in written
        assert "\u202e" not in written
        assert sum(line.startswith(("  ", "- ")) for line in written.splitlines()) == len(HOSTILE_NAMES) + 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "3",
        "{}",
        '{"format": "rdma-robust/cover", "version": 1}',
        '{"format": "rdma-robust/report", "version": 2}',
        document(("a", "maybe", None)),
        document(("a", "robust", None)).replace("null", '"yes"'),
        document(("a", "robust", None)).replace('"file": "a"', '"file": []'),
        document(("a", "robust", None)).replace('"interrupted": false', '"interrupted": 3'),
        '{"format": "rdma-robust/report", "version": 1, "results": 5}',
        "[" * 100_000,
    ],
    ids=lambda text: text[:40],
)
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"some\.json"):
        read_report("some.json", text)
