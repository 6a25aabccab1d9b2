"""Completions at the cursor: commands, options, their values, and files of the kind that a command reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import typer.main

from rdma_robust.cli.app import command_line, with_command
from rdma_robust.cli.options.help_page import summary
from rdma_robust.errors import UsageError
from rdma_robust.frame import registry

FILES: Final = ("FILE", "PATH", "OLD", "NEW")
"""How arguments and options are called whose value is a file to be read."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A word, or a path, and what is said beside it."""

    value: str
    about: str = ""
    kind: Literal["word", "path"] = "word"

    def line(self) -> str:
        """Return it as the scripts read it."""
        return "\t".join((self.kind, self.value, " ".join(self.about.split())))


def cursor_completions(words: Sequence[str], place: int) -> list[Suggestion]:
    """Return what the word at `place` of a command line may become; `words` are those after the name of the tool, counted
    from 1."""
    before, at = list(words[: place - 1]), words[place - 1] if place <= len(words) else ""
    if not before:
        return [*_first(at)]
    try:
        typed = with_command(before)
    except UsageError:
        return []
    context, rest = _context(typed)
    below = getattr(context.command, "commands", {})
    if below and not rest and not at.startswith("-"):
        return [Suggestion(name, summary(command)) for name, command in below.items() if name.startswith(at)]
    return [*_next(context, rest, at)]


def _first(at: str) -> Iterator[Suggestion]:
    """Yield what may come first: a command, a file to check, or an option of all."""
    if at.startswith("-"):
        group: Any = typer.main.get_command(command_line(("check",)))
        root = group.make_context("rdma-robust", [], resilient_parsing=True)
        check, _ = _context(["check"])
        found = {each.value: each for context in (root, check) for each in _options(context, at)}
        yield from found.values()
        return
    group = typer.main.get_command(command_line(()))
    yield from (Suggestion(name, summary(group.commands[name])) for name in registry.commands() if name.startswith(at))
    yield from path_candidates(at, registry.folder_suffixes())


def _context(typed: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the context of the command that `typed` begins with, and the words after it."""
    group: Any = typer.main.get_command(command_line(typed[:1]))
    context, rest = group.make_context("rdma-robust", [], resilient_parsing=True), list(typed)
    while rest and rest[0] in getattr(context.command, "commands", {}):
        command = context.command.commands[rest[0]]
        context = command.make_context(rest.pop(0), [], parent=context, resilient_parsing=True)
    return context, rest


def _next(context: Any, rest: Sequence[str], at: str) -> Iterator[Suggestion]:
    """Yield the options, the values of the option before, or the arguments of a command."""
    options = {name: param for param in context.command.get_params(context) for name in getattr(param, "opts", ())}
    plain = "--" in rest
    if at.startswith("-") and at != "-" and "=" in at and not plain:
        name, _, begun = at.partition("=")
        if name in options:
            found = _values(context, options[name], begun)
            yield from (Suggestion(f"{name}={each.value}", each.about, each.kind) for each in found)
        return
    last = [word for word in rest if word != "="][-1:]
    begun = "" if at == "=" else at
    param = options.get(last[0]) if last and not plain else None
    if param is not None and param.param_type_name == "option" and not param.is_flag:
        found = list(_values(context, param, begun))
        if found or not at.startswith("-"):
            yield from found
            return
    if at.startswith("-") and not plain:
        yield from _options(context, at)
        return
    arguments = [param for param in context.command.get_params(context) if param.param_type_name == "argument"]
    yield from _values(context, arguments[0], begun) if arguments else ()


def _options(context: Any, at: str) -> Iterator[Suggestion]:
    for param in context.command.get_params(context):
        if param.param_type_name == "option" and not param.hidden:
            names = [name for name in (*param.opts, *param.secondary_opts) if name.startswith("--") or at != "--"]
            yield from (Suggestion(name, param.help or "") for name in names if name.startswith(at) and len(name) > 2)


def _values(context: Any, param: Any, at: str) -> Iterable[Suggestion]:
    """Yield the values of an option or argument that begin with `at`."""
    metavar = param.metavar or ""
    words = [str(getattr(choice, "value", choice)) for choice in getattr(param.type, "choices", ())] or _names(param)
    if not words and "|" in metavar and metavar.islower():
        words = metavar.split("|")
    if words:
        head, comma, begun = at.rpartition(",") if param.name in ("reductions", "models") else ("", "", at)
        sign = begun[:1] if param.name == "reductions" and begun.startswith("-") else ""
        return [Suggestion(f"{head}{comma}{sign}{word}") for word in words if f"{sign}{word}".startswith(begun)]
    if metavar.strip("[].") in FILES:
        named = context.command_path.removeprefix("rdma-robust ")
        command = registry.command_at(named)
        return path_candidates(at, (command.reads if command is not None else ()) or registry.fallback_suffixes())
    if "DIR" in metavar or "OUT" in metavar or "FILE" in metavar or "NET" in metavar:
        return path_candidates(at, ("",))
    return []


def _names(param: Any) -> list[str]:
    """Return the names that an option takes without saying so in its declaration."""
    match param.name:
        case "reductions":
            from rdma_robust.options import REDUCTIONS  # noqa: PLC0415 - only for this option

            return ["all", "none", *REDUCTIONS]
        case "models":
            from rdma_robust.cli.options.safety_options import ALL_MODELS, EVERY  # noqa: PLC0415 - only for this option

            return [*ALL_MODELS, EVERY]
        case "dump_after":
            from rdma_robust.pipeline import PASSES  # noqa: PLC0415 - slow

            return [each.name for each in PASSES]
        case "engine":
            from rdma_robust.petri.cover import COVER_ENGINES  # noqa: PLC0415 - slow

            return list(dict.fromkeys(("auto", *COVER_ENGINES)))
        case "code":
            from rdma_robust.codes.known_codes import codes  # noqa: PLC0415 - slow

            return list(codes())
    return []


def path_candidates(at: str, suffixes: tuple[str, ...]) -> Iterator[Suggestion]:
    """Yield the folders and the files with one of these suffixes whose path begins with `at`."""
    folder, begun = os.path.split(at)
    try:
        entries = sorted(os.scandir(os.path.expanduser(folder) or "."), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if not entry.name.startswith(begun) or (entry.name.startswith(".") and not begun.startswith(".")):
            continue
        if not entry.name.isprintable():
            continue
        value = os.path.join(folder, entry.name)
        if entry.is_dir():
            yield Suggestion(f"{value}/", "", "path")
        elif entry.name.endswith(suffixes):
            yield Suggestion(value, "", "path")


def shell_answer(asked: str, words: Sequence[str]) -> list[str]:
    """Return the lines for a shell: `asked` is what its script has put into the environment. Never raises."""
    shell, _, place = asked.partition(":")
    try:
        found = cursor_completions(words, int(place))
    except Exception:
        return []
    if shell == "bash":  # which adds the slash of a folder itself
        found = [Suggestion(each.value.rstrip("/") if each.kind == "path" else each.value, "", each.kind) for each in found]
    return [each.line() for each in found]
