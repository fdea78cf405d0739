# SPDX-License-Identifier: Apache-2.0
"""Odd, cut and changed files of every format: what is damaged ends with exit code 1, a message that names
the file and the place, and no output at all; what is merely odd is counted.

test_odd_files.py [seed]
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fuzz"))
import make_seeds  # noqa: E402

TALLY = os.environ.get("TALLY", "tally")
CUTS = 4 if os.environ.get("SANITIZE") else 24  # of each format, besides the first and last bytes

# Name, bytes, and what there is to find: a number of samples, or what the message says.
TEXTS = [
    ("bom", b"\xef\xbb\xbf1\n2\n", 2),
    ("bom-only", b"\xef\xbb\xbf", "empty"),
    ("bom-header", b"\xef\xbb\xbfx\n1\n2\n", 2),
    ("cr", b"1\r2\r3\r", 3),
    ("cr-last", b"1\r2\r3", 3),
    ("crlf", b"1\r\n2\r\n", 2),
    ("mixed-ends", b"1\n2\r3\r\n4", 4),
    ("blank-lines", b"\n\n1\n\n\n2\n\n", 2),
    ("only-lines", b"\n\n\n", "empty"),
    ("only-spaces", b"   \n\t\n", "empty"),
    ("one", b"7", 1),
    ("comment", b"# a\n1\n# b\n2\n", 2),
    ("only-comment", b"# a\n", "empty"),
    ("plus", b"+1\n+2.5\n", 2),
    ("hex", b"1\n0x10\n", r":2:1: expected a number, found '0x10'"),
    ("word", b"1\n2\nx\n", r":3:1: expected a number, found 'x'"),
    ("unit", b"1\n2 m\n3\n", r":2"),
    ("comma", b"1\n2,5\n", r":2"),
    ("thousands", b"1\n1'000\n", r":2:1: expected a number"),
    ("dots", b"1\n1.2.3\n", r":2:1: expected a number"),
    ("minus", b"1\n--2\n", r":2:1: expected a number"),
    ("exponent", b"1\n1e\n", r":2:1: expected a number"),
    ("infinite", b"1\n2\ninf\n-Infinity\nnan\n", 5),
    ("huge", b"1\n1e400\n", 2),
    ("tiny", b"1\n1e-400\n", 2),
    ("digits", b"1\n" + b"9" * 400 + b"\n", 2),
    ("zeros", b"1\n" + b"0" * 4000 + b"1\n", 2),
    ("missing", b"a,b\n1,2\n,3\n", 2),
    ("ragged", b"a,b\n1,2\n3\n", r":3: 1 field, expected 2"),
    ("wide", b"a,b\n1,2\n3,4,5\n", r":3: 3 fields, expected 2"),
    ("open-quote", b'a\n1\n"2\n', r":3:1: the quote that opens here is never closed"),
    ("nul", b"1\n2\x003\n", r"begins with 31 0a 32 00"),
    ("nul-late", b"1\n" * 4000 + b"\x00\n", r":4001:1: expected a number, found"),
    ("nuls", bytes(100), r"begins with 00 00"),
    ("utf16", "1\n2\n".encode("utf-16"), r"UTF-16 text; UTF-8 is read"),
    ("utf16-big", "1\n2\n".encode("utf-16-be"), r"begins with 00 31"),
    ("escape", b"1\n\x1b[2J\n", r"begins with 31 0a 1b"),
    ("form-feed", b"1\n\x0c2\n", r"begins with|expected a number"),
    ("empty", b"", "empty"),
    ("json", b'{"a": 1}', 1),
    ("html", b"<html><body>1</body></html>\n", r"."),
    ("elf", b"\x7fELF\x02\x01\x01" + bytes(60), r"begins with 7f 45 4c 46"),
    ("zip", b"PK\x03\x04" + bytes(60), r"no directory is at the end of this ZIP"),
    ("gif", b"GIF89a" + bytes(60), r"gif: "),
    ("xz-junk", b"\xfd7zXZ\x00" + bytes(60), r"xz data (are damaged|end)|without liblzma"),
    ("bzip2", b"BZh91AY&SY" + bytes(60), r"bzip2 data (are damaged|end)|without libbz2"),
    ("gzip-junk", b"\x1f\x8b\x08\x00" + b"junk" * 9, r"gzip data (are damaged|end)"),
    ("zstd-junk", b"\x28\xb5\x2f\xfd" + b"junk" * 9, r"zstd data (are damaged|end)|window"),
    ("png-junk", b"\x89PNG\r\n\x1a\n" + b"junk" * 9, r"png: "),
    ("png-text", b"\x89PNG\n\x1a\n" + b"junk" * 9, r"png: "),
    ("jpeg-junk", b"\xff\xd8\xff\xe0" + b"junk" * 9, r"jpeg: "),
    ("tiff-junk", b"II*\x00" + b"junk" * 9, r"tiff: "),
    ("tiff-loop", b"II*\x00\x08\x00\x00\x00\x00\x00\x08\x00\x00\x00", r"tiff: "),
    ("npy-junk", b"\x93NUMPY\x01\x00" + b"junk" * 9, r"npy|header|byte"),
    ("pnm-zero", b"P5 0 5 255 ", r"."),
    ("pnm-maxval", b"P5 2 2 0 abcd", r"."),
    ("pnm-large", b"P5 2 2 65536 abcdabcd", r"."),
    ("pnm-minus", b"P5 -2 2 255 abcd", 1),  # no PNM: text, of words and numbers
    ("pnm-short", b"P5 2 2 255 abc", r"after 3 of 4 bytes"),
    ("pnm-text", b"P2 2 2 255 1 2 3 256", r"above the maxval .near byte 20"),
    ("pnm-huge", b"P5 99999999999 99999999999 255 a", r"."),
]
COLUMN = {"missing", "ragged", "wide", "pnm-minus"}


def run(path, *options):
    made = path.with_name("made.json")
    done = subprocess.run((TALLY, path, *options, "--device", "cpu", "-o", made),
                          capture_output=True)
    text = made.read_text() if made.exists() else None
    made.unlink(missing_ok=True)
    left = [p for p in path.parent.iterdir() if p.name.startswith("made")]
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"), text, left


def refused(path, pattern, *options):
    """What is wrong with how `path` is refused, or None."""
    code, out, said, text, left = run(path, *options)
    if code != 1 or out or text is not None or left:
        return f"exit code {code}, output {out[:80]!r}, {text and text[:80]!r}, left {left}: {said}"
    if str(path) not in said or not re.search(pattern, said.replace(str(path), "")):
        return f"the message lacks the file or '{pattern}': {said}"
    if any(ord(c) < 32 and c != "\n" for c in said):
        return f"control characters in the message: {said!r}"
    return None


def accepted(path, samples, *options):
    code, out, said, text, left = run(path, *options)
    if code or out or left or text is None or f'"samples":{samples},' not in text:
        return f"exit code {code}, expected {samples} samples: {said}{text and text[:200]}"
    return None


def changed(content):
    """A few bytes are others, a number in it lies, or a piece is gone or there twice."""
    made, at = bytearray(content), random.randrange(len(content))
    if random.random() < 0.5:  # where the headers are
        at = random.choice([at % 200, len(made) - 1 - at % 200]) % len(made)
    how, wide = random.randrange(4), random.choice([1, 2, 4, 8])
    if how == 0:
        made[at] ^= 1 << random.randrange(8)
    elif how == 1:
        number = random.choice([0, 1, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1, 10**9, len(made) + 1])
        made[at : at + wide] = (number % 256**wide).to_bytes(wide, random.choice(["little", "big"]))
    elif how == 2:
        del made[at : at + random.randrange(1, 99)]
    else:
        made[at:at] = made[at : at + random.randrange(1, 99)]
    return bytes(made)


def survived(path, inside, *options):
    """What is wrong with how a changed file, or what is `inside`, is counted or refused, or None."""
    code, out, said, text, left = run(path.with_name(path.name + inside), *options)
    if code == 0 and not out and not left and text:
        return None
    if code not in (1, 3) or out or text is not None or left or str(path) not in said:
        return f"exit code {code}, output {out[:80]!r}, {text and text[:80]!r}, left {left}: {said}"
    return None


def cut_places(size):
    return sorted({1, 2, 3, 4, 5, 7, 8, 9, 11, 16, *range(1, size, max(1, size // CUTS)),
                   size - 1, size - 2, size - 3, size - 5} & set(range(1, size)))


def main():
    failures = checks = 0
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else int(time.time())
    random.seed(seed)

    def tell(name, wrong):
        nonlocal failures, checks
        checks += 1
        if wrong:
            failures += 1
            print(f"{name}: {wrong[:500]}")

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, content, want in TEXTS:
            path = folder / name
            path.write_bytes(content)
            options = ("--column", "1") if name in COLUMN else ()
            tell(name, refused(path, want, *options) if isinstance(want, str)
                 else accepted(path, want, *options))
        # A file of each format, cut: no beginning of it passes for the whole.
        whole = {}
        seeds = make_seeds.make_all(folder / "seeds")
        kinds = {}
        for made in seeds:
            kinds.setdefault(made[0].parent.name, []).append(made)
        for kind, files in kinds.items():
            for i in range(CUTS):
                good, _, options = random.choice(files)
                name, colon, inside = good.name.partition(":")
                path = folder / f"{kind}-changed-{i}"
                path.write_bytes(changed(good.with_name(name).read_bytes()))
                tell(path.name, survived(path, colon + inside, *options))
        for path, _, options in seeds:
            kind = path.parent.name
            if kind not in ("text", "raw") and path.name in (
                    "f4.npy", "RGB", "RGB-progressive", "L-tiff_lzw", "RGB-copy-tiles", "gzip", "zstd"):
                whole[f"{kind}-{path.name}"] = path.read_bytes()
        for name, content in whole.items():
            # A directory at a TIFF's end is followed by where the next page's is: nothing of this one.
            spare = 4 if name.startswith("tiff") else 0
            for size in cut_places(len(content) - spare):
                path = folder / f"{name}-{size}"
                path.write_bytes(content[:size])
                tell(path.name, refused(path, r"byte|row|begins|ends?|short|header|tiff|png|jpeg|:\d+"))
        print(f"{', '.join(whole)} cut; seed {seed}, {checks} files, {failures} failed")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
