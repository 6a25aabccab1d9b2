"""Programs with crowds: from templates, of which there are any number of copies, to a counting system and an outcome.

In: a program with templates. Out: whether every P(n) is robust. Nothing of the rules is written down twice: the pivot
instrumentation is that of a small explicit program, in which one copy of each template lends its place to whoever moves.
"""
