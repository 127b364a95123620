"""From a formula to a query: normal form, plan, SQL."""
