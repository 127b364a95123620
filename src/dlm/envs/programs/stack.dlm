# Stack: a block goes onto one that stands on another already; where none does, onto any.
high(x) :- top(x) & (exists z: on(x, z) & ~is_floor(z)).
move(x, y) :- top(x) & (high(y) | top(y) & ~(exists z: high(z))).
