"""The front ends of the tool for RDMA programs: `.rdma`, programs of Trencher, and C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rdma_robust.frame.registry import FrontEnd

if TYPE_CHECKING:
    from rdma_robust.frame.editor import Editor

TRENCHER_SUFFIX: Final = ".trencher"
C_SUFFIX: Final = ".c"
C_PLUS_PLUS: Final = (".cc", ".cpp", ".cxx")
NO_C_LAYOUT: Final = "C has no layout of ours; `rdma-robust import` writes it as a program that has one"
NO_C_PLUS_PLUS: Final = (
    "C++ is not read: put the C that posts and polls into a file of its own, FILE.c, and include it there"
)
NO_LAYOUT = "a program of Trencher has no layout of ours; `rdma-robust import trencher` makes one that has"


def _is_trencher(text: str, file: str) -> bool:
    from rdma_robust.language.load import is_trencher  # noqa: PLC0415 - slow, and only asked of texts that are read

    return is_trencher(text, file)


def _formatted(text: str, file: str) -> str:
    from rdma_robust.language.syntax.formatter import format_source  # noqa: PLC0415 - slow

    return format_source(text, file)


def _written_out(text: str, file: str) -> str:
    from rdma_robust.language.load import written_out_tree  # noqa: PLC0415 - slow
    from rdma_robust.language.syntax.formatter import format_tree  # noqa: PLC0415

    return format_tree(written_out_tree(text, file))


def _tables(text: str, file: str) -> Sequence[str]:
    if '"' not in text:
        return ()
    from rdma_robust.orders.named_tables import files_named  # noqa: PLC0415 - few programs name a file

    return files_named(text, file)


def _defined(text: str, define: Sequence[str], file: str) -> str:
    from rdma_robust.language.defines import with_definitions  # noqa: PLC0415 - slow, and few programs are read so

    return with_definitions(text, define, file=file)


def _is_c(text: str, file: str) -> bool:
    from rdma_robust.language.load import is_c  # noqa: PLC0415 - slow, and only asked of texts that are read

    return is_c(text, file)


def _c_parts(text: str, file: str) -> Sequence[str]:
    from rdma_robust.c.read_c import files_of  # noqa: PLC0415 - slow, and few programs are C

    return files_of(text, file)


def _is_c_plus_plus(_: str, file: str) -> bool:
    return file.endswith(C_PLUS_PLUS)


def _editor() -> Editor:
    from rdma_robust.editing.declared_names import DeclaredNames, renaming, typing_offers  # noqa: PLC0415
    from rdma_robust.editing.hovers import hover  # noqa: PLC0415
    from rdma_robust.editing.rdma_editor import decide_rdma, diagnostics_of  # noqa: PLC0415
    from rdma_robust.frame.editor import Editor  # noqa: PLC0415

    return Editor(diagnostics_of, DeclaredNames, hover, typing_offers, renaming, decide_rdma)


def _c_editor() -> Editor:
    from rdma_robust.editing.rdma_editor import decide_c, is_asked_about  # noqa: PLC0415 - slow, and only in editors
    from rdma_robust.frame.editor import Editor  # noqa: PLC0415

    return Editor(lambda *_: (), decide=decide_c, asks=is_asked_about, when_saved=True)


FRONT_ENDS: Final = (
    FrontEnd("trencher", (TRENCHER_SUFFIX,), _is_trencher, defined=_defined, no_layout=NO_LAYOUT, editor=_editor),
    FrontEnd(
        "c",
        (C_SUFFIX,),
        _is_c,
        defined=_defined,
        parts=_c_parts,
        no_layout=NO_C_LAYOUT,
        editor=_c_editor,
        optioned=True,
        alike=(".rdma",),
        elsewhere={
            ".mp": "this is no message program; `rdma-robust check` decides C with one-sided operations",
            ".spec": "this is no net; `rdma-robust check` decides C with one-sided operations",
            ".json": "this is no certificate; `rdma-robust check --certificate FOLDER FILE.c` writes one",
        },
    ),
    FrontEnd(
        "c++",
        C_PLUS_PLUS,
        _is_c_plus_plus,
        no_layout=NO_C_PLUS_PLUS,
        elsewhere={".rdma": NO_C_PLUS_PLUS, ".mp": NO_C_PLUS_PLUS},
    ),
    FrontEnd(
        "rdma",
        (".rdma",),
        formatted=_formatted,
        written_out=_written_out,
        defined=_defined,
        parts=_tables,
        editor=_editor,
        elsewhere={".mp": "this is no message program; `rdma-robust check` decides it"},
    ),
)
