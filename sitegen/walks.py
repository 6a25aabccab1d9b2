"""The walk-throughs as pages of the site: what `rdma-robust demo NAME --html` writes, within a page of the site each."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from mkdocs.exceptions import PluginError

WALKS = "demos.md"


@dataclass(frozen=True)
class Shown:
    """A walk-through by the name of its demo."""

    name: str
    title: str
    text: str


SHOWN = (
    Shown(
        "pcp",
        "Undecidability: Post's problem",
        "Whether a program has an execution that ends in a given state is undecidable: `demo pcp` turns an instance of "
        "Post's correspondence problem into a program that ends well if and only if the instance has a solution.",
    ),
    Shown(
        "vass",
        "Hardness: vector addition systems",
        "Robustness is ExpSpace-complete: `demo vass` turns coverability in a vector addition system into robustness.",
    ),
    Shown(
        "finite",
        "Hardness without polls",
        "Without polls there are no counters, and robustness is still PSpace-complete: `demo finite`.",
    ),
    Shown(
        "abp",
        "Lost and duplicated symbols",
        "`demo abp` sends symbols by puts without a protocol, and with the alternating-bit protocol.",
    ),
)

INTRODUCTION = """# Walk-throughs

The proofs of the paper as programs that run. Each of these pages is what `rdma-robust demo NAME --html FILE` writes: one
file that needs nothing else, with runs that play, step back, and can be opened at any step.
[Undecidability](undecidability.md) and [hardness](hardness.md) tell the proofs in words.
"""


def walks_page() -> str:
    """Return the Markdown of the page that shows all of them."""
    parts = (
        f"## {each.title}\n\n{each.text} [The walk-through alone](demos/{each.name}.html)\n\n"
        f'<iframe class="rr-walk" src="demos/{each.name}.html" title="{each.title}" loading="lazy"></iframe>\n'
        for each in SHOWN
    )
    return "\n".join((INTRODUCTION, *parts))


def walk_files() -> Iterator[tuple[str, str]]:
    """Yield address and text of each walk-through. Raises PluginError if the tool cannot make one."""
    with TemporaryDirectory() as folder:
        for each in SHOWN:
            file = Path(folder) / f"{each.name}.html"
            command = [sys.executable, "-m", "rdma_robust", "demo", each.name, "--pace", "0", "--html", str(file)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise PluginError(f"demo {each.name}: {done.stderr}")
            yield f"demos/{each.name}.html", file.read_text(encoding="utf-8")
