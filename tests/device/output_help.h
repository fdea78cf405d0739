/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs in device memory, and a caller's own streams: what test_output and test_streams share. */
#ifndef TY_OUTPUT_HELP_H
#define TY_OUTPUT_HELP_H

#include <stdint.h>

#include "gpu/device.h"
#include "gpu/opencl_api.h"
#include "plan/plan.h"

enum { most = 20011, most_bins = 1000 };

extern int cuda;
extern tally_context *context;
extern ty_device *device;
extern void *stream, *second_stream; /* the caller's */

extern ty_memory samples; /* on the device; and what was copied there: */
extern union sample_data {
    unsigned char u8[most];
    float f32[most];
} data;

/* A function of the driver, by which the test makes streams of its own; ends the test without it.
 */
void *symbol(const char *name);
#define CALL(result, name, parameters) (__extension__(result(*) parameters) symbol(name))

/* Opens the device, the first argument's kind of, and what stands above; 0: there is none. */
int open_all(int argc, char **argv);
/* Closes it and prints how many checks there were; what main returns. */
int close_all(void);
void finish(void *which);
void finish_stream(void);
void move(ty_memory memory, void *host, size_t bytes, int up);

/* ---- one call, on the device and by the reference ---- */

typedef struct setup {
    const char *method;
    tally_dtype dtype;
    uint64_t bins, n;
    tally_counter counter;
    tally_flow under, over, nan;
    int accumulate, flows, on_stream;
} setup;

tally_plan *make_plan(const setup *s, tally_error *error);

/* An output on the device, and what it should hold. */
typedef struct output_memory {
    ty_memory counts, flows;
    unsigned char host[most_bins * 8], want[most_bins * 8];
    tally_flows host_flows, want_flows;
} output_memory;

extern output_memory there;

void fill_outputs(void);
tally_output output_of(const setup *s, int on_device);
tally_view view_of(const setup *s);
int same(void);

#endif
