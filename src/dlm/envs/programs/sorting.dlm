# Sorting with the least number of swaps: the first place with a smaller number behind it gets the smallest of these.
wrong(x) :- exists y: smaller_index(x, y) & greater_value(x, y).
first(x) :- wrong(x) & ~(exists y: smaller_index(y, x) & wrong(y)).
smaller_behind(x, y) :- exists z: smaller_index(x, z) & smaller_value(z, y).
swap(x, y) :- first(x) & smaller_index(x, y) & greater_value(x, y) & ~smaller_behind(x, y).
