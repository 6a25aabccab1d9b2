"""The language server: what the room knows about a program, as the Language Server Protocol says it, over pygls.

Errors and warnings are there at once; the verdict comes later, from `rdma-robust check` in a process that ends when the text
has changed.
"""

from __future__ import annotations

import asyncio
import os
from functools import partial
from typing import Any, Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from rdma_robust import __version__
from rdma_robust.editing import findings
from rdma_robust.editing.declared_names import Names, Symbol
from rdma_robust.editing.findings import Finding
from rdma_robust.editing.hovers import hover
from rdma_robust.editing.opened_texts import DECIDING, Deciding, Opened
from rdma_robust.editing.places import Places
from rdma_robust.editing.typing_aid import OfferKind, RenameError, completions, renaming
from rdma_robust.errors import NO_SPAN, Diagnostic, ProgramError
from rdma_robust.language.load import format_source
from rdma_robust.messages.language.message_printer import format_messages
from rdma_robust.messages.language.recognised import is_messages

SOURCE: Final = "rdma-robust"
PAUSE_S: Final = 0.4
"""Seconds without a change after which a text is decided."""

SEVERITIES: Final = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "information": lsp.DiagnosticSeverity.Information,
}
KINDS: Final = {
    "constant": lsp.SymbolKind.Constant,
    "node": lsp.SymbolKind.Namespace,
    "variable": lsp.SymbolKind.Variable,
    "array": lsp.SymbolKind.Array,
    "thread": lsp.SymbolKind.Function,
    "register": lsp.SymbolKind.Variable,
    "macro": lsp.SymbolKind.Method,
    "parameter": lsp.SymbolKind.TypeParameter,
    "counter": lsp.SymbolKind.Constant,
    "label": lsp.SymbolKind.Key,
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
    "counter": lsp.CompletionItemKind.Constant,
    "label": lsp.CompletionItemKind.Reference,
}


class ProgramServer(LanguageServer):
    """A server for `.rdma` programs, and for errors and the layout of `.mp` programs; `timeout` is in seconds, for each
    decision.
    """

    def __init__(self, timeout: float) -> None:
        # Whole texts: there is then one idea of what a line is, that of the spans.
        super().__init__(SOURCE, __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self.timeout = timeout
        self.opened: dict[str, Opened] = {}

    def text(self, uri: str) -> str:
        return self.workspace.get_text_document(uri).source

    def is_messages(self, uri: str) -> bool:
        """Return whether a text is one of `.mp`."""
        return is_messages(self.text(uri), _name(uri))

    def program(self, uri: str) -> str:
        """Return a text in which names are looked for: nothing for one of `.mp`, of which none are known."""
        return "" if self.is_messages(uri) else self.text(uri)

    def places(self, uri: str) -> Places:
        return Places(self.text(uri), self.workspace.position_codec)

    def changed(self, uri: str, version: int | None) -> None:
        """Show what is wrong with a text, and begin to decide it."""
        one = self.opened.setdefault(uri, Opened())
        one.stop()
        one.version, one.found, one.verdict, one.claims, one.repair = version, [], DECIDING, "", None
        one.asked, one.no_repair = "verdict", ""
        one.diagnostics = findings.diagnostics_of(self.text(uri), _name(uri))
        if findings.is_wrong(one.diagnostics):
            one.verdict = "not decided: the program has errors"
        elif self.is_messages(uri):
            one.verdict = ""
        else:
            one.task = asyncio.ensure_future(self._decide(uri, one))
        self.publish(uri)

    def publish(self, uri: str) -> None:
        one, places = self.opened[uri], self.places(uri)
        shown = [_diagnostic(each, places) for each in one.diagnostics]
        shown += [_finding(each, places, uri) for each in one.found]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown, one.version))

    async def _decide(self, uri: str, one: Opened) -> None:
        await asyncio.sleep(PAUSE_S)
        text = self.text(uri)
        deciding = Deciding(one, text, _folder(uri), self.timeout, partial(self._show, uri))
        await deciding.all(for_proofs=findings.is_for_proofs(text, _name(uri)))

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


def opened(server: ProgramServer, params: lsp.DidOpenTextDocumentParams) -> None:
    server.changed(params.text_document.uri, params.text_document.version)


def edited(server: ProgramServer, params: lsp.DidChangeTextDocumentParams) -> None:
    server.changed(params.text_document.uri, params.text_document.version)


def closed(server: ProgramServer, params: lsp.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    one = server.opened.pop(uri, None)
    if one is not None:
        one.stop()
    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


def hovered(server: ProgramServer, params: lsp.HoverParams) -> lsp.Hover | None:
    uri = params.text_document.uri
    places = server.places(uri)
    found = hover(server.program(uri), places.offset(params.position))
    if found is None:
        return None
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, found.text), places.range(found.span))


def defined(server: ProgramServer, params: lsp.DefinitionParams) -> lsp.Location | None:
    _, symbol = _named(server, params)
    uri = params.text_document.uri
    return None if symbol is None else lsp.Location(uri, server.places(uri).range(symbol.span))


def referred(server: ProgramServer, params: lsp.ReferenceParams) -> list[lsp.Location]:
    names, symbol = _named(server, params)
    uri, places = params.text_document.uri, server.places(params.text_document.uri)
    found = names.of(symbol) if symbol else []
    wanted = [o for o in found if params.context.include_declaration or o.span != o.symbol.span]
    return [lsp.Location(uri, places.range(o.span)) for o in wanted]


def highlighted(server: ProgramServer, params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
    names, symbol = _named(server, params)
    places = server.places(params.text_document.uri)
    return [lsp.DocumentHighlight(places.range(o.span)) for o in (names.of(symbol) if symbol else [])]


def outlined(server: ProgramServer, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    places, symbols = server.places(params.text_document.uri), Names(server.program(params.text_document.uri)).symbols

    def shown(symbol: Symbol) -> lsp.DocumentSymbol:
        inner = [shown(s) for s in symbols if s.owner == symbol.name and _inside(s, symbol)]
        kind, whole, name = KINDS[symbol.kind], places.range(symbol.whole), places.range(symbol.span)
        return lsp.DocumentSymbol(symbol.name, kind, whole, name, symbol.kind, children=inner)

    return [shown(symbol) for symbol in symbols if not symbol.owner]


def formatted(server: ProgramServer, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
    uri = params.text_document.uri
    text = server.text(uri)
    try:
        result = (format_messages if server.is_messages(uri) else format_source)(text, _name(uri))
    except ProgramError:
        return None
    return [] if result == text else [lsp.TextEdit(server.places(uri).whole(), result)]


def lenses(server: ProgramServer, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    one = server.opened.get(params.text_document.uri)
    if one is None:
        return []
    top = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    return [lsp.CodeLens(top, lsp.Command(said, "")) for said in (one.verdict, one.claims, one.no_repair) if said]


def completed(server: ProgramServer, params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
    uri = params.text_document.uri
    if server.is_messages(uri):
        return []
    offers = completions(server.text(uri), server.places(uri).offset(params.position))
    return [lsp.CompletionItem(offer.text, kind=OFFERED[offer.kind], detail=offer.detail) for offer in offers]


def renamable(server: ProgramServer, params: lsp.PrepareRenameParams) -> lsp.Range | None:
    uri = params.text_document.uri
    places = server.places(uri)
    found = Names(server.program(uri)).at(places.offset(params.position))
    return None if found is None else places.range(found.span)


def renamed(server: ProgramServer, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    """Rename, unless the program would then be another one or none."""
    uri = params.text_document.uri
    text, places = server.program(uri), server.places(uri)
    try:
        spans = renaming(text, places.offset(params.position), params.new_name)
    except RenameError as error:
        raise JsonRpcInvalidParams(str(error)) from None
    return lsp.WorkspaceEdit({uri: [lsp.TextEdit(places.range(span), params.new_name) for span in spans]})


def actions(server: ProgramServer, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
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
    if one.repair is not None:
        changes = [lsp.TextEdit(places.between(*piece[:4]), piece[4]) for piece in one.repair.pieces]
        shown_there = (_finding(f, places, uri) for f in one.found if f.code == one.repair.about)
        touched = [shown for shown in shown_there if _touch(shown.range, params.range)]
        found += [_action(uri, one.version, one.repair.title, changes, shown) for shown in touched[:1]]
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


def _named(server: ProgramServer, params: _Placed) -> tuple[Names, Symbol | None]:
    uri = params.text_document.uri
    names = Names(server.program(uri))
    found = names.at(server.places(uri).offset(params.position))
    return names, found.symbol if found else None


def _inside(symbol: Symbol, outer: Symbol) -> bool:
    return outer.whole.start <= symbol.span.start and symbol.span.end <= outer.whole.end


def _diagnostic(found: Diagnostic, places: Places) -> lsp.Diagnostic:
    where = places.range(found.span) if found.span != NO_SPAN else lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    return lsp.Diagnostic(where, findings.in_words(found), SEVERITIES[found.severity], found.code, source=SOURCE)


def _finding(found: Finding, places: Places, uri: str) -> lsp.Diagnostic:
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(uri, places.rest_of_line(each.line, 1)), each.message)
        for each in found.related
    ]
    where = places.rest_of_line(found.line, found.column)
    severity = SEVERITIES[found.severity]
    return lsp.Diagnostic(where, found.message, severity, found.code, source=SOURCE, related_information=related)


def _name(uri: str) -> str:
    return os.path.basename(to_fs_path(uri) or uri)


def _folder(uri: str) -> str | None:
    path = to_fs_path(uri)
    folder = os.path.dirname(path) if path else None
    return folder if folder and os.path.isdir(folder) else None


FEATURES: Final[dict[str, Any]] = {
    lsp.TEXT_DOCUMENT_DID_OPEN: opened,
    lsp.TEXT_DOCUMENT_DID_CHANGE: edited,
    lsp.TEXT_DOCUMENT_DID_CLOSE: closed,
    lsp.TEXT_DOCUMENT_HOVER: hovered,
    lsp.TEXT_DOCUMENT_DEFINITION: defined,
    lsp.TEXT_DOCUMENT_REFERENCES: referred,
    lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: highlighted,
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: outlined,
    lsp.TEXT_DOCUMENT_FORMATTING: formatted,
    lsp.TEXT_DOCUMENT_CODE_LENS: lenses,
    lsp.TEXT_DOCUMENT_CODE_ACTION: actions,
    lsp.TEXT_DOCUMENT_COMPLETION: completed,
    lsp.TEXT_DOCUMENT_PREPARE_RENAME: renamable,
    lsp.TEXT_DOCUMENT_RENAME: renamed,
}
"""What answers each request."""

OPTIONS: Final[dict[str, Any]] = {
    lsp.TEXT_DOCUMENT_CODE_ACTION: lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]),
    lsp.TEXT_DOCUMENT_COMPLETION: lsp.CompletionOptions(trigger_characters=["."]),
    lsp.TEXT_DOCUMENT_RENAME: lsp.RenameOptions(prepare_provider=True),
}
"""What is said of an answer when the client asks what there is."""
