"""The oldest and the newest versions that pyproject.toml allows, each in a bare environment: every form of every report is
what it is here, and the language server, the explorer and the watcher work."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from packaging.requirements import Requirement

from tests.conftest import COMMAND
from tests.packaging.conftest import Built, must
from tests.repo.test_locks import wanted
from tests.support.editor import TEXT, Editor, at, session
from tests.support.processes import started
from tests.support.smoke import forms_of, prepare, said

EXTRAS = ("cluster", "lsp", "smt", "watch")


def requirements() -> dict[str, Requirement]:
    """What is installed to be used, with all extras for that."""
    return {each.name: each for extra in EXTRAS for each in wanted(extra)}


def oldest(requirement: Requirement) -> str:
    """Return the requirement of the oldest version that is allowed, which is named in its bound."""
    bounds = [each.version for each in requirement.specifier if each.operator == ">="]
    assert len(bounds) == 1, f"{requirement}: one bound below says what is tried as the oldest"
    return f"{requirement.name}=={bounds[0]}"


WAYS: dict[str, Callable[[Requirement], str]] = {"oldest": oldest, "newest": str}


def test_every_requirement_has_an_oldest_version() -> None:
    assert len([oldest(each) for each in requirements().values()]) > 15


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_all_forms_are_what_they_are_here(way: str, built: Built, tmp_path: Path) -> None:
    bare = tmp_path / "venv"
    venv.create(bare, with_pip=True)
    pip = [bare / "bin/python", "-m", "pip", "install", "--quiet"]
    must([*pip, *map(WAYS[way], requirements().values())], tmp_path)
    must([*pip, "--no-deps", built.wheel], tmp_path)
    must([bare / "bin/python", "-m", "pip", "check"], tmp_path)
    print(must([bare / "bin/python", "-m", "pip", "freeze"], tmp_path))
    command = bare / "bin/rdma-robust"
    folder = tmp_path / "programs"
    folder.mkdir()
    prepare(folder)
    assert forms_of(command, folder) == forms_of(COMMAND, folder)
    _serves_an_editor(command, folder)
    _explores(command, folder)
    must([bare / "bin/python", "-c", "import rdma_robust.teaching.explorer.terminal, distributed, watchfiles"], folder)


def _serves_an_editor(command: Path, folder: Path) -> None:
    async def talk(editor: Editor) -> None:
        await editor.until(lambda messages: any(m.startswith("not robust") for m in messages))
        found: list[lsp.CodeAction | lsp.Command] = []
        place = lsp.Range(at(TEXT, "put B.d"), at(TEXT, "put B.d"))
        while not found:
            await asyncio.sleep(0.2)
            asked = lsp.CodeActionParams(editor.document, place, lsp.CodeActionContext([]))
            found = [*(await editor.client.text_document_code_action_async(asked) or ())]
        assert found[0].title.startswith("Make the program robust: insert poll B in Sender")

    session(folder / "edited.rdma", talk, command=str(command))


def _explores(command: Path, folder: Path) -> None:
    from urllib.request import Request, urlopen  # noqa: PLC0415 - only here

    with started([command, "explore", "sb.rdma", "--no-browser"], cwd=folder, stdout=subprocess.PIPE) as one:
        assert one.stdout is not None
        address = one.stdout.readline().removeprefix("Exploring at ").strip()
        origin = re.sub(r"(?<=\d)/.*", "", address)
        headers = {"Content-Type": "application/json", "Origin": origin}
        step = Request(f"{address}api/view", b'{"address": "", "do": ["step", "rdma", 0]}', headers)
        with urlopen(address, timeout=20) as page, urlopen(step, timeout=20) as view:
            assert (page.status, view.status) == (200, 200)
        one.send_signal(signal.SIGINT)
        one.communicate(timeout=20)
    assert said(command, "--version", folder)[0] == 0
