"""Files of folders that are not for who asks about robustness: they say only under which models they are safe or unsafe."""

from __future__ import annotations

from collections.abc import Sequence

from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.frame.shell.inputs import Item, Source, UnreadableError, read_source


def without_proofs(items: Sequence[Item]) -> tuple[list[Item], int]:
    """Return the items without the files of folders that expect only `safe` and `unsafe`, and how many those were.

    A file that was named stays, and so does one that cannot be read: who decides it says what is wrong.
    """
    kept = [item for item in items if not (isinstance(item, Source) and item.in_folder and _is_for_proofs(item))]
    return kept, len(items) - len(kept)


def _is_for_proofs(source: Source) -> bool:
    try:
        text = read_source(source)
    except (UnreadableError, UsageError, ProgramError):
        return False
    if "safe" not in text:
        return False
    from rdma_robust.language.load import parse_program  # noqa: PLC0415 - slow, and few files come here
    from rdma_robust.language.syntax import ast  # noqa: PLC0415

    try:
        tree = parse_program(text, source.name)
    except ProgramError:
        return False
    kinds = {each.kind for item in tree.items if isinstance(item, ast.Expect) for each in item.expectations}
    return kinds == {"safe"}
