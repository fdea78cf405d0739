/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TY_DRIVERS_H
#define TY_DRIVERS_H

/* Compilers of OpenCL keep memory until the process ends, and do not tell the thread sanitizer what
 * their threads wait for. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpocl\nleak:libLLVM\nleak:libstdc++\nleak:libOpenCL\nleak:libclang\nleak:"
           "libhwloc\n";
}

const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:libpocl\ncalled_from_lib:libLLVM\nrace:libpocl\nmutex:libpocl\n"
           "deadlock:libpocl\nthread:libpocl\n";
}

#endif
