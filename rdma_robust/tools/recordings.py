"""Recorded runs: the command that compiles, runs and decides them. Their texts are `.rdma`, which the tool of that reads."""

from __future__ import annotations

from typing import Final

from rdma_robust.frame.registry import LIMITS, CommandEntry, Tool, function_of
from rdma_robust.tools.shared import HARDWARE

RECORD_HELP = """Run a program of C or C++ with a NIC in software, and decide the run.

No NIC and no kernel module is needed. `record cc` and `record c++` stand for a compiler: what they compile writes down
what its threads do with the memory of NICs, and what they link has a NIC in the place of libibverbs, between the
processes of one machine. The run becomes a program: straight threads, in which every read must see what it saw.

\b
Verdicts
  NOT ROBUST   is real: the program that was recorded can do what is shown
  robust       is about this way through the program
\b
Exit codes
  0  robust, compiled         2  usage; the program crashes, hangs, is not compiled for it, or does what is not recorded
  1  not robust, a race       3  unknown     4  internal error
\b
Examples
  rdma-robust record c++ -O2 -o mailbox mailbox.cc -libverbs
  rdma-robust record -- ./mailbox
  rdma-robust record -n 2 --out run.rdma -- ./ring
  rdma-robust record --races -- ./ring
"""

TOOL: Final = Tool(
    "recordings",
    commands=(
        CommandEntry(
            "record",
            RECORD_HELP,
            function_of("record"),
            rank=125,
            group=("Decide", 120),
            settings=(*LIMITS, *HARDWARE, "await-loops", "explain", "quiet"),
            passes_on=("cc", "c++"),
        ),
    ),
)
