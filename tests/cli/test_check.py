"""The installed command: verdicts, exit codes, inputs and formats of `check`."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rdma_robust import check
from tests.conftest import NOT_ROBUST, ROBUST, ROOT, Cli

SCHEMA = json.loads((ROOT / "rdma_robust/schema/check.schema.json").read_text())
LOOPING = """program pump
node A { x }
node B { y }
thread T1 on A { loop { put B.y = x; choose { poll B } or { skip } } x = 1 }
thread T2 on B { reg r; r = y }
"""


def valid(text: str) -> Any:
    report = json.loads(text)
    Draft202012Validator(SCHEMA).validate(report)
    return report


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["calm.rdma"], 0),
        (["sb.rdma"], 1),
        (["bad.rdma"], 2),
        (["calm.rdma", "sb.rdma"], 1),
        (["calm.rdma", "sb.rdma", "bad.rdma"], 2),
        (["--expect", "calm.rdma", "sb.rdma"], 0),
        (["--expect", "wrong.rdma"], 1),
        (["--expect", "silent.rdma"], 1),
        (["--max-states", "2", "sb.rdma"], 3),
        (["--max-states", "2", "sb.rdma", "--expect"], 3),
        (["--max-states", "2", "sb.rdma", "bad.rdma"], 2),
        (["missing.rdma"], 2),
        (["no*match.rdma"], 2),
        (["--timeout", "-1", "calm.rdma"], 2),
        (["--timeout", "nan", "calm.rdma"], 2),
        (["--jobs", "0", "calm.rdma"], 2),
        (["--max-states", "-5", "calm.rdma"], 2),
        (["--memory", "x", "calm.rdma"], 2),
        (["--no-such-option", "calm.rdma"], 2),
        (["--dump-after", "nothing", "calm.rdma"], 2),
        (["--dump-after", "parse", "calm.rdma"], 0),
        (["--dump-after", "parse", "bad.rdma"], 2),
        ([], 2),
        (["check"], 2),
        (["--help"], 0),
        (["check", "--help"], 0),
        (["--version"], 0),
    ],
)
def test_exit_codes(cli: Cli, programs: Path, arguments: list[str], code: int) -> None:
    (programs / "wrong.rdma").write_text(ROBUST.replace("expect robust", "expect not robust"))
    (programs / "silent.rdma").write_text(ROBUST.replace("expect robust", ""))
    done = cli(*arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert "internal error" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["calm.rdma"], 0),
        (["calm.rdma", "sb.rdma"], 1),
        (["calm.rdma", "sb.rdma", "bad.rdma"], 2),
        (["sb.rdma", "--max-states", "2"], 3),
        (["calm.rdma", "sb.rdma", "--expect"], 0),
        (["--no-such-option"], 2),
    ],
)
@pytest.mark.usefixtures("programs")
def test_exit_codes_of_the_process(installed: Cli, arguments: list[str], code: int) -> None:
    assert installed(*arguments).returncode == code


def test_internal_errors_exit_with_4_and_no_traceback(installed: Cli, programs: Path) -> None:
    """A program that breaks the tool; here the tool is broken from outside, by a module that shadows one it imports."""
    (programs / "shadow").mkdir()
    (programs / "shadow" / "sitecustomize.py").write_text("import sys\nsys.modules['lark'] = None\n")
    done = installed("calm.rdma", env={"PYTHONPATH": str(programs / "shadow")})
    assert done.returncode == 4
    assert "internal error" in done.stderr
    assert "Please report" in done.stderr


def test_a_bare_list_of_files_is_check(installed: Cli, programs: Path) -> None:
    short, long = (installed(*a, "--format", "jsonl", "sb.rdma", "calm.rdma") for a in ([], ["check"]))
    strip = [[{**json.loads(line), "time_s": 0} for line in done.stdout.splitlines()] for done in (short, long)]
    assert strip[0] == strip[1]
    assert [r["verdict"] for r in strip[0]] == ["not-robust", "robust"]
    assert programs.exists()


def test_version_names_the_kernel(cli: Cli) -> None:
    kernel = "compiled" if find_spec("rdma_robust.counters.kernel._kernel") else "python"
    assert f"search kernel: {kernel}" in cli("--version").stdout


def test_no_arguments_print_help(cli: Cli) -> None:
    assert "Usage: rdma-robust" in cli().stdout


def test_help_has_examples_and_exit_codes(cli: Cli) -> None:
    for command in ("check", "explain", "fmt", "outcomes"):
        text = cli(command, "--help").stdout
        assert "Examples" in text
        assert "Exit codes" in text


@pytest.mark.usefixtures("programs")
def test_the_table_has_one_row_per_program_and_totals(cli: Cli) -> None:
    done = cli("calm.rdma", "sb.rdma", "bad.rdma")
    head, *rows, totals = done.stdout.splitlines()
    assert head.split() == ["file", "verdict", "expected?", "instr.", "engine", "states", "pivots", "time"]
    assert [row.split()[0] for row in rows] == ["calm.rdma", "sb.rdma", "bad.rdma"]
    assert "NOT ROBUST  yes" in rows[1]
    assert totals.startswith("3 programs: 1 robust, 1 not robust, 1 error")
    assert done.stderr.startswith("bad.rdma:2:18: error: ")
    assert "bad.rdma:3:" in done.stderr


@pytest.mark.usefixtures("programs")
def test_one_program_is_explained_and_a_batch_on_demand(cli: Cli) -> None:
    assert "What makes it possible:" in cli("sb.rdma").stdout
    assert "What makes it possible:" not in cli("sb.rdma", "--no-explain").stdout
    assert "What makes it possible:" not in cli("sb.rdma", "calm.rdma").stdout
    assert "What makes it possible:" in cli("sb.rdma", "calm.rdma", "-v").stdout


@pytest.mark.usefixtures("programs")
def test_quiet_keeps_only_what_counts(cli: Cli) -> None:
    done = cli("-q", "calm.rdma", "sb.rdma")
    rows = done.stdout.splitlines()
    assert len(rows) == 2
    assert rows[0].startswith("sb.rdma")
    assert cli("-q", "--expect", "calm.rdma", "sb.rdma").stdout.startswith("2 programs")


@pytest.mark.usefixtures("programs")
def test_a_reached_limit_is_named(cli: Cli) -> None:
    done = cli("--max-states", "2", "sb.rdma")
    assert "UNKNOWN" in done.stdout
    assert "2 states" in done.stdout


@pytest.mark.usefixtures("programs")
def test_json_is_valid_and_complete(installed: Cli) -> None:
    report = valid(installed("calm.rdma", "sb.rdma", "bad.rdma", "missing.rdma", "--format", "json").stdout)
    assert [r["verdict"] for r in report["results"]] == ["robust", "not-robust", "error", "error"]
    assert [r["error_kind"] for r in report["results"]] == [None, None, "invalid", "unreadable"]
    assert [e["line"] for e in report["results"][2]["errors"]] == [2, 3]
    assert report["summary"]["exit_code"] == 2
    witness = report["results"][1]["witness"]
    assert witness["order"] == [*witness["alpha"], witness["pivot"], *witness["beta"]]
    assert {e["line"] for e in witness["events"] if e["part"] != "init"} == {4, 5}
    assert {w["earlier"] for w in witness["relaxed"]} <= set(witness["order"])


@pytest.mark.usefixtures("programs")
def test_jsonl_has_a_result_per_line(cli: Cli) -> None:
    schema = {"$ref": "#/$defs/result", "$defs": SCHEMA["$defs"]}
    lines = cli("calm.rdma", "sb.rdma", "bad.rdma", "--format", "jsonl").stdout.splitlines()
    assert len(lines) == 3
    for line in lines:
        Draft202012Validator(schema).validate(json.loads(line))


@pytest.mark.ci
@pytest.mark.usefixtures("programs")
def test_reports_are_deterministic_whatever_the_jobs(installed: Cli) -> None:
    def report(jobs: str, seed: str) -> Any:
        arguments = ("sb.rdma", "bad.rdma", "calm.rdma", "--format", "json", "--memory", "1000", "--jobs", jobs)
        found = valid(installed(*arguments, env={"PYTHONHASHSEED": seed}).stdout)
        for each in (*found["results"], found["summary"]):
            each["time_s"] = 0
        return found

    assert report("1", "0") == report("3", "7")


def test_standard_input(cli: Cli) -> None:
    for arguments in (["-"], ["-", "-"]):
        done = cli(*arguments, "--format", "jsonl", stdin=NOT_ROBUST)
        assert json.loads(done.stdout)["file"] == "<stdin>"
        assert done.returncode == 1
    assert cli("-", stdin="").returncode in (0, 2)


def test_standard_input_next_to_files_in_parallel(installed: Cli, programs: Path) -> None:
    done = installed("-", "calm.rdma", "--format", "jsonl", "--jobs", "2", stdin=NOT_ROBUST)
    assert [json.loads(line)["verdict"] for line in done.stdout.splitlines()] == ["not-robust", "robust"]
    assert programs.exists()


def test_directories_globs_and_duplicates(cli: Cli, programs: Path) -> None:
    (programs / "deep" / "er").mkdir(parents=True)
    (programs / "deep" / "b.rdma").write_text(ROBUST)
    (programs / "deep" / "er" / "a.rdma").write_text(ROBUST)
    (programs / "deep" / "notes.txt").write_text("no program")
    (programs / "empty").mkdir()

    def files(*arguments: str) -> list[str]:
        return [json.loads(line)["file"] for line in cli(*arguments, "--format", "jsonl").stdout.splitlines()]

    assert files("deep") == ["deep/b.rdma", "deep/er/a.rdma"]
    assert files("deep/**/*.rdma") == ["deep/b.rdma", "deep/er/a.rdma"]
    assert files("c*.rdma", "./calm.rdma", str(programs / "calm.rdma")) == ["calm.rdma"]
    done = cli("empty", "calm.rdma")
    assert done.returncode == 2
    assert "no .rdma or .trencher file" in done.stderr
    assert "1 robust" in done.stdout


@pytest.mark.parametrize("data", [b"node A \xff{ x }\n", b"\xfe\xff", b"// \xc3("])
def test_text_that_is_not_utf8(cli: Cli, programs: Path, data: bytes) -> None:
    (programs / "latin.rdma").write_bytes(data)
    done = cli("latin.rdma", "calm.rdma")
    assert done.returncode == 2
    bad = next(k for k in range(len(data)) if data[k] > 127)
    assert f"byte offset {bad}" in done.stderr
    assert "1 robust" in done.stdout


def test_byte_order_mark_and_nul(cli: Cli, programs: Path) -> None:
    (programs / "bom.rdma").write_bytes(b"\xef\xbb\xbf" + ROBUST.encode())
    (programs / "nul.rdma").write_bytes(ROBUST.encode() + b"\0\0")
    assert cli("bom.rdma").returncode == 0
    assert cli("nul.rdma").returncode == 2


HOSTILE = [
    "[red]x[bold].rdma",
    "esc\x1b[31m.rdma",
    "new\nline.rdma",
    "{0}%s.rdma",
    "-dash.rdma",
    "bidi\u202e.rdma",
    "[bad.rdma",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_names(cli: Cli, programs: Path, name: str) -> None:
    (programs / name).write_text(NOT_ROBUST)
    done = cli("--", name)
    assert done.returncode == 1, done.stderr
    assert all(c.isprintable() for c in done.stdout.replace("\n", ""))
    assert len([line for line in done.stdout.splitlines() if "NOT ROBUST" in line]) == 1
    assert valid(cli("--format", "json", "--", name).stdout)["results"][0]["file"] == name


def test_undecodable_file_names(installed: Cli, programs: Path) -> None:
    with open(os.fsencode(programs) + b"/bad\xff.rdma", "w", encoding="utf-8") as stream:
        stream.write(ROBUST)
    assert valid(installed(".", "--format", "json").stdout)["results"][1]["file"] == "./bad\\udcff.rdma"
    assert "bad\\udcff.rdma" in installed(".").stdout


def test_hostile_program_text_is_escaped(cli: Cli, programs: Path) -> None:
    (programs / "evil.rdma").write_text("node A { x }\nthread T on A { \x1b[31m[red]y = 1 }\n")
    done = cli("evil.rdma")
    assert done.returncode == 2
    assert "\x1b" not in done.stdout + done.stderr


def test_output_files(cli: Cli, programs: Path) -> None:
    kept = programs / "report.json"
    kept.write_text("old")
    kept.chmod(0o640)
    done = cli("sb.rdma", "--format", "json", "-o", "report.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert valid(kept.read_text())["summary"]["not_robust"] == 1
    assert kept.stat().st_mode & 0o777 == 0o640
    assert cli("sb.rdma", "-o", "nowhere/report").returncode == 2
    assert cli("sb.rdma", "-o", "./sb.rdma").returncode == 2
    assert (programs / "sb.rdma").read_text() == NOT_ROBUST
    assert cli("sb.rdma", "-o", "/dev/null").returncode == 1
    assert not list(programs.glob(".rdma-robust-*"))


def test_self_check_says_what_agreed(cli: Cli, programs: Path) -> None:
    result = valid(cli("sb.rdma", "--self-check", "--format", "json").stdout)["results"][0]
    assert "brute force" in result["checked_by"]
    assert programs.exists()


def test_a_looping_program(cli: Cli, programs: Path) -> None:
    (programs / "pump.rdma").write_text(LOOPING)
    assert cli("pump.rdma").returncode in (0, 1)


@pytest.mark.parametrize("name", ["atomics-after-get", "send-get-overtaken"])
def test_json_has_the_relations_that_a_trace_has(cli: Cli, name: str) -> None:
    file = str(ROOT / f"litmus/deployed/{name}.rdma")
    report = valid(cli(file, "--format", "json").stdout)
    found = report["results"][0]["witness"]["relations"]
    outcome = check(Path(file))
    assert outcome.witness is not None
    trace = outcome.witness.trace
    every = {each: getattr(trace, each) for each in ("po", "pf", "rf", "mo", "nfo", "rao", "sm", "rpf")}
    assert found == {word: [list(pair) for pair in pairs] for word, pairs in every.items() if pairs is not None}
