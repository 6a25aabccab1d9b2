"""`messages matches` as users see it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import ROOT, Cli
from tests.support.message_texts import written

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/messages-matches.schema.json").read_text()))


@pytest.fixture(autouse=True)
def programs(tmp_path: Path) -> None:
    written(tmp_path, "relay", "swap", "ring", "broken", "many")


def test_pairs_and_races(cli: Cli) -> None:
    done = cli("messages", "matches", "relay.mp")
    assert done.returncode == 0
    assert "relay.mp under zero, infinite, any: 2 pairs, 1 racing" in done.stdout
    assert "receive 1 of Server (line 4) races" in done.stdout
    assert "takes send 1 of Client[2] (line 7)" in done.stdout


@pytest.mark.ci
def test_buffers_that_differ_are_apart(cli: Cli) -> None:
    out = cli("messages", "matches", "swap.mp").stdout
    assert "swap.mp under zero: 0 pairs, 0 racing" in out
    assert "swap.mp under infinite, any: 2 pairs, 0 racing" in out


@pytest.mark.ci
def test_matchings_counted_and_listed(cli: Cli) -> None:
    assert "matchings: 2" in cli("messages", "matches", "relay.mp", "--count", "--buffer", "any").stdout
    out = cli("messages", "matches", "relay.mp", "--list", "--buffer", "infinite").stdout
    assert "matching 1: Server 1 <- Client[1] 1" in out
    assert "matching 2: Server 1 <- Client[2] 1" in out


def test_why_pairs_are_dropped(cli: Cli) -> None:
    out = " ".join(cli("messages", "matches", "ring.mp", "swap.mp", "--drop-reasons", "--buffer", "zero").stdout.split())
    assert "candidates under zero: 3 of 3 pairs of one endpoint are kept" in out
    assert "candidates under zero: 0 of 2 pairs of one endpoint are kept" in out
    assert "rule 4 drops 2: it is matched before the send is issued" in out
    assert "receive at line 5 of Ping, send at line 9 of Pong" in out


def test_json_follows_its_schema(cli: Cli) -> None:
    files = ("relay.mp", "swap.mp", "broken.mp")
    done = cli("messages", "matches", *files, "--list", "--drop-reasons", "--format", "json")
    report = json.loads(done.stdout)
    assert not list(SCHEMA.iter_errors(report))
    assert done.returncode == 2
    assert [(each["file"], len(each["pairs"]), len(each["listed"])) for each in report["results"]] == [
        ("relay.mp", 2, 0),
        ("relay.mp", 2, 2),
        ("relay.mp", 2, 2),
        ("swap.mp", 0, 0),
        ("swap.mp", 2, 1),
        ("swap.mp", 2, 1),
    ]
    assert [each["candidates"]["kept"] for each in report["results"]] == [2, 2, 2, 0, 2, 2]


def test_two_runs_that_differ_are_drawn(cli: Cli) -> None:
    out = cli("messages", "matches", "relay.mp", "--effects", "--buffer", "infinite").stdout
    lines = out.splitlines()
    first = lines.index("    If receive 1 of Server takes send 1 of Client[1] (line 7):")
    second = lines.index("    If receive 1 of Server takes send 1 of Client[2] (line 7):")
    assert "        4  #<---------|          |   Server takes 1 from Client[1] (line 7)" in lines[first:second]
    assert "        4  #<---------|----------|   Server takes 2 from Client[2] (line 7)" in lines[second:]
    assert "        5  X          |          |   assert v == 1 is false: v is 2" in lines[second:]
    said = " ".join(out.split())
    assert "At the end the assertion of Server on line 5 is not false; Server.v is 1; Server.s is 1." in said
    assert "At the end the assertion of Server on line 5 is false; Server.v is 2; Server.s is 2." in said
    page = cli("messages", "explain", "relay.mp", "--format", "html", "-o", "-").stdout
    assert page.count("<figure>") == 2
    assert page.count("the race of Server at line 4 changes") == 1
    assert "<p>At the end the assertion of Server on line 5 is false; Server.v is 2; Server.s is 2.</p>" in page
    told = cli("messages", "explain", "relay.mp").stdout
    assert "At the end" not in told
    assert "At the end the assertion" in cli("messages", "explain", "relay.mp", "-v").stdout


def test_where_processes_end_is_said(cli: Cli, tmp_path: Path) -> None:
    """A race that makes a process wait forever in one run, within a library procedure, and stop in the other."""
    (tmp_path / "stuck.mp").write_text(
        "proc P { reg v\n recv v\n if v == 1 {\n barrier() }\n assume v == 1 }\n"
        "proc Q[i in 1..2] { req h\n h = isend i to P\n wait h\n}\n"
    )
    said = " ".join(cli("messages", "matches", "stuck.mp", "--effects", "--buffer", "infinite").stdout.split())
    assert "At the end where P ends is line 4, where it waits; P.v is 1." in said
    assert "At the end where P ends is line 5, where it stops; P.v is 2." in said


@pytest.mark.ci
def test_what_races_change(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sum.mp").write_text(
        "proc P { reg v, s\n for k in 1..2 { recv v; s += v }\n v = 0\n assert s == 3 }\nproc Q[i in 1..2] { send i to P }\n"
    )
    files = ("relay.mp", "sum.mp", "ring.mp")
    out = " ".join(cli("messages", "matches", *files, "--effects", "--buffer", "infinite").stdout.split())
    assert "the race of Server at line 4 changes what goes wrong" in out
    assert "what differs is the assertion of Server on line 5" in out
    assert "the race of P at line 2 changes nothing" in out
    assert "there is no race" in out
    report = json.loads(cli("messages", "matches", *files, "--effects", "--format", "json").stdout)
    assert not list(SCHEMA.iter_errors(report))
    assert [[race["effect"] for race in each["effects"]["races"]] for each in report["results"][::3]] == [
        ["failure"],
        ["none"],
        [],
    ]
    assert "the race of Server at line 4 changes" in cli("messages", "explain", "relay.mp").stdout


@pytest.mark.ci
def test_a_limit_is_said(cli: Cli) -> None:
    done = cli("messages", "matches", "many.mp", "--engine", "states", "--timeout", "0.5", "--buffer", "infinite")
    assert done.returncode == 3
    assert "not known: " in done.stdout
