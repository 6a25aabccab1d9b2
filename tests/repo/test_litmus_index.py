"""The index of the litmus suite: up to date, with every program once; and the ways to name the whole suite."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from rdma_robust.frame.shell.inputs import expand
from sitegen.contracts_index import CONTRACTS_INDEX, SECTIONS, contract_programs, contracts_index
from sitegen.litmus_index import INDEX, SHELVES, description, litmus_index, on
from sitegen.messages_index import FAMILIES, MESSAGES, MESSAGES_INDEX, all_programs, messages_index
from sitegen.prove_index import PROVE, PROVE_INDEX, prove_index
from sitegen.shelved_index import FOLDERS
from tests.conftest import ROOT

IN_FOLDERS = [path for folder in FOLDERS for path in folder.programs()]
PROGRAMS = sorted((ROOT / "litmus").glob("*.rdma"))
TO_PROVE = sorted(PROVE.glob("*.rdma"))


def test_the_index_is_up_to_date() -> None:
    assert INDEX.read_text(encoding="utf-8") == litmus_index(), "make promote writes it anew"
    for folder in FOLDERS:
        assert folder.index.read_text(encoding="utf-8") == folder.text(), "make promote writes it anew"
    assert CONTRACTS_INDEX.read_text(encoding="utf-8") == contracts_index(), "make promote writes it anew"
    assert MESSAGES_INDEX.read_text(encoding="utf-8") == messages_index(), "make promote writes it anew"
    assert PROVE_INDEX.read_text(encoding="utf-8") == prove_index(), "make promote writes it anew"


def test_every_program_is_on_one_shelf() -> None:
    placed = Counter(path for shelf in SHELVES for path in on(shelf, PROGRAMS))
    assert placed == dict.fromkeys(PROGRAMS, 1)
    rows = Counter(re.findall(r"^\| \[([^\]]+)\]\(\1\.rdma\) \|", litmus_index(), re.MULTILINE))
    assert rows == {path.stem: 1 for path in PROGRAMS}


def test_no_shelf_names_what_is_not_there() -> None:
    for shelf in SHELVES:
        assert shelf.first in {path.stem for path in on(shelf, PROGRAMS)}
        assert set(shelf.families.split()) == {path.name.partition("-")[0] for path in on(shelf, PROGRAMS)}


def test_every_program_begins_with_a_sentence() -> None:
    for path in [*PROGRAMS, *TO_PROVE, *IN_FOLDERS, *all_programs(), *contract_programs()]:
        assert re.fullmatch(r"[A-Z0-9].{10,170}[.?]", description(path)), path


def test_every_program_that_passes_messages_is_in_a_family() -> None:
    assert sorted(MESSAGES.rglob("*.mp")) == sorted(all_programs())
    assert {path.name for path in MESSAGES.iterdir() if path.is_dir()} == {*FAMILIES, "expected"}


def test_every_program_with_contracts_is_in_one_part() -> None:
    for path in contract_programs():
        assert sum(belongs(path.stem) for _, _, belongs in SECTIONS) == 1


@pytest.mark.parametrize("named", ["litmus", "litmus/", "litmus/**", "litmus/*", "litmus/*.rdma"])
def test_the_whole_suite_has_short_names(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders are looked through; what is there to be proven is passed over by commands that do not prove."""
    monkeypatch.chdir(ROOT)
    wanted = PROGRAMS if named == "litmus/*.rdma" else sorted([*PROGRAMS, *TO_PROVE, *IN_FOLDERS])
    assert sorted(Path(item.name) for item in expand([named])) == [path.relative_to(ROOT) for path in wanted]
