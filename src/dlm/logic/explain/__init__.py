"""Why an atom is true or not, asked and answered in words."""
