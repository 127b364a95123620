"""The learner `search`: plans on small instances, rules learned from what each action loses."""
