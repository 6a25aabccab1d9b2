"""The frame: what is the same for every question of every tool, told once.

In: questions that tools register, and arguments. Out: answers in order, in every form of report, and an exit code.
"""
