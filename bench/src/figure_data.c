/* The samples of the experiments: a period, made here or read from the bundled files, that is
 * repeated on the device, so that the slow reference has only the period to count. */
#include <math.h>
#include <tally/io.h>

#include "figure.h"
#include "../../common/splitmix.h"

enum { PERIOD = 2 << 20, QUICK_PERIOD = 1 << 16, BLOCK_BYTES = 16 << 20 };

/* ---- made ---- */

static unsigned char one_byte(const char *kind, uint64_t i, uint64_t r)
{
    if (strcmp(kind, "zeros") == 0)
        return 0;
    if (strcmp(kind, "ramp") == 0)
        return (unsigned char)i;
    if (strcmp(kind, "ninety") == 0)
        return r % 10 ? 17 : (unsigned char)(r >> 32);
    if (strcmp(kind, "letters") == 0)
        return (unsigned char)('a' + (r >> 32) % 26);
    return (unsigned char)(r >> 32);
}

static void make(const figure_try *wanted, unsigned char *to, uint64_t samples, uint64_t seed)
{
    uint64_t state = seed;
    for (uint64_t i = 0; i < samples; i++) {
        uint64_t r = splitmix64(&state);
        if (wanted->dtype == TALLY_U8) {
            to[i] = one_byte(wanted->data, i, r);
        } else if (wanted->dtype == TALLY_U16) {
            uint16_t value = (uint16_t)((r >> 32) % wanted->bins);
            memcpy(to + i * sizeof value, &value, sizeof value);
        } else {
            float value = (float)((double)(r >> 40) * 0x1p-24);
            memcpy(to + i * sizeof value, &value, sizeof value);
        }
    }
}

/* ---- read ---- */

typedef struct bytes {
    unsigned char *all;
    size_t count, capacity;
} bytes;

static int append(bytes *to, const void *from, size_t count)
{
    if (to->count + count > to->capacity) {
        size_t capacity = 2 * (to->count + count);
        unsigned char *more = realloc(to->all, capacity);
        if (!more)
            return -1;
        to->all = more;
        to->capacity = capacity;
    }
    memcpy(to->all + to->count, from, count);
    to->count += count;
    return 0;
}

/* A row of pixels as grey (Rec. 601) or as RGBA with an alpha of zeros. */
static int append_row(bytes *to, const unsigned char *row, uint64_t pixels, uint64_t channels,
                      int rgba)
{
    for (uint64_t x = 0; x < pixels; x++) {
        const unsigned char *p = row + x * channels;
        unsigned char out[4] = {p[0], p[channels > 2 ? 1 : 0], p[channels > 2 ? 2 : 0], 0};
        if (!rgba)
            out[0] = (unsigned char)((299 * out[0] + 587 * out[1] + 114 * out[2] + 500) / 1000);
        if (append(to, out, rgba ? 4 : 1))
            return -1;
    }
    return 0;
}

static tally_status read_file(const char *path, const tally_input_options *how, int rgba, bytes *to,
                              tally_error *error)
{
    tally_input *input = NULL;
    tally_view view = TALLY_VIEW_INIT;
    int done = 0;
    tally_status status = tally_input_open(path, how, &input, error);
    while (!status && !(status = tally_input_read(input, &view, &done, error)) && !done) {
        for (uint64_t r = 0; r < view.rows && !status; r++) {
            int64_t packed = (int64_t)(view.columns * view.channels);
            const unsigned char *row =
                (const unsigned char *)view.data +
                (int64_t)r * (view.row_stride_bytes ? view.row_stride_bytes : packed);
            int bad = how ? append(to, row, (size_t)packed)
                          : append_row(to, row, view.columns, view.channels, rgba);
            status = bad ? TALLY_ERROR_MEMORY : TALLY_OK;
        }
    }
    tally_input_close(input);
    return status;
}

/* The file that a kind of data is read from, or NULL. */
static const char *file_of(const char *kind)
{
    static const char *const files[][2] = {{"text", "book.txt.gz"},
                                           {"camera", "camera.png"},
                                           {"coins", "coins.png"},
                                           {"cat", "photograph.png"},
                                           {"cat-rgba", "photograph.png"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i][0], kind) == 0)
            return files[i][1];
    return NULL;
}

static tally_status read_period(figure_run *run, const figure_try *wanted, tally_error *error)
{
    char path[1024];
    bytes found = {NULL, 0, 0};
    tally_input_options raw = TALLY_INPUT_OPTIONS_INIT;
    raw.dtype = TALLY_U8;
    snprintf(path, sizeof path, "%s/%s", run->folder, file_of(wanted->data));
    tally_status status = read_file(path, strcmp(wanted->data, "text") == 0 ? &raw : NULL,
                                    strcmp(wanted->data, "cat-rgba") == 0, &found, error);
    if (!status && !found.count)
        status = TALLY_ERROR_DATA;
    if (status) {
        free(found.all);
        return status == TALLY_ERROR_MEMORY ? status : TALLY_ERROR_UNSUPPORTED;
    }
    run->data.period = found.all;
    run->data.samples = run->data.period_bytes = found.count;
    return TALLY_OK;
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
    if (file_of(wanted->data)) {
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
    snprintf(name, sizeof name, "%s %s %llu", wanted->data, tally_dtype_name(wanted->dtype),
             wanted->dtype == TALLY_U16 ? (unsigned long long)wanted->bins : 0ull);
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
