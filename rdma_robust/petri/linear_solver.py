"""HiGHS, which solves the linear programs of nets, so that it says nothing and takes one processor."""

from __future__ import annotations

from typing import Any

from rdma_robust.foreign import unheard


def solver() -> Any:
    """Return a new solver. Some versions print a banner as soon as there is one, before they can be told not to."""
    import highspy  # noqa: PLC0415 -- 0.1 s; nets that slicing decides do without

    with unheard():
        highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
    return highs
