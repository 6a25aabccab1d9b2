"""`check --dump-after PASS`: what a pass of the pipeline makes of each program."""

from __future__ import annotations

from collections.abc import Sequence

from rdma_robust import pipeline
from rdma_robust.cli.inputs import Item, Missing, read_source
from rdma_robust.cli.output import StandardOutput
from rdma_robust.cli.processes.decide_program import exit_of_error, message_of
from rdma_robust.cli.stderr import warn
from rdma_robust.errors import UsageError
from rdma_robust.options import CheckOptions
from rdma_robust.reports.share.exits import Exit, worst
from rdma_robust.text import printable


def run_dump(items: Sequence[Item], options: CheckOptions, pass_name: str) -> Exit:
    """Print the dump of every item; return the worst exit code. Raises UsageError for an unknown pass."""
    passes = [each.name for each in pipeline.PASSES]
    if pass_name not in passes:
        raise UsageError(f"--dump-after: there is no pass {pass_name!r}; the passes are {', '.join(passes)}")
    return worst([_dump(item, options, pass_name) for item in items])


def _dump(item: Item, options: CheckOptions, pass_name: str) -> Exit:
    if isinstance(item, Missing):
        warn(f"{printable(item.name)}: error: {item.reason}")
        return Exit.INVALID
    try:
        text = pipeline.dump(read_source(item), item.name, options, pass_name)
        StandardOutput().line(printable(text.rstrip("\n"), "\n\t"))
    except BrokenPipeError:
        raise
    except Exception as error:
        warn(message_of(error, item.name))
        return exit_of_error(error)
    return Exit.OK
