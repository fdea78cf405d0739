#include "random_case.h"

#include <math.h>

#include "../common/edge_values.h"

uint64_t cli_random_next(cli_random *random)
{
    return splitmix64(&random->state);
}

uint64_t cli_random_below(cli_random *random, uint64_t below)
{
    return cli_random_next(random) % below;
}

static double unit(cli_random *random)
{
    return splitmix64_unit(&random->state);
}

static int is_float(tally_dtype dtype)
{
    return dtype >= TALLY_F16;
}

static int is_signed(tally_dtype dtype)
{
    return dtype == TALLY_I8 || dtype == TALLY_I16 || dtype == TALLY_I32 || dtype == TALLY_I64;
}

static void *block(cli_case *test, size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) {
        test->out_of_memory = 1;
        return NULL;
    }
    return test->blocks[test->block_count++] = memory;
}

/* ---- values ---- */

typedef enum pattern {
    ZEROS,
    ONE_VALUE,
    RAMP,
    UNIFORM,
    EDGES,
    ANY_BITS,
    MOSTLY_ONE,
    PATTERNS
} pattern;

static const char *const pattern_names[] = {"zeros", "one value",   "a ramp",          "uniform",
                                            "edges", "random bits", "mostly one value"};

/* What one axis' samples are drawn from. */
typedef struct drawing {
    pattern pattern;
    double lo, hi, fixed;
    const double *edges;
    uint64_t bins, done;
} drawing;

static void draw(cli_random *random, drawing *d, tally_dtype dtype, void *to)
{
    uint64_t bits = cli_random_next(random);
    double span = d->hi - d->lo;
    double value = 0;
    int step = 0;
    switch (d->pattern) {
    case ONE_VALUE:
        value = d->fixed;
        break;
    case RAMP:
        value = d->lo + (double)(d->done % 1000) * (span / 1000);
        break;
    case UNIFORM:
        value = d->lo - 0.1 * span + 1.2 * span * unit(random);
        break;
    case EDGES:
        value = d->edges[bits % (d->bins + 1)];
        if ((bits >> 43) % 3 == 0) /* both ends often */
            value = bits >> 40 & 1 ? d->lo : d->hi;
        step = bits >> 41 & 1 ? (int)(bits >> 48) % 5 - 2 : 0;
        break;
    case ANY_BITS:
        memcpy(to, &bits, tally_dtype_bytes(dtype));
        return;
    case MOSTLY_ONE:
        value = bits % 10 ? d->fixed : d->lo + span * unit(random);
        break;
    default:
        break;
    }
    d->done++;
    value_put(to, dtype, value, step);
}

/* ---- axes ---- */

static uint64_t choose_bins(cli_random *random, const tally_method_info *method,
                            uint32_t dimensions)
{
    static const uint64_t liked[] = {1,   2,   3,   7,    10,   16,   64,   100,
                                     255, 256, 257, 1000, 1024, 2048, 4096, 5000};
    uint64_t most = dimensions > 1 ? 40 : 70000;
    if (cli_random_below(random, 12) == 0 && dimensions == 1)
        return 1 + cli_random_below(random, most);
    uint64_t bins = liked[cli_random_below(random, sizeof liked / sizeof *liked)];
    if (bins < method->bins_min && method->bins_min <= most)
        bins = method->bins_min;
    if (bins > method->bins_max)
        bins = method->bins_max;
    return bins > most ? most : bins;
}

/* The values that `dtype` holds, or a sensible part of a float's. */
static void type_range(tally_dtype dtype, double *lo, double *hi)
{
    int bits = (int)(8 * tally_dtype_bytes(dtype));
    *lo = is_float(dtype) ? -1000 : is_signed(dtype) ? -ldexp(1, bits - 1) : 0;
    *hi = is_float(dtype) ? 1000 : ldexp(1, bits - is_signed(dtype));
}

static void choose_range(cli_random *random, tally_dtype dtype, double *lo, double *hi)
{
    type_range(dtype, lo, hi);
    double span = *hi - *lo;
    switch (cli_random_below(random, 4)) {
    case 0:
        return;
    case 1: /* a part */
        *lo += span * 0.5 * unit(random);
        *hi -= span * 0.4 * unit(random);
        break;
    case 2: /* a small whole one */
        *lo = *lo < 0 ? -10 : 0;
        *hi = 100;
        break;
    default: /* far narrower than the type */
        *lo = *lo < 0 ? -1 - unit(random) : 1;
        *hi = *lo + 1 + 50 * unit(random);
        break;
    }
}

static double *keep_edges(cli_case *test, uint32_t d, cli_random *random, int uneven)
{
    tally_axis *axis = &test->plan.axes[d];
    double *edges = malloc((size_t)(axis->bins + 1) * sizeof *edges);
    test->edges[d] = edges;
    if (!edges) {
        test->out_of_memory = 1;
        return NULL;
    }
    if (tally_axis_edges_get(axis, edges, NULL) != TALLY_OK)
        return NULL;
    double step = (edges[axis->bins] - edges[0]) / (double)axis->bins;
    for (uint64_t i = 1; uneven && i < axis->bins; i++)
        edges[i] += step * 0.4 * (unit(random) - 0.5);
    return edges;
}

/* Nonzero when the axis is sound. */
static int make_axis(cli_case *test, uint32_t d, cli_random *random,
                     const tally_method_info *method)
{
    tally_dtype dtype = test->plan.dtypes[d];
    tally_axis *axis = &test->plan.axes[d];
    uint64_t bins = choose_bins(random, method, test->plan.dimensions);
    double lo, hi;
    choose_range(random, dtype, &lo, &hi);
    const int near = cli_random_below(random, 3) == 0;
    if (near)
        range_near(&random->state, bins, &lo, &hi);
    *axis = tally_axis_even(bins, lo, hi);
    uint64_t kind = cli_random_below(random, 10);
    if (dtype == TALLY_U8 && cli_random_below(random, 2)) {
        *axis = tally_axis_even(256, 0, 256);
        kind = 0;
    }
    if (kind == 7)
        *axis = near ? tally_axis_log(bins, value_near(&random->state, 1),
                                      value_near(&random->state, 256))
                     : tally_axis_log(bins, 1 + unit(random), 50 + 50 * unit(random));
    if (kind == 8)
        *axis = tally_axis_integer(bins, (int64_t)fmin(fmax(lo, -1e6), 0x1p52));
    for (uint32_t other = 0; other < d; other++) /* there is one category table a case */
        kind = test->plan.axes[other].kind == TALLY_AXIS_CATEGORY && kind == 9 ? 0 : kind;
    if (kind == 9 && dtype == TALLY_U8) {
        axis->kind = TALLY_AXIS_CATEGORY;
        axis->categories = test->categories;
        axis->bins = tally_categories_letters("abcdefghijklmnopqrstuvwxyz", 26,
                                              1 + cli_random_below(random, 5), test->categories);
    }
    int uneven = kind >= 5 && kind <= 6;
    if (!keep_edges(test, d, random, uneven))
        return 0;
    if (uneven && near)
        edges_near(&random->state, bins, test->edges[d]);
    if (uneven)
        *axis = tally_axis_edges(bins, test->edges[d]);
    if (cli_random_below(random, near ? 2 : 4) == 0 && axis->kind != TALLY_AXIS_INTEGER &&
        axis->kind != TALLY_AXIS_CATEGORY)
        axis->last = TALLY_LAST_OPEN;
    if (cli_random_below(random, 6) == 0 && axis->kind != TALLY_AXIS_CATEGORY) {
        axis->under = TALLY_FLOW_CLAMP;
        axis->over = cli_random_below(random, 2) ? TALLY_FLOW_CLAMP : TALLY_FLOW_COUNT;
    }
    return 1;
}

/* ---- shapes ---- */

static const uint64_t lengths[] = {0,   1,   2,   3,    31,   63,   64,    65,   127,
                                   255, 256, 257, 1000, 4095, 4096, 10007, 70000};

static void choose_shape(cli_case *test, cli_random *random, tally_view *shape)
{
    uint64_t n = lengths[cli_random_below(random, sizeof lengths / sizeof *lengths)];
    *shape = (tally_view)TALLY_VIEW_INIT;
    shape->columns = n;
    if (cli_random_below(random, 3) == 0) {
        shape->rows = 1 + cli_random_below(random, 9);
        shape->columns = n / shape->rows;
    }
    if (cli_random_below(random, 5) == 0)
        shape->batches = 1 + cli_random_below(random, 3);
    if (test->plan.dimensions == 1 && cli_random_below(random, 3) == 0)
        shape->channels = 1 + cli_random_below(random, 4);
}

/* Strides, a start of any alignment and the memory behind `view`, whose extents are set. Returns
 * the first byte's address, NULL without memory. */
static unsigned char *lay_out(cli_case *test, cli_random *random, tally_view *view)
{
    int64_t size = (int64_t)tally_dtype_bytes(view->dtype);
    int loose = cli_random_below(random, 3) == 0;
    int64_t pad = loose ? (int64_t)cli_random_below(random, 3) * size : 0;
    int64_t column = size * (int64_t)view->channels + pad;
    int64_t row =
        column * (int64_t)view->columns + (loose ? (int64_t)cli_random_below(random, 9) : 0);
    int64_t batch = row * (int64_t)view->rows + (loose ? (int64_t)cli_random_below(random, 17) : 0);
    size_t shift = cli_random_below(random, 2) ? cli_random_below(random, 64) : 0;
    size_t bytes = (size_t)(batch * (int64_t)view->batches) + shift;
    unsigned char *memory = block(test, bytes);
    if (!memory)
        return NULL;
    memset(memory, 0xa5, bytes);
    memory += shift;
    view->channel_stride_bytes = size;
    view->column_stride_bytes = column;
    view->row_stride_bytes = row;
    view->batch_stride_bytes = batch;
    if (view->rows > 1 && loose && cli_random_below(random, 2)) { /* upside down */
        memory += row * (int64_t)(view->rows - 1);
        view->row_stride_bytes = -row;
    }
    view->data = memory;
    return memory;
}

typedef void (*filler)(cli_case *test, cli_random *random, void *user, tally_dtype dtype, void *to);

static void fill(cli_case *test, cli_random *random, const tally_view *view, filler fill_one,
                 void *user)
{
    unsigned char *data = (unsigned char *)(uintptr_t)view->data;
    for (uint64_t b = 0; b < view->batches; b++)
        for (uint64_t r = 0; r < view->rows; r++)
            for (uint64_t c = 0; c < view->columns; c++)
                for (uint64_t k = 0; k < view->channels; k++)
                    fill_one(test, random, user, view->dtype,
                             data + (int64_t)b * view->batch_stride_bytes +
                                 (int64_t)r * view->row_stride_bytes +
                                 (int64_t)c * view->column_stride_bytes +
                                 (int64_t)k * view->channel_stride_bytes);
}

static void fill_sample(cli_case *test, cli_random *random, void *user, tally_dtype dtype, void *to)
{
    (void)test;
    draw(random, user, dtype, to);
}

static void fill_mask(cli_case *test, cli_random *random, void *user, tally_dtype dtype, void *to)
{
    (void)test, (void)user, (void)dtype;
    *(unsigned char *)to =
        (unsigned char)(cli_random_below(random, 3) ? cli_random_below(random, 256) : 0);
}

/* Whole numbers, so that sums and sums of squares are exact in any order. */
static void fill_weight(cli_case *test, cli_random *random, void *user, tally_dtype dtype, void *to)
{
    (void)test, (void)user;
    value_put(to, dtype, (double)cli_random_below(random, 200) - 50, 0);
}

/* ---- the case ---- */

static tally_dtype choose_dtype(cli_random *random, const char *names)
{
    tally_dtype known[12];
    size_t count = 0;
    while (*names && count < 12) {
        char name[8] = "";
        size_t length = strcspn(names, " ");
        if (length < sizeof name)
            memcpy(name, names, length);
        tally_dtype dtype = tally_dtype_parse(name);
        if (dtype)
            known[count++] = dtype;
        names += length + strspn(names + length, " ");
    }
    return count ? known[cli_random_below(random, count)] : TALLY_U8;
}

static void choose_rest(cli_case *test, cli_random *random)
{
    static const tally_dtype weight_types[] = {TALLY_F32, TALLY_F64, TALLY_I32,
                                               TALLY_I64, TALLY_U8,  TALLY_I16};
    test->has_mask = cli_random_below(random, 5) == 0;
    test->accumulate = cli_random_below(random, 3) == 0;
    if (cli_random_below(random, 5) == 0) {
        test->plan.weight_dtype =
            weight_types[cli_random_below(random, sizeof weight_types / sizeof *weight_types)];
        test->plan.sum_squares = cli_random_below(random, 3) == 0;
    } else if (cli_random_below(random, 3) == 0) {
        test->plan.counter = (tally_counter)(1 + cli_random_below(random, 3));
    }
}

static void make_sidecars(cli_case *test, cli_random *random, const tally_view *shape)
{
    if (test->has_mask) {
        test->mask = *shape;
        test->mask.dtype = TALLY_U8;
        test->mask.channels = 1;
        if (cli_random_below(random, 3) == 0)
            test->mask.batches = 1;
        if (lay_out(test, random, &test->mask))
            fill(test, random, &test->mask, fill_mask, NULL);
    }
    if (test->plan.weight_dtype && !test->out_of_memory) {
        test->weights = *shape;
        test->weights.dtype = test->plan.weight_dtype;
        if (cli_random_below(random, 2))
            test->weights.channels = 1;
        if (lay_out(test, random, &test->weights))
            fill(test, random, &test->weights, fill_weight, NULL);
    }
}

static void describe(cli_case *test, const tally_view *shape, pattern pattern)
{
    static const char *const kinds[] = {"even", "edges", "log", "integer", "category"};
    snprintf(test->words, sizeof test->words,
             "%s, %u axes, %llu %s bins, %llu x %llu x %llu x %llu, %s%s%s%s",
             tally_dtype_name(test->plan.dtypes[0]), test->plan.dimensions,
             (unsigned long long)test->plan.axes[0].bins, kinds[test->plan.axes[0].kind],
             (unsigned long long)shape->batches, (unsigned long long)shape->rows,
             (unsigned long long)shape->columns, (unsigned long long)shape->channels,
             pattern_names[pattern], test->has_mask ? ", mask" : "",
             test->plan.weight_dtype ? ", weights " : "",
             test->plan.weight_dtype ? tally_dtype_name(test->plan.weight_dtype) : "");
    random_settings_say(&test->settings, test->words, sizeof test->words);
}

static int make_samples(cli_case *test, cli_random *random, const tally_view *shape,
                        pattern pattern)
{
    for (uint32_t d = 0; d < test->plan.dimensions && !test->out_of_memory; d++) {
        const tally_axis *axis = &test->plan.axes[d];
        drawing drawing = {.pattern = pattern, .edges = test->edges[d], .bins = axis->bins};
        drawing.lo = test->edges[d][0];
        drawing.hi = test->edges[d][axis->bins];
        if (axis->kind == TALLY_AXIS_CATEGORY)
            drawing.lo = 'A', drawing.hi = 'z' + 1;
        drawing.fixed = drawing.lo + (drawing.hi - drawing.lo) * unit(random);
        test->views[d] = *shape;
        test->views[d].dtype = test->plan.dtypes[d];
        if (lay_out(test, random, &test->views[d]))
            fill(test, random, &test->views[d], fill_sample, &drawing);
    }
    return test->out_of_memory;
}

int cli_case_make(cli_case *test, uint64_t seed, const tally_method_info *method)
{
    cli_random random = {seed};
    tally_view shape;
    memset(test, 0, sizeof *test);
    test->plan.struct_size = sizeof test->plan;
    test->plan.dimensions =
        cli_random_below(&random, 8) ? 1 : 2 + (uint32_t)cli_random_below(&random, 2);
    test->plan.method = method->name;
    test->bins = 1;
    for (uint32_t d = 0; d < test->plan.dimensions; d++) {
        test->plan.dtypes[d] = choose_dtype(&random, method->dtypes);
        while (!make_axis(test, d, &random, method)) {
            if (test->out_of_memory)
                return 1;
            free(test->edges[d]);
            test->edges[d] = NULL;
        }
        test->bins *= test->plan.axes[d].bins;
    }
    choose_shape(test, &random, &shape);
    choose_rest(test, &random);
    test->plan.channels = shape.channels;
    uint64_t active = shape.channels;
    if (shape.channels > 1 && cli_random_below(&random, 2)) {
        test->plan.channel_mask =
            1 + cli_random_below(&random, (UINT64_C(1) << shape.channels) - 1);
        active = 0;
        for (uint64_t bits = test->plan.channel_mask; bits; bits &= bits - 1)
            active++;
    }
    test->histograms = shape.batches * active;
    test->plan.n_hint = shape.rows * shape.columns;
    pattern pattern = (enum pattern)cli_random_below(&random, PATTERNS);
    random_settings_draw(&test->settings, seed, method->parameters, test->bins);
    test->plan.settings = test->settings.list;
    test->plan.settings_count = test->settings.count;
    describe(test, &shape, pattern);
    if (make_samples(test, &random, &shape, pattern))
        return 1;
    make_sidecars(test, &random, &shape);
    return test->out_of_memory;
}

void cli_case_release(cli_case *test)
{
    for (int d = 0; d < TALLY_MAX_DIMENSIONS; d++)
        free(test->edges[d]);
    for (size_t i = 0; i < test->block_count; i++)
        free(test->blocks[i]);
    memset(test, 0, sizeof *test);
}
