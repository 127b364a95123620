# Blocksworld, found by a human expert: the paper's program as printed. It also moves blocks from the ground to the ground.
# x is put where it belongs if its place is ready; if no block has a ready place, a misplaced one goes to the ground.
is_ground(x) :- ~(exists y: below(y, x)).
same_x_above(x, y) :- same_world_id(x, y) & same_x(x, y) & above(x, y).
initial_world(x) :- ~(exists y: smaller_world_id(y, x)).
match(x, y) :- ~same_world_id(x, y) & same_id(x, y) & same_x(x, y) & same_y(x, y).
target(x, y) :- smaller_world_id(x, y) & same_id(x, y).
clear(x) :- ~(exists y: same_x_above(y, x)).
matched(x) :- exists y: match(x, y).
directly_above(x, y) :- above(x, y) & ~(exists z: above(x, z) & above(z, y)).
moveable(x) :- clear(x) & ~is_ground(x).
same_x_directly_above(x, y) :- same_x(x, y) & directly_above(x, y).
have_unmatched_below(x) :- exists y: same_x_above(x, y) & ~matched(y).
under_block_ti(x, y) :- exists z: target(y, z) & same_x_directly_above(x, z).
well_placed(x) :- matched(x) & ~have_unmatched_below(x).
under_block(x, y) :- exists z: target(x, z) & under_block_ti(z, y).
should_move(x) :- initial_world(x) & moveable(x) & ~well_placed(x).
should_move_on(x, y) :- well_placed(y) & clear(y) & under_block(x, y).
no_good_y(x) :- ~(exists y: should_move_on(x, y)).
plan_a(x, y) :- should_move(x) & should_move_on(x, y).
plan_b(x, y) :- should_move(x) & no_good_y(x) & is_ground(y) & initial_world(y).
plan_a_work() :- exists x: exists y: plan_a(x, y).
plan_b_only_if(x, y) :- plan_b(x, y) & ~plan_a_work().
move(x, y) :- plan_a(x, y) | plan_b_only_if(x, y).
