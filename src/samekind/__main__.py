"""`python -m samekind` is the program `samekind`."""

from samekind.cli import main

if __name__ == "__main__":
    main()
