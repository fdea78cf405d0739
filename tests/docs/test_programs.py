# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/C.md: each compiles without a warning and, on its command line, says what the page says. The GPU's is
compiled against CUDA's header, or against what it takes of it, and run where there is a device and CUDA's library. The page's
blocks are ```C and ```text, which test_pages.py leaves alone: a program may read a pipe or need a device."""

import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).parents[2]
# What gpu.c uses of CUDA, as its documentation declares it.
STAND_IN = """
typedef struct CUstream_st *cudaStream_t;
typedef enum cudaError { cudaSuccess = 0 } cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
cudaError_t cudaMalloc(void **, __SIZE_TYPE__);
cudaError_t cudaFree(void *);
cudaError_t cudaMemset(void *, int, __SIZE_TYPE__);
cudaError_t cudaMemcpy(void *, const void *, __SIZE_TYPE__, enum cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, __SIZE_TYPE__, enum cudaMemcpyKind, cudaStream_t);
cudaError_t cudaStreamCreate(cudaStream_t *);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
"""

library = os.environ.get("TALLY_LIBRARY")
compiler = os.environ.get("CC", "cc")
if not library or os.environ.get("SANITIZE") or not shutil.which(compiler):
    print("skipped: no compiler, or no shared library without sanitizers (TALLY_LIBRARY)")
    sys.exit(77)

page = (root / "docs/C.md").read_text()
programs = re.findall(
    r"^## (\w+\.c(?:pp)?): .*?^```C(?:\+\+)?\n(.*?)^```$.*?^```text\n\$ ([^\n]*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL
)
names = ["plain.c", "plane.c", "chunks.c", "gpu.c", "threads.c", "quantiles.c", "plain.cpp"]
if [p[0] for p in programs] != names:
    sys.exit(f"the page has other programs: {[p[0] for p in programs]}")
for text, most in (programs[0][1], 11), (programs[-1][1], 7):
    if text.count("\n") > most:
        sys.exit(f"the plainest program has {text.count(chr(10))} lines; {most} are enough")

folder = os.path.dirname(library)
flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread", f"-I{root}/include"]
link = [f"-L{folder}", "-ltally", f"-Wl,-rpath,{folder}"]
cuda = sorted(glob.glob("/usr/local/cuda*/include/cuda_runtime_api.h")) + ["/usr/include/cuda_runtime_api.h"]
cuda = next((pathlib.Path(p).parents[1] for p in cuda if os.path.exists(p)), None)
cudart = cuda and next(iter(glob.glob(f"{cuda}/lib*/libcudart.so")), None)

with tempfile.TemporaryDirectory() as work:
    pathlib.Path(work, "stand_in").mkdir()
    pathlib.Path(work, "stand_in/cuda_runtime_api.h").write_text(STAND_IN)
    for file, text, command, expected in programs:
        pathlib.Path(work, file).write_text(text)
        name, kind = file.split(".")
        build, runs = [compiler, "-std=c11", *flags, file], True
        if kind == "cpp":
            build = ["g++", "-std=c++17", *flags, file]
            if not shutil.which("g++"):
                print(f"{file} is not tried: no g++")
                continue
        if name == "gpu":
            runs = cudart and os.path.exists("/dev/nvidiactl")
            build += ["-isystem", f"{cuda}/include" if cuda else "stand_in"]
        if not runs:
            subprocess.run([*build, "-c"], cwd=work, check=True)
            print(f"{file} compiles; it is not run: no CUDA device, or no libcudart")
            continue
        if name == "gpu":
            build += [cudart, f"-Wl,-rpath,{os.path.dirname(cudart)}"]
        subprocess.run([*build, *link, "-o", name], cwd=work, check=True)
        ran = subprocess.run(["sh", "-c", command], cwd=work, capture_output=True, text=True, timeout=120)
        if ran.returncode or ran.stdout != expected:
            sys.exit(f"{file}, by `{command}`: {ran.returncode}\n{ran.stdout}{ran.stderr}\nnot:\n{expected}")
        print(f"{file} says what the page says")
