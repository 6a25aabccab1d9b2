"""The language `.mp`: from text to processes whose names are resolved and whose functions are written out.

In: the text of a program and its file's name. Out: a checked `MessageProgram` (message_program.py), or every error of the
file. Definition: docs/messages-language.md.
"""
