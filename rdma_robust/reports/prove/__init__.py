"""What `prove` says. In: answers for a program under memory models. Out: rows, runs, facts, and forms for other tools."""
