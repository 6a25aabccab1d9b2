"""Random functions with contracts of `.mp`, printed as C with contracts in comments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rdma_robust.diagnose import Reporter
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_words import message_grammar

WITHOUT = ("on data", "choose", "loop ", "halt", "assume ", "\\forall t;", "\\exists t;", "\\no ")
"""What C has no counterpart of, or needs other words for."""

_OF_ALL = {"PID": "rank", "NPROCS": "size"}
_FOLDED = re.compile(r"\\(sum|count|max) t in 0\.\.NPROCS - 1 : (\\on\(t, x\)(?: == x)?)")
_GUARDED = re.compile(r"\\(forall|exists) t in 0\.\.NPROCS - 1 : ")


def in_c(text: str, *, arrays: bool = False) -> str | None:
    """Return a random file as C, None if it has something that C has not; `arrays` are sent instead of numbers."""
    if any(word in text for word in WITHOUT):
        return None
    found, _, _ = parse_tree(text, Reporter("random.mp", text), message_grammar())
    assert found is not None
    functions = (each for each in tree.declarations(found) if isinstance(each, tree.FunctionItem))
    made = "".join(["#include <assert.h>\n#include <mpi.h>\n\nint u;\n", *(_function(each, text) for each in functions)])
    if arrays:
        return made.replace("int many = 1;", "int many = NPROCS / NPROCS;")
    return made.replace("int many = 1;", "").replace("many", "1")


def _function(item: tree.FunctionItem, text: str) -> str:
    assert item.contract is not None
    clauses = text[item.contract.span.start : item.contract.span.end].partition("{")[2].rpartition("}")[0]
    together = "\\mpi_collective(MPI_COMM_WORLD, P2P):" if item.contract.kind == "collective" else ""
    parameters = ", ".join(f"int {each.text}" for each in item.parameters)
    start = "MPI_Comm_rank(MPI_COMM_WORLD, &PID); MPI_Comm_size(MPI_COMM_WORLD, &NPROCS);"
    body = "\n".join(_lines(item.body))
    head = f"\n/*@ {together}\n{_clauses(clauses)} */\nint {item.name.text}({parameters})\n"
    return f"{head}{{\nint PID, NPROCS; MPI_Status status; {start}\n{body}\n}}\n"


def _clauses(text: str) -> str:
    """Return clauses in the words of C; bounds come first, as what one process does by itself."""
    text = _FOLDED.sub(lambda m: f"\\{_word(m[1])}(0, NPROCS - 1, \\lambda integer t; {m[2]})", text)
    joined = {"forall": "==>", "exists": "&&"}
    text = _GUARDED.sub(lambda m: f"\\{m[1]} integer t; 0 <= t < NPROCS {joined[m[1]]} ", text)
    text = (
        re.sub(r"\bbounds\b", "rdma_bounds", text).replace("\\pre(", "\\old(").replace("\\let me = PID :", "\\let me = PID;")
    )
    return re.sub("PID|NPROCS", lambda m: f"\\mpi_comm_{_OF_ALL[m[0]]}", text.replace("false", "0"))


def _word(word: str) -> str:
    return "numof" if word == "count" else word


def _lines(block: ast.Block) -> Iterator[str]:
    for line in tree.lines(block):
        yield from _line(line)


def _block(block: ast.Block) -> str:
    return " ".join(["{", *_lines(block), "}"])


def _line(line: tree.Line) -> Iterator[str]:
    match line:
        case tree.RegisterLine(registers):
            yield "".join(f"int {each.name.text} = 0; " for each in registers)
        case ast.Assign(target, value):
            yield f"{_value(target)} = {_value(value)};"
        case tree.SendLine(_, value, to, _, tag):
            where = f"{_value(to)}, {_tag(tag, '0')}, MPI_COMM_WORLD"
            yield f"{{ int sent[1]; int many = 1; sent[0] = {_value(value)}; MPI_Send(sent, many, MPI_INT, {where}); }}"
        case tree.ReceiveLine(_, target, source, _, tag):
            who = "MPI_ANY_SOURCE" if isinstance(source, tree.AnyOf) else _value(source)
            given = f"MPI_INT, {who}, {_tag(tag, 'MPI_ANY_TAG')}, MPI_COMM_WORLD, &status"
            yield f"{{ int got[1]; int many = 1; MPI_Recv(got, many, {given}); {_value(target)} = got[0]; }}"
            if isinstance(source, tree.AnyOf) and source.stored is not None:
                yield f"{_value(source.stored)} = status.MPI_SOURCE;"
        case ast.If(arms, otherwise):
            yield " else ".join(f"if ({_value(arm.condition)}) {_block(arm.block)}" for arm in arms)
            if otherwise is not None:
                yield f"else {_block(otherwise)}"
        case ast.For(counter, low, high, body):
            name = counter.text
            yield f"for (int {name} = {_value(low)}; {name} <= {_value(high)}; {name}++) {_block(body)}"
        case ast.While(condition, body):
            yield f"while ({_value(condition)}) {_block(body)}"
        case ast.Assert(condition):
            yield f"assert({_value(condition)});"
        case tree.ReturnLine(value):
            yield f"return {_value(value)};"
        case ast.Skip():
            yield ";"
        case _:
            raise TypeError(line)


def _tag(tag: object, without: str) -> str:
    return without if tag is None or isinstance(tag, tree.AnyOf) else _value(tag)


def _value(value: object) -> str:
    match value:
        case ast.NumberLiteral(number):
            return str(number)
        case tree.OwnNumber():
            return "PID"
        case tree.ProcessCount():
            return "NPROCS"
        case tree.IndexedName(name, ()):
            return name.text
        case ast.Unary(op, inner):
            return f"{op}({_value(inner)})"
        case ast.Binary(op, left, right):
            return f"({_value(left)} {op} {_value(right)})"
        case tree.FunctionCall(name, arguments):
            return f"{name.text}({', '.join(map(_value, arguments))})"
    raise TypeError(value)
