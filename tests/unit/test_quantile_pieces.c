/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantiles of samples that come in pieces, in little memory, or that a source reads, against those
 * of the same samples in memory.
 *
 *     test_quantile_pieces [SEED [CASES]]
 */
#include <math.h>
#include <string.h>
#include <tally/tally.h>

#include "check.h"
#include "core/alloc.h"
#include "draw.h"

enum { most = 100000, most_q = 9 };

static tally_context *context; /* of three threads */

/* Samples of hard kinds: any bits, few different ones, equal, special, in one narrow range. */
static void draw_samples(tally_dtype dtype, int kind, uint64_t n, unsigned char *to)
{
    const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, 1e-310, -1e308};
    const size_t size = tally_dtype_bytes(dtype);
    const uint64_t base = next();
    for (uint64_t i = 0; i < n; i++, to += size) {
        uint64_t bits = next();
        double x = special[below(8)];
        float y = (float)x;
        if (kind == 1)
            bits = base + below(10);
        else if (kind == 2)
            bits = below(100) ? base : bits;
        else if (kind == 3)
            bits = base + below(1 << 20);
        else if (kind == 4 && dtype == TALLY_F64)
            memcpy(&bits, &x, sizeof x);
        else if (kind == 4 && dtype == TALLY_F32)
            memcpy(&bits, &y, sizeof y);
        else if (kind == 5)
            bits = i;
        memcpy(to, &bits, size);
    }
}

static int same(double a, double b)
{
    return a == b ? !signbit(a) == !signbit(b) : isnan(a) && isnan(b);
}

/* ---- a source ---- */

typedef struct store {
    const tally_view *view;
    uint64_t fails_at;
    int changes; /* at each reading */
    int reads;
} store;

static tally_status read_store(void *user, uint64_t begin, uint64_t count, void *to,
                               tally_error *error)
{
    store *s = user;
    const size_t element = tally_dtype_bytes(s->view->dtype) * (size_t)s->view->channels;
    if (begin <= s->fails_at && s->fails_at < begin + count) {
        snprintf(error->message, sizeof error->message, "element %llu is burnt",
                 (unsigned long long)s->fails_at);
        return TALLY_ERROR_IO;
    }
    memcpy(to, (const char *)s->view->data + begin * element, count * element);
    if (s->changes && __atomic_fetch_add(&s->reads, 1, __ATOMIC_RELAXED) > 2)
        memset(to, 0x40, count * element);
    return TALLY_OK;
}

static const void *lend_store(void *user, uint64_t begin, uint64_t count)
{
    const store *s = user;
    (void)count;
    return (const char *)s->view->data +
           begin * tally_dtype_bytes(s->view->dtype) * s->view->channels;
}

static void give_back(void *user, const void *lent, uint64_t begin, uint64_t count)
{
    (void)user, (void)lent, (void)begin, (void)count;
}

static tally_source source_of(store *s)
{
    tally_source source = TALLY_SOURCE_INIT;
    source.read = read_store;
    source.user = s;
    source.grain = below(2) ? 0 : 1 + below(30000);
    if (below(3) == 0) {
        source.lend = lend_store;
        source.give_back = give_back;
    }
    return source;
}

static tally_view with_source(const tally_view *view, const tally_source *source)
{
    tally_view made = *view;
    made.data = NULL;
    made.source = source;
    return made;
}

/* ---- cases ---- */

typedef struct example {
    tally_view view, mask;
    int has_mask;
    tally_quantile_options how;
    double q[most_q], want[8 * most_q];
    uint32_t count;
    char what[64];
} example;

static void draw_example(example *e, uint64_t number, unsigned char *data, unsigned char *bytes)
{
    const tally_dtype dtype = (tally_dtype)(1 + below(12));
    const int kind = (int)below(6);
    const uint64_t n = below(4) ? below(3000) : below(most);
    e->view = tally_view_1d(data, dtype, n);
    e->view.channels = below(3) ? 1 : 1 + below(4);
    e->view.rows = below(3) ? 1 : 1 + below(5);
    e->view.columns = n / e->view.channels / e->view.rows;
    draw_samples(dtype, kind, n, data);
    e->mask = tally_view_1d(bytes, TALLY_U8, e->view.columns);
    e->mask.rows = e->view.rows;
    for (uint64_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)below(3);
    e->has_mask = below(3) == 0;
    e->how = (tally_quantile_options)TALLY_QUANTILE_OPTIONS_INIT;
    e->how.method = (tally_quantile_method)below(13);
    e->how.skip_nan = below(3) != 0;
    e->how.mask = e->has_mask ? &e->mask : NULL;
    e->count = (uint32_t)below(most_q + 1);
    for (uint32_t i = 0; i < e->count; i++)
        e->q[i] = below(4) ? unit() : (double)below(5) / 4;
    snprintf(e->what, sizeof e->what, "case %llu, kind %d, %llu of %s", (unsigned long long)number,
             kind, (unsigned long long)n, tally_dtype_name(dtype));
    CHECK(!tally_quantiles(NULL, &e->view, e->q, e->count, &e->how, e->want, NULL));
}

static void check_answers(const example *e, uint64_t channel_mask, const double *got)
{
    for (uint64_t c = 0, at = 0; c < e->view.channels; c++) {
        if (channel_mask && !(channel_mask >> c & 1))
            continue;
        for (uint32_t i = 0; i < e->count; i++, at++)
            CHECK_SAY(same(got[at], e->want[c * e->count + i]), "%s, %s: q %.17g is %.17g, not %g",
                      e->what, tally_quantile_method_name(e->how.method), e->q[i], got[at],
                      e->want[c * e->count + i]);
    }
}

/* In pieces of rows' parts, some with a source. */
static tally_status add_pieces(const example *e, tally_quantile_search *search, tally_error *error)
{
    const size_t element = tally_dtype_bytes(e->view.dtype) * (size_t)e->view.channels;
    const uint64_t n = e->view.rows * e->view.columns;
    tally_status status = TALLY_OK;
    for (uint64_t at = 0, part; at < n && !status; at += part) {
        part = 1 + below(below(2) ? n : n - at);
        part = part < n - at ? part : n - at;
        tally_view piece = tally_view_1d((const char *)e->view.data + at * element, e->view.dtype,
                                         part),
                   mask = tally_view_1d((const char *)e->mask.data + at, TALLY_U8, part);
        piece.channels = e->view.channels;
        store s = {&piece, UINT64_MAX, 0, 0}, m = {&mask, UINT64_MAX, 0, 0};
        const tally_source source = source_of(&s), mask_source = source_of(&m);
        const tally_view read = with_source(&piece, &source),
                         read_mask = with_source(&mask, &mask_source);
        const int by_source = below(2) == 0;
        status = tally_quantile_search_add(search, by_source ? &read : &piece,
                                           !e->has_mask ? NULL
                                           : by_source  ? &read_mask
                                                        : &mask,
                                           error);
    }
    return status;
}

static void check_pieces(const example *e)
{
    tally_quantile_search_options how = TALLY_QUANTILE_SEARCH_OPTIONS_INIT;
    tally_quantile_search *search = NULL;
    tally_error error = {""};
    double got[8 * most_q];
    uint64_t samples[8], nan[8];
    int more = 1, passes = 0;
    how.dtype = e->view.dtype;
    how.channels = e->view.channels;
    how.channel_mask = below(2) ? 0 : 1 + below((1U << how.channels) - 1);
    how.method = e->how.method;
    how.skip_nan = e->how.skip_nan;
    how.memory_bytes = below(3) ? 1 + below(1 << 16) : 0;
    tally_status status = tally_quantile_search_create(below(2) ? context : NULL, &how, e->q,
                                                       e->count, &search, &error);
    for (; !status && more; passes++) {
        status = add_pieces(e, search, &error);
        if (!status)
            status = tally_quantile_search_next(search, &more, &error);
    }
    if (!status)
        status = tally_quantile_search_get(search, got, samples, nan, &error);
    if (CHECK_SAY(!status, "%s: %s", e->what, error.message)) {
        check_answers(e, how.channel_mask, got);
        CHECK_SAY(how.memory_bytes || passes == 1, "%s: %d passes", e->what, passes);
        CHECK(e->has_mask || samples[0] == e->view.rows * e->view.columns);
    }
    tally_quantile_search_destroy(search);
}

/* tally_quantiles and tally_order_statistics of a view with a source. */
static void check_source(const example *e)
{
    const size_t size = tally_dtype_bytes(e->view.dtype);
    store s = {&e->view, UINT64_MAX, 0, 0}, m = {&e->mask, UINT64_MAX, 0, 0};
    const tally_source source = source_of(&s), mask_source = source_of(&m);
    const tally_view read = with_source(&e->view, &source),
                     mask = with_source(&e->mask, &mask_source);
    tally_quantile_options how = e->how;
    tally_error error = {""};
    double got[8 * most_q];
    uint64_t rank = below(100), nan[2][8];
    unsigned char samples[2][8 * 8];
    how.mask = e->has_mask ? &mask : NULL;
    CHECK_SAY(!tally_quantiles(context, &read, e->q, e->count, &how, got, &error), "%s: %s",
              e->what, error.message);
    check_answers(e, 0, got);
    const tally_status one = tally_order_statistics(NULL, &e->view, &rank, 1, &e->how, samples[0],
                                                    nan[0], NULL),
                       two = tally_order_statistics(context, &read, &rank, 1, &how, samples[1],
                                                    nan[1], &error);
    CHECK_SAY(one == two, "%s: rank %llu: %s", e->what, (unsigned long long)rank, error.message);
    if (!one && !two)
        CHECK_SAY(!memcmp(samples[0], samples[1], size * e->view.channels) &&
                      !memcmp(nan[0], nan[1], 8 * e->view.channels),
                  "%s: rank %llu", e->what, (unsigned long long)rank);
}

static void check_failures(unsigned char *data)
{
    tally_view view = tally_view_1d(data, TALLY_F64, most);
    store s = {&view, most / 2, 0, 0};
    tally_source source = TALLY_SOURCE_INIT;
    tally_error error = {""};
    tally_quantile_search_options how = TALLY_QUANTILE_SEARCH_OPTIONS_INIT;
    const double half = 0.5;
    double out = -5;
    draw_samples(TALLY_F64, 3, most, data);
    source.read = read_store;
    source.user = &s;
    const tally_view read = with_source(&view, &source);
    CHECK(tally_quantiles(context, &read, &half, 1, NULL, &out, &error) == TALLY_ERROR_IO);
    CHECK_SAY(strstr(error.message, "burnt") && out == -5, "%s", error.message);
    s.fails_at = UINT64_MAX;
    how.dtype = TALLY_F64;
    how.memory_bytes = 1 << 16;
    for (int changes = 0; changes < 2; changes++)
        for (long k = changes ? -1 : 0;; k++) {
            tally_quantile_search *search = NULL;
            int more = 1;
            s.changes = changes;
            s.reads = 0;
            ty_alloc_fail_after(k);
            tally_status status =
                tally_quantile_search_create(context, &how, &half, 1, &search, &error);
            while (!status && more) {
                status = tally_quantile_search_add(search, &read, NULL, &error);
                if (!status)
                    status = tally_quantile_search_next(search, &more, &error);
            }
            ty_alloc_fail_after(-1);
            if (status && search)
                CHECK(tally_quantile_search_get(search, &out, NULL, NULL, NULL) ==
                      TALLY_ERROR_ARGUMENT);
            tally_quantile_search_destroy(search);
            if (changes)
                CHECK_SAY(status == TALLY_ERROR_DATA, "changed: %d", status);
            else if (status)
                CHECK_SAY(status == TALLY_ERROR_MEMORY, "%ld: %s", k, error.message);
            if (changes || !status || !CHECK(k < 500))
                break;
        }
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : 20261124;
    const uint64_t cases = argc > 2 ? strtoull(argv[2], NULL, 0) : 300;
    tally_context_options options = TALLY_CONTEXT_OPTIONS_INIT;
    unsigned char *data = malloc(8 * most), *bytes = malloc(most);
    printf("test_quantile_pieces: seed %llu\n", (unsigned long long)state);
    options.device = TALLY_DEVICE_CPU;
    options.threads = 3;
    if (!data || !bytes || tally_context_create(&options, &context, NULL))
        return 1;
    for (uint64_t i = 0; i < cases; i++) {
        example e;
        draw_example(&e, i, data, bytes);
        check_pieces(&e);
        check_source(&e);
    }
    check_failures(data);
    tally_context_destroy(context);
    free(data);
    free(bytes);
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
