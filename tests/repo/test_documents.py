"""What README.md and docs/ show is what happens: commands print it, Python runs, programs have the verdicts they claim."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml

from rdma_robust.language.load import load_program
from rdma_robust.vass.spec_reader import read_spec
from tests.support.documents import DOCUMENTS, LANGUAGES, ROOT, Block, blocks, commands, without_times
from tests.support.terminal import Terminal

REASONS = (
    "a sketch of a configuration",
    "it downloads and installs",
    "it needs several machines",
    "it needs SPIN and a C compiler",
    "it runs for minutes",
    "it serves a page until it is interrupted",
    "it shows all of a long report",
)
"""Why a command of a document may stay unrun: nothing else counts."""


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


class Reader:
    """Follows a document from its first block to its last, as a person who tries everything would."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed = ""

    def follow(self, block: Block) -> Iterator[str]:
        """Yield what is wrong with `block`."""
        if block.title is not None:
            yield from self.file(block)
        elif block.language in ("console", "python", "rdma", "spec", "json", "yaml"):
            yield from getattr(self, block.language)(block)
        elif block.language == "text" and self.printed and block.follows:
            yield from differences(block.place, self.printed, block.body)
        self.printed = self.printed if block.language == "python" else ""

    def file(self, block: Block) -> Iterator[str]:
        path = self.terminal.folder / str(block.title)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.body, encoding="utf-8")
        elif block.language == "json":
            if not begins(json.loads(block.body), json.loads(path.read_text(encoding="utf-8"))):
                yield f"{block.place}: {block.title} holds something else"
        else:
            yield from differences(block.place, path.read_text(encoding="utf-8"), block.body)

    def console(self, block: Block) -> Iterator[str]:
        for command, shown in commands(block):
            yield from differences(f"{block.place}: $ {command}", self.terminal.run(command), shown)

    def python(self, block: Block) -> Iterator[str]:
        printed = StringIO()
        self.terminal.provide(block.body)
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * block.line + block.body, name(block.document), "exec"), self.names)
        self.printed = printed.getvalue()
        return iter(())

    def rdma(self, block: Block) -> Iterator[str]:
        program = load_program(block.body, block.place)
        file = self.terminal.folder / "block.rdma"
        file.write_text(block.body, encoding="utf-8")
        asked = [["check", "--expect"]] * (program.expect_robust is not None) + [
            ["outcomes", "--max-states", "20000"]
        ] * bool(program.outcomes)
        for arguments in asked or [["check"]]:
            printed = self.terminal.run(f"rdma-robust {' '.join(arguments)} block.rdma")
            if self.terminal.code and (asked or self.terminal.code != 1):
                yield f"{block.place}: {printed}"

    def spec(self, block: Block) -> Iterator[str]:
        read_spec(block.body, block.place)
        return iter(())

    def json(self, block: Block) -> Iterator[str]:
        json.loads(block.body)
        return iter(())

    def yaml(self, block: Block) -> Iterator[str]:
        yaml.safe_load(block.body)
        return iter(())


def differences(place: str, printed: str, shown: str) -> Iterator[str]:
    if without_times(printed) != without_times(shown):
        yield f"{place}\n--- prints\n{printed}--- the document says\n{shown}"


def begins(shown: Any, whole: Any) -> bool:
    """Tell whether `shown` is `whole`, but for strings that `...` cuts short."""
    match shown, whole:
        case dict(), dict():
            return list(shown) == list(whole) and all(begins(shown[key], whole[key]) for key in shown)
        case list(), list():
            return len(shown) == len(whole) and all(map(begins, shown, whole))
        case str(), str() if shown.endswith("..."):
            return whole.startswith(shown.removesuffix("..."))
    return type(shown) is type(whole) and bool(shown == whole)


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if blocks(path)], ids=name)
def test_a_document_shows_what_happens(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_what_is_shown_as_a_file_is_used() -> None:
    for document in DOCUMENTS:
        found = blocks(document)
        for index, block in enumerate(found):
            if block.title is not None:
                rest = (*found[:index], *found[index + 1 :])
                used = any(block.title in each.body for each in rest if each.language in ("console", "python"))
                assert used, f"{block.place}: no example has to do with {block.title}"


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
