"""Order tables that programs name, by a file beside them or by flags of libfabric."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from rdma_robust import check
from rdma_robust.build import ProgramBuilder
from rdma_robust.certify.checker import verify
from rdma_robust.cli.watching import WatchedFiles
from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.evidence.produce import robustness_certificate
from rdma_robust.frame.report_part import AskedFile
from rdma_robust.language.load import OF_NO_FILE, load_program
from rdma_robust.language.syntax.formatter import format_source
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.orders import order_name
from rdma_robust.orders.fi_flags import fi_order
from rdma_robust.orders.named_tables import MOST
from rdma_robust.pipeline import check_text
from tests.conftest import FLAG_BEHIND_DATA, Cli
from tests.support.editor import Editor, session

TABLE = 'name = "mine"\nbased-on = "default"\n[cells]\n"nrW nrW" = "-"\n'
PROGRAM = 'hardware order "mine.toml"\n' + FLAG_BEHIND_DATA


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """A folder with a program and the table that it names."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/mine.toml").write_text(TABLE)
    (tmp_path / "in/p.rdma").write_text(PROGRAM)
    return tmp_path / "in"


def order_of(text: str, file: str) -> str | None:
    return load_program(text, file).hardware.order


def refused(text: str, file: str) -> str:
    with pytest.raises(ProgramError) as caught:
        load_program(text, file)
    (found,) = caught.value.diagnostics
    assert found.code == "RR828"
    return f"{found.message} | {found.hint}"


def test_the_table_is_found_from_the_folder_of_the_program(cli: Cli, named: Path) -> None:
    order = order_of(PROGRAM, str(named / "p.rdma"))
    assert order is not None and order_name(order) == "mine"
    assert order_of(PROGRAM, f"{named}/p.rdma (N=3)") == order
    assert "1 not robust" in cli("check", "in/p.rdma").stdout
    assert cli("check", "-", stdin=PROGRAM).returncode == 2
    os.chdir(named)
    assert cli("check", "-", stdin=PROGRAM).returncode == 1
    (named / "mine.toml").write_text(TABLE.replace('"-"', '"qp"'))
    assert cli("check", "p.rdma").returncode == 0


def test_flags_are_their_table(tmp_path: Path) -> None:
    text = PROGRAM.replace('"mine.toml"', "fi( RMA_WAW,fi_order_sas )")
    assert order_of(text, "p") == fi_order("fi(RMA_WAW, SAS)")
    assert format_source(text, "p").startswith("hardware order fi(RMA_WAW, fi_order_sas)\n")
    assert format_source(PROGRAM, "p").startswith('hardware order "mine.toml"\n')
    assert "no order of messages" in refused(text.replace("SAS", "").replace("sas", "SAX"), str(tmp_path / "p"))


def test_what_needs_no_order_reads_no_table() -> None:
    program = load_program(PROGRAM, OF_NO_FILE)
    assert program.hardware.order is None and len(program.threads) == 2


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("sekrit = 1\n" + TABLE, "line 1, column 1: an unknown word, or no name [RR822]"),
        ("sekrit\n", "it is no TOML [RR821]"),
        (
            TABLE + '"nrX sekrit" = "-"\n"nrR nrW" = "sekrit"\n',
            "line 5, column 1: no cell that a table can change [RR826]; line 6",
        ),
        (TABLE.replace('"default"', '"sekrit"'), "line 2, column 1: it is based on no order table [RR824]"),
        ("#" * (MOST + 1), "larger than 256 KiB"),
        (b"\xff\xfe", "no text in UTF-8"),
    ],
)
def test_of_mistakes_in_a_table_places_are_told_and_nothing_else(named: Path, table: str | bytes, said: str) -> None:
    (named / "mine.toml").write_bytes(table if isinstance(table, bytes) else table.encode())
    told = refused(PROGRAM, str(named / "p.rdma"))
    assert said in told and "sekrit" not in told


@pytest.mark.parametrize("name", ["/etc/mine.toml", "mine", "../in", "", "none.toml", "pipe.toml", "folder.toml"])
def test_only_files_of_tables_are_read(named: Path, name: str) -> None:
    os.mkfifo(named / "pipe.toml")
    (named / "folder.toml").mkdir()
    assert refused(PROGRAM.replace("mine.toml", name), str(named / "p.rdma"))


def test_a_text_in_quotation_marks_has_no_other_meaning() -> None:
    for text in ('hardware cpu "tso"\n', 'node A { x = "1" }\n', 'thread T on "A" { }\n', 'program "p"\n'):
        with pytest.raises(ProgramError, match="RR106"):
            load_program(text, "p")


def test_a_certificate_brings_the_table_along(named: Path) -> None:
    text, file = PROGRAM, str(named / "p.rdma")
    certificate = robustness_certificate(check_text(text, file, CheckOptions()), CheckOptions(), Limits(), None)
    assert certificate is not None
    (named / "mine.toml").unlink()
    assert verify(certificate, text, file).model.endswith("order mine")


def test_watching_looks_at_the_tables_of_programs(named: Path) -> None:
    table = os.path.realpath(named / "mine.toml")
    for argument in (named / "p.rdma", named):
        watched = WatchedFiles([str(argument)])
        assert watched.counts(None, table) and not watched.counts(None, f"{named}/other.toml")


def test_answers_are_kept_by_what_the_table_says(named: Path) -> None:
    file = str(named / "p.rdma")
    first = AskedFile("check", file, PROGRAM, {}, {}).keys()
    assert first == AskedFile("check", file, PROGRAM, {}, {}).keys()
    (named / "mine.toml").write_text(TABLE + "\n")
    assert first[0] != AskedFile("check", file, PROGRAM, {}, {}).keys()[0]
    assert "parts" not in AskedFile("check", file, PROGRAM.replace('"mine.toml"', "relaxed"), {}, {}).keys()[0]


def test_a_program_in_another_folder_names_the_same_table(cli: Cli, named: Path) -> None:
    assert cli("repair", "in/p.rdma", "-o", "new.rdma").returncode == 0
    assert (named.parent / "new.rdma").read_text().startswith('hardware order "in/mine.toml"\n')
    assert cli("check", "new.rdma").returncode == 0
    assert cli("fmt", "in/p.rdma", "-o", "formatted.rdma").returncode == 0
    assert cli("check", "formatted.rdma").returncode == 1


def test_a_file_in_settings_is_named_from_their_folder(cli: Cli, named: Path) -> None:
    (named / "rdma-robust.toml").write_text('order = "mine.toml"\n')
    (named / "below").mkdir()
    (named / "below/q.rdma").write_text(PROGRAM.partition("\n")[2])
    os.chdir(named / "below")
    assert cli("check", "q.rdma").returncode == 1
    assert cli("check", "q.rdma", "--order", "default").returncode == 0


def test_the_builder_names_tables(named: Path) -> None:
    def built(order: str) -> str | None:
        builder = ProgramBuilder("p").hardware(order=order)
        builder.node("A")
        builder.thread("T", "A").skip()
        return builder.program(str(named / "p.rdma")).hardware.order

    assert built("mine.toml") == order_of(PROGRAM, str(named / "p.rdma"))
    assert built("fi(SAS)") == fi_order("fi(SAS)")
    assert built("ooo-dp") == "ooo-dp"
    with pytest.raises(UsageError):
        built('a".toml')


@pytest.mark.ci
def test_an_editor_decides_anew_when_the_table_changes(named: Path) -> None:
    async def talk(editor: Editor) -> None:
        await editor.until(lambda messages: any(each.startswith("not robust") for each in messages))
        table = named / "mine.toml"
        table.write_text(TABLE.replace('"-"', '"none"'))
        change = lsp.FileEvent(table.as_uri(), lsp.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([change]))
        await editor.until(lambda messages: any("no order table" in each for each in messages))

    session(named / "p.rdma", talk, text=PROGRAM)


def test_python_reads_the_table_beside_the_file(named: Path) -> None:
    assert check(named / "p.rdma").model.order_name == "mine"
