"""Modules of the page are compiled ahead, without sources. This Python is tried here; the page has one of its own."""

from __future__ import annotations

import gzip
import json
import sys
from importlib import import_module, invalidate_caches
from pathlib import Path

import pytest

from rdma_robust.frame import registry
from sitegen.playground.page_compiler import bytecode, compiled, packed, write_zip

MODULE = b'''"""What it is for."""
NAMES = {"one", "two"}


def half(number: int) -> int:
    """Return the half of an even number."""
    assert number % 2 == 0, "it is even"
    return [number // 2 for _ in NAMES][0]
'''


@pytest.fixture
def sources(tmp_path: Path) -> str:
    write_zip(
        str(tmp_path / "sources.zip"), [("compiled_ahead/__init__.py", MODULE), ("compiled_ahead/data.toml", b"a = 1\n")]
    )
    return str(tmp_path / "sources.zip")


def test_a_module_runs_without_its_source(sources: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_zip(str(tmp_path / "made.zip"), compiled(sources))
    monkeypatch.syspath_prepend(tmp_path / "made.zip")
    invalidate_caches()
    module = import_module("compiled_ahead")
    del sys.modules["compiled_ahead"]
    assert module.__file__.endswith("__init__.pyc") and module.__doc__ == "What it is for."
    assert module.half(4) == 2 and module.half.__doc__
    with pytest.raises(AssertionError, match="it is even"):
        module.half(3)


def test_files_follow_a_line_with_their_sizes_and_are_the_same_each_time(sources: str) -> None:
    made = packed(compiled(sources))
    assert made == packed(compiled(sources))
    first, _, rest = gzip.decompress(made).partition(b"\n")
    (_, size), last = json.loads(first)
    assert json.loads(first)[0][0] == "compiled_ahead/__init__.pyc" and last == ["compiled_ahead/data.toml", 6]
    assert rest[:size] == bytecode("compiled_ahead/__init__.py", MODULE) and rest[size:] == b"a = 1\n"


def test_the_tools_are_found_where_they_have_no_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = registry._modules()
    package = import_module(registry.PACKAGE)
    for path in Path(str(package.__file__)).parent.glob("*.py"):
        (tmp_path / f"{path.name}c").write_bytes(b"")
    monkeypatch.setattr(package, "__path__", [str(tmp_path)])
    assert registry._modules.__wrapped__() == tools
