"""`models`: one program on all hardware."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from rdma_robust import Verdict, check
from rdma_robust.analyses.hardware.on_all_hardware import WORDS, settings_of
from rdma_robust.language.load import load_decidable
from rdma_robust.model import Model
from tests.conftest import ROOT, Cli

LOCK = """\
node A { old }
node B { lock }
thread T on A { get old = cas(B.lock, 0, 1) }
thread U on B { reg r; r = cas(lock, 0, 2) }
"""
ORDERED = """\
hardware cpu tso, reads ordered
node A { one = 1, g, h }
node B { x, y }
thread T on A { put B.x = one; get g = B.x; get h = B.y; poll B; poll B }
thread U on B { reg r; y = 1; r = x }
"""
CALM = "node A { x }\nthread T on A { x = 1 }\n"


def test_a_table_with_the_first_that_breaks_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "lock.rdma").write_text(LOCK)
    done = cli("models", "lock.rdma")
    assert done.returncode == 1 and not done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "lock.rdma: 6 settings: 3 robust, 3 NOT ROBUST"
    assert [line.split()[:5] for line in lines[2:4]] == [
        ["sc", "glob", "default", "unordered", "robust"],
        ["sc", "glob", "multipath", "unordered", "robust"],
    ]
    first = next(line for line in lines if line.endswith("first to break it"))
    assert first.split()[:4] == ["sc", "hca", "default", "unordered"] and "that of the program" in first
    assert "  left out: cpu: no thread stores to a variable, or posts a receive" in lines
    assert lines[-2:] == [
        "  Not robust first under atomics hca:",
        "    the NIC's atomic of line 3 excludes other atomics of NICs, and nothing else: atomics hca",
    ]
    assert max(map(len, lines[1:])) <= 100


def test_json_and_totals_of_many(cli: Cli, tmp_path: Path) -> None:
    for name, text in (("lock", LOCK), ("ordered", ORDERED), ("calm", CALM), ("wrong", "node A { x } thread")):
        (tmp_path / f"{name}.rdma").write_text(text)
    files = ("lock.rdma", "ordered.rdma", "calm.rdma", "wrong.rdma", "none.rdma")
    done = cli("models", *files, "--format", "json", "-o", "out.json")
    assert done.returncode == 2
    report = json.loads((tmp_path / "out.json").read_text())
    schema = json.loads((ROOT / "rdma_robust/schema/models.schema.json").read_text())
    Draft202012Validator(schema).validate(report)
    assert [each["status"] for each in report["results"]] == ["not-robust", "not-robust", "robust", "error", "error"]
    ordered = report["results"][1]["settings"]
    (own,) = (each for each in ordered if each["own"])
    assert (own["model"]["cpu"], own["model"]["ordered_reads"]) == ("tso", True)
    assert all(bool(each["why"]) == each["first"] for each in ordered)
    text = cli("models", *files[:3])
    assert text.stdout.splitlines()[-1].startswith("3 programs: 1 robust everywhere, 2 not robust somewhere; ")
    assert cli("models", "calm.rdma").returncode == 0
    assert cli("models", "--quiet", "calm.rdma").stdout == ""


@pytest.mark.parametrize("text", [LOCK, ORDERED, CALM])
def test_settings_that_are_left_out_make_no_difference(text: str) -> None:
    """Decide under all 24 settings: those left out have the verdict of the one that stands for them."""
    program = load_decidable(text, "t")
    settings = settings_of(program)
    verdicts = {model: check(program, hardware=model).verdict for model in settings.models}
    assert list(map(settings.weakness, settings.models)) == sorted(map(settings.weakness, settings.models))
    for words in product(*WORDS.values()):
        model = Model(**dict(zip(WORDS, words, strict=True)))
        assert check(program, hardware=model).verdict is verdicts[settings.like(model)], model


def test_tables_that_differ_in_messages_are_two_to_a_program_that_looks_into_buffers(cli: Cli) -> None:
    program = str(ROOT / "litmus/hardware/message-behind-data-verbs.rdma")
    rows = cli("models", program, "--orders", "fi-verbs,fi-cxi").stdout.splitlines()
    verdicts = {order: next(row for row in rows if f" {order} " in row) for order in ("fi-verbs", "fi-cxi")}
    assert " robust " in verdicts["fi-verbs"] and "NOT ROBUST" in verdicts["fi-cxi"]


def test_a_limit_is_said_of_the_settings_that_it_cuts(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "lock.rdma").write_text(ORDERED)
    done = cli("models", "lock.rdma", "--max-states", "1", "--format", "json")
    (result,) = json.loads(done.stdout)["results"]
    unknown = [each for each in result["settings"] if each["verdict"] == "unknown"]
    assert unknown and all("states" in each["reason"] for each in unknown)
    assert done.returncode == 3 or result["status"] == "not-robust"


def test_weaker_hardware_never_repairs() -> None:
    for text in (LOCK, ORDERED):
        program = load_decidable(text, "t")
        broken = [m for m in settings_of(program).models if check(program, hardware=m).verdict is Verdict.NOT_ROBUST]
        for model in settings_of(program).models:
            weaker_than = [
                each
                for each in broken
                if all(values.index(getattr(each, w)) <= values.index(getattr(model, w)) for w, values in WORDS.items())
            ]
            assert not weaker_than or model in broken


def test_final_states_of_all_hardware(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "lock.rdma").write_text(LOCK)
    done = cli("outcomes", "--models", "lock.rdma")
    assert done.returncode == 0
    rows = [line.split() for line in done.stdout.splitlines()[3:6]]
    assert rows[0] == ["0", "1", "0", "-", "3", "under", "atomics", "hca"]
    assert [row[3:] for row in rows[1:]] == [["yes", "all", "everywhere"]] * 2
    report = json.loads(cli("outcomes", "--models", "lock.rdma", "--format", "json").stdout)
    schema = json.loads((ROOT / "rdma_robust/schema/outcomes-models.schema.json").read_text())
    Draft202012Validator(schema).validate(report)
    first = report["states"][0]
    assert [report["settings"][k]["model"]["atomics"] for k in first["allowed_by"]] == ["hca"] * 3
    assert [report["settings"][k]["model"]["order"] for k in first["first"]] == ["default"]
    refused = cli("outcomes", "--models", "--cpu", "tso", "lock.rdma")
    assert refused.returncode == 2 and "--models asks about all hardware" in refused.stderr
    assert cli("outcomes", "--models", "--max-states", "2", "lock.rdma").returncode == 3


def test_any_number_of_copies_on_all_hardware(cli: Cli) -> None:
    answer = cli("models", str(ROOT / "litmus/crowds/mp-put.rdma"))
    assert answer.returncode == 1
    assert "2 settings: 1 robust, 1 NOT ROBUST" in answer.stdout
    assert "Not robust first under order multipath" in answer.stdout


def test_a_row_with_all_memory_beside_its_card(cli: Cli, tmp_path: Path) -> None:
    text = (ROOT / "litmus/memories/data-behind-flag-beside.rdma").read_text()
    (tmp_path / "p.rdma").write_text(text)
    rows = cli("models", "p.rdma").stdout.splitlines()
    assert rows[4].split()[4] == "robust" and rows[4].endswith("that of the program with all memory beside its NIC")
    cli("models", "p.rdma", "--format", "json", "-o", "o.json")
    report = json.loads((tmp_path / "o.json").read_text())
    Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/models.schema.json").read_text())).validate(report)
    assert report["results"][0]["without_memories"]["verdict"] == "robust"


def test_a_row_without_relaxed_regions(cli: Cli, tmp_path: Path) -> None:
    for name in ("bulk-strict-flag-relaxed", "bulk-relaxed-flag-strict"):
        (tmp_path / f"{name}.rdma").write_text((ROOT / f"litmus/regions/{name}.rdma").read_text())
    (tmp_path / "calm.rdma").write_text(CALM)
    rows = cli("models", "bulk-strict-flag-relaxed.rdma").stdout.splitlines()
    assert rows[0].endswith("2 settings: 2 NOT ROBUST")
    assert rows[4].split()[4] == "robust" and rows[4].endswith("that of the program without relaxed regions")
    cli(
        "models",
        "bulk-relaxed-flag-strict.rdma",
        "bulk-strict-flag-relaxed.rdma",
        "calm.rdma",
        "--format",
        "json",
        "-o",
        "o.json",
    )
    report = json.loads((tmp_path / "o.json").read_text())
    Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/models.schema.json").read_text())).validate(report)
    strict = [each.get("without_regions") for each in report["results"]]
    assert [None if each is None else each["verdict"] for each in strict] == ["robust", "robust", None]
