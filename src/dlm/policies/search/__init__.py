"""The learner `search`: planning on small instances, rules learned from the regret of actions."""
