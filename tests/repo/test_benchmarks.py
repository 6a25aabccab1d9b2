"""The page on benchmarks shows what bench/data holds, and nothing else: tables, plots, and the sections in their order."""

from __future__ import annotations

import re

import pytest

from bench.message_programs import senders
from bench.message_solvers import WAYS, figure_8_by_value
from bench.nets import NETS
from bench.plots import FOLDER, PLOTS, drawn, mark
from bench.records import Cover, Price, load, save
from bench.tables import DOCUMENT, MESSAGES_DOCUMENT, TABLES, document, marks
from rdma_robust.messages.language.load_messages import load_messages
from tests.conftest import ROOT

TEXT = DOCUMENT.read_text(encoding="utf-8")
SHOWN = TEXT + MESSAGES_DOCUMENT.read_text(encoding="utf-8")
MADE_FROM_OTHERS = {"rma-paper", "sas-paper"}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_made_from_the_data(name: str) -> None:
    begin, end = marks(name)
    found = document(name).read_text(encoding="utf-8").partition(begin)[2].partition(end)[0]
    assert found == "\n\n" + "\n".join(TABLES[name]()) + "\n\n", "python -m bench tables writes it"


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_shows_the_data(name: str) -> None:
    text = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert mark(name) in text, "python -m bench tables draws it"
    assert "prefers-color-scheme:dark" in text and "#1f2328;" not in text.partition("</style>")[2]
    assert re.search(rf"!\[[^\]]{{60,}}\]\(plots/{name}\.svg\)", SHOWN)


@pytest.mark.ci
def test_a_plot_is_the_same_every_time() -> None:
    _, draw = PLOTS["clients"]
    first, second = drawn("clients", draw), drawn("clients", draw)
    assert first == second
    names = re.findall(r' id="([^"]*)"', first)
    assert len(names) == len(set(names)) and all(each.startswith("clients-") for each in names)


def test_all_data_are_shown() -> None:
    assert {path.stem for path in (ROOT / "bench/data").iterdir()} == set(TABLES) - MADE_FROM_OTHERS
    assert {path.stem for path in FOLDER.iterdir()} == set(PLOTS)


def test_what_is_kept_is_what_was_measured(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Price("a, b", 2, 10, False, 0, True, 0.0125, 1.5, 123.456), Price("c", 3, 1, True, 2, True, 1e-05, 0.0, 7.0)]
    monkeypatch.setattr("bench.records.FOLDER", tmp_path)
    save("price", rows)
    assert load("price", Price) == rows
    with pytest.raises(ValueError, match="columns"):
        load("price", Cover)
    with pytest.raises(ValueError, match="nothing"):
        save("price", [])


def test_nets_of_the_page_are_those_that_are_measured() -> None:
    shown = [row.net for row in load("nets", Cover)]
    assert set(NETS) == set(shown) - {"large-safe (registers whose values carry a history)"}


def test_sections_are_in_order() -> None:
    letters = re.findall(r"^## \((.)\)", TEXT, re.MULTILINE)
    assert letters == sorted(letters) == list("abcdefg")


def test_the_papers_encoding_needs_the_whole_program_order() -> None:
    """As it is printed it has an execution of figure 8 that its text calls impossible."""
    figure_8 = load_messages(figure_8_by_value(1), "figure_8.mp")
    assert [decide(figure_8) for decide in WAYS.values()] == [True, False, False, False]
    given = load_messages(senders(3, "given"), "given.mp")
    assert all(decide(given) for decide in WAYS.values())
