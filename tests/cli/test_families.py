"""The installed command on families: every command answers as for the program written out, with brackets in the names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import Cli

RING = """\
const N = 3
node Hub { turn = 0, slot[N] = 0 }
node Peer[i in 0..N-1] { word = i, seen = 0 } // each has its own
thread P[i in 0..N-1] on Peer[i] {
  reg r
  put Hub.slot[i] = word
  put Peer[(i + 1) % N].seen = word
  here: r = seen
}
outcome P[0].r == 0 && Peer[1].seen == 0 : allowed under sc when P >= 3
expect not robust when N >= 2
expect robust when N == 1
"""


@pytest.fixture
def names(cli: Cli, tmp_path: Path) -> tuple[str, str]:
    """The program and what `fmt --expand` makes of it."""
    (tmp_path / "ring.rdma").write_text(RING)
    assert cli("fmt", "--expand", "ring.rdma", "-o", "plain.rdma").returncode == 0
    return "ring.rdma", "plain.rdma"


def plain(text: str) -> str:
    """An answer about the family as one about the program that is written out: without brackets, places and times."""
    told = re.sub(r"\b(P|Peer)\[(\d+)\]", r"\1_\2", text).replace("plain", "ring")
    told = re.sub(r"\(line \d+\)|line +\d+|\d+\.\d+ s|\d+ +(?=P_)| when P >= 3|.*RR701.*", "", told)
    return "".join(told.split())


@pytest.mark.ci
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--expect", "-q", "--format", "concise"),
        ("verify", "--no-explain"),
        ("outcomes",),
        ("reach", "--target", "P[1] at here && Peer[0].seen == 2", "--no-explain"),
        ("export", "--to", "dot", "--of", "program"),
        ("models", "--format", "concise"),
    ],
    ids=lambda given: given[0],
)
def test_every_command_answers_as_for_what_is_written_out(
    cli: Cli, names: tuple[str, str], arguments: tuple[str, ...]
) -> None:
    family, written = names
    found = cli(*arguments, family)
    target = tuple(re.sub(r"\[(\d)\]", r"_\1", each) for each in arguments)
    expected = cli(*target, written)
    assert found.returncode == expected.returncode, found.stderr
    assert plain(found.stdout) == plain(expected.stdout)
    assert "[" not in expected.stdout.replace("Hub.slot[", "").replace("[RR", "") or arguments[0] == "export"


@pytest.mark.ci
def test_what_is_made_of_a_family_can_be_read(cli: Cli, names: tuple[str, str], tmp_path: Path) -> None:
    page = cli("explain", "--format", "html", names[0]).stdout
    assert "P[1]" in page
    ids = re.findall(r'id="([^"]*)"', page)
    assert not [each for each in ids if "[" in each]
    model = cli("export", "--to", "promela", names[0]).stdout
    code = re.sub(r"/\*.*?\*/", "", model, flags=re.DOTALL)
    assert "proctype v_P_0" in code
    assert not re.search(r"\bPeer\[|\bP\[", code)
    assert cli("check", "-q", "--certificate", "certificates", names[0]).returncode == 1
    (certificate,) = (tmp_path / "certificates").iterdir()
    assert "VALID" in cli("verify-certificate", str(certificate)).stdout


def test_a_mistake_in_some_copies_is_said_once_in_every_form(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "open.rdma").write_text(RING.replace("(i + 1) % N", "i + 1"))
    text = cli("check", "open.rdma").stderr
    assert text.count("RR228") == 1
    assert "in P[2], where i is 2" in text
    found = json.loads(cli("check", "--format", "json", "open.rdma").stdout)["results"][0]["errors"]
    assert [(each["line"], each["message"]) for each in found] == [(7, "there is no node `Peer[3]` (in P[2], where i is 2)")]


def test_a_crowd_without_a_number_where_one_is_needed(cli: Cli, tmp_path: Path) -> None:
    text = "node S { x = 0 }\nnode M[*] { m = 1 }\nthread C[*] on M[*] { put S.x = m }\nexpect robust\n"
    (tmp_path / "crowd.rdma").write_text(text)
    for command in (("outcomes",), ("explore", "--no-browser"), ("prove", "--model", "rma"), ("export", "--to", "spec")):
        done = cli(*command, "crowd.rdma")
        assert (done.returncode, "give a number: -D C=2" in done.stdout + done.stderr) == (2, True), command
    for command in (("outcomes",), ("prove", "--model", "rma"), ("fmt", "--expand")):
        assert cli(*command, "-D", "C=2", "crowd.rdma").returncode == 0, command
    target = cli("reach", "--target", "C[2] ended", "crowd.rdma")
    assert (target.returncode, "`-D C=2`" in target.stderr) == (2, True)
    assert "C[2]" in cli("export", "--to", "dot", "--of", "program", "-D", "C=2", "crowd.rdma").stdout


def test_a_repair_changes_the_claims_about_the_numbers_that_there_are(cli: Cli, tmp_path: Path) -> None:
    text = """\
const N = 2
node A[i in 0..N-1] { x = 0 }
thread T[i in 0..N-1] on A[i] { reg r
  put A[(i + 1) % N].x = 1
  r = x
}
expect not robust when N >= 3
expect not robust when N == 2
outcome T[0].r == 0 && T[N - 1].r == 0 : allowed under rdma, forbidden under sc when T >= 3
outcome T[0].r == 0 && T[1].r == 0 : allowed under rdma, forbidden under sc when T == 2
"""
    (tmp_path / "two.rdma").write_text(text)
    for number, kept, changed in (("2", 0, 1), ("3", 1, 0)):
        repaired = cli("repair", "two.rdma", "-D", f"N={number}", "-o", "-").stdout.splitlines()
        claims = [line for line in repaired if line.startswith(("expect", "outcome"))]
        assert (claims[kept], claims[2 + kept]) == (text.splitlines()[6 + kept], text.splitlines()[8 + kept])
        assert claims[changed].startswith("expect robust")
        assert claims[2 + changed].count("forbidden") == 2
