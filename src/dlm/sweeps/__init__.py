"""Many runs of `dlm learn`, kept as they come: `dlm sweep` and `dlm reproduce`."""
