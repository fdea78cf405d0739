/* SPDX-License-Identifier: Apache-2.0 */
/* Samples to slots in portable C, for every dtype and axis; the choice among these and vectors. */
#include <string.h>

#include "core/dtype.h"
#include "cpu/buckets.h"
#include "cpu/even.h"

static void slots_byte(const ty_axis *axis, const void *samples, size_t n, uint32_t *slots)
{
    const unsigned char *x = samples;
    const uint32_t *table = axis->byte_slots;
    for (size_t i = 0; i < n; i++)
        slots[i] = table[x[i]];
}

/* One loop a dtype and kind of axis. `load` turns the raw value into what `slot` takes. */
#define SLOTS(name, type, load, even, search)                                                      \
    static void slots_even_##name(const ty_axis *axis, const void *samples, size_t n,              \
                                  uint32_t *slots)                                                 \
    {                                                                                              \
        const unsigned char *from = samples;                                                       \
        ty_bins b = axis->bins;                                                                    \
        for (size_t i = 0; i < n; i++) {                                                           \
            type x;                                                                                \
            memcpy(&x, from + i * sizeof x, sizeof x);                                             \
            slots[i] = even(load(x), &b);                                                          \
        }                                                                                          \
    }                                                                                              \
    static void slots_edges_##name(const ty_axis *axis, const void *samples, size_t n,             \
                                   uint32_t *slots)                                                \
    {                                                                                              \
        const unsigned char *from = samples;                                                       \
        ty_bins b = axis->bins;                                                                    \
        for (size_t i = 0; i < n; i++) {                                                           \
            type x;                                                                                \
            memcpy(&x, from + i * sizeof x, sizeof x);                                             \
            slots[i] = search(load(x), &b, axis->edges);                                           \
        }                                                                                          \
    }

#define SAME(x) (x)

SLOTS(u16, uint16_t, SAME, ty_slot_even, ty_slot_edges)
SLOTS(i16, int16_t, SAME, ty_slot_even, ty_slot_edges)
SLOTS(u32, uint32_t, SAME, ty_slot_even, ty_slot_edges)
SLOTS(i32, int32_t, SAME, ty_slot_even, ty_slot_edges)
SLOTS(u64, uint64_t, SAME, ty_slot_even_u64, ty_slot_edges_u64)
SLOTS(i64, int64_t, SAME, ty_slot_even_i64, ty_slot_edges_i64)
SLOTS(f16, uint16_t, ty_f16_decode, ty_slot_even, ty_slot_edges)
SLOTS(bf16, uint16_t, ty_bf16_decode, ty_slot_even, ty_slot_edges)
SLOTS(f32, float, SAME, ty_slot_even, ty_slot_edges)
SLOTS(f64, double, SAME, ty_slot_even, ty_slot_edges)

static const ty_slots_fn portable[13][2] = {
    [TALLY_U8] = {slots_byte, slots_byte},
    [TALLY_I8] = {slots_byte, slots_byte},
    [TALLY_U16] = {slots_edges_u16, slots_even_u16},
    [TALLY_I16] = {slots_edges_i16, slots_even_i16},
    [TALLY_U32] = {slots_edges_u32, slots_even_u32},
    [TALLY_I32] = {slots_edges_i32, slots_even_i32},
    [TALLY_U64] = {slots_edges_u64, slots_even_u64},
    [TALLY_I64] = {slots_edges_i64, slots_even_i64},
    [TALLY_F16] = {slots_edges_f16, slots_even_f16},
    [TALLY_BF16] = {slots_edges_bf16, slots_even_bf16},
    [TALLY_F32] = {slots_edges_f32, slots_even_f32},
    [TALLY_F64] = {slots_edges_f64, slots_even_f64},
};

ty_slots_fn ty_slots_pick(const ty_axis *axis)
{
    ty_slots_fn fn = NULL;
    if (ty_even_serves(axis))
        fn = ty_even_loops_get()->slots[axis->dtype];
    else if (axis->buckets)
        fn = ty_buckets_loops_get()->slots[axis->dtype];
    return fn ? fn : portable[axis->dtype][axis->even];
}

ty_add_fn ty_add_pick(const ty_axis *axis)
{
    return ty_even_serves(axis) ? ty_even_loops_get()->add[axis->dtype] : NULL;
}
