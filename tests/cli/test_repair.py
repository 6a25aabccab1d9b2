"""The `repair` command: reports, what it writes and what it refuses to write."""

from __future__ import annotations

import json
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator

from tests.conftest import FLAG_BEHIND_DATA, NOT_ROBUST, ROBUST, ROOT, Cli
from tests.support.shares import share

MAILBOX = (ROOT / "litmus/mailbox-plain.rdma").read_text(encoding="utf-8")
POLLED = MAILBOX.replace("put B.d = v\n", "put B.d = v\n  poll B\n").replace("not robust", "robust")
POLLED = POLLED.replace("allowed under rdma", "forbidden under rdma")
HOPELESS = """node A { x = 1 }
node B { y }
thread T on A { loop { put B.y = x }; put B.y = x; x = 2; loop { poll B; x = 1 }; poll B }
"""
SARIF = Draft7Validator(json.loads((ROOT / "tests/data/sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8")))
SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/repair.schema.json").read_text(encoding="utf-8")))


@pytest.mark.ci
def test_the_report(installed: Cli, tmp_path: Path) -> None:
    (tmp_path / "mail.rdma").write_text(MAILBOX)
    answer = installed("repair", "mail.rdma")
    assert (answer.returncode, answer.stderr) == (0, "")
    lines = answer.stdout.split("\n")
    assert lines[0] == "mail.rdma: repaired at cost 2, no cheaper repair exists"
    assert lines[1] == "  line   10  Sender  poll B  (poll, cost 2)"
    assert "+  poll B" in lines
    assert (tmp_path / "mail.rdma").read_text() == MAILBOX
    again = installed("repair", "mail.rdma", env={"PYTHONHASHSEED": "7"})
    assert again.stdout.rpartition(";")[0] == answer.stdout.rpartition(";")[0]


def test_the_diff_is_one_that_patch_applies(cli: Cli, tmp_path: Path) -> None:
    text = NOT_ROBUST.replace("\n", "\r\n").rstrip()
    (tmp_path / "sb.rdma").write_text(text, newline="")
    diff = cli("repair", "--diff", "sb.rdma").stdout
    assert diff.startswith("--- sb.rdma\n+++ sb.rdma\n@@")
    printed = cli("repair", "-o", "-", "sb.rdma").stdout
    (tmp_path / "x.diff").write_text(diff, newline="")
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "x.diff"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "sb.rdma").read_bytes().decode() == printed
    assert cli("--quiet", "sb.rdma").returncode == 0


@pytest.mark.parametrize(
    "options", share([[], ["--all-minimal"], ["--remove-needless"], ["--timeout", "0", "--memory", "0"]], 2)
)
def test_json(cli: Cli, programs: Path, options: list[str]) -> None:
    (programs / "mail.rdma").write_text(MAILBOX)
    (programs / "polled.rdma").write_text(POLLED)
    (programs / "hopeless.rdma").write_text(HOPELESS)
    for name in ("mail", "polled", "sb", "calm", "hopeless"):
        answer = cli("repair", "--format", "json", *options, f"{name}.rdma")
        report = json.loads(answer.stdout)
        SCHEMA.validate(report)
        assert answer.returncode == {"robust": 0, "repaired": 0, "impossible": 1, "unknown": 3}[report["status"]]


@pytest.mark.parametrize("options", share([["--all-minimal"], [], ["--remove-needless"], ["--max-states", "1"]], 4))
def test_sarif(cli: Cli, programs: Path, options: list[str]) -> None:
    """The log is valid, and its fixes make the repaired program out of the text."""
    (programs / "mail.rdma").write_text(MAILBOX)
    (programs / "polled.rdma").write_text(POLLED.replace("put B.f = v\n", "put B.f = v // last\n  poll B // drain\n"))
    (programs / "hopeless.rdma").write_text(HOPELESS)
    for name in ("mail", "polled", "sb", "calm", "hopeless"):
        log = json.loads(cli("repair", "--format", "sarif", *options, f"{name}.rdma").stdout)
        SARIF.validate(log)
        report = json.loads(cli("repair", "--format", "json", *options, f"{name}.rdma").stdout)
        fixes = [fix for result in log["runs"][0]["results"] for fix in result.get("fixes", ())]
        text = (programs / f"{name}.rdma").read_text()
        assert len(fixes) == len(report["solutions"])
        for fix, solution in zip(fixes, report["solutions"], strict=True):
            (change,) = fix["artifactChanges"]
            assert change["artifactLocation"]["uri"] == f"{name}.rdma"
            assert applied(text, change["replacements"]) == solution["patched"] != text
            places = [(edit["offset"], edit["offset"] + edit["removed"]) for edit in solution["edits"]]
            assert all(a <= b <= c for (a, b), (c, _) in pairwise(places))


def applied(text: str, replacements: list[dict[str, Any]]) -> str:
    """Apply the replacements of a fix, from the last to the first."""
    starts = [0, *(k + 1 for k, char in enumerate(text) if char == "\n"), len(text) + 1]
    for replacement in reversed(replacements):
        region = replacement["deletedRegion"]
        begin = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        text = text[:begin] + replacement["insertedContent"]["text"] + text[end:]
    return text


def test_exit_codes(cli: Cli, programs: Path) -> None:
    (programs / "hopeless.rdma").write_text(HOPELESS)
    assert cli("repair", "sb.rdma").returncode == 0
    assert "robust, nothing to repair" in cli("repair", "calm.rdma").stdout
    hopeless = cli("repair", "hopeless.rdma")
    assert hopeless.returncode == 1
    assert "NO REPAIR" in hopeless.stdout
    bad = cli("repair", "bad.rdma")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "bad.rdma:2:" in bad.stderr
    cut = cli("repair", "--max-states", "1", "sb.rdma")
    assert cut.returncode == 3
    assert "UNKNOWN" in cut.stdout
    for wrong in (
        ["missing.rdma"],
        ["."],
        ["--cost-poll", "0", "sb.rdma"],
        ["--cost-flush", "1001", "sb.rdma"],
        ["--loop-weight", "0", "sb.rdma"],
        ["--loop-weight", "101", "sb.rdma"],
        ["--diff", "--format", "sarif", "sb.rdma"],
        ["--write", "-o", "x.rdma", "sb.rdma"],
        ["--write", "-"],
        ["--diff", "--format", "json", "sb.rdma"],
        ["--all-minimal", "--remove-needless", "sb.rdma"],
        ["-o", "-", "--diff", "sb.rdma"],
    ):
        answer = cli("repair", *wrong)
        assert (answer.returncode, answer.stdout) == (2, ""), wrong
        assert "error" in answer.stderr.lower(), wrong


@pytest.mark.ci
def test_costs_choose(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mail.rdma").write_text(MAILBOX)
    assert "(poll, cost 3)" in cli("repair", "--cost-poll", "3", "mail.rdma").stdout
    store = str(ROOT / "tests/data/ticket-kv.rdma")
    assert "repaired at cost 120, no cheaper repair exists" in cli("repair", store).stdout
    assert (
        "repaired at cost 18, no cheaper repair exists"
        in cli("repair", "--loop-weight", "1", "--cost-poll", "3", store).stdout
    )
    mirror = str(ROOT / "litmus/order-nrw-nlr.rdma")
    assert "(get, cost 5)" in cli("repair", mirror).stdout
    assert "(flush, cost 13)" in cli("repair", "--cost-rfence", "20", "--cost-flush", "9", mirror).stdout


def test_writing(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mail.rdma"
    path.write_bytes(b"\xef\xbb\xbf" + MAILBOX.encode())
    path.chmod(0o640)
    out = cli("repair", "mail.rdma", "-o", "new.rdma")
    assert (out.returncode, out.stderr) == (0, "new.rdma: written\n")
    new = (tmp_path / "new.rdma").read_bytes()
    assert new == b"\xef\xbb\xbf" + POLLED.encode()
    refused = cli("repair", "mail.rdma", "-o", "new.rdma")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "new.rdma is there already; --force replaces it" in refused.stderr
    assert cli("repair", "mail.rdma", "-o", "mail.rdma").returncode == 2
    assert cli("repair", "mail.rdma", "-o", "new.rdma", "--force").returncode == 0
    assert cli("repair", "mail.rdma", "-o", "no/new.rdma").returncode == 2
    assert cli("repair", "mail.rdma", "-o", str(tmp_path)).returncode == 2
    assert cli("repair", "--write", "mail.rdma").returncode == 0
    assert path.read_bytes() == new
    assert path.stat().st_mode & 0o777 == 0o640
    assert "nothing to repair" in cli("repair", "--write", "mail.rdma").stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mail.rdma", "new.rdma"]


def test_what_cannot_be_written_loses_nothing(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mail.rdma"
    path.write_text(MAILBOX)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        answer = cli("repair", "--write", "mail.rdma")
    assert answer.returncode == 2
    assert "No space left on device" in answer.stderr
    assert "+  poll B" in answer.stdout
    assert json.loads(cli("repair", "--format", "json", "mail.rdma").stdout)["written"] is None
    monkeypatch.setattr("os.access", lambda *_: False)
    answer = cli("repair", "--write", "mail.rdma")
    assert answer.returncode == 2
    assert "write-protected" in answer.stderr
    assert path.read_text() == MAILBOX
    assert [p.name for p in tmp_path.iterdir()] == ["mail.rdma"]


def test_nothing_is_written_without_a_repair(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "hopeless.rdma").write_text(HOPELESS)
    assert cli("repair", "hopeless.rdma", "-o", "new.rdma").returncode == 1
    assert cli("repair", "--write", "hopeless.rdma").returncode == 1
    assert (tmp_path / "hopeless.rdma").read_text() == HOPELESS
    assert not (tmp_path / "new.rdma").exists()
    (tmp_path / "calm.rdma").write_text(ROBUST)
    assert cli("repair", "calm.rdma", "-o", "same.rdma").returncode == 0
    assert (tmp_path / "same.rdma").read_text() == ROBUST


def test_needless(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mail.rdma").write_text(POLLED.replace("put B.f = v\n", "put B.f = v // last\n  poll B // drain\n"))
    answer = cli("repair", "--remove-needless", "mail.rdma", "-o", "new.rdma")
    assert answer.returncode == 0
    assert "1 instruction can go, which saves 2" in answer.stdout
    assert "without poll B" in answer.stdout
    new = (tmp_path / "new.rdma").read_text()
    assert "// drain" in new
    assert new.count("poll B") == 1
    (tmp_path / "plain.rdma").write_text(MAILBOX)
    assert cli("repair", "--remove-needless", "plain.rdma").returncode == 1


def test_hostile_names_and_programs(cli: Cli, tmp_path: Path) -> None:
    name = "\x1b[31mred\n.rdma"
    (tmp_path / name).write_text(MAILBOX.replace("// Not robust", "// \x1b[2J Not\u2028robust \U0001f600"))
    answer = cli("repair", name)
    assert answer.returncode == 0
    assert "\x1b" not in answer.stdout + answer.stderr
    report = json.loads(cli("repair", "--format", "json", name).stdout)
    SCHEMA.validate(report)
    assert "\u2028" in report["solutions"][0]["patched"]
    words = "node A { scrap = 3, any, mark }\nnode B { any2, mark2, scrap2 }\n"
    body = "thread T on A { reg scrap4; put B.any2 = scrap; put B.mark2 = 1; scrap = 2; put B.scrap2 = any; any = mark4 }\n"
    (tmp_path / "names.rdma").write_text(f"const mark4 = 1\n{words}{body}thread S on B {{ reg r; r = scrap2; any2 = r }}\n")
    assert cli("repair", "names.rdma", "-o", "out.rdma").returncode == 0
    assert cli("out.rdma").returncode == 0
    out = (tmp_path / "out.rdma").read_text()
    for line in out.split("\n"):
        if line.strip().startswith("get "):
            # Words that were there are left alone, also those that nobody uses.
            assert not set(line.replace(".", " ").replace("=", " ").split()) & {
                "scrap",
                "any",
                "any2",
                "scrap2",
                "scrap4",
                "mark",
            }
    assert cli("repair", "-", stdin="").returncode == 0
    assert cli("repair", "-", stdin="node A { " * 200).returncode == 2


@pytest.mark.ci
def test_large_programs_end_in_time(cli: Cli, tmp_path: Path) -> None:
    puts = "\n".join("  put B.y = x; x = 1; x = 0" for _ in range(150))
    (tmp_path / "large.rdma").write_text(f"node A {{ x }}\nnode B {{ y }}\nthread T on A {{\n{puts}\n}}\n")
    answer = cli("repair", "--timeout", "1", "large.rdma")
    assert answer.returncode in (0, 3)
    assert "limit" in answer.stdout + answer.stderr  # on a busy machine it has not begun to search


def test_one_change_for_several_tables(cli: Cli, tmp_path: Path) -> None:
    """A flag behind data: writes stay in order by default, and over lossless paths alone a poll would do."""
    (tmp_path / "flag.rdma").write_text(FLAG_BEHIND_DATA)
    (tmp_path / "mine.toml").write_text('name = "mine"\nbased-on = "default"\n[cells]\n"nrW nrW" = "-"\n')
    done = cli("repair", "flag.rdma", "--for", "default,mine.toml,fi(RMA_WAW, SAS),srd", "-o", "new.rdma")
    assert done.returncode == 0
    assert done.stdout.startswith(
        "flag.rdma: repaired at cost 3, the cheapest found, there may be a cheaper one, under orders"
    )
    for order in ("default", "mine.toml", "fi(RMA_WAW, SAS)", "srd"):
        assert cli("check", "new.rdma", "--order", order).returncode == 0
    assert cli("check", "flag.rdma", "--order", "mine.toml").returncode == 1
    report = json.loads(cli("repair", "flag.rdma", "--for", "default,multipath", "--format", "json").stdout)
    SCHEMA.validate(report)
    assert report["options"]["orders"] == ["default", "multipath"]
    assert "robust, nothing to repair, under order default" in cli("repair", "flag.rdma", "--for", "default").stdout
    needless = cli("repair", "new.rdma", "--for", "default,fi(RMA_WAW)", "--remove-needless").stdout
    assert needless.startswith("new.rdma: 1 instruction can go")
    assert "nothing is needless" in cli("repair", "new.rdma", "--for", "default,srd", "--remove-needless").stdout
    for wrong in (("--order", "srd"), ("--goal", "safe")):
        assert cli("repair", "flag.rdma", "--for", "srd", *wrong).returncode == 2


def test_messages_under_a_table_that_no_machine_has(cli: Cli, tmp_path: Path) -> None:
    """Hangs are looked for under sequential consistency: that the table says of messages what it does not say of puts does
    not matter there."""
    text = """node A { x = 1 }
node B { d, b }
thread T on A { put B.d = x; send 1 to U }
thread U on B {
  reg r
  posted b from T
  rpoll T
  r = d
}
"""
    (tmp_path / "told.rdma").write_text(text)
    done = cli("repair", "told.rdma", "--for", "fi(RAW, WAW),srd")
    assert done.returncode == 0 and "hangs: none" in done.stdout
