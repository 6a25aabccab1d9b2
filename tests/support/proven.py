"""What the tests of the proven judge and search leave out of the model, since the Coq development does not have it."""

from __future__ import annotations

import pytest

from rdma_robust.certify.hardware import Platform
from rdma_robust.semantics import order_table


def without_completions_order(patched: pytest.MonkeyPatch) -> None:
    """Take the order that completions give out of the tool and of the checker: `order multipath` is its table."""
    patched.setattr(order_table, "COMPLETIONS_ORDER", frozenset())
    patched.setattr(Platform, "completions_order", False)
