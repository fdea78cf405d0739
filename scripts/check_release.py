#!/usr/bin/env python3
"""What a release says of itself is the same everywhere: its version, and that CITATION.cff and the recipes under packaging/ can be read."""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[1]
# File: where its version is, as a pattern.
SAID = {
    "CMakeLists.txt": r"^  VERSION ([\d.]+)$",
    "pyproject.toml": r'^version = "([\d.]+)"$',
    "CITATION.cff": r"^version: ([\d.]+)$",
    "CHANGELOG.md": r"^## ([\d.]+)",
    "debian/changelog": r"^tally \(([\d.]+)",
    "packaging/conda/recipe.yaml": r"^  version: ([\d.]+)$",
    "packaging/homebrew/tally.rb": r"tally-([\d.]+)\.tar\.gz\"",
    "include/tally/tally.h": r"VERSION_MAJOR (\d+)\n.*VERSION_MINOR (\d+)\n.*VERSION_PATCH (\d+)",
}
failed = []


def versions():
    found = {}
    for name, pattern in SAID.items():
        match = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        found[name] = ".".join(match.groups()) if match else "none"
    if len(set(found.values())) > 1:
        failed.append(f"the version differs: {found}")
    minor = found["CMakeLists.txt"].rpartition(".")[0]
    for name, node in ("libtally", f"LIBTALLY_{minor}"), ("libtally-io", f"LIBTALLY_IO_{minor}"):
        if f"\n{node} {{" not in (ROOT / f"cmake/{name}.map").read_text(encoding="utf-8"):
            failed.append(f"cmake/{name}.map: no version {node}")


def recipes():
    try:
        import yaml
    except ImportError:
        yaml = None
    for path in [ROOT / "CITATION.cff", *(ROOT / "packaging").glob("**/*.y*ml")]:
        if yaml:
            try:
                yaml.safe_load(path.read_text(encoding="utf-8"))
            except yaml.YAMLError as error:
                failed.append(f"{path.relative_to(ROOT)}: {error}")
    for path in (ROOT / "packaging").glob("**/*.rb"):
        if shutil.which("ruby"):
            ran = subprocess.run(["ruby", "-c", path], capture_output=True, text=True)
            if ran.returncode:
                failed.append(f"{path.relative_to(ROOT)}: {ran.stderr}")


if __name__ == "__main__":
    versions()
    recipes()
    print("\n".join(failed), file=sys.stderr, end="\n" if failed else "")
    sys.exit(bool(failed))
