"""Which statements of a program a memory model does not have. Source: abstraction.md, section 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rdma_robust.errors import Diagnostic
from rdma_robust.language.flow.cfg import AnyModelName, Flush, Get, Op, Poll, Program, Put, RemoteRmw, RFence, steps

SHARED_MEMORY: Final = ("tso", "pso")


def refusals(program: Program, model: AnyModelName) -> tuple[Diagnostic, ...]:
    """Return an error for every statement that `model` does not have, in the order of the text."""
    found: dict[tuple[int, str], Diagnostic] = {}
    for thread in program.threads:
        for _, _, step in steps(thread):
            for message, hint in _refused(step.op, model):
                found.setdefault((step.span.start, message), Diagnostic("error", "RR002", message, step.span, hint=hint))
    return tuple(sorted(found.values(), key=lambda each: each.span.start))


def _refused(op: Op, model: AnyModelName) -> Iterator[tuple[str, str]]:
    match op:
        case Put() | Get() | RemoteRmw() | Flush() if model in SHARED_MEMORY:
            word = {Put: "put", Flush: "flush"}.get(type(op), "get")
            yield f"`{word}` needs a network: model {model} is one shared memory", "use --model rma or rdma"
        case RemoteRmw() if model == "rdma":
            yield "remote atomics are not in model rdma yet", "use --model rma"
        case Poll() | RFence() if model in SHARED_MEMORY:
            word = "poll" if isinstance(op, Poll) else "rfence"
            yield f"`{word}` needs a network: model {model} is one shared memory", "use --model rdma"
        case Poll() if model == "rma":
            yield "`poll` counts completions, which model rma does not have", f"use `flush {op.node}`"
        case RFence() if model == "rma":
            yield "`rfence` orders a pipe, which model rma does not have", f"use `flush {op.node}`"
