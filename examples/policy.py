"""Learn to unstack blocks, look at the program, and let it act in the Gymnasium environment."""

import gymnasium

import dlm

policy = dlm.learn_policy("rl/unstack", seed=0)
print(policy.program)
print(f"learned by {policy.learner}: {policy.method}")
for test in policy.tests:
    print(f"{test.name}: return {test.mean:.3f}, optimum {test.optimum:.3f}, success {test.success:.0%}")

env = gymnasium.make("dlm/Unstack-v0", blocks=6)
observation, info = env.reset(seed=0)
total, over = 0.0, False
while not over:
    observation, reward, terminated, truncated, info = env.step(policy.act(observation))
    total, over = total + float(reward), terminated or truncated
print(f"6 blocks: return {total:.2f}, optimum {info['optimal_return']:.2f}")
