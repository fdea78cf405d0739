/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow IPC files and streams (Feather 2 is such a file): numbers and words of chosen columns,
 * batch by batch.
 *
 * Columns of text are words, as codes. Types are as Parquet's (io/parquet.c): booleans are u8,
 * dates, times and timestamps integers in the file's unit, decimals f64. A column in which a value
 * may be missing is f64 with NaN, unless it has a mask, and so are several columns of different
 * types. */
#include "io/arrow_span.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/columns.h"
#include "io/words.h"

enum { CHUNK_BYTES = 4 << 20, PART_ROWS = 1 << 16 };

typedef struct ty_arrow_state {
    ty_arrow_index index;
    tally_dtype dtype;
    uint64_t row_begin, row_end, row; /* `row` is read next */
    size_t chunk_rows;
    unsigned char *samples; /* as many times chunk_rows as columns are chosen */
    unsigned char *mask;    /* of chunk_rows; NULL: no value is missing so */
    ty_arrow_reader **readers;
    tally_words *words[TALLY_MAX_DIMENSIONS]; /* of column i; NULL: it is of numbers */
    ty_pool *pool;                            /* NULL: the caller's thread alone */
    int has_all_words;                        /* all were looked for */
    struct ty_arrow_source {
        tally_source source;
        ty_arrow_reader *reader;
        uint64_t row_begin;
    } sources[TALLY_MAX_DIMENSIONS];
} ty_arrow_state;

static int arrow_probe(const unsigned char *head, size_t size)
{
    return (size >= 8 && !memcmp(head, "ARROW1", 6)) || ty_arrow_is_stream(head, size);
}

/* ---- Columns ---- */

static tally_status find_picks(ty_arrow_state *s, const ty_columns *columns,
                               const tally_input_options *options, tally_error *error)
{
    ty_arrow_index *index = &s->index;
    if (!options->columns_count && columns->count != 1)
        return columns->count
                   ? ty_columns_refuse_none(columns, error)
                   : ty_error(error, TALLY_ERROR_FORMAT, "%s: no columns", index->in.name);
    index->count = options->columns_count ? options->columns_count : 1;
    index->picks = ty_calloc(index->count, sizeof *index->picks);
    if (!index->picks)
        return ty_error_memory(error, "a choice of columns", index->count * sizeof *index->picks);
    for (uint32_t i = 0; i < index->count; i++) {
        tally_status status = options->columns_count ? ty_columns_find(columns, options->columns[i],
                                                                       index->picks + i, error)
                                                     : TALLY_OK;
        if (status)
            return status;
        const ty_arrow_column *column = index->schema.columns + index->picks[i];
        if (column->type.kind == TY_ARROW_WORDS && options->words && options->words[i])
            s->words[i] = options->words[i];
        else if (column->refused)
            return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "%s: column '%s' holds %s; numbers, one a row, are counted%s",
                            index->in.name, column->name, column->refused,
                            column->type.kind == TY_ARROW_WORDS ? ty_words_hint(options) : "");
    }
    return TALLY_OK;
}

static tally_status choose(ty_arrow_state *s, const tally_input_options *options,
                           tally_error *error)
{
    const ty_arrow_index *index = &s->index;
    const size_t count = index->schema.count;
    const char **names = ty_calloc(count ? count : 1, sizeof *names);
    if (!names || count > UINT32_MAX) {
        ty_free(names);
        return ty_error_memory(error, "the names of columns", count * sizeof *names);
    }
    for (size_t i = 0; i < count; i++)
        names[i] = index->schema.columns[i].name;
    const ty_columns columns = {index->in.name, names, (uint32_t)count};
    tally_status status = find_picks(s, &columns, options, error);
    ty_free(names);
    return status;
}

/* The one type that all chosen columns are handed out in; *masked: integers, some missing. A value
 * of a dictionary that is missing is NaN. */
static tally_dtype common_dtype(const ty_arrow_index *index, int may_mask, int *masked)
{
    const tally_dtype common = index->schema.columns[index->picks[0]].type.dtype;
    int missing = 0;
    *masked = 0;
    for (size_t i = 0; i < index->batches * index->count; i++)
        missing |= index->parts[i].missing;
    for (size_t i = 0; i < index->chains; i++)
        may_mask &= !index->chain[i].missing;
    for (uint32_t p = 0; p < index->count; p++)
        if (index->schema.columns[index->picks[p]].type.dtype != common)
            return TALLY_F64;
    *masked = missing && may_mask && (common == TALLY_I64 || common == TALLY_U64);
    return missing && common < TALLY_F16 && !*masked ? TALLY_F64 : common;
}

/* ---- Opening ---- */

static tally_status make_readers(ty_arrow_state *s, const tally_input_options *options, int masked,
                                 tally_error *error)
{
    ty_arrow_index *index = &s->index;
    const uint64_t row_bytes = (uint64_t)index->count * tally_dtype_bytes(s->dtype);
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a column at least was chosen */
    uint64_t rows = (options->chunk_bytes ? options->chunk_bytes : CHUNK_BYTES) / row_bytes;
    rows = rows < index->rows ? rows : index->rows;
    s->chunk_rows = rows ? (size_t)rows : 1;
    s->samples = ty_malloc(s->chunk_rows * (size_t)row_bytes);
    s->readers = ty_calloc(index->count, sizeof *s->readers);
    if (masked)
        s->mask = ty_malloc(s->chunk_rows);
    if (!s->samples || !s->readers || (masked && !s->mask))
        return ty_error_memory(error, "samples", s->chunk_rows * (size_t)row_bytes);
    for (uint32_t p = 0; p < index->count; p++) {
        s->readers[p] = ty_arrow_reader_open(index, p, s->dtype, s->words[p]);
        if (!s->readers[p])
            return ty_error_memory(error, "a reader of an Arrow column", sizeof(uint64_t));
    }
    tally_status status = TALLY_OK;
    for (size_t i = 0; i < index->chains * index->count && !status; i++) {
        const uint32_t p = (uint32_t)(i % index->count);
        status = ty_arrow_chain_load(index, index->chain + i / index->count, p, s->dtype,
                                     s->words[p], error);
    }
    return status;
}

static tally_status open_arrow(ty_arrow_state *s, ty_stream *stream,
                               const tally_input_options *options, tally_error *error)
{
    ty_arrow_index *index = &s->index;
    if (options->column_begin || options->column_end)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: a region of columns is for images; choose columns of a table by name "
                        "or number (--column)",
                        ty_stream_name(stream));
    s->pool = ty_stream_pool(stream);
    tally_status status = ty_seekable_open(stream, &index->in, error);
    if (!status)
        status = ty_arrow_index_open(index, error);
    if (!status)
        status = choose(s, options, error);
    if (!status)
        status = ty_arrow_index_fill(index, error);
    if (status)
        return status;
    s->row_begin = s->row = options->row_begin;
    s->row_end = options->row_end ? options->row_end : index->rows;
    if (s->row_end > index->rows || s->row_begin > s->row_end)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: rows %" PRIu64 ":%" PRIu64 " are asked for, it has %" PRIu64,
                        index->in.name, s->row_begin, s->row_end, index->rows);
    int masked;
    s->dtype = common_dtype(index, options->masked, &masked);
    return make_readers(s, options, masked, error);
}

static void arrow_close(void *state)
{
    ty_arrow_state *s = state;
    for (uint32_t p = 0; s->readers && p < s->index.count; p++)
        ty_arrow_reader_close(s->readers[p]);
    ty_free(s->readers);
    ty_free(s->samples);
    ty_free(s->mask);
    ty_arrow_index_close(&s->index);
    ty_free(s);
}

static tally_status arrow_open(ty_stream *stream, const tally_input_options *options, void **state,
                               tally_input_info *info, tally_error *error)
{
    ty_arrow_state *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "an Arrow file", sizeof *s);
    tally_status status = open_arrow(s, stream, options, error);
    if (status) {
        arrow_close(s);
        return status;
    }
    info->dtype = s->dtype;
    info->rows = s->row_end - s->row_begin;
    info->columns = 1;
    info->channels = 1;
    info->dimensions = s->index.count;
    info->is_image = 0;
    for (uint32_t i = 0; i < s->index.count; i++) {
        const ty_arrow_column *column = s->index.schema.columns + s->index.picks[i];
        info->words |= (uint32_t)(s->words[i] != NULL) << i;
        info->booleans |= (uint32_t)(column->type.kind == TY_ARROW_BITS) << i;
    }
    *state = s;
    return TALLY_OK;
}

/* ---- Reading ---- */

static const unsigned char *arrow_mask(const void *state)
{
    return ((const ty_arrow_state *)state)->mask;
}

static tally_status arrow_mask_part(const void *state, uint64_t begin, uint64_t count,
                                    unsigned char *mask, tally_error *error)
{
    const ty_arrow_state *s = state;
    tally_status status = TALLY_OK;
    for (uint32_t p = 0; p < s->index.count && !status; p++)
        status = ty_arrow_mask(s->readers[p], s->row_begin + begin, count, mask, error);
    return status;
}

static tally_status arrow_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_arrow_state *s = state;
    const size_t bytes = s->chunk_rows * tally_dtype_bytes(s->dtype);
    const uint64_t left = s->row_end - s->row, rows = left < s->chunk_rows ? left : s->chunk_rows;
    *done = !rows;
    for (uint32_t p = 0; p < s->index.count && rows; p++) {
        tally_view view = TALLY_VIEW_INIT;
        tally_status status =
            ty_arrow_read(s->readers[p], s->row, rows, s->samples + p * bytes, error);
        if (status)
            return status;
        view.data = s->samples + p * bytes;
        view.dtype = s->dtype;
        view.rows = 1;
        view.columns = rows;
        views[p] = view;
    }
    tally_status status = TALLY_OK;
    if (s->mask && rows) {
        memset(s->mask, 1, (size_t)rows);
        status = arrow_mask_part(s, s->row - s->row_begin, rows, s->mask, error);
    }
    s->row += rows;
    return status;
}

static tally_status arrow_rewind(void *state, tally_error *error)
{
    ty_arrow_state *s = state;
    (void)error;
    s->row = s->row_begin;
    return TALLY_OK;
}

static tally_status read_part(void *user, uint64_t begin, uint64_t count, void *to,
                              tally_error *error)
{
    const struct ty_arrow_source *s = user;
    return ty_arrow_read(s->reader, s->row_begin + begin, count, to, error);
}

/* All words of the rows: whoever counts codes of a view must know how many there are. */
typedef struct ty_arrow_all {
    const ty_arrow_state *state;
    pthread_mutex_t lock; /* of the rest: what failed first */
    unsigned part;
    tally_status status;
    tally_error error;
} ty_arrow_all;

static void find_words_of(void *arg, unsigned part, unsigned worker)
{
    double codes[TY_ARROW_PIECE];
    ty_arrow_all *all = arg;
    const ty_arrow_state *s = all->state;
    tally_error error;
    tally_status status = TALLY_OK;
    uint64_t row = s->row_begin + (uint64_t)part * PART_ROWS;
    const uint64_t end = s->row_end - row < PART_ROWS ? s->row_end : row + PART_ROWS;
    (void)worker;
    for (uint64_t n; row < end && !status; row += n) {
        n = end - row < TY_ARROW_PIECE ? end - row : TY_ARROW_PIECE;
        for (uint32_t p = 0; p < s->index.count && !status; p++)
            if (s->words[p] && !s->index.schema.columns[s->index.picks[p]].has_dictionary)
                status = ty_arrow_read(s->readers[p], row, n, codes, &error);
    }
    if (!status)
        return;
    pthread_mutex_lock(&all->lock);
    if (!all->status || part < all->part) {
        all->status = status;
        all->error = error;
        all->part = part;
    }
    pthread_mutex_unlock(&all->lock);
}

/* Those of dictionaries were found when these were loaded. */
static tally_status find_words(ty_arrow_state *s, tally_error *error)
{
    ty_arrow_all all = {.state = s};
    const uint64_t rows = s->row_end - s->row_begin;
    int any = 0;
    for (uint32_t p = 0; p < s->index.count; p++)
        any |= s->words[p] && !s->index.schema.columns[s->index.picks[p]].has_dictionary;
    if (!any || s->has_all_words)
        return TALLY_OK;
    const unsigned parts = (unsigned)((rows + PART_ROWS - 1) / PART_ROWS);
    pthread_mutex_init(&all.lock, NULL);
    if (s->pool)
        ty_pool_run(s->pool, 0, parts, find_words_of, &all);
    else
        for (unsigned i = 0; i < parts; i++)
            find_words_of(&all, i, 0);
    pthread_mutex_destroy(&all.lock);
    s->has_all_words = !all.status;
    return all.status ? ty_error(error, all.status, "%s", all.error.message) : TALLY_OK;
}

static tally_status arrow_view(void *state, tally_view *views, tally_error *error)
{
    ty_arrow_state *s = state;
    tally_status status = find_words(s, error);
    if (status)
        return status;
    for (uint32_t p = 0; p < s->index.count; p++) {
        struct ty_arrow_source *source = s->sources + p;
        source->source = (tally_source)TALLY_SOURCE_INIT;
        source->source.read = read_part;
        source->source.user = source;
        source->reader = s->readers[p];
        source->row_begin = s->row_begin;
        tally_view view = TALLY_VIEW_INIT;
        view.source = &source->source;
        view.dtype = s->dtype;
        view.rows = 1;
        view.columns = s->row_end - s->row_begin;
        views[p] = view;
    }
    return TALLY_OK;
}

static unsigned arrow_code_parts(void *state)
{
    const ty_arrow_state *s = state;
    const ty_arrow_index *index = &s->index;
    const int whole = !s->row_begin && s->row_end == index->rows;
    return index->count == 1 && whole && index->batches <= UINT32_MAX &&
                   index->schema.columns[*index->picks].has_dictionary
               ? (unsigned)index->batches
               : 0;
}

static uint64_t arrow_code_rows(const void *state, unsigned part)
{
    const ty_arrow_index *index = &((const ty_arrow_state *)state)->index;
    return index->begin[part + 1] - index->begin[part];
}

static int arrow_count_codes(const void *state, unsigned part, ty_codes *codes)
{
    return ty_arrow_count_codes(*((const ty_arrow_state *)state)->readers, part, codes);
}

static const char *arrow_channel_name(const void *state, uint64_t channel)
{
    const ty_arrow_index *index = &((const ty_arrow_state *)state)->index;
    return channel < index->count ? index->schema.columns[index->picks[channel]].name : NULL;
}

static tally_time arrow_time(const void *state, uint32_t view)
{
    const ty_arrow_index *index = &((const ty_arrow_state *)state)->index;
    return index->schema.columns[index->picks[view]].type.time;
}

static tally_words *arrow_words(const void *state, uint32_t view)
{
    return ((const ty_arrow_state *)state)->words[view];
}

const ty_decoder ty_arrow = {
    .format = "arrow",
    .has_columns = 1,
    .probe = arrow_probe,
    .open = arrow_open,
    .read = arrow_read,
    .rewind = arrow_rewind,
    .channel_name = arrow_channel_name,
    .time = arrow_time,
    .close = arrow_close,
    .view = arrow_view,
    .words = arrow_words,
    .code_parts = arrow_code_parts,
    .code_rows = arrow_code_rows,
    .count_codes = arrow_count_codes,
    .mask = arrow_mask,
    .mask_part = arrow_mask_part,
};
