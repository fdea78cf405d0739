#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a release says of itself is the same everywhere: its version, in each source file its licence, and in each recipe the
packages that CMake looks for; CITATION.cff and the recipes under packaging/ can be read.

    scripts/check_release.py          check
    scripts/check_release.py --fix    and write the licence's line into source files that lack it
"""
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
# CMake's package: its names in Debian, conda-forge and Homebrew; none where it is switched off.
PACKAGES = {
    "PNG": ("libpng-dev", "libpng", "libpng"),
    "JPEG": ("libjpeg-dev", "libjpeg-turbo", "jpeg-turbo"),
    "TIFF": ("libtiff-dev", "libtiff", "libtiff"),
    "WEBP": ("libwebp-dev", "libwebp-base", "webp"),
    "ZLIB": ("zlib1g-dev", "zlib", "zlib"),
    "ISAL": ("libisal-dev", "isa-l", "isa-l"),
    "ZSTD": ("libzstd-dev", "zstd", "zstd"),
    "LZMA": ("liblzma-dev", "liblzma-devel", "xz"),
    "BZIP2": ("libbz2-dev", "bzip2", "bzip2"),
    "LZ4": ("liblz4-dev", "lz4-c", "lz4"),
    "CAIRO": ("libcairo2-dev", "cairo", "cairo"),
    "HDF5": ("libhdf5-dev", None, None),
}
LICENCE = "SPDX-License-Identifier: Apache-2.0"
failed = []


def sources():
    """The source files' names, without those that are deleted."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split("\n")  # fmt: skip
    kinds = (".c", ".h", ".hpp", ".cpp", ".cl", ".cu", ".py", ".pyi", ".sh", ".cmake", "CMakeLists.txt")
    return [name for name in listed if name.endswith(kinds) and (ROOT / name).is_file()]


def is_kernel(name):
    """Of the texts that are compiled for devices: what is in front of them would be part of them, so theirs is the last line,
    which cmake/embed.cmake leaves out."""
    embedded = [f"src/binning/{stem}.h" for stem in ("dialect", "bin", "cell", "cell_lookup")]
    return name.startswith("src/gpu/kernels/") or name in embedded


def identifier(name):
    return f"# {LICENCE}" if name.endswith((".py", ".pyi", ".sh", ".cmake", ".txt")) else f"/* {LICENCE} */"


def licences(fix):
    for name in sources():
        lines = (ROOT / name).read_text(encoding="utf-8").split("\n")
        where = lines[-2:-1] if is_kernel(name) else lines[:2]
        if identifier(name) in where:
            continue
        if fix:
            lines.insert(len(lines) - 1 if is_kernel(name) else int(lines[0].startswith("#!")), identifier(name))
            (ROOT / name).write_text("\n".join(lines), encoding="utf-8")
        else:
            place = "last" if is_kernel(name) else "first (a script's second)"
            failed.append(f"{name}: its {place} line should be: {identifier(name)} (scripts/check_release.py --fix writes it)")


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


def packages():
    """Each recipe names each package that CMake looks for, or switches it off."""
    found = re.findall(r"^tally_package\((\w+)", (ROOT / "cmake/TallyPackages.cmake").read_text(encoding="utf-8"), re.MULTILINE)
    if set(found) != set(PACKAGES):
        failed.append(f"cmake/TallyPackages.cmake and scripts/check_release.py differ in {set(found) ^ set(PACKAGES)}")
    places = [
        ("debian/control", 0, r"^ {}\b.*,$"), ("scripts/setup.sh", 0, r"^ .* {}( |$)"),
        ("packaging/conda/recipe.yaml", 1, r"^        - {}$"), ("packaging/homebrew/tally.rb", 2, r'^  depends_on "{}"$'),
    ]  # fmt: skip
    for place, which, pattern in places:
        text = (ROOT / place).read_text(encoding="utf-8")
        for package, names in PACKAGES.items():
            pattern_here = pattern.format(re.escape(names[which])) if names[which] else rf"-DTALLY_WITH_{package}=OFF\b"
            if not re.search(pattern_here, text, re.MULTILINE):
                failed.append(f"{place}: nothing about {package} ({pattern_here})")


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
    packages()
    licences(sys.argv[1:] == ["--fix"])
    recipes()
    print("\n".join(failed), file=sys.stderr, end="\n" if failed else "")
    sys.exit(bool(failed))
