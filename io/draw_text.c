/* SPDX-License-Identifier: Apache-2.0 */
/* Text on pictures, and the words around a plot. */
#if TALLY_HAVE_CAIRO

#include "io/draw.h"
#include "io/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../common/printable.h"
#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"

void ty_draw_color(ty_draw *d, uint32_t rgb, double alpha)
{
    ty_libcairo.set_source_rgba(d->cr, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0,
                                (rgb & 255) / 255.0, alpha);
}

static void select_font(ty_draw *d, double size, int bold)
{
    ty_libcairo.select_font_face(d->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                                 bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    ty_libcairo.set_font_size(d->cr, size);
}

double ty_draw_text_width(ty_draw *d, const char *text, double size, int bold)
{
    cairo_text_extents_t extents;
    select_font(d, size, bold);
    ty_libcairo.text_extents(d->cr, text, &extents);
    return extents.x_advance;
}

void ty_draw_text(ty_draw *d, double x, double y, const char *text, double size, int bold,
                  uint32_t rgb, ty_align align)
{
    if (align != TY_ALIGN_LEFT)
        x -= ty_draw_text_width(d, text, size, bold) * (align == TY_ALIGN_RIGHT ? 1 : 0.5);
    select_font(d, size, bold);
    ty_draw_color(d, rgb, 1);
    ty_libcairo.move_to(d->cr, x, y);
    ty_libcairo.show_text(d->cr, text);
    ty_libcairo.new_path(d->cr);
}

void ty_draw_text_up(ty_draw *d, double x, double y, const char *text, double size, uint32_t rgb)
{
    ty_libcairo.save(d->cr);
    ty_libcairo.translate(d->cr, x, y);
    ty_libcairo.rotate(d->cr, -1.5707963267948966);
    ty_draw_text(d, 0, 0, text, size, 0, rgb, TY_ALIGN_CENTER);
    ty_libcairo.restore(d->cr);
}

void ty_draw_text_fit(ty_draw *d, char *text, double width, double size, int bold)
{
    size_t length = strlen(text);
    while (length > 3 && ty_draw_text_width(d, text, size, bold) > width) {
        length = (size_t)ty_text_fit(text, (int)length - (strstr(text, "\u2026") ? 4 : 3));
        strcpy(text + length, "\u2026");
        length += 3;
    }
}

/* As it is shown, at most `room` bytes with the NUL. */
static void copy_words(const char *from, char *to, size_t room)
{
    printable(from, strlen(from), to, room);
}

void ty_draw_name(const char *text, int most, char name[64])
{
    printable(text, (size_t)ty_text_fit(text, most), name, 64);
}

/* Adds `count` of `what` to a list with commas, for a histogram's name if there are several. */
static void add_note(ty_draw *d, const char *name, uint64_t count, const char *what)
{
    char number[TY_NUMBER_SIZE];
    size_t used = strlen(d->notes), room = sizeof d->notes - used;
    if (!count || room < 8)
        return;
    ty_print_grouped(count, number);
    int n = snprintf(d->notes + used, room, "%s%s%s%.30s %s", used ? ", " : "", name,
                     *name ? ": " : "", number, what);
    if (n >= (int)room)
        strcpy(d->notes + used, used ? ", \u2026" : "\u2026");
}

static void make_notes(ty_draw *d)
{
    const tally_result *r = d->result;
    const char *over = r->axes[0].kind == TALLY_AXIS_CATEGORY ? "in no bin" : "above";
    for (uint64_t h = 0; h < r->histograms; h++) {
        char name[40], note[40];
        printable(r->names[h], r->histograms > 1 ? (size_t)ty_text_fit(r->names[h], 24) : 0, name,
                  sizeof name);
        const char *const words[] = {"below", over, r->labels[0] ? "missing" : "NaN", "masked"};
        for (int i = 0; i < 4; i++) {
            const uint64_t count = ty_result_flow_count(r, h, i);
            snprintf(note, sizeof note, "%s%s", r->kind == TALLY_RESULT_COUNTS ? "" : "samples ",
                     words[i]);
            add_note(d, name, count, note);
            if (count)
                name[0] = '\0';
        }
    }
}

tally_status ty_draw_words(ty_draw *d, tally_error *error)
{
    const tally_result *r = d->result;
    char samples[TY_LABEL_SIZE], bins[TY_NUMBER_SIZE], more[TY_NUMBER_SIZE];
    char *sources = ty_write_sources(r);
    if (!sources)
        return ty_error_memory(error, "a title", sizeof d->title);
    copy_words(d->options->title ? d->options->title : sources, d->title, sizeof d->title);
    ty_free(sources);
    ty_count_noun(ty_result_samples(r), "sample", samples);
    ty_print_grouped(r->axes[0].bins, bins);
    more[0] = '\0';
    if (r->dimensions == 2) {
        strcpy(more, " \u00d7 ");
        char high[TY_NUMBER_SIZE];
        ty_print_grouped(r->axes[1].bins, high);
        strcat(more, high);
    }
    const ty_labels *labels = r->dimensions == 1 ? r->labels[0] : NULL;
    if (labels)
        ty_print_grouped(labels->count - (labels->others > 0) + labels->others, bins);
    snprintf(d->subtitle, sizeof d->subtitle, "%s%s%s, %.40s%.40s %s%s%s%s",
             r->dtype ? tally_dtype_name(r->dtype) : "", r->dtype ? ", " : "", samples, bins, more,
             labels ? "value" : "bin", r->bins == 1 ? "" : "s", r->counter ? ", " : "",
             r->counter ? ty_counter_name(r->counter) : "");
    ty_facts facts;
    if (r->histograms == 1 && ty_facts_of(r, 0, &facts)) {
        const size_t used = strlen(d->subtitle);
        char text[TY_FACTS_SIZE];
        ty_facts_print(&facts, 0, text);
        snprintf(d->subtitle + used, sizeof d->subtitle - used, " \u00b7 %.128s", text);
    }
    make_notes(d);
    return TALLY_OK;
}

void ty_draw_headings(ty_draw *d, double subtitle_room)
{
    double s = d->s, y = 14 * s;
    if (d->title[0]) {
        ty_draw_text_fit(d, d->title, d->width - 40 * s, 20 * s, 1);
        y += 22 * s;
        ty_draw_text(d, 20 * s, y, d->title, 20 * s, 1, 0x1a1a1a, TY_ALIGN_LEFT);
    }
    ty_draw_text_fit(d, d->subtitle, subtitle_room, 14 * s, 0);
    ty_draw_text(d, 20 * s, y + 24 * s, d->subtitle, 14 * s, 0, 0x666666, TY_ALIGN_LEFT);
    if (d->notes[0]) {
        ty_draw_text_fit(d, d->notes, d->width - 40 * s, 13 * s, 0);
        ty_draw_text(d, 20 * s, d->height - 12 * s, d->notes, 13 * s, 0, 0x666666, TY_ALIGN_LEFT);
    }
}

#else
typedef int ty_draw_text_needs_cairo; /* a translation unit has to declare something */
#endif
