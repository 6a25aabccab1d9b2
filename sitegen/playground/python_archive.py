"""The Python that runs in the page: its library, this package and what its commands load, compiled.

The libraries are those of the environment, which make installs by the hashes of `requirements/*.lock`; all of them work
without their parts in C. To compile them takes the page longer than all else, so it is done here, by the Python of the page.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from sitegen.playground.page_compiler import write_zip

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
COMPILER: Final = Path(__file__).with_name("page_compiler.py")
STDLIB: Final = "python_stdlib.zip"
PACKED: Final = "python.packed"
_COMPILE: Final = """
import { readFileSync, writeFileSync } from "node:fs";
import { loadPyodide } from "pyodide";
const [compiler, sources, stdlib, stdlibMade, packed] = process.argv.slice(1);
const python = await loadPyodide({ env: { PYTHONHASHSEED: "0" } });
python.FS.writeFile("page_compiler.py", readFileSync(compiler));
python.FS.writeFile("sources.zip", readFileSync(sources));
python.FS.writeFile("stdlib.zip", readFileSync(stdlib));
python.runPython(`
from pathlib import Path
from page_compiler import compiled, packed, write_zip
write_zip("made.zip", compiled("stdlib.zip"))
Path("made.packed").write_bytes(packed(compiled("sources.zip")))
`);
writeFileSync(stdlibMade, python.FS.readFile("made.zip"));
writeFileSync(packed, python.FS.readFile("made.packed"));
"""
"""For Node, in the folder that has the packages."""


def write_python(folder: Path, packages: Path, most_s: float) -> None:
    """Write the library of Python, and the package, as the worker loads them; the same files give the same bytes.

    What was compiled is kept beside the packages of npm, until something changes. Raises CalledProcessError if something
    cannot be compiled, and TimeoutExpired.
    """
    with TemporaryDirectory() as made:
        sources = Path(made) / "sources.zip"
        write_zip(str(sources), sorted((name, file.read_bytes()) for name, file in (*_libraries(), *_package())))
        given = (COMPILER, sources, packages / "node_modules/pyodide" / STDLIB)
        key = sha256(b"".join((_COMPILE.encode(), *(sha256(file.read_bytes()).digest() for file in given)))).hexdigest()
        kept = packages / "compiled"
        if not kept.is_file() or kept.read_text(encoding="utf-8") != key:
            kept.unlink(missing_ok=True)
            command = ["node", "--input-type=module", "--eval", _COMPILE, *map(str, given), STDLIB, PACKED]
            subprocess.run(command, cwd=packages, capture_output=True, text=True, check=True, timeout=most_s)
            kept.write_text(key, encoding="utf-8")
    for name in (STDLIB, PACKED):
        shutil.copyfile(packages / name, folder / name)


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
