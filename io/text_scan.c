#include "io/text_scan.h"

#include "cpu/features.h"
#include "cpu/isa.h"

const ty_scan_loops *ty_text_scan_loops_get(void)
{
    TY_ISA_BEST(text_scan);
}

int ty_text_scan_make(ty_scan *scan, ty_delimiter delimiter, const char *missing, uint32_t columns,
                      const uint32_t *columns_of, uint32_t views)
{
    if (columns > TY_SCAN_COLUMNS)
        return 0;
    uint8_t is_wanted[TY_SCAN_COLUMNS] = {0};
    int place[TY_SCAN_COLUMNS], count = 0;
    is_wanted[columns - 1] = 1;
    for (uint32_t v = 0; v < views; v++) {
        is_wanted[columns_of[v]] = 1;
        if (columns_of[v])
            is_wanted[columns_of[v] - 1] = 1;
    }
    for (uint32_t i = 0; i < columns; i++)
        place[i] = is_wanted[i] ? count++ : -1;
    scan->delimiter = delimiter;
    scan->missing = missing;
    scan->columns = columns;
    scan->positions = (uint32_t)count;
    scan->picks = views;
    for (uint32_t v = 0; v < views; v++) {
        ty_scan_pick *pick = scan->pick + v;
        pick->begin = columns_of[v] ? place[columns_of[v] - 1] : -1;
        pick->end = place[columns_of[v]];
        pick->is_last = columns_of[v] == columns - 1;
        pick->view = v;
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

int ty_text_scan_value(const ty_scan *scan, const char *p, const char *end, double *value)
{
    ty_field field;
    if (ty_field_scan(scan->delimiter, p, end, &field) != end || field.open)
        return 0;
    ty_field_kind kind = ty_field_read(&field, scan->missing, value);
    return kind == TY_FIELD_NUMBER || kind == TY_FIELD_MISSING;
}
