/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that ends the process which loads it. */
#include <stdlib.h>

__attribute__((constructor)) static void fall(void)
{
    if (getenv("FAKE_BROKEN_EXIT"))
        _Exit(9);
    abort();
}
