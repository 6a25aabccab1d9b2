"""What only proofs can do something with: every other command says so at its place, and from folders it is passed over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import rdma_robust
from rdma_robust import ProgramError
from tests.conftest import ROBUST, ROOT, Cli

UNBOUNDED = """\
node A { next, serving }
node B { y }
thread T1 on A {
  reg t
  t = faa(next, 1)
  await serving == t
  cs: skip
  serving = t + 1
  flush B
  get next = swap(B.y, t)
  t = nondet()
}
invariant !(T1 at cs && A.next < A.serving)
expect safe under sc
"""

CODES = ["RR301", "RR312"]

COMMANDS = [
    ("check", "one.rdma"),
    ("reach", "one.rdma", "--target", "T1 ended"),
    ("outcomes", "one.rdma"),
    ("lint", "one.rdma"),
    ("explain", "one.rdma"),
    ("repair", "one.rdma"),
    ("report", "one.rdma", "--no-cache", "--format", "json"),
    ("export", "--to", "promela", "one.rdma"),
    ("explore", "one.rdma", "--no-browser"),
    ("check", "one.rdma", "--dump-after", "await"),
    ("demo", "finite", "one.rdma", "--target", "A.next == 7", "--pace", "0"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_that_do_not_prove_say_where_it_is(command: tuple[str, ...], cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "one.rdma").write_text(UNBOUNDED)
    done = cli(*command)
    said = done.stdout + done.stderr
    assert done.returncode == 2, said
    for code, place in zip(CODES, ("5:7", "11:7"), strict=True):
        assert f"one.rdma:{place}: error" in said and f"[{code}]" in said
    assert "      ^^^" in said


def test_the_commands_for_proofs_take_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "one.rdma").write_text(UNBOUNDED)
    assert cli("fmt", "--check", "one.rdma").returncode == 0
    for command in ("prove", "verify"):
        done = cli(command, "one.rdma")
        assert "error" not in done.stderr and done.returncode in (0, 1, 3)


def test_the_library_refuses_it_too() -> None:
    loaded = rdma_robust.parse(UNBOUNDED)
    assert [each.code for each in loaded.undecided] == CODES
    for given in (UNBOUNDED, loaded):
        with pytest.raises(ProgramError) as raised:
            rdma_robust.check(given)
        assert [each.code for each in raised.value.diagnostics] == CODES
        with pytest.raises(ProgramError):
            rdma_robust.reach(given, "T1 ended")


def test_folders_have_files_that_are_passed_over(cli: Cli, tmp_path: Path) -> None:
    inside = tmp_path / "all" / "prove"
    inside.mkdir(parents=True)
    (inside / "one.rdma").write_text(UNBOUNDED)
    (inside / "broken.rdma").write_text(f"{UNBOUNDED}expect safe undr tso\n")
    (tmp_path / "all" / "calm.rdma").write_text(ROBUST)
    (tmp_path / "all" / "both.rdma").write_text(f"{ROBUST}expect safe under sc\n")
    done = cli("check", "all")
    assert "3 programs: 2 robust, 1 error; 1 file passed over, which only `prove` is asked about" in done.stdout
    report = json.loads(cli("check", "all", "--format", "json").stdout)
    schema = json.loads((ROOT / "rdma_robust/schema/check.schema.json").read_text())
    Draft202012Validator(schema).validate(report)
    assert report["summary"]["passed_over"] == 1
    assert json.loads(cli("check", "all/calm.rdma", "--format", "json").stdout)["summary"]["passed_over"] == 0
    assert "1 file passed over" in cli("report", "all", "--no-cache", "--format", "md").stdout
    assert "1 file passed over" in cli("report", "all", "--no-cache", "--repair", "0", "--format", "html").stdout
    assert cli("check", "all/prove/one.rdma").returncode == 2


def test_outcomes_skips_claims_of_models_that_it_does_not_search(cli: Cli, tmp_path: Path) -> None:
    claims = "forbidden under sc, forbidden under tso, allowed under rma"
    (tmp_path / "sb.rdma").write_text(f"{ROBUST}outcome A.x == 2 : {claims}\n")
    done = cli("outcomes", "sb.rdma")
    assert done.returncode == 0
    assert "skipped    forbidden under tso: ask `prove --model tso`" in done.stdout
    answer = json.loads(cli("outcomes", "sb.rdma", "--format", "json").stdout)
    schema = json.loads((ROOT / "rdma_robust/schema/outcomes.schema.json").read_text())
    Draft202012Validator(schema).validate(answer)
    (line,) = answer["lines"]
    assert [claim["model"] for claim in line["claims"]] == ["sc"]
    assert line["skipped"] == [{"model": "tso", "allowed": False}, {"model": "rma", "allowed": True}]
