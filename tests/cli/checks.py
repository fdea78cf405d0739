# SPDX-License-Identifier: Apache-2.0
"""For tests of the command: where it is, checks that are counted, and how a test of random cases runs."""

import os
import random
import sys
import tempfile
import time

TALLY = os.environ.get("TALLY", "tally")
failures = 0


def check(good, *words):
    """Says `words` of what is not good; the test fails at its end, by `failures`."""
    global failures
    if not good:
        failures += 1
        print(*words)


def run_all(*tests):
    """Runs tests of random cases in an empty folder, by the seed that is the program's argument or a new one, and ends it."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else int(time.time())
    print("seed", seed)
    random.seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in tests:
            test()
        os.chdir("/")
    print(failures, "failed")
    sys.exit(failures != 0)
