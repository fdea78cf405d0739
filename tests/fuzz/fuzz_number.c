/* SPDX-License-Identifier: Apache-2.0 */
/* What ty_number_parse accepts, strtod reads as the same number up to the same place. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/number.h"

static void need(int condition, const char *text, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "\"%s\": %s\n", text, what);
    abort();
}

/* The number at `p` alone, and with more text behind it, for these take different paths. */
static void compare(const char *text, const char *p, const char *after, double x)
{
    char behind[200];
    double y = 0;
    size_t size = (size_t)(after - p);
    need(ty_number_parse(p, after, &y) == after && memcmp(&x, &y, sizeof x) == 0, text, "cut off");
    if (size < 100) {
        memset(behind, ',', sizeof behind);
        memcpy(behind, p, size);
        need(ty_number_parse(behind, behind + sizeof behind, &y) == behind + size &&
                 memcmp(&x, &y, sizeof x) == 0,
             text, "with more behind it");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    const char *p = text, *end = text + strlen(text);
    double ours = 0, theirs;
    char *after_theirs;
    const char *after = ty_number_parse(p, end, &ours);
    theirs = strtod(p, &after_theirs);
    int is_space = *p == ' ' || (*p >= '\t' && *p <= '\r'), sign = *p == '-' || *p == '+';
    int is_hex = p[sign] == '0' && (p[sign + 1] | 0x20) == 'x';
    if (after) {
        need(after > p && after <= end, text, "out of bounds");
        if (!is_hex)
            need(after == after_theirs || (ours != ours && *after == '('), text, "another end");
        if (!is_hex)
            need(ours != ours ? theirs != theirs : memcmp(&ours, &theirs, sizeof ours) == 0, text,
                 "another value");
        compare(text, p, after, ours);
    } else {
        need(is_space || after_theirs == p, text, "refused");
    }
    free(text);
    return 0;
}
