"""The Python that runs in the page: this package and what its commands load, as one archive.

The libraries are those of the environment, which make installs by the hashes of `requirements/*.lock`; all of them work
without their parts in C.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LIBRARIES: Final = (
    "annotated-doc",
    "click",
    "jinja2",
    "lark",
    "markupsafe",
    "networkx",
    "platformdirs",
    "shellingham",
    "typer",
    "typing-extensions",
)
LEFT_OUT: Final = ("native", "record", "batch/cluster.py", "c/export", "c/libraries", "teaching/demos")
"""Parts of the package that ask for compilers, libraries in C or other machines."""
ENDINGS: Final = frozenset({".py", ".json", ".toml", ".lark", ".mp", ".rdma", ".j2", ".js", ".css", ".svg", ".html"})
_WHEN: Final = (1980, 1, 1, 0, 0, 0)


def write_archive(path: Path) -> None:
    """Write the archive; the same files give the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, file in sorted((*_libraries(), *_package())):
            archive.writestr(zipfile.ZipInfo(name, _WHEN), file.read_bytes(), zipfile.ZIP_DEFLATED, 9)


def _libraries() -> Iterator[tuple[str, Path]]:
    for library in LIBRARIES:
        for file in distribution(library).files or ():
            if file.suffix in (".py", ".lark") and ".." not in file.parts and "tests" not in file.parts:
                yield str(file), Path(str(file.locate()))
    yield "highspy.py", Path(__file__).with_name("highspy_in_page.py")


def _package() -> Iterator[tuple[str, Path]]:
    package = ROOT / "rdma_robust"
    for file in package.rglob("*"):
        name = file.relative_to(package).as_posix()
        if file.suffix in ENDINGS and not any(name == out or name.startswith(f"{out}/") for out in LEFT_OUT):
            yield f"rdma_robust/{name}", file
    for file in (ROOT / "grammars").iterdir():
        if file.suffix in ENDINGS:
            yield f"rdma_robust/grammars/{file.name}", file
