"""What is imported for type checkers alone is named in annotations alone: elsewhere it would be missing when needed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.conftest import ROOT


def missing(text: str) -> Iterator[str]:
    """The names that a module imports under TYPE_CHECKING only, and uses outside of annotations."""
    tree = ast.parse(text)
    checked = [each for each in tree.body if isinstance(each, ast.If) and ast.unparse(each.test) == "TYPE_CHECKING"]
    names = {
        a.asname or a.name for each in checked for one in each.body if isinstance(one, ast.ImportFrom) for a in one.names
    }
    spared = {id(inner) for each in ast.walk(tree) for part in annotations(each) for inner in ast.walk(part)}
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            own = {a.asname or a.name for one in ast.walk(function) if isinstance(one, ast.ImportFrom) for a in one.names}
            spared |= {id(each) for each in ast.walk(function) if isinstance(each, ast.Name) and each.id in own}
    for each in ast.walk(tree):
        if isinstance(each, ast.Name) and each.id in names and id(each) not in spared:
            yield f"line {each.lineno}: {each.id}"


def annotations(node: ast.AST) -> Iterator[ast.AST]:
    """The annotations of a node."""
    for name in ("annotation", "returns"):
        part = getattr(node, name, None)
        if isinstance(part, ast.AST):
            yield part


def test_what_is_imported_for_type_checkers_is_only_in_annotations() -> None:
    found = {
        str(path.relative_to(ROOT)): names
        for path in sorted((ROOT / "rdma_robust").rglob("*.py"))
        if (names := list(missing(path.read_text(encoding="utf-8"))))
    }
    assert not found


def test_a_name_that_would_be_missing_is_seen() -> None:
    text = "if TYPE_CHECKING:\n    from a import B\n\ndef f(b: B) -> B:\n    return {}\n"
    assert not list(missing(text.format("b"))) and list(missing(text.format("B()"))) == ["line 5: B"]
