"""`python -m analyzer` is `analyze`."""

from analyzer.cli import main

if __name__ == "__main__":
    main()
