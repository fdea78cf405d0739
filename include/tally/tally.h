/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tally: exact histograms at the speed of memory.
 *
 * Counting, by libtally, which needs nothing but the C library. At its end this header includes the
 * library's other parts: methods.h, parts.h, quantile.h, rules.h and statistics.h. Results, files
 * and pictures are libtally-io's (tally/io.h). The path is
 *
 *     view (where samples lie) + axis (which bin) -> plan -> execute -> counts
 *
 * Rules that hold everywhere:
 * - A function that can fail returns a tally_status and, when `error` is not NULL, writes there
 *   what was wrong and what would be right. On failure outputs are untouched unless a comment says
 *   otherwise.
 * - Any number of threads may share a context and a plan. What a call writes belongs to that call
 *   until it returns, unless a comment says otherwise.
 * - The library never prints, exits, raises signals or changes the locale, and never keeps a
 *   pointer to a caller's memory after the call returns, unless a comment says so.
 * - Public structs with a `struct_size` are set up by their macro, tally_axis by TALLY_AXIS_INIT,
 *   or by hand: struct_size is sizeof the struct, and the rest is clear. Structs only grow at the
 *   end; enum values never change. Policies default to 0.
 * - Sizes that end in `_bytes` are bytes; everything else counts samples, bins, rows and so on.
 * - What this build or this device cannot do is refused at plan time with TALLY_ERROR_UNSUPPORTED
 *   and a message naming it.
 */
#ifndef TALLY_H
#define TALLY_H

#include <stddef.h>
#include <stdint.h>

#define TALLY_VERSION_MAJOR 0
#define TALLY_VERSION_MINOR 1
#define TALLY_VERSION_PATCH 0

#if defined(_WIN32)
#define TALLY_API
#else
#define TALLY_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status and errors ---- */

typedef enum tally_status {
    TALLY_OK = 0,
    TALLY_ERROR_ARGUMENT = 1,    /* an argument is wrong: null, out of range, contradictory */
    TALLY_ERROR_UNSUPPORTED = 2, /* a valid wish that this build, device or method does not serve */
    TALLY_ERROR_MEMORY = 3,      /* host or device memory ran out */
    TALLY_ERROR_IO = 4,          /* a file could not be read or written */
    TALLY_ERROR_FORMAT = 5,      /* a file's content is damaged or not what it claims to be */
    TALLY_ERROR_DATA = 6,   /* the samples break a policy (TALLY_FLOW_FAIL), or a count or a sum of
                               integer weights does not fit its type */
    TALLY_ERROR_DEVICE = 7, /* the device or its driver failed; the message has its words */
    TALLY_ERROR_CANCELLED = 8, /* the caller's progress function asked to stop */
    TALLY_ERROR_INTERNAL = 9   /* a defect of this library */
} tally_status;

/* Owned by the caller; may be NULL wherever it is asked for. Written only on failure. */
typedef struct tally_error {
    char message[1024];
} tally_error;

/* A short English name for `status`; a static string, never NULL. Thread-safe. */
TALLY_API const char *tally_status_string(tally_status status);

/* "major.minor.patch" of the library that is running; a static string. Thread-safe. */
TALLY_API const char *tally_version(void);

/* ---- Samples ---- */

typedef enum tally_dtype {
    TALLY_U8 = 1,
    TALLY_I8 = 2,
    TALLY_U16 = 3,
    TALLY_I16 = 4,
    TALLY_U32 = 5,
    TALLY_I32 = 6,
    TALLY_U64 = 7,
    TALLY_I64 = 8,
    TALLY_F16 = 9,
    TALLY_BF16 = 10,
    TALLY_F32 = 11,
    TALLY_F64 = 12
} tally_dtype;

/* Bytes of one sample (1, 2, 4 or 8), or 0 if `dtype` is none. Thread-safe. */
TALLY_API size_t tally_dtype_bytes(tally_dtype dtype);

/* "u8" … "f64", or NULL; and back: 0 when `name` is no dtype's. Thread-safe. */
TALLY_API const char *tally_dtype_name(tally_dtype dtype);
TALLY_API tally_dtype tally_dtype_parse(const char *name);

/* DLPack's numbers. */
typedef enum tally_device_type {
    TALLY_DEVICE_AUTO = 0,
    TALLY_DEVICE_CPU = 1,
    TALLY_DEVICE_CUDA = 2,
    TALLY_DEVICE_OPENCL = 4
} tally_device_type;

/*
 * Samples that are read when they are counted, such as a file's: `read` writes elements [begin,
 * begin + count) of the view, rows × columns in that order and all channels of each, to `to`,
 * packed. It is called from several threads at once, for any ranges in any order, and again by
 * every call that takes the view. After a failure it is asked for nothing more behind the failure,
 * and the call returns the status and message of the one with the smallest `begin`.
 *
 * `lend`, where it is not NULL, returns where elements [begin, begin + count) lie in memory,
 * packed, with any alignment, for as long as `give_back` has not been called with what it returned;
 * NULL: they are to be read. Of several threads likewise. Only the processor borrows.
 *
 * `grain`, where it is not 0: so many elements are decoded as a whole, so that threads' parts
 * should begin at its multiples. `whole`, where it is not NULL, is asked instead, from several
 * threads at once: the first of the elements that are decoded together with this one.
 */
typedef struct tally_source {
    size_t struct_size;
    tally_status (*read)(void *user, uint64_t begin, uint64_t count, void *to, tally_error *error);
    void *user;
    const void *(*lend)(void *user, uint64_t begin, uint64_t count);
    void (*give_back)(void *user, const void *lent, uint64_t begin, uint64_t count);
    uint64_t grain;
    uint64_t (*whole)(void *user, uint64_t element);
} tally_source;

#define TALLY_SOURCE_INIT                                                                          \
    {                                                                                              \
        sizeof(tally_source), NULL, NULL, NULL, NULL, 0, NULL                                      \
    }

/*
 * Where samples lie: batches × rows × columns × channels of one dtype. A view owns nothing.
 * A stride is the distance in bytes between neighbours along that dimension, of either sign, any
 * alignment; 0 means packed (channels innermost, then columns, rows, batches). A dimension whose
 * extent is 0 makes the view empty, which is fine.
 */
typedef struct tally_view {
    size_t struct_size;
    const void *data; /* host pointer, or a device pointer when device is not CPU; NULL if empty */
    tally_dtype dtype;
    tally_device_type device; /* 0 reads as CPU */
    uint64_t batches;         /* a histogram each; 0 batches make an empty view */
    uint64_t rows;
    uint64_t columns;
    uint64_t channels; /* interleaved samples of one element, a histogram each when active */
    int64_t batch_stride_bytes;
    int64_t row_stride_bytes;
    int64_t column_stride_bytes;
    int64_t channel_stride_bytes;
    /* NULL, or what reads the samples; then data is NULL, there is one batch, and the strides are
     * 0. A function that takes such views takes them for samples, mask and weights alike: all of a
     * call's or none. tally_execute_parts and tally_weighted_quantiles take none. The result is
     * that of the same samples in memory, to the bit but for sums of floats where few samples are
     * added in place to many bins; on failure the output is as it was. */
    const tally_source *source;
} tally_view;

#define TALLY_VIEW_INIT                                                                            \
    {                                                                                              \
        sizeof(tally_view), NULL, (tally_dtype)0, (tally_device_type)0, 1, 1, 0, 1, 0, 0, 0, 0,    \
            NULL                                                                                   \
    }

/* `n` packed samples at `data` as one batch, row and channel. */
TALLY_API tally_view tally_view_1d(const void *data, tally_dtype dtype, uint64_t n);

/* ---- Axes ---- */

/*
 * Bin i takes a sample x when edge[i] <= x < edge[i+1], compared exactly whatever the dtype,
 * against edges that are float64. Edges must be finite and strictly increasing in float64.
 */
typedef enum tally_axis_kind {
    TALLY_AXIS_EVEN = 0,    /* edge[i] = lo + i*((hi-lo)/bins) in float64, edge[bins] = hi */
    TALLY_AXIS_EDGES = 1,   /* edge[i] = edges[i], i = 0 … bins */
    TALLY_AXIS_LOG = 2,     /* edge[i] = lo*(hi/lo)^(i/bins), edge[bins] = hi; 0 < lo < hi */
    TALLY_AXIS_INTEGER = 3, /* edge[i] = first+i, |edge| <= 2^53; always open at the end */
    TALLY_AXIS_CATEGORY =
        4 /* u8 samples only: bin = categories[x]; edges 0 … bins; no edges apply */
} tally_axis_kind;

/* What becomes of a sample below the first edge, above the last, or NaN. */
typedef enum tally_flow {
    TALLY_FLOW_COUNT = 0, /* counted apart: underflow, overflow, nan */
    TALLY_FLOW_CLAMP = 1, /* counted in the nearest end bin; refused for NaN */
    TALLY_FLOW_FAIL = 2,  /* the call returns TALLY_ERROR_DATA and leaves its outputs alone */
    /* Counted in a flow bin, which a plan adds to the axis: before the first bin for under, behind
     * the last for over; refused for NaN. So a joint table has the flows of each axis: with both on
     * both axes of nx and ny bins, counts are (nx+2) × (ny+2). A plan's and a result's axis then
     * has these bins and TALLY_FLOW_CLAMP, with ends that mean nothing; it is of
     * TALLY_AXIS_EDGES if it was no integer axis, and may be counted more slowly.
     * TALLY_ERROR_UNSUPPORTED where no float64 is left for an edge beyond, and for 64-bit integers
     * and over on a closed axis that ends at 2^53 or beyond. */
    TALLY_FLOW_BIN = 3
} tally_flow;

typedef enum tally_last_edge {
    TALLY_LAST_CLOSED = 0, /* x == edge[bins] is in the last bin, as in NumPy */
    TALLY_LAST_OPEN = 1    /* x == edge[bins] is overflow */
} tally_last_edge;

/* In a category table: the byte belongs to no bin and counts as overflow. */
#define TALLY_CATEGORY_NONE UINT16_C(0xffff)

typedef struct tally_axis {
    size_t struct_size;
    tally_axis_kind kind;
    uint64_t bins;              /* at least 1 */
    double lo, hi;              /* EVEN, LOG; for LOG hi/lo must be finite too */
    int64_t first;              /* INTEGER */
    const double *edges;        /* EDGES: bins+1 of them; copied by the plan */
    const uint16_t *categories; /* CATEGORY: 256 of them; copied by the plan */
    tally_flow under, over, nan;
    tally_last_edge last;
} tally_axis;

#define TALLY_AXIS_INIT                                                                            \
    {                                                                                              \
        sizeof(tally_axis), (tally_axis_kind)0, 0, 0, 0, 0, NULL, NULL, (tally_flow)0,             \
            (tally_flow)0, (tally_flow)0, (tally_last_edge)0                                       \
    }

TALLY_API tally_axis tally_axis_even(uint64_t bins, double lo, double hi);
TALLY_API tally_axis tally_axis_integer(uint64_t bins, int64_t first);
TALLY_API tally_axis tally_axis_log(uint64_t bins, double lo, double hi);
/* Keeps the pointer `edges` (bins+1 values) only inside the returned struct. */
TALLY_API tally_axis tally_axis_edges(uint64_t bins, const double *edges);

/* The alphabet `letters`, `per_bin` consecutive letters to a bin, as a category table: writes
 * categories[256] and returns the number of bins; 0 if letters repeat, none is given, or per_bin is
 * 0. */
TALLY_API uint64_t tally_categories_letters(const char *letters, size_t count, uint64_t per_bin,
                                            uint16_t categories[256]);

/* Writes the bins+1 edges of `axis`, without flow bins, to `edges`. Thread-safe. */
TALLY_API tally_status tally_axis_edges_get(const tally_axis *axis, double *edges,
                                            tally_error *error);

/* Edge i of `axis`, 0 … bins: where bin i begins and bin i-1 ends; of categories i itself. Read
 * where edges are set, else computed, with no table. NaN where there is none. Thread-safe. */
TALLY_API double tally_axis_edge(const tally_axis *axis, uint64_t i);

/* Where `x` is counted: *bin is a bin, or axis->bins and more for what is in none: bins for under,
 * bins+1 for over, bins+2 for NaN, the order of tally_flows; with flow bins too. The axis' policies
 * hold: a clamped x is in an end bin, and a policy that fails is TALLY_ERROR_DATA. In log2(bins)
 * steps by tally_axis_edge, so that edges which no plan takes for not increasing are not noticed.
 * On an axis of categories x is a byte's value. Thread-safe. */
TALLY_API tally_status tally_axis_find(const tally_axis *axis, double x, uint64_t *bin,
                                       tally_error *error);

/* ---- Contexts ---- */

typedef struct tally_context tally_context;

typedef struct tally_context_options {
    size_t struct_size;
    tally_device_type device; /* 0: the processor, and a CUDA device for plans whose host data are
                                 counted sooner there with their way counted in (docs/AUTO.md) */
    int32_t index;            /* which of that type, from 0 */
    uint32_t threads;         /* most of the processor's threads to use, to count or to pack host
                                 samples for another device, 0 for one a processor; capped at 1024 */
    void *native; /* NULL, or what to work in: CUDA a CUcontext (else the device's primary one,
                     which CuPy, PyTorch and JAX use), OpenCL a cl_command_queue, whose context and
                     device are used. Must outlive the context. */
    /* NULL, or several devices, then device, index and native stay unset: "cuda:*",
     * "cuda:0,cuda:1", "cuda:*,cpu". A call's samples, in host memory or with a source, are dealt
     * to them in pieces, to whichever is free, and the output is in host memory; the result is that
     * of one device, to the bit. Sums of float weights need weight_limit. A device that fails fails
     * the call, which names it. Needed during the call only. */
    const char *devices;
} tally_context_options;

#define TALLY_CONTEXT_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(tally_context_options), (tally_device_type)0, 0, 0, NULL, NULL                      \
    }

/* Opens a device. `options` may be NULL. Threads are started by the first call that needs them.
 * A context may be shared by any number of threads. It keeps tables of the last call for the next,
 * up to 128 MiB of host memory. Release with tally_context_destroy, after the plans made from it.
 */
TALLY_API tally_status tally_context_create(const tally_context_options *options,
                                            tally_context **context, tally_error *error);
TALLY_API void tally_context_destroy(tally_context *context); /* NULL is fine */

/* One device, present or missing. The strings belong to the library and live as long as it. */
typedef struct tally_device_info {
    size_t struct_size;
    tally_device_type device;
    int32_t index;
    char id[32];    /* "cpu", "cuda:0", "opencl:1" */
    char name[128]; /* empty when missing */
    uint64_t memory_bytes;
    uint64_t local_bytes; /* fast memory of one core or multiprocessor */
    int32_t available;
    char reason[256]; /* why it is missing, else empty */
    char driver[128]; /* runtime and versions, "CUDA 13.0, NVRTC 13.0"; empty for the CPU */
} tally_device_info;

#define TALLY_DEVICE_INFO_INIT                                                                     \
    {                                                                                              \
        sizeof(tally_device_info), (tally_device_type)0, 0, "", "", 0, 0, 0, "", ""                \
    }

/* Number of devices known, missing kinds included as one entry each; and the i-th one. The first is
 * the processor; asking for it opens no driver. Thread-safe. */
TALLY_API uint32_t tally_device_count(void);
TALLY_API tally_status tally_device_get(uint32_t i, tally_device_info *info, tally_error *error);
/* The CUDA kernels that were compiled with the library: "FILE: 812 kernels for sm_75 …", or "none:
 * why", where plans wait for a compiler. A static string. Thread-safe. */
TALLY_API const char *tally_kernels_describe(void);
/* The device that `context` is on. Thread-safe. */
TALLY_API tally_status tally_context_device(const tally_context *context, tally_device_info *info,
                                            tally_error *error);

/* ---- Device memory ---- */

/* `bytes` of memory on the context's device, for samples that are counted more than once: *memory
 * goes into a view's `data`, with the context's device in its `device`. It is a device pointer
 * (CUDA), a cl_mem (OpenCL) or ordinary memory (CPU), not cleared. Release it with
 * tally_memory_destroy, after the calls that use it and before the context. Thread-safe. */
TALLY_API tally_status tally_memory_create(tally_context *context, uint64_t bytes, void **memory,
                                           tally_error *error);
TALLY_API void tally_memory_destroy(tally_context *context, void *memory); /* NULL is fine */
/* Copies `bytes` from the host to `memory`, from its byte `offset` on, and returns when they are
 * there. The caller sees to it that they fit. Thread-safe for ranges that do not overlap. */
TALLY_API tally_status tally_memory_write(tally_context *context, void *memory, uint64_t offset,
                                          const void *from, uint64_t bytes, tally_error *error);

/* ---- Plans ---- */

#define TALLY_MAX_DIMENSIONS 8

typedef enum tally_counter {
    TALLY_COUNTER_U64 = 0,
    TALLY_COUNTER_U32 = 1,    /* refused when a call could pass 2^32-1 */
    TALLY_COUNTER_U16SAT = 2, /* sticks at 65535 */
    TALLY_COUNTER_U8SAT = 3   /* sticks at 255 */
} tally_counter;

typedef struct tally_plan tally_plan;

/* A key of a method's parameters, and a whole number within their limits in decimal. */
typedef struct tally_setting {
    const char *key;
    const char *value;
} tally_setting;

typedef struct tally_plan_options {
    size_t struct_size;
    uint32_t dimensions;                      /* 1 … 8; a joint table when above 1 */
    tally_axis axes[TALLY_MAX_DIMENSIONS];    /* row-major: the last axis varies fastest */
    tally_dtype dtypes[TALLY_MAX_DIMENSIONS]; /* of each axis' samples */
    uint64_t channels;     /* interleaved channels of the view (1 if dimensions > 1), 0 for 1 */
    uint64_t channel_mask; /* bit c set: channel c is counted, and all from 64 on; 0 for all */
    tally_counter counter; /* unweighted only */
    /* 0: none; integers of any width sum in i64; f32 and f64 in f64, but on a GPU as multiples of
     * 2^-62 (f64: 2^-94) of the largest |weight| times the samples of a launch, at most 2^31: there
     * a sum that is as small beside the largest may be 0. */
    tally_dtype weight_dtype;
    int32_t sum_squares; /* weighted: also Σw², in f64; on a GPU as sums of f64 weights are */
    uint64_t n_hint;     /* samples expected in a call, 0 unknown: only speed hangs on it */
    const char *method;  /* registry name; NULL or "auto" */
    const tally_setting *settings; /* settings_count of them; copied */
    size_t settings_count;
    int32_t timing_only; /* nonzero: also take settings that make counts wrong (ablations) */
    /* f32 and f64 weights: 0, or no less than any |weight|. Then sums are tally_wide, the same bits
     * however samples are split over calls, threads, devices and machines. A weight of the next
     * power of two above the limit, or more, or NaN, masked or not: TALLY_ERROR_DATA. From 1e-250
     * on; without sum_squares (sum the squares as weights of another plan). */
    double weight_limit;
} tally_plan_options;

/* One dimension; the axis and its dtype are missing. */
#define TALLY_PLAN_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(tally_plan_options), 1,                                                             \
            {TALLY_AXIS_INIT, TALLY_AXIS_INIT, TALLY_AXIS_INIT, TALLY_AXIS_INIT,                   \
             TALLY_AXIS_INIT, TALLY_AXIS_INIT, TALLY_AXIS_INIT, TALLY_AXIS_INIT},                  \
            {(tally_dtype)0}, 0, 0, (tally_counter)0, (tally_dtype)0, 0, 0, NULL, NULL, 0, 0, 0    \
    }

/* Resolves `options` to one method on the context's device. The plan is immutable: any number of
 * threads may execute it at once with different outputs. The context must outlive it. */
TALLY_API tally_status tally_plan_create(tally_context *context, const tally_plan_options *options,
                                         tally_plan **plan, tally_error *error);
TALLY_API void tally_plan_destroy(tally_plan *plan); /* NULL is fine */

/* The method's name; bins of one histogram (product over axes, flow bins among them); active
 * channels. Of NULL: NULL and 0. */
TALLY_API const char *tally_plan_method(const tally_plan *plan);
/* Where the plan counts: its context's device, or the one that TALLY_DEVICE_AUTO chose for it. */
TALLY_API tally_status tally_plan_device(const tally_plan *plan, tally_device_info *info,
                                         tally_error *error);
/* The options that the plan was made from, its axes with the plan's own edges and flow bins. Lives
 * as long as the plan. */
TALLY_API const tally_plan_options *tally_plan_options_get(const tally_plan *plan);
TALLY_API uint64_t tally_plan_bins(const tally_plan *plan);
TALLY_API uint64_t tally_plan_channels(const tally_plan *plan);

/* One line of text: method, parameters, why it was chosen. Valid as long as the plan; NULL of NULL.
 */
TALLY_API const char *tally_plan_describe(const tally_plan *plan);

/* The memory that tally_execute takes of its own, at most, to count n samples of the host (of all
 * channels; one batch, no mask) into an output of the host that it overwrites: bytes of the host,
 * and of the device's memory. Neither samples and output nor what the plan itself holds, which is
 * the edges and what finds bins by them, is in it. Some of it stays with the plan or its context
 * for the next call. A call that adds to an output, or of several batches, may take less or more.
 * Allocates little. Thread-safe. TALLY_ERROR_ARGUMENT for a NULL, TALLY_ERROR_MEMORY for more than
 * any machine has. */
TALLY_API tally_status tally_plan_memory(const tally_plan *plan, uint64_t n, uint64_t *host_bytes,
                                         uint64_t *device_bytes, tally_error *error);

/* How a plan's kernel is launched and what its compiler and device say of it; 0 where they do not
 * tell. */
typedef struct tally_kernel_info {
    size_t struct_size;
    uint32_t groups, group_size; /* of one launch */
    uint32_t local_bytes;        /* fast memory of a group */
    uint32_t registers;          /* of a work-item */
    uint32_t spill_bytes;        /* of a work-item, in slow memory */
    uint32_t groups_per_unit;    /* that one multiprocessor holds at once */
    uint32_t units;              /* multiprocessors */
    uint32_t unit_threads;       /* work-items that one of them holds at most */
} tally_kernel_info;

#define TALLY_KERNEL_INFO_INIT                                                                     \
    {                                                                                              \
        sizeof(tally_kernel_info), 0, 0, 0, 0, 0, 0, 0, 0                                          \
    }

/* For a launch on `n` samples. TALLY_ERROR_UNSUPPORTED for a plan on the CPU or of a method that
 * launches several kernels. Thread-safe. */
TALLY_API tally_status tally_plan_kernel(const tally_plan *plan, uint64_t n,
                                         tally_kernel_info *info, tally_error *error);

/* ---- Executing ---- */

/* What became of the samples that are in no bin. In several dimensions a sample is nan if any of
 * its coordinates is, else under or over by its first coordinate outside. Numbers of samples. */
typedef struct tally_flows {
    uint64_t under, over, nan, masked;
} tally_flows;

/* What a call does with what the output holds. A call that adds costs what its samples do, however
 * many bins there are, where it has fewer samples than bins. */
typedef enum tally_accumulate {
    TALLY_ACCUMULATE_NONE = 0, /* overwrites it */
    /* Adds to it. Only one call at a time may: what two add at once is partly lost. */
    TALLY_ACCUMULATE_ADD = 1,
    /* Adds by atomic additions: any number of calls, of any plans, threads and contexts, may add to
     * one output at once, and every sample is counted; in device memory on any number of streams of
     * one device. To read the counts, wait for the calls. For plans with u64 counters and without
     * weights; in device memory also without TALLY_FLOW_FAIL and with the samples there too; else
     * TALLY_ERROR_UNSUPPORTED. */
    TALLY_ACCUMULATE_ATOMIC = 2
} tally_accumulate;

/*
 * Where results go, all owned by the caller. With H = batches × active channels histograms, the
 * batch outermost:
 * - counts: H × bins of the plan's counter type (u64, u32, u16, u8), or f64 / i64 / tally_wide sums
 *   if weighted; aligned for its type;
 * - flows: H of them, or NULL;
 * - sum_squares: H × bins of Σw², required exactly when the plan has sum_squares;
 * - flow_sums: H × 4 sums of weights, of the counts' type: of the samples that `flows` numbers, in
 *   its order (under, over, nan, masked); weighted plans only, or NULL.
 * Sums of integer weights may pass int64 on the way: a call returns TALLY_ERROR_DATA only if a
 * whole sum, with what it is added to, does not fit, whatever the order, method and device.
 * Conservation: samples = Σ counts + under + over + nan + masked, for u64 and u32 counters.
 *
 * on_device: the pointers are device memory (CUDA device pointers, cl_mem objects from their first
 * byte). With samples in device memory too and a stream given, the call only puts its work on the
 * stream and returns; once repeated it allocates nothing. The stream must not be destroyed before
 * that work has run, nor the plan, which waits for it. A CUDA stream may be recording a graph: the
 * plan then keeps what the graph uses until it is destroyed. Without a stream the call waits for
 * the device. It also waits, and makes the output on the host, where the counts decide whether
 * there is one (TALLY_FLOW_FAIL, adding to u32 counters), for samples in host memory, for flow_sums
 * and for device_seconds. `progress` is asked once, before anything is written; a u64 count that is
 * added to wraps past 2^64-1.
 */
typedef struct tally_output {
    size_t struct_size;
    void *counts;
    tally_flows *flows;
    double *sum_squares;
    int32_t accumulate; /* a tally_accumulate */
    int32_t on_device;  /* nonzero: the pointers are device memory of the plan's device */
    void *flow_sums;
} tally_output;

#define TALLY_OUTPUT_INIT                                                                          \
    {                                                                                              \
        sizeof(tally_output), NULL, NULL, NULL, 0, 0, NULL                                         \
    }

/* What `counts` holds for a plan: samples counted (in its counter's type), or weights summed. */
typedef enum tally_result_kind {
    TALLY_RESULT_COUNTS = 0, /* uint64_t, where kept in a result */
    TALLY_RESULT_SUMS_F64 = 1,
    TALLY_RESULT_SUMS_I64 = 2,
    TALLY_RESULT_SUMS_WIDE = 3 /* tally_wide: of a plan with weight_limit */
} tally_result_kind;

/* A sum of float weights: low + 2^64 × high whole units. The unit is 2^-63 of the smallest power of
 * two above the plan's weight_limit; each weight is rounded to a multiple of it (ties to even),
 * which leaves float32 weights from 2^-39 of the limit and float64 weights from 2^-10 of it as they
 * are. Sums of one limit are added by tally_wide_add, in any order; fewer than 2^64 weights cannot
 * pass it. */
typedef struct tally_wide {
    uint64_t low;
    int64_t high;
} tally_wide;

/* Adds each of `n` sums at `from` to the one at `into`. NULL adds nothing. Thread-safe for
 * different `into`. */
TALLY_API void tally_wide_add(tally_wide *into, const tally_wide *from, uint64_t n);
/* Writes each of `n` sums of a plan with `weight_limit` as the nearest float64, ties to even: the
 * only rounding of a sum. `to` may be `sums` itself. Thread-safe. */
TALLY_API tally_status tally_wide_round(const tally_wide *sums, uint64_t n, double weight_limit,
                                        double *to, tally_error *error);

typedef struct tally_execute_options {
    size_t struct_size;
    /* batches × rows × columns of u8, channels 1: an element is counted where it is nonzero. NULL:
     * all. A dimension of extent 1 is repeated along the samples'. Mask and weights lie in the
     * memory that the samples do. */
    const tally_view *mask;
    /* batches × rows × columns (× channels, or 1 for all channels) of the plan's weight dtype. */
    const tally_view *weights;
    void *stream; /* native stream (cudaStream_t, cl_command_queue) or NULL; CPU: must be NULL */
    /* Called now and then with the elements done so far, from the calling thread; a nonzero return
     * cancels: TALLY_ERROR_CANCELLED, outputs untouched. May be NULL. */
    int (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
    /* If not NULL, gets the seconds that the device spent counting, by its own clock, copies not
     * included; 0 where there is no such clock (CPU). */
    double *device_seconds;
    /* If not NULL, gets the part of those seconds that went into adding up partial histograms; 0
     * where the kernel that counts adds them up itself. The device is waited for after each launch,
     * so the whole takes a little longer. */
    double *merge_seconds;
} tally_execute_options;

#define TALLY_EXECUTE_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(tally_execute_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL                    \
    }

/* Counts `views` (one for each axis, same extents) into `output`. `options` may be NULL. On failure
 * the outputs are as they were. Safe from many threads on one plan, each with an output of its own;
 * calls that write one output at the same time need TALLY_ACCUMULATE_ATOMIC, or counts are lost. */
TALLY_API tally_status tally_execute(const tally_plan *plan, const tally_view *views,
                                     const tally_execute_options *options,
                                     const tally_output *output, tally_error *error);

/* The same by the slow obvious reference, whatever the plan's method and device (host data only).
 */
TALLY_API tally_status tally_execute_reference(const tally_plan *plan, const tally_view *views,
                                               const tally_execute_options *options,
                                               const tally_output *output, tally_error *error);

/* Counts `n` packed samples in host memory on the processor, in one call: counts[axis->bins] is
 * overwritten, and `flows`, unless it is NULL. The axis has no flow bins. Without a context and a
 * plan: the library keeps one context, made by the first such call, with a thread a processor and
 * no driver of another device opened, until the process ends, and the plans of the last few axes,
 * dtypes and orders of magnitude of `n`, so that a repeated call plans nothing. A child process
 * that was forked begins with a context of its own. On failure the outputs are as they were.
 * Thread-safe. */
TALLY_API tally_status tally_histogram(const void *samples, tally_dtype dtype, uint64_t n,
                                       const tally_axis *axis, uint64_t *counts, tally_flows *flows,
                                       tally_error *error);

#ifdef __cplusplus
}
#endif

#include <tally/methods.h>
#include <tally/parts.h>
#include <tally/quantile.h>
#include <tally/rules.h>
#include <tally/statistics.h>

#endif
