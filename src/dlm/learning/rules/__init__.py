"""The learner `rules`: a bank of concepts and relations as columns, and a small program over them."""
