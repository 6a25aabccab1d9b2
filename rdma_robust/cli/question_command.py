"""The command of a registered question: a function with the options that all such commands have and with its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Final, Literal

import typer

from rdma_robust.cli.asked_files import certified, explains, memory_each, watch_instead
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.frame.command_asking import CommandAsking
from rdma_robust.frame.registry import CommandEntry, Kind, QuestionOption
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import Item, expand

FOR_ALL: Final[Mapping[str, tuple[Any, Any]]] = {
    "define": (arguments.Defines, None),
    "timeout": (arguments.Timeout, TIMEOUT_S),
    "memory": (arguments.Memory, None),
    "jobs": (arguments.Jobs, None),
    "expect": (arguments.Expect, False),
    "format_": (arguments.VerdictsFormat, None),
    "output": (arguments.OutputFile, None),
    "certificate": (arguments.Certificates, None),
    "explain": (arguments.Explain, None),
    "quiet": (arguments.Quiet, False),
    "watch": (arguments.Watch, False),
}
"""The options of every such command, with their defaults."""

TYPES: Final[Mapping[Kind, Any]] = {
    "number": float | None,
    "whole": int | None,
    "yes or no": bool,
    "text": str | None,
    "list": list[str] | None,
}


def question_command(command: CommandEntry) -> Callable[..., None]:
    """Return the function of a command, as the parser takes it."""
    parameters = list(_parameters(command))

    def asked(context: typer.Context, **given: Any) -> None:
        """Note in the context what is to be done."""
        _note(command, context, given)

    asked.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    asked.__annotations__ = {each.name: each.annotation for each in parameters}
    return asked


def _parameters(command: CommandEntry) -> Iterator[inspect.Parameter]:
    positional, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    yield inspect.Parameter("context", positional, annotation=typer.Context)
    yield inspect.Parameter("files", positional, annotation=arguments.Files)
    for each in command.options:
        yield inspect.Parameter(each.parameter, keyword, default=each.default, annotation=_declared(each))
    for name, (annotation, default) in FOR_ALL.items():
        yield inspect.Parameter(name, keyword, default=default, annotation=annotation)


def _declared(option: QuestionOption) -> Any:
    names = (*([option.short] if option.short else []), f"--{option.name}")
    kind = Literal[option.choices] if option.choices else TYPES[option.kind]
    metavar = None if option.choices else option.metavar or None
    return Annotated[kind, typer.Option(*names, metavar=metavar, help=option.help, show_default=option.default is not None)]


def _note(command: CommandEntry, context: typer.Context, given: Mapping[str, Any]) -> None:
    assert command.question is not None
    files: list[str] = given["files"]
    if given["watch"]:
        watch_instead(context, files, given["define"])
        return
    items, question = _items(command, given), command.question()
    form = report_form(given["output"], given["format_"], VERDICT_FORMATS, items)
    alone = explains(items, given["explain"])
    asking = CommandAsking(
        timeout=arguments.limit(given["timeout"]),
        memory=memory_each(given["memory"], given["jobs"], items),
        expect=given["expect"],
        explain=form == "junit" or alone,
        values={each.name: given[each.parameter] for each in command.options if not each.configures},
    )
    run = Run(question, asking, items, given["jobs"], form, given["output"], given["quiet"])
    context.obj.append(partial(run_question, run))


def _items(command: CommandEntry, given: Mapping[str, Any]) -> list[Item]:
    """Return the inputs, one for each of the configurations that are asked for."""
    configured = [
        f"{each.name}={given[each.parameter]}"
        for each in command.options
        if each.configures and given[each.parameter] is not None
    ]
    items = expand(given["files"], suffixes=command.reads, define=[*(given["define"] or ()), *configured])
    return certified(items, given["certificate"])
