"""The command `new`: programs to begin with, whose claims hold, and whose comments are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rdma_robust.cli.completion.answers import cursor_completions
from rdma_robust.teaching.patterns import MESSAGE_PATTERNS, PATTERNS
from tests.conftest import Cli
from tests.support.shares import share

OTHER_VALUES = {
    "ring": ("-D", "SLOTS=3", "-D", "ROUNDS=1"),
    "lock": (),
    "mailbox": ("-D", "MESSAGES=2"),
    "barrier": ("-D", "VALUE=1"),
    "rpc": ("-D", "CALLS=2"),
    "kv": ("-D", "KEYS=1", "-D", "VERSIONS=3"),
}
SWAPPED = "the two lines change places"
BROKEN = [
    ("mailbox", r"    poll B.*\n", ""),
    ("mailbox", r"(    put B\.slot.*\n)(    put B\.full.*\n)", SWAPPED),
    ("ring", r"      await credit.*\n", ""),
    ("ring", r"(      ring\[i\] = 0.*\n)(      put P.*\n)", SWAPPED),
    ("lock", r"  poll S +// only now.*\n", ""),
    ("lock", r"(  put S\.counter.*\n)(  put ask = 0.*\n)", SWAPPED),
    ("barrier", r"(  put data.*\n)(  put arrived.*\n)", SWAPPED),
    ("rpc", r"(    put Client\.answer.*\n)((?:.*\n)?    put Client\.reply.*\n)", SWAPPED),
    ("kv", r"    poll Store +// before the next get.*\n", ""),
    ("kv", r"      poll Store\n      poll Store.*\n", ""),
]
"""What the comments say that a pattern needs: without it some claim fails."""
UNNEEDED = [("ring", r"      poll C.*\n"), ("rpc", r" +poll (Server|Client).*\n")]
"""Polls of which the comments say that they only keep the completion queue empty."""


@pytest.mark.ci
def test_a_name_writes_a_program_that_passes(installed: Cli, tmp_path: Path) -> None:
    for name in PATTERNS:
        done = installed("new", name, "-o", f"{name}.rdma")
        assert (done.returncode, done.stdout) == (0, "")
        assert f"written: {name}.rdma" in done.stderr
    files = [f"{name}.rdma" for name in PATTERNS]
    checked = installed("check", "--expect", *files)
    assert checked.returncode == 0 and f"{len(files)} as expected" in checked.stdout, checked.stdout
    verified = installed("verify", "--strict", *files)
    assert verified.returncode == 0 and "violated" not in verified.stdout, verified.stdout
    assert installed("fmt", "--check", *files).returncode == 0
    for name in files:
        text = (tmp_path / name).read_text()
        assert "\noutcome " in text and "  assert " in text and text.count("//") > 6
        assert text.endswith("\nexpect robust, no hang under sc, no hang under rdma\n")
        assert max(map(len, text.splitlines())) <= 110


@pytest.mark.ci
@pytest.mark.parametrize("name", PATTERNS)
def test_comments_say_under_which_hardware_a_pattern_breaks(cli: Cli, name: str) -> None:
    text = cli("new", name).stdout
    assert re.search(r"^hardware cpu tso$", text, re.MULTILINE)
    (says,) = re.findall(r"^// - Stores .*\. (It|Nothing) breaks under\n//   `order multipath`", text, re.MULTILINE)
    assert cli("check", "--quiet", "--order", "multipath", "-", stdin=text).returncode == (says == "It")


@pytest.mark.ci
@pytest.mark.parametrize("name", PATTERNS)
def test_constants_can_be_given_other_values(cli: Cli, name: str) -> None:
    text = cli("new", name, *OTHER_VALUES[name]).stdout
    for given in OTHER_VALUES[name][1::2]:
        constant, _, value = given.partition("=")
        assert re.search(rf"^const {constant} = {value}\b", text, re.MULTILINE)
    assert cli("check", "--expect", "-", stdin=text).returncode == 0
    assert cli("verify", "--strict", "-", stdin=text).returncode == 0


@pytest.mark.ci
@pytest.mark.parametrize(("name", "what", "instead"), share(BROKEN, len(BROKEN), keep=4))
def test_what_the_comments_say_is_needed(cli: Cli, name: str, what: str, instead: str) -> None:
    text = cli("new", name).stdout
    broken = re.sub(what, r"\2\1" if instead is SWAPPED else "", text)
    assert broken != text
    assert cli("verify", "-", stdin=broken).returncode == 1


@pytest.mark.ci
@pytest.mark.parametrize(("name", "what"), UNNEEDED)
def test_what_the_comments_say_is_not_needed(cli: Cli, name: str, what: str) -> None:
    text = cli("new", name).stdout
    less = re.sub(what, "", text)
    assert less != text
    assert cli("check", "--expect", "-", stdin=less).returncode == 0
    assert cli("verify", "-", stdin=less).returncode == 0


@pytest.mark.ci
def test_programs_that_pass_messages_hold_what_they_claim(cli: Cli) -> None:
    files = [f"{name}.mp" for name in MESSAGE_PATTERNS]
    for name in MESSAGE_PATTERNS:
        done = cli("new", name, "-o", f"{name}.mp")
        assert f"written: {name}.mp; try rdma-robust messages check --expect {name}.mp" in done.stderr
    checked = cli("messages", "check", "--expect", *files)
    assert checked.returncode == 0 and "3 as expected" in checked.stdout, checked.stdout
    assert cli("fmt", "--check", *files).returncode == 0
    for name, given in (("halo", "RANKS=4"), ("workers", "TASKS=5"), ("calls", "CALLS=1")):
        text = cli("new", name, "-D", given).stdout
        assert cli("messages", "check", "--expect", "-", stdin=text).returncode == 0


@pytest.mark.parametrize(
    ("name", "what", "instead", "buffer"),
    [
        ("halo", r"(    posted = irecv.*\n)(    send.*\n)", r"\2\1", "any"),
        ("calls", r"to client on answer", r"to Client[1] on answer", "infinite"),
        ("workers", r"send next to who on task tag 1", r"send next to Worker[1] on task tag 1", "infinite"),
    ],
)
def test_what_the_comments_say_of_messages_is_needed(cli: Cli, name: str, what: str, instead: str, buffer: str) -> None:
    text = cli("new", name).stdout
    broken = re.sub(what, instead, text)
    assert broken != text
    assert cli("messages", "check", "--buffer", buffer, "-", stdin=broken).returncode == 1


def test_without_a_name_the_programs_are_listed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = cli("new")
    assert done.returncode == 0
    assert re.findall(r"^  ([a-z]+)  +\S", done.stdout, re.MULTILINE) == [*PATTERNS, *MESSAGE_PATTERNS]
    assert "SLOTS = 2, ROUNDS = 2" in " ".join(done.stdout.split())
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rng",), "did you mean `ring`?"),
        (("ring", "-D", "SLOT=3"), "did you mean `SLOTS`?"),
        (("ring", "-D", "SLOTS=0"), "with SLOTS=0 this is no program: line "),
        (("-D", "SLOTS=3"), "which program? One of ring, lock, mailbox, barrier, rpc, kv, halo, workers, calls"),
        (("ring", "-o", "mine.rdma"), "mine.rdma is there already; --force replaces it"),
        (("ring", "-o", "no/such/ring.rdma"), "no/such"),
    ],
)
def test_mistakes_are_explained(cli: Cli, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "mine.rdma").write_text("mine")
    done = cli("new", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert (tmp_path / "mine.rdma").read_text() == "mine"
    assert cli("new", "ring", "-o", "mine.rdma", "--force").returncode == 0
    assert (tmp_path / "mine.rdma").read_text() == cli("new", "ring").stdout == cli("new", "ring", "-o", "-").stdout


def test_help_names_every_program(cli: Cli) -> None:
    assert "new" in cli("--help").stdout
    help_ = cli("new", "--help").stdout
    assert all(name in help_ for name in (*PATTERNS, *MESSAGE_PATTERNS))


def test_the_shell_completes_names() -> None:
    assert [each.value for each in cursor_completions(["new", ""], 2)] == [*PATTERNS, *MESSAGE_PATTERNS, "harness"]
    assert [each.value for each in cursor_completions(["new", "r"], 2)] == ["ring", "rpc"]
