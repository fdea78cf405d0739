/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "io/columns.h"

#define LIST_BYTES 600
#define NAME_BYTES 60 /* most of one name in a message */

/* "NAME, NAME, …" or, without headings, "1, 2, …"; as many as fit. */
static void list_columns(const ty_columns *columns, char list[LIST_BYTES])
{
    size_t used = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < columns->count; i++) {
        char item[NAME_BYTES + 32];
        const char *heading = columns->headings ? columns->headings[i] : "";
        if (*heading)
            snprintf(item, sizeof item, "%s%.*s", i ? ", " : "", ty_text_fit(heading, NAME_BYTES),
                     heading);
        else
            snprintf(item, sizeof item, "%s%" PRIu32, i ? ", " : "", i + 1);
        size_t size = strlen(item);
        if (used + size + 8 > LIST_BYTES) {
            memcpy(list + used, ", ...", 6);
            return;
        }
        memcpy(list + used, item, size + 1);
        used += size;
    }
}

static tally_status refuse_name(const ty_columns *columns, const char *name, tally_error *error)
{
    char list[LIST_BYTES];
    list_columns(columns, list);
    return ty_error(error, TALLY_ERROR_ARGUMENT, "%s: no column '%.*s'; %s: %s", columns->file,
                    ty_text_fit(name, NAME_BYTES), name,
                    columns->headings
                        ? "there are"
                        : "no headings were found (text: --header yes), choose by number",
                    list);
}

tally_status ty_columns_find(const ty_columns *columns, const char *name, uint32_t *column,
                             tally_error *error)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; columns->headings && *name && i < columns->count; i++) {
        if (strcmp(columns->headings[i], name) != 0)
            continue;
        if (found != UINT32_MAX)
            return ty_error(error, TALLY_ERROR_ARGUMENT,
                            "%s: columns %" PRIu32 " and %" PRIu32
                            " are both called '%.*s'; choose one by its number",
                            columns->file, found + 1, i + 1, ty_text_fit(name, NAME_BYTES), name);
        found = i;
    }
    if (found == UINT32_MAX) {
        char *end;
        unsigned long number = *name >= '1' && *name <= '9' ? strtoul(name, &end, 10) : 0;
        if (!number || *end || number > columns->count)
            return refuse_name(columns, name, error);
        found = (uint32_t)number - 1;
    }
    *column = found;
    return TALLY_OK;
}

tally_status ty_columns_refuse_none(const ty_columns *columns, tally_error *error)
{
    char list[LIST_BYTES];
    list_columns(columns, list);
    return ty_error(error, TALLY_ERROR_ARGUMENT,
                    "%s: %" PRIu32 " columns (%s): choose one with --column", columns->file,
                    columns->count, list);
}
