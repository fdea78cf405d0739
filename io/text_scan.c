/* SPDX-License-Identifier: Apache-2.0 */
#include "io/text_state.h"

#include <math.h>
#include <string.h>

#include "cpu/features.h"
#include "cpu/isa.h"
#include "io/dates.h"

const ty_scan_loops *ty_text_scan_loops_get(void)
{
    TY_ISA_BEST(text_scan);
}

int ty_text_scan_make(ty_scan *scan, ty_delimiter delimiter, const ty_spelling *spelling,
                      uint32_t columns, const ty_pick *picks, uint32_t views)
{
    if (columns > TY_SCAN_COLUMNS)
        return 0;
    uint8_t is_wanted[TY_SCAN_COLUMNS] = {0};
    int place[TY_SCAN_COLUMNS], count = 0;
    is_wanted[columns - 1] = 1;
    for (uint32_t i = 0; i < views; i++) {
        is_wanted[picks[i].column] = 1;
        if (picks[i].column)
            is_wanted[picks[i].column - 1] = 1;
    }
    for (uint32_t i = 0; i < columns; i++)
        place[i] = is_wanted[i] ? count++ : -1;
    scan->delimiter = delimiter;
    scan->spelling = spelling;
    scan->columns = columns;
    scan->positions = (uint32_t)count;
    scan->picks = views;
    scan->has_others = 0;
    for (uint32_t i = 0; i < views; i++) {
        ty_scan_pick *pick = scan->pick + i;
        const uint32_t column = picks[i].column;
        pick->begin = column ? place[column - 1] : -1;
        pick->end = place[column];
        pick->is_last = column == columns - 1;
        pick->view = picks[i].view;
        pick->words = picks[i].words;
        pick->kind = picks[i].kind;
        pick->integers = picks[i].integers;
        scan->has_others |= pick->words || pick->kind != TY_FIELD_NUMBER || pick->integers;
    }
    for (uint32_t met = 0; met < columns; met++) {
        scan->ends[met] = scan->wanted[met] = 0;
        for (uint32_t i = 0; i < 64; i++) {
            uint32_t column = (met + i) % columns;
            scan->ends[met] |= (uint64_t)(column == columns - 1) << i;
            scan->wanted[met] |= (uint64_t)is_wanted[column] << i;
        }
    }
    return 1;
}

double ty_odd_value(void)
{
    const uint64_t bits = TY_ODD_BITS;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int ty_text_scan_value(const ty_scan *scan, const char *p, const char *end, double *value)
{
    ty_field field;
    if (ty_field_scan(scan->delimiter, p, end, &field) != end || field.open)
        return 0;
    ty_field_kind kind = ty_field_read(&field, scan->spelling, value);
    if (kind == TY_FIELD_NUMBER && fabs(*value) >= 0x1p53) {
        field = ty_field_trim(&field);
        ty_integer_note_rounded(scan->rounded, field.begin, field.begin + field.size, *value);
    }
    if (kind == TY_FIELD_NUMBER || kind == TY_FIELD_MISSING)
        return 1;
    *value = ty_odd_value();
    return scan->lenient;
}

/* Takes quotes and white space from a field; 0: it is to be read by ty_field_scan. */
static int trim_word(const ty_scan *scan, const char **begin, const char **end)
{
    const char *p = *begin, *stop = *end;
    while (p < stop && *p == ' ')
        p++;
    if (p < stop && *p == '"') { /* most likely it ends with one, too, and has none within */
        const size_t size = (size_t)(stop - p);
        if (size < 2 || stop[-1] != '"' || memchr(p + 1, '"', size - 2))
            return 0;
        p++;
        stop--;
    } else if (p < stop && (*p == '\t' || stop[-1] == ' ' || stop[-1] == '\t')) {
        p = ty_skip_blanks(scan->delimiter, p, stop);
        while (stop > p && (stop[-1] == ' ' || stop[-1] == '\t'))
            stop--;
    }
    *begin = p;
    *end = stop;
    return 1;
}

int ty_text_scan_is_word(const ty_scan *scan, const char *p, const char *end)
{
    ty_field field;
    const char *begin = p, *stop = end;
    if (trim_word(scan, &begin, &stop))
        return begin < stop || scan->columns > 1; /* else a blank line */
    return ty_field_scan(scan->delimiter, p, end, &field) == end && !field.open;
}

size_t ty_text_scan_words(const ty_scan *scan, tally_words *words, const char *const *from,
                          const char *const *to, size_t count, double *values)
{
    const char *texts[TY_WORDS_BATCH] = {NULL};
    size_t sizes[TY_WORDS_BATCH] = {0}, plain[TY_WORDS_BATCH], kept = count;
    uint32_t codes[TY_WORDS_BATCH];
    size_t n = 0;
    for (size_t i = 0; i < kept; i++) {
        const char *begin = from[i], *end = to[i];
        ty_field field;
        if (trim_word(scan, &begin, &end)) {
            texts[n] = begin;
            sizes[n] = (size_t)(end - begin);
            plain[n++] = i;
            continue;
        }
        ty_field_scan(scan->delimiter, begin, end, &field);
        if (!ty_word_value(words, &field, scan->spelling, values + i))
            kept = i;
    }
    ty_words_codes(words, texts, sizes, n, scan->spelling, codes);
    for (size_t i = 0; i < n; i++) {
        values[plain[i]] = codes[i] == TY_WORDS_MISSING  ? NAN
                           : codes[i] == TY_WORDS_FAILED ? ty_odd_value()
                                                         : codes[i];
        if (codes[i] == TY_WORDS_FAILED && !scan->lenient && plain[i] < kept)
            kept = plain[i];
    }
    return kept;
}

int ty_text_scan_other(const ty_scan *scan, ty_field_kind kind, const char *p, const char *end,
                       double *value)
{
    const int quoted = end - p > 2 && *p == '"' && end[-1] == '"';
    ty_field field = {.begin = p + quoted, .size = (size_t)(end - p) - 2 * (size_t)quoted};
    if (!scan->spelling && (kind == TY_FIELD_TIME ? ty_time_parse(p + quoted, end - quoted, value)
                                                  : ty_field_is_boolean(&field, value)))
        return 1;
    if (ty_field_scan(scan->delimiter, p, end, &field) != end || field.open ||
        (field.size == 0 && !field.quoted && scan->columns == 1))
        return 0;
    if (ty_other_value(kind, &field, scan->spelling, value))
        return 1;
    *value = ty_odd_value();
    return scan->lenient;
}

int ty_text_scan_integer(const ty_scan *scan, ty_integers *integers, const char *p, const char *end,
                         double *value)
{
    ty_field field;
    if (ty_field_scan(scan->delimiter, p, end, &field) != end || field.open ||
        (field.size == 0 && !field.quoted && scan->columns == 1))
        return 0;
    return ty_integer_read(&field, scan->spelling, integers, value);
}
