# SPDX-License-Identifier: Apache-2.0
"""The example of docs/ADDING_A_METHOD.md: its two files, built as the library builds a method, and laid out as ours are. Where
there is an OpenCL device, it counts what the processor counts, by every one of some settings."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).parents[2]
PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include <tally/tally.h>

static unsigned char bytes[70001];
static float numbers[70001];

static int count(tally_context *c, const void *data, tally_dtype dtype, const tally_axis *axis, const char *copies, uint64_t *counts)
{
    tally_plan_options o = TALLY_PLAN_OPTIONS_INIT;
    tally_execute_options e = TALLY_EXECUTE_OPTIONS_INIT;
    tally_output out = TALLY_OUTPUT_INIT;
    tally_setting setting = {"copies", copies};
    tally_plan *plan = NULL;
    tally_error error = {""};
    o.dtypes[0] = dtype;
    o.axes[0] = *axis;
    o.method = copies ? "copied-local" : NULL;
    o.settings = &setting;
    o.settings_count = copies != NULL;
    tally_view v = tally_view_1d(data, dtype, sizeof bytes - 1);
    out.counts = counts;
    int failed = tally_plan_create(c, &o, &plan, &error) || tally_execute(plan, &v, &e, &out, &error);
    if (failed)
        fprintf(stderr, "%s\n", error.message);
    tally_plan_destroy(plan);
    return failed;
}

int main(void)
{
    static const char *const copies[] = {"1", "4", "7"};
    uint64_t want[100] = {0}, got[100];
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    tally_context *host = NULL, *device = NULL;
    tally_error error = {""};
    o.device = TALLY_DEVICE_OPENCL;
    if (tally_context_create(&o, &device, &error)) {
        printf("not run: %s\n", error.message);
        return 0;
    }
    o.device = TALLY_DEVICE_CPU;
    if (tally_context_create(&o, &host, &error))
        return 1;
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * 2654435761u >> 24);
        numbers[i] = (float)bytes[i] + 0.25f;
    }
    for (int t = 0; t < 2; t++) {
        const tally_axis axis = tally_axis_even(100, 3, 203);
        const void *data = t ? (const void *)(numbers + 1) : bytes + 1;
        const tally_dtype dtype = t ? TALLY_F32 : TALLY_U8;
        if (count(host, data, dtype, &axis, NULL, want))
            return 1;
        for (int k = 0; k < 3; k++) {
            memset(got, 1, sizeof got);
            if (count(device, data, dtype, &axis, copies[k], got) || memcmp(got, want, sizeof got)) {
                fprintf(stderr, "type %d, %s copies: other counts\n", t, copies[k]);
                return 1;
            }
        }
    }
    printf("counts as the processor does\n");
    tally_context_destroy(device);
    tally_context_destroy(host);
    return 0;
}
"""

library = os.environ.get("TALLY_LIBRARY")
compiler, cmake = os.environ.get("CC", "cc"), shutil.which("cmake")
build = pathlib.Path(library).parent if library else None
archive = build / "libtally_internal.a" if build else None
if not archive or not archive.exists() or os.environ.get("SANITIZE") or not shutil.which(compiler) or not cmake:
    print("skipped: no compiler, or no library without sanitizers (TALLY_LIBRARY)")
    sys.exit(77)

page = (root / "docs/ADDING_A_METHOD.md").read_text()
kernel, method = re.findall(r"^```c\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
generated = (build / "generated/gpu_methods.h").read_text()
texts = (build / "generated/kernel_texts.h").read_text()

with tempfile.TemporaryDirectory() as work:
    at = pathlib.Path(work)
    (at / "copied_local.cl").write_text(kernel)
    (at / "copied_local.c").write_text(method)
    (at / "program.c").write_text(PROGRAM)
    # What cmake/TallyLibrary.cmake makes of the folders' files: the list of methods and of texts.
    (at / "gpu_methods.h").write_text(generated.rstrip() + " M(copied_local)\n")
    (at / "kernel_texts.h").write_text(texts + "extern const char ty_text_copied_local[];\n")
    embed = [cmake, "-DOUTPUT=text.c", f"-DFILES={at}/copied_local.cl", "-P", f"{root}/cmake/embed.cmake"]
    subprocess.run(embed, cwd=work, check=True)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{work}", f"-I{root}/src", f"-I{root}/include"]
    files = ["program.c", "copied_local.c", "text.c", f"{root}/src/plan/registry.c"]
    ends = [str(archive), "-ldl", "-lm", "-o", "program"]
    subprocess.run([compiler, *flags, *files, *ends], cwd=work, check=True)
    subprocess.run([f"{work}/program"], check=True, timeout=120)
    if shutil.which("clang-format"):
        style = f"--style=file:{root}/.clang-format"
        subprocess.run(["clang-format", style, "--dry-run", "-Werror", "copied_local.c", "copied_local.cl"], cwd=work, check=True)
