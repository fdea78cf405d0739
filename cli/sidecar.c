/* SPDX-License-Identifier: Apache-2.0 */
/* Masks and weights: files read in step with the samples. */
#include "source.h"

tally_status cli_sidecar_open(cli_sidecar *sidecar, const cli_source *source, tally_error *error)
{
    tally_input_options wanted = TALLY_INPUT_OPTIONS_INIT;
    const char *rows = cli_text(source->options, CLI_ROWS, NULL);
    const char *cols = cli_text(source->options, CLI_COLS, NULL);
    wanted.rewindable = source->keep || source->count > 1;
    wanted.threads = (uint32_t)cli_uint(source->options, CLI_THREADS, 0);
    if (rows)
        cli_parse_slice(rows, &wanted.row_begin, &wanted.row_end);
    if (cols)
        cli_parse_slice(cols, &wanted.column_begin, &wanted.column_end);
    tally_status status = tally_input_open(sidecar->path, &wanted, &sidecar->input, error);
    if (status)
        return status;
    sidecar->info.struct_size = sizeof sidecar->info;
    tally_input_info_get(sidecar->input, &sidecar->info);
    if (strcmp(sidecar->what, "mask") == 0 && sidecar->info.channels != 1)
        return cli_error(error, TALLY_ERROR_DATA,
                         "%s: a mask has one channel, this has %llu; a grey image is needed",
                         sidecar->path, (unsigned long long)sidecar->info.channels);
    uint64_t wide = sidecar->info.channels;
    if (wide != 1 && wide != source->kind.channels)
        return cli_error(error, TALLY_ERROR_DATA,
                         "%s: weights have one channel or the samples' %llu, these have %llu",
                         sidecar->path, (unsigned long long)source->kind.channels,
                         (unsigned long long)wide);
    return TALLY_OK;
}

void cli_sidecar_close(cli_sidecar *sidecar)
{
    tally_input_close(sidecar->input);
    free(sidecar->buffer);
    memset(sidecar, 0, sizeof *sidecar);
}

tally_status cli_sidecar_start(cli_sidecar *sidecar, const char *path, const tally_input_info *of,
                               tally_error *error)
{
    const tally_input_info *own = &sidecar->info;
    const int images = own->is_image && of->is_image && own->rows && of->rows;
    const int wide = own->columns > 1 && of->columns > 1; /* one column goes with any shape */
    sidecar->at = sidecar->length = 0;
    if (own->is_fortran != of->is_fortran)
        return cli_error(error, TALLY_ERROR_DATA,
                         "%s is in Fortran order, and %s is not; save it with "
                         "numpy.ascontiguousarray",
                         own->is_fortran ? sidecar->path : cli_shown(path),
                         own->is_fortran ? cli_shown(path) : sidecar->path);
    if ((images && own->rows != of->rows) || ((images || wide) && own->columns != of->columns))
        return cli_error(
            error, TALLY_ERROR_DATA, "%s: %llu x %llu, but %s is %llu x %llu (columns x rows)",
            sidecar->path, (unsigned long long)own->columns, (unsigned long long)own->rows,
            cli_shown(path), (unsigned long long)of->columns, (unsigned long long)of->rows);
    if (!sidecar->used++)
        return TALLY_OK;
    return tally_input_rewind(sidecar->input, error);
}

static tally_status read_more(cli_sidecar *sidecar, int *done, tally_error *error)
{
    while (sidecar->at == sidecar->length) {
        tally_status status = tally_input_read(sidecar->input, &sidecar->view, done, error);
        if (status || *done)
            return status;
        sidecar->at = 0;
        sidecar->length = sidecar->view.rows * sidecar->view.columns;
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
static void copy_out(cli_sidecar *sidecar, uint64_t n, int as_mask, unsigned char *to)
{
    const tally_view *view = &sidecar->view;
    size_t sample = tally_dtype_bytes(view->dtype);
    size_t element = sample * (size_t)view->channels;
    int64_t column = view->column_stride_bytes ? view->column_stride_bytes : (int64_t)element;
    int64_t row = view->row_stride_bytes ? view->row_stride_bytes : column * (int64_t)view->columns;
    while (n) {
        uint64_t r = sidecar->at / view->columns, c = sidecar->at % view->columns;
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
        sidecar->at += run;
        n -= run;
    }
}

int cli_sidecar_whole(cli_sidecar *sidecar, const tally_view *samples, tally_view *view)
{
    tally_error error;
    if (tally_input_view(sidecar->input, view, &error) || !view->source ||
        view->rows * view->columns != samples->rows * samples->columns)
        return 0;
    view->rows = samples->rows;
    view->columns = samples->columns;
    return 1;
}

tally_status cli_sidecar_take(cli_sidecar *sidecar, const char *path, const tally_view *samples,
                              int as_mask, tally_view *view, tally_error *error)
{
    tally_dtype dtype = as_mask ? TALLY_U8 : sidecar->info.dtype;
    uint64_t channels = as_mask ? 1 : sidecar->info.channels;
    size_t element = tally_dtype_bytes(dtype) * (size_t)channels;
    uint64_t left = samples->rows * samples->columns;
    if (left * element > sidecar->room) {
        unsigned char *grown = realloc(sidecar->buffer, (size_t)left * element);
        if (!grown)
            return cli_error(error, TALLY_ERROR_MEMORY, "%s: out of memory", sidecar->path);
        sidecar->buffer = grown;
        sidecar->room = (size_t)left * element;
    }
    for (unsigned char *to = sidecar->buffer; left;) {
        int done = 0;
        tally_status status = read_more(sidecar, &done, error);
        if (status)
            return status;
        if (done)
            return cli_error(error, TALLY_ERROR_DATA, "%s, the %s, ends before the samples of %s",
                             sidecar->path, sidecar->what, cli_shown(path));
        uint64_t here = sidecar->length - sidecar->at < left ? sidecar->length - sidecar->at : left;
        copy_out(sidecar, here, as_mask, to);
        to += here * element;
        left -= here;
    }
    *view = (tally_view)TALLY_VIEW_INIT;
    view->data = sidecar->buffer;
    view->dtype = dtype;
    view->rows = samples->rows;
    view->columns = samples->columns;
    view->channels = channels;
    return TALLY_OK;
}

tally_status cli_sidecar_end(cli_sidecar *sidecar, const char *path, tally_error *error)
{
    int done = 0;
    tally_status status = read_more(sidecar, &done, error);
    if (!status && !done)
        return cli_error(error, TALLY_ERROR_DATA, "%s, the %s, goes on where the samples of %s end",
                         sidecar->path, sidecar->what, cli_shown(path));
    return status;
}
