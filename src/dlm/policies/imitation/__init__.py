"""The learner `imitation`: rules learned from the states that a teacher labels."""
