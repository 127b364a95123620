"""stable-baselines3's PPO and a learned program in the same world, at the size trained on and at larger ones.

PPO is trained on vectors that have room for the largest world, in the smallest world, and anew in each world. The
program is learned by `dlm.learn_policy` in the same small worlds. Needs the extra `sb3`.

    python examples/ppo.py --task rl/unstack --steps 60000 --sizes 4 6 8 --episodes 100    # as in docs/environments.md
"""

import argparse

import numpy as np
from stable_baselines3 import PPO

import dlm
from dlm.envs import FlattenStructure, make_env


def play_ppo(model: PPO, env: FlattenStructure, episodes: int) -> np.ndarray:
    """Returns and optima of fresh episodes."""
    played = []
    for seed in range(10_000, 10_000 + episodes):
        shown, info = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            action, _ = model.predict(shown, deterministic=False)
            shown, reward, terminated, truncated, _ = env.step(action)
            total, over = total + float(reward), terminated or truncated
        played.append((total, info["optimal_return"]))
    return np.array(played)


def train(env: FlattenStructure, steps: int, seed: int) -> PPO:
    return PPO("MlpPolicy", env, seed=seed, n_steps=min(2048, steps), device="cpu").learn(steps)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="rl/unstack")
    parser.add_argument("--steps", type=int, default=512, help="Steps of each training of PPO.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[4, 5], help="The first is trained on.")
    parser.add_argument("--episodes", type=int, default=5, help="Fresh episodes of each test.")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    word = dlm.envs.get_domain(asked.task).counts
    worlds = [make_env(asked.task, **{word: size}) for size in asked.sizes]
    room = len(worlds[-1].objects)
    small = train(FlattenStructure(worlds[0], room), asked.steps, asked.seed)
    policy = dlm.learn_policy(asked.task, learner="search", seed=asked.seed, progress=False)
    print(f"{asked.task}: mean returns of {asked.episodes} fresh episodes; PPO with {asked.steps:,} steps")
    print(f"{word:>8}  optimum  program  PPO trained at {asked.sizes[0]}  PPO trained at this size")
    for size, world in zip(asked.sizes, worlds, strict=True):
        moved = play_ppo(small, FlattenStructure(world, room), asked.episodes)
        anew = play_ppo(
            train(FlattenStructure(world), asked.steps, asked.seed), FlattenStructure(world), asked.episodes
        )
        (earned,) = policy.evaluate(size, asked.episodes)
        means = (moved[:, 1].mean(), earned.mean, moved[:, 0].mean(), anew[:, 0].mean())
        print(f"{size:8}" + "".join(f"  {mean:.3f}" for mean in means))
    print(policy.program)


if __name__ == "__main__":
    main()
