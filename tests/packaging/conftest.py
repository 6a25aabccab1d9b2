"""What is given to others, built once, and how to use it where nothing else is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT


def run(arguments: Sequence[str | Path], cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command that knows of no Python path and no virtual environment but its own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV", "LD_"))}
    return subprocess.run(
        [str(each) for each in arguments], cwd=cwd, env=kept | env, capture_output=True, text=True, timeout=900, check=False
    )


def must(arguments: Sequence[str | Path], cwd: Path, **env: str) -> str:
    done = run(arguments, cwd, **env)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def tracked() -> list[str]:
    """The files of the project, relative to its root."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


@dataclass(frozen=True)
class Built:
    sdist: Path
    wheel: Path
    pure: Path
    """Built from the sdist where no compiler works."""


@pytest.fixture(scope="session")
def built(tracked: list[str], tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Distributions of a clean checkout."""
    folder = tmp_path_factory.mktemp("dist")
    checkout = folder / "checkout"
    for name in tracked:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, checkout / name)
    build = [sys.executable, "-m", "build", "--no-isolation"]
    must([*build, "--outdir", folder / "both"], checkout)
    (sdist,) = (folder / "both").glob("*.tar.gz")
    (wheel,) = (folder / "both").glob("*.whl")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    must([*build, "--wheel", "--outdir", folder / "pure"], source, CC="false", CXX="false")
    (pure,) = (folder / "pure").glob("*.whl")
    return Built(sdist, wheel, pure)
