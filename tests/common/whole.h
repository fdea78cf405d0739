/* SPDX-License-Identifier: Apache-2.0 */
/* How much a test draws. */
#ifndef WHOLE_H
#define WHOLE_H

#include <stdlib.h>
#include <string.h>

/* Whether this is `make check-all`; in the usual check tests draw fewer cases. */
static inline int whole_check(void)
{
    const char *check = getenv("TALLY_CHECK");
    return check && !strcmp(check, "all");
}

#endif
