"""Making the playground: what npm's lock file names is installed and bundled, and the package is packed beside it."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Final

from rdma_robust.cli.commands.playground import PLAYGROUND_POLICY
from rdma_robust.reports.share.page_style import PAGE_STYLE, page_script
from rdma_robust.reports.share.svg import STYLE as DRAWING_STYLE
from rdma_robust.teaching.explorer.message_session import MessageSession
from rdma_robust.teaching.explorer.server import PARTS, SHARED, exploration_page
from rdma_robust.teaching.explorer.session import Session
from sitegen.playground.page_data import page_data
from sitegen.playground.python_archive import ROOT, write_python

PAGE: Final = Path(__file__).with_name("page")
BUILT: Final = ROOT / "build/playground"
INSTALLED: Final = ROOT / "build/playground-packages"
NEEDED: Final = ("node", "npm")
COPIED: Final = ("pyodide/pyodide.asm.mjs", "pyodide/pyodide-lock.json")
"""What packages have that is loaded as it is."""
PACKED: Final = ("pyodide/pyodide.asm.wasm", "highs/build/highs.wasm")
"""What the worker unpacks, as not all servers compress; with an ending that no server takes for a compressed page."""
SCRIPTS: Final = ("app.js", "worker.js")
_MOST_S: Final = 900.0  # npm without a network tries for long


class NotMadeError(Exception):
    """The page cannot be made here, as Node or the packages cannot be had; the text says why."""


def missing() -> list[str]:
    """Return the commands that are needed and not there."""
    return [name for name in NEEDED if shutil.which(name) is None]


def make(folder: Path = BUILT) -> None:
    """Make the page in a folder, which is emptied. Raises NotMadeError without Node, npm, or what npm is to get."""
    if lacking := missing():
        raise NotMadeError(f"{' and '.join(lacking)} is not installed")
    folder = folder.resolve()
    installed(INSTALLED)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in COPIED:
        shutil.copyfile(INSTALLED / "node_modules" / name, folder / Path(name).name)
    for name in PACKED:
        data = (INSTALLED / "node_modules" / name).read_bytes()
        (folder / Path(name).with_suffix(".packed").name).write_bytes(gzip.compress(data, 9, mtime=0))
    _bundle(folder)
    shutil.copyfile(PAGE / "style.css", folder / "style.css")
    shutil.copyfile(ROOT / "rdma_robust/teaching/explorer/page/icon.svg", folder / "icon.svg")
    _explorer(folder / "explore")
    (folder / "shared.css").write_text(PAGE_STYLE + DRAWING_STYLE, encoding="utf-8")
    (folder / "theme.js").write_text(page_script(), encoding="utf-8")
    (folder / "index.html").write_text(_with_policy("index.html"), encoding="utf-8")
    (folder / "playground.json").write_text(json.dumps(page_data(), separators=(",", ":")), encoding="utf-8")
    try:
        write_python(folder, INSTALLED, _MOST_S)
    except subprocess.TimeoutExpired as error:
        raise NotMadeError(f"compiling Python took more than {_MOST_S:.0f} s") from error
    (folder / "offline.js").write_text(_offline(folder), encoding="utf-8")


def installed(folder: Path) -> None:
    """Install what the lock file names, by its hashes, unless that was done before. No scripts of packages are run."""
    lock = (PAGE / "package-lock.json").read_bytes()
    done = folder / "done.json"
    if done.is_file() and done.read_bytes() == lock:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(PAGE / name, folder / name)
    try:
        _run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], folder)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        reason = f"it took more than {_MOST_S:.0f} s" if isinstance(error, subprocess.TimeoutExpired) else error.stderr
        raise NotMadeError(f"npm cannot install what {PAGE.name}/package-lock.json names:\n{reason}") from error
    done.write_bytes(lock)


def _bundle(folder: Path) -> None:
    """Bundle the scripts; what only Node has is never reached in a browser."""
    sources = folder / "sources"
    shutil.copytree(PAGE, sources, ignore=shutil.ignore_patterns("*.json", "*.html", "*.css", "node_modules"))
    (sources / "node_modules").symlink_to(INSTALLED / "node_modules", target_is_directory=True)
    esbuild = INSTALLED / "node_modules/esbuild/bin/esbuild"
    options = ["--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=eof", "--log-level=warning"]
    options += [f"--external:{name}" for name in ("node:*", "fs", "path")]
    _run([str(esbuild), *(str(sources / name) for name in SCRIPTS), *options, f"--outdir={folder}"], sources)
    shutil.rmtree(sources)


def _explorer(folder: Path) -> None:
    """Write the pages of the explorer, as its server at home has them."""
    folder.mkdir()
    for name in PARTS:
        shutil.copyfile(ROOT / "rdma_robust/teaching/explorer/page" / name, folder / name)
    for name, (text, _) in SHARED.items():
        (folder / name).write_text(text, encoding="utf-8")
    for kind, session in (("rdma", Session), ("mp", MessageSession)):
        (folder / f"{kind}.html").write_text(exploration_page(session.page), encoding="utf-8")


def _offline(folder: Path) -> str:
    """Return the service worker: it keeps all files that were made, and another file is another version."""
    made = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    version = hashlib.sha256(b"".join(hashlib.sha256(name.encode() + data).digest() for name, data in made.items()))
    text = (PAGE / "offline.js").read_text(encoding="utf-8")
    return text.replace("@VERSION@", version.hexdigest()[:16]).replace("@FILES@", json.dumps(["./", *made]))


def _with_policy(name: str) -> str:
    return (PAGE / name).read_text(encoding="utf-8").replace("@POLICY@", PLAYGROUND_POLICY)


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=_MOST_S)
