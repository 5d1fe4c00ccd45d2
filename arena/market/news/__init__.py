"""News: from what sources hand over to the stories and the brief of a slot."""
