"""An editor that talks to a language server as an installed command: pygls' client on its standard streams, and one text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from tests.conftest import COMMAND

T = TypeVar("T")
TEXT = """\
node A { v = 0 }
node B { d = 0, f = 0 }
thread Sender on A {
  v = 1   // 𝄞 two code units, before a name:
  /* 𝄞 */ put B.d = v
  v = 2
}
outcome B.d == 2 : allowed under rdma
"""


class Editor:
    """A client with one open text."""

    def __init__(self) -> None:
        self.client = LanguageClient("editor", "1")
        self.published: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
        self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(self.published.put_nowait))
        self.uri = ""
        self.version = 0

    def change(self, text: str) -> None:
        self.version += 1
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        place = lsp.VersionedTextDocumentIdentifier(self.version, self.uri)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(place, [whole]))

    async def until(self, wanted: Callable[[list[str]], bool]) -> lsp.PublishDiagnosticsParams:
        """Return the first diagnostics published whose messages are wanted."""
        while True:
            found = await asyncio.wait_for(self.published.get(), 60)
            if wanted([d.message for d in found.diagnostics]):
                return found

    @property
    def document(self) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri)


@asynccontextmanager
async def editing(text: str, path: Path, command: str = COMMAND) -> AsyncIterator[Editor]:
    editor = Editor()
    await editor.client.start_io(command, "lsp", "--stdio", "--timeout", "60")
    await editor.client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities(), root_uri=path.parent.as_uri()))
    editor.client.initialized(lsp.InitializedParams())
    editor.uri = path.as_uri()
    item = lsp.TextDocumentItem(editor.uri, "rdma", 0, text)
    editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
    yield editor
    await editor.client.shutdown_async(None)
    editor.client.exit(None)
    await editor.client.stop()


MOST_S = 300
"""Seconds after which a server that never answers fails a test; answers take two."""


def session(path: Path, talk: Callable[[Editor], Awaitable[T]], text: str = TEXT, command: str = COMMAND) -> T:
    """Open `text` in an editor, and return what `talk` says of it."""

    async def whole() -> T:
        async with asyncio.timeout(MOST_S), editing(text, path, command) as editor:
            return await talk(editor)

    return asyncio.run(whole())


def at(text: str, word: str, after: int = 0) -> lsp.Position:
    """Return where `word` begins, in UTF-16 code units, which clients count by default."""
    offset = text.index(word) + after
    start = text.rfind("\n", 0, offset) + 1
    return lsp.Position(text.count("\n", 0, offset), len(text[start:offset].encode("utf-16-le")) // 2)
