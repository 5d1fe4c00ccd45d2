"""`python -m arena`: the same verbs as the pages, without a browser."""

from arena.cli.main import main

if __name__ == "__main__":
    main()
