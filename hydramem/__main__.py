"""`python -m hydramem` is the command line."""

from hydramem.cli.main import main

if __name__ == "__main__":
    main()
