"""The only door to models: one protocol, keyless stand-ins, and scripted models for tests."""
