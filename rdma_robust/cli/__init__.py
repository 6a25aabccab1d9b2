"""The command line: options, inputs, processes, exit codes; no logic.

In: arguments. Out: reports on standard output or in files, messages on standard error, and an exit code. `app` lists
the commands; what a command does is in `commands`, in the file of its name.
"""
