/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a test program: one that fails is counted and printed, and the test goes on, but not
 * beyond a hundred. */
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Of the whole program, whose files may all include this. */
__attribute__((common)) int checks, failures;

/* Returns `good`. */
__attribute__((format(printf, 5, 6))) static inline int
check_that(int good, const char *what, const char *file, int line, const char *format, ...)
{
    checks++;
    if (good)
        return 1;
    failures++;
    va_list args;
    va_start(args, format);
    fprintf(stderr, "FAILED: %s:%d: %s: ", file, line, what);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    if (failures == 100)
        exit(1);
    return 0;
}

/* CHECK_SAY also prints what a format and its arguments say. */
#define CHECK(condition) check_that((condition) ? 1 : 0, #condition, __FILE__, __LINE__, " ")
#define CHECK_SAY(condition, ...)                                                                  \
    check_that((condition) ? 1 : 0, #condition, __FILE__, __LINE__, __VA_ARGS__)

#endif
