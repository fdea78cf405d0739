/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet: numbers of chosen columns that have one value a row, row group by row group.
 *
 * Types: booleans are u8, dates i32 (days from 1970), times of day and timestamps i64 in the file's
 * unit, decimals f64. A column in which a value may be missing is f64 with NaN, unless it has a
 * mask, and so are several columns of different types. */
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/columns.h"
#include "io/parquet.h"
#include "io/seekable.h"

enum { CHUNK_BYTES = 4 << 20, TAIL = 8 };

typedef struct ty_pq_state {
    const char *name;
    ty_seekable in;
    ty_pq_footer footer;
    unsigned char *footer_bytes;
    size_t footer_size;
    uint32_t count; /* columns chosen */
    uint32_t *picks;
    ty_pq_chunk *chunks; /* of each row group, `count` */
    ty_pq_cursor *cursors;
    tally_dtype dtype;
    uint64_t row_begin, row_end;
    size_t group;      /* that is being read */
    uint64_t group_at; /* rows of it that were read */
    uint64_t row;      /* of the file */
    size_t chunk_rows;
    unsigned char *samples;                   /* `count` times chunk_rows */
    unsigned char *masks;                     /* the same; NULL: no value is missing so */
    size_t unwanted;                          /* elements at the beginning of these */
    ty_pq_source **sources;                   /* `count`, made when asked for */
    int has_all_words;                        /* all were looked for */
    ty_pool *pool;                            /* NULL: the caller's thread alone */
    tally_words *words[TALLY_MAX_DIMENSIONS]; /* of column i; NULL: it is of numbers */
} ty_pq_state;

static int parquet_probe(const unsigned char *head, size_t size)
{
    return size >= 4 && (!memcmp(head, "PAR1", 4) || !memcmp(head, "PARE", 4));
}

/* ---- The file ---- */

static tally_status read_footer(ty_pq_state *s, tally_error *error)
{
    unsigned char tail[TAIL];
    if (s->in.size < 4 + TAIL)
        return ty_error(error, TALLY_ERROR_FORMAT, "%s: ends before its Parquet footer", s->name);
    tally_status status =
        ty_file_read_at(s->name, s->in.file, s->in.start + s->in.size - TAIL, tail, TAIL, error);
    if (status)
        return status;
    const uint32_t size = (uint32_t)tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 |
                          (uint32_t)tail[3] << 24;
    if (!memcmp(tail + 4, "PARE", 4))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s: an encrypted Parquet file", s->name);
    if (memcmp(tail + 4, "PAR1", 4) != 0 || size > s->in.size - 4 - TAIL)
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s: no Parquet footer at its end: it is cut, or its writer was stopped",
                        s->name);
    s->footer_size = size;
    s->footer_bytes = ty_malloc(size ? size : 1);
    if (!s->footer_bytes)
        return ty_error_memory(error, "a Parquet footer", size);
    status = ty_file_read_at(s->name, s->in.file, s->in.start + s->in.size - TAIL - size,
                             s->footer_bytes, size, error);
    return status ? status : ty_pq_footer_open(s->footer_bytes, size, s->name, &s->footer, error);
}

/* ---- Columns ---- */

/* What a column holds that is not counted, or NULL. */
static const char *refused_kind(const ty_pq_column *c)
{
    if (c->repeated)
        return "lists";
    if (c->is_decimal && (c->scale < 0 || c->scale > 38))
        return "decimals of an unusual scale";
    switch (c->type) {
    case TY_PQ_BOOLEAN:
    case TY_PQ_INT32:
    case TY_PQ_INT64:
    case TY_PQ_INT96:
    case TY_PQ_FLOAT:
    case TY_PQ_DOUBLE:
        return NULL;
    case TY_PQ_FIXED:
        if (c->is_decimal)
            return c->type_bytes >= 1 && c->type_bytes <= 16 ? NULL : "decimals of an unusual size";
        return c->is_f16 ? NULL : "bytes";
    default:
        return c->is_decimal ? "decimals of any length" : "text or bytes";
    }
}

/* Bytes of any length, one value a row. */
static int is_text(const ty_pq_column *c)
{
    return c->type == TY_PQ_BYTE_ARRAY && !c->repeated && !c->is_decimal;
}

static tally_dtype stored_dtype(const ty_pq_column *c)
{
    if (c->is_decimal)
        return TALLY_F64;
    switch (c->type) {
    case TY_PQ_BOOLEAN:
        return TALLY_U8;
    case TY_PQ_INT32:
        return c->is_unsigned ? TALLY_U32 : TALLY_I32;
    case TY_PQ_INT64:
        return c->is_unsigned ? TALLY_U64 : TALLY_I64;
    case TY_PQ_INT96:
        return TALLY_I64;
    case TY_PQ_FLOAT:
        return TALLY_F32;
    case TY_PQ_FIXED:
        return TALLY_F16;
    default:
        return TALLY_F64;
    }
}

static size_t stored_bytes(const ty_pq_column *c)
{
    switch (c->type) {
    case TY_PQ_BOOLEAN:
    case TY_PQ_BYTE_ARRAY:
        return 0;
    case TY_PQ_INT32:
    case TY_PQ_FLOAT:
        return 4;
    case TY_PQ_INT96:
        return 12;
    case TY_PQ_FIXED:
        return (size_t)c->type_bytes;
    default:
        return 8;
    }
}

static tally_status find_picks(ty_pq_state *s, const ty_columns *columns,
                               const tally_input_options *options, tally_error *error)
{
    if (!options->columns_count && columns->count != 1)
        return columns->count ? ty_columns_refuse_none(columns, error)
                              : ty_error(error, TALLY_ERROR_FORMAT, "%s: no columns", s->name);
    s->count = options->columns_count ? options->columns_count : 1;
    s->picks = ty_calloc(s->count, sizeof *s->picks);
    if (!s->picks)
        return ty_error_memory(error, "a choice of columns", s->count * sizeof *s->picks);
    for (uint32_t i = 0; i < s->count; i++) {
        tally_status status = options->columns_count ? ty_columns_find(columns, options->columns[i],
                                                                       s->picks + i, error)
                                                     : TALLY_OK;
        if (status)
            return status;
        const ty_pq_column *column = s->footer.columns + s->picks[i];
        const char *refused = refused_kind(column);
        if (refused && is_text(column) && options->words && options->words[i]) {
            s->words[i] = options->words[i];
            continue;
        }
        if (refused)
            return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                            "%s: column '%s' holds %s; numbers, one a row, are counted%s", s->name,
                            column->name, refused, is_text(column) ? ty_words_hint(options) : "");
    }
    return TALLY_OK;
}

static tally_status choose(ty_pq_state *s, const tally_input_options *options, tally_error *error)
{
    const size_t count = s->footer.column_count;
    const char **names = ty_calloc(count ? count : 1, sizeof *names);
    if (!names || count > UINT32_MAX) {
        ty_free(names);
        return ty_error_memory(error, "the names of columns", count * sizeof *names);
    }
    for (size_t i = 0; i < count; i++)
        names[i] = s->footer.columns[i].name;
    const ty_columns columns = {s->name, names, (uint32_t)count};
    tally_status status = find_picks(s, &columns, options, error);
    ty_free(names);
    return status;
}

/* The one type that all chosen columns are handed out in; *masked: integers, some missing. */
static tally_dtype common_dtype(const ty_pq_state *s, int may_mask, int *masked)
{
    const tally_dtype common = stored_dtype(s->footer.columns + s->picks[0]);
    int missing = 0;
    *masked = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const ty_pq_column *column = s->footer.columns + s->picks[i];
        if (stored_dtype(column) != common)
            return TALLY_F64;
        for (size_t g = 0; g < s->footer.group_count; g++)
            missing |= column->levels && !s->chunks[g * s->count + i].no_missing;
    }
    *masked = missing && may_mask && (common == TALLY_I64 || common == TALLY_U64);
    return missing && common < TALLY_F16 && !*masked ? TALLY_F64 : common;
}

static tally_status make_cursors(ty_pq_state *s, const tally_input_options *options,
                                 tally_error *error)
{
    int masked;
    s->dtype = common_dtype(s, options->masked, &masked);
    s->cursors = ty_calloc(s->count, sizeof *s->cursors);
    if (!s->cursors)
        return ty_error_memory(error, "a choice of columns", s->count * sizeof *s->cursors);
    for (uint32_t i = 0; i < s->count; i++) {
        ty_pq_cursor *cursor = s->cursors + i;
        cursor->name = s->name;
        cursor->file = s->in.file;
        cursor->start = s->in.start;
        cursor->values.target.column = s->footer.columns + s->picks[i];
        cursor->values.target.dtype = s->dtype;
        cursor->values.target.bytes = stored_bytes(cursor->values.target.column);
        cursor->values.target.words = s->words[i];
        cursor->values.target.masked = masked;
    }
    const uint64_t row_bytes = (uint64_t)s->count * tally_dtype_bytes(s->dtype);
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a column at least was chosen */
    uint64_t rows = (options->chunk_bytes ? options->chunk_bytes : CHUNK_BYTES) / row_bytes;
    rows = rows < s->footer.rows ? rows : s->footer.rows;
    s->chunk_rows = rows ? (size_t)rows : 1;
    s->samples = ty_malloc(s->chunk_rows * (size_t)row_bytes);
    if (masked)
        s->masks = ty_malloc(s->chunk_rows * s->count);
    return s->samples && (s->masks || !masked)
               ? TALLY_OK
               : ty_error_memory(error, "samples", s->chunk_rows * (size_t)row_bytes);
}

/* ---- The decoder ---- */

static tally_status parquet_rewind(void *state, tally_error *error)
{
    (void)error;
    ty_pq_state *s = state;
    s->group = 0;
    s->group_at = 0;
    s->row = 0;
    return TALLY_OK;
}

static tally_status open_parquet(ty_pq_state *s, ty_stream *stream,
                                 const tally_input_options *options, tally_error *error)
{
    tally_status status = TALLY_OK;
    if (options->column_begin || options->column_end)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: a region of columns is for images; choose columns of a table by name "
                        "or number (--column)",
                        s->name);
    status = ty_seekable_open(stream, &s->in, error);
    if (!status)
        status = read_footer(s, error);
    if (!status)
        status = choose(s, options, error);
    if (!status)
        status = ty_pq_groups(s->footer_bytes, s->footer_size, s->name, s->picks, s->count,
                              s->in.size - TAIL - s->footer_size, &s->footer, &s->chunks, error);
    if (status)
        return status;
    ty_free(s->footer_bytes);
    s->footer_bytes = NULL;
    s->row_begin = options->row_begin;
    s->row_end = options->row_end ? options->row_end : s->footer.rows;
    if (s->row_end > s->footer.rows || s->row_begin > s->row_end)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: rows %" PRIu64 ":%" PRIu64 " are asked for, it has %" PRIu64, s->name,
                        s->row_begin, s->row_end, s->footer.rows);
    return make_cursors(s, options, error);
}

static void parquet_close(void *state)
{
    ty_pq_state *s = state;
    for (uint32_t i = 0; s->cursors && i < s->count; i++)
        ty_pq_cursor_close(s->cursors + i);
    for (uint32_t i = 0; s->sources && i < s->count; i++)
        ty_pq_source_close(s->sources[i]);
    ty_free(s->sources);
    ty_pq_footer_close(&s->footer);
    ty_free(s->footer_bytes);
    ty_free(s->picks);
    ty_free(s->chunks);
    ty_free(s->cursors);
    ty_free(s->samples);
    ty_free(s->masks);
    ty_free(s);
}

static tally_status parquet_open(ty_stream *stream, const tally_input_options *options,
                                 void **state, tally_input_info *info, tally_error *error)
{
    ty_pq_state *s = ty_calloc(1, sizeof *s);
    if (!s)
        return ty_error_memory(error, "a Parquet file", sizeof *s);
    s->name = ty_stream_name(stream);
    s->pool = ty_stream_pool(stream);
    tally_status status = open_parquet(s, stream, options, error);
    if (status) {
        parquet_close(s);
        return status;
    }
    info->dtype = s->dtype;
    info->rows = s->row_end - s->row_begin;
    info->columns = 1;
    info->channels = 1;
    info->dimensions = s->count;
    info->is_image = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        info->words |= (uint32_t)(s->words[i] != NULL) << i;
        info->booleans |= (uint32_t)(s->footer.columns[s->picks[i]].type == TY_PQ_BOOLEAN) << i;
    }
    *state = s;
    return TALLY_OK;
}

/* Brings the state to a row group with rows that are wanted; 0 when there is none. */
static int find_group(ty_pq_state *s)
{
    while (s->group < s->footer.group_count && s->row < s->row_end) {
        const uint64_t left = s->footer.group_rows[s->group] - s->group_at;
        if (left && s->row + left > s->row_begin)
            return 1;
        s->row += left;
        s->group++;
        s->group_at = 0;
    }
    return 0;
}

/* The mask of all columns becomes the first's. */
static void join_masks(ty_pq_state *s, size_t unwanted, size_t rows)
{
    s->unwanted = unwanted;
    for (uint32_t c = 1; s->masks && c < s->count; c++)
        for (size_t i = unwanted; i < rows; i++)
            s->masks[i] &= s->masks[c * s->chunk_rows + i];
}

static const unsigned char *parquet_mask(const void *state)
{
    const ty_pq_state *s = state;
    return s->masks ? s->masks + s->unwanted : NULL;
}

static tally_status parquet_mask_part(const void *state, uint64_t begin, uint64_t count,
                                      unsigned char *mask, tally_error *error)
{
    const ty_pq_state *s = state;
    tally_status status = TALLY_OK;
    for (uint32_t i = 0; i < s->count && !status; i++)
        status = ty_pq_source_mask(s->sources[i], begin, count, mask, error);
    return status;
}

static tally_status parquet_read(void *state, tally_view *views, int *done, tally_error *error)
{
    ty_pq_state *s = state;
    const size_t bytes = tally_dtype_bytes(s->dtype);
    while (find_group(s)) {
        uint64_t rows = s->footer.group_rows[s->group] - s->group_at;
        rows = rows < s->chunk_rows ? rows : s->chunk_rows;
        rows = rows < s->row_end - s->row ? rows : s->row_end - s->row;
        for (uint32_t i = 0; i < s->count; i++) {
            if (!s->group_at)
                ty_pq_cursor_begin(s->cursors + i, s->chunks + s->group * s->count + i);
            tally_status status = ty_pq_cursor_read(
                s->cursors + i, (size_t)rows, s->samples + i * s->chunk_rows * bytes,
                s->masks ? s->masks + i * s->chunk_rows : NULL, error);
            if (status)
                return status;
        }
        const uint64_t unwanted = s->row < s->row_begin ? s->row_begin - s->row : 0;
        s->row += rows;
        s->group_at += rows;
        if (unwanted >= rows)
            continue;
        join_masks(s, (size_t)unwanted, (size_t)rows);
        for (uint32_t i = 0; i < s->count; i++) {
            tally_view view = TALLY_VIEW_INIT;
            view.data = s->samples + (i * s->chunk_rows + unwanted) * bytes;
            view.dtype = s->dtype;
            view.rows = 1;
            view.columns = rows - unwanted;
            views[i] = view;
        }
        *done = 0;
        return TALLY_OK;
    }
    *done = 1;
    return TALLY_OK;
}

/* All words of the file: whoever counts codes of a view must know how many there are. */
typedef struct ty_pq_words {
    const ty_pq_state *state;
    pthread_mutex_t lock; /* of the rest: what failed first */
    size_t group;
    tally_status status;
    tally_error error;
} ty_pq_words;

static void find_words_of(void *arg, unsigned group, unsigned worker)
{
    ty_pq_words *all = arg;
    const ty_pq_state *s = all->state;
    (void)worker;
    for (uint32_t i = 0; i < s->count; i++) {
        tally_error error;
        const tally_status status =
            s->words[i] ? ty_pq_source_words(s->sources[i], group, &error) : TALLY_OK;
        if (!status)
            continue;
        pthread_mutex_lock(&all->lock);
        if (!all->status || group < all->group) {
            all->status = status;
            all->error = error;
            all->group = group;
        }
        pthread_mutex_unlock(&all->lock);
        return;
    }
}

/* With sources. */
static tally_status find_words(ty_pq_state *s, tally_error *error)
{
    ty_pq_words all = {.state = s};
    const unsigned groups = (unsigned)s->footer.group_count;
    int any = 0;
    for (uint32_t i = 0; i < s->count; i++)
        any |= s->words[i] != NULL;
    if (!any || s->has_all_words)
        return TALLY_OK;
    pthread_mutex_init(&all.lock, NULL);
    if (s->pool)
        ty_pool_run(s->pool, 0, groups, find_words_of, &all);
    else
        for (unsigned g = 0; g < groups; g++)
            find_words_of(&all, g, 0);
    pthread_mutex_destroy(&all.lock);
    s->has_all_words = !all.status;
    return all.status ? ty_error(error, all.status, "%s", all.error.message) : TALLY_OK;
}

static tally_status open_sources(ty_pq_state *s, tally_error *error)
{
    if (!s->sources)
        s->sources = ty_calloc(s->count, sizeof *s->sources);
    if (!s->sources)
        return ty_error_memory(error, "views of columns", s->count * sizeof *s->sources);
    for (uint32_t i = 0; i < s->count; i++) {
        if (!s->sources[i])
            s->sources[i] = ty_pq_source_open(&s->footer, s->chunks + i, s->count, s->cursors + i,
                                              s->row_begin);
        if (!s->sources[i])
            return ty_error_memory(error, "a view of a Parquet column", s->footer.group_count * 8);
    }
    return TALLY_OK;
}

static tally_status parquet_view(void *state, tally_view *views, tally_error *error)
{
    ty_pq_state *s = state;
    tally_status status = open_sources(s, error);
    if (!status)
        status = find_words(s, error);
    for (uint32_t i = 0; !status && i < s->count; i++) {
        tally_view view = TALLY_VIEW_INIT;
        view.source = ty_pq_source_get(s->sources[i]);
        view.dtype = s->dtype;
        view.rows = 1;
        view.columns = s->row_end - s->row_begin;
        views[i] = view;
    }
    return status;
}

static unsigned parquet_code_parts(void *state)
{
    ty_pq_state *s = state;
    const int whole = !s->row_begin && s->row_end == s->footer.rows;
    return s->count == 1 && whole && s->footer.group_count <= UINT32_MAX && !open_sources(s, NULL)
               ? (unsigned)s->footer.group_count
               : 0;
}

static uint64_t parquet_code_rows(const void *state, unsigned part)
{
    return ((const ty_pq_state *)state)->footer.group_rows[part];
}

static int parquet_count_codes(const void *state, unsigned part, ty_codes *codes)
{
    const ty_pq_state *s = state;
    return ty_pq_source_codes(s->sources[0], part, codes);
}

static const char *parquet_channel_name(const void *state, uint64_t channel)
{
    const ty_pq_state *s = state;
    return channel < s->count ? s->footer.columns[s->picks[channel]].name : NULL;
}

static tally_words *parquet_words(const void *state, uint32_t view)
{
    return ((const ty_pq_state *)state)->words[view];
}

static tally_time parquet_time(const void *state, uint32_t view)
{
    const ty_pq_state *s = state;
    return s->footer.columns[s->picks[view]].time;
}

const ty_decoder ty_parquet = {
    .format = "parquet",
    .has_columns = 1,
    .probe = parquet_probe,
    .open = parquet_open,
    .read = parquet_read,
    .rewind = parquet_rewind,
    .channel_name = parquet_channel_name,
    .close = parquet_close,
    .view = parquet_view,
    .words = parquet_words,
    .time = parquet_time,
    .code_parts = parquet_code_parts,
    .code_rows = parquet_code_rows,
    .count_codes = parquet_count_codes,
    .mask = parquet_mask,
    .mask_part = parquet_mask_part,
};
