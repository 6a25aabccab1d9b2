"""Completion of command lines in bash, zsh and fish. In: the words so far. Out: what the next one may be."""
