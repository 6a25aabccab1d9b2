"""`check --dump-after PASS`: what a pass of the pipeline makes of each program."""

from __future__ import annotations

from collections.abc import Sequence

from rdma_robust import pipeline
from rdma_robust.cli.answering import answer_each
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Item, Source
from rdma_robust.frame.shell.output import StandardOutput
from rdma_robust.options import CheckOptions
from rdma_robust.text import printable


def run_dump(items: Sequence[Item], options: CheckOptions, pass_name: str) -> Exit:
    """Print the dump of every item; return the worst exit code. Raises UsageError for an unknown pass."""
    passes = [each.name for each in pipeline.PASSES]
    if pass_name not in passes:
        raise UsageError(f"--dump-after: there is no pass {pass_name!r}; the passes are {', '.join(passes)}")

    def dumped(source: Source, program: str) -> Exit:
        text = pipeline.dump(program, source.name, options, pass_name)
        StandardOutput().line(printable(text.rstrip("\n"), "\n\t"))
        return Exit.OK

    return answer_each(items, options.limits, dumped)
