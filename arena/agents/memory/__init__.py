"""What agents remember between decisions. One module a kind of memory; all can be dumped and loaded."""
