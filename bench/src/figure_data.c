/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of the experiments: a period, made here or read from the bundled files, that is
 * repeated on the device, so that the slow reference has only the period to count. */
#include <math.h>
#include <tally/io.h>

#include "figure.h"
#include "../../common/splitmix.h"

enum { PERIOD = 2 << 20, QUICK_PERIOD = 1 << 16, BLOCK_BYTES = 16 << 20 };

/* ---- made ---- */

/* A small letter again and again, 1 to 127 times: 64 in the mean. */
static void make_runs(unsigned char *to, uint64_t samples, uint64_t seed)
{
    uint64_t state = seed, left = 0;
    unsigned char letter = 'a';
    for (uint64_t i = 0; i < samples; i++, left--) {
        if (!left) {
            uint64_t r = splitmix64(&state);
            left = 1 + r % 127;
            letter = (unsigned char)('a' + (r >> 32) % 26);
        }
        to[i] = letter;
    }
}

static unsigned char one_byte(const char *kind, uint64_t i, uint64_t r)
{
    if (strcmp(kind, "zeros") == 0)
        return 0;
    if (strcmp(kind, "ramp") == 0)
        return (unsigned char)i;
    if (strcmp(kind, "linear") == 0) /* neighbouring words' bytes are in neighbouring bins */
        return (unsigned char)(i / 4 + 64 * (i & 3));
    if (strcmp(kind, "ninety") == 0)
        return r % 10 ? 17 : (unsigned char)(r >> 32);
    if (strcmp(kind, "letters") == 0)
        return (unsigned char)('a' + (r >> 32) % 26);
    return (unsigned char)(r >> 32);
}

/* From 0 to 1. "rare": about FEW samples of a period are in each bin of the upper half. */
static float one_float(const figure_try *wanted, uint64_t samples, uint64_t *state)
{
    enum { FEW = 50 };
    double value = (double)(splitmix64(state) >> 40) * 0x1p-24;
    if (strcmp(wanted->data, "rare") == 0) {
        double share = FEW * (double)(wanted->bins / 2) / (double)samples;
        double drawn = (double)(splitmix64(state) >> 11) * 0x1p-53;
        value = (value + (drawn < share)) / 2;
    }
    return (float)value;
}

static void make(const figure_try *wanted, unsigned char *to, uint64_t samples, uint64_t seed)
{
    uint64_t state = seed;
    if (strcmp(wanted->data, "runs") == 0) {
        make_runs(to, samples, seed);
        return;
    }
    for (uint64_t i = 0; i < samples; i++) {
        if (wanted->dtype == TALLY_U8) {
            to[i] = one_byte(wanted->data, i, splitmix64(&state));
        } else {
            float value = one_float(wanted, samples, &state);
            memcpy(to + i * sizeof value, &value, sizeof value);
        }
    }
}

/* ---- read ---- */

/* The book: all its bytes. */
static tally_status read_text(figure_run *run, figure_period *to, tally_error *error)
{
    char path[1024];
    tally_input_options raw = TALLY_INPUT_OPTIONS_INIT;
    tally_input *input = NULL;
    tally_view view = TALLY_VIEW_INIT;
    int done = 0;
    raw.dtype = TALLY_U8;
    snprintf(path, sizeof path, "%s/book.txt.gz", run->folder);
    tally_status status = tally_input_open(path, &raw, &input, error);
    while (!status && !(status = tally_input_read(input, &view, &done, error)) && !done) {
        uint64_t count = view.rows * view.columns * view.channels;
        unsigned char *more = realloc(to->bytes, to->count + count + 1);
        if (!more) {
            status = TALLY_ERROR_MEMORY;
            break;
        }
        to->bytes = more;
        memcpy(to->bytes + to->count, view.data, count);
        to->count += count;
    }
    tally_input_close(input);
    return status;
}

static tally_status read_period(figure_run *run, const figure_try *wanted, tally_error *error)
{
    figure_period found = {NULL, 0};
    tally_status status =
        wanted->side ? figure_image_read(run->folder, wanted->data, wanted->side, &found, error)
                     : read_text(run, &found, error);
    if (!status && !found.count)
        status = TALLY_ERROR_DATA;
    if (status) {
        free(found.bytes);
        return status == TALLY_ERROR_MEMORY ? status : TALLY_ERROR_UNSUPPORTED;
    }
    run->data.period = found.bytes;
    run->data.samples = run->data.period_bytes = found.count;
    return TALLY_OK;
}

/* The share of bytes that are as the one before. */
static double equal_neighbours(const figure_data *data)
{
    uint64_t equal = 0;
    for (uint64_t i = 1; i < data->samples; i++)
        equal += data->period[i] == data->period[i - 1];
    return (double)equal / (double)data->samples;
}

/* ---- on the device ---- */

static tally_status no_memory(tally_error *error)
{
    snprintf(error->message, sizeof error->message, "out of memory");
    return TALLY_ERROR_MEMORY;
}

static tally_status make_period(figure_run *run, const figure_try *wanted, tally_error *error)
{
    figure_data *data = &run->data;
    size_t size = tally_dtype_bytes(wanted->dtype);
    free(data->period);
    free(data->block);
    data->period = data->block = NULL;
    data->made[0] = '\0';
    data->filled = 0;
    if (wanted->side || strcmp(wanted->data, "text") == 0) {
        tally_status status = read_period(run, wanted, error);
        if (status)
            return status;
    } else {
        data->samples = run->quick ? QUICK_PERIOD : PERIOD;
        data->period_bytes = data->samples * size;
        data->period = malloc(data->period_bytes);
        if (!data->period)
            return no_memory(error);
        make(wanted, data->period, data->samples, run->options->seed);
    }
    data->equal = wanted->dtype == TALLY_U8 ? equal_neighbours(data) : NAN;
    uint64_t times = BLOCK_BYTES / data->period_bytes + 1;
    data->block_bytes = times * data->period_bytes;
    data->block = malloc(data->block_bytes);
    if (!data->block)
        return no_memory(error);
    for (uint64_t i = 0; i < times; i++)
        memcpy(data->block + i * data->period_bytes, data->period, data->period_bytes);
    return TALLY_OK;
}

static tally_status reserve(figure_run *run, uint64_t bytes_wanted, tally_error *error)
{
    figure_data *data = &run->data;
    if (data->capacity >= bytes_wanted)
        return TALLY_OK;
    tally_memory_destroy(run->device, data->memory);
    data->memory = NULL;
    data->capacity = data->filled = 0;
    tally_status status = tally_memory_create(run->device, bytes_wanted, &data->memory, error);
    if (!status)
        data->capacity = bytes_wanted;
    return status == TALLY_ERROR_MEMORY || status == TALLY_ERROR_DEVICE ? TALLY_ERROR_UNSUPPORTED
                                                                        : status;
}

tally_status figure_data_need(figure_run *run, const figure_try *wanted, tally_error *error)
{
    figure_data *data = &run->data;
    char name[64];
    uint64_t want = wanted->n * tally_dtype_bytes(wanted->dtype);
    snprintf(name, sizeof name, "%s %s %llu %llu", wanted->data, tally_dtype_name(wanted->dtype),
             (unsigned long long)wanted->side,
             strcmp(wanted->data, "rare") ? 0ull : (unsigned long long)wanted->bins);
    tally_status status = TALLY_OK;
    if (strcmp(name, data->made) != 0) {
        status = make_period(run, wanted, error);
        if (!status)
            snprintf(data->made, sizeof data->made, "%s", name);
    }
    if (status || wanted->from_host || wanted->on_host)
        return status;
    status = reserve(run, want, error);
    while (!status && data->filled < want) {
        uint64_t at = data->filled % data->block_bytes, more = data->block_bytes - at;
        more = more < want - data->filled ? more : want - data->filled;
        status = tally_memory_write(run->device, data->memory, data->filled, data->block + at, more,
                                    error);
        data->filled += status ? 0 : more;
    }
    return status;
}

void *figure_data_host(const figure_data *data, const figure_try *wanted)
{
    uint64_t want = wanted->n * tally_dtype_bytes(wanted->dtype);
    unsigned char *to = malloc(want);
    for (uint64_t have = 0; to && have < want; have += data->block_bytes) {
        uint64_t more = want - have < data->block_bytes ? want - have : data->block_bytes;
        memcpy(to + have, data->block, more);
    }
    return to;
}

void figure_data_release(figure_run *run)
{
    tally_memory_destroy(run->device, run->data.memory);
    free(run->data.period);
    free(run->data.block);
    memset(&run->data, 0, sizeof run->data);
}
