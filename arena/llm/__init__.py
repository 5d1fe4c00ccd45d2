"""The only door to models: the chat contract, answer reading, and the models that exist."""
