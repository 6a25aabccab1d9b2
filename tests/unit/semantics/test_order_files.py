"""Order tables as files: what they say, what is wrong with some, and which facts they have."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest

from rdma_robust import check
from rdma_robust.certify.hardware import ORDERS, Platform, kept_between
from rdma_robust.cli.app import run
from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.model import Model
from rdma_robust.orders import SHIPPED, order_name
from rdma_robust.orders.fi_flags import FLAGS, fi_order
from rdma_robust.orders.known_orders import order_of_file, order_table, shipped_text, told_in_full
from rdma_robust.orders.named_tables import files_named, order_asked, order_named
from rdma_robust.orders.order_facts import FACTS, fact_meaning, lacking
from rdma_robust.orders.order_reader import read_order
from rdma_robust.orders.order_record import ALL_TYPES, FIXED, NAMED_TYPES, of_all_types
from tests.conftest import ROOT
from tests.support.random_orders import LACKING

MINE = 'name = "mine"\nbased-on = "default"\n[cells]\n"nrW nrW" = "-"\n[why]\n"nrW nrW" = "page 7"\n'
READ_BACK = """node A { d = 1, back, f = 1 }
node B { x }
node C { flag, seen }
thread T on A {
  put B.x = d
  get back = B.x
  poll B
  poll B
  put C.flag = f
}
thread U on C { reg r
  r = flag
  get seen = B.x
}
"""


@pytest.mark.parametrize("name", SHIPPED)
def test_every_table_of_the_package_has_its_name_its_source_and_all_facts(name: str) -> None:
    table = order_table(name)
    assert table.name == name and table.title and table.source
    assert order_of_file(shipped_text(name), name) == name
    assert lacking(name) == lacking(name, messages=True) == (("chain",) if name == "fi-cxi" else ())
    for atomics in (frozenset[str](), frozenset({"naR", "naW"}), frozenset({"nuR", "nuW"})):
        assert lacking(name, atomics=atomics, messages=True) == ()
    assert {*table.cells} == {*FIXED} | {(a, b) for a in ALL_TYPES for b in ALL_TYPES}


def test_a_table_of_a_file_is_an_order_that_says_all_of_it() -> None:
    order = order_of_file(MINE, "mine.toml")
    assert order_name(order) == "mine" and str(Model(order=order)).endswith("order mine")
    lost = dict.fromkeys(((a, b) for a in ("nrW", "nmW") for b in ("nrW", "nmW")), "-")
    assert order_table(order).cells == {**order_table("default").cells, **lost}
    assert order_of_file(MINE.replace('"default"', '"ooo-dp"'), "x") == order_of_file(
        "\n".join(MINE.replace('"default"', '"ooo-dp"').split("\n")), "y"
    )


WRONG = {
    "name = mine\n": ("RR821", 1),
    'name = "a"\n[cells]\n"nrW nlX" = "qp"\n': ("RR826", 3),
    'name = "a"\n[cells]\n"CPU nrW" = "-"\n': ("RR826", 3),
    'name = "a"\n[cells]\n"nrW" = "-"\n': ("RR826", 3),
    'name = "a"\n[cells]\n"nrW nrW" = "-"\n"nrW  nrW" = "qp"\n': ("RR826", 4),
    'name = "a"\n[cells]\n"nlR nrW" = "i"\n': ("RR825", 3),
    'name = "a"\n[cells]\n"nrW nrW" = "all"\n': ("RR825", 3),
    'name = "a"\n[rules]\nreads-push-writes = ["nrW nrW"]\n': ("RR825", 3),
    'name = "a"\n[rules]\nreceive-covers = "all"\n': ("RR825", 3),
    'name = "a"\n[rules]\nreads-push = "all"\n': ("RR822", 3),
    'name = "a"\ncell = 1\n': ("RR822", 2),
    'title = "a"\n': ("RR822", 1),
    'name = "a"\nbased-on = "nothing"\n': ("RR824", 2),
    'name = "a"\ncells = 3\n': ("RR823", 2),
    'name = ""\n': ("RR823", 1),
    'name = "a"\n[why]\n"nrW nrW" = 3\n': ("RR823", 3),
}


@pytest.mark.parametrize("text", WRONG)
def test_a_mistake_is_one_error_with_its_line(text: str) -> None:
    with pytest.raises(ProgramError) as raised:
        order_of_file(text, "wrong.toml")
    (found,) = raised.value.diagnostics
    assert (found.code, found.span.line) == WRONG[text]


def test_every_mistake_is_told_at_once(tmp_path, capsys) -> None:
    (tmp_path / "wrong.toml").write_text('name = "a"\nbased-on = "nothing"\n[cells]\n"nrW nlX" = "qp"\n"nlR nrW" = "i"\n')
    (tmp_path / "p.rdma").write_text(READ_BACK)
    assert run(["check", "--order", str(tmp_path / "wrong.toml"), str(tmp_path / "p.rdma")]) == 2
    said = capsys.readouterr().err
    assert [code in said for code in ("RR824", "RR825", "RR826")] == [True] * 3


@pytest.mark.parametrize("order", ["nonsense", "{name = 3}", "{"])
def test_an_order_without_a_table_is_refused(order: str) -> None:
    with pytest.raises(UsageError, match="no order table"):
        order_table(order)


@pytest.mark.parametrize("fact", LACKING)
def test_a_fact_can_be_lacking(fact: str) -> None:
    order = order_of_file(f'name = "{fact}"\nbased-on = "default"\n[cells]\n{LACKING[fact]}\n', "x.toml")
    assert fact in lacking(order, messages=True)
    assert (fact in lacking(order)) is (fact != "receive_chain")
    assert fact_meaning(fact).endswith(".")
    assert {each.__name__ for each in FACTS} == {*LACKING}


def test_the_facts_are_those_that_coq_finds_for_every_change_of_one_cell() -> None:
    """Against docs/proof-tables.md, written from what Coq prints; not of changes that closing the table undoes."""
    page = (ROOT / "docs/proof-tables.md").read_text(encoding="utf-8")
    compared = 0
    for title, order in (("default", "default"), ("order multipath", "multipath"), ("order relaxed", "relaxed")):
        section = next(
            part for part in page.split("\n## ") if part.lower().startswith("remote atomics") and _is(part, title)
        )
        for earlier, later, proven, lacks in re.findall(
            r"^\| (\w+|naR, nA) \| (\w+|naR, nA) \| \S+ \| (.*?) \| (.*) \|$", section, re.M
        ):
            one, two = (each.partition(",")[0] for each in (earlier, later))
            told = {new: {*facts.split(", ")} for new, facts in re.findall(r"`(\S+)`: ([^;]+)", lacks)}
            told |= {new: set() for new in re.findall(r"`(\S+)`", proven)}
            for new, facts in told.items():
                if new == "all" or "CPU" in (one, two) or (new == "i" and one not in ("nrW", "nlW", "naW")):
                    continue
                changed = f'name = "x"\nbased-on = "{order}"\n[cells]\n"{one} {two}" = "{new}"\n'
                table = order_table(order_of_file(changed, "x"))
                if table.cells[one, two] != new or _follows(table.written, table.cells):
                    continue
                ours = {*lacking(order_of_file(changed, "x"))} - {"write_fence"}
                assert ours == facts - {"operation", "inst_row", "queue_pairs"}, (order, one, two, new)
                compared += 1
    assert compared > 150


def _is(section: str, title: str) -> bool:
    head = section.split("\n", maxsplit=1)[0].lower()
    return title in head or (title == "default" and "multipath" not in head and "relaxed" not in head)


def _follows(written: object, cells: dict[tuple[str, str], str]) -> bool:
    assert isinstance(written, dict)
    return any(cells[cell] != kept for cell, kept in written.items())


@pytest.mark.parametrize(("order", "robust"), [("default", True), ("ooo-dp", True), ("multipath", False), ("srd", False)])
def test_a_read_back_is_what_the_page_promises(order: str, robust: bool) -> None:
    """mlx5dv_create_qp(3): reads are executed after all previous messages are done executing."""
    assert (check(READ_BACK, order=order).verdict.value == "robust") is robust


PROVIDERS = {
    "fi-verbs": "RAR RMA_RAR ATOMIC_RAR RAW RMA_RAW ATOMIC_RAW RAS WAW RMA_WAW ATOMIC_WAW WAS SAW SAS",
    "fi-tcp": "RAR RMA_RAR ATOMIC_RAR RAW RMA_RAW ATOMIC_RAW RAS WAW RMA_WAW ATOMIC_WAW WAS SAW SAS",
    "fi-cxi": "SAS WAW RMA_WAW RMA_RAR ATOMIC_WAW ATOMIC_WAR ATOMIC_RAW ATOMIC_RAR",
    "fi-efa": "SAS ATOMIC_RAR ATOMIC_RAW ATOMIC_WAR ATOMIC_WAW",
    "fi-opx": "ATOMIC_RAR ATOMIC_RAW ATOMIC_WAR ATOMIC_WAW",
    "fi-psm3": "SAS RAR RAW WAR WAW RMA_RAR RMA_RAW RMA_WAR RMA_WAW ATOMIC_RAR ATOMIC_RAW ATOMIC_WAR ATOMIC_WAW",
    "fi-none": "",
}


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_tables_of_providers_are_those_of_their_flags(name: str) -> None:
    table, flags = order_table(name), order_table(fi_order(f"fi({', '.join(PROVIDERS[name].split())})"))
    assert table.written == flags.written and table.variants == flags.variants and table.pushes == flags.pushes
    assert "libfabric" in table.title and ("prov/" in table.source or name == "fi-none")


def test_flags_that_libfabric_does_not_have_are_refused() -> None:
    assert fi_order("fi(FI_ORDER_RMA_WAW, sas)").startswith("{")
    for wrong in ("fi(RMA_WAV)", "fi(WAW", "fi(SAS))"):
        with pytest.raises(UsageError):
            fi_order(wrong)


def test_the_order_of_a_fence_between_every_two_requests_is_that_of_a_flag() -> None:
    """What `shmem_fence` keeps apart: puts and atomics that fetch nothing, before and behind it."""
    none, fenced = (order_table(order) for order in ("none", fi_order("fi(WAW)")))
    written = (of_all_types(table.written, table.variants) for table in (none, fenced))
    without, kept = ({cell: word for cell, word in each.items() if {*cell} <= {*NAMED_TYPES}} for each in written)
    apart = {(a, b) for a in ("nrW", "nuR", "nuW") for b in ("nrW", "nuR", "nuW")}
    assert {cell for cell in without if kept[cell] != without[cell]} == apart
    assert all(kept[cell] == "qp" for cell in apart)


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_tables_of_providers_say_which_flags_keep_each_cell(name: str) -> None:
    table, flags = order_table(name), PROVIDERS[name].split()
    for (earlier, later), kept in of_all_types(table.written, table.variants).items():
        promised = {f"FI_ORDER_{flag}" for flag in flags if (earlier, later) in FLAGS[flag]}
        assert not promised or kept == "qp"
        assert promised <= set(re.split("[,;]? ", table.why.get(f"{earlier} {later}", "")))


def random_file(rng: Random) -> str:
    """Return the file of a table based on any table of the package, with any rules."""
    lines = ['name = "mine"', f'based-on = "{rng.choice(SHIPPED)}"', "[cells]"]
    for earlier, later in rng.sample([*product(NAMED_TYPES, NAMED_TYPES)], rng.randint(0, 9)):
        lines.append(f'"{earlier} {later}" = "{rng.choice(["qp", "-"])}"')
    rules = {"completions-order": ("true", "false"), "receive-covers": ('"own"', '"earlier"')}
    chosen = [name for name in rules if rng.random() < 0.6]
    return "\n".join([*lines, "[rules]", *(f"{name} = {rng.choice(rules[name])}" for name in chosen), ""])


def kept_by(platform: Platform) -> dict[tuple[str, str], str]:
    """The cells of an order as the checker reads it."""
    return {(a, b): kept_between(platform, a, b) for a in ALL_TYPES for b in ALL_TYPES}


def kept_under(order: str) -> dict[tuple[str, str], str]:
    """The cells of an order as the rest of the tool reads it."""
    cells = order_table(order).cells
    return {(a, b): "-" if cells[a, b] == "(-)" else cells[a, b] for a in ALL_TYPES for b in ALL_TYPES}


def test_what_a_file_says_is_told_and_read_again_also_by_the_checker() -> None:
    """A table based on fi-cxi, with a cell of nmW as that of nrW, was read with the cell of its base."""
    for seed in range(120):
        text = random_file(Random(f"told {seed}"))
        read, order = read_order(text, "mine.toml", based=order_table), order_of_file(text, "mine.toml")
        again = order_table(order)
        assert replace(again, title="", source="", based_on="", says="") == replace(
            read, title="", source="", based_on="", says=""
        ), text
        platform = Platform(order=told_in_full(replace(again, why={}), ORDERS))
        assert kept_by(platform) == kept_under(order), text
        assert platform.completions_order == bool(again.behind_polls), text
        if again.behind_polls:
            assert kept_by(platform.behind_polls) == kept_under(again.behind_polls), text


BORROWED = {
    "srd": ('name = "srd"\nbased-on = "default"\n', "srd (not the shipped table)"),
    "default": ('name = "default"\nbased-on = "none"\n', "default (not the shipped table)"),
    "a rule": (
        'name = "srd"\nbased-on = "none"\n[rules]\natomics-of-a-word = "program order"\n',
        "srd (not the shipped table)",
    ),
    "the same": ('name = "srd"\ntitle = "mine"\nbased-on = "none"\n[why]\nall = "so it is"\n', "srd"),
}


@pytest.mark.parametrize("case", BORROWED)
def test_another_table_with_a_name_of_the_package_is_told_as_such(case: str) -> None:
    text, name = BORROWED[case]
    order = order_of_file(text, "mine.toml")
    assert order_name(order) == name
    assert Platform(order=told_in_full(order_table(order), ORDERS)).order_name == name
    assert f"order {name}" in str(Model(order=order))


def test_the_checker_knows_the_tables_of_the_package_by_what_they_say() -> None:
    for name in SHIPPED:
        full = told_in_full(order_table(name), ORDERS)
        assert Platform(order=full).order_name == name
    assert str(Platform(order='{based-on = "none"}')) == "order (an unnamed table)"
    assert Platform(order='{name = "../srd", based-on = "none"}').order_name == "../srd"


def test_a_table_can_be_based_on_a_file_beside_it(tmp_path: Path) -> None:
    """Also behind polls, and for a program that names it; whoever watches it hears of both files."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/base.toml").write_text('name = "base"\nbased-on = "default"\n[cells]\n"nrW nrR" = "-"\n')
    mine = 'name = "mine"\nbased-on = "in/base.toml"\n[cells]\n"nrW nrW" = "-"\n[rules]\ncompletions-order = true\n'
    (tmp_path / "mine.toml").write_text(mine)
    order = order_asked(str(tmp_path / "mine.toml"))
    table = order_table(order)
    assert table.based_on == "in/base.toml" and order_table(table.behind_polls).name == "base"
    assert [table.cells["nrW", each] for each in ("nrW", "nrR", "naR")] == ["-", "-", "qp"]
    program = str(tmp_path / "p.rdma")
    assert order_named('"mine.toml"', program) == order
    named = files_named('hardware order "mine.toml"', program)
    assert named == (str(tmp_path / "mine.toml"), str(tmp_path / "in/base.toml"))
    assert kept_by(Platform(order=told_in_full(replace(table, why={}), ORDERS))) == kept_under(order)


def test_a_table_that_is_based_on_none_says_what_was_meant(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    for text, said in (
        ('name = "a"\nbased-on = "defualt"\n', "default"),
        ('nmae = "a"\n', "name"),
        ('name = "a"\nbased-on = "mine.toml"\n', None),
        ('name = "a"\nbased-on = "none.toml"\n', None),
    ):
        file.write_text(text)
        with pytest.raises(ProgramError) as error:
            order_asked(str(file))
        hints = [str(each.hint) for each in error.value.diagnostics]
        assert said is None or any(f"did you mean `{said}`" in each for each in hints), hints
