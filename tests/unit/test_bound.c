/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the bound on a kernel's registers goes in the PTX of an OpenCL program, and that nothing is
 * made of what is no such text.
 */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "gpu/opencl.h"

static int failed;

static void expect(const char *ptx, const char *options, const char *want)
{
    char *got = ty_opencl_bound(ptx, options);
    if (want ? !got || strcmp(got, want) != 0 : got != NULL) {
        fprintf(stderr, "FAILED: %s: got %s\n", ptx, got ? got : "nothing");
        failed = 1;
    }
    ty_free(got);
}

int main(void)
{
    static const char *const options = "-DTY_DTYPE=3 -DTY_DENSE=2 -DTY_BOUNDED=1";
    expect(".entry merge(\n)\n.reqntid 256, 1, 1\n{}\n.entry count(\n)\n.reqntid 1024, 1, 1\n{}\n",
           options,
           ".entry merge(\n)\n.reqntid 256, 1, 1\n{}\n.entry count(\n)\n.reqntid 1024, 1, "
           "1\n.minnctapersm 2\n{}\n");
    expect(".entry count(\n)\n.reqntid 64, 1, 1\n{}\n.entry halves(\n)\n.reqntid 256, 1, 1\n{}\n",
           "-DTY_DENSE=1",
           ".entry count(\n)\n.reqntid 64, 1, 1\n.minnctapersm 1\n{}\n.entry halves(\n)\n.reqntid "
           "256, 1, 1\n{}\n");
    expect(".entry count(\n)\n.reqntid 64, 1, 1\n{}\n", "-DTY_BOUNDED=1", NULL);
    expect(".entry merge(\n)\n.reqntid 256, 1, 1\n{}\n", options, NULL);
    expect(".entry count(\n)\n{}\n", options, NULL);
    expect("\177ELF", options, NULL);
    expect("", options, NULL);
    printf(failed ? "FAILED\n" : "all right\n");
    return failed;
}
