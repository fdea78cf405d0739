/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tally over MPI: outputs of all ranks added up, and one range for all. All of it is in this
 * header: Tally's libraries know nothing of MPI, and a program links the MPI that it likes.
 *
 *     tally_status status = tally_execute(plan, &view, NULL, &output, &error);
 *     status = tally_mpi_reduce(status, plan, 1, &output, 0, MPI_COMM_WORLD, &error);
 *
 * Every function is collective: all ranks of `comm` call it, in the same order. Each takes as
 * `mine` the status of what this rank did before, so that a rank that failed still meets the
 * others: if any did, all return the status of the lowest such rank and its message, with "rank N:
 * " before it. A failure of MPI itself is TALLY_ERROR_IO where `comm` returns errors, and ends the
 * program where they are fatal, which is MPI's default. Nothing here is kept between calls.
 */
#ifndef TALLY_MPI_H
#define TALLY_MPI_H

#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>

/* Elements that are sent at once. What is not sent as it lies (narrow counters, sums of integers)
 * takes memory for two such pieces. */
#ifndef TALLY_MPI_PIECE
#define TALLY_MPI_PIECE (1 << 20)
#endif

/* For `root`: every rank gets the sums. */
#define TALLY_MPI_ALL (-1)

static inline tally_status tally_mpi_said(int code, tally_error *error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS)
        return TALLY_OK;
    MPI_Error_string(code, text, &length);
    if (error)
        snprintf(error->message, sizeof error->message, "MPI: %.900s", text);
    return TALLY_ERROR_IO;
}

/* TALLY_OK where `mine` is on all ranks; else the first failure, on all. `error` has this rank's
 * message where `mine` is a failure, and gets the one that is agreed on. */
static inline tally_status tally_mpi_agree(tally_status mine, MPI_Comm comm, tally_error *error)
{
    struct {
        int status;
        char message[sizeof(tally_error)];
    } said;
    int rank = 0, first = INT_MAX;
    int code = MPI_Comm_rank(comm, &rank);
    int own = mine ? rank : INT_MAX;
    if (!code)
        code = MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, comm);
    if (code)
        return tally_mpi_said(code, error);
    if (first == INT_MAX)
        return TALLY_OK;
    memset(&said, 0, sizeof said);
    said.status = (int)mine;
    if (error && mine)
        memcpy(said.message, error->message, sizeof said.message - 1);
    code = MPI_Bcast(&said, (int)sizeof said, MPI_BYTE, first, comm);
    if (code)
        return tally_mpi_said(code, error);
    if (error)
        snprintf(error->message, sizeof error->message, "rank %d: %.990s", first,
                 said.message[0] ? said.message : tally_status_string((tally_status)said.status));
    return (tally_status)said.status;
}

static inline tally_status tally_mpi_refuse(tally_error *error, tally_status status,
                                            const char *why)
{
    if (error)
        snprintf(error->message, sizeof error->message, "%s", why);
    return status;
}

/* ---- Ranges ---- */

/* Writes the least of `lo` and the largest of `hi` of all ranks; of a rank without samples +∞, -∞.
 */
static inline tally_status tally_mpi_ends(double lo, double hi, double ends[2], MPI_Comm comm,
                                          tally_error *error)
{
    double own[2];
    own[0] = -lo;
    own[1] = hi;
    const tally_status status =
        tally_mpi_said(MPI_Allreduce(own, ends, 2, MPI_DOUBLE, MPI_MAX, comm), error);
    ends[0] = -ends[0];
    return status;
}

/* The same even axis of `bins` bins on all ranks: from the smallest to the largest finite sample of
 * any rank, widened by 0.5 each way, or a step, where these are equal; 0 … 1 where there is none.
 * `stats` is what tally_stats_add found in this rank's samples; not read where `mine` is a failure.
 */
static inline tally_status tally_mpi_range(tally_status mine, const tally_stats *stats,
                                           uint64_t bins, tally_axis *axis, MPI_Comm comm,
                                           tally_error *error)
{
    double ends[2];
    if (!mine && (!stats || !axis || !bins))
        mine = tally_mpi_refuse(error, TALLY_ERROR_ARGUMENT,
                                "tally_mpi_range: stats or axis is NULL, or bins is 0");
    tally_status status = tally_mpi_agree(mine, comm, error);
    if (!status)
        status = tally_mpi_ends(stats->finite ? stats->min : INFINITY,
                                stats->finite ? stats->max : -INFINITY, ends, comm, error);
    if (status)
        return status;
    if (ends[0] > ends[1]) {
        ends[0] = 0;
        ends[1] = 1;
    } else if (ends[0] == ends[1]) {
        ends[0] = fmin(ends[0] - 0.5, nextafter(ends[0], -INFINITY));
        ends[1] = fmax(ends[1] + 0.5, nextafter(ends[1], INFINITY));
    }
    *axis = tally_axis_even(bins, ends[0], ends[1]);
    return TALLY_OK;
}

/* The weight_limit of a plan for all ranks' weights: the largest |weight|. `stats` is what
 * tally_stats_add found in this rank's weights. TALLY_ERROR_DATA where one is infinite or NaN. */
static inline tally_status tally_mpi_limit(tally_status mine, const tally_stats *stats,
                                           double *limit, MPI_Comm comm, tally_error *error)
{
    const double least = 1e-250;
    double ends[2];
    if (!mine && (!stats || !limit))
        mine = tally_mpi_refuse(error, TALLY_ERROR_ARGUMENT,
                                "tally_mpi_limit: stats or limit is NULL");
    if (!mine && stats->finite != stats->samples)
        mine = tally_mpi_refuse(error, TALLY_ERROR_DATA, "a weight is infinite or NaN");
    tally_status status = tally_mpi_agree(mine, comm, error);
    if (!status)
        status = tally_mpi_ends(stats->finite ? stats->min : 0, stats->finite ? stats->max : 0,
                                ends, comm, error);
    if (status)
        return status;
    *limit = fmax(least, fmax(-ends[0], ends[1]));
    return TALLY_OK;
}

/* ---- Reducing ---- */

/* What an array of an output holds, and how it travels. */
typedef enum tally_mpi_kind {
    TALLY_MPI_U64,
    TALLY_MPI_U32,
    TALLY_MPI_U16SAT,
    TALLY_MPI_U8SAT,
    TALLY_MPI_F64,
    TALLY_MPI_I64, /* as tally_wide: a sum may pass int64 on the way */
    TALLY_MPI_WIDE
} tally_mpi_kind;

static inline tally_mpi_kind tally_mpi_kind_of(const tally_plan_options *options)
{
    if (!options->weight_dtype)
        return (tally_mpi_kind)(TALLY_MPI_U64 + (int)options->counter);
    return options->weight_limit != 0           ? TALLY_MPI_WIDE
           : options->weight_dtype >= TALLY_F16 ? TALLY_MPI_F64
                                                : TALLY_MPI_I64;
}

static inline uint64_t tally_mpi_mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* A number that outputs of the same axes, kinds and histograms have in common. */
static inline uint64_t tally_mpi_print(const tally_plan *plan, uint64_t histograms,
                                       const tally_output *output, int root)
{
    const tally_plan_options *o = tally_plan_options_get(plan);
    const uint64_t about[] = {tally_plan_bins(plan),
                              histograms,
                              (uint64_t)root,
                              o->dimensions,
                              (uint64_t)tally_mpi_kind_of(o),
                              output->flows != NULL,
                              output->flow_sums != NULL,
                              output->sum_squares != NULL};
    uint64_t hash = tally_mpi_mix(UINT64_C(0xcbf29ce484222325), about, sizeof about);
    hash = tally_mpi_mix(hash, &o->weight_limit, sizeof o->weight_limit);
    for (uint32_t d = 0; d < o->dimensions; d++) {
        const tally_axis *a = &o->axes[d];
        const uint64_t axis[] = {(uint64_t)a->kind,  a->bins,           (uint64_t)a->last,
                                 (uint64_t)a->under, (uint64_t)a->over, (uint64_t)a->nan};
        hash = tally_mpi_mix(hash, axis, sizeof axis);
        for (uint64_t i = 0; a->edges && i <= a->bins; i++)
            hash = tally_mpi_mix(hash, &a->edges[i], sizeof a->edges[i]);
        if (a->categories)
            hash = tally_mpi_mix(hash, a->categories, 256 * sizeof *a->categories);
        const double ends[2] = {tally_axis_edge(a, 0), tally_axis_edge(a, a->bins)};
        hash = tally_mpi_mix(hash, ends, sizeof ends);
    }
    return hash;
}

/* Adds `count` tally_wide: an MPI_User_function. */
static inline void tally_mpi_add_wide(void *from, void *into, int *count, MPI_Datatype *type)
{
    (void)type;
    tally_wide_add((tally_wide *)into, (const tally_wide *)from, (uint64_t)*count);
}

/* A reduction under way: pieces of an array, as they travel, and what their sum is. */
typedef struct tally_mpi_call {
    MPI_Comm comm;
    int root, receives;
    MPI_Datatype wide_type;
    MPI_Op wide_op;
    void *send, *sums;
} tally_mpi_call;

/* Adds up `count` elements of all ranks' `from` in the receiving ranks' `to`; both may be one. */
static inline int tally_mpi_sum(const tally_mpi_call *c, const void *from, void *to, uint64_t count,
                                MPI_Datatype type, MPI_Op op)
{
    const void *send = c->receives && from == to ? MPI_IN_PLACE : from;
    return c->root == TALLY_MPI_ALL ? MPI_Allreduce(send, to, (int)count, type, op, c->comm)
                                    : MPI_Reduce(send, to, (int)count, type, op, c->root, c->comm);
}

/* Bytes of an element that travels as it is; else 0. */
static inline size_t tally_mpi_as_is(tally_mpi_kind kind)
{
    return kind == TALLY_MPI_WIDE                           ? sizeof(tally_wide)
           : kind == TALLY_MPI_U64 || kind == TALLY_MPI_F64 ? 8
                                                            : 0;
}

/* Elements [begin, begin + n) of an array of another kind, as they travel. */
static inline void tally_mpi_pack(tally_mpi_call *c, tally_mpi_kind kind, const void *array,
                                  uint64_t begin, uint64_t n)
{
    uint64_t *u = (uint64_t *)c->send;
    tally_wide *wide = (tally_wide *)c->send;
    for (uint64_t i = 0; i < n; i++) {
        if (kind == TALLY_MPI_U32)
            u[i] = ((const uint32_t *)array)[begin + i];
        else if (kind == TALLY_MPI_U16SAT)
            u[i] = ((const uint16_t *)array)[begin + i];
        else if (kind == TALLY_MPI_U8SAT)
            u[i] = ((const uint8_t *)array)[begin + i];
        else {
            const int64_t x = ((const int64_t *)array)[begin + i];
            wide[i].low = (uint64_t)x;
            wide[i].high = x < 0 ? -1 : 0;
        }
    }
}

/* The first of n sums that its type does not hold, or n. */
static inline uint64_t tally_mpi_misfit(const tally_mpi_call *c, tally_mpi_kind kind, uint64_t n)
{
    const uint64_t *u = (const uint64_t *)c->sums;
    const tally_wide *wide = (const tally_wide *)c->sums;
    for (uint64_t i = 0; i < n; i++) {
        if (kind == TALLY_MPI_U32 && u[i] > UINT32_MAX)
            return i;
        if (kind == TALLY_MPI_I64 && wide[i].high != ((int64_t)wide[i].low < 0 ? -1 : 0))
            return i;
    }
    return n;
}

static inline void tally_mpi_unpack(const tally_mpi_call *c, tally_mpi_kind kind, void *array,
                                    uint64_t begin, uint64_t n)
{
    const uint64_t *u = (const uint64_t *)c->sums;
    const tally_wide *wide = (const tally_wide *)c->sums;
    for (uint64_t i = 0; i < n; i++) {
        if (kind == TALLY_MPI_U32)
            ((uint32_t *)array)[begin + i] = (uint32_t)u[i];
        else if (kind == TALLY_MPI_U16SAT)
            ((uint16_t *)array)[begin + i] = (uint16_t)(u[i] < UINT16_MAX ? u[i] : UINT16_MAX);
        else if (kind == TALLY_MPI_U8SAT)
            ((uint8_t *)array)[begin + i] = (uint8_t)(u[i] < UINT8_MAX ? u[i] : UINT8_MAX);
        else
            ((int64_t *)array)[begin + i] = (int64_t)wide[i].low;
    }
}

/* Adds up `n` elements from `begin` on, in the array itself where they travel as they are; else in
 * `sums`. */
static inline int tally_mpi_piece(tally_mpi_call *c, tally_mpi_kind kind, void *array,
                                  uint64_t begin, uint64_t n)
{
    const size_t size = tally_mpi_as_is(kind);
    char *at = (char *)array + begin * size;
    const int wide = kind == TALLY_MPI_I64 || kind == TALLY_MPI_WIDE;
    const MPI_Datatype type = wide                    ? c->wide_type
                              : kind == TALLY_MPI_F64 ? MPI_DOUBLE
                                                      : MPI_UINT64_T;
    if (!size)
        tally_mpi_pack(c, kind, array, begin, n);
    return tally_mpi_sum(c, size ? at : c->send, size ? at : c->sums, n, type,
                         wide ? c->wide_op : MPI_SUM);
}

/* Adds up an array of all ranks, piece by piece; `writes` 0: only looks whether the sums fit. */
static inline tally_status tally_mpi_array(tally_mpi_call *c, tally_mpi_kind kind, void *array,
                                           uint64_t count, int writes, tally_error *error)
{
    tally_status status = TALLY_OK;
    if (!writes && kind != TALLY_MPI_U32 && kind != TALLY_MPI_I64)
        return TALLY_OK;
    for (uint64_t n, begin = 0; begin < count; begin += n) {
        n = count - begin < TALLY_MPI_PIECE ? count - begin : TALLY_MPI_PIECE;
        const int code = tally_mpi_piece(c, kind, array, begin, n);
        if (code)
            return tally_mpi_said(code, error);
        if (c->receives && writes && !tally_mpi_as_is(kind)) {
            tally_mpi_unpack(c, kind, array, begin, n);
        } else if (c->receives && !writes && !status && tally_mpi_misfit(c, kind, n) < n) {
            status = TALLY_ERROR_DATA;
            if (error)
                snprintf(error->message, sizeof error->message,
                         "bin %llu: the sum over all ranks passes %s",
                         (unsigned long long)(begin + tally_mpi_misfit(c, kind, n)),
                         kind == TALLY_MPI_U32 ? "a u32 counter; use u64" : "int64");
        }
    }
    return status;
}

/* Whatever fails, all ranks go through all arrays: the first failure is returned. */
static inline tally_status tally_mpi_arrays(tally_mpi_call *c, const tally_plan *plan,
                                            uint64_t histograms, const tally_output *output,
                                            int writes, tally_error *error)
{
    const tally_mpi_kind kind = tally_mpi_kind_of(tally_plan_options_get(plan));
    const uint64_t cells = histograms * tally_plan_bins(plan);
    tally_status status[4] = {TALLY_OK, TALLY_OK, TALLY_OK, TALLY_OK};
    status[0] = tally_mpi_array(c, kind, output->counts, cells, writes, error);
    if (output->flow_sums)
        status[1] = tally_mpi_array(c, kind, output->flow_sums, 4 * histograms, writes,
                                    status[0] ? NULL : error);
    if (output->flows)
        status[2] = tally_mpi_array(c, TALLY_MPI_U64, output->flows, 4 * histograms, writes, error);
    if (output->sum_squares)
        status[3] = tally_mpi_array(c, TALLY_MPI_F64, output->sum_squares, cells, writes, error);
    return status[0] ? status[0] : status[1] ? status[1] : status[2] ? status[2] : status[3];
}

/* A number that must be the same on all ranks. */
static inline tally_status tally_mpi_same(uint64_t own, MPI_Comm comm, tally_error *error)
{
    uint64_t both[2], most[2];
    both[0] = own;
    both[1] = ~own;
    const tally_status status =
        tally_mpi_said(MPI_Allreduce(both, most, 2, MPI_UINT64_T, MPI_MAX, comm), error);
    if (!status && most[0] != ~most[1])
        return tally_mpi_refuse(error, TALLY_ERROR_ARGUMENT,
                                "the ranks' plans or outputs differ: axes, counters, weights and "
                                "histograms have to be the same on all");
    return status;
}

/*
 * Adds up the outputs of all ranks, whatever they hold: counts, flows, sums, squares. Afterwards
 * `output` of rank `root`, or of all for TALLY_MPI_ALL, has the sums; the others' are as they were,
 * and so are all after a failure other than MPI's. `plan`, `histograms` (batches × active
 * channels) and `root` are the same on all ranks, and so is which of the output's pointers are set;
 * it is in host memory. A result is reduced by its tally_result_output. u32 counts and sums of
 * integers are refused, with TALLY_ERROR_DATA, where a whole does not fit; saturating counts
 * saturate. Sums of floats of a plan with weight_limit have the same bits for any number of ranks;
 * without one they are added in MPI's order.
 */
static inline tally_status tally_mpi_reduce(tally_status mine, const tally_plan *plan,
                                            uint64_t histograms, const tally_output *output,
                                            int root, MPI_Comm comm, tally_error *error)
{
    tally_mpi_call c;
    tally_error own;
    int rank = 0, ranks = 0;
    memset(&c, 0, sizeof c);
    memset(&own, 0, sizeof own);
    error = error ? error : &own;
    tally_status status = tally_mpi_said(MPI_Comm_rank(comm, &rank), error);
    if (!status)
        status = tally_mpi_said(MPI_Comm_size(comm, &ranks), error);
    if (status)
        return status;
    c.comm = comm;
    c.root = root;
    c.receives = root == TALLY_MPI_ALL || rank == root;
    if (!mine && (!plan || !output || (!output->counts && histograms)))
        mine = tally_mpi_refuse(error, TALLY_ERROR_ARGUMENT,
                                "tally_mpi_reduce: plan, output or its counts is NULL");
    if (!mine && output->on_device)
        mine = tally_mpi_refuse(error, TALLY_ERROR_UNSUPPORTED,
                                "tally_mpi_reduce: the output is in device memory; count into host "
                                "memory");
    if (!mine && (root < TALLY_MPI_ALL || root >= ranks))
        mine = tally_mpi_refuse(error, TALLY_ERROR_ARGUMENT,
                                "tally_mpi_reduce: root is no rank, nor TALLY_MPI_ALL");
    if (!mine && !tally_mpi_as_is(tally_mpi_kind_of(tally_plan_options_get(plan)))) {
        c.send = malloc(TALLY_MPI_PIECE * sizeof(tally_wide));
        c.sums = malloc(TALLY_MPI_PIECE * sizeof(tally_wide));
        if (!c.send || !c.sums)
            mine = tally_mpi_refuse(error, TALLY_ERROR_MEMORY, "out of memory: tally_mpi_reduce");
    }
    status = tally_mpi_agree(mine, comm, error);
    if (!status)
        status = tally_mpi_same(tally_mpi_print(plan, histograms, output, root), comm, error);
    if (!status) {
        int code = MPI_Type_contiguous(2, MPI_UINT64_T, &c.wide_type);
        if (!code)
            code = MPI_Type_commit(&c.wide_type);
        if (!code)
            code = MPI_Op_create(tally_mpi_add_wide, 1, &c.wide_op);
        status = tally_mpi_said(code, error);
        if (!status) {
            status = tally_mpi_arrays(&c, plan, histograms, output, 0, error);
            status = tally_mpi_agree(status, comm, error);
            if (!status)
                status = tally_mpi_arrays(&c, plan, histograms, output, 1, error);
            MPI_Op_free(&c.wide_op);
            MPI_Type_free(&c.wide_type);
        }
    }
    free(c.send);
    free(c.sums);
    return status;
}

#endif
