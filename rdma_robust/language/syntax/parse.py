"""From text to syntax tree: lark's LALR parser, fed token by token, that goes on after a syntax error.

After an error the parser goes back to where the statement or declaration began, puts an ERROR token there, and
reads on from the next line end or brace (the classic `error` token of yacc).
"""

from __future__ import annotations

from copy import copy
from typing import Final

from lark import Token, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from rdma_robust.diagnose import Reporter, line_ends_are_plain
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.grammar import ASSIGNS, END, ERROR, Grammar, load_grammar
from rdma_robust.language.syntax.layout import TokenLayout, lay_out_tokens
from rdma_robust.language.syntax.syntax_errors import report_unclosed, report_unexpected

_RESUME: Final = ("NEWLINE", "SEMICOLON", "LBRACE", "RBRACE", END)
_REPORTED: Final = frozenset({"INVALID", "UNCLOSED"})
"""Tokens no rule has; layout.py reported them."""
_ENDS_STATEMENT: Final = frozenset({"NEWLINE", "SEMICOLON", "RBRACE", "LBRACE"})


class Parser:
    """One parse. `poisoned` are the names in skipped text: nothing certain can be said about them."""

    def __init__(self, layout: TokenLayout, report: Reporter, grammar: Grammar) -> None:
        self.grammar = grammar
        self.tokens = layout.tokens
        self.report = report
        self.poisoned: set[str] = set()
        self._parser = self.grammar.parser()
        self._without_values = copy(self._parser.parser_state.parse_conf)
        self._without_values.callbacks = {}
        self._states = self._parser.parser_state.state_stack
        self._values = self._parser.parser_state.value_stack
        self._before = list(self._states)
        """The states before the last token was read: rules that end before it are reduced even if it does not fit."""
        self._starts: list[int] = []
        """Where each value on the stack begins among the tokens."""
        self._position = 0

    def run(self) -> ast.ProgramTree | None:
        """Return the tree, without what was skipped; None if nothing could be saved."""
        while self._position < len(self.tokens):
            token = self.tokens[self._position]
            if not self._feed(token, self._position):
                self._recover(token)
                if self.tokens[self._position].type == END and not self.accepts(END):
                    return None
            elif token.type == END:
                program: ast.ProgramTree = self._values[-1]
                return program
            else:
                self._position += 1
        return None

    def accepts(self, kind: str) -> bool:
        """Whether a token of this kind could be read now."""
        probe = self._parser.copy(deepcopy_values=False)
        probe.parser_state.parse_conf = self._without_values
        return _fed(probe, Token(kind, ""))

    def acceptable(self) -> set[str]:
        """Return every kind of token that could be read now, and the operators that could have gone on before."""
        probe = self._parser.copy(deepcopy_values=False)
        probe.parser_state.state_stack, probe.parser_state.value_stack = self._before, [None] * (len(self._before) - 1)
        kinds: set[str] = self._parser.accepts()
        return kinds | {kind for kind in probe.accepts() if kind.startswith("OP_")}

    def _feed(self, token: Token, index: int) -> bool:
        """Read one token; False if the grammar does not allow it here. Rules that end before it are reduced in any case."""
        self._before = list(self._states)
        read = _fed(self._parser, token)
        whole = len(self._values) - read
        del self._starts[whole:]
        self._starts += [index] * (len(self._values) - len(self._starts))
        return read

    def _recover(self, token: Token) -> None:
        """Report that `token` does not fit, and move on to where reading can go on."""
        if self._close_braces(token):
            return
        if token.type not in _REPORTED:
            report_unexpected(self.report, self.grammar, self.tokens, self._position, self.acceptable)
        begin = self._position
        while not self.accepts(ERROR):
            self._states.pop()
            self._values.pop()
            begin = self._starts.pop()
        self._feed(_like(token, ERROR), begin)
        self._skip(begin)
        for skipped in self.tokens[begin : self._position]:
            if skipped.type == "NAME":
                self.poisoned.add(str(skipped))
        if self.tokens[self._position].type == END:
            self._insert_braces(self.tokens[self._position])

    def _skip(self, begin: int) -> None:
        resume = {kind for kind in _RESUME if self.accepts(kind)}
        if self.tokens[begin].type == "NODE" or str(self.tokens[begin]).lower().startswith("nod"):
            resume.discard("LBRACE")
        depth = 0
        while True:
            kind = self.tokens[self._position].type
            if kind == END or (depth == 0 and kind in resume and not self._begins_contract()):
                return
            depth = max(0, depth + (kind == "LBRACE") - (kind == "RBRACE"))
            self._position += 1

    def _begins_contract(self) -> bool:
        """Whether a brace begins a contract, which does not count where its function's head could not be read."""
        at = self._position
        return self.tokens[at].type == "LBRACE" and self.tokens[at + 1].type in self.grammar.words.clauses

    def _close_braces(self, token: Token) -> bool:
        """If a brace was forgotten before a declaration or the end of the file: report it, read on as if it were there."""
        if token.type != END and not self._begins_declaration():
            return False
        if not self.accepts("RBRACE"):
            return False
        if self.tokens[self._position - 1].type != "UNCLOSED":
            report_unclosed(self.report, self.tokens, self._position)
        self._insert_braces(token)
        return self.accepts(token.type)

    def _begins_declaration(self) -> bool:
        tokens, at = self.tokens, self._position
        return (
            tokens[at].type in self.grammar.first
            and tokens[at].type != ERROR
            and tokens[at - 1].type in _ENDS_STATEMENT
            and tokens[at + 1].type not in ASSIGNS | {"DOT", "LSQB"}
        )

    def _insert_braces(self, token: Token) -> None:
        while not self.accepts(token.type) and self.accepts("RBRACE"):
            self._feed(_like(token, "RBRACE"), self._position)


def _fed(parser: InteractiveParser, token: Token) -> bool:
    """Feed a token to the parser; False if the grammar does not allow it there."""
    try:
        parser.feed_token(token)
    except UnexpectedToken:
        return False
    return True


def _like(token: Token, kind: str) -> Token:
    return Token.new_borrow_pos(kind, "", token)


def parse_tree(
    source: str, report: Reporter, grammar: Grammar | None = None
) -> tuple[ast.ProgramTree | None, TokenLayout, frozenset[str]]:
    """Return the syntax tree, the layout it came from, and the names in text that was skipped because of an error.

    The text is one of the language of `grammar`, or else a program. Errors go to `report`. The tree is None when nothing
    sensible is left of it; otherwise every recursive pass over it stays within Python's recursion limit.
    """
    grammar = grammar or load_grammar()
    if not line_ends_are_plain(report):
        return None, TokenLayout(complete=False), frozenset()
    layout = lay_out_tokens(grammar.lex(source), report, grammar.in_context, grammar.words.characters)
    if not layout.complete:
        return None, layout, frozenset()
    parser = Parser(layout, report, grammar)
    program = parser.run()
    if program is not None and not grammar.within_limits(program, report):
        program = None
    return program, layout, frozenset(parser.poisoned)
