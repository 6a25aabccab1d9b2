"""Which warnings are shown: --enable and --disable of `check` and `lint`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rdma_robust.diagnose import did_you_mean
from rdma_robust.errors import UsageError
from rdma_robust.frame.shell.inputs import EVERYTHING, WarningChoice
from rdma_robust.text import one_line

if TYPE_CHECKING:
    pass


def chosen(enable: Sequence[str] | None, disable: Sequence[str] | None) -> WarningChoice:
    """Return the choice of the options. Raises UsageError for what is no code of a warning."""
    if not enable and not disable:
        return EVERYTHING
    return WarningChoice(_codes("--enable", enable), _codes("--disable", disable))


def _codes(option: str, names: Sequence[str] | None) -> frozenset[str]:
    from rdma_robust.codes.known_codes import codes  # noqa: PLC0415 - only where something is chosen

    known = [name for name, code in codes().items() if name.startswith("RR7") and code.severity == "warning"]
    found = [name.strip().upper() for each in names or () for name in each.split(",")]
    for name in found:
        if name not in known:
            hint = did_you_mean(name, known) or "`rdma-robust explain-code` lists them"
            raise UsageError(f"{option}: no warning has the code {one_line(name)!r}; {hint}")
    return frozenset(found)
