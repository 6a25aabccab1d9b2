"""The language server as an editor meets it: the installed command, and pygls' client on its standard streams."""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from rdma_robust.editing.rdma_editor import no_repair_line
from tests.conftest import Cli
from tests.support.editor import TEXT, Editor, at, session
from tests.support.hostile import ran, shadow_modules

T = TypeVar("T")


@pytest.mark.ci
def test_nothing_of_the_folder_of_a_text_is_run(tmp_path: Path) -> None:
    shadow_modules(tmp_path)

    async def talk(editor: Editor) -> None:
        await editor.until(lambda messages: any(m.startswith("not robust") for m in messages))

    session(tmp_path / "one.rdma", talk)
    assert ran(tmp_path) == ""


@pytest.mark.ci
def test_the_verdict_comes_with_the_reordering_at_its_statement(tmp_path: Path) -> None:
    async def talk(editor: Editor) -> None:
        found = await editor.until(lambda messages: any(m.startswith("not robust") for m in messages))
        finding = next(d for d in found.diagnostics if d.message.startswith("not robust"))
        assert (finding.code, finding.range.start) == ("RR010", at(TEXT, "put B.d"))
        assert finding.range.end == at(TEXT, "put B.d = v", len("put B.d = v"))
        assert {r.location.range.start.line for r in finding.related_information or ()} >= {4, 5}
        lenses = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(editor.document))
        assert next(lens.command.title for lens in lenses or () if lens.command) == "not robust"

    session(tmp_path / "one.rdma", talk)


@pytest.mark.ci
def test_claims_and_hangs_are_shown_where_they_are(tmp_path: Path) -> None:
    text = TEXT.replace("v = 2\n}", "await v == 2\n  assert v == 2\n}")

    async def talk(editor: Editor) -> None:
        found = await editor.until(lambda messages: any(m.startswith("deadlock") for m in messages))
        shown = {(d.code, d.range.start.line, d.message.partition(":")[0]) for d in found.diagnostics}
        assert {("RR016", 5, "deadlock"), ("RR017", 6, "about nothing"), ("RR016", 8, "violated")} <= shown
        lenses = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(editor.document))
        assert [lens.command.title for lens in lenses or () if lens.command] == [
            "robust",
            "claims: 2 violated, 1 about nothing",
        ]

    session(tmp_path / "one.rdma", talk, text)


def test_lints_are_shown_and_ignored_as_comments_say(tmp_path: Path) -> None:
    async def talk(editor: Editor) -> None:
        found = await editor.until(lambda messages: any("was polled" in m for m in messages))
        (warning,) = (d for d in found.diagnostics if d.code == "RR722")
        assert (warning.severity, warning.range.start) == (lsp.DiagnosticSeverity.Warning, at(TEXT, "v = 2"))
        editor.change(TEXT.replace("v = 2", "v = 2 // rdma-robust: ignore RR722"))
        await editor.until(lambda messages: not any("was polled" in m for m in messages))

    session(tmp_path / "one.rdma", talk)


def test_errors_appear_and_go_as_one_types(tmp_path: Path) -> None:
    async def talk(editor: Editor) -> None:
        editor.change(TEXT.replace("B.d = v", "B.dd = v"))
        found = await editor.until(lambda messages: any("no variable `dd`" in m for m in messages))
        assert [d.severity for d in found.diagnostics] == [lsp.DiagnosticSeverity.Error]
        assert "did you mean `d`" in found.diagnostics[0].message
        assert str(found.diagnostics[0].code).startswith("RR")
        assert found.version == 1
        editor.change(TEXT.replace("put B.d = v", "put B.d = v; poll B"))
        await editor.until(lambda messages: not any("dd" in m for m in messages))
        lenses = None
        while not lenses or lenses[0].command is None or lenses[0].command.title == "deciding ...":
            lenses = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(editor.document))
            await asyncio.sleep(0.1)
        assert lenses[0].command.title == "robust"

    session(tmp_path / "one.rdma", talk)


def test_hover_definition_references_rename(tmp_path: Path) -> None:
    async def talk(editor: Editor) -> None:
        client, document = editor.client, editor.document
        hover = await client.text_document_hover_async(lsp.HoverParams(document, at(TEXT, "put B.d", 1)))
        assert hover is not None and "**nlR**: the NIC reads `A.v`" in hover.contents.value
        place = at(TEXT, "put B.d = v", len("put B.d = "))
        found = await client.text_document_definition_async(lsp.DefinitionParams(document, place))
        assert found.range.start == at(TEXT, "v = 0")
        context = lsp.ReferenceContext(include_declaration=True)
        uses = await client.text_document_references_async(lsp.ReferenceParams(context, document, place))
        assert [use.range.start.line for use in uses] == [0, 3, 4, 5]
        edit = await client.text_document_rename_async(lsp.RenameParams(document, place, "word"))
        assert [e.range.start for e in edit.changes[editor.uri]][2] == place
        with pytest.raises(JsonRpcException, match="is not a name"):
            await client.text_document_rename_async(lsp.RenameParams(document, place, "put"))
        outline = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
        assert [(s.name, [c.name for c in s.children]) for s in outline] == [("A", ["v"]), ("B", ["d", "f"]), ("Sender", [])]

    session(tmp_path / "one.rdma", talk)


def test_format_and_completion(tmp_path: Path) -> None:
    async def talk(editor: Editor) -> None:
        client, document = editor.client, editor.document
        options = lsp.FormattingOptions(tab_size=2, insert_spaces=True)
        edits = await client.text_document_formatting_async(lsp.DocumentFormattingParams(document, options))
        assert edits and "  // 𝄞" in edits[0].new_text and edits[0].range.end.line == TEXT.count("\n")
        offers = await client.text_document_completion_async(lsp.CompletionParams(document, at(TEXT, "B.d = v", len("B."))))
        assert [offer.label for offer in offers] == ["d", "f"]

    session(tmp_path / "one.rdma", talk)


def test_message_programs_have_errors_and_a_layout(tmp_path: Path) -> None:
    text = "proc P{\n  sned 1 to Q}\nproc Q{reg r; recv r}\n"

    async def talk(editor: Editor) -> tuple[list[str], list[lsp.TextEdit], object, object, list[lsp.CompletionItem]]:
        found = await editor.until(bool)
        editor.change(text.replace("sned", "send"))
        await editor.until(lambda messages: not messages)
        layout = await editor.client.text_document_formatting_async(
            lsp.DocumentFormattingParams(editor.document, lsp.FormattingOptions(tab_size=2, insert_spaces=True))
        )
        place = at(text, "sned")
        hover = await editor.client.text_document_hover_async(lsp.HoverParams(editor.document, place))
        symbols = await editor.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(editor.document))
        offers = await editor.client.text_document_completion_async(lsp.CompletionParams(editor.document, place))
        labels = [each for each in offers or () if isinstance(each, lsp.CompletionItem)]
        return [each.message for each in found.diagnostics], list(layout or ()), hover, symbols, labels

    messages, layout, hover, symbols, offers = session(tmp_path / "a.mp", talk, text)
    assert messages[0].startswith("`sned` begins no statement")
    assert layout[0].new_text == "proc P { send 1 to Q }\nproc Q {\n  reg r\n  recv r\n}\n"
    assert isinstance(hover, lsp.Hover) and isinstance(hover.contents, lsp.MarkupContent)
    assert hover.contents.value.startswith("`send v to P on ctl tag 3`: A message with a value")
    assert {"irecv", "Q", "bcast"} <= {each.label for each in offers or ()}
    assert not symbols


def test_without_pygls_the_command_says_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rdma_robust.cli.commands.lsp.find_spec", lambda name: None if name == "pygls" else find_spec(name))
    answer = cli("lsp")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == "error: lsp needs pygls, which is not installed here: pip install pygls [RR002]\n"


def replaced(text: str, edits: list[lsp.TextEdit]) -> str:
    """Return the text after edits, applied as a client does: from the last to the first."""

    def offset(place: lsp.Position) -> int:
        lines = text.split("\n")
        before = sum(len(line) + 1 for line in lines[: place.line])
        return before + len(lines[place.line].encode("utf-16-le")[: 2 * place.character].decode("utf-16-le"))

    for edit in sorted(edits, key=lambda e: offset(e.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


async def fixes(editor: Editor, place: lsp.Position) -> list[lsp.CodeAction]:
    where = lsp.Range(place, place)
    params = lsp.CodeActionParams(editor.document, where, lsp.CodeActionContext([]))
    return [a for a in await editor.client.text_document_code_action_async(params) or () if isinstance(a, lsp.CodeAction)]


def edits_of(action: lsp.CodeAction) -> list[lsp.TextEdit]:
    assert action.edit is not None and action.edit.document_changes
    (change,) = action.edit.document_changes
    assert isinstance(change, lsp.TextDocumentEdit)
    return [edit for edit in change.edits if isinstance(edit, lsp.TextEdit)]


def test_a_hint_is_a_quick_fix(tmp_path: Path) -> None:
    wrong = TEXT.replace("B.d = v", "B.dd = v")

    async def talk(editor: Editor) -> None:
        await editor.until(lambda messages: any("no variable `dd`" in m for m in messages))
        (action,) = await fixes(editor, at(wrong, "dd = v"))
        assert "`d`" in action.title and action.kind == lsp.CodeActionKind.QuickFix
        assert replaced(wrong, edits_of(action)) == TEXT
        assert await fixes(editor, at(wrong, "node B")) == []

    session(tmp_path / "one.rdma", talk, wrong)


@pytest.mark.ci
def test_a_repair_is_a_quick_fix(tmp_path: Path) -> None:
    async def talk(editor: Editor) -> None:
        await editor.until(lambda messages: any(m.startswith("not robust") for m in messages))
        found: list[lsp.CodeAction] = []
        while not found:
            await asyncio.sleep(0.2)
            found = await fixes(editor, at(TEXT, "put B.d"))
        (action,) = found
        assert action.title == "Make the program robust: insert poll B in Sender (cost 2, no cheaper repair exists)"
        repaired = replaced(TEXT, edits_of(action))
        assert "put B.d = v\n  poll B\n" in repaired.replace("/* 𝄞 */ ", "")
        editor.change(repaired)
        while True:
            lenses = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(editor.document))
            if lenses and lenses[0].command and lenses[0].command.title != "deciding ...":
                break
            await asyncio.sleep(0.2)
        assert lenses[0].command.title == "robust"

    session(tmp_path / "one.rdma", talk)


@pytest.mark.ci
def test_what_is_to_be_proven_is_proven_and_has_no_errors(tmp_path: Path) -> None:
    thread = "{ reg r; WORD = 1; r = OTHER; if r == 0 { cs: skip }; r = faa(n, 1) }"
    threads = [thread.replace("WORD", own).replace("OTHER", other) for own, other in ("xy", "yx")]
    text = f"""node A {{ x, y, n }}
thread T on A {threads[0]}
thread U on A {threads[1]}
invariant !(T at cs && U at cs)
expect safe under sc, unsafe under tso, safe under pso
"""

    async def talk(editor: Editor) -> None:
        found = await editor.until(lambda messages: any("violated" in m for m in messages))
        shown = {(d.code, d.severity, d.message) for d in found.diagnostics}
        said = "!(T at cs && U at cs)"
        assert shown == {
            ("RR016", lsp.DiagnosticSeverity.Information, f"violated under tso: {said}"),
            ("RR016", lsp.DiagnosticSeverity.Error, f"violated under pso: {said}"),
        }
        assert {d.range.start.line for d in found.diagnostics} == {3}
        lenses = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(editor.document))
        assert [lens.command.title for lens in lenses or () if lens.command] == [
            "safe under sc; unsafe under tso; unsafe under pso, but `expect safe`"
        ]
        fixed: list[lsp.CodeAction] = []
        while not fixed:
            await asyncio.sleep(0.2)
            fixed = await fixes(editor, at(text, "invariant"))
        assert fixed[0].title == (
            "Make the program safe under pso: insert mfence in T, mfence in U (cost 2, no cheaper repair exists)"
        )
        assert replaced(text, edits_of(fixed[0])).count("= 1; mfence; r = ") == 2

    session(tmp_path / "one.rdma", talk, text)


async def lens_titles(editor: Editor) -> list[str]:
    lenses = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(editor.document))
    return [lens.command.title for lens in lenses or () if lens.command]


def test_a_repair_that_is_not_found_is_said(cli: Cli) -> None:
    report = json.loads(cli("repair", "--timeout", "0.001", "--format", "json", "-", stdin=TEXT).stdout)
    assert report["status"] == "unknown"
    assert no_repair_line(report).startswith("no repair found: reached the time limit")
    report = json.loads(cli("repair", "--format", "json", "-", stdin=TEXT).stdout)
    assert no_repair_line(report) == ""


@pytest.mark.parametrize(
    ("command", "line"),
    [
        pytest.param("check", "no verdict", marks=pytest.mark.ci),
        pytest.param("verify", "no claims", marks=pytest.mark.ci),
        pytest.param("repair", "no repair", marks=pytest.mark.ci),
    ],
)
def test_a_command_that_says_nothing_is_said_in_its_line(command: str, line: str, tmp_path: Path) -> None:
    """Whatever the command prints before its report, as libraries do past Python."""
    bad = tmp_path / "bin"
    bad.mkdir()
    code = f"""import sys
from rdma_robust.editing import language_server as server, opened_texts as texts
asked = texts.ask_command
async def ask(arguments, *of):
    if arguments[0] == {command!r}:
        raise texts.NoAnswer("Running a library, 1.16.0")
    return await asked(arguments, *of)
texts.ask_command = ask
server.make_server(60).start_io()
"""
    (bad / "server").write_text(f"#!{sys.executable} -P\n{code}")
    (bad / "server").chmod(0o755)

    async def talk(editor: Editor) -> None:
        while not any(each == f"{line}: no answer: Running a library, 1.16.0" for each in await lens_titles(editor)):
            await asyncio.sleep(0.2)

    session(tmp_path / "one.rdma", talk, command=str(bad / "server"))
