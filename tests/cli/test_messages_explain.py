"""`messages explain` as users see it: charts as text, drawings, a page, JSON."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from rdma_robust.cli.app import run
from tests.conftest import ROOT, Cli
from tests.support.message_texts import written

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/messages-explain.schema.json").read_text()))


@pytest.fixture(autouse=True)
def programs(tmp_path: Path) -> None:
    written(tmp_path, "relay", "swap", "ring", "broken", "many")


def test_a_violation_is_drawn_and_told(cli: Cli) -> None:
    done = cli("messages", "explain", "relay.mp", "--buffer", "infinite")
    assert done.returncode == 1
    assert (
        """
 line  Server     Client[1]  Client[2]
    7  #          |          o   Client[2] sends 2 to Server
    4  #<---------|----------|   Server takes 2 from Client[2] (line 7)
       |< - - - - |          |   or the message of Client[1] (line 7)
    5  X          |          |   assert v == 1 is false: v is 2
"""
        in done.stdout
    )


def test_a_deadlock_is_drawn_with_its_circle_and_advice(cli: Cli) -> None:
    done = cli("messages", "explain", "swap.mp")
    assert done.returncode == 1
    assert (
        """
DEADLOCK under zero and any, not under infinite: Ping and Pong wait forever

 line  Ping  Pong
    4  o     |   Ping sends 1 to Pong
    9  #     o   Pong sends 2 to Ping
    4  #     #   Ping waits forever for Pong to take its message
    9  #     #   Pong waits forever for Ping to take its message

Ping waits for Pong, and Pong waits for Ping.

The program relies on buffering at lines 4 and 9: with room for every message
there is no deadlock. Each of them sends before it receives. Post the receive
first (`irecv` before the send, `wait` behind it), use `isend` and wait for it
behind the receive, or let one of them receive first.
"""
        in done.stdout
    )


@pytest.mark.ci
def test_where_nothing_goes_wrong_some_run_is_drawn(cli: Cli) -> None:
    done = cli("messages", "explain", "ring.mp")
    assert done.returncode == 0
    assert "ring.mp: ring, 3 processes: asserts hold, no deadlock" in done.stdout
    assert "P[0] takes 4 from P[2] (line 10)" in done.stdout


def test_the_page_holds_everything(cli: Cli, tmp_path: Path) -> None:
    assert cli("messages", "explain", "relay.mp", "-o", "relay.html").returncode == 1
    page = (tmp_path / "relay.html").read_text()
    assert "http://www.w3.org/2000/svg" in page
    assert page.count("<svg") == 5, "a violation, a deadlock, a leak, and two runs that differ by a race"
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    for said in (
        "VIOLATED, DEADLOCK",
        "waits forever",
        "or the message of Client[1]",
        'data-line="5"',
        "nothing takes this message",
    ):
        assert said in page, said


@pytest.mark.ci
def test_text_from_outside_is_escaped(cli: Cli, tmp_path: Path) -> None:
    name = "<script>&.mp"
    (tmp_path / name).write_text((tmp_path / "relay.mp").read_text().replace("assert v == 1", "assert v < 2 && v > 0"))
    for form in ("html", "svg"):
        out = cli("messages", "explain", name, "--format", form).stdout
        assert "<script>&" not in out
        assert "assert v &lt; 2 &amp;&amp; v &gt; 0 is false" in out
    ElementTree.fromstring(out)


def test_the_drawing_is_told_to_those_who_do_not_see_it(cli: Cli) -> None:
    root = ElementTree.fromstring(cli("messages", "explain", "swap.mp", "--format", "svg").stdout)
    assert root.get("role") == "img"
    title = root.findtext("{http://www.w3.org/2000/svg}title") or ""
    assert title.startswith("Ping and Pong wait forever. line 4: Ping sends 1 to Pong;")
    assert sum("waits for" in (text.text or "") for text in root.iter("{http://www.w3.org/2000/svg}text")) == 2


def test_dot_has_the_circle(cli: Cli) -> None:
    out = cli("messages", "explain", "swap.mp", "--format", "dot").stdout
    assert 'p0 -> p1 [label="waits for"' in out
    assert 'p1 -> p0 [label="waits for"' in out


@pytest.mark.parametrize("form", ["text", "html", "svg", "dot", "json"])
def test_programs_in_which_nothing_happens(cli: Cli, tmp_path: Path, form: str) -> None:
    for text in ("const N = 1\n", "proc P { skip }\n"):
        (tmp_path / "calm.mp").write_text(text)
        assert cli("messages", "explain", "calm.mp", "--format", form).returncode == 0


@pytest.mark.ci
def test_long_values_are_cut(cli: Cli, tmp_path: Path) -> None:
    text = "proc P { reg v[200], b = 7\n for i in 1..9 { b = b * b }\n send v to Q; send b to Q }\n"
    (tmp_path / "long.mp").write_text(f"{text}proc Q {{ reg w, b\n recv w; recv b\n assert len(w) == 3 && b == 1 }}\n")
    out = cli("messages", "explain", "long.mp", "--buffer", "infinite").stdout
    assert "P sends [0, 0, 0, 0, 0, 0, 0, 0, ... 200 in all] to Q" in " ".join(out.replace("|", "").split())
    assert "a number of 1438 bits" in out


def test_json_follows_its_schema(cli: Cli) -> None:
    for file, shows in (("relay.mp", ["violation", "deadlock", "leak"]), ("swap.mp", ["deadlock"]), ("ring.mp", ["run"])):
        told = json.loads(cli("messages", "explain", file, "--format", "json").stdout)
        assert not list(SCHEMA.iter_errors(told)), file
        assert [run["shows"] for run in told["runs"]] == shows
    assert told["runs"][0]["chart"]["cycle"] == []


@pytest.mark.ci
def test_what_cannot_be_explained(cli: Cli) -> None:
    assert cli("messages", "explain", "broken.mp").returncode == 2
    assert cli("messages", "explain", "missing.mp").returncode == 2
    assert "takes one program" in cli("messages", "explain", ".").stderr


@pytest.mark.ci
def test_a_limit_leaves_what_is_known(cli: Cli) -> None:
    done = cli("messages", "explain", "many.mp", "--engine", "states", "--timeout", "0.5", "--buffer", "infinite")
    assert done.returncode == 3
    assert "not known under infinite: " in done.stdout


def test_a_wildcard_that_took_what_another_receive_names_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["messages", "explain", str(ROOT / "litmus/messages/deadlocks/wildcard-steals.mp")]) == 1
    said = " ".join(capfd.readouterr().out.split())
    assert "at line 6 took a message that the one at line 7 waits for: name its source, or put it behind." in said
