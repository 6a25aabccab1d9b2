"""The commands and settings that belong to no tool alone."""

from __future__ import annotations

from typing import Final

from rdma_robust.frame.registry import LIMITS, RUNS, CommandEntry, SettingKind, Tool, function_of

HARDWARE: Final = ("ordered-reads", "cpu", "atomics", "order")
MACHINE: Final = (*HARDWARE, "recv-depth", "send-depth", "rnr", "await-loops")
SEARCH: Final = ("instrumentation", "engine", "kernel", "reductions")

REPORT_HELP = """Decide many programs in one run and report on all of them.

PATH is a file, a folder (every *.rdma and *.mp below it), a glob pattern, or - for standard input. Answers are kept
between runs, so a run that was interrupted goes on where it stopped, and one after a small change decides only what
changed. Of programs that pass messages, `.mp`, the contracts of functions are checked too.

\b
Formats
  html    one page that works offline: a table to sort and filter, and behind every row the source with the
          lines of the cycle, the timeline, the execution graph and a repair
  md      for the summary of a CI job or a comment        csv     for spreadsheets
  json    for machines, and for `compare`                 jsonl   the results, one a line
  junit   for CI servers                                  sarif   for code scanning
\b
Exit codes (the worst program counts, in the order 4, 2, 3, 1)
  0  all robust (--expect: all as expected)       3  some unknown
  1  some not robust (--expect: a mismatch)       4  internal error
  2  usage, an invalid program, or a report that could not be written
  130  interrupted: the report has what was done by then
\b
Examples
  rdma-robust report src/ -o report.html
  rdma-robust report src/ -o reports/ --format html --format sarif --format junit
  rdma-robust report litmus/ --expect --format md >> "$GITHUB_STEP_SUMMARY"
  rdma-robust report src/ -o new.json && rdma-robust compare old.json new.json
"""

COMPARE_HELP = """Compare two JSON reports of `report` or `check`: what got better, what got worse, what came and went.

A program got worse if its verdict was as expected and is not any more; where nothing is expected, if it went towards the end
of robust, not robust, unknown, error.

\b
Exit codes
  0  no verdict got worse (--fail-on changes: none changed; --strict: and no programs are new or missing)
  1  some did      2  usage, an unreadable report
\b
Examples
  rdma-robust compare old.json new.json
  rdma-robust compare --fail-on changes old.json new.json
  rdma-robust compare --format md old.json new.json > comment.md
"""

VERIFY_CERTIFICATE_HELP = """\
Check certificates of `check`, `prove`, `cover` or `messages check`, without the engines that found the verdicts.

FILE is a certificate, a directory (every *.json and *.json.gz below it), a glob pattern, or - for standard input. Each
names the file that it is about, relative to its own folder, and holds only for that file's text. With --proven rdma-judge
(in PATH, or what RDMA_ROBUST_JUDGE names), which is extracted from machine-checked proofs, has to agree.

\b
Exit codes (the worst certificate counts)
  0  all valid   1  some invalid   2  usage, unreadable   3  with --proven: not decided   4  internal error
\b
Examples
  rdma-robust check --certificate proofs/ litmus/*.rdma
  rdma-robust verify-certificate proofs/
  rdma-robust verify-certificate sb.rdma.json --input sb.rdma
"""

NEW_HELP = """Write a starter program: a pattern in use, with comments that say why it works, and claims that hold.

Without a name the programs are listed, with their constants, which -D gives other values. `harness FILE.c` writes a
harness for C: guessed processes, stubs for what is not known, and what is left to do marked TODO.

\b
Exit codes
  0  written      2  usage, a file that is there already or cannot be written
\b
Examples
  rdma-robust new ring -D SLOTS=3 -o ring.rdma
  rdma-robust new harness library.c -o harness.c
"""

FMT_HELP = """Format programs, `.rdma` and `.mp`: print them in their one layout, comments kept.

A program that does not parse is reported and never written.

\b
Exit codes
  0  done (--check: nothing would change)    1  --check: something would change    2  usage, invalid program
\b
Examples
  rdma-robust fmt sb.rdma
  rdma-robust fmt --check litmus/
  rdma-robust fmt --write *.rdma
"""

EXPLORE_HELP = """Step through a program by hand, on RDMA hardware and under sequential consistency side by side.

Serves a page to this machine only, at an address with a secret, and opens it in the browser; Ctrl-C ends it. The page shows
what can happen next, memory, queue pairs and registers, goes back and forward, and leads through the counterexample of a
program that is not robust. --tui does the same in the terminal.

A message program (*.mp), or a recorded run of one (a trace, *.json), goes on step by step and match by match, with its
sequence chart.

\b
Exit codes
  0  ended by Ctrl-C   2  usage, invalid program or state, port in use   4  internal error
\b
Examples
  rdma-robust explore sb.rdma
  rdma-robust explore sb.rdma --no-browser --port 8000
  rdma-robust explore sb.rdma --tui
  rdma-robust explore figure-1.mp --buffer zero
"""

PLAYGROUND_HELP = """Serve the playground: a page that runs this tool in the browser, for people who have not installed it.

FOLDER is what `make playground` has made, build/playground where it is not given. Any server of static files can have it;
this one is for this machine only. Ctrl-C ends it.

\b
Exit codes
  0  ended by Ctrl-C   2  usage, no playground there, port in use   4  internal error
\b
Examples
  rdma-robust playground
  rdma-robust playground --no-browser --port 9000 site/playground
"""

SHARE_HELP = """Print a link that opens a program in the playground.

The program is in the link itself, behind #, which browsers send to no server. --base, or `base` in the settings, says where
the playground is.

\b
Exit codes
  0  printed      2  usage, no such program, or one that is too long for a link or names the file of an order table
\b
Examples
  rdma-robust share sb.rdma
  rdma-robust share --tab repair --base https://example.org/playground/ mailbox.rdma
"""

EXERCISE_HELP = """Learn by exercises: without a name, list the course; with one, print the task and a starter program.

With a FILE, judge an answer: the tool itself decides whether it does what the task asks, and compares its cost with that of
the cheapest repair, which is proven to be. The page of `rdma-robust playground` has the same exercises and the same judge.

\b
Exit codes
  0  printed, or solved      1  not solved      2  usage, not well-formed      3  undecided: a limit came first
\b
Examples
  rdma-robust exercise
  rdma-robust exercise mailbox-mended > answer.rdma
  rdma-robust exercise mailbox-mended answer.rdma
  rdma-robust exercise 2 --hint
"""

EXPLAIN_CODE_HELP = """Explain the code at the end of a message, such as RR306; without a code, list them all.

Every error and warning has a code, and so has what a run says of a program: not robust, undecided. A code keeps its meaning
between versions.

\b
Exit codes
  0  explained      2  usage, an unknown code
\b
Examples
  rdma-robust explain-code
  rdma-robust explain-code RR306
"""

COMPLETION_HELP = """Print the script that completes commands, options, their values and file names in a shell.

\b
Where it goes
  bash  source <(rdma-robust completion bash) in ~/.bashrc
  zsh   source <(rdma-robust completion zsh) in ~/.zshrc, after compinit
  fish  rdma-robust completion fish | source in ~/.config/fish/config.fish
\b
Exit codes
  0  printed      2  usage, another shell
\b
Examples
  rdma-robust completion bash > ~/.local/share/bash-completion/completions/rdma-robust
  rdma-robust completion fish > ~/.config/fish/completions/rdma-robust.fish
"""

LSP_HELP = """Run the language server for `.rdma` programs: serve an editor over standard input and output.

It shows errors while one types, the verdict above the program and the reordering at its statements, the meaning of what
is under the cursor; it formats, renames, completes, and goes to declarations. Needs the extra [lsp].

\b
Exit codes
  0  the editor has gone      2  usage, or pygls is not installed
\b
Examples
  rdma-robust lsp --stdio
"""

MCP_HELP = """Serve programs that use tools, by the Model Context Protocol over standard input and output.

The tools are check, explain, repair, outcomes, needs and lint, about one `.rdma` program each, given as text or as a file of
a --folder; the answer is their JSON, and whether it was decided. Every call says what it may take. Needs the extra [mcp].

\b
Exit codes
  0  the client has gone      2  usage, or the package mcp is not installed
\b
Examples
  rdma-robust mcp --folder litmus
"""

DEMO_HELP = """Walk through the proofs of the paper as programs that run: without a name, list the demos.

A demo tells what its theorem says, generates the programs of the proof, runs them, and says what to try next. On a
terminal it pauses between sections; --pace 0 does not. Ctrl-C ends it.

\b
Exit codes
  0  told, whatever the answer      2  usage, invalid input      130  interrupted
\b
Examples
  rdma-robust demo
  rdma-robust demo abp
  rdma-robust demo pcp --top a,ab,bba --bottom baa,aa,bb --html pcp.html
"""


TOOL: Final = Tool(
    "shared",
    commands=(
        CommandEntry(
            "report",
            REPORT_HELP,
            function_of("report"),
            rank=160,
            group=("Report", 10),
            settings=(*LIMITS, *RUNS, *MACHINE, *SEARCH, "self-check", "claims"),
        ),
        CommandEntry(
            "compare",
            COMPARE_HELP,
            function_of("compare"),
            rank=170,
            group=("Report", 20),
            reads=(".json",),
            settings=("fail-on",),
        ),
        CommandEntry(
            "verify-certificate",
            VERIFY_CERTIFICATE_HELP,
            function_of("verify-certificate"),
            rank=110,
            group=("Report", 30),
            reads=(".json", ".json.gz"),
        ),
        CommandEntry("new", NEW_HELP, function_of("new"), rank=50, group=("Write and repair", 10)),
        CommandEntry("fmt", FMT_HELP, function_of("fmt"), rank=60, group=("Write and repair", 20), reads=(".rdma", ".mp")),
        CommandEntry(
            "explore",
            EXPLORE_HELP,
            function_of("explore"),
            rank=100,
            group=("Understand", 20),
            settings=(*HARDWARE, "memory", "recv-depth", "send-depth", "rnr", "await-loops"),
        ),
        CommandEntry("playground", PLAYGROUND_HELP, function_of("playground"), rank=102, group=("Understand", 22), reads=()),
        CommandEntry(
            "share",
            SHARE_HELP,
            function_of("share"),
            rank=104,
            group=("Understand", 24),
            reads=(".rdma", ".mp"),
            settings=("base",),
        ),
        CommandEntry(
            "exercise",
            EXERCISE_HELP,
            function_of("exercise"),
            rank=106,
            group=("Understand", 26),
            reads=(".rdma",),
            settings=("timeout",),
        ),
        CommandEntry("explain-code", EXPLAIN_CODE_HELP, function_of("explain-code"), rank=90, group=("Understand", 30)),
        CommandEntry("completion", COMPLETION_HELP, function_of("completion"), rank=230, group=("Set up", 10)),
        CommandEntry("lsp", LSP_HELP, function_of("lsp"), rank=220, group=("Set up", 20)),
        CommandEntry("mcp", MCP_HELP, function_of("mcp"), rank=225, group=("Set up", 30)),
        CommandEntry(
            "demo",
            DEMO_HELP,
            function_of("demo"),
            rank=260,
            group=("Theory", 10),
            below=(
                CommandEntry("pcp", "", reads=(".pcp", ".txt", ".json")),
                CommandEntry("abp", ""),
                CommandEntry("vass", "", reads=(".json", ".rdma")),
                CommandEntry("finite", ""),
            ),
        ),
    ),
    settings=(
        SettingKind("timeout", "number", 10),
        SettingKind("memory", "whole", 20),
        SettingKind("max-states", "whole", 30),
        SettingKind("jobs", "whole", 40),
        SettingKind("threads", "whole", 42),
        SettingKind("expect", "yes or no", 50),
        SettingKind("self-check", "yes or no", 220),
        SettingKind("explain", "yes or no", 230),
        SettingKind("quiet", "yes or no", 240),
        SettingKind("fail-on", "text", 380),
        SettingKind("base", "text", 390),
    ),
)
