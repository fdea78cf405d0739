/*
 * Where a histogram's counts go: commit.c's rules on the device. `counts` holds the histograms'
 * bins one behind the other, `first` is where this one's begin; `flows` holds four 64-bit words a
 * histogram. TY_OUT_* are the bits of `how`.
 */
#ifndef TY_OUTPUT_H
#define TY_OUTPUT_H

#include "binning/dialect.h"

#define TY_OUT_COUNTER     3u /* the counter's type: tally_counter */
#define TY_OUT_ADD         4u /* to what is there */
#define TY_OUT_CLAMP_UNDER 8u /* samples below the first edge belong to the first bin … */
#define TY_OUT_CLAMP_OVER  16u
#define TY_OUT_FLOWS       32u /* there are flows to write */

#if defined(__OPENCL_VERSION__) || defined(__CUDACC__)

#define TY_OUTPUT_ARGS                                                                             \
    TY_GLOBAL ty_u8 *counts, ty_u64 first, TY_GLOBAL ty_u64 *flows, ty_u64 histogram, ty_u32 bins, \
        ty_u32 how

/* Bins, and the flows behind them. */
TY_FN ty_u32 ty_targets(ty_u32 bins, ty_u32 how)
{
    return bins + (how & TY_OUT_FLOWS ? 4u : 0u);
}

/* Whether a target has a clamped flow's samples besides its own. */
TY_FN int ty_takes_under(ty_u32 target, ty_u32 how)
{
    return target == 0 && (how & TY_OUT_CLAMP_UNDER);
}

TY_FN int ty_takes_over(ty_u32 target, ty_u32 bins, ty_u32 how)
{
    return target == bins - 1 && (how & TY_OUT_CLAMP_OVER);
}

/* What an output has at a target, with the call's flows behind its bins. */
TY_FN ty_u64 ty_stored(ty_u32 target, TY_GLOBAL const ty_u8 *counts, ty_u64 first,
                       TY_GLOBAL const ty_u64 *flows, ty_u64 histogram, ty_u32 bins, ty_u32 how)
{
    ty_u64 at = first + target;
    if (target >= bins)
        return flows[histogram * 4 + (target - bins)];
    if ((how & TY_OUT_COUNTER) == 0)
        return ((TY_GLOBAL const ty_u64 *)counts)[at];
    if ((how & TY_OUT_COUNTER) == 1)
        return ((TY_GLOBAL const ty_u32 *)counts)[at];
    return (how & TY_OUT_COUNTER) == 2 ? ((TY_GLOBAL const ty_u16 *)counts)[at] : counts[at];
}

/* Writes a target's count. In 64 bits it wraps where the caller's own count is near 2^64. */
TY_FN void ty_store_sum(ty_u32 target, ty_u64 sum, TY_OUTPUT_ARGS)
{
    ty_u32 add = how & TY_OUT_ADD;
    ty_u64 at = first + target;
    if (target >= bins) {
        TY_GLOBAL ty_u64 *flow = flows + histogram * 4 + (target - bins);
        int clamped = (target == bins + TY_SLOT_UNDER && (how & TY_OUT_CLAMP_UNDER)) ||
                      (target == bins + TY_SLOT_OVER && (how & TY_OUT_CLAMP_OVER));
        *flow = (add ? *flow : 0) + (clamped ? 0 : sum);
    } else if ((how & TY_OUT_COUNTER) == 0) {
        TY_GLOBAL ty_u64 *to = (TY_GLOBAL ty_u64 *)counts + at;
        *to = (add ? *to : 0) + sum;
    } else if ((how & TY_OUT_COUNTER) == 1) {
        TY_GLOBAL ty_u32 *to = (TY_GLOBAL ty_u32 *)counts + at;
        *to = (add ? *to : 0) + (ty_u32)sum;
    } else if ((how & TY_OUT_COUNTER) == 2) {
        TY_GLOBAL ty_u16 *to = (TY_GLOBAL ty_u16 *)counts + at;
        sum += add ? *to : 0;
        *to = (ty_u16)(sum < 65535 ? sum : 65535);
    } else {
        sum += add ? counts[at] : 0;
        counts[at] = (ty_u8)(sum < 255 ? sum : 255);
    }
}

#endif

#endif
/* SPDX-License-Identifier: Apache-2.0 */
