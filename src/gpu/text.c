/* SPDX-License-Identifier: Apache-2.0 */
/* A method's kernels as the compilers are given them: one text and its options. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "gpu/method.h"
#include "kernel_texts.h"

/* What all kernels share, then what those that count do, of one packed column or of any layout,
 * then the method's own: one text for both runtimes. */
char *ty_gpu_text(const ty_gpu_method *method)
{
    const int column = method->reads == TY_READS_COLUMN, counts = method->reads != TY_READS_KEYS;
    const char *parts[] = {ty_text_dialect_h,
                           ty_text_bin_h,
                           counts ? ty_text_cell_h : "",
                           counts ? ty_text_cell_lookup_h : "",
                           column ? "" : ty_text_grid_h,
                           column   ? ty_text_sample_h
                           : counts ? ty_text_view_h
                                    : "",
                           column ? ty_text_vectors_h : "",
                           counts ? ty_text_words_h : "",
                           counts ? ty_text_output_h : "",
                           counts ? ty_text_merge : "",
                           counts ? ty_text_finish_h : "",
                           counts ? "" : ty_text_place_h,
                           counts ? "" : ty_text_weight_h,
                           counts ? "" : ty_text_order_state_h,
                           counts ? "" : ty_text_order_h,
                           counts ? "" : ty_text_order_cells_h,
                           NULL,
                           NULL,
                           NULL,
                           NULL,
                           NULL,
                           NULL,
                           NULL,
                           NULL,
                           NULL,
                           NULL};
    enum {
        count = sizeof parts / sizeof *parts,
        own = sizeof method->texts / sizeof *method->texts
    };
    for (int i = 0; i < own; i++)
        parts[count - own + i] = method->texts[i] ? method->texts[i] : "";
    size_t size = 1, at = 0;
    for (int i = 0; i < count; i++)
        size += strlen(parts[i]);
    char *text = ty_malloc(size);
    if (!text)
        return NULL;
    for (int i = 0; i < count; i++) {
        memcpy(text + at, parts[i], strlen(parts[i]));
        at += strlen(parts[i]);
    }
    text[at] = '\0';
    return text;
}

void ty_option(ty_defines *d, const char *option)
{
    const size_t left = sizeof d->text - d->length;
    const int n = snprintf(d->text + d->length, left, "%s%s", d->length ? " " : "", option);
    d->length += n > 0 && (size_t)n < left ? (size_t)n : 0;
}

void ty_define(ty_defines *d, const char *name, uint32_t value)
{
    char option[96];
    snprintf(option, sizeof option, "-D%s=%" PRIu32, name, value);
    ty_option(d, option);
}

_Static_assert(TY_U8 == (int)TALLY_U8 && TY_I64 == (int)TALLY_I64 && TY_F64 == (int)TALLY_F64,
               "bin.h has tally_dtype's numbers");

/* TY_BINNING; a byte's slot is in a table whatever the axis, so that one kernel is all. */
static uint32_t binning_of(const tally_plan *plan, uint32_t d)
{
    const ty_axis *axis = &plan->axes[d];
    if (tally_dtype_bytes(plan->options.dtypes[d]) == 1)
        return TY_BY_F64;
    if (axis->lookup_kind)
        return (uint32_t)axis->lookup_kind;
    return axis->proof == TY_PROVEN_AFFINE ? TY_BY_AFFINE
           : axis->proof == TY_PROVEN_F32  ? TY_BY_F32
           : axis->even                    ? TY_BY_F64
                                           : TY_BY_EDGES;
}

/* "NAME_d" */
static void define_of(ty_defines *o, const char *name, uint32_t d, uint32_t value)
{
    char numbered[32];
    snprintf(numbered, sizeof numbered, "%s_%" PRIu32, name, d);
    ty_define(o, numbered, value);
}

void ty_gpu_options(const tally_plan *plan, const ty_device *device, ty_defines *o)
{
    const ty_gpu_method *method = ty_gpu_method_of(plan);
    const ty_axis *axis = &plan->axes[0];
    const int column = method->reads == TY_READS_COLUMN;
    ty_geometry g;
    method->geometry(plan, device, UINT64_C(1) << 31, &g);
    *o = (ty_defines){"", 0};
    ty_define(o, "TY_DTYPE", plan->options.dtypes[0]);
    ty_define(o, "TY_BINNING", binning_of(plan, 0));
    ty_define(o, "TY_WARP", device->warp);
    ty_define(o, "TY_GROUP_SIZE", g.group_size);
    if (!device->has_fp64)
        ty_define(o, "TY_NO_FP64", 1);
    if (method->define)
        method->define(plan, device, o);
    if (axis->lookup_kind && column)
        ty_define(o, "TY_POSITIVE", (uint32_t)axis->positive);
    if (axis->proof == TY_PROVEN_AFFINE && axis->map.exceptions) {
        ty_define(o, "TY_EXCEPTIONS", 1);
        ty_define(o, "TY_EXCEPTION_SHIFT", axis->map.exception_shift);
    }
    if (axis->proof && axis->map.tie != 0)
        ty_define(o, "TY_TIES", 1);
    if (column)
        return;
    ty_define(o, "TY_DIMS", plan->options.dimensions);
    for (uint32_t d = 0; d < plan->options.dimensions; d++) {
        define_of(o, "TY_DTYPE", d, plan->options.dtypes[d]);
        define_of(o, "TY_BINNING", d, binning_of(plan, d));
        define_of(o, "TY_POSITIVE", d, (uint32_t)plan->axes[d].positive);
    }
}
