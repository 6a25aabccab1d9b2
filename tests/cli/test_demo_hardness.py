"""The installed command: `demo vass` and `demo finite`."""

from __future__ import annotations

from pathlib import Path

from rdma_robust.language.load import load_program
from tests.conftest import ROOT, Cli


def test_a_net_is_saved_as_a_program_and_told_as_a_page(cli: Cli, tmp_path: Path) -> None:
    done = cli("demo", "vass", "-o", "tickets.rdma", "--html", "tickets.html")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("Saved: tickets.rdma, tickets.html\n")
    assert load_program((tmp_path / "tickets.rdma").read_text(), "tickets.rdma").nodes == (
        "Leader",
        "coin",
        "ticket",
        "Gadget",
    )
    assert (tmp_path / "tickets.html").read_text().startswith("<!DOCTYPE html>")
    back = cli("demo", "vass", "tickets.rdma", "-o", "tickets.json")
    assert back.returncode == 0, back.stderr
    assert (tmp_path / "tickets.json").read_text().startswith('{\n  "format": "rdma-robust/vass"')


def test_bad_input_is_exit_code_2_without_a_traceback(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.spec").write_text("vars x rules init x = 0 target y >= 1")
    done = cli("demo", "vass", "bad.spec")
    assert done.returncode == 2
    assert "bad.spec:1:32: error: there is no place `y`" in done.stderr
    question = cli("demo", "finite", str(ROOT / "litmus/mailbox-plain.rdma"), "--target", "Sender ended")
    assert question.returncode == 2
    assert "`put B.d = v` is a remote instruction" in question.stderr
    assert "Traceback" not in done.stderr + question.stderr
    usage = cli("demo", "finite", "program.rdma")
    assert usage.returncode == 2
    assert "a FILE with --target, or --automata alone" in usage.stderr
