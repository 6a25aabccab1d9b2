"""Mistakes in a command line, in our words: the library that reads it has words of its own, which nobody sees."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from typing import Any, Final

from rdma_robust.text import one_line

TOOL: Final = "rdma-robust"
ASKED: Final = {"help": "--help", "version": "--version"}
KINDS: Final = {"int": "a whole number", "integer": "a whole number", "float": "a number"}


def is_mistake(error: Exception) -> bool:
    """Whether the library that reads command lines raised `error` to tell it to the user."""
    return hasattr(error, "format_message") and hasattr(error, "exit_code")


def mistake_told(error: Any, command: str = "") -> str:
    """Return what is wrong with a command line, by what the library raised; `command` counts where that names none."""
    context = getattr(error, "ctx", None)
    command = context.command_path.removeprefix(TOOL).strip() if context is not None else command
    path = f"{TOOL} {command}".strip()
    kind = type(error).__name__
    if kind == "NoSuchOption":
        said = f"there is no option {one_line(error.option_name)}" + (f" of {command}" if command else "")
        said += near_names(list(error.possibilities or ()))
    elif kind == "BadOptionUsage":
        said = f"{error.option_name} {'takes no value' if 'not take a value' in error.message else 'needs a value'}"
    elif kind == "MissingParameter":
        said = f"{command or TOOL} needs {_shown(error.param).rstrip('.')}"
    elif kind == "BadParameter" and error.param is not None:
        said = _bad(error.param, error.message)
    else:
        said = _other(error.message, context, command or TOOL)
    return f"{said}{'' if said.endswith('?') else '.'} See {path} --help"


def near_names(names: Sequence[str]) -> str:
    """Return what proposes the first of the names, '' if there is none."""
    return f"; did you mean `{names[0]}`?" if names else ""


def _bad(param: Any, message: str) -> str:
    """Return what is wrong with the value of an option or argument: our own words if a check of ours refused it."""
    name = _shown(param).split(" ")[0]
    value = re.match(r"(?s)(.*) is not (?:one of|a valid|in the range)\b", message)
    if value is None:
        return f"{name}: {message.rstrip('.')}"
    given = one_line(re.sub(r"^(['\"])(.*)\1$", r"\2", value[1]), 60)
    choices = [str(getattr(choice, "value", choice)) for choice in getattr(param.type, "choices", ())]
    if choices:
        near = difflib.get_close_matches(given, choices, 1)
        return f"{name} {given}: it is one of {', '.join(choices)}{near_names(near)}"
    least, most = getattr(param.type, "min", None), getattr(param.type, "max", None)
    wanted = KINDS.get(str(param.type.name).split(" ")[0], "a number")
    bounds = "" if least is None else f", {least} or more," if most is None else f" from {least} to {most}"
    return f"{name} {given}: {wanted}{bounds} is needed"


def _other(message: str, context: Any, command: str) -> str:
    if found := re.search(r"extra argument\S* \((.*)\)", message):
        return f"{command} takes no further argument: {one_line(found[1], 60)}"
    if found := re.match(r"No such command ['\"](.*?)['\"]", message):
        names = getattr(context.command, "commands", {}) if context is not None else {}
        near = difflib.get_close_matches(found[1], list(names), 1)
        return f"{command} has no {one_line(found[1])}, it has {', '.join(names)}{near_names(near)}"
    return message.rstrip(".")


def _shown(param: Any) -> str:
    """Return an option or argument as the help has it."""
    if param.param_type_name == "argument":
        return str(param.human_readable_name)
    return f"{max(param.opts, key=len)} {param.metavar or ''}".strip()


def mistyped_command(argument: str, commands: Sequence[str]) -> str:
    """Return what to say if the first argument is neither a file nor a command but close to one, else ''."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z_-]*", argument) or os.path.lexists(argument):
        return ""
    near = difflib.get_close_matches(argument.lower().replace("_", "-"), (*commands, *ASKED), 1)
    return f"there is no command or file {argument}; did you mean `{ASKED.get(near[0], near[0])}`?" if near else ""
