#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel (scripts/wheel.sh) and tests it where nothing else is (scripts/wheel_bare.sh). Installs it into a clean environment for the oldest and for the newest
# CPython found here, and tests it there: the functions, NumPy's own tests, the examples in the docstrings.
# Environments are kept in build/python.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=build/python
mkdir -p $folder

# CPythons from 3.9 on, oldest first: on the path, or pyenv's.
pythons=()
for minor in 9 10 11 12 13 14; do
    for candidate in "python3.$minor" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3."$minor".*/bin/python3; do
        if found=$("$candidate" -c "import sys, venv, ensurepip
assert sys.version_info[:2] == (3, $minor) and sys.implementation.name == 'cpython'
print(sys.executable)" 2>/dev/null); then
            pythons+=("$found")
            break
        fi
    done
done
case ${#pythons[@]} in
0)
    echo "python: no CPython from 3.9 on that can make environments (Debian: python3-venv)" >&2
    exit 1
    ;;
1) echo "python: one version only is here: the wheel is tested with that" ;;
*) pythons=("${pythons[0]}" "${pythons[-1]}") ;;
esac

# What is imported is compiled then, and once; pip would compile all that it installs.
unset PYTHONDONTWRITEBYTECODE
pip_install() { # python, argument…
    "$1" -m pip install --quiet --disable-pip-version-check --no-compile "${@:2}"
}

version_of() {
    "$1" -c 'import platform; print(platform.python_version())'
}

environment() { # python
    local own
    own=$folder/$(version_of "$1")
    [ -x "$own/bin/python" ] || "$1" -m venv "$own"
    if ! cmp -s tests/python/requirements.txt "$own/requirements.txt"; then
        pip_install "$own/bin/python" -r tests/python/requirements.txt
        cp tests/python/requirements.txt "$own/"
    fi
    [ "${TALLY_CHECK:-}" = all ] && [ "$1" = "${pythons[-1]}" ] || return 0
    pip_install "$own/bin/python" jax
    # The package index has torch for CUDA alone, of several GB.
    pip_install "$own/bin/python" --index-url https://download.pytorch.org/whl/cpu torch ||
        echo "python: no torch for the processor can be had from here: its tests are skipped"
    if command -v java >/dev/null; then
        pip_install "$own/bin/python" pyspark
    else
        echo "python: no Java here: the test by Spark itself is skipped"
    fi
}

# Beside the wheel's build, for it waits for the network.
making=()
for python in "${pythons[@]}"; do
    (set -e; environment "$python") &
    making+=($!)
done

# The newest builds; what it builds serves all.
newest=${pythons[-1]}
scripts/wheel.sh "$newest"
wheel=$(ls $folder/wheel/*manylinux*.whl)

for job in "${making[@]}"; do
    wait "$job"
done

# DuckDB's extension, from what the wheel's build has compiled, where an environment has DuckDB.
last=$PWD/$folder/$(version_of "$newest")/bin/python
if "$last" -c 'import duckdb' 2>/dev/null; then
    { "$last" scripts/duckdb_headers.py && cmake -DTALLY_DUCKDB=ON -DTALLY_WERROR=ON build/wheel &&
        cmake --build build/wheel --target tally_duckdb; } >$folder/duckdb.log 2>&1 || {
        tail -n 40 $folder/duckdb.log
        exit 1
    }
    export TALLY_DUCKDB_EXTENSION=$PWD/build/wheel/tally.duckdb_extension
fi

installed() { # python, in a subshell
    pip_install "$folder/$(version_of "$1")/bin/python" --force-reinstall --no-deps "$wheel"
}

tried() { # python, files of tests; in a subshell
    version=$(version_of "$1")
    run=$PWD/$folder/$version/bin/python
    echo "python: CPython $version, NumPy $("$run" -c 'import numpy; print(numpy.__version__)'): $2"
    # Not from here: the package that is tested is the installed one.
    # shellcheck disable=SC2086
    (cd $folder && env -u TALLY_LIBRARY -u PYTHONPATH "$run" -m pytest -c ../../pyproject.toml \
        --rootdir ../.. ../../tests/python/$2)
}

documented() { # python, in a subshell
    run=$PWD/$folder/$(version_of "$1")/bin/python
    (cd $folder && "$run" -m pytest -q -p no:cacheprovider --doctest-modules \
        --doctest-ignore-import-errors --pyargs libtally --ignore-glob='*__main__.py')
    "$run" -m libtally --version
}

bare() { # python, in a subshell
    scripts/wheel_bare.sh "$wheel" "$folder/$(version_of "$1")/bin/python"
}

for python in "${pythons[@]}"; do
    (set -e; installed "$python") &
    making+=($!)
done
for job in "${making[@]:${#pythons[@]}}"; do
    wait "$job"
done

# At once; what each says comes in turn. The newest, which can run all tests, runs them in two parts, about as long.
jobs=()
start() { # function, argument…
    (set -e; "$@") >$folder/tried-${#jobs[@]}.log 2>&1 &
    jobs+=($!)
}
start tried "$newest" 'test_[a-e]*.py'
start tried "$newest" 'test_[f-z]*.py'
[ "${pythons[0]}" = "$newest" ] || start tried "${pythons[0]}" 'test_*.py'
for python in "${pythons[@]}"; do
    start documented "$python"
done
start bare "$newest"
failed=0
for i in "${!jobs[@]}"; do
    wait "${jobs[i]}" || failed=1
    cat $folder/tried-$i.log
done
exit $failed
