"""What README.md and docs/ show is what happens: commands print it, Python runs, programs have the verdicts they claim."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import extras
from tests.support.documents import DOCUMENTS, LANGUAGES, ROOT, blocks
from tests.support.reader import Reader
from tests.support.shares import share
from tests.support.terminal import Terminal

REASONS = (
    "a sketch of a configuration",
    "it downloads and installs",
    "it needs MPI",
    "it needs several machines",
    "it needs SPIN and a C compiler",
    "it runs for minutes",
    "it serves a page until it is interrupted",
    "it shows all of a long report",
)

"""Why a command of a document may stay unrun: nothing else counts."""


SLOW = """
contracts-checking crowds hangs hardness language language-claims messages messages-traces prove repair repair-safe reports
safety scale tutorial undecidability
"""
"""Documents whose commands take as long as those of all others: these are left to CI."""


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def parameters() -> list[object]:
    found = [path for path in DOCUMENTS if blocks(path)]
    slow = [path for path in found if path.stem in SLOW.split()]
    return [
        *share([path for path in found if path not in slow], 3),
        *(pytest.param(path, marks=pytest.mark.ci) for path in slow),
    ]


@pytest.mark.parametrize("document", parameters(), ids=name)
def test_a_document_shows_what_happens(
    document: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an installation with what `make run` installs, and the extras that the document names."""
    missing = extras.users_extras() - extras.named(document.read_text(encoding="utf-8"))
    extras.hide(missing, tmp_path_factory.mktemp("hidden") / "modules", monkeypatch)
    reader = Reader(Terminal(tmp_path, monkeypatch))
    wrong = [each for block in blocks(document) for each in reader.follow(block)]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_nothing_is_left_out_silently(document: Path) -> None:
    """Every fence is one that is understood, and a block is not run only for a reason that is listed here."""
    found = blocks(document)
    assert len(re.findall(r"^ *```", document.read_text(encoding="utf-8"), re.MULTILINE)) == 2 * len(found)
    for block in found:
        assert block.language in LANGUAGES, f"{block.place}: which language is this?"
        assert not block.rest, f"{block.place}: what is {block.rest}?"
        assert (block.language == "sh") == (block.reason is not None), f"{block.place}: only ```sh is not run, for a reason"
        assert block.reason is None or block.reason in REASONS, f"{block.place}: a reason nobody has agreed to"


def test_extras_are_known_by_what_they_install() -> None:
    assert extras.users_extras() == extras.MODULES.keys()


def test_what_is_shown_as_a_file_is_used() -> None:
    for document in DOCUMENTS:
        found = blocks(document)
        for index, block in enumerate(found):
            if block.title is not None:
                rest = (*found[:index], *found[index + 1 :])
                used = any(block.title in each.body for each in rest if each.language in ("console", "python"))
                assert used, f"{block.place}: no example has to do with {block.title}"


@pytest.mark.ci
def test_python_is_well_typed(tmp_path: Path) -> None:
    """The examples of each document, one after another, as one module."""
    for document in DOCUMENTS:
        code = "\n".join(block.body for block in blocks(document) if block.language == "python")
        (tmp_path / f"{document.stem.replace('-', '_').lower()}_examples.py").write_text(code)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--cache-dir",
            str(ROOT / ".mypy_cache"),
            *map(str, tmp_path.glob("*.py")),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
