/*
 * aggregated (source 001): over private-shared, a work-item combines the samples of one bin that
 * come to it one after another into one update. A sample outside the bins does not end a run.
 */
TY_KERNEL(TY_GROUP_SIZE) count(TY_COUNT_ARGS TY_LOCAL_ARG)
{
    const ty_share own = ty_share_of(n);
    const ty_u32 bins = slots - TY_SLOT_EXTRA;
    ty_u32 run = 0, previous = 0;
    ty_outside outside;
    TY_LOCAL_INIT
    ty_outside_none(&outside);
    for (ty_u32 s = TY_LID; s < slots; s += TY_GROUP_SIZE)
        ty_local[s] = 0;
    TY_BARRIER();
    for (ty_u64 i = own.at; i < own.end; i += own.step) {
        ty_u32 slot = ty_slot_of(TY_SAMPLES(data, offset)[i], axis);
        TY_OPAQUE(slot); /* left alone, sm_90 spills where the branches that found it join */
        if (slot >= bins) {
            ty_outside_count(&outside, slot - bins);
        } else if (slot == previous) {
            run++;
        } else {
            if (run)
                TY_ADD_LOCAL(&ty_local[previous], run);
            previous = slot;
            run = 1;
        }
    }
    if (run)
        TY_ADD_LOCAL(&ty_local[previous], run);
    ty_outside_add(&outside, ty_local + bins);
    TY_BARRIER();
    ty_commit(ty_local, slots, out);
    (void)pass;
}
/* SPDX-License-Identifier: Apache-2.0 */
