"""The `completion` command: print the script that completes command lines in a shell.

The script asks the command itself what can stand at the cursor: with the words of the line as its arguments, and the shell
and the place of the cursor in `_RDMA_ROBUST_COMPLETE`. The scripts that typer has hand over one text, which has to be split
again, and know nothing of files.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final, Literal

import typer

from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.output import StandardOutput

Shell = Literal["bash", "zsh", "fish"]
VARIABLE: Final = "_RDMA_ROBUST_COMPLETE"

BASH: Final = """\
# Completion of rdma-robust for bash: source <(rdma-robust completion bash)
_rdma_robust() {
    local kind value about
    COMPREPLY=()
    while IFS=$'\\t' read -r kind value about; do
        COMPREPLY+=("$value")
        [[ $kind == path ]] && compopt -o filenames
    done < <(_RDMA_ROBUST_COMPLETE="bash:$COMP_CWORD" "$1" "${COMP_WORDS[@]:1}" 2>/dev/null)
}
complete -F _rdma_robust rdma-robust
"""

ZSH: Final = """\
#compdef rdma-robust
# Completion of rdma-robust for zsh: source <(rdma-robust completion zsh), or a file _rdma-robust in $fpath
_rdma_robust() {
    local kind value about
    local -a names files folders
    while IFS=$'\\t' read -r kind value about; do
        case $kind in
            word) names+=("${value//:/\\\\:}:$about") ;;
            path) if [[ $value == */ ]]; then folders+=("$value"); else files+=("$value"); fi ;;
        esac
    done < <(_RDMA_ROBUST_COMPLETE="zsh:$((CURRENT - 1))" "${words[1]}" "${(@)words[2,-1]}" 2>/dev/null)
    (( $#names )) && _describe 'rdma-robust' names
    (( $#files )) && compadd -f -- "${(@)files}"
    (( $#folders )) && compadd -f -S '' -- "${(@)folders}"
}
if [ "$funcstack[1]" = "_rdma_robust" ]; then
    _rdma_robust "$@"
else
    compdef _rdma_robust rdma-robust
fi
"""

FISH: Final = """\
# Completion of rdma-robust for fish: rdma-robust completion fish | source
function __rdma_robust
    set -l typed (commandline -opc)
    set -l place (count $typed)
    set -l tool $typed[1]
    set -e typed[1]
    env _RDMA_ROBUST_COMPLETE=fish:$place $tool $typed (commandline -ct) 2>/dev/null | string replace -r '^\\w+\\t' ''
end
complete -c rdma-robust -f -a '(__rdma_robust)'
"""

SCRIPTS: Final[dict[Shell, str]] = {"bash": BASH, "zsh": ZSH, "fish": FISH}
"""By shell."""


def completion_command(
    context: typer.Context, shell: Annotated[Shell, typer.Argument(metavar="bash|zsh|fish", hidden=True)]
) -> None:
    """Note in the context what is to be done."""
    context.obj.append(partial(run_completion, shell))


def run_completion(shell: Shell) -> Exit:
    """Print the script; return the exit code. Raises BrokenPipeError."""
    StandardOutput().write(SCRIPTS[shell])
    return Exit.OK
