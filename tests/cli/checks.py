# SPDX-License-Identifier: Apache-2.0
"""For tests of the command: where it is, and checks that are counted."""

import os

TALLY = os.environ.get("TALLY", "tally")
failures = 0


def check(good, *words):
    """Says `words` of what is not good; the test fails at its end, by `failures`."""
    global failures
    if not good:
        failures += 1
        print(*words)
