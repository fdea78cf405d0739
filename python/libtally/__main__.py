# SPDX-License-Identifier: Apache-2.0
"""`python -m libtally` is the command."""

import os
import shutil
import sys

from ._library import FOLDER


def main():
    """Becomes the command of this package, else the one on the path."""
    inside = FOLDER / "bin" / "tally"
    path = os.environ.get("TALLY") or (str(inside) if inside.exists() else None)
    path = path or shutil.which("tally")
    if not path:
        sys.exit("tally: this package was built without the command")
    os.execv(path, ["tally", *sys.argv[1:]])


if __name__ == "__main__":
    main()
