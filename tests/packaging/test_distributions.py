"""What is given to others: an sdist and wheels, built as CI does, installed where nothing else is, used from elsewhere."""

from __future__ import annotations

import re
import shutil
import sys
import sysconfig
import tarfile
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.conftest import INVALID, NOT_ROBUST, ROBUST, ROOT
from tests.packaging.conftest import Built, must, run
from tests.support.documents import blocks, commands, without_times

pytestmark = pytest.mark.long

TAG = f"cp{sys.version_info.major}{sys.version_info.minor}"
PLATFORM = sysconfig.get_platform().replace("-", "_").replace(".", "_")
USES = {
    "--expect calm.rdma sb.rdma mailbox-plain.rdma": 0,
    "check sb.rdma": 1,
    "check bad.rdma": 2,
    "cover mutex-peterson.spec": 0,
    "explain sb.rdma --format html -o sb.html": 1,
    "report sb.rdma --output out/ --format html": 1,
    "demo abp --pace 0 --html abp.html": 0,
    "fmt --check mailbox-plain.rdma": 0,
    "export sb.rdma --to promela": 0,
}
"""What is tried of an installation, and its exit code: every grammar, every folder of templates, and the kernels."""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing but what the package needs and what builds it, from requirements/run.lock."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    venv.create(folder, with_pip=True)
    pip = [folder / "bin/python", "-m", "pip", "install", "--quiet"]
    must([*pip, "--require-hashes", "--requirement", ROOT / "requirements/run.lock"], folder)
    return folder / "bin"


def installed_names(tracked: list[str]) -> set[str]:
    """What of the project an installation has."""
    found = {name for name in tracked if name.startswith("rdma_robust/")}
    found |= {f"rdma_robust/{name}" for name in tracked if name.startswith("grammars/")}
    return {name for name in found if Path(name).suffix not in {".pyx", ".pxd"}}


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def tags_of(wheel: Path) -> set[str]:
    """The tags that a wheel says it has, which must be those of its name."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/WHEEL"))
        metadata = Parser().parsestr(archive.read(name).decode())
    tags = set(metadata.get_all("Tag") or [])
    assert tags == {"-".join(wheel.stem.split("-")[-3:])}
    assert (metadata["Root-Is-Purelib"] == "true") == (tags == {"py3-none-any"})
    return tags


def test_the_sdist_has_all_that_is_installed_and_what_it_is_built_from(built: Built, tracked: list[str]) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {name for name in tracked if name.startswith(("rdma_robust/", "grammars/"))}
    assert wanted - names == set()
    assert {"pyproject.toml", "setup.py", "README.md", "LICENSE"} <= names
    top = {name.partition("/")[0] for name in names if "/" in name}
    assert top == {"rdma_robust", "rdma_robust.egg-info", "grammars", "requirements"}
    assert {name for name in names if name.endswith((".so", ".c", ".pyc"))} == set()


def test_a_wheel_has_the_package_and_nothing_else(built: Built, tracked: list[str]) -> None:
    wanted = installed_names(tracked)
    for wheel in (built.wheel, built.pure):
        names = {name for name in names_in(wheel) if ".dist-info/" not in name}
        modules = {name for name in names if name.endswith(".so")}
        assert names - modules == wanted


def test_a_wheel_with_kernels_is_for_one_python_and_platform(built: Built, tracked: list[str]) -> None:
    kernels = {name.removesuffix(".pyx") for name in tracked if name.endswith(".pyx")}
    modules = {name for name in names_in(built.wheel) if name.endswith(".so")}
    assert {re.sub(r"\.[^/]*$", "", name) for name in modules} == kernels
    assert tags_of(built.wheel) == {f"{TAG}-{TAG}-{PLATFORM}"}


def test_a_wheel_without_kernels_is_for_all(built: Built) -> None:
    assert {name for name in names_in(built.pure) if name.endswith(".so")} == set()
    assert tags_of(built.pure) == {"py3-none-any"}


@pytest.mark.parametrize("kind", ["wheel", "pure", "sdist"])
def test_what_is_installed_works(kind: str, built: Built, bare: Path, tmp_path: Path) -> None:
    """In a bare environment, from a folder that has nothing to do with the project."""
    python, command = bare / "python", bare / "rdma-robust"
    pip = [python, "-m", "pip", "--quiet"]
    must([*pip, "install", "--no-deps", "--no-build-isolation", "--force-reinstall", getattr(built, kind)], tmp_path)
    must([*pip, "check"], tmp_path)
    kernel = "python" if kind == "pure" else "compiled"
    assert f"search kernel: {kernel}" in must([command, "--version"], tmp_path)
    where = must([python, "-c", "import rdma_robust; print(rdma_robust.__file__)"], tmp_path).strip()
    assert Path(where).is_relative_to(bare.parent)

    (tmp_path / "calm.rdma").write_text(ROBUST)
    (tmp_path / "sb.rdma").write_text(NOT_ROBUST)
    (tmp_path / "bad.rdma").write_text(INVALID)
    shutil.copy(ROOT / "tests/nets/mutex-peterson.spec", tmp_path)
    shutil.copy(ROOT / "litmus/mailbox-plain.rdma", tmp_path)
    for arguments, code in USES.items():
        done = run([command, *arguments.split()], tmp_path)
        assert done.returncode == code, f"{arguments}\n{done.stdout}\n{done.stderr}"
    for page in ("sb.html", "abp.html", "out/report.html"):
        assert "</html>" in (tmp_path / page).read_text(encoding="utf-8"), page


def pinned(name: str) -> str:
    """Return the requirement of what requirements/dev.lock pins."""
    (line,) = re.findall(rf"^{name}==\S+", (ROOT / "requirements/dev.lock").read_text(encoding="utf-8"), re.MULTILINE)
    return str(line)


def test_a_stranger_follows_the_readme(built: Built, bare: Path, tmp_path: Path) -> None:
    """From an empty folder: install with the extra for C, the example with verdict, repair and proof, and the gate of CI."""
    python = bare / "python"
    must([python, "-m", "pip", "--quiet", "install", "--no-deps", "--force-reinstall", built.wheel], tmp_path)
    must([python, "-m", "pip", "--quiet", "install", "--no-deps", pinned("libclang")], tmp_path)
    path = f"{bare}:/usr/bin:/bin"
    readme = blocks(ROOT / "README.md")
    shown = 0
    for block in readme:
        if block.title is not None:
            (tmp_path / block.title).write_text(block.body, encoding="utf-8")
        for command, said in commands(block) if block.language == "console" else ():
            done = run(["sh", "-c", f"{command} 2>&1"], tmp_path, PATH=path)
            assert without_times(done.stdout) == without_times(said), command
            shown += 1
    assert shown >= 3

    (gate,) = (each.body.split(" #")[0] for each in readme if each.language == "sh" and "--expect" in each.body)
    protocols = tmp_path / "protocols"
    protocols.mkdir()
    (protocols / "calm.rdma").write_text(ROBUST)
    assert run(["sh", "-c", gate], tmp_path, PATH=path).returncode == 0
    (protocols / "sb.rdma").write_text(NOT_ROBUST.replace("expect not robust", "expect robust"))
    assert run(["sh", "-c", gate], tmp_path, PATH=path).returncode == 1
    assert "sb.rdma" in (tmp_path / "robust.sarif").read_text(encoding="utf-8")
