"""The language server on C: what is wrong, refused, not robust, in the file and in what it includes, as it is saved."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from rdma_robust.editing.rdma_editor import is_asked_about
from tests.conftest import ROOT
from tests.support.editor import Editor, session

MAILBOX = (ROOT / "tests/data/mailbox.c").read_text(encoding="utf-8")
LIBRARY, _, REST = MAILBOX.partition("RR_PROCESS(B)")


def line_of(text: str, part: str) -> int:
    """Return the line in which a part of a text begins, from 0."""
    return text[: text.index(part)].count("\n")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("#include <infiniband/verbs.h>\n", True),
        ('/* x */\n#  include "shmem.h"\n', True),
        ("#include <mpi.h>\n", True),
        ("#include <stdio.h>\nint main(void) { return 0; }\n", False),
    ],
)
def test_only_c_of_the_libraries_is_asked_about(text: str, asked: bool) -> None:
    assert is_asked_about(text) == asked


@pytest.mark.ci
def test_findings_lie_in_the_file_that_they_are_about(tmp_path: Path) -> None:
    (tmp_path / "library.h").write_text(LIBRARY)
    text = f'#include <rdma_robust.h>\n#include "library.h"\nRR_PROCESS(B){REST}'
    file = tmp_path / "harness.c"
    file.write_text(text)
    header = (tmp_path / "library.h").as_uri()

    async def talk(editor: Editor) -> None:
        found: dict[str, set[tuple[object, int]]] = {}
        while ("RR010", line_of(LIBRARY, "ibv_post_send")) not in found.get(header, set()) or not found.get(editor.uri):
            shown = await editor.until(lambda _: True)
            found[shown.uri] = {(each.code, each.range.start.line) for each in shown.diagnostics}
        assert ("RR722", line_of(LIBRARY, "staging.data = 7")) in found[header]
        assert found[editor.uri] == {("RR016", line_of(text, "RR_ASSERT"))}
        (tmp_path / "library.h").write_text("#define POLLED\n" + LIBRARY)
        saved = lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(header))
        editor.client.text_document_did_save(saved)
        while found[header] or found[editor.uri]:
            shown = await editor.until(lambda _: True)
            found[shown.uri] = {(each.code, each.range.start.line) for each in shown.diagnostics}

    session(file, talk, text)


@pytest.mark.ci
def test_refusals_are_shown_with_what_to_do(tmp_path: Path) -> None:
    text = MAILBOX.replace("ibv_post_send(qp,", "ibv_post_send(other(qp),")
    file = tmp_path / "mailbox.c"
    file.write_text(text)

    async def talk(editor: Editor) -> None:
        found = await editor.until(lambda messages: any("`other` is not known" in each for each in messages))
        (refusal,) = found.diagnostics
        assert (refusal.code, refusal.range.start.line) == ("RR816", line_of(text, "ibv_post_send"))
        assert "RR_INSTEAD(other)" in refusal.message
        file.write_text(MAILBOX)
        editor.change(MAILBOX)
        editor.client.text_document_did_save(lsp.DidSaveTextDocumentParams(editor.document))
        await editor.until(lambda messages: any(each.startswith("not robust") for each in messages))

    session(file, talk, text)


@pytest.mark.ci
def test_a_library_is_shown_no_errors(tmp_path: Path) -> None:
    text = "#include <infiniband/verbs.h>\nint post(struct ibv_qp *qp) { return qp ? 0 : 1; }\n"
    file = tmp_path / "library.c"
    file.write_text(text)

    async def talk(editor: Editor) -> None:
        lenses: list[lsp.CodeLens] = []
        while not lenses or lenses[0].command is None or not lenses[0].command.title.startswith("not decided"):
            found = await editor.until(lambda _: True)
            assert not found.diagnostics
            shown = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(editor.document))
            lenses = list(shown or ())
        assert "no function is said to be a process" in str(lenses[0].command)

    session(file, talk, text)


@pytest.mark.ci
def test_a_contract_that_is_violated_is_shown(tmp_path: Path) -> None:
    text = (ROOT / "tests/data/c/contracts/scatter-first.c").read_text(encoding="utf-8")
    file = tmp_path / "scatter.c"
    file.write_text(text)

    async def talk(editor: Editor) -> None:
        found = await editor.until(lambda messages: any(each.startswith("scatter, n = 2: SGV") for each in messages))
        (violation,) = found.diagnostics
        assert (violation.code, violation.range.start.line) == ("RR033", line_of(text, "ensures"))

    session(file, talk, text)
