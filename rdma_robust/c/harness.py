"""A harness for a C file: a file that includes it as it is, says which function is which process, and has stubs.

What is guessed is said in comments with TODO, and so is what is left to do: what evaluation does not understand yet.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

from rdma_robust.c.code import Call, FunctionAddress
from rdma_robust.c.front.c_units import CUnits
from rdma_robust.c.front.cursors import children, cursor_kind
from rdma_robust.c.front.libclang import Cursor
from rdma_robust.c.read_c import read_c, units_of, with_options
from rdma_robust.errors import Diagnostic, ProgramError, UsageError
from rdma_robust.text import count

_POSTS: Final = re.compile(r"ibv_(post_send|post_recv|poll_cq|wr_start)|rdma_(post_\w+|get_(send|recv)_comp)")
_UNKNOWN: Final = (re.compile(r"^`(\w+)` is not known here"), re.compile(r"what `(\w+)` returns"))
_OF_COMPILER: Final = "RR810"
_STEPS: Final = 30
"""How many unknown functions are stubbed one after the other."""
_QUEUE_PAIR, _QUEUE = "struct ibv_qp *", "struct ibv_cq *"
_BYTES: Final = ("void *", "char *", "unsigned char *", "volatile char *")
_PROCESSES: Final = ("A", "B")


def harness_of(text: str, file: str, made: str, define: Sequence[str] = ()) -> str:
    """Return the text of a harness for the C in `text`, that of `file`, to be written as `made`. `define` are definitions
    and options that the file is read with, which the harness keeps in a comment.

    It parses. Raises ProgramError where the file does not, and UsageError where it needs no harness, or none can be guessed.
    """
    units = units_of(with_options(text, define, file), file)
    if units.libraries:
        raise UsageError(f"C of {' and '.join(sorted(units.libraries))} needs no harness: `rdma-robust check {file}`")
    if units.processes():
        raise UsageError(f"{file} says which function is which process already: `rdma-robust check {file}`")
    harness = _Harness(units, file, made, with_options("", define, made).lstrip())
    left = harness.stub()
    return harness.text(left)


@dataclass
class _Harness:
    """The parts of a harness, as they are found: stubs, queue pairs and buffers, and TODOs."""

    units: CUnits
    file: str
    made: str
    said: str
    stubs: dict[str, str] = field(default_factory=dict)

    def stub(self) -> list[Diagnostic]:
        """Stub what is not known, until nothing new is; return what is not understood then."""
        for _ in range(_STEPS):
            try:
                read_c(self.text([]), self.made)
            except ProgramError as error:
                if any(each.code == _OF_COMPILER for each in error.diagnostics):
                    raise
                new = [name for each in error.diagnostics for name in _names(each) if name not in self.stubs]
                if not new:
                    return list(error.diagnostics)
                self.stubs.update({name: self._stub(name) for name in dict.fromkeys(new)})
            else:
                return []
        return []

    def text(self, left: list[Diagnostic]) -> str:
        """Return the harness, with what is `left` to do in comments."""
        inner = os.path.relpath(self.file, os.path.dirname(self.made) or ".")
        has_main = any(each.spelling == "main" for each in self.units.bodies())
        include = [f'#include "{inner}"']
        if has_main:
            include = ["#define main program_main", *include, "#undef main"]
        head = [
            f"/* A harness for {PurePath(self.file).name}, which is included as it is. TODO marks what is left to do. */",
            "#include <infiniband/verbs.h>",
            *include,
            "#include <rdma_robust.h>",
        ]
        done = [f"   TODO {_said(each)}" for each in left]
        lines = [*head, *(["/* Not understood yet:", *done, " */"] if done else [])]
        lines += self.stubs.values()
        lines += self._processes(has_main)
        return "\n".join([*lines, ""]) + self.said

    def _stub(self, name: str) -> str:
        declared = next((each for each in _declarations(self.units) if each.spelling == name), None)
        result = "int" if declared is None else str(declared.result_type.spelling)
        todo = f"/* TODO: what {name} does, as far as it matters */"
        if result == "void":
            return f"RR_INSTEAD({name}) void stub_{name}(void) {{ {todo} }}"
        if declared is not None and declared.result_type.get_canonical().kind.name == "RECORD":
            return f"RR_INSTEAD({name}) {result} stub_{name}(void) {{ static {result} none; return none; {todo} }}"
        return f"RR_INSTEAD({name}) {result} stub_{name}(void) {{ return 0; {todo} }}"

    def _processes(self, has_main: bool) -> list[str]:
        roots = _roots(self.units)
        if has_main:
            return [line for name in _PROCESSES for line in self._of_main(name)]
        if not roots:
            raise UsageError(f"{self.file} has no function that posts or polls, so no process can be guessed")
        chosen = [*roots[:2], *roots[:1]][:2]
        more = f" of {count(len(roots), 'function')} that post or poll" if len(roots) > 1 else ""
        lines = [f"/* TODO: guessed{more}: which machine runs what, and how often. */"]
        for number, (name, function) in enumerate(zip(_PROCESSES, chosen, strict=True)):
            lines += self._of_function(name, _PROCESSES[1 - number], function)
        return lines

    def _of_main(self, name: str) -> Iterator[str]:
        yield f"RR_PROCESS({name}) void process_{name}(void)"
        yield "{"
        yield '\tstatic char *words[] = { (char *)"program", 0 }; /* TODO: the arguments of this process */'
        main = next(each for each in self.units.bodies() if each.spelling == "main")
        given = ("1", "words")[: len(list(main.get_arguments()))]
        yield f"\tprogram_main({', '.join(given)});"
        yield "}"
        if name == _PROCESSES[0]:
            yield '/* TODO: RR_CONNECT(qp, "c"); where it is connected: in an RR_INSTEAD function for that step. */'

    def _of_function(self, name: str, other: str, function: Cursor) -> Iterator[str]:
        """Yield a process that calls a function, with variables for its parameters, and the queue pairs in reach."""
        made = _Variables()
        for each in _globals(self.units, function.translation_unit):
            made.handles.get(str(each.type.spelling), []).append(str(each.spelling))
        given = [_given(*each, made) for each in zip(function.get_arguments(), range(64), strict=False)]
        queues, pairs = made.handles[_QUEUE], made.handles[_QUEUE_PAIR]
        if pairs and not queues:
            made.declared.append("static struct ibv_cq *queue;")
            queues = ["queue"]
        yield f"RR_PROCESS({name}) void process_{name}(void)"
        yield "{"
        yield from (f"\t{each}" for each in made.declared)
        yield f'\t/* TODO: RR_EXPORT("{name}", address) of what is here, RR_IMPORT(lvalue, "{other}") of what is there. */'
        yield from (f"\t{each}" for each in made.set)
        yield from (f"\tRR_CQ({each});" for each in dict.fromkeys(queues))
        for number, pair in enumerate(dict.fromkeys(pairs)):
            yield f"\tRR_QP({pair}, {queues[0]}, {queues[0]});"
            yield f'\tRR_CONNECT({pair}, "c{number or ""}");'
        if not pairs:
            yield '\t/* TODO: RR_CQ, RR_QP and RR_CONNECT(qp, "c") for the queue pair. */'
        yield '\tRR_HARDWARE("cpu tso"); /* as x86 */'
        yield f"\t{function.spelling}({', '.join(given)});"
        yield "}"


@dataclass
class _Variables:
    """The variables of a process: what declares and sets them, and the queue pairs and queues among them."""

    declared: list[str] = field(default_factory=list)
    set: list[str] = field(default_factory=list)
    handles: dict[str, list[str]] = field(default_factory=lambda: {_QUEUE_PAIR: [], _QUEUE: []})


def _names(each: Diagnostic) -> Iterator[str]:
    for pattern in _UNKNOWN:
        yield from (found[1] for found in pattern.finditer(each.message))


def _said(each: Diagnostic) -> str:
    hint = f" - {each.hint}" if each.hint else ""
    where = f"{PurePath(each.span.file).name}:{each.span.line}: " if each.span.file else ""
    return f"{where}{each.message}{hint}".replace("*/", "* /")


def _declarations(units: CUnits) -> Iterator[Cursor]:
    tops = (each for unit in units.units for each in children(unit.parsed.cursor))
    return (each for each in tops if cursor_kind(each) == "FUNCTION_DECL")


def _globals(units: CUnits, unit: Any) -> Iterator[Cursor]:
    here = [each.parsed for each in units.units if each.parsed is unit]
    yield from (each for parsed in here for each in children(parsed.cursor) if cursor_kind(each) == "VAR_DECL")


def _roots(units: CUnits) -> list[Cursor]:
    """Return the functions that post or poll, themselves or by what they call, and that none of those calls."""
    calls: dict[str, set[str]] = {}
    for each in units.bodies():
        try:
            body = units.function(str(each.spelling))
        except ProgramError:
            continue
        code = body.code if body is not None else ()
        named = {
            one.callee if isinstance(one, Call) else one.name for one in code if isinstance(one, Call | FunctionAddress)
        }
        calls[str(each.spelling)] = {name for name in named if isinstance(name, str)}
    using = {name for name, called in calls.items() if any(map(_POSTS.fullmatch, called))}
    while more := {name for name, called in calls.items() if called & using} - using:
        using |= more
    inner = {name for caller in using for name in calls[caller] if name != caller}
    return [each for each in units.bodies() if each.spelling in using - inner]


def _given(parameter: Cursor, number: int, made: _Variables) -> str:
    """Return what a parameter is given: a variable of its type, whose queue pairs and queues are noted, and whose pointers
    to bytes are given memory."""
    name = str(parameter.spelling) or f"parameter_{number}"
    kind = parameter.type.get_canonical()
    written = str(parameter.type.spelling)
    pointee = kind.get_pointee().get_canonical() if kind.kind.name == "POINTER" else None
    if written in made.handles:
        made.declared.append(f"static {written}{name};")
        made.handles[written].append(name)
        return name
    if pointee is not None and pointee.kind.name == "RECORD" and pointee.get_size() > 0:
        record = str(pointee.spelling).replace("const ", "")
        made.declared.append(f"static {record} {name}; /* TODO: what it holds */")
        for each in pointee.get_fields():
            made.handles.get(str(each.type.spelling), []).append(f"{name}.{each.spelling}")
            if str(each.type.get_canonical().spelling) in _BYTES:
                memory = f"{name}_{each.spelling}"
                made.declared.append(f"static char {memory}[64]; /* TODO: its length, and what it holds */")
                made.set.append(f"{name}.{each.spelling} = (void *){memory};")
        return f"&{name}"
    if pointee is not None:
        made.declared.append(f"static char {name}[64]; /* TODO: its length, and what it holds */")
        return f"(void *){name}"
    if kind.kind.name == "RECORD":
        made.declared.append(f"static {written} {name}; /* TODO: what it holds */")
        return name
    return f"1 /* TODO: {name} */"
