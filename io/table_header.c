/* SPDX-License-Identifier: Apache-2.0 */
/* What stands above a table: where the samples came from, and the facts of the result. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/table.h"

/* Text as it is shown, cut to `columns`, its end kept, for that is where paths differ. */
static void put_cut(ty_out *out, const char *text, size_t columns, int ascii)
{
    size_t width = ty_text_columns(text);
    if (width > columns && columns > 4) {
        ty_put(out, ascii ? "..." : "\u2026");
        for (size_t drop = width - columns + (ascii ? 3 : 1); drop > 0; drop--)
            do
                text++;
            while (((unsigned char)*text & 0xc0) == 0x80);
    }
    ty_put(out, text);
}

/* Facts with dots between them, on as many lines as they need. */
typedef struct facts {
    ty_out *out;
    const tally_write_options *options;
    size_t column;
} facts;

static void put_fact(facts *f, const char *text)
{
    const char *dot = f->options->ascii ? ", " : " \u00b7 ";
    size_t width = ty_text_columns(text), gap = ty_text_columns(dot);
    if (f->column && f->column + gap + width > f->options->width) {
        ty_put(f->out, "\n");
        f->column = 0;
    }
    if (f->column) {
        ty_put(f->out, dot);
        f->column += gap;
    }
    ty_put(f->out, text);
    f->column += width;
}

static void put_shape(facts *f, const tally_result *r)
{
    if (r->dimensions == 1 && r->labels[0]) {
        const ty_labels *labels = r->labels[0];
        char values[TY_LABEL_SIZE];
        ty_count_noun(labels->count - (labels->others > 0) + labels->others, "value", values);
        put_fact(f, values);
        return;
    }
    char text[TALLY_MAX_DIMENSIONS * 32 + TY_LABEL_SIZE] = "", number[TY_NUMBER_SIZE];
    for (uint32_t d = 0; d < r->dimensions; d++) {
        ty_print_grouped(r->axes[d].bins, number);
        strcat(text, d ? (f->options->ascii ? " x " : " \u00d7 ") : "");
        strcat(text, number);
    }
    strcat(text, r->bins == 1 ? " bin" : " bins");
    uint64_t group = ty_table_group(r->bins, f->options->max_rows);
    if (r->dimensions == 1 && group > 1)
        snprintf(text + strlen(text), TY_LABEL_SIZE / 2, ", %" PRIu64 " a row", group);
    put_fact(f, text);
}

static void put_facts(ty_out *out, const tally_result *r, const tally_write_options *options)
{
    facts f = {out, options, 0};
    char text[TY_NUMBER_SIZE];
    if (r->dtype)
        put_fact(&f, tally_dtype_name(r->dtype));
    ty_count_noun(ty_result_samples(r), "sample", text);
    put_fact(&f, text);
    put_shape(&f, r);
    if (r->counter != TALLY_COUNTER_U64)
        put_fact(&f, ty_counter_name(r->counter));
    if (options->log_counts)
        put_fact(&f, r->dimensions == 2 ? "shades are logarithmic" : "bars are logarithmic");
}

tally_status ty_table_header(ty_out *out, const tally_result *r, const tally_write_options *options,
                             tally_error *error)
{
    char *whole = ty_write_sources(r), *sources = whole ? ty_text_printable(whole) : NULL;
    ty_free(whole);
    if (!sources)
        return ty_error_memory(error, "a table", 1);
    if (sources[0]) {
        ty_table_bold(out, options);
        put_cut(out, sources, options->width, options->ascii);
        ty_table_plain(out, options);
        ty_put(out, "\n");
    }
    ty_free(sources);
    ty_table_dim(out, options);
    put_facts(out, r, options);
    ty_table_plain(out, options);
    ty_put(out, "\n");
    return TALLY_OK;
}
