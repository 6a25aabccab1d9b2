"""How the answers for the instances of one program change with a number.

In: a number and what was found with it (a verdict, a count of states), for each instance. Out: where the verdict changes, in
a sentence, and the law by which the counts grow, with how good it fits.
"""
