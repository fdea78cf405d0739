/* SPDX-License-Identifier: Apache-2.0 */
/* The samples: generated, or the bundled photograph's. */
#include <math.h>
#include <sys/mman.h>
#include <tally/io.h>

#include "bench.h"
#include "../../common/splitmix.h"

enum { MOST_EDGES = 257 };

/* Of 24 bits, so that it is the same number in either type and less than 1. */
static double unit(uint64_t *state)
{
    return (double)(splitmix64(state) >> 40) * 0x1p-24;
}

static double normal(uint64_t *state)
{
    return sqrt(-2 * log(unit(state) + 0x1p-25)) * cos(6.283185307179586 * unit(state));
}

/* Large pages where the system gives them, as arrays of that size commonly have. */
static void *large(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
#ifdef MADV_HUGEPAGE
    madvise(at, bytes, MADV_HUGEPAGE);
#endif
    return at;
}

int bench_data_start(bench_data *data, const bench_case *cases, size_t count)
{
    int two = 0, weighted = 0;
    data->capacity = 4096;
    for (size_t i = 0; i < count; i++) {
        size_t bytes = cases[i].n * bench_dtype_bytes(cases[i].dtype);
        data->capacity = bytes > data->capacity ? bytes : data->capacity;
        two |= cases[i].kind == BENCH_EVEN_2D;
        weighted |= cases[i].kind == BENCH_WEIGHTS;
    }
    data->x = large(data->capacity);
    data->y = two ? large(data->capacity) : NULL;
    data->weights = weighted ? large(data->capacity) : NULL;
    data->edges = malloc(MOST_EDGES * sizeof *data->edges);
    return data->x && (data->y || !two) && (data->weights || !weighted) && data->edges ? 0 : -1;
}

void bench_data_release(bench_data *data)
{
    if (data->x)
        munmap(data->x, data->capacity);
    if (data->y)
        munmap(data->y, data->capacity);
    if (data->weights)
        munmap(data->weights, data->capacity);
    free(data->edges);
}

/* ---- bytes ---- */

static void fill_text(unsigned char *to, uint64_t n, uint64_t *state)
{
    static const char *const words[] = {
        "the",     "of",    "and",   "a",     "to",   "in",    "is",     "that", "it",     "was",
        "for",     "on",    "with",  "as",    "be",   "at",    "by",     "had",  "not",    "but",
        "which",   "have",  "from",  "this",  "all",  "were",  "when",   "they", "counts", "there",
        "would",   "what",  "about", "their", "more", "water", "number", "over", "people", "house",
        "Nothing", "After", "paper", "while", "city", "light", "quickly"};
    const size_t known = sizeof words / sizeof *words;
    for (uint64_t i = 0; i < n;) {
        uint64_t r = splitmix64(state);
        /* The first words are the frequent ones. */
        const char *word = words[(r & 0xffff) * (r >> 16 & 0xffff) * known >> 32];
        while (*word && i < n)
            to[i++] = (unsigned char)*word++;
        if (i < n && (r >> 32) % 9 == 0)
            to[i++] = (r >> 40) % 2 ? ',' : '.';
        if (i < n)
            to[i++] = (r >> 48) % 12 == 0 ? '\n' : ' ';
    }
}

/* Decodes the photograph and repeats its bytes. */
static int fill_photograph(bench_data *data, unsigned char *to, uint64_t n)
{
    char path[512];
    tally_input *input = NULL;
    tally_error error = {""};
    uint64_t have = 0;
    int done = 0;
    snprintf(path, sizeof path, "%s/photograph.png", data->folder);
    tally_status status = tally_input_open(path, NULL, &input, &error);
    while (!status && !done && have < n) {
        tally_view view;
        status = tally_input_read(input, &view, &done, &error);
        for (uint64_t r = 0; !status && !done && r < view.rows; r++) {
            const unsigned char *row =
                (const unsigned char *)view.data + (int64_t)r * view.row_stride_bytes;
            uint64_t bytes = view.columns * view.channels;
            bytes = bytes < n - have ? bytes : n - have;
            memcpy(to + have, row, bytes);
            have += bytes;
        }
    }
    tally_input_close(input);
    if (status || have == 0) {
        snprintf(data->why, sizeof data->why, "no photograph: %.280s", error.message);
        return -1;
    }
    for (uint64_t i = have; i < n; i++)
        to[i] = to[i - have];
    return 0;
}

static int fill_bytes(bench_data *data, const char *kind, unsigned char *to, uint64_t n,
                      uint64_t *state)
{
    if (strcmp(kind, "photograph") == 0)
        return fill_photograph(data, to, n);
    if (strcmp(kind, "text") == 0) {
        fill_text(to, n, state);
        return 0;
    }
    int level = 128;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t r = splitmix64(state);
        switch (kind[0]) {
        case 'z': /* zeros */
            to[i] = 0;
            break;
        case 'r': /* ramp */
            to[i] = (unsigned char)i;
            break;
        case 'n': /* ninety */
            to[i] = r % 10 ? 17 : (unsigned char)(r >> 32);
            break;
        case 't': /* two, in turn */
            to[i] = i & 1 ? 3 : 200;
            break;
        case 's': /* sorted */
            to[i] = (unsigned char)(i * 256 / n);
            break;
        case 'w': /* walk, between walls */
            level += (int)(r % 3) + (int)(r / 3 % 3) + (int)(r / 9 % 3) - 3;
            level = level < 0 ? 0 : level > 255 ? 255 : level;
            to[i] = (unsigned char)level;
            break;
        default:
            to[i] = (unsigned char)(r >> 32);
        }
    }
    return 0;
}

/* ---- floating point ---- */

static double draw(const char *kind, uint64_t *state)
{
    switch (kind[0]) {
    case 'n': /* normal */
        return normal(state);
    case 'l': /* lognormal */
        return exp(normal(state));
    case 'e': /* equal */
        return 0.37;
    default:
        return unit(state);
    }
}

static void fill_reals(unsigned char *to, bench_dtype dtype, const char *kind, uint64_t n,
                       uint64_t *state)
{
    for (uint64_t i = 0; i < n; i++) {
        double value = draw(kind, state);
        float narrow = (float)value;
        if (dtype == BENCH_F32)
            memcpy(to + i * sizeof narrow, &narrow, sizeof narrow);
        else
            memcpy(to + i * sizeof value, &value, sizeof value);
    }
}

/* The first `block` bytes again and again. */
static void repeat(unsigned char *to, size_t block, size_t bytes)
{
    for (size_t have = block; have < bytes;) {
        size_t more = have < bytes - have ? have : bytes - have;
        memcpy(to + have, to, more);
        have += more;
    }
}

static int fill(bench_data *data, unsigned char *to, const bench_case *wanted, uint64_t seed)
{
    size_t size = bench_dtype_bytes(wanted->dtype);
    int sorted = strcmp(wanted->data, "sorted") == 0;
    uint64_t block = sorted || wanted->n < BENCH_BLOCK ? wanted->n : BENCH_BLOCK;
    uint64_t state = seed;
    if (wanted->dtype != BENCH_U8)
        fill_reals(to, wanted->dtype, wanted->data, block, &state);
    else if (fill_bytes(data, wanted->data, to, block, &state))
        return -1;
    repeat(to, block * size, wanted->n * size);
    return 0;
}

/* Small numbers of eighths: their sums are exact in any order. */
static void fill_weights(double *to, uint64_t n, uint64_t seed)
{
    uint64_t block = n < BENCH_BLOCK ? n : BENCH_BLOCK, state = seed;
    for (uint64_t i = 0; i < block; i++)
        to[i] = (double)(splitmix64(&state) % 64) * 0.125;
    repeat((unsigned char *)to, block * sizeof *to, n * sizeof *to);
}

/* Uneven edges that are the same numbers in float32: bins that grow from the middle outwards. */
static void fill_edges(double *edges, uint64_t bins, double lo, double hi)
{
    for (uint64_t i = 0; i <= bins; i++) {
        double t = 2 * (double)i / (double)bins - 1;
        edges[i] = (double)(float)(lo + (hi - lo) * (0.5 + 0.25 * (t + t * t * t)));
    }
}

int bench_data_make(bench_data *data, const bench_case *wanted, bench_problem *problem)
{
    int again = data->made && strcmp(data->made, wanted->data) == 0 &&
                data->dtype == wanted->dtype && data->n == wanted->n;
    if (!again) {
        data->made = NULL;
        if (fill(data, data->x, wanted, data->seed))
            return -1;
        data->made = wanted->data;
        data->dtype = wanted->dtype;
        data->n = wanted->n;
    }
    memset(problem, 0, sizeof *problem);
    problem->kind = wanted->kind;
    problem->dtype = wanted->dtype;
    problem->n = wanted->n;
    problem->bins = wanted->bins;
    problem->x = data->x;
    problem->lo = strcmp(wanted->data, "normal") == 0 ? -5 : 0;
    problem->hi = wanted->dtype == BENCH_U8                ? 256
                  : strcmp(wanted->data, "normal") == 0    ? 5
                  : strcmp(wanted->data, "lognormal") == 0 ? 10
                                                           : 1;
    if (wanted->kind == BENCH_EVEN_2D) {
        if (fill(data, data->y, wanted, ~data->seed))
            return -1;
        problem->y = data->y;
    }
    if (wanted->kind == BENCH_WEIGHTS) {
        fill_weights(data->weights, wanted->n, ~data->seed);
        problem->weights = data->weights;
    }
    if (wanted->kind == BENCH_EDGES) {
        fill_edges(data->edges, wanted->bins, problem->lo, problem->hi);
        problem->edges = data->edges;
    }
    return 0;
}

double bench_bytes(const bench_problem *problem)
{
    size_t size = bench_dtype_bytes(problem->dtype);
    size += problem->kind == BENCH_EVEN_2D ? size : 0;
    size += problem->kind == BENCH_WEIGHTS ? sizeof(double) : 0;
    return (double)problem->n * (double)size;
}
