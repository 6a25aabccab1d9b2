"""Programs whose processes send and receive: every matching of receives with sends, decided.

In: the text of an `.mp` program or a recorded trace. Out: whether an assertion can fail, what can deadlock, which sends a
receive can get, how many matchings there are, with a schedule that was replayed or a certificate. Source: Huang, Mercer and
McCarthy, "Proving MCAPI executions are correct using SMT", 2013, rebuilt in docs/theory-messages.md,
"The encoding".
"""
