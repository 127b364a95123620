"""The learners `ppo` and `reinforce`: the machine as a policy, trained by its gradient."""
