"""Operations that a memory model does not have, and what to write instead.

Source: docs/language-proofs.md, "The language for proofs".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Final

from rdma_robust.errors import NO_SPAN, Diagnostic, Span
from rdma_robust.language.flow import cfg, claims

_OF_A_NETWORK: Final[dict[type[cfg.Op], tuple[str, str]]] = {
    cfg.Put: ("put", "rma or rdma"),
    cfg.Get: ("get", "rma or rdma"),
    cfg.RemoteRmw: ("get", "rma"),
    cfg.Poll: ("poll", "rdma"),
    cfg.RFence: ("rfence", "rdma"),
    cfg.Flush: ("flush", "rma or rdma"),
}
"""The operations that another node has a part in: the words that they begin with, and the models that have them."""


_PROVEN: Final = (cfg.Silent, cfg.Read, cfg.Write, cfg.Cas, cfg.Rmw, cfg.MFence, cfg.Nondet, *_OF_A_NETWORK)
"""The operations that `prove` has a machine for; of any other it says so."""

_INSTEAD: Final = "`prove` has no machine for it; ask `verify`, `check` or `outcomes`"

_NUMBER: Final = re.compile(r"\[\d+\]")


def model_refusals(program: cfg.Program, model: claims.AnyModelName) -> tuple[Diagnostic, ...]:
    """Return an error for every statement of `program` that `model` does not have, in the order of the source, and for
    hardware that it is not.

    Of the copies of one statement in a family it is said once.
    """
    found: dict[tuple[Span, str], Diagnostic] = {}
    if model == "rdma" and (other := _other_hardware(program)):
        found[NO_SPAN, other] = Diagnostic("error", "RR408", other, NO_SPAN)
    for thread in program.threads:
        for each in _of(thread, model):
            found.setdefault((each.span, _NUMBER.sub("[]", each.message)), each)
    return tuple(sorted(found.values(), key=lambda each: each.span.start))


def _other_hardware(program: cfg.Program) -> str:
    """Say that a program is about other hardware than that of the machine which `prove` has."""
    told = program.hardware
    reads = "ordered" if told.ordered_reads else None
    words = [
        f"{word} {said}"
        for word, said, usual in (("cpu", told.cpu, "sc"), ("order", told.order, "default"), ("reads", reads, None))
        if said not in (None, usual)
    ]
    return f"`hardware {', '.join(words)}`: {_INSTEAD}" if words else ""


def _of(thread: cfg.Thread, model: claims.AnyModelName) -> Iterator[Diagnostic]:
    for _, _, step in thread.edges:
        message = _message(step.op, model) or (_word(step.op) if model == "rdma" else "")
        if message:
            yield Diagnostic("error", "RR408", message, step.span)


def _word(op: cfg.Op) -> str:
    """Say which word that is not plain a request accesses: `prove` knows the order of the others only."""
    if cfg.peer_of(op) is None:
        return ""
    words = [value for field in fields(op) if isinstance(value := getattr(op, field.name), cfg.Cell) and not value.plain]
    why = "is relaxed" if words and words[0].relaxed else f"lies behind the NIC of {words[0].card}" if words else ""
    return f"{words[0]} {why}: {_INSTEAD}" if words else ""


def _message(op: cfg.Op, model: claims.AnyModelName) -> str:
    return _unproven(op) or _lacking(op, model)


def _unproven(op: cfg.Op) -> str:
    """Say what no model has that `prove` knows: such operations are for `verify` and the commands that decide."""
    match op:
        case cfg.Send() | cfg.ImmPut() | cfg.Recv() | cfg.RecvPoll():
            return f"a message: {_INSTEAD}"
        case cfg.BarrierWait():
            return f"a barrier: {_INSTEAD}"
        case cfg.Section():
            return f"a locked section of several locations: {_INSTEAD}"
        case cfg.OrderFence():
            return f"`order`: {_INSTEAD}"
        case cfg.InlinePut():
            return f"inline data: {_INSTEAD}"
        case cfg.RemoteRmw(operands=(_, *_)):
            return f"a remote atomic with an operand in memory: {_INSTEAD}, or read it into a register first"
        case cfg.RemoteRmw(wraps=(_, _)):
            return f"a remote `faa` that starts again at the other end of a domain: {_INSTEAD}, or leave the `domain` out"
        case cfg.RemoteRmw(target=None):
            return f"a remote atomic whose old value goes nowhere: {_INSTEAD}, or give it a location: `get x = ...`"
        case cfg.Put(signaled=False) | cfg.Get(signaled=False) | cfg.RemoteRmw(signaled=False):
            return f"an operation without a completion (`unsignaled`): {_INSTEAD}"
        case _ if not isinstance(op, _PROVEN):
            return f"an operation like {type(op).__name__}: {_INSTEAD}"
        case _:
            return ""


def _lacking(op: cfg.Op, model: claims.AnyModelName) -> str:
    match model, op:
        case (("tso" | "pso"), _) if type(op) in _OF_A_NETWORK:
            word, models = _OF_A_NETWORK[type(op)]
            return f"`{word}` needs a network: model {model} is one shared memory; use --model {models}"
        case "rma", cfg.Poll(node):
            return f"`poll` counts completions, which model rma does not have; use `flush {node}`"
        case "rma", cfg.RFence(node):
            return f"`rfence` orders a queue pair, which model rma does not have; use `flush {node}`"
        case "rdma", cfg.RemoteRmw():
            return "`prove` has no remote atomic operations under model rdma; use --model rma"
        case _:
            return ""
