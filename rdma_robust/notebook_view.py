"""Values that notebooks show: Jupyter asks an object for `_repr_html_` and `_repr_svg_`."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class NotebookView:
    """A value that notebooks show as HTML, or as a drawing; None where there is nothing to show."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        found: str | None = _views().html_of(self)
        return found

    def _repr_svg_(self) -> str | None:
        found: str | None = _views().svg_of(self)
        return found


def _views() -> Any:
    """The room that draws: values do not depend on it, and it is loaded when a notebook asks."""
    return import_module("rdma_robust.reports.explanation.notebook_views")
