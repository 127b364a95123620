# On: the block goes where it belongs once both are free; until then a block that stands on another one goes to the floor.
# The paper's program, which may also move other blocks to the floor once both are free.
ready(x, y) :- on_goal(x, y) & top(x) & top(y).
high(x) :- top(x) & (exists z: on(x, z) & ~is_floor(z)).
move(x, y) :- ready(x, y) | is_floor(y) & high(x) & ~(exists u: exists v: ready(u, v)).
