"""Regular expressions take time by the length of a text, whatever the text: each is tried on long texts made for it.

By the square of the length one text of these would take minutes, and the process that tries the expression has to be ended.
"""

from __future__ import annotations

import ast
import multiprocessing
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "rdma_robust"
LENGTH = 150_000
MOST_S = 60
"""Seconds after which an expression hangs; all its texts take less than one."""
ANCHORED = frozenset({"match", "fullmatch"})
CALLS = ANCHORED | {"search", "sub", "subn", "split", "findall", "finditer"}
OWN_TEXTS = frozenset({"cli/options/help_page.py", "reports/explanation/explanation_svg.py", "sitegen"})
"""Files whose expressions read nothing but texts of the tool itself."""


def expressions() -> Iterator[tuple[str, str, int, bool]]:
    """Yield (where, pattern, flags, whether it is looked for anywhere) of all regular expressions of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name in OWN_TEXTS:
            continue
        text = path.read_text(encoding="utf-8")
        if "re." in text:
            yield from _direct(name, ast.parse(text))
            yield from _compiled(name, text)


def _direct(name: str, tree: ast.AST) -> Iterator[tuple[str, str, int, bool]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            first = node.args[0] if node.args else None
            if node.func.value.id == "re" and isinstance(first, ast.Constant) and node.func.attr in CALLS:
                flags = re.MULTILINE if "MULTILINE" in ast.dump(node) else 0
                yield f"{name}:{node.lineno}", str(first.value), int(flags), node.func.attr not in ANCHORED


def _compiled(name: str, text: str) -> Iterator[tuple[str, str, int, bool]]:
    module = import_module("rdma_robust." + name.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    for known, value in list(vars(module).items()):
        if isinstance(value, re.Pattern) and re.search(rf"^{known}\b.*=", text, re.MULTILINE):
            used = {*re.findall(rf"\b{known}\.([a-z]+)\(", text)}
            yield f"{name}: {known}", value.pattern, value.flags & ~re.UNICODE, not used or not used <= ANCHORED


def texts(pattern: str) -> Iterator[str]:
    """Yield long texts that repeat what a pattern speaks of, with a beginning and an end that do not fit."""
    words = [*dict.fromkeys(re.findall(r"[A-Za-z]{2,}", re.sub(r"\\[a-zA-Z]|\?P<\w+>", " ", pattern)))][:6]
    signs = [*dict.fromkeys(re.findall(r"[^\w\s\\()|?*+^$]", pattern))][:8]
    pieces = [*words, *signs, "a", "0", " ", "\n", '\\"', "/*x", "# x  \n", "a ", " a", "- "]
    for begin in dict.fromkeys(("", *words[:2], *signs[:2], "a", '"')):
        for piece in dict.fromkeys(pieces):
            yield begin + piece * (LENGTH // len(piece)) + "\n!"


def try_one(pattern: str, flags: int, anywhere: bool) -> None:
    """Look for an expression in each of its texts."""
    compiled = re.compile(pattern, flags)
    for text in texts(pattern):
        if anywhere:
            for _ in compiled.finditer(text):
                pass
        else:
            compiled.match(text)
            compiled.fullmatch(text)


@pytest.mark.ci
def test_no_expression_takes_the_square_of_the_time() -> None:
    late = []
    for where, *expression in expressions():
        process = multiprocessing.get_context("fork").Process(target=try_one, args=expression)
        process.start()
        process.join(MOST_S)
        if process.exitcode != 0:
            process.kill()
            late.append(f"{where}: {expression[0]}")
        process.join()
    assert late == []


def test_a_quadratic_expression_would_be_found() -> None:
    """The texts of an expression have what makes it slow: a shorter one of them takes long enough to tell."""
    slow = r"/\*(?s:.*?)\*/"
    assert any(text.count("/*") > LENGTH // 10 and "*/" not in text for text in texts(slow))


@pytest.mark.ci
def test_the_expressions_are_found() -> None:
    found = {where for where, *_ in expressions()}
    assert {"language/load.py: _TRENCHER", "editing/declared_names.py: _MEMBER"} <= found
    assert Path(PACKAGE / "language/load.py").exists()
