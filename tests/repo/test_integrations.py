"""What other tools read: the GitHub action, the pre-commit hooks, and the grammar for editors."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pygments.token import Keyword, Name

from rdma_robust.frame import registry
from rdma_robust.language.syntax.contextual import WORDS as CONTEXTUAL
from rdma_robust.messages.language.message_words import CLAUSES, message_grammar
from rdma_robust.messages.language.message_words import WORDS as MESSAGE_WORDS
from sitegen.lexer import RdmaLexer
from tests.conftest import INVALID, NOT_ROBUST, ROOT, Cli

HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
VSCODE = ROOT / "editors/vscode"
GRAMMAR = json.loads((VSCODE / "syntaxes/rdma.tmLanguage.json").read_text())
MESSAGES = json.loads((VSCODE / "syntaxes/mp.tmLanguage.json").read_text())
LARK = (ROOT / "grammars/common.lark").read_text() + (ROOT / "grammars/rdma.lark").read_text()
WORDS = re.findall(r'^([A-Z]+): "([a-z]+)"$', LARK, re.MULTILINE)
KEYWORDS = [word for name, word in WORDS if name not in CONTEXTUAL]
SOMETIMES = [word for name, word in WORDS if name in CONTEXTUAL]
OPERATORS = re.findall(r'^[A-Z_]+: "([^a-z"]+)"$', LARK, re.MULTILINE)
BIN = Path(sys.executable).parent


def test_the_hooks_are_commands_with_options_that_there_are() -> None:
    for hook in HOOKS:
        program, command, *options = hook["entry"].split()
        assert (program, command in registry.commands(), hook["language"]) == ("rdma-robust", True, "python")
        assert re.search(hook["files"], "a/b.rdma")
        text = subprocess.run([str(BIN / program), command, "--help"], capture_output=True, text=True, check=True).stdout
        assert all(option in text for option in options)


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: str(hook["id"]))
def test_a_hook_takes_no_file_for_an_option(hook: dict[str, Any], cli: Cli, tmp_path: Path) -> None:
    """The hooks' own arguments end with `--`, and so do those that the documentation shows, which take their place."""
    name = "--certificate=x.rdma"
    (tmp_path / name).write_text("node A { x }\nthread T on A {\n  x = 1\n}\n")
    done = cli(*hook["entry"].split()[1:], *hook["args"], name)
    assert done.returncode == 0, done.stderr
    assert [each.name for each in tmp_path.iterdir()] == [name]
    shown = re.findall(r"^ +args: \[(.*)\]", (ROOT / "docs/ci.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert shown and all(each.endswith(", --") for each in shown)


def scopes(text: str, grammar: dict[str, Any] = GRAMMAR) -> dict[str, str]:
    """Return the scope of each word and operator of a line, by the first of the grammar's rules that matches it."""
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        best: tuple[int, int, dict[str, Any], re.Match[str]] | None = None
        for order, rule in enumerate(rules(grammar["patterns"], grammar)):
            match = re.compile(rule.get("match") or rule["begin"]).search(text, at)
            if match and match.end() > match.start() and (best is None or (match.start(), order) < best[:2]):
                best = (match.start(), order, rule, match)
        if best is None:
            break
        _, _, rule, match = best
        if "captures" in rule:
            found |= {match[int(n)]: scope["name"] for n, scope in rule["captures"].items()}
        else:
            found[match[0]] = rule["name"]
        at = match.end() if "match" in rule else len(text)
    return found


def rules(patterns: list[dict[str, Any]], grammar: dict[str, Any] = GRAMMAR) -> Iterator[dict[str, Any]]:
    for pattern in patterns:
        if "include" in pattern:
            yield from rules([grammar["repository"][pattern["include"].removeprefix("#")]], grammar)
        elif "patterns" in pattern and "begin" not in pattern:
            yield from rules(pattern["patterns"], grammar)
        else:
            yield pattern


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_every_keyword_has_a_colour(keyword: str) -> None:
    """Alone, as part of a name, and as a name's beginning: keywords are whole words."""
    assert scopes(keyword)[keyword].split(".")[0] in ("keyword", "constant", "support")
    for name in (f"{keyword}x", f"x{keyword}", f"{keyword}_1"):
        assert scopes(name) == {name: "variable.other.rdma"}


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_has_a_colour(operator: str) -> None:
    assert scopes(f"a {operator} b")[operator].startswith("keyword.operator")


def test_the_grammar_knows_no_other_keywords() -> None:
    named = {
        w for rule in rules(GRAMMAR["patterns"]) for w in re.findall(r"[a-z]{2,}", rule.get("match", "").replace("\\b", " "))
    }
    assert named == {*KEYWORDS, *SOMETIMES}
    assert len(KEYWORDS) > 30


def test_words_that_are_keywords_in_places_have_a_colour_only_there() -> None:
    for word in SOMETIMES:
        assert scopes(f"{word} = 1")[word] == "variable.other.rdma"
    line = scopes("expect not robust, no hang under rdma")
    assert (line["no"], line["hang"]) == ("keyword.other.claim.rdma", "constant.language.rdma")
    line = scopes("for i in 0..2 {")
    assert (line["for"], line["i"], line["in"]) == (
        "keyword.control.flow.rdma",
        "variable.other.constant.rdma",
        "keyword.control.flow.rdma",
    )
    line = scopes("thread P[i in 0..N-1] on Peer[i] {")
    assert (line["thread"], line["i"], line["in"]) == (
        "keyword.declaration.rdma",
        "variable.other.rdma",
        "keyword.declaration.rdma",
    )
    assert scopes("node C[* in 1..2] { x }")["in"] == "keyword.declaration.rdma"
    for text in ("expect robust when N <= 2", "expect safe under tso when C == 2", "invariant A.x == (1) when N > 1"):
        assert scopes(text)["when"] == "keyword.other.claim.rdma"
        assert {value: kind for kind, value in RdmaLexer().get_tokens(text)}["when"] is Keyword
    kinds = {value: kind for kind, value in RdmaLexer().get_tokens("node Peer[i in 0..2] { }")}
    assert (kinds["node"], kinds["i"], kinds["in"]) == (Keyword, Name, Keyword)
    for text, word in (("invariant some C: r == 1", "some"), ("invariant all C: r == 1", "all")):
        assert scopes(text)[word] == "keyword.other.claim.rdma"
        assert {value: kind for kind, value in RdmaLexer().get_tokens(text)}[word] is Keyword
    for text in ("invariant count(C at cs) <= 1", "invariant count(C: r == 1) <= 1"):
        assert scopes(text)["count"] == "keyword.other.claim.rdma"
        assert {value: kind for kind, value in RdmaLexer().get_tokens(text)}["count"] is Keyword
    assert scopes("  count(x)")["count"] == "entity.name.function.macro.rdma"
    line = scopes("macro lock(l) {")
    assert (line["macro"], line["lock"]) == ("keyword.declaration.rdma", "entity.name.function.macro.rdma")
    assert scopes("  lock(l)")["lock"] == "entity.name.function.macro.rdma"
    line = scopes("expect safe under tso, unsafe under rma")
    assert [line[word] for word in ("safe", "tso", "unsafe", "rma")] == ["constant.language.rdma"] * 4
    line = scopes("invariant !(T at cs) || U ended")
    assert [line[word] for word in ("invariant", "at", "ended")] == ["keyword.other.claim.rdma"] * 3
    assert (line["T"], line["cs"]) == ("entity.name.function.thread.rdma", "entity.name.label.rdma")
    assert scopes("  cs: flush B")["cs"] == "entity.name.label.rdma"
    for text, word in (("  cs: flush B", "flush"), ("  mfence", "mfence"), ("  cs: mfence", "mfence")):
        assert scopes(text)[word] == "keyword.control.remote.rdma"
        assert {value: kind for kind, value in RdmaLexer().get_tokens(text)}[word] is Name.Builtin
    for text, word in (("  faa(x, 1)", "faa"), ("r = swap(x, 1)", "swap"), ("r = nondet()", "nondet")):
        assert scopes(text)[word] == "support.function.builtin.rdma"
        assert {value: kind for kind, value in RdmaLexer().get_tokens(text)}[word] is Name.Builtin
    text = "invariant !(T at cs) || U ended; expect safe under tso"
    kinds = {value: kind for kind, value in RdmaLexer().get_tokens(text)}
    assert {kinds[word] for word in ("invariant", "at", "ended", "safe", "tso")} == {Keyword}
    for text, word in (("for i in 0..2 { }", "for"), ("for i in 0..2 { }", "in"), ("macro m(x) { }", "macro")):
        assert {value: kind for kind, value in RdmaLexer().get_tokens(text)}[word] is Keyword
    kinds = {value: kind for kind, value in RdmaLexer().get_tokens("expect no hang under sc")}
    assert kinds["no"] is kinds["hang"] is Keyword
    kinds = {value: kind for kind, value in RdmaLexer().get_tokens(" ".join(f"{word} = 1;" for word in SOMETIMES))}
    assert all(kinds[word] is Name for word in SOMETIMES)


def message_scopes(text: str) -> dict[str, str]:
    return scopes(text, MESSAGES)


def test_message_programs_have_colours_in_the_editor() -> None:
    keywords = message_grammar().keywords
    for kind, word in keywords.items():
        if kind not in MESSAGE_WORDS and word != "expect":
            assert message_scopes(word)[word].split(".")[0] in ("keyword", "constant"), word
            assert message_scopes(f"{word}x") == {f"{word}x": "variable.other.mp"}
        elif word != "expect":
            assert message_scopes(f"{word} = 1")[word] == "variable.other.mp"
    line = message_scopes("  recv v from any s on ctl tag any t")
    assert {line[word] for word in ("recv", "from", "on", "tag")} == {"keyword.control.message.mp"}
    assert line["any"] == "constant.language.mp"
    line = message_scopes("daemon proc Client[i in 0..N - 1] {")
    assert (line["daemon"], line["proc"]) == ("storage.modifier.mp", "keyword.declaration.mp")
    assert line["Client"] == "entity.name.function.process.mp"
    assert message_scopes("x = double(y)")["double"] == "entity.name.function.mp"
    assert message_scopes("port ctl")["port"] == "keyword.declaration.mp"
    inside = MESSAGES["repository"]["claims"]["patterns"][0]["patterns"]
    claims = {word for rule in rules(inside, MESSAGES) for word in re.findall(r"[a-z]{2,}", rule["match"])}
    claimed = {"no", "under", "matchings", "holds", "violated", "deadlock", "race", "zero", "infinite", "any"}
    assert claims == {*claimed, "contract", "verified", "from"}


def test_contracts_have_colours_in_the_editor() -> None:
    begin = MESSAGES["repository"]["contracts"]["patterns"][0]
    assert re.search(begin["begin"], "fun f(x) contract collective {")
    inside = {**MESSAGES, "patterns": begin["patterns"]}
    for kind in CLAUSES:
        word = message_grammar().keywords[kind]
        assert scopes(f"  {word} x", inside)[word] == "keyword.control.contract.mp"
        assert scopes(f"x + {word}", inside)[word] == "variable.other.mp"
    for text in message_grammar().literals.values():
        if text.startswith("\\") and len(text) > 1:
            assert scopes(f"x {text} y", inside)[text].split(".")[0] in ("keyword", "constant", "support"), text
    line = scopes("  quiet to 0..2 on data tag 3 until root if PID == 0;", inside)
    assert {line[word] for word in ("quiet", "to", "on", "tag", "until", "if")} == {"keyword.control.contract.mp"}
    line = scopes("  behavior root: assumes PID == root ==> x;", inside)
    assert (line["root"], line["assumes"]) == ("variable.other.mp", "keyword.control.contract.mp")
    line = scopes("  bounds u len 0..2 in 1..9;", inside)
    assert {line[word] for word in ("bounds", "len", "in")} == {"keyword.control.contract.mp"}


def test_lines_look_right() -> None:
    assert scopes("thread Sender on A {") | {"{": ""} == {
        "thread": "keyword.declaration.rdma",
        "Sender": "entity.name.function.thread.rdma",
        "on": "keyword.declaration.rdma",
        "A": "entity.name.type.node.rdma",
        "{": "",
    }
    assert scopes("put B.d = v // poll B")["B"] == "entity.name.type.node.rdma"
    assert scopes("put B.d = v // poll B")["//"] == "comment.line.double-slash.rdma"
    assert "poll" not in scopes("put B.d = v // poll B")
    assert scopes("domain 0..7")[".."] == "keyword.operator.range.rdma"
    assert scopes("x = 12ab")["12ab"] == "invalid.illegal.number.rdma"


def test_the_extension_points_at_its_files() -> None:
    package = json.loads((VSCODE / "package.json").read_text())
    languages, grammars = package["contributes"]["languages"], package["contributes"]["grammars"]
    assert [each["extensions"] for each in languages] == [[".rdma"], [".mp"]]
    assert [each["language"] for each in grammars] == [each["id"] for each in languages]
    for language, grammar in zip(languages, grammars, strict=True):
        assert (VSCODE / language["configuration"]).is_file()
        assert json.loads((VSCODE / grammar["path"]).read_text())["scopeName"] == grammar["scopeName"]
    json.loads((VSCODE / "language-configuration.json").read_text())


@pytest.mark.parametrize(
    "arguments", [["check", "--format", "concise"], ["check"], ["lint", "--format", "concise"], ["lint"]]
)
def test_the_problem_matcher_reads_what_is_printed(arguments: list[str], cli: Cli, tmp_path: Path) -> None:
    """In every form: the file, the place, the code; and with the names of groups that the editor needs."""
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b/c.rdma").write_text(INVALID)
    (tmp_path / "sb.rdma").write_text(f"{NOT_ROBUST}const N = 1\n")
    package = json.loads((VSCODE / "package.json").read_text())
    (matcher,) = package["contributes"]["problemMatchers"]
    pattern = matcher["pattern"]
    answer = cli(*arguments, "a b/c.rdma", "sb.rdma")
    found = set()
    for line in (answer.stdout + answer.stderr).splitlines():
        if each := re.match(pattern["regexp"], line):
            names = ("file", "line", "column", "severity", "code")
            found.add(tuple(each[pattern[name]] for name in names))
            assert each[pattern["message"]]
    wanted = {
        ("a b/c.rdma", "2", "18", "error", "RR201"),
        ("a b/c.rdma", "3", "14", "error", "RR202"),
        ("sb.rdma", "8", "7", "warning", "RR701"),
    }
    if arguments == ["check", "--format", "concise"]:
        wanted.add(("sb.rdma", "5", "25", "error", "RR010"))
    assert found == wanted
