/* SPDX-License-Identifier: Apache-2.0 */
/* A file's HDF5 dataset: found by its path, or the only one, and opened. */
#include "io/hdf5_dataset.h"

#if TALLY_HAVE_HDF5

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/seekable.h"
#include "io/spool.h"

#define CACHE_MOST ((uint64_t)1 << 30)

enum { LIST_BYTES = 600, NAME_BYTES = 60 };

/* ---- Errors ---- */

static herr_t take_words(unsigned n, const H5E_error2_t *one, void *user)
{
    char *words = user;
    if (one->desc && (n == 0 || strstr(one->desc, "required filter")))
        snprintf(words, LIST_BYTES, "%s", one->desc);
    return 0;
}

/* What libhdf5 says of the call that failed. */
tally_status ty_h5_failed(const ty_h5_state *s, const char *what, tally_error *error)
{
    char words[LIST_BYTES] = "no reason is given";
    s->h5->H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_words, words);
    return ty_error(error, TALLY_ERROR_FORMAT, "%s: %s%s%s: libhdf5 says: %s",
                    ty_stream_name(s->stream), what, s->inside ? " " : "",
                    s->inside ? s->inside : "", words);
}

tally_status ty_h5_unsupported(const ty_h5_state *s, const char *what, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s: dataset %s holds %s; numbers are counted",
                    ty_stream_name(s->stream), s->inside, what);
}

/* ---- Opening ---- */

/* Whether libhdf5, which follows links to the file's name, can open it by that. */
static int has_name(int file, uint64_t start)
{
    struct stat about;
    return file >= 0 && !start && fstat(file, &about) == 0 && about.st_nlink;
}

tally_status ty_h5_open_file(ty_h5_state *s, tally_error *error)
{
    uint64_t start;
    char words[LIST_BYTES] = "no reason is given";
    const char *name = ty_stream_name(s->stream);
    const int file = ty_stream_file(s->stream, &start);
    char *copied = NULL;
    if (!has_name(file, start)) {
        ty_seekable copy;
        const tally_status status = ty_seekable_copy(s->stream, &copy, error);
        if (status)
            return status;
        copied = ty_spool_name(copy.file, error);
        if (!copied)
            return TALLY_ERROR_IO;
    }
    s->file = s->h5->H5Fopen(copied ? copied
                             : file ? name
                                    : "/dev/fd/0",
                             0 /* to read; its macro calls the library */, H5P_DEFAULT);
    if (copied)
        ty_spool_unname(copied);
    if (s->file >= 0)
        return TALLY_OK;
    s->h5->H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_words, words);
    return ty_error(error, TALLY_ERROR_FORMAT, "%s: cannot be opened: libhdf5 says: %s", name,
                    words);
}

typedef struct found {
    char list[LIST_BYTES];
    size_t used;
    unsigned count;
    char *first;
} found;

static herr_t on_object(hid_t object, const char *name, const H5O_info_t *info, void *user)
{
    found *f = user;
    (void)object;
    if (info->type != H5O_TYPE_DATASET)
        return 0;
    if (!f->count++)
        f->first = ty_text_copy(name, strlen(name));
    const int put = snprintf(f->list + f->used, sizeof f->list - f->used, "%s/%.*s",
                             f->used ? ", " : "", ty_text_fit(name, 2 * NAME_BYTES), name);
    if (put < 0 || f->used + (size_t)put + 8 > sizeof f->list) {
        memcpy(f->list + f->used, ", ...", 6);
        return 1;
    }
    f->used += (size_t)put;
    return 0;
}

/* `failed`: what to say where they cannot be. */
static tally_status list_datasets(const ty_h5_state *s, const char *failed, found *f,
                                  tally_error *error)
{
    memset(f, 0, sizeof *f);
    return s->h5->H5Ovisit1(s->file, H5_INDEX_NAME, H5_ITER_INC, on_object, f) < 0
               ? ty_h5_failed(s, failed, error)
               : TALLY_OK;
}

/* The path of the only dataset to s->inside. */
static tally_status find_only(ty_h5_state *s, tally_error *error)
{
    found f;
    tally_status status = list_datasets(s, "its datasets cannot be listed", &f, error);
    if (!status && f.count != 1)
        status = f.count
                     ? ty_error(error, TALLY_ERROR_ARGUMENT,
                                "%s: several datasets: %s; choose one as %s:/NAME",
                                ty_stream_name(s->stream), f.list,
                                ty_stream_size(s->stream) ? ty_stream_name(s->stream) : "FILE")
                     : ty_error(error, TALLY_ERROR_FORMAT, "%s: no dataset is in this HDF5 file",
                                ty_stream_name(s->stream));
    else if (!status && !f.first)
        status = ty_error_memory(error, "a dataset's name", NAME_BYTES);
    if (status)
        ty_free(f.first);
    else
        s->inside = f.first;
    return status;
}

static tally_status refuse_path(const ty_h5_state *s, tally_error *error)
{
    found f;
    tally_status status = list_datasets(s, "cannot open", &f, error);
    if (!status)
        status = ty_error(error, TALLY_ERROR_ARGUMENT, "%s: no dataset '%.*s'; there are: %s",
                          ty_stream_name(s->stream), ty_text_fit(s->inside, NAME_BYTES), s->inside,
                          f.count ? f.list : "none");
    ty_free(f.first);
    return status;
}

tally_status ty_h5_open_dataset(ty_h5_state *s, tally_error *error)
{
    tally_status status = s->inside ? TALLY_OK : find_only(s, error);
    if (status)
        return status;
    const hid_t object = s->h5->H5Oopen(s->file, s->inside, H5P_DEFAULT);
    const int is_dataset = object >= 0 && s->h5->H5Iget_type(object) == H5I_DATASET;
    if (object >= 0)
        s->h5->H5Oclose(object);
    if (!is_dataset)
        return refuse_path(s, error);
    s->dataset = s->h5->H5Dopen2(s->file, s->inside, H5P_DEFAULT);
    return s->dataset < 0 ? ty_h5_failed(s, "cannot open", error) : TALLY_OK;
}

tally_status ty_h5_open_cached(ty_h5_state *s, hid_t made, tally_error *error)
{
    hsize_t chunk[TY_H5_RANK_MOST];
    const ty_h5 *h5 = s->h5;
    if (h5->H5Pget_chunk(made, TY_H5_RANK_MOST, chunk) != (int)s->rank)
        return ty_h5_failed(s, "cannot read the chunks of", error);
    const hid_t type = h5->H5Dget_type(s->dataset);
    uint64_t bytes = h5->H5Tget_size(type), count = 1, one;
    h5->H5Tclose(type);
    for (unsigned d = 0; d < s->rank; d++) {
        const uint64_t across = d ? (s->extents[d] + chunk[d] - 1) / chunk[d] : 1;
        if (ty_rows_multiply(bytes, chunk[d], &one) || ty_rows_multiply(one, across, &bytes))
            bytes = UINT64_MAX;
        count = count < CACHE_MOST ? count * (across < CACHE_MOST ? across : CACHE_MOST) : count;
    }
    bytes = bytes < CACHE_MOST ? bytes : CACHE_MOST;
    count = count < 10000 ? count : 10000;
    const hid_t access = h5->H5Pcreate(*h5->H5P_CLS_DATASET_ACCESS_ID_g);
    if (access < 0 ||
        h5->H5Pset_chunk_cache(access, (size_t)(10 * count + 1), (size_t)(bytes + 1), 1) < 0) {
        const tally_status status = ty_h5_failed(s, "cannot set the cache of", error);
        if (access >= 0)
            h5->H5Pclose(access);
        return status;
    }
    h5->H5Dclose(s->dataset);
    s->dataset = h5->H5Dopen2(s->file, s->inside, access);
    h5->H5Pclose(access);
    return s->dataset < 0 ? ty_h5_failed(s, "cannot open", error) : TALLY_OK;
}

tally_status ty_h5_find_extents(ty_h5_state *s, tally_error *error)
{
    const ty_h5 *h5 = s->h5;
    hsize_t most[TY_H5_RANK_MOST];
    s->space = h5->H5Dget_space(s->dataset);
    const H5S_class_t kind = s->space < 0 ? H5S_NO_CLASS : h5->H5Sget_simple_extent_type(s->space);
    if (kind == H5S_NULL)
        return ty_h5_unsupported(s, "nothing (a null dataspace)", error);
    const int rank = kind == H5S_NO_CLASS ? -1 : h5->H5Sget_simple_extent_ndims(s->space);
    if (rank < 0 || rank > TY_H5_RANK_MOST ||
        h5->H5Sget_simple_extent_dims(s->space, s->extents, most) < 0)
        return ty_h5_failed(s, "cannot read the extents of", error);
    s->rank = (unsigned)rank;
    s->elements = 1;
    for (unsigned d = 0; d < s->rank; d++) {
        if (s->extents[d] > most[d]) /* older libraries read fill values there */
            return ty_error(error, TALLY_ERROR_FORMAT,
                            "%s: dataset %s is damaged: it is larger than it may become",
                            ty_stream_name(s->stream), s->inside);
        if (ty_rows_multiply(s->elements, s->extents[d], &s->elements))
            return ty_error(error, TALLY_ERROR_FORMAT,
                            "%s: dataset %s has more samples than 64 bits count",
                            ty_stream_name(s->stream), s->inside);
    }
    return TALLY_OK;
}

#endif
