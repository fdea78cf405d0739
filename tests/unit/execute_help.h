/* SPDX-License-Identifier: Apache-2.0 */
/* Plans and calls that must succeed or be refused, outputs watched: for tests of the whole path. */
#ifndef EXECUTE_HELP_H
#define EXECUTE_HELP_H

#include <stddef.h>
#include <stdint.h>
#include <tally/tally.h>

/* A context of the processor with `threads` threads; ends the program if there is none. */
tally_context *help_context(uint32_t threads);

/* One dimension of `dtype` on `axis`, everything else standard. */
tally_plan_options help_options(tally_dtype dtype, tally_axis axis);
/* A plan that must be made; ends the program otherwise. */
tally_plan *help_plan(tally_context *context, const tally_plan_options *options);

/* Outputs of a call, filled with a pattern that help_untouched looks for. */
typedef struct sheet {
    union {
        uint8_t u8[4096];
        uint16_t u16[2048];
        uint32_t u32[1024];
        uint64_t u64[512];
        int64_t i64[512];
        double f64[512];
    } counts;
    tally_flows flows[16];
    double squares[512];
} sheet;

/* `output` of a fresh sheet; squares as the plan's options say. */
tally_output help_sheet(sheet *s, int squares);
int help_untouched(const sheet *s);

/* Whether this program runs many times slower than it would: sanitizers, valgrind, or an emulator,
 * which says so by TALLY_EMULATED. */
int help_is_slow(void);

/* The plan must be refused with `status` and a message that contains `words`; also without a place
 * for the message. */
#define EXPECT_NO_PLAN(context, options, status, words)                                            \
    help_expect_no_plan((context), (options), (status), (words), __FILE__, __LINE__)
void help_expect_no_plan(tally_context *context, const tally_plan_options *options,
                         tally_status status, const char *words, const char *file, int line);

/* The call must be refused likewise, by the method and by the reference, and leave a sheet as it
 * was. `change` (may be NULL) edits the output before the call. */
#define EXPECT_NO_RUN(plan, views, options, change, status, words)                                 \
    help_expect_no_run((plan), (views), (options), (change), (status), (words), __FILE__, __LINE__)
void help_expect_no_run(const tally_plan *plan, const tally_view *views,
                        const tally_execute_options *options, void (*change)(tally_output *),
                        tally_status status, const char *words, const char *file, int line);

#endif
