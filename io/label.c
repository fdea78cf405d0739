/* SPDX-License-Identifier: Apache-2.0 */
#include "io/dates.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Fixed decimals are for numbers of at most this many characters. */
#define LONGEST_FIXED 11

static int fixed_digits(double edge, double tolerance)
{
    char text[TY_NUMBER_SIZE];
    double scale = 1;
    for (int d = 0; d <= 9; d++, scale *= 10) {
        double rounded = nearbyint(edge * scale) / scale;
        if (fabs(edge - rounded) <= tolerance)
            return ty_print_fixed(edge, d, text) <= LONGEST_FIXED ? d : 10;
    }
    return 10;
}

/* Relative error of s significant digits is at most 0.5e(1-s) of the leading digit's power. */
static int significant_digits(double edge, double tolerance)
{
    double power = edge == 0 ? 0 : floor(log10(fabs(edge)));
    for (int s = 1; s < 17; s++) {
        double unit = pow(10, power + 1 - s);
        if (edge == 0 || fabs(edge - nearbyint(edge / unit) * unit) <= tolerance)
            return s;
    }
    return 17;
}

ty_edge_style ty_edge_style_choose(const tally_axis *axis, tally_time time, uint64_t group)
{
    ty_edge_style fixed = {.is_fixed = 1}, significant = {.digits = 2};
    if (time)
        return ty_time_style(axis, time, group);
    double narrowest = INFINITY, widest = 0;
    for (uint64_t i = 0;; i = axis->bins - i < group ? axis->bins : i + group) {
        uint64_t next = axis->bins - i < group ? axis->bins : i + group;
        uint64_t last = i < group ? 0 : i - group;
        double edge = tally_axis_edge(axis, i);
        double after = next > i ? tally_axis_edge(axis, next) - edge : INFINITY;
        double before = i > last ? edge - tally_axis_edge(axis, last) : INFINITY;
        double tolerance = fmin(after, before) / 100;
        narrowest = fmin(narrowest, after);
        widest = next > i ? fmax(widest, after) : widest;
        int f = fixed_digits(edge, tolerance);
        int s = significant_digits(edge, tolerance);
        fixed.digits = f > fixed.digits ? f : fixed.digits;
        significant.digits = s > significant.digits ? s : significant.digits;
        if (i == axis->bins)
            break;
    }
    char lo[TY_NUMBER_SIZE], hi[TY_NUMBER_SIZE];
    int uneven = widest > 100 * narrowest;
    if (!uneven && fixed.digits < 10 &&
        ty_print_fixed(axis->lo, fixed.digits, lo) <= LONGEST_FIXED &&
        ty_print_fixed(axis->hi, fixed.digits, hi) <= LONGEST_FIXED)
        return fixed;
    return significant;
}

void ty_edge_print(double edge, ty_edge_style style, char text[TY_LABEL_SIZE])
{
    char number[TY_NUMBER_SIZE];
    double size = fabs(edge);
    if (style.time) {
        ty_time_print(edge, style.time, style.precision, 0, text);
        return;
    }
    if (style.is_fixed)
        ty_print_fixed(edge, style.digits, number);
    else if (edge != 0 && (size >= 1e7 || size < 1e-4))
        ty_print_scientific(edge, style.digits - 1, number);
    else if (edge == 0)
        strcpy(number, "0");
    else {
        int decimals = style.digits - 1 - (int)floor(log10(size));
        ty_print_fixed(edge, decimals > 0 ? decimals : 0, number);
    }
    if (strcmp(number, "-0") == 0 || strspn(number, "-0.") == strlen(number))
        memmove(number, number + (number[0] == '-'), strlen(number));
    char *exponent = strchr(number, 'e'), *point = strchr(number, '.');
    if (!style.is_fixed && point) { /* 2.50e+07 → 2.5e7 */
        char *end = exponent ? exponent : number + strlen(number), *tail = end;
        while (end[-1] == '0')
            end--;
        end -= end[-1] == '.';
        memmove(end, tail, strlen(tail) + 1);
        exponent = strchr(number, 'e');
    }
    if (exponent) {
        int power = 0;
        sscanf(exponent + 1, "%d", &power);
        snprintf(exponent, 8, "e%d", power);
    }
    snprintf(text, TY_LABEL_SIZE, "%.63s", number);
}

int ty_axis_is_discrete(const tally_axis *axis, tally_dtype dtype, uint64_t group)
{
    if (axis->kind == TALLY_AXIS_INTEGER)
        return 1;
    if (!dtype || dtype >= TALLY_F16 || axis->kind == TALLY_AXIS_CATEGORY)
        return 0;
    for (uint64_t i = 0; i < axis->bins; i += group) {
        const double edge = tally_axis_edge(axis, i);
        if (edge != nearbyint(edge) || fabs(edge) >= 1e15)
            return 0;
    }
    return axis->hi == nearbyint(axis->hi) && fabs(axis->hi) < 1e15;
}

static double largest_of(tally_dtype dtype)
{
    static const double largest[] = {0, 255, 127, 65535, 32767, 4294967295.0, 2147483647.0};
    return dtype >= TALLY_U8 && dtype <= TALLY_I32 ? largest[dtype] : INFINITY;
}

double ty_axis_last_integer(const tally_axis *axis, tally_dtype dtype, uint64_t end)
{
    double last = tally_axis_edge(axis, end) - 1;
    if (end == axis->bins && axis->last == TALLY_LAST_CLOSED)
        last = tally_axis_edge(axis, end);
    double largest = largest_of(dtype);
    return last < largest ? last : largest;
}

ty_row_style ty_row_style_choose(const tally_axis *axis, tally_dtype dtype, tally_time time,
                                 uint64_t group, int ascii)
{
    ty_row_style style = {.dtype = dtype, .ascii = ascii};
    char text[TY_LABEL_SIZE];
    style.discrete =
        time ? axis->kind == TALLY_AXIS_INTEGER : ty_axis_is_discrete(axis, dtype, group);
    style.edges = ty_edge_style_choose(axis, time, group);
    if (style.discrete && !time)
        style.edges = (ty_edge_style){.is_fixed = 1};
    for (uint64_t i = 0;; i = axis->bins - i < group ? axis->bins : i + group) {
        double edge = tally_axis_edge(axis, i);
        if (style.discrete && i == axis->bins)
            edge = ty_axis_last_integer(axis, dtype, i);
        ty_edge_print(edge, style.edges, text);
        style.columns = strlen(text) > style.columns ? strlen(text) : style.columns;
        if (i == axis->bins)
            break;
    }
    return style;
}

static void discrete_label(const tally_axis *axis, const ty_row_style *style, uint64_t first,
                           uint64_t end, char *text)
{
    char lo[TY_LABEL_SIZE], hi[TY_LABEL_SIZE];
    int columns = style->columns < TY_LABEL_SIZE ? (int)style->columns : TY_LABEL_SIZE;
    double from = tally_axis_edge(axis, first), to = ty_axis_last_integer(axis, style->dtype, end);
    ty_edge_print(from, style->edges, lo);
    ty_edge_print(to, style->edges, hi);
    if (end == axis->bins && axis->over == TALLY_FLOW_CLAMP)
        snprintf(text, TY_ROW_SIZE, "%s %*s", style->ascii ? ">=" : "\u2265", columns, lo);
    else if (first == 0 && axis->under == TALLY_FLOW_CLAMP)
        snprintf(text, TY_ROW_SIZE, "%s %*s", style->ascii ? "<=" : "\u2264", columns, hi);
    else if (to <= from)
        snprintf(text, TY_ROW_SIZE, "%*s", columns, lo);
    else
        snprintf(text, TY_ROW_SIZE, "%*s %s %*s", columns, lo, style->ascii ? "-" : "\u2026",
                 columns, hi);
}

void ty_row_label(const tally_axis *axis, const ty_row_style *style, uint64_t first, uint64_t end,
                  char text[TY_ROW_SIZE])
{
    char lo[TY_LABEL_SIZE], hi[TY_LABEL_SIZE];
    if (axis->kind == TALLY_AXIS_CATEGORY) {
        ty_category_label(axis, first, end, style->ascii, text);
        return;
    }
    if (style->discrete) {
        discrete_label(axis, style, first, end, text);
        return;
    }
    int below = first == 0 && axis->under == TALLY_FLOW_CLAMP;
    int above = end == axis->bins && axis->over == TALLY_FLOW_CLAMP;
    int closed = end == axis->bins && axis->last == TALLY_LAST_CLOSED && !above;
    ty_edge_print(tally_axis_edge(axis, first), style->edges, lo);
    ty_edge_print(tally_axis_edge(axis, end), style->edges, hi);
    if (below)
        strcpy(lo, "-inf");
    if (above)
        strcpy(hi, "inf");
    snprintf(text, TY_ROW_SIZE, "%c%*s, %*s%c", below ? '(' : '[', (int)style->columns, lo,
             (int)style->columns, hi, closed ? ']' : ')');
}

static size_t put_byte(char *text, unsigned byte)
{
    if (byte > 0x20 && byte < 0x7f) {
        text[0] = (char)byte;
        text[1] = '\0';
        return 1;
    }
    return (size_t)snprintf(text, 5, "\\x%02x", byte);
}

void ty_category_label(const tally_axis *axis, uint64_t first, uint64_t end, int ascii,
                       char text[TY_LABEL_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned b = 0; b < 256; b++) {
        unsigned start = b;
        while (b < 256 && axis->categories[b] >= first && axis->categories[b] < end)
            b++;
        if (b == start)
            continue;
        if (used + 16 > TY_LABEL_SIZE) { /* a scattered alphabet: no room for all of it */
            strcpy(text + used, ascii ? "..." : "\u2026");
            return;
        }
        if (used)
            text[used++] = ' ';
        used += put_byte(text + used, start);
        if (b - start > 2)
            text[used++] = '-';
        if (b - start == 2)
            text[used++] = ' ';
        if (b - start > 1)
            used += put_byte(text + used, b - 1);
    }
    if (!used)
        strcpy(text, "(none)");
}

void ty_percent_print(double part, double whole, char text[TY_LABEL_SIZE])
{
    char number[TY_NUMBER_SIZE];
    double percent = whole > 0 ? part / whole * 100 : 0;
    int tiny = percent > 0 && percent < 0.005;
    ty_print_fixed(tiny ? 0.01 : percent, 2, number);
    snprintf(text, TY_LABEL_SIZE, "%s%.40s%%", tiny ? "<" : "", number);
}

void ty_count_noun(uint64_t count, const char *noun, char text[TY_LABEL_SIZE])
{
    char number[TY_NUMBER_SIZE];
    ty_print_grouped(count, number);
    snprintf(text, TY_LABEL_SIZE, "%.30s %.30s%s", number, noun, count == 1 ? "" : "s");
}

uint32_t ty_color_of(const tally_result *result, uint64_t h)
{
    static const struct {
        const char *name;
        uint32_t color;
    } channels[] = {{"R", 0xd62b2b},    {"G", 0x2a9d3a},    {"B", 0x2463d1}, {"A", 0x8a8a8a},
                    {"grey", 0x707070}, {"gray", 0x707070}, {"Y", 0x707070}};
    /* Okabe and Ito's palette; its yellow last, for it is faint on white. */
    static const uint32_t palette[] = {0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7,
                                       0xd55e00, 0x56b4e9, 0x444444, 0xd9c800};
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
        if (strcmp(result->names[h], channels[i].name) == 0)
            return channels[i].color;
    return result->histograms == 1 ? 0x3b75af : palette[h % 8];
}

uint32_t ty_color_map(double t)
{
    static const unsigned char anchors[][3] = {
        {68, 1, 84},    {71, 39, 119},  {62, 73, 137},  {48, 103, 141}, {38, 130, 142},
        {31, 157, 137}, {53, 183, 121}, {110, 206, 88}, {181, 222, 43}, {253, 231, 37}};
    int last = (int)(sizeof anchors / sizeof *anchors) - 1;
    t = t > 0 ? t < 1 ? t : 1 : 0;
    int i = (int)(t * last);
    i = i < last ? i : last - 1;
    double part = t * last - i;
    uint32_t color = 0;
    for (int c = 0; c < 3; c++) {
        double mixed = anchors[i][c] + part * (anchors[i + 1][c] - anchors[i][c]);
        color = color << 8 | (uint32_t)(mixed + 0.5);
    }
    return color;
}
