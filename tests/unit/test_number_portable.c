/* SPDX-License-Identifier: Apache-2.0 */
/* test_number of the parser as it is on a processor without SSE2. */
#define TY_NUMBER_PORTABLE
#define ty_number_parse ty_number_parse_portable
#include "io/number.c"

#include "test_number.c"
