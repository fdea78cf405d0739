# SPDX-License-Identifier: Apache-2.0
"""docs/SCALE.md: its commands and its C run by two ranks (its Python is run by tests/python/test_scale_page.py)."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).parents[2]
library = os.environ.get("TALLY_LIBRARY")
command = pathlib.Path(os.environ["TALLY"]).resolve().parent
if not library or os.environ.get("SANITIZE") or not all(map(shutil.which, ("mpirun", "mpicc"))) or not (
        command / "tally-mpi").exists():
    print("skipped: no MPI, or no shared library without sanitizers")
    sys.exit(77)

AROUND = """
#include <tally/mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    static float samples[1000];
    uint64_t counts[100], sum = 0;
    tally_stats stats = TALLY_STATS_INIT;
    tally_plan_options options = TALLY_PLAN_OPTIONS_INIT;
    tally_output output = TALLY_OUTPUT_INIT;
    tally_context *context = NULL;
    tally_plan *plan = NULL;
    tally_error error = {""};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 1000; i++)
        samples[i] = (float)(i + 1000 * rank);
%s
    if (opened)
        puts(error.message);
    options.dtypes[0] = TALLY_F32;
    output.counts = counts;
    tally_view view = tally_view_1d(samples, TALLY_F32, 1000);
%s
    for (int i = 0; i < 100; i++)
        sum += counts[i];
    if (rank == 0)
        printf("%%d %%s %%g %%llu %%llu\\n", (int)status, error.message, options.axes[0].hi,
               (unsigned long long)sum, (unsigned long long)counts[99]);
    const tally_view shares[2] = {view, view};
    %s
    sum = 0;
    for (int i = 0; i < 100; i++)
        sum += counts[i];
    if (rank == 0)
        printf("%%d %%s %%llu\\n", (int)counted, error.message, (unsigned long long)sum);
    MPI_Finalize();
    return 0;
}
"""

page = (root / "docs/SCALE.md").read_text()
several, parts, c = re.findall(r"^```C\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
(shell,) = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
environment = os.environ | {
    "PATH": f"{command}:{os.environ['PATH']}", "OMPI_CC": os.environ.get("CC", "cc"), "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none"}


def run(words, folder):
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)
    if done.returncode:
        sys.exit(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


with tempfile.TemporaryDirectory() as work:
    pathlib.Path(work, "page.c").write_text(AROUND % (several.replace('cuda:*,cpu', 'cpu'), c, parts.replace('.device = i;', '.device = 0;')))
    where = os.path.dirname(library)
    run(["mpicc", "-std=c11", "-Wall", "-Wextra", f"-I{root}/include", "page.c", "-o", "page", f"-L{where}", "-ltally", "-lm",
         f"-Wl,-rpath,{where}"], work)
    said = run(["mpirun", "-n", "2", "./page"], work)
    assert said == "0  1999 2000 20\n0  2000\n", said
    os.symlink(root / "data", pathlib.Path(work, "data"))
    run(["bash", "-ec", shell], work)
    shown = run(["tally", "show", "twice.json"], work)
    assert "data/flights.csv" in shown, shown
