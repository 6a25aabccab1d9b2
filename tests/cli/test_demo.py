"""The installed command: `demo`, its list, and the demos of Post's problem and of the alternating bit."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from rdma_robust.language.load import load_program
from tests.conftest import COMMAND, Cli

SHORT = ("demo", "pcp", "--top", "ab,b", "--bottom", "a,bb")
CLASSIC = ("demo", "pcp", "--top", "a,ab,bba", "--bottom", "baa,aa,bb")


def test_the_list_names_every_demo_and_each_has_help(cli: Cli) -> None:
    done = cli("demo")
    assert done.returncode == 0
    names = re.findall(r"^  rdma-robust demo ([a-z]+)  +\S", done.stdout, re.MULTILINE)
    assert {"pcp", "abp"} <= set(names)
    for name in names:
        shown = cli("demo", name, "--help")
        assert shown.returncode == 0
        assert {"--output", "--html", "--pace", "--all-moves"} <= set(re.findall(r"--[a-z-]+", shown.stdout))


@pytest.mark.ci
def test_the_classic_instance_is_solved(cli: Cli, tmp_path: Path) -> None:
    done = cli(*CLASSIC, "-o", "pcp.rdma", "--html", "pcp.html")
    assert done.returncode == 0
    assert "the solution is 3, 2, 3, 1, and no shorter one exists" in " ".join(done.stdout.split())
    assert "Both sides spell bbaabbbaa." in " ".join(done.stdout.split())
    assert done.stdout.endswith("Saved: pcp.rdma, pcp.html\n")
    program = load_program((tmp_path / "pcp.rdma").read_text(), "pcp.rdma")
    assert [thread.name for thread in program.threads] == ["Guesser", "Top", "Bottom", "Checker"]
    assert (tmp_path / "pcp.html").read_text().startswith("<!DOCTYPE html>")
    assert cli("demo", "pcp").stdout == done.stdout.removesuffix("Saved: pcp.rdma, pcp.html\n")


@pytest.mark.parametrize(
    ("top", "bottom", "more", "said"),
    [
        ("a,ab", "ab,ba", (), "Checker cannot end in any run of the program"),
        ("a,b", "aa,bb", ("--indices", "4"), "No sequence of up to 4 indices is a solution"),
        ("a,b", "aa,bb", ("--max-states", "200"), "ended by its limit (200 states)"),
    ],
)
def test_other_answers_are_told_and_are_no_failure(
    cli: Cli, top: str, bottom: str, more: tuple[str, ...], said: str
) -> None:
    done = cli("demo", "pcp", "--top", top, "--bottom", bottom, *more)
    assert done.returncode == 0
    assert said in " ".join(done.stdout.split())


def test_an_instance_can_be_a_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("ab, b\na, bb\n")
    (tmp_path / "same.json").write_text('{"top": ["ab", "b"], "bottom": ["a", "bb"]}')
    by_lines, by_json = (cli("demo", "pcp", name) for name in ("lines.txt", "same.json"))
    assert "the solution is 1, 2," in by_lines.stdout
    assert by_json.stdout == by_lines.stdout
    assert cli("demo", "pcp", "-", "-o", "lines.txt", "--force", stdin="ab,b\na,bb\n").stdout.startswith(by_lines.stdout)
    assert (tmp_path / "lines.txt").read_text().startswith("// Post's")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nothing",), "demo has no nothing, it has pcp"),
        (("pcp", "--top", "a"), "both --top and --bottom"),
        (("pcp", "bad.txt", "--top", "a", "--bottom", "a"), "a FILE, or both --top and --bottom"),
        (("pcp", "--top", "a,", "--bottom", "b"), "--top, --bottom:1:3: error: a word is empty"),
        (("pcp", "bad.txt"), "bad.txt:2:1: error: 2 words on top and 1 at the bottom"),
        (("pcp", "missing.txt"), "missing.txt: error: no such file"),
        (("pcp", "--pace", "slow"), "auto or a number of seconds"),
        (("pcp", "--indices", "0"), "--indices"),
        (("pcp", "-o", "bad.txt"), "bad.txt is there already; --force replaces it"),
        (("pcp", "-o", "no/such/pcp.rdma"), "cannot write to no/such/pcp.rdma"),
        (("pcp", "-o", "same", "--html", "same"), "name the same file"),
        (("pcp", "--html", "."), "cannot write to ."),
        (("abp", "--letters", "aa"), "each once"),
        (("abp", "--word", "abc"), "a word of the letters ab"),
        (("abp", "--word", ""), "a word of the letters ab"),
        (("abp", "--length", "6"), "--length 6 is too long"),
        (("abp", "--letters", "a", "--word", "a", "--length", "999999999999"), "only words of up to 8 letters"),
        (("abp", "--word", "abababababab"), "may have 8 letters"),
    ],
)
def test_mistakes_are_explained(cli: Cli, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "bad.txt").write_text("a,b\nc\n")
    done = cli("demo", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert (tmp_path / "bad.txt").read_text() == "a,b\nc\n"


@pytest.mark.ci
def test_everything_generated_can_be_saved_in_a_folder(cli: Cli, tmp_path: Path) -> None:
    done = cli("demo", "abp", "--length", "0", "-o", "transfers/")
    assert done.returncode == 0
    names = sorted(path.name for path in (tmp_path / "transfers").iterdir())
    assert names == ["transfer-bare.rdma", "transfer-checked.rdma", "transfer-told.rdma"]
    for name in names:
        assert cli("fmt", "--check", f"transfers/{name}").returncode == 0
    assert cli("demo", "abp", "--length", "0", "-o", "transfers/").returncode == 2


def test_transfers_are_compared(cli: Cli) -> None:
    done = cli("demo", "abp", "--length", "1")
    text = " ".join(done.stdout.split())
    assert "bare: a shortest run that sends ab and receives nothing" in text
    assert "as told: a shortest run that sends ab and receives a " in text
    assert "overwrites symbol 2, which was never read" in text
    assert "with the last check: no run of this program ends with anything but ab." in text
    rows = {
        line.split("  ")[1]: line.split()[-5:]
        for line in done.stdout.splitlines()
        if re.match(r"  (bare|as told|with) ", line)
    }
    assert rows["bare"][2:] == ["1", "3", "3"]
    assert rows["as told"][2:] == ["3", "1", "0"]
    assert rows["with the last check"][2:] == ["4", "0", "0"]


def check_counting(told: Cli, tmp_path: Path, demo: tuple[str, ...]) -> None:
    """The moves that are said to be left out are those that --all-moves shows more, and the page counts as the text does."""
    left_out = re.compile(r"\((\d+)\s+of\s+its\s+(\d+)\s+moves\s+are\s+left\s+out;\s+--all-moves\s+shows\s+them\)")
    numbered = re.compile(r"^ {2} *(\d+)  ", re.MULTILINE)
    _, *runs = left_out.split(told("demo", *demo).stdout.split("What to try next")[0])
    said = [(int(out), int(length)) for out, length in zip(runs[::3], runs[1::3], strict=True)]
    shown = [sum(number != "0" for number in numbered.findall(text)) for text in runs[2::3]]
    numbers = [int(number) for number in numbered.findall(told("demo", *demo, "--all-moves").stdout)]
    lengths = [last for last, then in zip(numbers, [*numbers[1:], 0], strict=True) if then == 0]
    assert said and said == [(length - few, length) for length, few in zip(lengths, shown, strict=True)]
    assert told("demo", *demo, "--html", "page.html").returncode == 0
    page = (tmp_path / "page.html").read_text()
    matter = [(int(few), int(length)) for few, length in re.findall(r"moves that matter \((\d+) of (\d+)\)", page)]
    assert matter == list(zip(shown, lengths, strict=True))
    assert [int(last) for last in re.findall(r'type="range"[^>]* max="(\d+)"', page)] == lengths


@pytest.mark.ci
def test_moves_are_counted_in_one_way(cli: Cli, installed: Cli, tmp_path: Path) -> None:
    check_counting(installed, tmp_path, ("vass",))
    (tmp_path / "page.html").unlink()
    check_counting(cli, tmp_path, ("abp", "--length", "0"))


def check_hash_seeds(cli: Cli, installed: Cli, arguments: tuple[str, ...]) -> None:
    """The seed of this process is another one."""
    done = installed(*arguments, "--all-moves", env={"PYTHONHASHSEED": "1"})
    assert done.returncode == 0
    assert done.stdout == cli(*arguments, "--all-moves").stdout


@pytest.mark.ci
def test_hash_seeds_make_no_difference(cli: Cli, installed: Cli) -> None:
    check_hash_seeds(cli, installed, SHORT)


@pytest.mark.long
@pytest.mark.parametrize("arguments", [CLASSIC, ("demo", "abp")])
def test_hash_seeds_make_no_difference_to_long_demos(cli: Cli, installed: Cli, arguments: tuple[str, ...]) -> None:
    check_hash_seeds(cli, installed, arguments)


@pytest.mark.ci
def test_a_terminal_is_given_time_and_can_be_interrupted() -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen([COMMAND, *SHORT, "--pace", "600"], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    try:
        shown = b""
        while b"===\r\n" not in shown:
            shown += os.read(ours, 4096)
        time.sleep(0.2)
        assert process.poll() is None, "it pauses after the title"
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=30)
    finally:
        process.kill()
        os.close(ours)
    assert process.returncode == 130
    assert complaint == b"interrupted\n"
    assert b"The theorem" not in shown
