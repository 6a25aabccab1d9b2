"""`repair` on programs with any number of copies of a thread: what is inserted goes into the template."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.pipeline import check_text
from tests.conftest import ROOT, Cli

CROWDS = ROOT / "litmus/crowds"

TWO_FLAWS = """
node S { x, a, b }
node N { g, h }

thread W[*] on S {
  reg r
  choose {
    r = cas(x, 0, 1)
    assume r == 0
    halt
  } or {
    assume x == 1
    put N.g = a
    a = 1
  } or {
    r = cas(x, 1, 2)
    assume r == 1
    halt
  } or {
    assume x == 2
    put N.h = b
    b = 1
  }
}
"""
"""One flaw needs two threads, the other one three."""


def repaired(cli: Cli, path: Path) -> dict[str, object]:
    answer = cli("repair", str(path), "--format", "json")
    found: dict[str, object] = json.loads(answer.stdout)
    return found


@pytest.mark.parametrize(("name", "lines"), [("iriw-readers", ["poll A", "poll B"]), ("tso-flags", ["mfence", "mfence"])])
def test_the_template_is_repaired(cli: Cli, tmp_path: Path, name: str, lines: list[str]) -> None:
    new = tmp_path / "new.rdma"
    answer = cli("repair", str(CROWDS / f"{name}.rdma"), "-o", str(new))
    assert "no cheaper repair exists" in answer.stdout
    text = new.read_text(encoding="utf-8")
    assert "[*]" in text and "1.." not in text
    assert check_text(text, "new.rdma", CheckOptions(), crowds=True).verdict is Verdict.ROBUST
    added = [line[1:].strip() for line in answer.stdout.splitlines() if line.startswith("+") and "+++" not in line]
    assert [line for line in added if not line.startswith("expect")] == lines


@pytest.mark.ci
def test_a_repair_for_few_copies_is_not_taken_for_one_for_any(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "two-flaws.rdma"
    path.write_text(TWO_FLAWS, encoding="utf-8")
    first = check_text(TWO_FLAWS, "two-flaws.rdma", CheckOptions(), crowds=True)
    assert first.copies is not None and dict(first.copies.numbers) == {"W": 2}
    found = repaired(cli, path)
    (solution,) = found["solutions"]  # type: ignore[misc]
    assert [each["thread"] for each in solution["insertions"]] == ["W[*]", "W[*]"]
    patched = solution["patched"] if "patched" in solution else cli("repair", str(path), "-o", "-").stdout
    assert check_text(patched, "patched.rdma", CheckOptions(), crowds=True).verdict is Verdict.ROBUST


def test_nothing_to_do_and_nothing_that_helps(cli: Cli) -> None:
    robust = cli("repair", str(CROWDS / "iriw-readers-polled.rdma"))
    assert robust.returncode == 0 and "robust for any number of copies of C" in " ".join(robust.stdout.split())
    hopeless = cli("repair", str(CROWDS / "lock-mixed-atomics.rdma"))
    assert hopeless.returncode == 1 and "with 1 copy of W and 1 copy of C: no set" in " ".join(hopeless.stdout.split())
