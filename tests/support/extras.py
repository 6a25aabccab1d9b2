"""What a page may use beside a default install: the extras that it names, as `pip install '.[c,smt]'` or in a sentence."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import ROOT

MODULES: Final = {
    "c": ("clang",),
    "cluster": ("distributed", "dask"),
    "lsp": ("pygls", "lsprotocol"),
    "mcp": ("mcp",),
    "smt": ("z3",),
    "watch": ("watchfiles",),
}
"""What each extra for users installs, by what is imported."""

FOR_DEVELOPERS: Final = {"build", "dev", "docs"}
NAMED: Final = re.compile(r"\[([a-z,]+)\]'?|[Ee]xtra `(?:\[)?([a-z]+)")


def named(text: str) -> set[str]:
    """Return the extras that a page names."""
    found = {name for several, one in NAMED.findall(text) for name in (several or one).split(",")}
    return found & MODULES.keys()


def hide(extras: set[str], folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Let imports of what these extras install fail: here, and in processes that are started, which look into `folder`."""
    modules = [module for extra in sorted(extras) for module in MODULES[extra]]
    for module in modules:
        patch.setitem(sys.modules, module, None)
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        f"import sys\nsys.modules.update(dict.fromkeys({modules!r}))\n", encoding="utf-8"
    )
    patch.setenv("PYTHONPATH", str(folder))


def users_extras() -> set[str]:
    """Return the extras of the project that are not for its developers."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"]) - FOR_DEVELOPERS
