"""Functions of a C file as those of `.mp`: parameters, and which arrays they give back behind their result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.c.contracts.body_values import ASSIGN, is_pointer
from rdma_robust.c.front.cursors import bare, c_type, children, cursor_kind, expressions
from rdma_robust.c.front.libclang import Cursor, binary_kind, unary_kind

COMMUNICATOR: Final = "MPI_Comm"
WORLD: Final = "MPI_COMM_WORLD"
_UPDATES: Final = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class CFunction:
    """A function. `parameters` are those of `.mp`, without the communicator; `outs` are the pointers among them through
    which it stores: it gives the arrays back, behind its own result if it has one."""

    name: str
    cursor: Cursor
    parameters: tuple[str, ...]
    pointers: tuple[str, ...]
    communicator: str
    has_value: bool
    outs: tuple[str, ...] = ()
    reached: frozenset[str] = frozenset()
    """The variables outside of functions that it names, or what it calls; and MPI, where that is called."""

    @property
    def gives_several(self) -> bool:
        """Whether the result of the function of `.mp` is an array of what it gives."""
        return len(self.outs) + self.has_value > 1

    def place_of(self, out: str) -> int:
        """Return where an array is in what the function gives."""
        return self.outs.index(out) + self.has_value


def c_function(cursor: Cursor) -> CFunction:
    """Return a function before it is known what it stores."""
    given = list(cursor.get_arguments())
    communicators = [str(each.spelling) for each in given if is_communicator(each)]
    plain = [each for each in given if not is_communicator(each)]
    return CFunction(
        str(cursor.spelling),
        cursor,
        tuple(str(each.spelling) for each in plain),
        tuple(str(each.spelling) for each in plain if is_pointer(each.type)),
        communicators[0] if communicators else WORLD,
        c_type(cursor.result_type).kind != "void",
    )


def is_communicator(declared: Cursor) -> bool:
    """Return whether a parameter or variable is a communicator."""
    return str(declared.type.spelling).removeprefix("const ") == COMMUNICATOR


def with_outs(functions: Mapping[str, CFunction]) -> dict[str, CFunction]:
    """Return functions that know through which pointers they store, also by what they call."""
    found = {name: set(_stored_by_itself(each)) for name, each in functions.items()}
    changed = True
    while changed:
        changed = False
        for name, each in functions.items():
            more = set(_stored_by_calls(each, functions, found)) - found[name]
            found[name] |= more
            changed = changed or bool(more)
    return {
        name: replace(
            each,
            outs=tuple(one for one in each.pointers if one in found[name]),
            reached=frozenset(_reached(name, functions, set())),
        )
        for name, each in functions.items()
    }


def _reached(name: str, functions: Mapping[str, CFunction], seen: set[str]) -> Iterator[str]:
    seen.add(name)
    for each in functions[name].cursor.walk_preorder():
        if cursor_kind(each) == "DECL_REF_EXPR" and each.referenced is not None:
            if cursor_kind(each.referenced) == "VAR_DECL" and each.referenced.semantic_parent.kind.is_translation_unit():
                yield str(each.spelling)
        elif cursor_kind(each) == "CALL_EXPR":
            callee = str(each.spelling)
            if callee.startswith("MPI_"):
                yield "MPI"
            elif callee in functions and callee not in seen:
                yield from _reached(callee, functions, seen)


_STORING: Final = {
    "MPI_Recv": (0,), "MPI_Sendrecv": (5,), "MPI_Bcast": (0,), "MPI_Reduce": (1,), "MPI_Allreduce": (1,), "MPI_Gather": (3,),
    "MPI_Scatter": (3,), "MPI_Allgather": (3,), "MPI_Alltoall": (3,), "MPI_Comm_rank": (1,), "MPI_Comm_size": (1,),
    "MPI_Get_count": (2,),
}  # fmt: skip
"""The arguments through which functions of MPI store."""


def _stored_by_itself(function: CFunction) -> Iterator[str]:
    for each in function.cursor.walk_preorder():
        kind = cursor_kind(each)
        is_assignment = kind == "BINARY_OPERATOR" and binary_kind(each) == ASSIGN
        is_step = kind == "UNARY_OPERATOR" and unary_kind(each) in _UPDATES
        if is_assignment or is_step or kind == "COMPOUND_ASSIGNMENT_OPERATOR":
            yield from _pointers_at(children(each)[0], function)
        elif kind == "CALL_EXPR":
            given = list(each.get_arguments())
            for at in _STORING.get(str(each.spelling), ()):
                yield from _pointers_at(given[at], function)


def _stored_by_calls(
    function: CFunction, functions: Mapping[str, CFunction], known: Mapping[str, Iterable[str]]
) -> Iterator[str]:
    for each in function.cursor.walk_preorder():
        callee = functions.get(str(each.spelling)) if cursor_kind(each) == "CALL_EXPR" else None
        if callee is not None:
            for declared, given in zip(callee.cursor.get_arguments(), each.get_arguments(), strict=False):
                if str(declared.spelling) in known[callee.name]:
                    yield from _pointers_at(given, function)


def _pointers_at(cursor: Cursor, function: CFunction) -> Iterator[str]:
    """Yield the pointer among the parameters through which an lvalue, or an argument, is stored to."""
    found = bare(cursor)
    while (inner := expressions(found)) and cursor_kind(found) != "DECL_REF_EXPR":
        found = bare(inner[0])
    declared = found.referenced if cursor_kind(found) == "DECL_REF_EXPR" else None
    if declared is not None and cursor_kind(declared) == "PARM_DECL" and str(declared.spelling) in function.pointers:
        yield str(declared.spelling)
