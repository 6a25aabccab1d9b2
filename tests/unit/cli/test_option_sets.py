"""Sets of options stand in a command for their options, in their place and with their defaults."""

from __future__ import annotations

from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from rdma_robust.cli.options.option_sets import HardwareOptions, SearchOptions, with_option_sets
from rdma_robust.options import CheckOptions


@with_option_sets
def example(
    file: Annotated[str, typer.Argument()],
    *,
    search: SearchOptions,
    first: Annotated[int, typer.Option()] = 1,
    hardware: HardwareOptions,
) -> None:
    """Say what was given."""
    typer.echo(f"{file} {first} {CheckOptions(**search.values(), **hardware.values())}")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ([], CheckOptions()),
        (["--engine", "bfs", "--cpu", "tso"], CheckOptions(engine="bfs", cpu="tso")),
        (["--await-loops", "--recv-depth", "3"], CheckOptions(await_loops=True, recv_depth=3)),
    ],
)
def test_a_set_is_made_of_its_options(given: list[str], meant: CheckOptions) -> None:
    app = typer.Typer()
    app.command()(example)
    answer = CliRunner().invoke(app, ["a.rdma", *given])
    assert (answer.exit_code, answer.output) == (0, f"a.rdma 1 {meant}\n")


def test_the_options_are_where_the_set_is() -> None:
    app = typer.Typer()
    app.command()(example)
    names = [each.name for each in typer.main.get_command(app).params]
    assert names[:5] == ["file", "instrumentation", "engine", "kernel", "first"]
    assert names[5] == "ordered_reads"
