#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The site (`make docs`): README, docs/, the headers' comments, the docstrings and a gallery, by MkDocs, into build/site.

    scripts/site.py          any warning, and any link that leads nowhere, is an error

Pages keep their places in the tree, so that their links stay as they are; what they link to comes along.
"""
import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/site"
PAGES = BUILD / "pages"
HEADERS = sorted((ROOT / "include/tally").iterdir(), key=lambda path: (path.name != "tally.h", path.name))
NEEDS = ["mkdocs==1.6.1", "mkdocs-material==9.6.14"]
NAV = {
    "Start": ["README.md", "gallery.md", "CHANGELOG.md"],
    "Use": [f"docs/{n}.md" for n in "GUIDE C PYTHON SQL SCALE BINNING INPUTS OUTPUTS".split()],
    "Look up": [f"reference/{path.name}.md" for path in HEADERS] + ["reference/python.md", "docs/GLOSSARY.md"],
    "How fast": [f"docs/{n}.md" for n in "PERFORMANCE PERFORMANCE_GPU FIGURES METHODS AUTO KERNELS".split()],
    "Develop": ["docs/ARCHITECTURE.md", "docs/ADDING_A_METHOD.md", "CONTRIBUTING.md", "SECURITY.md", "data/README.md"],
}
CONFIG = """site_name: Tally
docs_dir: pages
site_dir: html
use_directory_urls: false
theme: {name: material, font: false, palette: {primary: blue grey}, features: [navigation.sections, navigation.top, toc.follow]}
markdown_extensions: [tables, fenced_code, pymdownx.highlight, pymdownx.superfences, {toc: {permalink: true}}]
plugins: [search]
extra_css: [site.css]
validation: {omitted_files: ignore, absolute_links: warn, unrecognized_links: warn, anchors: warn}
"""
# Tables as narrow as their words and without an empty head, docstrings' lines broken, a page as wide as 100 characters of code.
STYLE = """.md-grid { max-width: 72rem; }
.md-typeset table:not([class]) th, .md-typeset table:not([class]) td { min-width: 0; padding: 0.4em 0.8em; }
.md-typeset thead:not(:has(th:not(:empty))) { display: none; }
.md-typeset .docstring code { white-space: pre-wrap; }
"""
# What is there for the compiler alone: guards against a second reading, and C++'s linkage.
GUARDS = re.compile(r"\A((?:/\*.*?\*/\s*)+)#ifndef (\w+)\n#define \2\n(.*)#endif\n*\Z", re.DOTALL)
LINKAGE = re.compile(r"^#ifdef __cplusplus\n.*\n#endif\n", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s#]*)(#[^)\s]*)?\)")


def write(name, text):
    path = PAGES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def copy(page):
    """A page as it is, with lists parted from the paragraph above (which Python's Markdown wants), and the files it links to. A link to
    a header becomes one to its page here, a link to a folder its name."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = re.sub(r"^([^\n\-|#> ].*)\n(?=- )", r"\1\n\n", text, flags=re.MULTILINE)
    here = pathlib.PurePosixPath(page).parent

    def follow(found):
        target, anchor = found[1], found[2] or ""
        if not target or re.match(r"[a-z]+:", target):
            return found[0]
        path = pathlib.PurePosixPath(os.path.normpath(here / target))
        if str(path.parent) == "include/tally":
            return f"]({os.path.relpath(f'reference/{path.name}.md', here)}{anchor})"
        source = ROOT / path
        if source.is_dir():
            listing = PAGES / path / "index.txt"
            listing.parent.mkdir(parents=True, exist_ok=True)
            listing.write_text("\n".join(sorted(p.name for p in source.iterdir())) + "\n", encoding="utf-8")
            return f"]({os.path.relpath(path, here)}/index.txt)"
        if source.suffix != ".md":
            (PAGES / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, PAGES / path)
        elif not any(str(path) in pages for pages in NAV.values()) and not (PAGES / path).exists():
            copy(str(path))
        return found[0]

    write(page, LINK.sub(follow, text))


def plain(comment):
    """A C comment's words as Markdown: of its characters only lists and `code` are markup."""
    lines = [re.sub(r"^ ?\* ?", "", line.strip()) if i else line for i, line in enumerate(comment.split("\n"))]
    text = "\n".join(lines).strip().rstrip("*").strip()
    text = re.sub(r"^([^\n\-].*)\n(?=- )", r"\1\n\n", text, flags=re.MULTILINE)
    return "\n".join(
        "".join(part if part[:1] == "`" else re.sub(r"([\\*_\[\]<>#|])", r"\\\1", part) for part in re.split(r"(`[^`]*`)", line))
        if not line.startswith("    ") else line
        for line in text.split("\n")
    )  # fmt: skip


def header(path):
    """A header: its sections as headings, the comment in front of a declaration as text, the declarations as code."""
    text = LINKAGE.sub("", GUARDS.sub(r"\1\3", path.read_text(encoding="utf-8")))
    out = [f"# {path.name}\n\n    #include <tally/{path.name}>\n"]
    for piece in re.split(r"^(/\*.*?\*/)[ \t]*\n", text, flags=re.MULTILINE | re.DOTALL):
        section = re.match(r"/\* ---- (.*?) -{3,}", piece)
        if section:
            out.append(f"\n## {section[1]}\n")
        elif piece.startswith("/* SPDX"):
            continue
        elif piece.startswith("/*"):
            out.append("\n" + plain(piece[2:-2]) + "\n")
        elif piece.strip():
            out.append("\n```c\n" + piece.strip("\n") + "\n```\n")
    write(f"reference/{path.name}.md", "\n".join(out))


def docstrings():
    """Public functions and classes of the modules that __init__ imports from, with their docstrings."""
    out = ["# Python\n\nWhat the docstrings say; [the page about Python](../docs/PYTHON.md) is the way in.\n"]
    for path in sorted((ROOT / "python/libtally").glob("[a-z]*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = [n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name[0] != "_" and ast.get_docstring(n)]
        if not found:
            continue
        out.append(f"\n## libtally.{path.stem}\n\n```{{.text .docstring}}\n{ast.get_docstring(tree) or ''}\n```\n")
        for node in found:
            members = [node]
            if isinstance(node, ast.ClassDef):
                members += [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name[0] != "_" and ast.get_docstring(n)]
            for member in members:
                name = member.name if member is node else f"{node.name}.{member.name}"
                arguments = f"({ast.unparse(member.args)})" if isinstance(member, ast.FunctionDef) else ""
                out.append(f"\n### `{name}`\n\n```{{.text .docstring}}\n{name}{arguments}\n\n{ast.get_docstring(member)}\n```\n")
    write("reference/python.md", "\n".join(out))


def gallery():
    """Every picture that a page shows, with the page's words for it; it leads to itself in its full size."""
    out, seen = ["# Gallery\n"], set()
    for page in [p for pages in NAV.values() for p in pages if not p.startswith("reference") and p != "gallery.md"]:
        text = (ROOT / page).read_text(encoding="utf-8")
        for words, target in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", text):
            path = os.path.normpath(os.path.join(os.path.dirname(page), target))
            if path not in seen:
                seen.add(path)
                out.append(f"\n{words} ([{pathlib.Path(page).stem}]({page})):\n\n[![{words}]({path})]({path})\n")
    write("gallery.md", "\n".join(out))


def main():
    shutil.rmtree(PAGES, ignore_errors=True)
    for pages in NAV.values():
        for page in pages:
            if page.startswith("reference/") or page == "gallery.md":
                continue
            copy(page)
    for path in HEADERS:
        header(path)
    docstrings()
    gallery()
    write("site.css", STYLE)
    nav = "".join(f"  - {title}:\n" + "".join(f"    - {page}\n" for page in pages) for title, pages in NAV.items())
    (BUILD / "mkdocs.yml").write_text(CONFIG + "nav:\n" + nav, encoding="utf-8")
    python = BUILD / "venv/bin/python"
    if not python.exists():
        venv.create(BUILD / "venv", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *NEEDS], check=True)
    done = subprocess.run(
        [python, "-m", "mkdocs", "build", "--strict", "--config-file", BUILD / "mkdocs.yml"],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        print(done.stdout + done.stderr, file=sys.stderr)
    else:
        count = sum(1 for _ in (BUILD / "html").rglob("*.html"))
        print(f"site: {count} pages, every link leads somewhere: {(BUILD / 'html/index.html').relative_to(ROOT)}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
