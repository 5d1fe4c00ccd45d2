"""Command line. One JSON document on stdout with --json; progress and messages on stderr."""
