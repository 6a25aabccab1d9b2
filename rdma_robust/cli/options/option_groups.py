"""Which options stand together on help pages."""

from __future__ import annotations

from typing import Final

OPTION_GROUPS: Final = {
    "Model and search": (
        "instrumentation",
        "engine",
        "kernel",
        "reductions",
        "ordered_reads",
        "cpu",
        "atomics",
        "order",
        "recv_depth",
        "await_loops",
        "self_check",
        "model",
        "models",
        "reduction",
        "bound",
        "buffer",
        "loop_bound",
        "matches",
        "procs",
        "only",
        "mode",
    ),
    "Limits": ("timeout", "max_states", "memory", "depth", "indices"),
    "Many programs": ("jobs", "expect", "deny", "quiet", "watch", "cache", "no_cache", "executor"),
    "Output": (
        "format_",
        "formats",
        "output",
        "force",
        "write",
        "diff",
        "explain",
        "width",
        "certificate",
        "html",
        "pace",
        "all_moves",
    ),
}
"""The options that several commands have, by the names of their parameters, as the help has them; others come before."""
