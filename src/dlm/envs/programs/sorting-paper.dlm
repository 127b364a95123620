# Sorting by the paper's program: swap any two numbers that are the wrong way around.
swap(x, y) :- greater_value(x, y) & smaller_index(x, y).
