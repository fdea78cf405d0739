/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table at a glance, as text, JSON ("tally-summary/1") or CSV. As text a line a column: of
 * numbers their least, quartiles, greatest, mean and a small histogram from the least to the
 * greatest; of words how many there are, and the most frequent. ~ is in front of a quartile that is
 * not exactly a value of the column: it is within 1/2000 of one.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../common/printable.h"
#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/dates.h"
#include "io/facts.h"
#include "io/summary.h"
#include "io/table.h"
#include "io/temp_file.h"
#include "io/write.h"

enum { FACTS = 7, NAME_MOST = 24 };
static const char *const facts[FACTS] = {"min", "25%", "median", "75%", "max", "mean", "sd"};

static double fact_of(const ty_summary_column *c, int f)
{
    const double of[FACTS] = {c->numbers.count ? c->numbers.least : NAN,
                              c->quartiles[0],
                              c->quartiles[1],
                              c->quartiles[2],
                              c->numbers.count ? c->numbers.most : NAN,
                              c->mean,
                              c->deviation};
    return of[f];
}

/* A least (0) or greatest (4) number, or a quartile, of 64-bit integers; unsigned ones less 2^63.
 */
static int64_t integer_of(const ty_summary_column *c, int f)
{
    const double apart = nearbyint(fact_of(c, f));
    if (f == 0 || f == 4)
        return f ? c->shift.most : c->shift.least;
    const uint64_t size = fabs(apart) < 0x1p63 ? (uint64_t)fabs(apart) : (uint64_t)1 << 63;
    return (int64_t)((uint64_t)c->shift.from + (apart < 0 ? 0 - size : size));
}

/* The same as float64; a mean, too, and a standard deviation. */
static double value_of(const ty_summary_column *c, int f)
{
    const double fact = fact_of(c, f);
    if (!c->shift.is_used || f == 6)
        return fact;
    const int is_whole = f < 5 && !c->time && isfinite(fact);
    const int64_t whole = is_whole ? integer_of(c, f) : c->shift.from;
    const double value =
        c->shift.is_unsigned ? (double)((uint64_t)whole ^ UINT64_C(1) << 63) : (double)whole;
    return is_whole ? value : value + fact;
}

static const char *type_of(const ty_summary_column *c)
{
    if (c->why || (!c->is_words && !c->numbers.count && c->numbers.odd))
        return "-";
    return c->is_words                ? "words"
           : c->time                  ? "time"
           : !c->numbers.count        ? "empty"
           : c->numbers.has_fractions ? "number"
                                      : "integer";
}

static int is_about(const ty_summary_column *c, int f)
{
    return f >= 1 && f <= 3 && !c->is_exact && isfinite(fact_of(c, f));
}

/* A time to a hundredth of where all are; where all are the same, as fine as that is. */
static void print_time(const ty_summary_column *c, int f, char text[TY_LABEL_SIZE])
{
    char time[TY_LABEL_SIZE] = "";
    const double value = value_of(c, f), apart = fabs(fact_of(c, f)) / 1000;
    double span = (c->numbers.most - c->numbers.least) / 100;
    span = is_about(c, f) && apart > span ? apart : span;
    const calendar_precision finest = calendar_finest(c->time);
    calendar_precision wanted = calendar_as_fine(span, c->time);
    if (span == 0 && !isnan(value)) {
        wanted = calendar_within(value, c->time, 0);
        wanted = wanted < CALENDAR_DAYS ? CALENDAR_DAYS : wanted;
    }
    if (!isnan(value) && f == 6)
        ty_time_print_span(value, c->time, time);
    else if (!isnan(value))
        ty_time_print_cut(value, c->time, wanted < finest ? wanted : finest, time);
    snprintf(text, TY_LABEL_SIZE, "%s%.60s", is_about(c, f) ? "~" : "", time);
}

static void print_fact(const ty_summary_column *c, int f, char text[TY_LABEL_SIZE])
{
    char number[TY_LABEL_SIZE];
    double value = value_of(c, f);
    const int about = is_about(c, f);
    if (c->time) {
        print_time(c, f, text);
        return;
    }
    if (about && value != 0) { /* no more digits than are known */
        const double unit = pow(10, floor(log10(fabs(value))) - 3);
        value = nearbyint(value / unit) * unit;
    }
    ty_print_short(value, number);
    snprintf(text, TY_LABEL_SIZE, "%s%.60s", about ? "~" : "", number);
}

static void put_cells(ty_out *out, const ty_summary_column *c, const tally_write_options *options)
{
    static const char *const blocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char letters[] = " ..::||##";
    uint64_t largest = 1;
    for (int i = 0; i < TY_SUMMARY_CELLS; i++)
        largest = c->cells[i] > largest ? c->cells[i] : largest;
    int end = TY_SUMMARY_CELLS;
    while (end && !c->cells[end - 1])
        end--;
    for (int i = 0; i < end; i++) {
        const double part = (double)c->cells[i] / (double)largest;
        const int step = c->cells[i] ? 1 + (int)(part * 7.999) : 0;
        if (options->ascii)
            ty_put_bytes(out, letters + step, 1);
        else
            ty_put(out, blocks[step]);
    }
}

static void put_words(ty_out *out, const ty_summary_column *c, size_t room,
                      const tally_write_options *options)
{
    char number[TY_NUMBER_SIZE], share[TY_LABEL_SIZE];
    const int many = c->is_full;
    ty_print_grouped(c->different, number);
    ty_put(out, many ? "over " : "");
    ty_put(out, number);
    ty_put(out, c->different == 1 ? " value" : " values");
    size_t used = strlen(number) + 7 + (many ? 5 : 0);
    for (uint32_t i = 0; i < c->listed && !many; i++) {
        char word[96];
        const size_t fit = (size_t)ty_text_fit(c->top[i].text, 20);
        printable(c->top[i].text, fit, word, sizeof word - 8);
        if (c->top[i].text[fit])
            strcat(word, options->ascii ? "..." : "\u2026");
        ty_percent_print((double)c->top[i].count, (double)c->numbers.count, share);
        const size_t wide = ty_text_columns(word) + strlen(share) + 3;
        if (used + wide > room)
            return;
        ty_put(out, i ? ", " : ": ");
        ty_put(out, word);
        ty_put(out, " ");
        ty_put(out, share);
        used += wide;
    }
}

static void print_odd(const ty_summary_column *c, char text[TY_LABEL_SIZE])
{
    char number[TY_NUMBER_SIZE];
    text[0] = '\0';
    if (c->is_full || !c->numbers.odd)
        return;
    ty_print_grouped(c->numbers.odd, number);
    snprintf(text, TY_LABEL_SIZE, "  %.30s not %s", number, c->is_words ? "text" : "numbers");
}

typedef struct widths {
    size_t name, missing, facts[FACTS], before; /* before: columns up to the facts */
    int cells;                                  /* there is width for them */
} widths;

static void print_name(const ty_summary_column *c, const tally_write_options *options,
                       char text[128])
{
    const size_t fit = (size_t)ty_text_fit(c->name, NAME_MOST);
    printable(c->name, fit, text, 120);
    if (c->name[fit])
        strcat(text, options->ascii ? "..." : "\u2026");
}

/* Facts that fit in the width; the standard deviation is the first to go. */
static int measure(const tally_summary *s, const tally_write_options *options, widths *w)
{
    char text[TY_LABEL_SIZE], name[128], number[TY_NUMBER_SIZE];
    *w = (widths){.name = 6, .missing = 7};
    for (int f = 0; f < FACTS; f++)
        w->facts[f] = strlen(facts[f]);
    for (uint32_t i = 0; i < s->count; i++) {
        const ty_summary_column *c = s->columns + i;
        print_name(c, options, name);
        const size_t wide = ty_text_columns(name);
        w->name = wide > w->name ? wide : w->name;
        const size_t missing = ty_print_grouped(c->numbers.missing, number);
        w->missing = missing > w->missing ? missing : w->missing;
        for (int f = 0; f < FACTS && !c->is_words && !c->why; f++) {
            print_fact(c, f, text);
            w->facts[f] = strlen(text) > w->facts[f] ? strlen(text) : w->facts[f];
        }
    }
    w->before = w->name + 2 + 7 + 2 + w->missing;
    size_t used = w->before;
    for (int f = 0; f < FACTS; f++)
        used += 2 + w->facts[f];
    const size_t cells = 2 + TY_SUMMARY_CELLS;
    int shown = FACTS;
    while (shown > 5 && used + cells > options->width)
        used -= 2 + w->facts[--shown];
    w->cells = used + cells <= options->width;
    return shown;
}

static void put_column(ty_out *out, const ty_summary_column *c, const widths *w, int shown,
                       const tally_write_options *options)
{
    char text[TY_LABEL_SIZE], name[128], number[TY_NUMBER_SIZE];
    print_name(c, options, name);
    ty_table_bold(out, options);
    ty_put_left(out, name, w->name);
    ty_table_plain(out, options);
    ty_put(out, "  ");
    ty_put_left(out, type_of(c), 7);
    ty_put(out, "  ");
    if (c->why) {
        ty_put_printable(out, c->why);
        ty_put(out, "\n");
        return;
    }
    ty_print_grouped(c->numbers.missing, number);
    ty_put_right(out, number, w->missing);
    ty_put(out, c->is_words && c->numbers.count + c->numbers.odd ? "  " : "");
    if (c->is_words && c->numbers.count + c->numbers.odd) {
        put_words(out, c, options->width > w->before + 12 ? options->width - w->before - 2 : 10,
                  options);
    } else if (c->numbers.count) {
        for (int f = 0; f < shown; f++) {
            print_fact(c, f, text);
            ty_put(out, "  ");
            ty_put_right(out, text, w->facts[f]);
        }
        ty_put(out, w->cells ? "  " : "");
        ty_table_color(out, options, 0x3b75af);
        if (w->cells)
            put_cells(out, c, options);
        ty_table_plain(out, options);
    }
    ty_put(out, "\n");
    print_odd(c, text);
    if (*text) {
        ty_put_repeat(out, " ", w->name);
        ty_put(out, text);
        ty_put(out, "\n");
    }
}

static void put_table(ty_out *out, const tally_summary *s, const tally_write_options *options)
{
    char rows[TY_LABEL_SIZE], columns[TY_LABEL_SIZE];
    widths w;
    const int shown = measure(s, options, &w);
    if (!options->no_header) {
        ty_table_bold(out, options);
        ty_put_printable(out, s->name);
        ty_table_plain(out, options);
        ty_count_noun(s->rows, "row", rows);
        ty_count_noun(s->count, "column", columns);
        ty_put(out, "\n");
        ty_table_dim(out, options);
        ty_put(out, rows);
        ty_put(out, options->ascii ? ", " : " \u00b7 ");
        ty_put(out, columns);
        ty_put(out, "\n\n");
        ty_put_left(out, "column", w.name);
        ty_put(out, "  type     ");
        ty_put_right(out, "missing", w.missing);
        for (int f = 0; f < shown; f++) {
            ty_put(out, "  ");
            ty_put_right(out, facts[f], w.facts[f]);
        }
        ty_table_plain(out, options);
        ty_put(out, "\n");
    }
    for (uint32_t i = 0; i < s->count && !out->failed; i++)
        put_column(out, s->columns + i, &w, shown, options);
}

/* ---- JSON and CSV ---- */

static void put_number(ty_out *out, double value)
{
    if (isnan(value) || isinf(value))
        ty_put(out, isnan(value) ? "null" : value < 0 ? "\"-inf\"" : "\"inf\"");
    else
        ty_put_double(out, value);
}

/* For programs: integers as they are, of times ISO 8601, and a standard deviation in seconds. */
static void put_fact(ty_out *out, const ty_summary_column *c, int f, const char *quote)
{
    char text[TY_LABEL_SIZE];
    const double value = value_of(c, f);
    const int64_t ticks = calendar_ticks(c->time), whole = c->shift.is_used ? integer_of(c, f) : 0;
    if (c->time && f == 6 && isfinite(value)) {
        put_number(out, ticks ? value / (double)ticks : value * 86400);
    } else if (c->time && isfinite(value)) {
        ty_time_print(value, c->time,
                      c->time == TALLY_TIME_DAY && f < 5 ? CALENDAR_DAYS
                      : value == nearbyint(value) && fmod(value, (double)(ticks + !ticks)) == 0
                          ? CALENDAR_SECONDS
                          : calendar_finest(c->time),
                      1, text);
        ty_put(out, quote);
        ty_put(out, text);
        ty_put(out, quote);
    } else if (c->shift.is_used && f < 5 && isfinite(value)) {
        if (c->shift.is_unsigned)
            ty_put_u64(out, (uint64_t)whole ^ UINT64_C(1) << 63);
        else
            ty_put_i64(out, whole);
    } else {
        put_number(out, value);
    }
}

static void put_key(ty_out *out, const char *key)
{
    ty_put(out, ",\"");
    ty_put(out, key);
    ty_put(out, "\":");
}

static void put_json_column(ty_out *out, const ty_summary_column *c)
{
    static const char *const keys[FACTS] = {"min", "q1", "median", "q3", "max", "mean", "sd"};
    ty_put(out, "{\"name\":");
    ty_put_json_string(out, c->name);
    put_key(out, "type");
    ty_put_json_string(out, c->why ? "unread" : type_of(c));
    if (c->why) {
        put_key(out, "why");
        ty_put_json_string(out, c->why);
        ty_put(out, "}");
        return;
    }
    put_key(out, "missing");
    ty_put_u64(out, c->numbers.missing);
    if (c->is_words) {
        put_key(out, "different");
        ty_put_u64(out, c->different);
        put_key(out, "uncounted");
        ty_put_u64(out, c->numbers.odd);
        put_key(out, "top");
        ty_put(out, "[");
        for (uint32_t i = 0; i < c->listed; i++) {
            ty_put(out, i ? ",[" : "[");
            ty_put_json_string(out, c->top[i].text);
            ty_put(out, ",");
            ty_put_u64(out, c->top[i].count);
            ty_put(out, "]");
        }
        ty_put(out, "]}");
        return;
    }
    put_key(out, "not_numbers");
    ty_put_u64(out, c->numbers.odd);
    for (int f = 0; f < FACTS; f++) {
        put_key(out, keys[f]);
        put_fact(out, c, f, "\"");
    }
    put_key(out, "quartiles_exact");
    ty_put(out, c->is_exact ? "true" : "false");
    put_key(out, "counts");
    for (int i = 0; i < TY_SUMMARY_CELLS; i++) {
        ty_put(out, i ? "," : "[");
        ty_put_u64(out, c->cells[i]);
    }
    ty_put(out, "]}");
}

static void put_json(ty_out *out, const tally_summary *s)
{
    ty_put(out, "{\"schema\":\"tally-summary/1\",\"source\":");
    ty_put_json_string(out, s->name);
    put_key(out, "rows");
    ty_put_u64(out, s->rows);
    ty_put(out, ",\n\"columns\":[");
    for (uint32_t i = 0; i < s->count && !out->failed; i++) {
        ty_put(out, i ? ",\n" : "");
        put_json_column(out, s->columns + i);
    }
    ty_put(out, "]}");
}

static void put_csv(ty_out *out, const tally_summary *s)
{
    for (uint32_t i = 0; i < s->count && !out->failed; i++) {
        const ty_summary_column *c = s->columns + i;
        ty_put_csv_name(out, s->name);
        ty_put(out, ",");
        ty_put_csv_name(out, c->name);
        ty_put(out, ",");
        ty_put(out, c->why ? "unread" : type_of(c));
        ty_put(out, ",");
        ty_put_u64(out, s->rows);
        ty_put(out, ",");
        if (!c->why)
            ty_put_u64(out, c->numbers.missing);
        ty_put(out, ",");
        if (c->is_words)
            ty_put_u64(out, c->different);
        ty_put(out, ",");
        if (!c->is_words && !c->why)
            ty_put_u64(out, c->numbers.odd);
        for (int f = 0; f < FACTS; f++) {
            ty_put(out, ",");
            if (!c->is_words && !c->why && !isnan(fact_of(c, f)) && c->shift.is_used)
                put_fact(out, c, f, "");
            else if (!c->is_words && !c->why && !isnan(fact_of(c, f)))
                ty_put_double(out, fact_of(c, f));
        }
        ty_put(out, "\n");
    }
}

static tally_status check(const tally_summary *const *summaries, size_t count, tally_format format,
                          const tally_write_options *from, tally_write_options *options,
                          tally_error *error)
{
    if (!summaries || !count)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "there is no summary to write");
    for (size_t i = 0; i < count; i++)
        if (!summaries[i])
            return ty_error(error, TALLY_ERROR_ARGUMENT, "summary %zu is NULL", i);
    if (format != TALLY_FORMAT_TABLE && format != TALLY_FORMAT_JSON && format != TALLY_FORMAT_CSV)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "all columns at a glance are a table, json or csv; choose one with "
                        "--column for other formats");
    tally_status status = ty_write_options(from, options, error);
    if (status)
        return status;
    options->width = options->width ? options->width : 80;
    return TALLY_OK;
}

static void put_all(ty_out *out, const tally_summary *const *summaries, size_t count,
                    tally_format format, const tally_write_options *options)
{
    const int json = format == TALLY_FORMAT_JSON;
    ty_put(out, json && count > 1 ? "[" : "");
    if (format == TALLY_FORMAT_CSV && !options->no_header)
        ty_put(out, "source,column,type,rows,missing,different,not_numbers,min,q1,median,q3,max,"
                    "mean,sd\n");
    for (size_t i = 0; i < count; i++) {
        ty_put(out, !i ? "" : json ? ",\n" : format == TALLY_FORMAT_TABLE ? "\n" : "");
        if (json)
            put_json(out, summaries[i]);
        else if (format == TALLY_FORMAT_CSV)
            put_csv(out, summaries[i]);
        else
            put_table(out, summaries[i], options);
    }
    ty_put(out, !json ? "" : count > 1 ? "]\n" : "\n");
}

tally_status tally_summary_write(const tally_summary *const *summaries, size_t count,
                                 tally_format format, const tally_write_options *from,
                                 tally_sink sink, void *user, tally_error *error)
{
    tally_write_options options;
    if (!sink)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "sink is NULL");
    tally_status status = check(summaries, count, format, from, &options, error);
    ty_out *out = status ? NULL : ty_malloc(sizeof *out);
    if (!out)
        return status ? status : ty_error_memory(error, "writing", sizeof *out);
    ty_out_begin(out, sink, user);
    put_all(out, summaries, count, format, &options);
    status = ty_out_end(out, error);
    ty_free(out);
    return status;
}

tally_status tally_summary_save(const tally_summary *const *summaries, size_t count,
                                tally_format format, const tally_write_options *options,
                                const char *path, tally_error *error)
{
    tally_write_options all;
    ty_temp *temp;
    if (!path || !*path)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "path is %s", path ? "empty" : "NULL");
    tally_status status = check(summaries, count, format, options, &all, error);
    if (!status)
        status = ty_temp_open(path, &temp, error);
    if (status)
        return status;
    status = tally_summary_write(summaries, count, format, &all, ty_temp_write, temp, error);
    if (!status)
        return ty_temp_commit(temp, error);
    ty_temp_discard(temp);
    if (status == TALLY_ERROR_IO)
        ty_error_prefix(error, path);
    return status;
}
