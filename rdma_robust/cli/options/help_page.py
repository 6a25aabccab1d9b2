"""Help that fits the terminal: commands in groups, options in groups, lists whose second column wraps.

Written here and not by the parser's library, which breaks the lists of a help text or leaves them too wide, and knows groups
only by way of rich, which takes longer to load than the help to print.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from rdma_robust.frame import registry
from rdma_robust.frame.formats.columns import Column, Columns
from rdma_robust.frame.shell.colour import When, choose
from rdma_robust.frame.shell.defaults import MOST_MIB
from rdma_robust.frame.shell.output import FALLBACK, width_of_output
from rdma_robust.text import filled

WIDEST: Final = 110
TERM_PART: Final = 0.36
"""Of the width, for the first column of a list at most."""
COMMAND: Final = "rdma-robust "
OTHER: Final = "Other"
EXAMPLES: Final = "Examples"

OPTION_GROUPS: Final = {
    "Model and search": (
        "instrumentation",
        "engine",
        "kernel",
        "reductions",
        "ordered_reads",
        "cpu",
        "atomics",
        "order",
        "recv_depth",
        "send_depth",
        "rnr",
        "await_loops",
        "self_check",
        "model",
        "models",
        "reduction",
        "bound",
        "buffer",
        "loop_bound",
        "matches",
        "procs",
        "only",
        "mode",
    ),
    "Limits": ("timeout", "max_states", "memory", "threads", "executor", "checkpoint", "depth", "indices"),
    "Many programs": ("jobs", "expect", "deny", "quiet", "watch", "cache", "no_cache"),
    "Output": (
        "format_",
        "formats",
        "output",
        "force",
        "write",
        "diff",
        "explain",
        "width",
        "certificate",
        "html",
        "pace",
        "all_moves",
    ),
}
"""The options that several commands have, by the names of their parameters, as the help has them; others come before."""


Colour = Annotated[
    When,
    typer.Option(
        "--color",
        callback=choose,
        is_eager=True,
        expose_value=False,
        help="Colour: where the terminal has it, always, or never; a file of -o has none.",
    ),
]

ShowSettings = Annotated[
    bool,
    typer.Option(
        "--show-settings", expose_value=False, help="Show every setting, and where its value comes from; do nothing."
    ),
]


@dataclass(frozen=True, slots=True)
class Listing:
    """The lines behind `\\b` in a help text: their title, if the first is one, and rows of a term and what it means."""

    title: str
    rows: tuple[tuple[str, str], ...]


class HelpedCommand(TyperCommand):
    """A command with our help and --color."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return its options and those of every command."""
        return [*super().get_params(ctx), *common_options()]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write("\n".join(command_page(self, ctx, _width())) + "\n")


class HelpedGroup(TyperGroup):
    """A command with commands, with our help and --color."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return its options and those of every command."""
        return [*super().get_params(ctx), *common_options()]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write("\n".join(command_page(self, ctx, _width())) + "\n")


@cache
def common_options() -> tuple[Any, ...]:
    """Return the options --color, which acts at once, and --show-settings, which is answered before; no command has them as
    arguments."""
    return tuple(typer.main.get_params_convertors_ctx_param_name_from_function(_with_common_options)[0])


def _with_common_options(color: Colour = "auto", show_settings: ShowSettings = False) -> None:
    """Declare the options."""


def command_page(command: Any, context: Any, width: int) -> list[str]:
    """Return the help of a command as lines of at most `width` characters, where no word is longer."""
    usage = re.sub(r"[{}]", "", " ".join(command.collect_usage_pieces(context)))
    lines = filled(f"Usage: {context.command_path} {usage}", width, more="  ")
    for block in blocks(command.help or ""):
        lines += ["", *(filled(block, width) if isinstance(block, str) else _listed(block, width))]
    below = getattr(command, "commands", {})
    groups = _command_groups(below, registry.groups() if context.parent is None else {})
    listed = [Listing(title, tuple((name, summary(below[name])) for name in names)) for title, names in groups.items()]
    lines += _listings(listed, width)
    if below and not _example(command):
        typed = (_example(below[name], name) for names in groups.values() for name in names)
        lines += ["", *_listed(Listing(EXAMPLES, tuple((each, "") for each in typed if each)), width)]
    return lines + _listings([Listing(title, rows) for title, rows in _option_groups(command, context).items()], width)


def blocks(text: str) -> Iterator[str | Listing]:
    """Yield the paragraphs and lists of a help text."""
    for part in re.split(r"\n\s*\n|\n(?=\x08)", text.strip()):
        if not part.startswith("\b"):
            yield " ".join(part.split())
            continue
        first, *rest = part.removeprefix("\b").strip("\n").split("\n")
        titled = not re.search(r"\S {2,}\S", first)
        yield Listing(first.strip() if titled else "", tuple(_rows(rest if titled else [first, *rest])))


def summary(command: Any) -> str:
    """Return what the list of commands says of one."""
    text = " ".join((command.help or "").split())
    return command.short_help or re.split(r"(?<=[^.])[.:;](?:\s|$)", text, maxsplit=1)[0]


def _example(command: Any, name: str = "") -> str:
    """Return an example from the help of a command, one that names it if there is one, '' if there is none."""
    found = [
        term
        for block in blocks(command.help or "")
        if isinstance(block, Listing) and block.title == EXAMPLES
        for term, _ in block.rows
    ]
    return next((term for term in found if term.startswith(f"{COMMAND}{name} ")), found[0] if found else "")


def _rows(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the rows of a list: a line may have several, and one that is further in goes on with the row before."""
    rows: list[tuple[str, str]] = []
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    for line in lines:
        cells = re.split(r" {2,}", line.strip())
        if len(line) - len(line.lstrip()) > margin and rows:
            rows[-1] = rows[-1][0], f"{rows[-1][1]} {' '.join(cells)}"
        else:
            rows += [(cells[k], cells[k + 1] if k + 1 < len(cells) else "") for k in range(0, len(cells), 2)]
    yield from rows


def _listings(listings: Sequence[Listing], width: int) -> list[str]:
    """Return lists with second columns at one place."""
    column = _column([term for listing in listings for term, _ in listing.rows], width)
    return [line for each in listings for line in ("", *_listed(each, width, column))]


def _listed(listing: Listing, width: int, column: int | None = None) -> list[str]:
    """Return a list as lines, its second column after `column` characters if that is given."""
    lines = filled(listing.title, width) if listing.title else []
    if any(term.startswith(COMMAND) for term, _ in listing.rows):
        return lines + _commands(listing, width)
    column = _column([term for term, _ in listing.rows], width) if column is None else column
    columns = Columns((Column("", column), Column("", width, wraps=True)), width, "  ")
    rows = sorted(listing.rows, key=lambda row: int(row[0])) if all(t.isdigit() for t, _ in listing.rows) else listing.rows
    for term, what in rows:
        *first, last = _cut(term, width - 2)
        lines += [*first, *columns.row((last, what))]
    return lines


def _cut(term: str, width: int) -> Iterator[str]:
    """Yield a term in pieces that fit: a list of values that is wider than a line is cut behind a `|`."""
    while len(term) > width and (end := term.rfind("|", 0, width) + 1):
        yield f"  {term[:end]}"
        term = f"  {term[end:]}"
    yield term


def _column(terms: Sequence[str], width: int) -> int:
    """Return the width of the first column: of the longest term that leaves the second one room."""
    most = int(width * TERM_PART)
    return max((len(term) for term in terms if len(term) <= most), default=most)


def _commands(listing: Listing, width: int) -> list[str]:
    """Return commands to be typed; what is said of one is a comment of the shell."""
    lines = []
    column = max((len(term) for term, what in listing.rows if what), default=0)
    for term, what in listing.rows:
        typed = [f"  {part}" for part in _typed(term, width - 2)]
        if what and column + len(what) + 6 <= width:
            typed[0] = f"{typed[0]:{column + 2}}  # {what}"
        elif what:
            typed = [*filled(f"# {what}", width, "  ", "  "), *typed]
        lines += typed
    return lines


def _typed(command: str, width: int) -> list[str]:
    """Return a command as a shell takes it, in several lines if it is too long for one."""
    lines: list[str] = []
    for word in re.findall(r"(?:'[^']*'|\"[^\"]*\"|\S)+", command):
        if lines and len(lines[-1]) + len(word) + 3 <= width:
            lines[-1] += f" {word}"
        elif lines:
            lines[-1] += " \\"
            lines.append(f"    {word}")
        else:
            lines.append(word)
    return lines


def _command_groups(commands: dict[str, Any], groups: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the commands by group, those without one last."""
    found = {title: [name for name in names if name in commands] for title, names in groups.items()}
    named = {name for names in found.values() for name in names}
    found["Commands" if not named else OTHER] = [name for name in commands if name not in named]
    return {title: names for title, names in found.items() if names}


def _option_groups(command: Any, context: Any) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the options by group: those of this command alone, those of several, those of all."""
    found: dict[str, tuple[tuple[str, str], ...]] = dict.fromkeys(("Options", *OPTION_GROUPS, OTHER), ())
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is None:
            continue
        title = next((title for title, names in OPTION_GROUPS.items() if param.name in names), "Options")
        title = OTHER if param.name in ("help", "color", "show_settings", "version") else title
        found[title] = (*found[title], (" ".join(record[0].split()), meaning(record[1])))
    groups = {title: rows for title, rows in found.items() if rows}
    return groups if len(groups) > 1 else {"Options": next(iter(groups.values()), ())}


def meaning(text: str) -> str:
    """Return what the library says of an option in our words: defaults and ranges without its signs."""
    text = re.sub(r"\[default: \((.*?)\)", r"[default: \1", " ".join(text.split()))
    text = re.sub(r"(; |\[)(\d+)<=x<=(\d+)\]", _bounds, text)
    text = re.sub(r"(; |\[)x>=(\d+)\]", _bounds, text)
    return re.sub(r" *\[\]$", "", text)


def _bounds(found: re.Match[str]) -> str:
    """Return the end of what is said of an option, with the numbers that it may be if they are not all that make sense."""
    least, most = found[2], found[3] if len(found.groups()) > 2 else None
    if least == "0" and (most is None or int(most) >= MOST_MIB):
        return "]" if found[1] == "; " else "[]"
    return f"{found[1]}at least {least}]" if most is None else f"{found[1]}from {least} to {most}]"


def _width() -> int:
    return min(WIDEST, width_of_output() or FALLBACK[0])
