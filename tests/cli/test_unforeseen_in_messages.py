"""With `--expect`, message programs and contracts of which some claims are made hide nothing else that fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_compare_claims import CONTRACT, PASSING
from tests.conftest import Cli

EXPECT = "expect holds, no deadlock, no race, matchings 1"
WRONG = (
    CONTRACT.replace("give", "wrong").replace("return val", "return val + 1").replace("expect contract wrong verified", "")
)


@pytest.mark.parametrize(
    ("before", "after", "claim", "foreseen", "unsaid"),
    [
        ("y == 2", "y == 1", "no deadlock", "violated", "holds under zero: found violated"),
        ("send 2 to Q }", "}", "holds", "deadlock", "no deadlock under zero: found deadlock"),
    ],
)
def test_what_fails_and_no_line_speaks_of(
    cli: Cli, tmp_path: Path, *, before: str, after: str, claim: str, foreseen: str, unsaid: str
) -> None:
    broken = PASSING.replace(before, after)
    for claims, code in ((claim, 1), (f"{claim}, {foreseen}", 0), (f"{claim}, {foreseen} under zero", 1)):
        (tmp_path / "p.mp").write_text(broken.replace(EXPECT, f"expect {claims}"))
        done = cli("messages", "check", "--expect", "--quiet", "--no-explain", "p.mp")
        assert done.returncode == code, claims
        assert cli("report", "--expect", "--no-cache", "-q", "-o", "r.json", "p.mp").returncode == code
        found = json.loads((tmp_path / "r.json").read_text())["messages"][-1]
        assert any(each["status"] == "failed" for each in found["claims"]) == bool(code)
        assert bool(cli("messages", "check", "--expect", "--format", "concise", "p.mp").stdout) == bool(code)
    (tmp_path / "p.mp").write_text(broken.replace(EXPECT, f"expect {claim}"))
    assert unsaid in cli("messages", "check", "--expect", "--no-explain", "p.mp").stdout


def test_a_function_that_is_violated_and_no_line_speaks_of(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "c.mp").write_text(WRONG + CONTRACT)
    done = cli("contracts", "check", "--expect", "--quiet", "--no-explain", "c.mp")
    assert done.returncode == 1
    assert "and no `expect contract` line says so" in done.stdout
    assert "RR033" in cli("contracts", "check", "--expect", "--format", "concise", "c.mp").stdout
    assert '<failure type="SGV"' in cli("contracts", "check", "--expect", "--format", "junit", "c.mp").stdout
    (tmp_path / "c.mp").write_text(f"{WRONG}{CONTRACT}expect contract wrong violated\n")
    assert cli("contracts", "check", "--expect", "--quiet", "--no-explain", "c.mp").returncode == 0
