"""``python -m adaptive`` is the command ``adaptive``."""

from adaptive.cli import main

if __name__ == "__main__":
    main()
