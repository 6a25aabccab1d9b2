"""`repair --goal safe`: the fewest flushes or mfences, what the reports say, and what cannot be helped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_repair import SARIF, SCHEMA, applied
from tests.conftest import Cli

SB = """node M { x, y }
thread T on M {
  reg r
  x = 1
  r = y
}
thread U on M {
  reg r
  y = 1 // announced
  r = x
}
outcome T.r == 0 && U.r == 0 : forbidden under tso, allowed under pso
expect unsafe under tso
"""
LETTER = """node A { v = 0 }
node B { data = 0, flag = 0 }
thread Sender on A {
  v = 1
  put B.data = v
  put B.flag = 1
  v = 2
}
thread Receiver on B {
  reg r
  await flag == 1
  read: r = data
  assert r == 1
}
expect unsafe under rma
"""
RACE = """node M { x }
thread T on M { reg r; r = x; x = r + 1; r = x }
thread U on M { reg r; r = x; x = r + 1; r = x }
outcome M.x == 1 : forbidden under tso
"""
CAUTIOUS = """node A { v }
node B { data, flag, more }
thread T on A {
  put B.data = 1
  flush B
  put B.more = 1
  last: flush B
  put B.flag = 1
  flush B // for good measure
}
thread U on B { reg r; await flag == 1; r = data }
outcome U.r == 0 : forbidden under rma
expect safe under rma
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("sb", SB), ("letter", LETTER), ("race", RACE), ("cautious", CAUTIOUS)):
        (tmp_path / f"{name}.rdma").write_text(text)
    return tmp_path


def test_the_report(installed: Cli, folder: Path) -> None:
    answer = installed("repair", "--goal", "safe", "sb.rdma")
    assert (answer.returncode, answer.stderr) == (0, "")
    lines = answer.stdout.split("\n")
    assert lines[0] == "sb.rdma: safe under tso with 2 of 2 candidates at cost 2, no cheaper repair exists"
    assert lines[1:3] == ["  line    5  T  mfence  (mfence, cost 1)", "  line   11  U  mfence  (mfence, cost 1)"]
    assert {"+  mfence", "-expect unsafe under tso", "+expect safe under tso"} <= set(lines)
    assert "  in every safe set: mfence at line 4, mfence at line 9" in lines
    assert "3 programs decided, 2 counterexamples learnt from" in answer.stdout
    assert (folder / "sb.rdma").read_text() == SB


def test_what_is_written_is_safe(cli: Cli, folder: Path) -> None:
    assert cli("prove", "--expect", "letter.rdma").returncode == 0
    assert cli("repair", "--goal", "safe", "--write", "letter.rdma").returncode == 0
    text = (folder / "letter.rdma").read_text()
    assert text == LETTER.replace("  put B.data = v\n", "  put B.data = v\n  flush B\n").replace("unsafe", "safe")
    assert cli("prove", "--expect", "letter.rdma").returncode == 0
    again = cli("repair", "--goal", "safe", "letter.rdma")
    assert again.returncode == 0
    assert "letter.rdma: safe under rma, nothing to repair" in again.stdout


def test_the_goal_stays_to_be_robust(cli: Cli, folder: Path) -> None:
    program = CAUTIOUS.replace("flush", "poll").replace("put B.more = 1\n  last: poll B", "put B.more = 1; poll B")
    (folder / "polls.rdma").write_text(program.replace("rma", "rdma").replace("expect safe under rdma", ""))
    answer = cli("repair", "polls.rdma")
    assert (answer.returncode, answer.stdout.split("\n")[0]) == (0, "polls.rdma: robust, nothing to repair")
    assert "sb.rdma: robust, nothing to repair" in cli("repair", "sb.rdma").stdout


@pytest.mark.usefixtures("folder")
def test_what_waits_cannot_help_is_said_with_a_run(cli: Cli) -> None:
    answer = cli("repair", "--goal", "safe", "--model", "tso", "race.rdma")
    assert answer.returncode == 1
    assert "race.rdma: NO REPAIR" in answer.stdout
    assert "with all of 2 candidates this is violated: line 4" in answer.stdout
    assert "T: line 2, `x = r + 1`" in answer.stdout
    assert "its store M.x = 1 reaches memory" in answer.stdout
    assert cli("repair", "--goal", "safe", "--model", "sc", "race.rdma").returncode == 0, "it forbids nothing there"


def test_labels_stay_at_their_statements(cli: Cli, folder: Path) -> None:
    """Nothing is put between a label and its statement, and a wait with a label stays."""
    (folder / "at.rdma").write_text(
        """node M { x, y }
thread T on M { reg r; x = 1; in: r = y; out: skip }
thread U on M { reg r; y = 1; in: r = x; out: skip }
invariant !(T at out && T.r == 0 && U at out && U.r == 0)
invariant !(T at in && M.x == 0)
"""
    )
    answer = cli("repair", "--goal", "safe", "--model", "tso", "--sites", "all", "-o", "-", "at.rdma")
    assert answer.stdout.count("; mfence; in: r") == 2, answer.stdout
    assert answer.stdout.count("mfence") == 2
    spared = cli("repair", "--goal", "safe", "--remove-needless", "cautious.rdma")
    assert spared.stdout.split("\n")[0] == "cautious.rdma: 2 instructions can go, which saves 2"
    printed = cli("repair", "--goal", "safe", "--remove-needless", "-o", "-", "cautious.rdma").stdout
    assert printed == CAUTIOUS.replace("data = 1\n  flush B", "data = 1").replace("flush B // for", "// for")


def test_starting_from_the_waits_of_the_program(cli: Cli, folder: Path) -> None:
    """They can go and count if they stay, and what could be inserted counts as well."""
    full = SB.replace("x = 1\n", "x = 1\n  mfence\n").replace("r = x\n", "r = x\n  mfence\n")
    (folder / "full.rdma").write_text(full)
    answer = cli("repair", "--goal", "safe", "--model", "tso", "--from-full", "full.rdma")
    lines = answer.stdout.split("\n")
    assert lines[0] == "full.rdma: safe under tso with 2 of 3 candidates at cost 2, no cheaper repair exists"
    assert "  line   11  U  mfence             (mfence, cost 1)" in lines
    assert "  line   12  U  without mfence     (mfence, cost 1)" in lines
    assert "  line    5  T  as before: mfence  (mfence, cost 1)" in lines


def test_all_minimal_sets(cli: Cli, folder: Path) -> None:
    (folder / "two.rdma").write_text(
        """node A { v }
node B { x, y, z }
thread T on A {
  put B.x = 1
  put B.y = 1
  put B.z = 1
}
thread U on B { reg r; await z == 1; r = x }
outcome U.r == 0 : forbidden under rma
"""
    )
    answer = cli("repair", "--goal", "safe", "--model", "rma", "--all-minimal", "--format", "json", "two.rdma")
    report = json.loads(answer.stdout)
    assert (report["complete"], report["optimal"], report["candidates"]) == (True, True, 2)
    assert [[i["line"] for i in s["insertions"]] for s in report["solutions"]] in ([[6], [5]], [[5], [6]])


@pytest.mark.parametrize(
    "options",
    [["--all-minimal", "letter.rdma"], ["--model", "tso", "race.rdma"], ["--remove-needless", "cautious.rdma"]],
)
def test_machine_readable_forms(cli: Cli, folder: Path, options: list[str]) -> None:
    answer = cli("repair", "--goal", "safe", "--format", "json", *options)
    report = json.loads(answer.stdout)
    SCHEMA.validate(report)
    assert answer.returncode == {"safe": 0, "repaired": 0, "impossible": 1, "unknown": 3}[report["status"]]
    assert (report["options"]["goal"], report["options"]["cost_flush"]) == ("safe", 1)
    log = json.loads(cli("repair", "--goal", "safe", "--format", "sarif", *options).stdout)
    SARIF.validate(log)
    text = (folder / options[-1]).read_text()
    fixes = [fix for result in log["runs"][0]["results"] for fix in result.get("fixes", ())]
    for fix, solution in zip(fixes, report["solutions"], strict=True):
        (change,) = fix["artifactChanges"]
        assert applied(text, change["replacements"]) == solution["patched"] != text


@pytest.mark.usefixtures("folder")
def test_what_cannot_be_asked(cli: Cli) -> None:
    for options, said in (
        (["race.rdma"], "--goal safe needs --model"),
        (["--model", "rdma", "race.rdma"], "race.rdma:2:"),
        (
            ["--model", "rdma", "--sites", "all", "sb.rdma"],
            "--sites belongs to --goal safe under models without queue pairs",
        ),
        (["--model", "rdma", "--remove-needless", "sb.rdma"], "--remove-needless takes out"),
        (["--cost-poll", "3", "sb.rdma"], "--cost-poll belongs to --goal robust"),
        (["--from-full", "--remove-needless", "sb.rdma"], "exclude one another"),
        (["--cost-mfence", "0", "sb.rdma"], "the cost of a mfence is 0"),
        (["--model", "pso", "letter.rdma"], "letter.rdma:5:3: error: `put` needs a network"),
    ):
        answer = cli("repair", "--goal", "safe", *options)
        assert (answer.returncode, answer.stdout) == (2, ""), options
        assert said in answer.stderr
    for option in (["--model", "tso"], ["--sites", "all"], ["--from-full"], ["--cost-mfence", "2"]):
        answer = cli("repair", *option, "sb.rdma")
        assert (answer.returncode, answer.stdout) == (2, "")
        assert f"{option[0]} belongs to --goal safe" in answer.stderr
    cut = cli("repair", "--goal", "safe", "--max-states", "1", "letter.rdma")
    assert cut.returncode == 3
    assert "UNKNOWN" in cut.stdout


def test_prices_decide_where_waits_go(cli: Cli, folder: Path) -> None:
    """A wait behind a loop does what one in it does; if loops count more, or only some places, that changes the answer."""
    (folder / "loop.rdma").write_text(
        """node M { x, y }
thread T on M {
  reg r, k
  while k < 2 {
    k = k + 1
    x = k
  }
  r = y
}
thread U on M { reg r; y = 1; mfence; r = x }
outcome T.r == 0 && U.r == 0 : forbidden under tso
"""
    )
    ask = ("repair", "--goal", "safe", "--model", "tso", "--sites", "all", "--loop-weight", "10", "loop.rdma")
    assert "loop.rdma: safe under tso with 1 of 3 candidates at cost 1," in cli(*ask).stdout
    behind = cli("repair", "--goal", "safe", "--model", "tso", "--cost-mfence", "3", "--loop-weight", "10", "loop.rdma")
    assert "at cost 30, no cheaper repair exists" in behind.stdout


def test_nothing_is_put_into_copies(cli: Cli, folder: Path) -> None:
    text = SB.replace("x = 1\n  r = y", "set(1)\n  r = y").replace("node M", "macro set(v) { x = v }\nnode M")
    (folder / "macro.rdma").write_text(text)
    answer = cli("repair", "--goal", "safe", "--sites", "all", "macro.rdma")
    assert answer.returncode == 0
    assert "the cheapest found outside of what is written once for many places" in answer.stdout.replace("\n  ", " ")
    inside = cli("repair", "--goal", "safe", "macro.rdma")
    assert inside.returncode == 3
    assert "fmt --expand" in inside.stdout
