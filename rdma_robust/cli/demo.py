"""The demos: each module adds its commands to `demo`."""

from __future__ import annotations

from types import ModuleType

import typer

from rdma_robust.cli import demo_abp, demo_finite, demo_pcp, demo_vass
from rdma_robust.cli.demo_options import demos

PARTS: tuple[ModuleType, ...] = (demo_pcp, demo_abp, demo_vass, demo_finite)
"""Modules with demos, in the order of the list; each has its commands in `commands`."""


def register(app: typer.Typer) -> None:
    """Add the command `demo` to `app`."""
    demos.registered_commands[:] = [command for part in PARTS for command in part.commands.registered_commands]
    app.add_typer(demos, name="demo")
