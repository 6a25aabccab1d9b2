"""What programs run on, as data: the order tables of networks, `.toml`, and what programs need of them."""

from __future__ import annotations

from typing import Final

from rdma_robust.frame.registry import CommandEntry, Tool, function_of

HARDWARE_HELP: Final = """Show the order tables of hardware, check your own, and compare two of them.

A table says what a network keeps of the order of a queue pair. It is a file, or the name of one of the tool: as in
`check --order NAME|FILE`.

\b
  rdma-robust hardware COMMAND --help     what it does, its options, exit codes, examples
\b
Examples
  rdma-robust hardware show ooo-dp
  rdma-robust hardware check mine.toml
  rdma-robust hardware compare default mine.toml
"""

TABLE_LIST_HELP: Final = """List the order tables of the tool.

\b
Exit codes
  0  listed      2  usage
\b
Examples
  rdma-robust hardware list
  rdma-robust hardware list --format json -o tables.json
"""

TABLE_SHOW_HELP: Final = """Show a table: its cells and rules, who says so, and what decides programs under it.

NAME is a table of the tool, FILE one of yours, FILE.toml.

\b
Exit codes
  0  shown      2  usage, a file with mistakes
\b
Examples
  rdma-robust hardware show relaxed-mr
  rdma-robust hardware show mine.toml --format json
"""

TABLE_CHECK_HELP: Final = """Check the file of a table, and say which facts that the proofs ask of a table it lacks.

FILE is a table, FILE.toml. Every mistake is told with its place and what is allowed there.

\b
Exit codes
  0  a table, whatever it lacks      2  usage, a file with mistakes
\b
Examples
  rdma-robust hardware check mine.toml
"""

TABLE_COMPARE_HELP: Final = """Say in what two tables differ, each time with a smallest program that notices it.

NAME is a table of the tool, FILE one of yours, FILE.toml. Programs of up to --up-to statements are tried, the smallest
first, under the first table and under the first table with this cell of the second one. Where --timeout ends that, that is
said.

\b
Exit codes
  0  compared      2  usage, a file with mistakes      3  the time was over
\b
Examples
  rdma-robust hardware compare default ooo-dp
  rdma-robust hardware compare relaxed mine.toml --up-to 5 --timeout 300
"""

TOOL: Final = Tool(
    "hardware",
    commands=(
        CommandEntry(
            "hardware",
            HARDWARE_HELP,
            rank=75,
            group=("Understand", 25),
            reads=(".toml",),
            below=(
                CommandEntry("list", TABLE_LIST_HELP, function_of("hardware list")),
                CommandEntry("show", TABLE_SHOW_HELP, function_of("hardware show"), reads=(".toml",)),
                CommandEntry("check", TABLE_CHECK_HELP, function_of("hardware check"), reads=(".toml",)),
                CommandEntry(
                    "compare",
                    TABLE_COMPARE_HELP,
                    "rdma_robust.cli.commands.hardware_compare:compare_tables_command",
                    reads=(".toml",),
                ),
            ),
            default="list",
        ),
    ),
)
