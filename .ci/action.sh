#!/usr/bin/env bash
# The work of action.yml: install, report, and tell the later steps how it went. Everything it is told comes by environment
# variables, so that no input is ever part of a script.
set -u

if ! command -v rdma-robust >/dev/null 2>&1; then
    python -m pip install --quiet --disable-pip-version-check "$ACTION" || exit 2
fi

paths=()
while IFS= read -r -d ' ' path; do
    [ -n "$path" ] && paths+=("$path")
done < <(printf '%s ' "$PATHS" | tr '\n\t' '  ')
arguments=()
while IFS= read -r option; do
    [ -n "$option" ] && arguments+=("$option")
done <<<"$OPTIONS"
[ "$EXPECT" = true ] && arguments+=(--expect)

rdma-robust report --output "$OUTPUT/" --cache "$CACHE" \
    --format html --format sarif --format junit --format json --format md "${arguments[@]}" -- "${paths[@]}"
code=$?

{
    echo "exit-code=$code"
    [ -f "$OUTPUT/report.html" ] && echo "report=$OUTPUT/report.html"
    [ -f "$OUTPUT/report.sarif" ] && echo "sarif=$OUTPUT/report.sarif"
} >>"$GITHUB_OUTPUT"
[ -f "$OUTPUT/report.md" ] && cat "$OUTPUT/report.md" >>"$GITHUB_STEP_SUMMARY"
exit 0
