"""The language server: what the room knows about a program, as the Language Server Protocol says it, over pygls.

Errors and warnings are there at once; verdicts come later, from commands in processes that end when the text has changed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from rdma_robust import __version__
from rdma_robust.editing.opened_texts import DECIDING, Deciding, OpenText, TextPositions
from rdma_robust.errors import NO_SPAN, Diagnostic, ProgramError
from rdma_robust.frame.editor import (
    Asker,
    Decision,
    DeclaredSymbol,
    Editor,
    NamesOfText,
    OfferKind,
    RenameError,
    diagnostic_words,
)
from rdma_robust.frame.finding import Finding
from rdma_robust.frame.registry import front_end_of

SOURCE: Final = "rdma-robust"
PAUSE_S: Final = 0.4
"""Seconds without a change after which a text is decided."""

SEVERITIES: Final = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}
KINDS: Final = {
    "constant": lsp.SymbolKind.Constant,
    "node": lsp.SymbolKind.Namespace,
    "variable": lsp.SymbolKind.Variable,
    "array": lsp.SymbolKind.Array,
    "thread": lsp.SymbolKind.Function,
    "register": lsp.SymbolKind.Variable,
    "lane": lsp.SymbolKind.Interface,
    "macro": lsp.SymbolKind.Method,
    "parameter": lsp.SymbolKind.TypeParameter,
    "counter": lsp.SymbolKind.Constant,
    "label": lsp.SymbolKind.Key,
    "function": lsp.SymbolKind.Function,
    "process": lsp.SymbolKind.Function,
    "port": lsp.SymbolKind.Interface,
}

OFFERED: Final[dict[OfferKind, lsp.CompletionItemKind]] = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "constant": lsp.CompletionItemKind.Constant,
    "node": lsp.CompletionItemKind.Module,
    "variable": lsp.CompletionItemKind.Variable,
    "array": lsp.CompletionItemKind.Variable,
    "thread": lsp.CompletionItemKind.Function,
    "register": lsp.CompletionItemKind.Field,
    "macro": lsp.CompletionItemKind.Method,
    "parameter": lsp.CompletionItemKind.TypeParameter,
    "lane": lsp.CompletionItemKind.Interface,
    "counter": lsp.CompletionItemKind.Constant,
    "label": lsp.CompletionItemKind.Reference,
    "function": lsp.CompletionItemKind.Function,
    "process": lsp.CompletionItemKind.Module,
    "port": lsp.CompletionItemKind.Interface,
}


class ProgramServer(LanguageServer):
    """A server for the programs of all tools; `timeout` is in seconds, for each decision."""

    def __init__(self, timeout: float) -> None:
        # Whole texts: there is then one idea of what a line is, that of the spans.
        super().__init__(SOURCE, __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.timeout = timeout
        self.opened: dict[str, OpenText] = {}

    def text(self, uri: str) -> str:
        return self.workspace.get_text_document(uri).source

    def editor(self, uri: str) -> Editor:
        """Return what the language of a text has for editors."""
        load = front_end_of(self.text(uri), _name(uri)).editor
        return Editor(lambda *_: ()) if load is None else load()

    def names(self, uri: str) -> NamesOfText:
        """Return the names that are declared in a text."""
        return self.editor(uri).names(self.text(uri))

    def places(self, uri: str) -> TextPositions:
        return TextPositions(self.text(uri), self.workspace.position_codec)

    def changed(self, uri: str, version: int | None, *, saved: bool = True) -> None:
        """Show what is wrong with a text, and begin to decide it; it is as `saved`, or was edited."""
        one, editor = self.opened.setdefault(uri, OpenText()), self.editor(uri)
        one.version = version
        if editor.when_saved and not saved:
            return
        one.stop()
        one.decision = Decision()
        one.diagnostics = editor.diagnostics(self.text(uri), _name(uri))
        if one.is_wrong:
            one.decision.verdict = "not decided: the program has errors"
        elif editor.decide is not None and editor.asks(self.text(uri)):
            one.decision.verdict = DECIDING
            file = to_fs_path(uri) if editor.when_saved else None
            one.task = asyncio.ensure_future(self._decide(uri, one, editor.decide, file or "-"))
        self.publish(uri)

    def publish(self, uri: str) -> None:
        one, places = self.opened[uri], self.places(uri)
        shown = [_diagnostic(each, places) for each in one.diagnostics]
        found: dict[str, list[lsp.Diagnostic]] = {uri: shown, **{each: [] for each in one.elsewhere}}
        for each in one.decision.findings:
            found.setdefault(self.place_of(each.file, uri), []).append(self.finding(each, uri))
        one.elsewhere = tuple(each for each in found if each != uri)
        for where, those in found.items():
            version = one.version if where == uri else None
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(where, those, version))

    def place_of(self, file: str, uri: str) -> str:
        """Return the address of a file that a report about a text names, from the folder of that, or of the text itself."""
        found = from_fs_path(os.path.normpath(os.path.join(_folder(uri) or "", file))) if file else None
        return found or uri

    def finding(self, found: Finding, uri: str) -> lsp.Diagnostic:
        """Return a finding about a text as the protocol has it."""

        def at(file: str, line: int | None, column: int | None) -> lsp.Location:
            where = self.place_of(file, uri)
            return lsp.Location(where, self.places(where).rest_of_line(line or 1, column or 1))

        related = [lsp.DiagnosticRelatedInformation(at(each.file, each.line, 1), each.text) for each in found.related]
        here, severity = at(found.file, found.line, found.column).range, SEVERITIES[found.level]
        return lsp.Diagnostic(here, found.message, severity, found.code, source=SOURCE, related_information=related)

    async def _decide(self, uri: str, one: OpenText, decide: Callable[[Asker], Awaitable[None]], file: str) -> None:
        await asyncio.sleep(PAUSE_S)
        show = partial(self._show, uri)
        await Deciding(one.decision, self.text(uri), _folder(uri), self.timeout, show, file).all(decide)

    async def _show(self, uri: str) -> None:
        """Show what is known by now."""
        self.publish(uri)
        if self.refreshes_lenses:
            await self.workspace_code_lens_refresh_async(None)

    @property
    def refreshes_lenses(self) -> bool:
        workspace = self.client_capabilities.workspace
        return bool(workspace and workspace.code_lens and workspace.code_lens.refresh_support)


_Placed = lsp.DefinitionParams | lsp.ReferenceParams | lsp.DocumentHighlightParams


def make_server(timeout: float) -> ProgramServer:
    """Return the server with everything that it answers."""
    server = ProgramServer(timeout)
    for method, answer in FEATURES.items():
        server.feature(method, OPTIONS.get(method))(answer)
    return server


def on_open(server: ProgramServer, params: lsp.DidOpenTextDocumentParams) -> None:
    server.changed(params.text_document.uri, params.text_document.version)


def on_edit(server: ProgramServer, params: lsp.DidChangeTextDocumentParams) -> None:
    server.changed(params.text_document.uri, params.text_document.version, saved=False)


def on_save(server: ProgramServer, params: lsp.DidSaveTextDocumentParams) -> None:
    """Decide anew what is decided as it is saved, and what is made of the file."""
    uri = params.text_document.uri
    one = server.opened.get(uri)
    if one is not None and server.editor(uri).when_saved:
        server.changed(uri, one.version)
    _parts_changed(server, [uri])


def on_files(server: ProgramServer, params: lsp.DidChangeWatchedFilesParams) -> None:
    """Decide anew what names a file that has changed, as that of an order table."""
    _parts_changed(server, [each.uri for each in params.changes])


def _parts_changed(server: ProgramServer, uris: Sequence[str]) -> None:
    changed = {os.path.realpath(path) for each in uris if (path := to_fs_path(each))}
    for uri, one in list(server.opened.items()):
        text = server.text(uri)
        parts = front_end_of(text, _name(uri)).parts if server.editor(uri).asks(text) else None
        if parts is not None and changed & {os.path.realpath(each) for each in parts(text, _name(uri))}:
            server.changed(uri, one.version)


def on_close(server: ProgramServer, params: lsp.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    one = server.opened.pop(uri, None)
    if one is not None:
        one.stop()
    for each in (uri, *(one.elsewhere if one is not None else ())):
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(each, []))


def on_hover(server: ProgramServer, params: lsp.HoverParams) -> lsp.Hover | None:
    uri = params.text_document.uri
    places = server.places(uri)
    found = server.editor(uri).hover(server.text(uri), places.offset(params.position))
    if found is None:
        return None
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, found.text), places.range(found.span))


def on_definition(server: ProgramServer, params: lsp.DefinitionParams) -> lsp.Location | None:
    _, symbol = _named(server, params)
    uri = params.text_document.uri
    return None if symbol is None else lsp.Location(uri, server.places(uri).range(symbol.span))


def on_references(server: ProgramServer, params: lsp.ReferenceParams) -> list[lsp.Location]:
    names, symbol = _named(server, params)
    uri, places = params.text_document.uri, server.places(params.text_document.uri)
    found = names.of(symbol) if symbol else []
    wanted = [o for o in found if params.context.include_declaration or o.span != o.symbol.span]
    return [lsp.Location(uri, places.range(o.span)) for o in wanted]


def on_highlight(server: ProgramServer, params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
    names, symbol = _named(server, params)
    places = server.places(params.text_document.uri)
    return [lsp.DocumentHighlight(places.range(o.span)) for o in (names.of(symbol) if symbol else [])]


def on_outline(server: ProgramServer, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    places, symbols = server.places(params.text_document.uri), server.names(params.text_document.uri).symbols

    def shown(symbol: DeclaredSymbol) -> lsp.DocumentSymbol:
        inner = [shown(s) for s in symbols if s.owner == symbol.name and _inside(s, symbol)]
        kind, whole, name = KINDS[symbol.kind], places.range(symbol.whole), places.range(symbol.span)
        return lsp.DocumentSymbol(symbol.name, kind, whole, name, symbol.kind, children=inner)

    return [shown(symbol) for symbol in symbols if not symbol.owner]


def on_formatting(server: ProgramServer, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
    uri = params.text_document.uri
    text = server.text(uri)
    layout = front_end_of(text, _name(uri)).formatted
    try:
        result = None if layout is None else layout(text, _name(uri))
    except ProgramError:
        return None
    if result is None:
        return None
    return [] if result == text else [lsp.TextEdit(server.places(uri).whole(), result)]


def on_lenses(server: ProgramServer, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    one = server.opened.get(params.text_document.uri)
    if one is None:
        return []
    top, known = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)), one.decision
    return [lsp.CodeLens(top, lsp.Command(said, "")) for said in (known.verdict, known.claims, known.no_repair) if said]


def on_completion(server: ProgramServer, params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
    uri = params.text_document.uri
    offers = server.editor(uri).completions(server.text(uri), server.places(uri).offset(params.position))
    return [lsp.CompletionItem(offer.text, kind=OFFERED[offer.kind], detail=offer.detail) for offer in offers]


def on_prepare_rename(server: ProgramServer, params: lsp.PrepareRenameParams) -> lsp.Range | None:
    uri = params.text_document.uri
    places = server.places(uri)
    found = server.names(uri).at(places.offset(params.position))
    return None if found is None else places.range(found.span)


def on_rename(server: ProgramServer, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    """Rename, unless the program would then be another one or none."""
    uri = params.text_document.uri
    text, places = server.text(uri), server.places(uri)
    try:
        spans = server.editor(uri).renaming(text, places.offset(params.position), params.new_name)
    except RenameError as error:
        raise JsonRpcInvalidParams(str(error)) from None
    return lsp.WorkspaceEdit({uri: [lsp.TextEdit(places.range(span), params.new_name) for span in spans]})


def on_actions(server: ProgramServer, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """Offer what hints propose, and the repair of a program that is not robust, or not safe."""
    uri = params.text_document.uri
    one = server.opened.get(uri)
    if one is None:
        return []
    places = server.places(uri)
    found = []
    for each in one.diagnostics:
        shown = _diagnostic(each, places)
        if each.edits and _touch(shown.range, params.range):
            changes = [lsp.TextEdit(places.range(edit.span), edit.text) for edit in each.edits]
            found.append(_action(uri, one.version, each.hint, changes, shown))
    repair = one.decision.repair
    if repair is not None:
        changes = [lsp.TextEdit(places.between(*piece[:4]), piece[4]) for piece in repair.pieces]
        shown_there = (server.finding(each, uri) for each in one.decision.findings if each.code == repair.about)
        touched = [shown for shown in shown_there if _touch(shown.range, params.range)]
        found += [_action(uri, one.version, repair.title, changes, shown) for shown in touched[:1]]
    return found


def _action(uri: str, version: int | None, title: str, edits: list[lsp.TextEdit], about: lsp.Diagnostic) -> lsp.CodeAction:
    """Return a quick fix that changes the text as it was in this version, all edits at once."""
    document = lsp.OptionalVersionedTextDocumentIdentifier(uri, version)
    change = lsp.WorkspaceEdit(document_changes=[lsp.TextDocumentEdit(document, list(edits))])
    return lsp.CodeAction(title, lsp.CodeActionKind.QuickFix, [about], edit=change)


def _touch(one: lsp.Range, other: lsp.Range) -> bool:
    def place(position: lsp.Position) -> tuple[int, int]:
        return position.line, position.character

    return place(one.start) <= place(other.end) and place(other.start) <= place(one.end)


def _named(server: ProgramServer, params: _Placed) -> tuple[NamesOfText, DeclaredSymbol | None]:
    uri = params.text_document.uri
    names = server.names(uri)
    found = names.at(server.places(uri).offset(params.position))
    return names, found.symbol if found else None


def _inside(symbol: DeclaredSymbol, outer: DeclaredSymbol) -> bool:
    return outer.whole.start <= symbol.span.start and symbol.span.end <= outer.whole.end


def _diagnostic(found: Diagnostic, places: TextPositions) -> lsp.Diagnostic:
    where = places.range(found.span) if found.span != NO_SPAN else lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    return lsp.Diagnostic(where, diagnostic_words(found), SEVERITIES[found.severity], found.code, source=SOURCE)


def _name(uri: str) -> str:
    """Return the file of a text, from which it may name others; of one that has none, the end of its address."""
    return to_fs_path(uri) or os.path.basename(uri)


def _folder(uri: str) -> str | None:
    path = to_fs_path(uri)
    folder = os.path.dirname(path) if path else None
    return folder if folder and os.path.isdir(folder) else None


FEATURES: Final[dict[str, Any]] = {
    lsp.TEXT_DOCUMENT_DID_OPEN: on_open,
    lsp.TEXT_DOCUMENT_DID_CHANGE: on_edit,
    lsp.TEXT_DOCUMENT_DID_SAVE: on_save,
    lsp.TEXT_DOCUMENT_DID_CLOSE: on_close,
    lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: on_files,
    lsp.TEXT_DOCUMENT_HOVER: on_hover,
    lsp.TEXT_DOCUMENT_DEFINITION: on_definition,
    lsp.TEXT_DOCUMENT_REFERENCES: on_references,
    lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: on_highlight,
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: on_outline,
    lsp.TEXT_DOCUMENT_FORMATTING: on_formatting,
    lsp.TEXT_DOCUMENT_CODE_LENS: on_lenses,
    lsp.TEXT_DOCUMENT_CODE_ACTION: on_actions,
    lsp.TEXT_DOCUMENT_COMPLETION: on_completion,
    lsp.TEXT_DOCUMENT_PREPARE_RENAME: on_prepare_rename,
    lsp.TEXT_DOCUMENT_RENAME: on_rename,
}
"""What answers each request."""

OPTIONS: Final[dict[str, Any]] = {
    lsp.TEXT_DOCUMENT_CODE_ACTION: lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]),
    lsp.TEXT_DOCUMENT_COMPLETION: lsp.CompletionOptions(trigger_characters=["."]),
    lsp.TEXT_DOCUMENT_RENAME: lsp.RenameOptions(prepare_provider=True),
}
"""What is said of an answer when the client asks what there is."""
