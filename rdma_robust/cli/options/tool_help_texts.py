"""Help of commands that serve other tools, or tell about this one."""

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

NEW_HELP = """Write a program to begin with: a pattern in use, with comments that say why it works, and claims that hold.

Without a name the programs are listed, with their constants, which -D gives other values.

\b
Exit codes
  0  written      2  usage, a file that is there already or cannot be written
\b
Examples
  rdma-robust new ring -D SLOTS=3 -o ring.rdma
"""
