"""An operation that exists only in tests, `clear NODE.x`: the card writes 0 there. It is added to a copy of the package.

`tests/data/new_operation.edits` has what docs/architecture.md, "How to add an operation", asks for, by file: `<` is what
stands there once, `>` what stands there with the operation. What is not named must work without knowing of it.
"""

from __future__ import annotations

import shutil
from itertools import groupby
from pathlib import Path
from typing import Final

from tests.conftest import ROOT

LISTED: Final = ROOT / "tests/data/new_operation.edits"


def edits() -> dict[str, list[tuple[str, str]]]:
    """By file, what stands there and what stands there with the operation."""
    found: dict[str, list[tuple[str, str]]] = {}
    before = ""
    for sign, group in groupby(LISTED.read_text(encoding="utf-8").splitlines(), key=lambda line: line[:2].strip()):
        lines = [line[2:].removeprefix(" ") if sign == "==" else line[2:] for line in group]
        match sign:
            case "==":
                found[lines[0]] = []
            case "<":
                before = "\n".join(lines)
            case _:
                found[list(found)[-1]].append((before, "\n".join(lines)))
    return found


def package_with_clear(folder: Path) -> Path:
    """Make a copy of the package in `folder` that has the operation."""
    left = shutil.ignore_patterns("*.c", "*.pyx")
    shutil.copytree(ROOT / "rdma_robust", folder / "rdma_robust", ignore=left)
    shutil.copytree(ROOT / "grammars", folder / "rdma_robust/grammars")
    for name, changes in edits().items():
        path = folder / name.replace("grammars/", "rdma_robust/grammars/")
        text = path.read_text(encoding="utf-8")
        for before, after in changes:
            assert text.count(before) == 1, f"{name} has {before!r} {text.count(before)} times: change {LISTED.name}"
            text = text.replace(before, after)
        path.write_text(text, encoding="utf-8")
    return folder
