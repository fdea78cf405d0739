/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA driver's library with a clock before it, for bench/python.py: what tally launches is
 * launched by the true one, after the time has been noted.
 *
 *     cc -shared -fPIC -o launch_clock.so bench/launch_clock.c -Wl,--no-as-needed -l:libcuda.so.1
 *     TALLY_CUDA_LIBRARY=$PWD/launch_clock.so bench/python.py cuda
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

typedef int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      void *, void **, void **);
typedef int (*launch_with)(const void *, void *, void **, void **);

static double first;

/* When the first kernel since the last call of this was launched, in seconds of the monotonic
 * clock; 0: none. */
double launch_clock_first(void)
{
    const double at = first;
    first = 0;
    return at;
}

static void note(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (first == 0)
        first = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *driver(const char *name)
{
    return dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
}

int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned u, unsigned v,
                   unsigned w, unsigned shared, void *stream, void **arguments, void **extra)
{
    static launch real;
    if (!real)
        real = (launch)driver("cuLaunchKernel");
    note();
    return real(function, x, y, z, u, v, w, shared, stream, arguments, extra);
}

int cuLaunchKernelEx(const void *config, void *function, void **arguments, void **extra)
{
    static launch_with real;
    if (!real)
        real = (launch_with)driver("cuLaunchKernelEx");
    note();
    return real(config, function, arguments, extra);
}
