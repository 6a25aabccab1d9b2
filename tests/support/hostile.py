"""A checkout of somebody else, full of files that take over who looks for code in the current folder."""

from __future__ import annotations

import sys
from importlib.metadata import packages_distributions
from pathlib import Path

MARK = "ran"
"""The file that is there afterwards if any of it has run."""


def shadow_modules(folder: Path, *, packages: tuple[str, ...] = ("rdma_robust", "pip", "venv", "z3", "pygls")) -> set[str]:
    """Put a module into `folder` for each name that Python or an installed package has, some as packages; return the
    names."""
    installed = {name for name in packages_distributions() if name.isidentifier()}
    names = {*sys.stdlib_module_names, *installed, *packages, "sitecustomize", "usercustomize"}
    code = f"import sys\nopen({str(folder / MARK)!r}, 'a').write(__name__ + '\\n')\nsys.exit(77)\n"
    for name in names:
        if name in packages:
            (folder / name).mkdir(exist_ok=True)
            (folder / name / "__init__.py").write_text(code)
            (folder / name / "__main__.py").write_text(code)
        else:
            (folder / f"{name}.py").write_text(code)
    return names


def ran(folder: Path) -> str:
    """Return what of `folder` has run, a line for each, nothing if nothing has."""
    mark = folder / MARK
    return mark.read_text() if mark.exists() else ""
