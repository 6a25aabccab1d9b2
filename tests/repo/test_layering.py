"""Imports go one way: language <- semantics <- robustness <- pipeline <- cli, and each room sees what it needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "rdma_robust"
BASE = ("rdma_robust", "errors", "options")

MAY_IMPORT = {
    "errors": (),
    "options": (),
    "outcome": ("errors", "language.cfg", "semantics.trace"),
    "language": ("errors", "options", "language", "grammars"),
    "semantics": ("errors", "options", "language", "semantics"),
    "program": ("errors", "language.expr", "program"),
    "vass": ("errors", "language.diagnose", "language.expr", "program", "vass", "grammars"),
    "robustness": ("errors", "options", "outcome", "language", "semantics", "program", "vass", "robustness"),
    "pipeline": ("errors", "options", "outcome", "language", "semantics", "program", "vass", "robustness"),
    "certify": ("errors", "options", "outcome", "language", "semantics", "program", "robustness", "vass", "certify"),
    "batch": ("", "errors", "options", "outcome", "batch", "explain", "repair", "reports"),
    "repair": ("errors", "options", "outcome", "language", "semantics", "program", "vass", "robustness", "repair"),
    "exports": ("errors", "language", "program", "vass", "robustness"),
    "explain": ("errors", "options", "outcome", "language.cfg", "semantics", "robustness", "reports", "explain"),
    "explorer": (
        "errors",
        "options",
        "outcome",
        "language.cfg",
        "language.expr",
        "semantics",
        "explain.schedule",
        "pipeline",
        "reports",
        "explorer",
    ),
    "reports": (
        "errors",
        "options",
        "explain.model",
        "outcome",
        "language.cfg",
        "repair.model",
        "safety",
        "semantics.explore",
        "semantics.machine",
        "semantics.machine_rdma",
        "semantics.machine_sc",
        "semantics.outcomes",
        "semantics.relation",
        "semantics.trace",
        "vass.net",
        "reports",
    ),
    "demos": (
        "errors",
        "options",
        "outcome",
        "language",
        "semantics",
        "vass",
        "exports",
        "pipeline",
        "reports",
        "safety",
        "explorer",
        "hardness",
        "demos",
    ),
    "safety": (
        "errors",
        "options",
        "outcome",
        "language",
        "semantics",
        "program",
        "vass",
        "robustness",
        "pipeline",
        "safety",
    ),
    "cli": (
        "",
        "batch",
        "demos",
        "hardness",
        "safety",
        "errors",
        "options",
        "language.formatter",
        "language.load",
        "semantics.explore",
        "semantics.outcomes",
        "pipeline",
        "robustness.split",
        "outcome",
        "certify",
        "repair",
        "vass.cover",
        "vass.net",
        "vass.search",
        "vass.spec_reader",
        "exports",
        "explain",
        "explorer",
        "reports",
        "cli",
        "__main__",
    ),
    "__init__": ("errors", "options", "outcome", "language.cfg", "language.load", "pipeline", "safety"),
    "__main__": ("", "cli"),
    "hardness": (
        "errors",
        "options",
        "outcome",
        "language",
        "semantics",
        "program",
        "vass",
        "robustness",
        "pipeline",
        "hardness",
    ),
}
"""Room or module to the modules and rooms it may import, below `rdma_robust`; an empty name is the package itself."""

MODULES = sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Yield the dotted names below `rdma_robust` that a module imports, wherever it does so."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name the package"
            base = node.module or ""
            for alias in node.names:
                dotted = f"{base}.{alias.name}".replace(".", "/")
                is_module = (ROOT / f"{dotted}.py").exists() or (ROOT / dotted).is_dir()
                yield f"{base}.{alias.name}" if is_module else base


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_room_imports_only_what_it_may(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    allowed = MAY_IMPORT[room]
    for name in imports(path):
        top, _, below = name.partition(".")
        if top == "rdma_robust":
            known = any(below == each or (each and below.startswith(f"{each}.")) for each in allowed)
            assert known, f"{path.relative_to(ROOT)} imports {name}; {room} may import {allowed}"


def test_slow_packages_are_imported_late() -> None:
    """What answers `--version` and usage errors imports neither the network library nor the parser generator."""
    slow = {"lark", "networkx", "rich", "sympy", "typer"}
    for name in (
        "__init__.py",
        "__main__.py",
        "errors.py",
        "options.py",
        "cli/inputs.py",
        "cli/messages.py",
        "reports/exits.py",
    ):
        found = {each.partition(".")[0] for each in imports(PACKAGE / name)}
        assert not found & slow, name
