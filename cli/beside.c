/* Masks and weights: files read in step with the samples. */
#include "source.h"

tally_status cli_beside_open(cli_beside *beside, const cli_source *source, tally_error *error)
{
    tally_input_options wanted = TALLY_INPUT_OPTIONS_INIT;
    const char *rows = cli_text(source->options, CLI_ROWS, NULL);
    const char *cols = cli_text(source->options, CLI_COLS, NULL);
    wanted.keep = source->keep || source->count > 1;
    if (rows)
        cli_parse_slice(rows, &wanted.row_begin, &wanted.row_end);
    if (cols)
        cli_parse_slice(cols, &wanted.column_begin, &wanted.column_end);
    tally_status status = tally_input_open(beside->path, &wanted, &beside->input, error);
    if (status)
        return status;
    beside->info.struct_size = sizeof beside->info;
    tally_input_info_get(beside->input, &beside->info);
    if (strcmp(beside->what, "mask") == 0 && beside->info.channels != 1)
        return cli_error(error, TALLY_ERROR_DATA,
                         "%s: a mask has one channel, this has %llu; a grey image is needed",
                         beside->path, (unsigned long long)beside->info.channels);
    uint64_t wide = beside->info.channels;
    if (wide != 1 && wide != source->kind.channels)
        return cli_error(error, TALLY_ERROR_DATA,
                         "%s: weights have one channel or the samples' %llu, these have %llu",
                         beside->path, (unsigned long long)source->kind.channels,
                         (unsigned long long)wide);
    return TALLY_OK;
}

void cli_beside_close(cli_beside *beside)
{
    tally_input_close(beside->input);
    free(beside->buffer);
    memset(beside, 0, sizeof *beside);
}

tally_status cli_beside_start(cli_beside *beside, const char *path, const tally_input_info *of,
                              tally_error *error)
{
    const tally_input_info *own = &beside->info;
    beside->at = beside->length = 0;
    if (own->rows && of->rows && own->is_image && of->is_image &&
        (own->rows != of->rows || own->columns != of->columns))
        return cli_error(
            error, TALLY_ERROR_DATA, "%s: %llu × %llu, but %s is %llu × %llu (columns × rows)",
            beside->path, (unsigned long long)own->columns, (unsigned long long)own->rows,
            cli_shown(path), (unsigned long long)of->columns, (unsigned long long)of->rows);
    if (!beside->used++)
        return TALLY_OK;
    return tally_input_rewind(beside->input, error);
}

static tally_status read_more(cli_beside *beside, int *done, tally_error *error)
{
    while (beside->at == beside->length) {
        tally_status status = tally_input_read(beside->input, &beside->view, done, error);
        if (status || *done)
            return status;
        beside->at = 0;
        beside->length = beside->view.rows * beside->view.columns;
    }
    return TALLY_OK;
}

static int is_nonzero(const unsigned char *sample, tally_dtype dtype, size_t size)
{
    uint64_t bits = 0;
    memcpy((unsigned char *)&bits, sample, size);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bits >>= 64 - 8 * size;
#endif
    if (dtype >= TALLY_F16) /* minus zero is zero */
        bits &= ~(UINT64_C(1) << (8 * size - 1));
    return bits != 0;
}

/* Copies `n` elements of the current chunk to `to`. */
static void copy_out(cli_beside *beside, uint64_t n, int as_mask, unsigned char *to)
{
    const tally_view *view = &beside->view;
    size_t sample = tally_dtype_bytes(view->dtype);
    size_t element = sample * (size_t)view->channels;
    int64_t column = view->column_stride_bytes ? view->column_stride_bytes : (int64_t)element;
    int64_t row = view->row_stride_bytes ? view->row_stride_bytes : column * (int64_t)view->columns;
    while (n) {
        uint64_t r = beside->at / view->columns, c = beside->at % view->columns;
        uint64_t run = view->columns - c < n ? view->columns - c : n;
        const unsigned char *from =
            (const unsigned char *)view->data + (int64_t)r * row + (int64_t)c * column;
        if (!as_mask && column == (int64_t)element) {
            memcpy(to, from, (size_t)run * element);
            to += run * element;
        } else {
            for (uint64_t i = 0; i < run; i++, from += column) {
                if (as_mask)
                    *to = (unsigned char)is_nonzero(from, view->dtype, sample);
                else
                    memcpy(to, from, element);
                to += as_mask ? 1 : element;
            }
        }
        beside->at += run;
        n -= run;
    }
}

tally_status cli_beside_take(cli_beside *beside, const char *path, const tally_view *samples,
                             int as_mask, tally_view *view, tally_error *error)
{
    tally_dtype dtype = as_mask ? TALLY_U8 : beside->info.dtype;
    uint64_t channels = as_mask ? 1 : beside->info.channels;
    size_t element = tally_dtype_bytes(dtype) * (size_t)channels;
    uint64_t left = samples->rows * samples->columns;
    if (left * element > beside->room) {
        unsigned char *grown = realloc(beside->buffer, (size_t)left * element);
        if (!grown)
            return cli_error(error, TALLY_ERROR_MEMORY, "%s: out of memory", beside->path);
        beside->buffer = grown;
        beside->room = (size_t)left * element;
    }
    for (unsigned char *to = beside->buffer; left;) {
        int done = 0;
        tally_status status = read_more(beside, &done, error);
        if (status)
            return status;
        if (done)
            return cli_error(error, TALLY_ERROR_DATA, "%s: the %s ends before the samples of %s",
                             beside->path, beside->what, cli_shown(path));
        uint64_t here = beside->length - beside->at < left ? beside->length - beside->at : left;
        copy_out(beside, here, as_mask, to);
        to += here * element;
        left -= here;
    }
    *view = (tally_view)TALLY_VIEW_INIT;
    view->data = beside->buffer;
    view->dtype = dtype;
    view->rows = samples->rows;
    view->columns = samples->columns;
    view->channels = channels;
    return TALLY_OK;
}

tally_status cli_beside_end(cli_beside *beside, const char *path, tally_error *error)
{
    int done = 0;
    tally_status status = read_more(beside, &done, error);
    if (!status && !done)
        return cli_error(error, TALLY_ERROR_DATA, "%s: the %s goes on where the samples of %s end",
                         beside->path, beside->what, cli_shown(path));
    return status;
}
