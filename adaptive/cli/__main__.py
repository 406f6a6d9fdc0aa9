"""``python -m adaptive.cli`` is the command ``adaptive``."""

from adaptive.cli import main

if __name__ == "__main__":
    main()
