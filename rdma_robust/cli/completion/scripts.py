"""What the shells are told: a script each, which asks the command itself what can stand at the cursor.

It is asked with the words of the line as its arguments, and the shell and the place of the cursor in
`_RDMA_ROBUST_COMPLETE`. The scripts that typer has hand over one text, which has to be split again, and know nothing of
files.
"""

from __future__ import annotations

from typing import Final, Literal

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
