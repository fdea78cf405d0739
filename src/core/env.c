/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* issetugid */
#include "core/env.h"

#include <stdlib.h>
#if defined(__linux__)
#include <sys/auxv.h>
#elif !defined(_WIN32)
#include <unistd.h>
#endif

int ty_env_is_foreign(void)
{
#if defined(__linux__)
    return getauxval(AT_SECURE) != 0; /* what secure_getenv asks, where there is one */
#elif defined(_WIN32)
    return 0; /* no program there has rights by its file */
#else
    return issetugid() != 0;
#endif
}

const char *ty_env(const char *name)
{
    return ty_env_is_foreign() ? NULL : getenv(name);
}
