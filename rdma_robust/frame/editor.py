"""The questions of an editor about a text, whatever language that is in: a record of functions, and records of what they
say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, Protocol

from rdma_robust.errors import NO_SPAN, Diagnostic, RdmaRobustError, Span
from rdma_robust.frame.finding import Finding

Report = Mapping[str, Any]
"""The JSON report of a command about one text."""

SymbolKind = Literal[
    "constant",
    "node",
    "variable",
    "array",
    "thread",
    "register",
    "lane",
    "macro",
    "parameter",
    "counter",
    "label",
    "function",
    "process",
    "port",
]
OfferKind = Literal["keyword"] | SymbolKind


class RenameError(RdmaRobustError):
    """A name cannot be changed so; the text says why."""


@dataclass(frozen=True, slots=True)
class DeclaredSymbol:
    """A name that was declared at `span` (of the name) in the declaration `whole`.

    `owner` is the node of a variable, the thread or macro of a register, lane, parameter, counter or label, else
    empty.
    """

    kind: SymbolKind
    name: str
    owner: str
    span: Span
    whole: Span

    @property
    def qualified(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name at `span` that stands for `symbol`; the declaration is one, too."""

    span: Span
    symbol: DeclaredSymbol


class NamesOfText(Protocol):
    """The symbols of a text, and where they stand."""

    @property
    def symbols(self) -> Sequence[DeclaredSymbol]:
        """Everything declared, in the order of the text."""

    def at(self, offset: int) -> Occurrence | None:
        """Return what is named at the character with this 0-based offset, or just before it."""

    def of(self, symbol: DeclaredSymbol) -> Sequence[Occurrence]:
        """Return every occurrence of `symbol`."""


class NoNames:
    """The names of a text of which none are known."""

    symbols: tuple[DeclaredSymbol, ...] = ()

    def at(self, offset: int) -> None:
        """Return nothing."""

    def of(self, symbol: DeclaredSymbol) -> tuple[Occurrence, ...]:
        """Return nothing."""
        del symbol
        return ()


@dataclass(frozen=True, slots=True)
class Hover:
    """A text in Markdown about the source at `span`."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Offer:
    """A word that may come next; `detail` says what it is."""

    text: str
    kind: OfferKind
    detail: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change of the text and what it does: pieces (1-based line and column, end line and column, new text), which belong
    together. It is a fix of findings with the code `about`."""

    title: str
    pieces: tuple[tuple[int, int, int, int, str], ...]
    about: str


@dataclass
class Decision:
    """The answers of commands about a text: lines above it, findings in it, and a change that would do it good."""

    verdict: str = ""
    claims: str = ""
    no_repair: str = ""
    asked: Literal["verdict", "claims", "no_repair"] = "verdict"
    """Which of the lines above the one that is asked for now will be in, and in which it is said that there is no answer."""
    repair: Proposal | None = None
    findings: list[Finding] = field(default_factory=list)


class Asker(Protocol):
    """The way to a decision, command after command."""

    @property
    def text(self) -> str: ...

    @property
    def decision(self) -> Decision:
        """What is known by now, to be filled."""

    async def ask(self, *command: str) -> Report:
        """Return the report of a command about the text. Raises an error if it has none."""

    async def show(self) -> None:
        """Show what is known by now."""


def _no_hover(text: str, offset: int) -> None:
    del text, offset


def _no_offers(text: str, offset: int) -> tuple[Offer, ...]:
    del text, offset
    return ()


def _no_renaming(text: str, offset: int, new: str) -> NoReturn:
    del text, offset, new
    raise RenameError("there is no name here")


def _always(text: str) -> bool:
    del text
    return True


def _no_names(text: str) -> NoNames:
    del text
    return NoNames()


@dataclass(frozen=True, slots=True)
class Editor:
    """The functions that answer an editor about texts of one language; without `decide` a text is not decided while it is
    written.

    `diagnostics` returns the errors or warnings of a text of a file that no search is needed for, `names` what is declared,
    `hover` and `completions` what there is to say at, and what may follow, a 0-based offset, `renaming` where the name there
    stands, to be replaced by another; it raises RenameError. `decide` fills a decision, of those texts of which it `asks`.
    `when_saved`: a text is decided as it is saved, with the files that it includes, and not at every change.
    """

    diagnostics: Callable[[str, str], tuple[Diagnostic, ...]]
    names: Callable[[str], NamesOfText] = _no_names
    hover: Callable[[str, int], Hover | None] = _no_hover
    completions: Callable[[str, int], Sequence[Offer]] = _no_offers
    renaming: Callable[[str, int, str], Sequence[Span]] = _no_renaming
    decide: Callable[[Asker], Awaitable[None]] | None = None
    asks: Callable[[str], bool] = _always
    when_saved: bool = False


def diagnostic_words(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as one text: the message, what was expected, and the hint."""
    parts = [diagnostic.located]
    if diagnostic.span != NO_SPAN:
        parts += [f"expanded from line {origin.line}" for origin in diagnostic.span.chain()]
    if diagnostic.expected:
        parts.append(f"expected: {diagnostic.expected}")
    if diagnostic.hint:
        parts.append(f"hint: {diagnostic.hint}")
    return "\n".join(parts)
