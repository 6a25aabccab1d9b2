#!/usr/bin/env bash
# The work of action.yml: install, report, and tell the later steps how it went. It runs in a checkout that may be of somebody
# else, from which it takes programs and settings and nothing else: no code of it is run, and no file of it is taken for a report.
# Everything it is told comes by environment variables, so that no input is ever part of a script.
set -u

fail() {
    printf '::error::rdma-robust: %s\n' "$1"
    exit 2
}

checkout=$PWD
work=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/rdma-robust.XXXXXXXX") || fail "there is no folder for temporary files"
trap 'rm -rf -- "$work"' EXIT

# Where the reports go in the end: a folder of their own, to which no link of the checkout leads.
OUTPUT=${OUTPUT#"$checkout/"}
OUTPUT=${OUTPUT%"${OUTPUT##*[!/]}"}
case "$OUTPUT" in
*[[:cntrl:]]*) fail "the input output has a line end or another control character in it" ;;
'' | . | ./ | .git | .git/* | -*) fail "the input output names no folder that could be the reports' own: '$OUTPUT'" ;;
esac
case "/$OUTPUT/" in
*/../* | */./*) fail "the input output has . or .. in it: '$OUTPUT'" ;;
esac
case "$checkout/" in
"$OUTPUT"/*) fail "the checkout lies in the folder of the input output: '$OUTPUT'" ;;
esac
above=$OUTPUT
while [ "${above#/}" = "$above" ] && [ "$above" != "${above%/*}" ]; do
    above=${above%/*}
    [ ! -L "$above" ] || fail "the input output leads through a link of the checkout: $above"
done

# Outside of the checkout: names without a folder, and modules of Python, are never those of the checkout.
cd "$work" || exit 2
tool=$(type -P rdma-robust) || {
    python=$(type -P python || type -P python3) || fail "there is no Python to install rdma-robust with"
    "$python" -I -m venv "$work/venv" || fail "no virtual environment can be made"
    pip=("$work/venv/bin/python" -I -m pip install --quiet --disable-pip-version-check)
    "${pip[@]}" --require-hashes --requirement "$ACTION/requirements/run.lock" || fail "the pinned versions cannot be installed"
    "${pip[@]}" --no-deps --no-build-isolation "$ACTION" || fail "rdma-robust cannot be installed"
    tool=$work/venv/bin/rdma-robust
}
cd "$checkout" || exit 2

paths=()
while IFS= read -r -d ' ' path; do
    [ -n "$path" ] && paths+=("$path")
done < <(printf '%s ' "$PATHS" | tr '\n\t' '  ')
arguments=()
while IFS= read -r option; do
    [ -n "$option" ] && arguments+=("$option")
done <<<"$OPTIONS"
[ "$EXPECT" = true ] && arguments+=(--expect)

"$tool" report --output "$work/reports/" --cache "$CACHE" \
    --format html --format sarif --format junit --format json --format md "${arguments[@]}" -- "${paths[@]}"
code=$?

# What the checkout has brought there goes, links included; what was written now comes.
rm -rf -- "$OUTPUT" || fail "the folder $OUTPUT cannot be cleared"
{
    mkdir -p -- "$work/reports" "$OUTPUT" && cp -R -- "$work/reports/." "$OUTPUT/"
} || fail "the folder $OUTPUT cannot be written"
{
    printf 'exit-code=%s\n' "$code"
    [ -f "$work/reports/report.html" ] && printf 'report=%s\n' "$OUTPUT/report.html"
    [ -f "$work/reports/report.sarif" ] && printf 'sarif=%s\n' "$OUTPUT/report.sarif"
} >>"$GITHUB_OUTPUT"
[ -f "$work/reports/report.md" ] && cat -- "$work/reports/report.md" >>"$GITHUB_STEP_SUMMARY"
exit 0
