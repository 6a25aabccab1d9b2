"""Syntax errors in words people use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from lark import Token

from rdma_robust.diagnose import Hint, Reporter, closest, listing, meant_at, quote
from rdma_robust.errors import Edit
from rdma_robust.language.syntax.common_tree import token_span
from rdma_robust.language.syntax.grammar import ASSIGNS, END, ERROR, Grammar

_LINE_END: Final = frozenset({"NEWLINE", "SEMICOLON"})
_AFTER_FIRST_WORD: Final = frozenset({"NAME", "NUMBER", "LBRACE", "LPAR", "OP_NOT", "NEWLINE", "SEMICOLON", "RBRACE", END})


def report_unexpected(
    report: Reporter, grammar: Grammar, tokens: Sequence[Token], at: int, acceptable: Callable[[], set[str]]
) -> None:
    """Report that `tokens[at]` does not fit where only `acceptable` kinds do."""
    if tokens[at].type == "EQUAL" and at and tokens[at - 1].type == "COLON":
        _report_colon(report, tokens, at - 1)
        return
    token = tokens[at]
    if report.full:
        report.error("RR101", token_span(token), "syntax error")
        return
    kinds = acceptable()
    if _report_first_word(report, grammar, tokens, at, kinds):
        return
    name = _keyword_as_name(grammar, tokens, at, kinds)
    if name is not None:
        report.error("RR103", token_span(name), f"{quote(name)} is a keyword, it cannot be a name")
        return
    hint = _hint(grammar, tokens, at, kinds)
    report.error("RR101", token_span(token), f"unexpected {_show(token)}", expected=describe(kinds, grammar), hint=hint)


def _report_colon(report: Reporter, tokens: Sequence[Token], at: int) -> None:
    """Report `x := 1`, which begins like a label."""
    hint = Hint("`=` assigns", (Edit(token_span(tokens[at]), ""),))
    report.error("RR101", token_span(tokens[at]), "unexpected `:`", expected="`=`", hint=hint)


def report_unclosed(report: Reporter, tokens: Sequence[Token], at: int) -> None:
    """Report that a `{` is still open at `tokens[at]`."""
    depth = 0
    for token in reversed(tokens[:at]):
        depth += (token.type == "RBRACE") - (token.type == "LBRACE")
        if depth < 0:
            hint = f"the `{{` of line {token.line} is still open"
            break
    else:
        hint = ""
    report.error(
        "RR104", token_span(tokens[at]), f"unexpected {_show(tokens[at])}", expected="a statement or `}`", hint=hint
    )


def describe(kinds: set[str], grammar: Grammar) -> str:
    """Return what a set of terminals means to people, such as "an expression or `)`"."""
    rest = kinds - {ERROR}
    words = []
    if "SKIP" in rest:
        words.append("a statement")
        rest -= grammar.words.statements | _LINE_END
    if grammar.words.clauses and rest >= grammar.words.clauses:
        words.append("a clause")
        rest -= grammar.words.clauses
    if grammar.words.declaring in rest:
        words.append("a declaration")
        rest -= grammar.words.declarations | _LINE_END | {END}
    if rest >= grammar.words.operands:
        words.append("an expression")
        rest -= grammar.words.operands | grammar.words.besides
    if "OP_OR" in rest:
        words.append("an operator")
        rest = {k for k in rest if not k.startswith("OP_")} - {"DOT", "LSQB", "AT", "ENDED"}
    if "NAME" in rest:
        words.append("a name")
        rest -= {"NAME"}
    if "PLUS_EQUAL" in rest:
        rest -= (ASSIGNS - {"EQUAL"}) | {"LPAR", "DOT", "LSQB", "COLON"}
    if "NEWLINE" in rest:
        words.append("the end of the line")
        rest -= _LINE_END | {"RBRACE", END}
    words += sorted(quote(grammar.literals[k]) for k in rest if k in grammar.literals)
    if END in rest:
        words.append("the end of the file")
    return listing(words)


def _show(token: Token) -> str:
    if token.type == END:
        return "end of the file"
    return "end of the line" if token.type == "NEWLINE" else quote(token)


def _keyword_as_name(grammar: Grammar, tokens: Sequence[Token], at: int, kinds: set[str]) -> Token | None:
    """Return the keyword that stands where a name should, if that is what is wrong."""
    token = tokens[at]
    if token.type in grammar.keywords and "NAME" in kinds and ("SKIP" not in kinds or tokens[at + 1].type == "EQUAL"):
        return token
    if token.type == "EQUAL" and tokens[at - 1].type in grammar.keywords and _begins_line(tokens, at - 1):
        return tokens[at - 1]
    return None


def _begins_line(tokens: Sequence[Token], at: int) -> bool:
    return at == 0 or tokens[at - 1].type in {"NEWLINE", "SEMICOLON", "LBRACE", "RBRACE"}


def _report_first_word(report: Reporter, grammar: Grammar, tokens: Sequence[Token], at: int, kinds: set[str]) -> bool:
    """If the line begins with a word that begins nothing, report that and return True."""
    for index in (at, at - 1):
        if index < 0 or tokens[index].type != "NAME" or not _begins_line(tokens, index):
            continue
        if index == at - 1 and tokens[at].type not in _AFTER_FIRST_WORD | set(grammar.keywords):
            continue
        word = tokens[index]
        outside = grammar.words.declaring in kinds
        if kinds & grammar.words.clauses:
            return _report_no_clause(report, grammar, word)
        hint = _other_language(grammar, word) or meant_at(token_span(word), str(word), _first_words(grammar, outside))
        if not hint and outside and _looks_like_statement(grammar, tokens, index):
            hint = Hint(grammar.words.outside)
        if hint or index == at:
            what = "declaration" if outside else "statement"
            report.error("RR102", token_span(word), f"{quote(word)} begins no {what}", hint=hint)
            return True
    return False


def _report_no_clause(report: Reporter, grammar: Grammar, word: Token) -> bool:
    clauses = sorted(grammar.keywords[kind] for kind in grammar.words.clauses)
    hint = meant_at(token_span(word), str(word), clauses) or Hint(f"clauses begin with {listing(map(quote, clauses))}")
    report.error("RR102", token_span(word), f"{quote(word)} begins no clause", hint=hint)
    return True


def _in_call_of_for(tokens: Sequence[Token], at: int) -> bool:
    """Whether the line is one like `for (i = 0; ...`, or like `for i = 0`."""
    while at and not _begins_line(tokens, at):
        at -= 1
    return str(tokens[at]) == "for"


def _looks_like_statement(grammar: Grammar, tokens: Sequence[Token], at: int) -> bool:
    follows = tokens[at + 1].type in ASSIGNS | {"DOT", "LSQB"}
    return follows or closest(str(tokens[at]), _first_words(grammar, False)) is not None


def _first_words(grammar: Grammar, outside: bool) -> list[str]:
    """Return the words that begin a declaration, or else those that begin or go on with a statement."""
    words = (item for item in sorted(grammar.keywords.items()) if item[0] not in grammar.words.inside)
    return [text for kind, text in words if (kind in grammar.words.declarations) is outside]


def _other_language(grammar: Grammar, word: Token) -> Hint:
    """Return what a word of other languages is called here, and the word instead of it if there is one."""
    instead = grammar.words.one_word.get(str(word))
    return Hint(
        grammar.words.other_languages.get(str(word), ""), () if instead is None else (Edit(token_span(word), instead),)
    )


def _hint(grammar: Grammar, tokens: Sequence[Token], at: int, kinds: set[str]) -> Hint:
    token = tokens[at]
    if at > 1 and (behind := grammar.words.behind.get((str(tokens[at - 2]), str(tokens[at - 1])))):
        return Hint(behind)
    if at and f"{tokens[at - 1]}{token}"[:2] in ("<<", ">>"):
        return Hint("there are no bit operators: `*` and `/` do what shifts do")
    if token[:1] == "\\":
        return _backslashed(grammar, token, kinds)
    if token.type == "NAME":
        if str(token) in {grammar.keywords[kind] for kind in grammar.words.clauses} and "SKIP" not in kinds:
            return Hint("`;` ends a clause" if "SEMICOLON" in kinds else "")
        words = [grammar.keywords[k] for k in sorted(kinds) if k in grammar.keywords]
        return _other_language(grammar, token) or meant_at(token_span(token), str(token), words)
    if _in_call_of_for(tokens, at):
        return Hint(grammar.words.other_languages["for"])
    if token.type == "LPAR" and at and tokens[at - 1].type == "NAME":
        return Hint(grammar.words.called)
    return _replaced_sign(tokens, at, kinds) or _other_hint(grammar, tokens, at, kinds)


def _backslashed(grammar: Grammar, token: Token, kinds: set[str]) -> Hint:
    """Return a hint for a word with a backslash that does not belong there, or is none."""
    known = {kind: text for kind, text in grammar.literals.items() if len(text) > 1 and text[0] == "\\"}
    said = grammar.words.other_languages.get(str(token), "")
    if said or token.type in known:
        return Hint(said or ("" if kinds & known.keys() else grammar.words.characters["\\"]))
    fitting = [text for kind, text in known.items() if kind in kinds] or list(known.values())
    return meant_at(token_span(token), str(token), fitting)


def _replaced_sign(tokens: Sequence[Token], at: int, kinds: set[str]) -> Hint:
    """Return the sign or the word that belongs there instead."""
    token = tokens[at]
    if token.type == "HANG" and "ROBUST" in kinds:
        return Hint("write `no hang`", (Edit(token_span(tokens[at - 1]), "no"),))
    if token.type == "ROBUST" and "HANG" in kinds:
        return Hint("write `not robust`", (Edit(token_span(tokens[at - 1]), "not"),))
    if token.type == "EQUAL" and "OP_EQ" in kinds:
        text = "`==` compares; `=` assigns and is a statement of its own"
        return Hint(text, (Edit(token_span(token), "=="),))
    if token.type in {"OP_PLUS", "OP_MINUS"} and "PLUS_EQUAL" in kinds:
        return _stepped(tokens, at)
    if token.type == "OP_EQ" and "EQUAL" in kinds:
        return Hint("`=` assigns", (Edit(token_span(token), "="),))
    return Hint("")


def _stepped(tokens: Sequence[Token], at: int) -> Hint:
    """Return what `x++` and `x--` are here."""
    text = f"write `{tokens[at - 1]} {tokens[at]}= 1`"
    if tokens[at + 1].type == "EQUAL":
        return Hint(text, (Edit(token_span(tokens[at]), f"{tokens[at]}="), Edit(token_span(tokens[at + 1]), "")))
    if tokens[at + 1].type != tokens[at].type:
        return Hint(text)
    both = (Edit(token_span(tokens[at]), f" {tokens[at]}= 1"), Edit(token_span(tokens[at + 1]), ""))
    return Hint(text, both)


def _other_hint(grammar: Grammar, tokens: Sequence[Token], at: int, kinds: set[str]) -> Hint:
    token = tokens[at]
    if at and kinds & {"RPAR", "RSQB"} and tokens[at - 1].line != token.line:
        return Hint("a bracket is still open")
    if token.type == "RBRACE" and grammar.words.declaring in kinds:
        return Hint("this brace closes nothing", (Edit(token_span(token), ""),))
    if grammar.words.declaring in kinds and "SKIP" not in kinds and token.type in grammar.keywords:
        return Hint(grammar.words.outside)
    if token.type in grammar.keywords and at and tokens[at - 1].type == "NAME":
        word = tokens[at - 1]
        return meant_at(token_span(word), str(word), _first_words(grammar, grammar.words.declaring in kinds))
    return Hint("")
