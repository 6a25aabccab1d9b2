"""The machine-checked proofs: every statement of the theory has one or is said to have none; nothing is admitted; the table
of the proofs is that of the code.

Whether Coq accepts them is `make proofs`; that it prints what is kept is the last test here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import pytest

from rdma_robust.model import Model
from rdma_robust.orders import SHIPPED
from rdma_robust.semantics.order_table import ippo_scope, nfo_pairs_of, oppo_scope
from rdma_robust.semantics.trace import EventType
from sitegen.proof_tables import ATOMIC_FACTS, ATOMIC_HARDWARE, ATOMIC_KINDS, FACTS, current, listed
from sitegen.proof_tables import KINDS as KINDS_OF_ROWS
from sitegen.theorems import PROOFS, ask_coq, by_hand, changes, not_compiled, printed, sources, tables, theorems
from tests.conftest import ROOT
from tests.support.coq_text import flaws, formal_names, names, statements, theory_pages

THEORY = "\n".join(theory_pages().values())
CLASSIC = "classic : forall P : Prop, P \\/ ~ P"
KINDS = {
    "Poll": EventType.P,
    "Fence": EventType.F,
    **{kind: EventType[kind] for kind in ("LR", "LW", "CAS", "NLR", "NRW", "NRR", "NLW", "NF")},
}
"""What the kinds of events in Coq are in the code."""

NOT_IN_COQ = (EventType.FL, EventType.NO, EventType.BAR)
PROVEN_ORDERS = ("default", "multipath", "relaxed")
"""What the development knows nothing of, and the orders of networks that it knows; docs/assurance.md says so."""

ALL_KINDS: dict[str, tuple[str, dict[str, EventType]]] = {
    "Table": ("Model", KINDS),
    "RemoteAtomicsTable": (
        "RemoteAtomicsHardware",
        KINDS | {k: EventType[k] for k in ("NAR", "NAW", "NA")},
    ),
    "DeployedTable": ("Deployed", {f"K{e.value}": e for e in EventType if e is not EventType.INIT and e not in NOT_IN_COQ}),
}
"""Files that list tables: where the kinds of their events are declared, and which these are."""

SCOPES = {("all", "all"): "All", ("qp", "qp"): "Qp", ("qp", "-"): "Issue", ("-", "-"): "Never"}


def unlinked(page: str) -> set[str]:
    """The statements of a page without a formal name."""
    return {label for label, text in statements(page).items() if not formal_names(text)}


def test_every_statement_of_the_theory_has_a_formal_name_or_stands_on_the_list() -> None:
    """What has a formal name for a part of it only is on both: the list says `Theorem 8, second half`."""
    assert len(statements(THEORY)) >= 12
    listed = {each.statement for each in by_hand() if each.page in theory_pages()}
    assert unlinked(THEORY) == {each for each in listed if "," not in each}
    assert {each.partition(",")[0] for each in listed if "," in each} <= statements(THEORY).keys() - unlinked(THEORY)


def test_a_statement_without_a_formal_name_is_noticed() -> None:
    links = re.findall(r"\[`[\w.]+`\]\(proof\.md#[^)]*\)", statements(THEORY)["Lemma 1"])
    assert "Lemma 1" in unlinked(THEORY.replace(links[0], ""))


def test_formal_names_of_the_theory_are_on_the_list_under_the_same_statement() -> None:
    listed = {(each.name, each.statement) for each in theorems()}
    for label, text in statements(THEORY).items():
        for name in formal_names(text):
            assert any(name == known and statement.startswith(label) for known, statement in listed), (label, name)


def missing(wanted: str) -> bool:
    module, _, name = wanted.partition(".")
    return module not in sources() or name not in names(sources()[module].read_text(encoding="utf-8"))


def test_every_formal_name_is_in_the_proofs() -> None:
    listed = [each.name for each in theorems()]
    assert len(listed) == len(set(listed)) > 25
    assert [name for name in listed if missing(name)] == []
    assert missing("Rules.lemma_4") and missing("Laws.lemma_3")


def test_what_coq_printed_is_that_of_the_list_and_rests_on_classic_alone() -> None:
    assert list(printed().statements) == [each.name for each in theorems()], "python -m sitegen asks Coq again"
    for name, statement in printed().statements.items():
        assert statement.startswith(name.partition(".")[2]), name
    assert more_than_classic(printed().axioms) == []


def more_than_classic(axioms: Mapping[str, str]) -> list[str]:
    return [name for name, used in axioms.items() if used not in ("", CLASSIC)]


def test_another_axiom_is_noticed() -> None:
    cheating = f"{CLASSIC}\ncheat : forall P : Prop, P"
    assert more_than_classic({"A.a": CLASSIC, "A.b": cheating, "A.c": "", "A.d": "cheat : False"}) == ["A.b", "A.d"]


def test_nothing_is_admitted_or_assumed_outside_of_a_section() -> None:
    assert len(sources()) > 8
    for path in sources().values():
        assert flaws(path.read_text(encoding="utf-8")) == [], path


@pytest.mark.parametrize(
    "change",
    [
        ("Qed.", "Admitted."),
        ("Qed.", "admit. Qed."),
        ("Section Rules.", "Axiom rule : forall P : Prop, P. Section Rules."),
        ("Section Rules.", "Module Rules."),
        ("Section Rules.", "Variables (E : nat). Section Rules."),
        ("End Rules.", "End Rules. Hypothesis W : False."),
        ("End Rules.", "End Rules. Unset Guard Checking."),
    ],
)
def test_what_is_admitted_is_noticed(change: tuple[str, str]) -> None:
    text = sources()["Rules"].read_text(encoding="utf-8")
    assert change[0] in text
    assert flaws(text.replace(*change))
    assert not flaws(text.replace(change[0], f"{change[0]} (* {change[1]} (* nested *) Axiom. *)"))


def test_every_file_is_compiled_and_no_two_have_one_name() -> None:
    listed = [line for line in (PROOFS / "_CoqProject").read_text(encoding="utf-8").split() if line.endswith(".v")]
    files = [path.relative_to(PROOFS).as_posix() for path in PROOFS.rglob("*.v")]
    assert sorted(listed) == sorted(files)
    assert len(sources()) == len(files)
    for path in sources().values():
        assert path.read_text(encoding="utf-8").count("\n") < 400, path


def test_what_is_not_in_the_proofs_is_said() -> None:
    told = (ROOT / "docs/assurance.md").read_text(encoding="utf-8")
    for each in NOT_IN_COQ:
        assert re.search(rf"\b{each.value}\b", told), each
    for order in set(SHIPPED) - set(PROVEN_ORDERS):
        assert f"`order {order}`" in told, order


@pytest.mark.parametrize("module", ALL_KINDS)
def test_the_tables_list_all_kinds_of_events(module: str) -> None:
    file, kinds = ALL_KINDS[module]
    declared = re.search(r"Inductive kind := ([\w |]+)", sources()[file].read_text(encoding="utf-8"))
    assert declared and {*declared[1].split(" | ")} - {"Init", "KInit"} == {*kinds}


def test_the_tables_of_the_proofs_are_those_of_the_code() -> None:
    described = {
        (each.order, each.ordered_reads, each.cpu, each.module) for each in tables() if each.module != "DeployedTable"
    }
    plain = {*product(PROVEN_ORDERS, (False, True), ("sc", "tso"), ("Table",))}
    assert described == plain | {*product(PROVEN_ORDERS, (False, True), ("sc",), ("RemoteAtomicsTable",))}
    for table in tables():
        if table.module == "DeployedTable":
            continue
        kinds = ALL_KINDS[table.module][1]
        model = Model(order=table.order, ordered_reads=table.ordered_reads, cpu=table.cpu)
        issue_model = replace(model, cpu="sc")
        nfo, *lines = printed().tables[table.name].split("\n")
        assert nfo == f"nfo {'true' if nfo_pairs_of(model) else 'false'}"
        cells = [line.split() for line in lines]
        assert {(a, b) for a, b, _ in cells} == {(a, b) for a in kinds for b in kinds}
        assert len(cells) == len(kinds) ** 2
        for earlier, later, cell in cells:
            events = (kinds[earlier], kinds[later])
            assert ippo_scope(*events, model) == ippo_scope(*events, issue_model)
            if table.cpu == "tso":
                # the table of what is observed: a cell of issue alone is none here
                assert {"All": "all", "Qp": "qp"}.get(cell, "-") == oppo_scope(*events, model), (table.name, earlier, later)
            else:
                assert SCOPES[ippo_scope(*events, model), oppo_scope(*events, model)] == cell, (table.name, earlier, later)


@pytest.mark.parametrize(("file", "facts"), [("Hardware", FACTS), ("RemoteAtomicsHardware", ATOMIC_FACTS)])
def test_the_facts_about_tables_are_those_of_the_proofs(file: str, facts: Mapping[str, object]) -> None:
    assert set(re.findall(r'\("(\w+)", fact_\w+\)', sources()[file].read_text(encoding="utf-8"))) == set(facts)


def test_the_tables_of_the_judge_are_those_of_the_code() -> None:
    listed = [each for each in tables() if each.module == "DeployedTable"]
    described = {(each.order, each.ordered_reads, each.cpu, each.relation) for each in listed}
    assert described == {*product(PROVEN_ORDERS, (False, True), ("sc", "tso"), ("ippo", "oppo"))}
    kinds = ALL_KINDS["DeployedTable"][1]
    for table in listed:
        model = Model(order=table.order, ordered_reads=table.ordered_reads, cpu=table.cpu)
        scope = ippo_scope if table.relation == "ippo" else oppo_scope
        kept = {"All": "all", "Qp": "qp", "Never": "-"} | ({"Issue": "qp"} if table.relation == "ippo" else {})
        nfo, *lines = printed().tables[table.name].split("\n")
        assert nfo == f"nfo {'true' if nfo_pairs_of(model) else 'false'}"
        cells = [line.split() for line in lines]
        assert {(a, b) for a, b, _ in cells} == {*product(kinds, repeat=2)}
        assert len(cells) == len(kinds) ** 2
        for earlier, later, cell in cells:
            assert kept[cell] == scope(kinds[earlier], kinds[later], model), (table.name, earlier, later)


def test_changes_of_cells_are_of_the_tables_and_of_all_cells() -> None:
    atomic = (f"{order} RemoteAtomicsTable" for order in PROVEN_ORDERS)
    for each, table in zip(changes(), ("default", "multipath", *atomic), strict=True):
        kinds, facts = (ATOMIC_KINDS, ATOMIC_FACTS) if "RemoteAtomics" in each.module else (KINDS_OF_ROWS, FACTS)
        cells = listed(each.name)
        assert {*cells} == {*product(kinds, repeat=2)}
        lines = (line.split() for line in printed().tables[table].split("\n")[1:])
        shown = {(earlier, later): cell for earlier, later, cell in lines}
        assert {pair: current(values) for pair, values in cells.items()} == {pair: shown[pair] for pair in cells}
        assert {fact for values in cells.values() for each in values.values() for fact in each} <= set(facts)


def test_every_fact_about_tables_is_needed() -> None:
    """Some change of a cell is refused for it alone; of those named here none is, as other facts fail with them, or as it is
    asked with store buffers only (card_row)."""
    assert set(FACTS) - needed("default") == {"operation", "flush_chain", "flush_poll", "card_row"}
    assert set(ATOMIC_FACTS) - needed(*ATOMIC_HARDWARE) == {"operation", "flush_poll"}


def needed(*names: str) -> set[str]:
    """The facts that alone do not hold after some change."""
    alone = (facts for name in names for values in listed(name).values() for facts in values.values() if len(facts) == 1)
    return {fact for (fact,) in alone}


@pytest.mark.ci
def test_coq_prints_what_is_kept() -> None:
    """Statements, axioms and tables; another version of Coq may break lines elsewhere."""
    if reason := not_compiled():
        pytest.skip(f"not run: {reason}")
    now, kept = ask_coq(), printed()
    assert (now.axioms, now.tables, now.changes) == (kept.axioms, kept.tables, kept.changes)
    assert {name: text.split() for name, text in now.statements.items()} == {
        name: text.split() for name, text in kept.statements.items()
    }
