#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README.md and docs/: every link leads somewhere, every file and function that is named exists, every example does what it says.

    tests/docs/test_pages.py [PAGE…]

Examples are told by the language behind their fence:
    console   `$ COMMAND` lines, each with all that it prints; run in a folder that has data/
    pycon     a Python session, one a page, run by doctest
    c         a whole program if it has a main; what it prints is the `text` block behind it

With TALLY_INSTALLED the Python package and the library (by pkg-config) are those that are installed.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.environ.get("SRCDIR") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FOLDERS = "bench|cli|cmake|common|data|docs|include|io|python|scripts|src|tests|tools"
INSTALLED = "TALLY_INSTALLED" in os.environ
failures = []


def fail(page, line, words):
    failures.append(f"{page}:{line}: {words}")


def anchors(path):
    """What links to a page's headings are called."""
    with open(path, encoding="utf-8") as page:
        heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", page.read(), flags=re.S | re.M), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head)).strip().lower().replace(" ", "-")
            for head in heads}


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def check_links(page, text):
    for found in re.finditer(r"\]\(([^)\s]+)\)", text):
        target, _, anchor = found[1].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        path = os.path.join(ROOT, os.path.dirname(page), target) if target else os.path.join(ROOT, page)
        if not os.path.exists(path):
            fail(page, line_of(text, found.start()), f"no file {target}")
        elif anchor and path.endswith(".md") and anchor not in anchors(path):
            fail(page, line_of(text, found.start()), f"{target or page} has no heading #{anchor}")


def check_names(page, text):
    """Files of the tree between backticks; those with a * or a word in capitals stand for many."""
    for found in re.finditer(rf"`((?:{FOLDERS}|core|cpu|gpu|plan|binning)/[\w./-]*\w)`", text):
        name = found[1]
        if re.search(r"[A-Z]{3,}|\.\.\.", os.path.basename(name).split(".")[0]) and not name.endswith(".md"):
            continue
        places = [os.path.join(ROOT, name), os.path.join(ROOT, "src", name), os.path.join(ROOT, "tests", name)]
        if not any(os.path.exists(place) for place in places):
            fail(page, line_of(text, found.start()), f"there is no {name}")


def check_walks(page, text):
    """`function   file   words` in a block: the file has the function."""
    for found in re.finditer(r"^ *(\w+) +((?:src|io|cli)/[\w/]+\.[ch])\b", text, flags=re.M):
        path = os.path.join(ROOT, found[2])
        if not os.path.exists(path):
            fail(page, line_of(text, found.start()), f"there is no {found[2]}")
            continue
        with open(path, encoding="utf-8") as file:
            if not re.search(rf"^[a-z].*\b{found[1]}\(", file.read(), flags=re.M):
                fail(page, line_of(text, found.start()), f"{found[2]} defines no {found[1]}")


def check_layers(page, text):
    """The table of folders says what scripts/check_layers.sh allows; files that the build makes are not told."""
    with open(os.path.join(ROOT, "scripts", "check_layers.sh"), encoding="utf-8") as script:
        allowed = dict(re.findall(r'^ +([\w/]+)\*?\) echo "(.*)" ;;$', script.read(), flags=re.M))
    rows = dict(re.findall(r"^\| `([\w/]+)/` \| .* \| ([^|]*) \|$", text, flags=re.M))
    for folder, may in allowed.items():
        made = {name for name in may.split() if name in ("gpu_methods.h", "kernel_texts.h")}
        told = set(re.findall(r"[\w./]+", rows.get(folder, "")))
        if told != set(may.split()) - made:
            fail(page, 1, f"{folder} may include {may}, the table says {sorted(told)}")
    if not {"src/plan", "io"} <= set(allowed):
        fail(page, 1, "scripts/check_layers.sh has no line a folder that the table could be compared with")


def blocks(text):
    """(language, content, its first line) of fenced blocks."""
    return [(found[1], found[2], line_of(text, found.start()) + 1)
            for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.S | re.M)]


def check_console(page, content, line, folder):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "80",
                   "PATH": os.path.dirname(os.environ["TALLY"]) + ":" + os.environ["PATH"]}
    for piece in re.split(r"^(?=\$ )", content, flags=re.M):
        if not piece.strip():
            continue
        command, _, expected = piece[2:].partition("\n")
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, timeout=60)
        said = done.stdout.decode()
        if done.returncode or said.rstrip("\n") != expected.rstrip("\n"):
            fail(page, line, f"{command}: exit code {done.returncode}, it prints\n{said}")


def check_python(page, content, line, folder):
    code = ("import doctest, sys\n"
            "test = doctest.DocTestParser().get_doctest(sys.stdin.read(), {}, sys.argv[1], sys.argv[1], 0)\n"
            "sys.exit(doctest.DocTestRunner().run(test).failed != 0)\n")
    own = {} if INSTALLED else {"PYTHONPATH": os.path.join(ROOT, "python")}
    done = subprocess.run([sys.executable, "-c", code, page], input=content, cwd=folder, text=True, timeout=120,
                          env={**os.environ, **own},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        fail(page, line, done.stdout)


def check_c(page, content, line, folder, expected):
    source, program = os.path.join(folder, "example.c"), os.path.join(folder, "example")
    with open(source, "w", encoding="utf-8") as file:
        file.write(content)
    if INSTALLED:
        flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "tally"], text=True).split()
    else:
        library = os.environ["TALLY_LIBRARY"]
        where = os.path.dirname(library)
        flags = ["-I", os.path.join(ROOT, "include"), library, f"-Wl,-rpath,{where}", f"-L{where}"]
    command = shlex.split(os.environ.get("CC", "cc")) + [
        "-std=c11", "-Wall", "-Wextra", "-Werror", source, "-o", program, *flags]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if not done.returncode:
        done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              timeout=60)
    if done.returncode or expected is None or done.stdout != expected:
        fail(page, line, f"the program ends with {done.returncode}: {done.stdout}")


def check_examples(page, text):
    """How many were run."""
    found, ran = blocks(text), 0
    can_link = INSTALLED or (os.environ.get("TALLY_LIBRARY") and not os.environ.get("SANITIZE"))
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(ROOT, "data"), os.path.join(folder, "data"))
        sessions = [(content, line) for language, content, line in found if language == "pycon"]
        if sessions and can_link:  # a page is one session
            check_python(page, "\n".join(content for content, _ in sessions), sessions[0][1], folder)
            ran += len(sessions)
        for number, (language, content, line) in enumerate(found):
            if language == "console" and os.environ.get("TALLY"):
                check_console(page, content, line, folder)
            elif language == "c" and "int main(" in content and can_link:
                after = found[number + 1] if number + 1 < len(found) else ("", "", 0)
                check_c(page, content, line, folder, after[1] if after[0] == "text" else None)
            else:
                continue
            ran += 1
    return ran


def main(pages):
    everything = not pages
    pages = pages or sorted(["README.md", "SECURITY.md", "python/README.md", "CHANGELOG.md", "CONTRIBUTING.md", "data/README.md"] + [
        f"{folder}/{name}" for folder in ("docs", "bench/record") for name in os.listdir(os.path.join(ROOT, folder))
        if name.endswith(".md")])
    ran = 0
    for page in pages:
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            text = file.read()
        check_links(page, text)
        if page.startswith("bench/record/"):  # diaries: as they were written
            continue
        check_names(page, text)
        check_walks(page, text)
        if page == "docs/ARCHITECTURE.md":
            check_layers(page, text)
        ran += check_examples(page, text)
    if everything and os.environ.get("TALLY") and os.environ.get("TALLY_LIBRARY") and not os.environ.get("SANITIZE"):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            languages = [language for language, *_ in blocks(file.read())]
        for language in ("console", "pycon", "c"):
            if language not in languages:
                fail("README.md", 1, f"no example in {language}")
    print("\n".join(failures) or f"{len(pages)} pages, {ran} examples: all is as they say")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
