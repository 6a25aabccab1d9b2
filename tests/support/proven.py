"""What the tests of the extracted checker and search leave out of the model, since the Coq development does not have it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rdma_robust.certify.hardware import Platform
from rdma_robust.orders.known_orders import TABLES, order_table


def without_completions_order(patched: pytest.MonkeyPatch) -> None:
    """Take the order that completions give out of the tool and of the checker: `order multipath` is its table."""
    patched.setitem(TABLES, "multipath", replace(order_table("multipath"), behind_polls=""))
    patched.setattr(Platform, "completions_order", False)
