"""The four desks of the hedge fund that ask no model: technical, fundamentals, sentiment, valuation."""
