"""Every command that takes a file, with C whose header needs `-I`: the right answer, or a refusal that names the way."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from rdma_robust.cli.watching import WatchedFiles
from rdma_robust.frame import registry
from rdma_robust.frame.registry import CommandEntry
from tests.conftest import ROOT, Cli

FOLDER: Final = ("-I", "include")
DECIDES: Final = "`rdma-robust check` decides C"
OTHER: Final = frozenset(
    {
        *("synthesise", "explain-code", "completion", "lsp", "mcp", "hardware", "compare", "cover", "playground"),
        *("demo abp", "demo pcp"),
    }
)
"""Commands that take no program, or none of RDMA; `cover` is among the refusals too."""


class Case(NamedTuple):
    """Arguments before the file, the exit code, and what is said."""

    arguments: tuple[str, ...]
    code: int
    said: str


TAKES: Final = {
    "check": Case(FOLDER, 1, "NOT ROBUST"),
    "models": Case(FOLDER, 1, "NOT ROBUST"),
    "needs": Case(FOLDER, 1, "not-robust"),
    "races": Case(FOLDER, 1, "A.staging_data"),
    "scale": Case((*FOLDER, "-D", "N=1..2"), 1, "Not robust for N = 1, 2."),
    "verify": Case(FOLDER, 1, "VIOLATED"),
    "reach": Case((*FOLDER, "--target", "B.box_data == 7"), 1, "REACHABLE under RDMA"),
    "outcomes": Case(FOLDER, 0, "<- only RDMA"),
    "prove": Case(FOLDER, 0, "safe"),
    "lint": Case(FOLDER, 1, "[RR722]"),
    "explain": Case(FOLDER, 1, "`mailbox` is not robust"),
    "repair": Case(FOLDER, 0, "IBV_SEND_INLINE"),
    "import": Case(FOLDER, 0, "put B.box_data = staging_data"),
    "report": Case((*FOLDER, "--format", "csv"), 1, "not-robust"),
    "export": Case((*FOLDER, "--to", "spec"), 0, "vars"),
    "new": Case(("harness", *FOLDER), 2, "says which function is which process already"),
    "messages check": Case(FOLDER, 2, DECIDES),
    "messages matches": Case(FOLDER, 2, DECIDES),
    "messages explain": Case(FOLDER, 2, DECIDES),
    "messages trace": Case(FOLDER, 2, DECIDES),
    "demo finite": Case(("--target", "B.box_data == 7"), 2, "`rdma-robust import FILE.c -o FILE.rdma` writes one"),
}
REFUSES: Final = {
    "cover": DECIDES,
    "contracts check": "RR810",
    "contracts infer": "RR810",
    "contracts explain": "RR810",
    "demo vass": DECIDES,
    "verify-certificate": "`rdma-robust check --certificate FOLDER FILE.c` writes one",
    "fmt": "`rdma-robust import` writes it as a program that has one",
    "record": "cannot be run",
    "messages record": "cannot be run",
    "exercise": "no exercise is called",
    "share": "`rdma-robust import FILE.c -o FILE.rdma` writes a program",
}
ALONE: Final = frozenset({"explore"})
"""What serves until Ctrl-C: that it has the options is looked up."""


@pytest.fixture
def split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the mailbox, whose first lines are in a header of another folder."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "tests/data/mailbox.c").read_text(encoding="utf-8")
    head, _, rest = text.partition("static struct ibv_qp *qp;")
    (tmp_path / "include").mkdir()
    (tmp_path / "include/box.h").write_text(head)
    (tmp_path / "mailbox.c").write_text(f'#include "box.h"\nstatic struct ibv_qp *qp;{rest}')
    return tmp_path


def every_command() -> Iterator[str]:
    """Yield the names of all commands."""

    def leaves(one: CommandEntry, before: str) -> Iterator[str]:
        if one.below:
            for each in one.below:
                yield from leaves(each, f"{before}{one.name} ")
        else:
            yield f"{before}{one.name}"

    for one in registry.commands().values():
        yield from leaves(one, "")


def test_every_command_is_in_a_table() -> None:
    assert set(every_command()) == {*TAKES, *REFUSES, *ALONE, *OTHER}


@pytest.mark.ci
@pytest.mark.usefixtures("split")
@pytest.mark.parametrize("name", TAKES)
def test_commands_that_take_c(cli: Cli, name: str) -> None:
    case = TAKES[name]
    done = cli(*name.split(), *case.arguments, "mailbox.c")
    assert case.said in done.stdout + done.stderr
    assert done.returncode == case.code


@pytest.mark.ci
@pytest.mark.usefixtures("split")
@pytest.mark.parametrize("name", REFUSES)
def test_commands_that_do_not(cli: Cli, name: str) -> None:
    done = cli(*name.split(), "mailbox.c")
    assert done.returncode == 2
    assert REFUSES[name] in done.stderr


@pytest.mark.parametrize("name", sorted(ALONE))
def test_commands_that_serve_have_the_options(cli: Cli, name: str) -> None:
    shown = cli(name, "--help").stdout
    assert all(option in shown for option in ("-I", "--with", "--compile-commands", "-n", "--arg", "--wc-errors"))


@pytest.mark.ci
def test_a_certificate_is_checked_with_the_options(cli: Cli, split: Path) -> None:
    assert cli("check", *FOLDER, "--certificate", "proofs", "mailbox.c").returncode == 1
    assert cli("verify-certificate", *FOLDER, "proofs").returncode == 0
    assert cli("verify-certificate", "proofs").returncode == 1
    assert split.name


def test_what_with_names_is_there(cli: Cli, split: Path) -> None:
    done = cli("check", *FOLDER, "--with", "peer.c", "mailbox.c")
    assert done.returncode == 2
    assert "there is no file `peer.c`, which `--with` or compile_commands.json names" in done.stderr
    assert split.name


def test_headers_and_further_files_are_watched(split: Path) -> None:
    peer = split / "peer.c"
    peer.write_text("int unused;\n")
    watched = WatchedFiles(["mailbox.c"], ("-I=include", "--with=peer.c"))
    assert {str(split / each) for each in ("mailbox.c", "include/box.h", "peer.c")} <= watched.files
    assert str(split / "include/box.h") not in WatchedFiles(["mailbox.c"]).files
    (split / "include/box.h").write_text("#include <absent.h>\n#error broken\n")
    assert str(split / "include/box.h") in WatchedFiles(["mailbox.c"], ("-I=include",)).files


def test_folders_are_watched_for_c_where_that_is_asked(split: Path) -> None:
    new = str(split / "new.c")
    assert WatchedFiles(["."], ("--c", "-I=include")).counts(None, new)
    (split / "one.rdma").write_text("node A { x }\nthread T on A { x = 1 }\n")
    assert not WatchedFiles(["."]).counts(None, new)


@pytest.mark.ci
def test_an_answer_that_was_kept_is_about_the_headers(cli: Cli, split: Path) -> None:
    def verdict() -> str:
        return cli("report", *FOLDER, "--cache", "kept", "--format", "csv", "mailbox.c").stdout

    assert ",not-robust," in verdict()
    header = split / "include/box.h"
    header.write_text("#define POLLED\n" + header.read_text())
    assert ",robust," in verdict()
    header.write_text("#error broken\n")
    assert ",error," in verdict()
    shutil.copy(ROOT / "tests/data/mailbox.c", header)
    header.write_text(header.read_text().partition("static struct ibv_qp *qp;")[0])
    assert ",not-robust," in verdict()
