/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally-mpi: one histogram of files, counted by all ranks under mpirun.
 *
 * Small files, and those that have to be decoded from their begin, are dealt whole, to whom has the
 * fewest bytes so far; the others are counted by all ranks, a range of elements each. Two passes: a
 * survey finds what the files hold and, where it is asked for, the range and the largest weight;
 * then all count with one axis, and rank 0 writes what adds up. Every rank takes part in every
 * collective step whatever happened to it (tally/mpi.h).
 */
#define _GNU_SOURCE
#include "tally_mpi.h"

#include <math.h>
#include <sys/stat.h>
#include <tally/mpi.h>

#include "../common/axes.h"

/* ---- device ---- */

static uint32_t devices_of(tally_device_type type)
{
    uint32_t found = 0;
    for (uint32_t i = 0; type != TALLY_DEVICE_CPU && i < tally_device_count(); i++) {
        tally_device_info info = TALLY_DEVICE_INFO_INIT;
        found += !tally_device_get(i, &info, NULL) && info.device == type && info.available;
    }
    return found;
}

/* A rank's own: the device of its number on its machine, or its share of the processors. */
static tally_status open_device(team *t, tally_error *error)
{
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    MPI_Comm local;
    int number = 0, here = 1;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, t->rank, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &number);
    MPI_Comm_size(local, &here);
    MPI_Comm_free(&local);
    const uint32_t devices = devices_of(t->wishes->device);
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    o.device = t->wishes->device;
    o.index = devices ? number % (int32_t)devices : 0;
    o.threads = t->wishes->threads  ? t->wishes->threads
                : processors > here ? (uint32_t)(processors / here)
                                    : 1;
    return tally_context_create(&o, &t->context, error);
}

/* ---- dealing ---- */

/* Of a file, or of FILE:INSIDE the file's: 0 of what has none. */
static tally_status get_size(const char *path, uint64_t *bytes, tally_error *error)
{
    struct stat about;
    const size_t length = tally_input_file_length(path);
    char *file = strndup(path, length);
    tally_status status = file ? TALLY_OK : fail(error, TALLY_ERROR_MEMORY, "out of memory");
    if (!status && stat(file, &about))
        status = fail(error, TALLY_ERROR_IO, "%s: %s", path, strerror(errno));
    else if (!status)
        *bytes = S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
    free(file);
    return status;
}

/* Rank 0 looks up the sizes. */
static tally_status get_sizes(team *t, tally_error *error)
{
    const size_t count = t->wishes->path_count;
    t->deals = calloc(count, sizeof *t->deals);
    t->load = calloc((size_t)t->ranks, sizeof *t->load);
    tally_status status =
        t->deals && t->load ? TALLY_OK : fail(error, TALLY_ERROR_MEMORY, "out of memory");
    for (size_t i = 0; !status && t->rank == 0 && i < count; i++)
        status = get_size(t->wishes->paths[i], &t->deals[i].bytes, error);
    status = tally_mpi_agree(status, MPI_COMM_WORLD, error);
    for (size_t i = 0; !status && i < count; i += 1 << 20) {
        const size_t n = count - i < 1 << 20 ? count - i : 1 << 20;
        status = tally_mpi_said(
            MPI_Bcast(t->deals + i, (int)(n * sizeof *t->deals), MPI_BYTE, 0, MPI_COMM_WORLD),
            error);
    }
    return status;
}

static int least_loaded(const team *t)
{
    int least = 0;
    for (int r = 1; r < t->ranks; r++)
        least = t->load[r] < t->load[least] ? r : least;
    return least;
}

/* Whether the file is read by this rank. The same choice on all ranks, which all open large files.
 */
static int mine_is(team *t, size_t i, int splits)
{
    deal *d = &t->deals[i];
    if (splits) {
        d->owner = ALL_RANKS;
        for (int r = 0; r < t->ranks; r++)
            t->load[r] += d->bytes / (uint64_t)t->ranks;
        return 1;
    }
    d->owner = least_loaded(t);
    t->load[d->owner] += d->bytes + 1;
    return d->owner == t->rank;
}

/* ---- reading ---- */

static tally_status read_slice(void *user, uint64_t begin, uint64_t count, void *to,
                               tally_error *error)
{
    const slice *s = user;
    return s->from->read(s->from->user, s->offset + begin, count, to, error);
}

static const void *lend_slice(void *user, uint64_t begin, uint64_t count)
{
    const slice *s = user;
    return s->from->lend ? s->from->lend(s->from->user, s->offset + begin, count) : NULL;
}

static void give_back_slice(void *user, const void *lent, uint64_t begin, uint64_t count)
{
    const slice *s = user;
    s->from->give_back(s->from->user, lent, s->offset + begin, count);
}

/* Of the elements of all views this rank's. */
static void cut(const team *t, tally_view *views, uint32_t count, slice *slices,
                tally_source *sources)
{
    for (uint32_t v = 0; v < count; v++) {
        const uint64_t all = views[v].rows * views[v].columns, part = all / (uint64_t)t->ranks,
                       rest = all % (uint64_t)t->ranks, rank = (uint64_t)t->rank;
        slices[v].from = views[v].source;
        slices[v].offset = part * rank + (rank < rest ? rank : rest);
        sources[v] = (tally_source)TALLY_SOURCE_INIT;
        sources[v].read = read_slice;
        sources[v].lend = lend_slice;
        sources[v].give_back = give_back_slice;
        sources[v].user = &slices[v];
        views[v].source = &sources[v];
        views[v].rows = 1;
        views[v].columns = part + (rank < rest);
    }
}

static tally_status open_input(const team *t, size_t i, tally_input **input, tally_error *error)
{
    const wishes *w = t->wishes;
    const char *columns[] = {w->column, w->weights};
    tally_input_options o = w->input;
    o.columns = w->column ? columns : NULL;
    o.columns_count = w->column ? 1 + (w->weights != NULL) : 0;
    o.threads = 1;
    return tally_input_open(w->paths[i], &o, input, error);
}

/* Hands what this rank has of an open file to `use`, all at once or chunk by chunk. */
static tally_status read_input(team *t, size_t i, tally_input *input, user *use, tally_error *error)
{
    tally_view views[2];
    slice slices[2];
    tally_source sources[2];
    const uint32_t count = t->wishes->weights ? 2 : 1;
    tally_status status = tally_input_view(input, views, error);
    const int whole = !status && views[0].source;
    if (whole && t->deals[i].owner == ALL_RANKS)
        cut(t, views, count, slices, sources);
    for (int done = 0; !status && !done;) {
        if (!whole)
            status = tally_input_read(input, views, &done, error);
        if (status || done)
            break;
        int enough = whole;
        if (views[0].rows && views[0].columns)
            status = use(t, input, views, &enough, error);
        done = enough;
    }
    return status;
}

/* ---- the survey ---- */

static void widen(tally_stats *into, const tally_stats *from, tally_dtype dtype)
{
    double lo, hi;
    axes_found(from, dtype, &lo, &hi);
    if (from->finite) {
        into->min = into->finite ? fmin(into->min, lo) : lo;
        into->max = into->finite ? fmax(into->max, hi) : hi;
    }
    into->finite += from->finite;
    into->samples += from->samples;
}

/* Whether the ends of the bins are those of the type, unless they are given. */
static int natural_of(const team *t, tally_input *input, tally_dtype dtype)
{
    const wishes *w = t->wishes;
    tally_input_info about = TALLY_INPUT_INFO_INIT;
    double range[2];
    tally_input_info_get(input, &about);
    return !w->is_integer && !w->is_log && axes_natural(dtype, about.is_image, range) ? (int)dtype
                                                                                      : 0;
}

static tally_status survey_views(team *t, tally_input *input, const tally_view *views, int *enough,
                                 tally_error *error)
{
    const int floats = t->wishes->weights && views[1].dtype >= TALLY_F16;
    const int natural = natural_of(t, input, views[0].dtype);
    tally_status status = TALLY_OK;
    if (!t->found.files++) {
        t->found.natural = natural;
        t->found.channels = views[0].channels;
        t->found.floats = floats;
        for (uint64_t c = 0; c < views[0].channels && c < MOST_CHANNELS; c++) {
            const char *name = tally_input_channel_name(input, c);
            snprintf(t->names[c], sizeof t->names[c], "%s", name ? name : "");
        }
    }
    if (views[0].channels != t->found.channels || floats != t->found.floats)
        return fail(error, TALLY_ERROR_ARGUMENT,
                    "the files differ in channels, or in whether weights are floats");
    t->found.natural = t->found.natural == natural ? natural : 0;
    for (uint64_t c = 0; !t->wishes->has_range && c < views[0].channels && !status; c++) {
        tally_stats stats = TALLY_STATS_INIT;
        status = tally_stats_add(t->context, &views[0], NULL, c, 0, &stats, error);
        widen(&t->samples, &stats, views[0].dtype);
    }
    if (!status && floats) {
        tally_stats stats = TALLY_STATS_INIT;
        status = tally_stats_add(t->context, &views[1], NULL, 0, 0, &stats, error);
        widen(&t->weights, &stats, views[1].dtype);
    }
    *enough = *enough || (t->wishes->has_range && !floats);
    return status;
}

static tally_status survey_file(team *t, size_t i, tally_error *error)
{
    tally_input *input = NULL;
    tally_view views[2];
    const int large = t->ranks > 1 && t->deals[i].bytes >= t->wishes->split;
    if (!large && !mine_is(t, i, 0))
        return TALLY_OK;
    tally_status status = open_input(t, i, &input, error);
    if (!status && large) {
        status = tally_input_view(input, views, error);
        if (!status && !mine_is(t, i, views[0].source != NULL)) {
            tally_input_close(input);
            return TALLY_OK;
        }
    }
    if (!status)
        status = read_input(t, i, input, survey_views, error);
    tally_input_close(input);
    return status;
}

/* What the ranks found, as one; those without files take it over. */
static tally_status agree_found(team *t, tally_error *error)
{
    int64_t own[6] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN}, most[6];
    if (t->found.files) {
        own[0] = (int64_t)t->found.channels;
        own[1] = -own[0];
        own[2] = t->found.floats;
        own[3] = -own[2];
        own[4] = t->found.natural;
        own[5] = -own[4];
    }
    tally_status status =
        tally_mpi_said(MPI_Allreduce(own, most, 6, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD), error);
    if (!status && most[0] == INT64_MIN) /* no samples at all */
        most[0] = 1, most[1] = -1, most[2] = most[3] = most[4] = 0;
    if (!status && (most[0] != -most[1] || most[2] != -most[3]))
        status = fail(error, TALLY_ERROR_ARGUMENT,
                      "the files differ in channels, or in whether weights are floats");
    if (!status && most[0] > MOST_CHANNELS)
        status = fail(error, TALLY_ERROR_UNSUPPORTED, "%lld channels; %d at most are counted",
                      (long long)most[0], MOST_CHANNELS);
    if (!status) {
        t->found.channels = (uint64_t)most[0];
        t->found.floats = (int)most[2];
        t->found.natural = most[4] == -most[5] ? (int)most[4] : 0;
    }
    return status;
}

/* As `tally run` makes it, and the same on all ranks. */
static tally_status choose_axis(team *t, tally_error *error)
{
    const wishes *w = t->wishes;
    const uint64_t bins = w->bins ? w->bins : 256;
    double ends[2] = {w->range[0], w->range[1]};
    char why[AXES_WHY];
    const int natural = !w->has_range && t->found.natural;
    if (natural) {
        axes_natural((tally_dtype)t->found.natural, 1, ends);
    } else if (!w->has_range && !w->is_integer && !w->is_log) {
        return tally_mpi_range(TALLY_OK, &t->samples, bins, &t->axis, MPI_COMM_WORLD, error);
    } else if (!w->has_range) {
        const int any = t->samples.finite > 0;
        tally_status status =
            tally_mpi_ends(any ? t->samples.min : INFINITY, any ? t->samples.max : -INFINITY, ends,
                           MPI_COMM_WORLD, error);
        if (status)
            return status;
    }
    const int none = ends[0] > ends[1];
    t->axis = tally_axis_even(bins, ends[0], ends[1]);
    if ((w->is_integer && !axes_integers(none ? 0 : floor(ends[0]), none ? 0 : floor(ends[1]),
                                         w->bins, &t->axis, why)) ||
        (w->is_log && !axes_ratios(ends[0], ends[1], w->bins, &t->axis, why)))
        return fail(error, TALLY_ERROR_DATA, "%s", why);
    return TALLY_OK;
}

static tally_status survey(team *t, tally_error *error)
{
    const wishes *w = t->wishes;
    tally_status status = TALLY_OK;
    for (size_t i = 0; i < w->path_count && !status; i++)
        status = survey_file(t, i, error);
    status = tally_mpi_agree(status, MPI_COMM_WORLD, error);
    if (!status)
        status = agree_found(t, error);
    if (!status)
        status = choose_axis(t, error);
    if (!status && w->weights && t->found.floats)
        status = tally_mpi_limit(status, &t->weights, &t->limit, MPI_COMM_WORLD, error);
    return status;
}

/* ---- counting ---- */

static tally_status make_plan(const team *t, tally_dtype dtype, tally_dtype weights, double limit,
                              tally_plan **plan, tally_error *error)
{
    tally_plan_options o = TALLY_PLAN_OPTIONS_INIT;
    o.axes[0] = t->axis;
    o.dtypes[0] = dtype;
    o.channels = t->found.channels;
    o.weight_dtype = weights;
    o.weight_limit = limit;
    return tally_plan_create(t->context, &o, plan, error);
}

/* A rank's plan is of the types that it met last; outputs are the same for all. */
static tally_status need_plan(team *t, tally_dtype dtype, tally_dtype weights, tally_error *error)
{
    const tally_plan_options *now = tally_plan_options_get(t->plan);
    if (now && now->dtypes[0] == dtype && now->weight_dtype == weights)
        return TALLY_OK;
    tally_plan_destroy(t->plan);
    t->plan = NULL;
    return make_plan(t, dtype, weights, t->limit, &t->plan, error);
}

static tally_status count_views(team *t, tally_input *input, const tally_view *views, int *enough,
                                tally_error *error)
{
    tally_execute_options how = TALLY_EXECUTE_OPTIONS_INIT;
    (void)input;
    (void)enough;
    how.weights = t->wishes->weights ? &views[1] : NULL;
    tally_status status =
        need_plan(t, views[0].dtype, how.weights ? views[1].dtype : (tally_dtype)0, error);
    if (!status)
        status = tally_execute(t->plan, views, &how, &t->output, error);
    t->counted += views[0].rows * views[0].columns * t->found.channels;
    return status;
}

static tally_status count_file(team *t, size_t i, tally_error *error)
{
    tally_input *input = NULL;
    if (t->deals[i].owner != ALL_RANKS && t->deals[i].owner != t->rank)
        return TALLY_OK;
    tally_status status = open_input(t, i, &input, error);
    if (!status)
        status = read_input(t, i, input, count_views, error);
    tally_input_close(input);
    return status;
}

static tally_status make_output(team *t, tally_error *error)
{
    const size_t size = t->limit > 0 ? sizeof(tally_wide) : sizeof(uint64_t);
    const uint64_t h = t->found.channels;
    t->output = (tally_output)TALLY_OUTPUT_INIT;
    t->output.accumulate = TALLY_ACCUMULATE_ADD;
    t->output.counts = calloc((size_t)(h * t->axis.bins), size);
    t->output.flows = calloc((size_t)h, sizeof *t->output.flows);
    if (t->wishes->weights)
        t->output.flow_sums = calloc((size_t)h * 4, size);
    if (!t->output.counts || !t->output.flows || (t->wishes->weights && !t->output.flow_sums))
        return fail(error, TALLY_ERROR_MEMORY, "out of memory: %llu bins",
                    (unsigned long long)t->axis.bins);
    return TALLY_OK;
}

static tally_status count(team *t, tally_error *error)
{
    const tally_dtype weights = !t->wishes->weights ? (tally_dtype)0
                                : t->found.floats   ? TALLY_F64
                                                    : TALLY_I64;
    tally_status status = make_output(t, error);
    for (size_t i = 0; i < t->wishes->path_count && !status; i++)
        status = count_file(t, i, error);
    if (!status && !t->plan) /* nothing to count here */
        status = need_plan(t, TALLY_F64, weights, error);
    status =
        tally_mpi_reduce(status, t->plan, t->found.channels, &t->output, 0, MPI_COMM_WORLD, error);
    uint64_t all = 0;
    if (!status)
        status = tally_mpi_said(
            MPI_Reduce(&t->counted, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD), error);
    t->counted = all;
    return status;
}

/* ---- the result ---- */

/* What rank 0 has, as a result. */
static tally_status make_result(const team *t, tally_result **result, tally_error *error)
{
    const tally_plan_options *o = tally_plan_options_get(t->plan);
    const uint64_t h = t->found.channels, cells = h * t->axis.bins;
    const char *names[MOST_CHANNELS];
    tally_plan *plan = NULL;
    for (uint64_t c = 0; c < h; c++)
        names[c] = t->names[c][0] ? t->names[c] : NULL;
    const size_t size = t->limit > 0 ? sizeof(tally_wide) : sizeof(uint64_t);
    tally_status status = make_plan(t, o->dtypes[0], o->weight_dtype, t->limit, &plan, error);
    if (!status)
        status = tally_result_create(plan, h, names, result, error);
    if (!status) {
        const tally_output to = tally_result_output(*result);
        memcpy(to.flows, t->output.flows, (size_t)h * sizeof *to.flows);
        memcpy(to.counts, t->output.counts, (size_t)cells * size);
        if (to.flow_sums)
            memcpy(to.flow_sums, t->output.flow_sums, (size_t)(4 * h) * size);
        for (size_t i = 0; i < t->wishes->path_count && !status; i++)
            status = tally_result_note(*result, t->wishes->paths[i], NULL, NULL, 0, 0, error);
    }
    if (!status)
        status = tally_result_note(*result, NULL, "mpi", tally_plan_method(t->plan), 0, t->counted,
                                   error);
    tally_plan_destroy(plan);
    return status;
}

static int to_stdout(void *user, const void *bytes, size_t size)
{
    (void)user;
    return fwrite(bytes, 1, size, stdout) == size ? 0 : errno ? errno : EIO;
}

static tally_status write_result(const team *t, tally_error *error)
{
    tally_result *result = NULL;
    const char *path = t->wishes->output;
    tally_status status = make_result(t, &result, error);
    const tally_result *const results[] = {result};
    if (!status && path)
        status = tally_result_save(results, 1, (tally_format)t->wishes->format, NULL, path, error);
    else if (!status)
        status = tally_result_write(results, 1, (tally_format)t->wishes->format, NULL, to_stdout,
                                    NULL, error);
    if (!status && !path && fflush(stdout))
        status = fail(error, TALLY_ERROR_IO, "standard output: %s", strerror(errno));
    tally_result_destroy(result);
    return status;
}

/* ---- main ---- */

static tally_status run(team *t, tally_error *error)
{
    tally_status status = tally_mpi_agree(open_device(t, error), MPI_COMM_WORLD, error);
    if (!status)
        status = get_sizes(t, error);
    if (!status)
        status = survey(t, error);
    if (!status)
        status = count(t, error);
    if (!status)
        status =
            tally_mpi_agree(t->rank ? TALLY_OK : write_result(t, error), MPI_COMM_WORLD, error);
    return status;
}

static void release(team *t)
{
    free(t->output.counts);
    free(t->output.flows);
    free(t->output.flow_sums);
    free(t->deals);
    free(t->load);
    tally_plan_destroy(t->plan);
    tally_context_destroy(t->context);
}

int main(int argc, char **argv)
{
    static team t;
    wishes w;
    tally_error error = {""};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &t.ranks);
    int code = wishes_read(argc, argv, t.rank == 0, &w);
    if (code == WISHES_COUNT) {
        t.wishes = &w;
        const tally_status status = run(&t, &error);
        if (status && t.rank == 0)
            fprintf(stderr, "tally-mpi: %s\n",
                    error.message[0] ? error.message : tally_status_string(status));
        code = status == TALLY_ERROR_UNSUPPORTED ? 3 : status ? 1 : 0;
    }
    release(&t);
    MPI_Finalize();
    return code;
}
