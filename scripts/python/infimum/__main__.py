"""The command `infimum` of a wheel: the program in it, which measures the frameworks of this Python."""

import os
import sys

from infimum._process import environment, program


def main() -> None:
    path = program()
    os.execve(path, [path, *sys.argv[1:]], environment())


if __name__ == "__main__":
    main()
