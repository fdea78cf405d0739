/* SPDX-License-Identifier: Apache-2.0 */
/* The ceiling that the micro programs measure beside: a pass that only reads, by the device's own
 * clock. */
#ifndef MICRO_READ_H
#define MICRO_READ_H

#include <stdio.h>
#include <stdlib.h>

#include "gpu/device.h"
#include "micro.h"

/* Each work-item four loads of 16 bytes at a time, a grid apart. */
static const char micro_read_kernel[] =
    "#if defined(__OPENCL_VERSION__)\n"
    "typedef ulong u64; typedef uint u32;\n"
    "__kernel void readall(__global const uint4 *p, u64 n, __global u32 *out, __local u32 "
    "*unused)\n"
    "{ u64 i = get_global_id(0), step = get_global_size(0);\n"
    "#else\n"
    "typedef unsigned long long u64; typedef unsigned int u32;\n"
    "extern \"C\" __global__ void readall(const uint4 *p, u64 n, u32 *out)\n"
    "{ u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x;\n"
    "#endif\n"
    "u32 s = 0;\n"
    "for (; i + 3 * step < n; i += 4 * step) {\n"
    "uint4 a = p[i], b = p[i + step], c = p[i + 2 * step], d = p[i + 3 * step];\n"
    "s += (a.x ^ a.y ^ a.z ^ a.w) + (b.x ^ b.y ^ b.z ^ b.w) + (c.x ^ c.y ^ c.z ^ c.w) + "
    "(d.x ^ d.y ^ d.z ^ d.w); }\n"
    "for (; i < n; i += step) { uint4 a = p[i]; s += a.x ^ a.y ^ a.z ^ a.w; }\n"
    "if (s == 0x9e3779b9u) out[0] = s; }\n";

/* Seconds to read so many bytes, the median of nine after one more; ends the program on failure. */
static double micro_read_seconds(ty_device *device, void *queue, ty_memory samples, uint64_t bytes)
{
    const ty_device_ops *ops = device->ops;
    tally_error error = {""};
    void *program = NULL, *from, *to;
    ty_memory out = 0;
    int cached, failed;
    double seconds[10];
    failed = ops->build(device, micro_read_kernel, "-DREAD=1", &program, &cached, &error) ||
             ops->alloc(device, 64, &out, &error);
    ty_arg args[] = {ty_arg_memory(samples), ty_arg_u64(bytes / 16), ty_arg_memory(out)};
    ty_launch launch = {device->units * 8, 256, 0, args, 3, 0};
    for (int i = 0; i < 10 && !failed; i++) {
        failed = ops->event_record(device, queue, &from, &error) ||
                 ops->launch(device, queue, program, "readall", &launch, &error) ||
                 ops->event_record(device, queue, &to, &error) || ops->wait(device, queue, &error);
        if (failed)
            break;
        seconds[i] = ops->elapsed(device, from, to);
        ops->event_close(device, from);
        ops->event_close(device, to);
    }
    if (failed) {
        fprintf(stderr, "read pass: %s\n", error.message);
        exit(1);
    }
    ops->release(device, out);
    ops->program_close(device, program);
    qsort(seconds + 1, 9, sizeof *seconds, ascending);
    return seconds[5];
}

#endif
