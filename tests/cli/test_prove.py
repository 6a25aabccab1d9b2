"""The installed command `prove`."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import ROOT, Cli

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/prove.schema.json").read_text()))

SB = """program sb
node A { x, y, seen }
thread T1 on A { reg r
  x = 1
  r = y
  if r == 0 { seen = 1 } }
thread T2 on A { reg r, s
  y = 1
  r = x
  s = seen
  assert r == 1 || s == 0 }
"""
"""Store buffering: T2 sees that T1 saw nothing, and T1's store not; sc forbids that, tso does not."""

PUT = """node A { x }
node B { y }
thread T1 on A {
  put B.y = x
  x = 1
}
thread T2 on B { reg r
  r = y
  assert r == 0 }
"""
"""The card reads the source late."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sb.rdma").write_text(SB)
    (tmp_path / "put.rdma").write_text(PUT)
    return tmp_path


def rows(text: str) -> dict[str, list[str]]:
    """The cells of the rows about the only program, by model."""
    found = [line.split() for line in text.splitlines()]
    return {cells[1]: cells for cells in found if len(cells) > 2 and cells[0].endswith(".rdma")}


def test_models_differ_and_the_reordering_is_named(cli: Cli, folder: Path) -> None:
    assert folder
    done = cli("prove", "--model", "all", "sb.rdma")
    assert done.returncode == 1
    found = rows(done.stdout)
    assert {model: cells[2] for model, cells in found.items()} == {
        "sc": "safe",
        "tso": "UNSAFE",
        "pso": "UNSAFE",
        "rma": "safe",
        "rdma": "safe",
    }
    assert "x = 1 reaches memory" not in done.stdout.partition("reads x = 0")[0]
    assert "sc is safe, tso is not: T1's store `x = 1` (line 4) reaches memory" in done.stdout.replace("\n      ", " ")
    assert "pso: unsafe: line 11: `assert r == 1 || s == 0` fails after this run" in done.stdout
    assert "Checked: replayed by the machine of model tso." in done.stdout


def test_without_a_model_it_is_sc_and_facts_are_told(cli: Cli, folder: Path) -> None:
    assert folder
    done = cli("prove", "sb.rdma")
    assert done.returncode == 0
    assert list(rows(done.stdout)) == ["sc"]
    assert "What makes it safe:" in done.stdout
    assert "T2 at line 11 (assert r == 1 || s == 0), if T2.s != 0: T2.r == 1; T2.s == 1; A.x == 1" in done.stdout
    assert "What makes it safe" not in cli("prove", "--no-explain", "sb.rdma").stdout


def test_a_card_reads_its_source_late(cli: Cli, folder: Path) -> None:
    assert folder
    done = cli("prove", "--model", "sc,rma", "put.rdma")
    assert done.returncode == 1
    assert rows(done.stdout)["rma"][2] == "UNSAFE"
    assert "sc is safe, rma is not: T1's NIC reads A.x for `put B.y = x` (line 4) only after the later `x = 1`" in " ".join(
        done.stdout.split()
    )
    assert "T1 NIC to B" in done.stdout


def test_a_model_that_was_named_and_refuses_is_an_error(cli: Cli, folder: Path) -> None:
    assert folder
    done = cli("prove", "--model", "tso", "put.rdma")
    assert done.returncode == 2
    assert "put.rdma:4:3: error: `put` needs a network: model tso is one shared memory" in done.stderr
    assert "| ".join(("    ", "  ^^^^^^^^^^^")) in done.stderr
    assert "--model rma" in done.stderr
    every = cli("prove", "--model", "all", "put.rdma")
    assert every.returncode == 1
    assert every.stderr == ""
    assert rows(every.stdout)["tso"][2] == "refused"


def test_programs_and_models_side_by_side(cli: Cli, folder: Path) -> None:
    assert folder
    done = cli("prove", "--model", "all", ".")
    assert done.returncode == 1
    assert "2 programs, 10 answers: 4 safe, 4 unsafe, 2 refused" in done.stdout
    matrix = done.stdout.partition("\n\n")[2]
    assert ["./put.rdma", "safe", "refused", "refused", "UNSAFE", "UNSAFE"] in [line.split() for line in matrix.splitlines()]
    quiet = cli("prove", "--quiet", "--model", "all", ".")
    assert "UNSAFE" in quiet.stdout and "  safe" not in quiet.stdout


@pytest.mark.parametrize("model", ["sc", "all"])
def test_json_follows_its_schema(cli: Cli, folder: Path, model: str) -> None:
    done = cli("prove", "--model", model, "--format", "json", "--explain", str(folder), "missing.rdma")
    report = json.loads(done.stdout)
    SCHEMA.validate(report)
    assert report["summary"]["exit_code"] == done.returncode == 2
    assert [each["verdict"] for each in report["results"]][-1] == "error"
    for line in cli("prove", "--model", model, "--format", "jsonl", str(folder)).stdout.splitlines():
        result = json.loads(line)
        SCHEMA.evolve(schema=SCHEMA.schema | {"$ref": "#/$defs/result"} | {"required": [], "properties": {}}).is_valid(
            result
        )
        unsafe = [each for each in result["models"] if each["verdict"] == "unsafe"]
        assert all(each["run"]["moves"] and each["claim"]["line"] for each in unsafe)
        assert bool(unsafe) == (model == "all")


def test_other_tools_read_the_answers(cli: Cli, folder: Path) -> None:
    assert folder
    log = json.loads(cli("prove", "--model", "tso", "--format", "sarif", "sb.rdma").stdout)
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "RR016"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 11
    assert len(result["codeFlows"][0]["threadFlows"][0]["locations"]) > 4
    suite = ET.fromstring(cli("prove", "--model", "all", "--format", "junit", "put.rdma").stdout)
    kinds = [[child.tag for child in case] for case in suite.iter("testcase")]
    assert sorted(kind[0] for kind in kinds) == ["failure", "failure", "skipped", "skipped", "system-out"]
    assert "sb.rdma:11:3: error: violated: assert r == 1 || s == 0 (under tso)" in (
        cli("prove", "--model", "tso", "--format", "concise", "sb.rdma").stdout
    )
    cli("prove", "--model", "tso", "sb.rdma", "-o", "out.sarif.json")
    assert json.loads((folder / "out.sarif.json").read_text())["runs"][0]["results"] == log["runs"][0]["results"]


def test_lines_fit_the_terminal(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folder
    for module in ("cli.commands.prove", "frame.run_question"):
        monkeypatch.setattr(f"rdma_robust.{module}.width_of_output", lambda _: 60)
    done = cli("prove", "--model", "all", "sb.rdma", "-v")
    assert max(map(len, done.stdout.splitlines())) <= 60
    assert "UNSAFE" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--model", "tpo"), "no model is called 'tpo'; the models are sc, tso, pso, rma, rdma, or all; did you mean tso?"),
        (("--model", "sc,all"), "`all` stands alone"),
        (("--engine", "fast"), "it is one of auto, explicit, zones, predicates, spacer"),
        (("--bound", "257"), "0 to 256"),
        (("--dump-after", "reduce", "-o", "x.txt"), "--dump-after prints"),
    ],
)
def test_bad_options_are_usage_errors(cli: Cli, folder: Path, arguments: tuple[str, ...], says: str) -> None:
    assert folder
    done = cli("prove", *arguments, "sb.rdma")
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_the_reduced_system_is_printed(cli: Cli, folder: Path) -> None:
    assert folder
    done = cli("prove", "--dump-after", "reduce", "--model", "tso", "sb.rdma")
    assert done.returncode == 0
    assert done.stdout.startswith("sb under tso\n  wide: nothing\n  claim 0 (line 11)")
    assert "T1 access line 4: x = 1" in done.stdout
    assert '"stores": [["A.x", 1]]' in done.stdout
    short = cli("prove", "--dump-after", "reduce", "--max-states", "3", "sb.rdma").stdout
    assert "... more than 3 states" in short


def test_a_limit_is_named_and_standard_input_is_read(cli: Cli) -> None:
    done = cli("prove", "-", "--model", "tso", "--max-states", "3", stdin=SB)
    assert done.returncode == 3
    assert "UNKNOWN" in done.stdout
    assert "the limit of 3 states" in done.stdout


PETERSON = """program peterson
node A { f0, f1, turn }
thread T0 on A { reg a, b
  f0 = 1
  turn = 1
  mfence
  a = f1
  b = turn
  if a == 0 || b == 0 { cs: skip } }
thread T1 on A { reg a, b
  f1 = 1
  turn = 0
  mfence
  a = f0
  b = turn
  if a == 0 || b == 1 { cs: skip } }
invariant !(T0 at cs && T1 at cs)
expect safe under tso, unsafe under pso
"""
"""One fence a thread is enough where stores stay in order, and not where they do not."""


def test_expect_lines_name_the_models_and_are_compared(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "p.rdma").write_text(PETERSON)
    done = cli("prove", "p.rdma", "--expect")
    assert done.returncode == 0
    assert {model: cells[2:4] for model, cells in rows(done.stdout).items()} == {
        "tso": ["safe", "yes"],
        "pso": ["UNSAFE", "yes"],
    }
    assert "2 as expected, 0 not" in done.stdout
    assert cli("prove", "p.rdma").returncode == 1
    (tmp_path / "p.rdma").write_text(PETERSON.replace("unsafe under pso", "safe under pso"))
    wrong = cli("prove", "p.rdma", "--expect", "--format", "concise")
    assert wrong.returncode == 1
    assert "p.rdma:18:1: error: violated: safe under pso: safe is expected, and the program is unsafe" in wrong.stdout
    nobody = cli("prove", "p.rdma", "--expect", "--model", "sc")
    assert nobody.returncode == 1
    assert "0 as expected, 1 not" in nobody.stdout


def test_an_outcome_that_is_claimed_to_be_possible(cli: Cli, tmp_path: Path) -> None:
    line = "outcome T1.r == 0 && T2.r == 0 : allowed under tso, allowed under sc, forbidden under pso\n"
    text = "node A { x, y }\nthread T1 on A { reg r; x = 1; r = y }\nthread T2 on A { reg r; y = 1; r = x }\n" + line
    (tmp_path / "sb.rdma").write_text(text)
    done = cli("prove", "--model", "sc,tso,pso", "sb.rdma", "--format", "json")
    report = json.loads(done.stdout)
    SCHEMA.validate(report)
    found = {each["model"]: each for each in report["results"][0]["models"]}
    assert [found[model]["exit_code"] for model in ("sc", "tso", "pso")] == [1, 0, 1]
    assert (found["sc"]["possible"][0]["possible"], found["tso"]["possible"][0]["possible"]) == (False, True)
    assert found["tso"]["possible"][0]["run"]["moves"]
    text = cli("prove", "--model", "sc", "sb.rdma").stdout
    assert "claimed to be possible and is not: line 4" in " ".join(text.split())


def test_explain_tells_which_fence_a_proof_needs(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "p.rdma").write_text(PETERSON)
    done = cli("explain", "--model", "tso", "p.rdma")
    assert done.returncode == 0
    assert "T0 at cs: T1 not at cs" in done.stdout
    assert "line 6, `mfence`: needed: without it, `!(T0 at cs && T1 at cs)` fails" in done.stdout
    assert "line 13, `mfence`: needed" in done.stdout
    report = json.loads(cli("explain", "--model", "tso", "p.rdma", "--format", "json").stdout)
    SCHEMA.validate(report)
    assert [each["verdict"] for each in report["results"][0]["models"][0]["needs"]] == ["unsafe", "unsafe"]
    assert "needed" not in cli("prove", "--model", "tso", "p.rdma").stdout
    assert "needed: without it" in cli("prove", "--model", "tso", "p.rdma", "--explain").stdout


def test_explain_draws_runs(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "p.rdma").write_text(PETERSON)
    assert cli("explain", "--model", "all", "p.rdma", "-o", "p.html").returncode == 1
    page = (tmp_path / "p.html").read_text()
    assert page.count("<svg ") == page.count("that violates the claim</h2>") > 0
    assert "store buffer" in page
    assert "What makes it safe under tso" in page
    assert "tso is safe, pso is not:" in page
    assert "violated under pso" in page
    drawing = ET.fromstring(cli("explain", "--model", "pso", "p.rdma", "--format", "svg").stdout)
    assert drawing.tag.endswith("svg")
    safe = cli("explain", "--model", "tso", "p.rdma", "--format", "svg")
    assert (safe.returncode, "there is no run to draw" in safe.stderr) == (2, True)
    dot = cli("explain", "--model", "tso", "p.rdma", "--format", "dot")
    assert (dot.returncode, "a run under --model has a timeline: svg" in dot.stderr) == (2, True)
