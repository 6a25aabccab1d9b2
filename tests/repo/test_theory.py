"""What the pages of the theory say of the code is there: `file.py: name` in the file, `Class.member` in the room robustness.

Names in brackets are those of proofs/ (tests/proofs)."""

from __future__ import annotations

import ast
import re

from tests.conftest import ROOT
from tests.support.coq_text import theory_pages

TEXT = " ".join("\n".join(theory_pages().values()).split())
PACKAGE = ROOT / "rdma_robust"


def defined(path: str) -> set[str]:
    """The names that a file defines: functions, classes, their members as `Class.member`, and module variables."""
    found: set[str] = set()
    for node in ast.parse((PACKAGE / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            found |= {node.name, *(f"{node.name}.{m.name}" for m in node.body if isinstance(m, ast.FunctionDef))}
            fields = (m.target for m in node.body if isinstance(m, ast.AnnAssign))
            found |= {f"{node.name}.{field.id}" for field in fields if isinstance(field, ast.Name)}
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return found


def test_the_places_in_the_code_that_the_theory_names_exist() -> None:
    places = re.findall(r"`(\w[\w/]*/\w+\.py): ([\w.]+)`", TEXT)
    assert len(places) > 8
    for path, name in places:
        assert name in defined(path), (path, name)


def test_the_names_in_the_code_that_the_theory_gives_without_a_file_exist() -> None:
    known = {name for p in (PACKAGE / "robustness").rglob("*.py") for name in defined(str(p.relative_to(PACKAGE)))}
    names = set(re.findall(r"(?<!\[)`(_?[A-Z]\w*\.\w+|[A-Z]+_?[A-Z]+)(?:\(b\))?`", TEXT)) - {"ROBUST", "UNKNOWN"}
    names -= {path.name for path in (ROOT / "proofs").rglob("*.v")}
    assert len(names) > 8
    assert names <= known, names - known
