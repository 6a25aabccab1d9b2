"""The installed command: `lint`, and the forms `concise` and `github` of `check`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import INVALID, NOT_ROBUST, ROOT, Cli

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/lint.schema.json").read_text()))
CLEAN = """program calm
node A { x }
node B { y }
thread T1 on A { x = 1 }
thread T2 on B { put A.x = y }
outcome A.x == 0 : allowed under sc
expect robust
"""
OVERWRITTEN = """node A { v = 1 }
node B { d = 0 }
thread T on A {
  put B.d = v
  v = 2
}
outcome B.d == 1 : allowed under sc
"""
LARGE = """domain 0..9999999
node A { x }
thread T on A {
  reg r
  loop { r = r + 1 }
  x = r
}
outcome A.x == 3 : allowed under sc
"""
TOO_MUCH = """node A { x = 1 }
node B { y = 0 }
thread T on A {
  put B.y = x
  poll B
}
outcome B.y == 1 : allowed under sc
"""
SAYS = "`v` is written before the `put` of it on line 4 was polled: the put may send the new value"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (("a", OVERWRITTEN), ("b", CLEAN), ("c", INVALID), ("d", TOO_MUCH), ("e", NOT_ROBUST)):
        (tmp_path / f"{name}.rdma").write_text(text)
    return tmp_path


@pytest.mark.usefixtures("files")
def test_text(installed: Cli) -> None:
    done = installed("lint", "a.rdma", "b.rdma")
    assert done.returncode == 1
    assert done.stdout == (
        f"a.rdma:5:3: warning: {SAYS} [RR722]\n  5 |   v = 2\n    |   ^^^^^\n  hint: `poll B` first\n2 programs: 1 warning\n"
    )
    assert installed("lint", "b.rdma").stdout == "1 program: no warnings\n"
    assert installed("lint", "-", stdin=CLEAN).returncode == 0


@pytest.mark.usefixtures("files")
def test_exit_codes(cli: Cli) -> None:
    assert cli("lint", "b.rdma").returncode == 0
    assert cli("lint", "a.rdma", "b.rdma").returncode == 1
    assert cli("lint", "a.rdma", "c.rdma").returncode == 2
    assert cli("lint", "missing.rdma").returncode == 2
    assert cli("lint").returncode == 2
    Path("large.rdma").write_text(LARGE)
    done = cli("lint", "large.rdma", "a.rdma")
    assert done.returncode == 3
    assert done.stdout.startswith("large.rdma: unknown: the domain 0..9999999 has more than")
    assert done.stdout.endswith("2 programs: 1 warning, 1 not finished\n")


@pytest.mark.usefixtures("files")
def test_needless(cli: Cli) -> None:
    assert cli("lint", "d.rdma").returncode == 0
    done = cli("lint", "--needless", "--format", "concise", "d.rdma", "e.rdma")
    assert done.returncode == 1
    assert done.stdout.startswith(
        "d.rdma:5:3: warning: `poll B` is not needed: without it the program is robust, too; hint:"
    )
    assert done.stdout.count("\n") == 1
    (Path("d.rdma")).write_text(TOO_MUCH.replace("poll B", "poll B // rdma-robust: ignore RR727"))
    assert cli("lint", "--needless", "d.rdma").returncode == 0


@pytest.mark.usefixtures("files")
def test_json(cli: Cli) -> None:
    done = cli("lint", "a.rdma", "c.rdma", "missing.rdma", "--format", "json")
    report = json.loads(done.stdout)
    SCHEMA.validate(report)
    assert report["summary"] == {"programs": 3, "clean": 0, "warnings": 1, "errors": 2, "exit_code": 2}
    assert [each["error_kind"] for each in report["results"]] == [None, "invalid", "unreadable"]
    assert [each["code"] for each in report["results"][1]["errors"]] == ["RR201", "RR202"]
    lines = cli("lint", "a.rdma", "c.rdma", "missing.rdma", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == report["results"]


@pytest.mark.usefixtures("files")
def test_a_report_in_a_file(cli: Cli) -> None:
    assert cli("lint", "a.rdma", "-o", "r.json").stdout == ""
    SCHEMA.validate(json.loads(Path("r.json").read_text()))
    assert cli("lint", "a.rdma", "-o", "r.txt", "--format", "concise").returncode == 1
    assert Path("r.txt").read_text() == f"a.rdma:5:3: warning: {SAYS}; hint: `poll B` first [RR722]\n"
    assert cli("lint", "a.rdma", "-o", "r.json", "--format", "concise").returncode == 2


@pytest.mark.usefixtures("files")
def test_check_in_lines(installed: Cli, cli: Cli) -> None:
    done = installed("check", "--format", "concise", "b.rdma", "c.rdma", "e.rdma", "missing.rdma")
    assert done.returncode == 2
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "c.rdma:2:18: error: unknown name `xx`; hint: did you mean `x`? [RR201]",
        "c.rdma:3:14: error: unknown node `C`; hint: the nodes are `A` [RR202]",
        "e.rdma:5:25: error: not robust: the NIC may write `A.x` after line 5 [RR010]",
        "missing.rdma: error: no such file or directory [RR001]",
    ]
    assert cli("check", "--format", "concise", "--expect", "b.rdma", "e.rdma").stdout == ""
    Path("w.rdma").write_text(CLEAN.replace("expect robust", "expect not robust"))
    wrong = cli("check", "--format", "github", "--expect", "w.rdma")
    assert (
        wrong.stdout
        == "::warning file=w.rdma,line=7,col=1,title=rdma-robust RR012::robust, but `expect not robust` [RR012]\n"
    )
    cut = cli("check", "--format", "concise", "--max-states", "1", "e.rdma")
    assert cut.returncode == 3
    assert cut.stdout.startswith("e.rdma:1:1: warning: undecided: ")
    assert cut.stdout.endswith(" [RR011]\n")


@pytest.mark.usefixtures("files")
def test_the_line_of_the_example(cli: Cli) -> None:
    done = cli("check", "--format", "concise", "a.rdma")
    assert done.stdout == "a.rdma:4:3: error: not robust: the NIC may read `v` after line 5 [RR010]\n"


@pytest.mark.usefixtures("files")
def test_check_ignores_what_comments_say(cli: Cli) -> None:
    Path("n.rdma").write_text(f"const N = 1\n{CLEAN}")
    assert "[RR701]" in cli("check", "n.rdma").stderr
    Path("n.rdma").write_text(f"const N = 1 // rdma-robust: ignore RR701\n{CLEAN}")
    assert cli("check", "n.rdma").stderr == ""
    Path("n.rdma").write_text(f"// rdma-robust: ignore RR701\n{CLEAN}")
    assert "RR701 is ignored without need: there is none on line 2 [RR791]" in cli("check", "n.rdma").stderr


@pytest.mark.usefixtures("files")
def test_claims_in_lines(cli: Cli) -> None:
    Path("stuck.rdma").write_text("node A { x }\nthread T on A {\n  x = 2\n  assert x == 1\n  await x == 3\n}\n")
    done = cli("verify", "--format", "concise", "stuck.rdma", "missing.rdma")
    assert done.returncode == 2
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("stuck.rdma:4:3: error: violated: ")
    assert any(re.match(r"stuck\.rdma:5:3: error: the program hangs, and claims .* \[RR016\]$", line) for line in lines)
    assert lines[-1] == "missing.rdma: error: no such file or directory [RR001]"
    found = cli("reach", "--format", "github", "-t", "A.x == 2", "stuck.rdma")
    assert found.stdout.startswith("::warning file=stuck.rdma,line=3,col=3,title=rdma-robust RR019::")
    assert cli("reach", "--format", "concise", "-t", "A.x == 7", "stuck.rdma").stdout == ""


@pytest.mark.usefixtures("files")
def test_constants_have_other_values(cli: Cli) -> None:
    Path("n.rdma").write_text(
        "const N = 1\nnode A { x }\nthread T on A { if N == 1 { x = 1 } }\noutcome A.x == 1 : allowed under sc\n"
    )
    assert cli("lint", "n.rdma").returncode == 0
    assert "this is never reached [RR703]" in cli("lint", "-D", "N=2", "n.rdma").stdout


FAMILY = """\
const N = 3
node H { x = 0, y = 0 }
node P[i in 0..N-1] { w = 1 }
thread T[i in 0..N-1] on P[i] {
  for k in 1..i { get w = H.x }
  rfence H
  put H.y = w
  for k in 1..0 { put H.x = w }
}
thread R on H { reg r; r = x; assume r >= 0; r = y; assume r >= 0 }
"""


def test_a_statement_of_a_family_is_superfluous_if_it_is_that_in_all_copies(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "family.rdma").write_text(FAMILY)
    for number, codes in (("3", ["RR705"]), ("1", ["RR724"])):
        done = cli("lint", "family.rdma", "-D", f"N={number}", "--format", "json")
        assert [each["code"] for each in json.loads(done.stdout)["results"][0]["warnings"]] == codes
