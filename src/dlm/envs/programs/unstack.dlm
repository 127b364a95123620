# Unstack: a block that stands on another one goes to the floor.
move(x, y) :- is_floor(y) & top(x) & (exists z: on(x, z) & ~is_floor(z)).
