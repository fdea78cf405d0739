# SPDX-License-Identifier: Apache-2.0
"""The order of many words: the largest count or sum first, equal ones by their bytes, whatever they have in common.

test_many_words.py [seed]
"""

import json
import random
import subprocess

from checks import TALLY, check, run_all

WORDS = 9000  # more than are sorted by comparing them


def shown(path, *arguments):
    done = subprocess.run((TALLY, path, "-c", "w", *arguments, "-f", "json"), capture_output=True, text=True)
    check(done.returncode == 0 and not done.stderr, path, arguments, done.stderr)
    result = json.loads(done.stdout) if done.returncode == 0 else {"axes": [{"labels": []}], "histograms": [{"counts": []}]}
    histogram = result["histograms"][0]
    return list(zip(result["axes"][0]["labels"], histogram["counts"]))


def compare(path, words, most, weights):
    """Words are drawn so that few differ in their counts, or many do."""
    drawn = [words[int(len(words) * random.random() ** most)] for _ in range(5 * WORDS)] + words
    sums, counts = {}, {}
    with open(path, "w", encoding="utf-8") as out:
        out.write("w,x\n")
        for word in drawn:
            x = random.choice(weights)
            counts[word] = counts.get(word, 0) + 1
            sums[word] = sums.get(word, 0) + x
            out.write(f"{word},{x}\n")
    for found, how in ((counts, ()), (counts, ("-j", "1")), (sums, ("--weights", ":x"))):
        order = sorted(((w, n) for w, n in found.items() if n), key=lambda item: (-item[1], item[0].encode()))
        got = shown(path, *how)
        wrong = next((i for i, (a, b) in enumerate(zip(got, order)) if a != b), -1)
        check(got == order, how, len(got), len(order), wrong, got[wrong : wrong + 2], order[wrong : wrong + 2])


def main():
    kinds = (
        [f"w{random.randrange(1 << 40):x}" for _ in range(WORDS)],
        [f"customer number {i}" for i in range(WORDS)],  # the same first bytes
        [f"{random.choice('aé中𝄞')}{i % 97}{random.choice('xyz') * (i % 9)}{i}" for i in range(WORDS)],
        ["_" + chr(97 + i // 676 % 26) + chr(97 + i // 26 % 26) + chr(97 + i % 26) + "q" * (i // 17576) for i in range(WORDS)],
        [("/data/common" * 8)[: 95 - i // 100] + str(i) for i in range(WORDS)],  # of many lengths
    )
    for words in kinds:
        words = list(dict.fromkeys(words))
        random.shuffle(words)
        compare("t.csv", words, 1, (1, 2))
        compare("t.csv", words, 8, (-3, 0.5, 0, 2.0**40, -(2.0**41)))


if __name__ == "__main__":
    run_all(main)
