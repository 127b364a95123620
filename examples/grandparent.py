"""Learn who is a grandparent of whom, and look at what came out."""

import dlm

result = dlm.learn("family/is-grandparent", learner="search", seed=1)
print(result.program)
print("verified:", result.verified)
for trial in result.verification.trials:
    print(f"{trial.right} of {trial.instances} families right, sizes {trial.sizes[0]} to {trial.sizes[-1]}")
