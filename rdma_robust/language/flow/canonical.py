"""A program as text, whatever it was written in: one line for each cell, register and step.

Two programs have the same text exactly if they do the same step by step: they may differ only in what is there for people
(the source, spans, the texts of steps, messages of faults, warnings).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from typing import Final

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.expr import TRUE, Binary, Const, Expr, Ite, Name, Unary
from rdma_robust.language.flow import cfg
from rdma_robust.language.flow.claims import CopiesWith, EndedAtom, PointAt

_PLAIN: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_.$]*(\[[0-9]+\])?", re.ASCII)

Line = tuple[str, tuple[int, int] | None]
"""A line, and for a step the numbers of its thread and of the step in :func:`cfg.steps`."""


def canonical_text(program: cfg.Program) -> str:
    """Return the text of `program`."""
    return "".join(f"{line}\n" for line, _ in _lines(program))


def same_program(first: cfg.Program, second: cfg.Program) -> bool:
    """Return whether two programs do the same step by step, at the same program points."""
    return canonical_text(first) == canonical_text(second)


def with_listing(program: cfg.Program) -> cfg.Program:
    """Return `program` with its canonical text as its source, and with the spans of steps and faults pointing there.

    Where they pointed before is what the new spans were expanded from.
    """
    places: dict[tuple[int, int], Span] = {}
    text = ""
    for number, (line, key) in enumerate(_lines(program), 1):
        if key is not None:
            indent = len(line) - len(line.lstrip())
            start, end = len(text) + indent, len(text) + len(line)
            places[key] = Span(number, indent + 1, number, len(line) + 1, start, end, program.file)
        text += f"{line}\n"
    threads = tuple(_placed(thread, t, places) for t, thread in enumerate(program.threads))
    return replace(program, source=text, threads=threads)


def _there(span: Span, _: Span) -> Span:
    return span


def _placed(thread: cfg.Thread, number: int, places: dict[tuple[int, int], Span]) -> cfg.Thread:
    edges = []
    for k, (source, target, step) in enumerate(cfg.steps(thread)):
        span = replace(places[number, k], origin=None if step.span == NO_SPAN else step.span)
        edges.append((source, target, cfg.moved_step(step, partial(_there, span))))
    return replace(thread, edges=tuple(edges))


def _lines(program: cfg.Program) -> Iterator[Line]:
    yield f"flow graph {name(program.name)}", None
    if program.allow_loopback:
        yield "allow loopback", None
    for word, told in asdict(program.hardware).items():
        if told is not None:
            yield f"hardware {word} {told}", None
    if program.domain is not None:
        yield f"domain {program.domain[0]}..{program.domain[1]}", None
    for constant, value in program.constants:
        yield f"const {name(constant)} = {value}", None
    for node in program.nodes:
        card = program.card_of(node)
        via = "" if card == node else f" via {name(card)}"
        yield f"node {name(node)}{via}{' many' * (node in program.many_nodes)}", None
    for cell in program.cells:
        kinds = {"hidden": cell.hidden, "moment": cell.moment, "relaxed": cell.relaxed, "sync": cell.sync, "void": cell.void}
        kind = "".join(f" {word}" for word, has in kinds.items() if has)
        yield f"cell {name(cell.node)} {name(cell.name)} = {cell.init}{kind}", None
    for (sender, receiver, lane), number in program.words:
        yield f"words from {name(sender)} to {name(receiver)}{f' on {name(lane)}' * bool(lane)} {number}", None
    for t, thread in enumerate(program.threads):
        where = f"{name(thread.node)} from {thread.entry} to {thread.exit}{' many' * thread.many}"
        yield f"thread {name(thread.name)} on {where}", None
        for register, value in thread.registers:
            yield f"  reg {name(register)} = {value}", None
        yield f"  points {' '.join(map(str, sorted(thread.points)))}", None
        for label, point in thread.labels:
            yield f"  label {name(label)} = {point}", None
        for lane, node in thread.lanes:
            yield f"  lane {name(lane)} to {name(node)}", None
        for sender, buffer, lane in thread.posted:
            yield f"  posted {_cell(buffer.node, buffer.name)} from {name(sender)}{_lane(lane)}", None
        for k, (source, target, step) in enumerate(cfg.steps(thread)):
            yield f"  {source} -> {target}: {_step(step)}", (t, k)
    for line in program.outcomes:
        claims = ", ".join(f"{'allowed' if c.allowed else 'forbidden'} under {c.model}" for c in line.claims)
        counted = "".join(f", {name(word)} is {_copies(copies)}" for word, copies in line.counts)
        yield f"outcome {canonical_expression(line.condition)}{counted} : {claims}", None
    for invariant in program.invariants:
        atoms = "".join(f", {name(word)} is {_atom(atom)}" for word, atom in invariant.atoms)
        counted = "".join(f", {name(word)} is {_copies(copies)}" for word, copies in invariant.counts)
        yield f"invariant {canonical_expression(invariant.condition)}{atoms}{counted}", None
    for each in program.expectations:
        yield f"expect {each.text}", None
    for line_ in program.needs:
        yield f"needs {', '.join(line_.guarantees)}", None


def _step(step: cfg.Step) -> str:
    guard = "" if step.guard == TRUE else f" when {canonical_expression(step.guard)}"
    sets = "".join(
        f"{',' * (k > 0) or ' set'} {name(r)} := {canonical_expression(v)}" for k, (r, v) in enumerate(step.assigns)
    )
    return f"{operation(step.op)}{_lane(cfg.named_lane(step.op))}{guard}{sets}{_fault(step.fault)}"


def _fault(fault: cfg.Fault | None) -> str:
    return "" if fault is None else f" fault {fault.kind}"


def _lane(lane: str) -> str:
    return "" if lane == cfg.NAMELESS else f" lane {name(lane)}"


_TOWARDS: Final = {cfg.Poll: "poll", cfg.RFence: "rfence", cfg.Flush: "flush", cfg.OrderFence: "order"}


def operation(op: cfg.Op) -> str:
    """Return an operation as text, but for its lane; no other has the same."""
    match op:
        case cfg.Silent():
            return "skip"
        case cfg.Read(cell):
            return f"read {_cell(cell.node, cell.name)}"
        case cfg.Write(cell, value):
            return f"write {_cell(cell.node, cell.name)} = {canonical_expression(value)}"
        case cfg.Cas(cell, expected, new):
            return f"cas {_cell(cell.node, cell.name)} from {canonical_expression(expected)} to {canonical_expression(new)}"
        case cfg.Put(target, source, signaled):
            return f"put {_cell(target.node, target.name)} = {_cell(source.node, source.name)}{_signaled(signaled)}"
        case cfg.Get(target, source, signaled):
            return f"get {_cell(target.node, target.name)} = {_cell(source.node, source.name)}{_signaled(signaled)}"
        case cfg.Poll(node) | cfg.RFence(node) | cfg.Flush(node) | cfg.OrderFence(node):
            return f"{_TOWARDS[type(op)]} {name(node)}"
        case cfg.Rmw(cell, new, when):
            return f"rmw {_cell(cell.node, cell.name)} = {canonical_expression(new)} if {canonical_expression(when)}"
        case cfg.Section(cells, writes):
            every = " ".join(_cell(cell.node, cell.name) for cell in cells)
            return f"section {every}{''.join(f', {k} = {canonical_expression(value)}' for k, value in writes)}"
        case cfg.MFence():
            return "mfence"
        case cfg.Nondet(low, high):
            return (
                f"nondet {'-' if low is None else canonical_expression(low)} "
                f"{'-' if high is None else canonical_expression(high)}"
            )
        case cfg.RemoteRmw(target, source, new, when, signaled, wraps, _, operands):
            wrapped = "" if wraps is None else f" wraps {canonical_expression(wraps[0])}{_fault(wraps[1])}"
            change = f"{canonical_expression(new)} if {canonical_expression(when)}{wrapped}{_signaled(signaled)}"
            answer = "" if target is None else f"get {_cell(target.node, target.name)} = "
            taking = "".join(f" taking {_cell(cell.node, cell.name)}" for cell in operands)
            return f"{answer}rmw{'' if answer else ' of'} {_cell(source.node, source.name)} = {change}{taking}"
        case cfg.InlinePut(target, data, signaled):
            return f"put {_cell(target.node, target.name)} = {_payload(data)}{_signaled(signaled)}"
        case cfg.Send(to, node, data, signaled):
            return f"send {'nothing' if data is None else _payload(data)} to {name(to)} on {name(node)}{_signaled(signaled)}"
        case cfg.ImmPut(target, data, imm, to, signaled):
            carried = f"imm {canonical_expression(imm)} to {name(to)}{_signaled(signaled)}"
            return f"put {_cell(target.node, target.name)} = {_payload(data)} {carried}"
        case cfg.Recv(cell, sender):
            return f"recv {_cell(cell.node, cell.name)} from {name(sender)}"
        case cfg.RecvPoll(sender):
            return f"rpoll {name(sender)}"
        case cfg.BarrierWait(threads):
            return f"barrier {' '.join(map(name, threads))}"


def _signaled(signaled: bool) -> str:
    return "" if signaled else " unsignaled"


def _payload(data: cfg.Payload) -> str:
    read = "" if data.source is None else f" of {_cell(data.source.node, data.source.name)}"
    return f"{canonical_expression(data.value)}{read}{' inline' if data.inline else ''}"


def _copies(copies: CopiesWith) -> str:
    atoms = ", ".join(f"{name(text)} is {_atom(atom)}" for text, atom in copies.atoms)
    return f"copies of {name(copies.thread)} with {canonical_expression(copies.condition)} where {atoms}"


def _atom(atom: PointAt | EndedAtom) -> str:
    match atom:
        case PointAt(thread, label):
            return f"{name(thread)} at {name(label)}"
        case EndedAtom(thread):
            return f"{name(thread)} ended"


def _cell(node: str, cell: str) -> str:
    return f"{name(node)} {name(cell)}"


def canonical_expression(expr: Expr) -> str:
    """Return an expression as text with every bracket; no other has the same."""
    match expr:
        case Const(value):
            return str(value)
        case Name(text):
            return name(text)
        case Unary(op, arg):
            return f"{op}({canonical_expression(arg)})"
        case Binary(op, left, right):
            return f"({canonical_expression(left)} {op} {canonical_expression(right)})"
        case Ite(test, then, other):
            return f"({canonical_expression(test)} ? {canonical_expression(then)} : {canonical_expression(other)})"


def name(text: str) -> str:
    """Return a name, between quotation marks unless it is a plain word."""
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
