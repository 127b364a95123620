"""The language of rules about actions, rules and decision lists, and how they are learned from labelled states."""
