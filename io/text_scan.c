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
        pick->is_time = picks[i].is_time;
        scan->has_others |= pick->words || pick->is_time;
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
    if (kind == TY_FIELD_NUMBER || kind == TY_FIELD_MISSING)
        return 1;
    *value = ty_odd_value();
    return scan->lenient;
}

int ty_text_scan_word(const ty_scan *scan, tally_words *words, const char *p, const char *end,
                      double *value)
{
    ty_field field;
    while (p < end && *p == ' ')
        p++;
    if (p < end && *p == '"') { /* most likely it ends with one, too, and has none within */
        const size_t size = (size_t)(end - p);
        if (size < 2 || end[-1] != '"' || memchr(p + 1, '"', size - 2)) {
            if (ty_field_scan(scan->delimiter, p, end, &field) != end || field.open)
                return 0;
            return ty_word_value(words, &field, scan->spelling, value);
        }
        p++;
        end--;
    } else if (p < end && (*p == '\t' || end[-1] == ' ' || end[-1] == '\t')) {
        p = ty_skip_blanks(scan->delimiter, p, end);
        while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
    }
    if (p == end && scan->columns == 1)
        return 0; /* a blank line */
    const uint32_t code = ty_words_code(words, p, (size_t)(end - p), scan->spelling);
    *value = code == TY_WORDS_MISSING ? NAN : code == TY_WORDS_FAILED ? ty_odd_value() : code;
    return code != TY_WORDS_FAILED || scan->lenient;
}

int ty_text_scan_time(const ty_scan *scan, const char *p, const char *end, double *value)
{
    ty_field field;
    const int quoted = end - p > 2 && *p == '"' && end[-1] == '"';
    if (!scan->spelling && ty_time_parse(p + quoted, end - quoted, value))
        return 1;
    if (ty_field_scan(scan->delimiter, p, end, &field) != end || field.open ||
        (field.size == 0 && !field.quoted && scan->columns == 1))
        return 0;
    if (ty_time_read(&field, scan->spelling, value))
        return 1;
    *value = ty_odd_value();
    return scan->lenient;
}
