"""The paper's tables and figures, from runs made here: `dlm reproduce`."""
