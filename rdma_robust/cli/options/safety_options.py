"""The options of `prove`: which models, which engine, which reduction."""

from __future__ import annotations

import difflib
from typing import Annotated, Final, get_args

import typer

from rdma_robust.errors import UsageError
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.questions.proof_question import SafetyEngineName, SafetyReductionName

ALL_MODELS: Final[tuple[AnyModelName, ...]] = get_args(AnyModelName)
EVERY: Final = "all"

SafetyModels = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODELS",
        help=f"Memory models, separated by commas: {', '.join(ALL_MODELS)}, or all. Default: those that the `expect safe` "
        "and `expect unsafe` lines name, else sc.",
        show_default=False,
    ),
]
SafetyEngine = Annotated[SafetyEngineName, typer.Option("--engine", help="How to search; auto tries them in this order.")]
SafetyReduction = Annotated[
    SafetyReductionName,
    typer.Option(help="rma: a slot for each operation in flight, or the sets of values of the VMCAI paper."),
]


def models_named(text: str | None) -> tuple[tuple[AnyModelName, ...], bool]:
    """Return the models that `text` names, none for None, and whether it asks for all. Raises UsageError."""
    if text is None:
        return (), False
    names = [name.strip() for name in text.split(",")]
    if names == [EVERY]:
        return ALL_MODELS, True
    found: list[AnyModelName] = []
    for name in names:
        known = next((each for each in ALL_MODELS if each == name), None)
        if known is None:
            near = difflib.get_close_matches(name, (*ALL_MODELS, EVERY), 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            other = "; `all` stands alone" if name == EVERY else hint
            raise UsageError(f"--model: no model is called {name!r}; the models are {', '.join(ALL_MODELS)}, or all{other}")
        if known not in found:
            found.append(known)
    return tuple(found), False
