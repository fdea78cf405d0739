/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tally's files: results that are kept, merged, written and drawn; inputs that are read chunk by
 * chunk. By libtally-io, which uses libtally and the libraries of the formats.
 *
 * The rules are those of tally/tally.h.
 */
#ifndef TALLY_IO_H
#define TALLY_IO_H

#include <tally/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Words ---- */

/* The different values of a column of words, and a code for each: 0, 1, ... by when they were met,
 * which threads decide. Inputs that are given the same one share its codes; any number of them at
 * once. At most 2^24, and 1 GiB; a column with more is an error of the input. */
typedef struct tally_words tally_words;

TALLY_API tally_status tally_words_create(tally_words **words, tally_error *error);
/* After the inputs that use it; NULL is fine. */
TALLY_API void tally_words_destroy(tally_words *words);
/* How many there are; more than were handed out where text was read ahead. */
TALLY_API uint64_t tally_words_count(const tally_words *words);
/* The word of a code, *size bytes and a NUL, which `words` owns until it is destroyed; NULL for a
 * code that is not below tally_words_count, or that was not handed out (yet). From any thread. */
TALLY_API const char *tally_words_text(const tally_words *words, uint64_t code, size_t *size);
/* Adds a word of `size` bytes, which are copied, unless it is there. Added in the same order before
 * an input is read, words have the same codes in several processes. Fails for a word with a NUL,
 * and when memory or codes are out. From any thread. */
TALLY_API tally_status tally_words_add(tally_words *words, const char *text, size_t size,
                                       tally_error *error);

/* ---- Times ---- */

/* What numbers that are dates and times count since 1970-01-01T00:00Z, in the proleptic Gregorian
 * calendar, without leap seconds. */
typedef enum tally_time {
    TALLY_TIME_NONE = 0, /* they are no times */
    TALLY_TIME_DAY = 1,
    TALLY_TIME_SECOND = 2,
    TALLY_TIME_MILLISECOND = 3,
    TALLY_TIME_MICROSECOND = 4,
    TALLY_TIME_NANOSECOND = 5
} tally_time;

/* ---- Results ---- */

/* Axes and one or more named histograms with their flows: what is saved, merged and drawn. Not
 * thread-safe; different results are independent. */
typedef struct tally_result tally_result;

/* An all-zero result for `plan`'s axes with `histograms` histograms (the plan's active channels ×
 * batches). `names` may be NULL or have NULL entries. Counters are u64, or the weighted sums. */
TALLY_API tally_status tally_result_create(const tally_plan *plan, uint64_t histograms,
                                           const char *const *names, tally_result **result,
                                           tally_error *error);
TALLY_API void tally_result_destroy(tally_result *result); /* NULL is fine */

/* An output that accumulates into `result`, no profile, for tally_execute with a plan of the same
 * axes, u64 (or weighted) counters and as many histograms. Valid until the result is destroyed. Of
 * a plan with weight_limit it holds tally_wide, which are saved, and added by tally_result_merge;
 * all else of the result are these sums, rounded, of TALLY_RESULT_SUMS_F64. */
TALLY_API tally_output tally_result_output(tally_result *result);

/* What a result holds; the pointers belong to it and live until it is destroyed. */
typedef struct tally_result_info {
    size_t struct_size;
    tally_result_kind kind;
    uint32_t dimensions;
    uint64_t histograms;
    uint64_t bins;     /* of one histogram, product over the axes */
    uint64_t samples;  /* all that were offered, Σ over histograms of bins and flows for counts */
    tally_dtype dtype; /* of the samples (first axis), 0 unknown */
    const char *device, *method;
    double seconds;   /* spent counting, 0 unknown */
    uint32_t sources; /* names that tally_result_source gives */
    tally_counter counter;
    int32_t has_squares;
    uint64_t sources_total; /* noted and merged; `sources` are the first different ones of them */
} tally_result_info;

#define TALLY_RESULT_INFO_INIT                                                                     \
    {                                                                                              \
        sizeof(tally_result_info), (tally_result_kind)0, 0, 0, 0, 0, (tally_dtype)0, NULL, NULL,   \
            0, 0, (tally_counter)0, 0, 0                                                           \
    }

TALLY_API tally_status tally_result_info_get(const tally_result *result, tally_result_info *info);
/* Axis d: its description (kind, bins, lo, hi, first, last; `edges` of TALLY_AXIS_EDGES and
 * TALLY_AXIS_LOG, else NULL: tally_axis_edge has them of every kind). NULL if none. */
TALLY_API const tally_axis *tally_result_axis(const tally_result *result, uint32_t d);
TALLY_API const char *tally_result_name(const tally_result *result, uint64_t h);
TALLY_API const char *tally_result_source(const tally_result *result, uint32_t i);
TALLY_API const void *tally_result_counts(const tally_result *result, uint64_t h);
TALLY_API const tally_flows *tally_result_flows(const tally_result *result, uint64_t h);
TALLY_API const double *tally_result_squares(const tally_result *result, uint64_t h);
/* The sums of weights that tally_output's flow_sums has: four of the counts' type. NULL for counts,
 * and where a saved result does not say them. */
TALLY_API const void *tally_result_flow_sums(const tally_result *result, uint64_t h);

/* Names of sources that a result keeps: the first different ones, whatever is noted or merged. */
#define TALLY_MAX_SOURCES 32

/* Quantiles that the caller found, by tally_quantiles or a tally_quantile_search, of all samples of
 * each histogram that are no NaN: at q[0 … count), each from 0 to 1, values[histograms × count];
 * NaN where there is no sample. They are copied, shown and saved; a q of 0.5 is the summary's
 * median. `count` 0 drops them, as merging does. For counts, not sums, of one axis of numbers or
 * times. */
TALLY_API tally_status tally_result_quantiles_set(tally_result *result, uint32_t count,
                                                  const double *q, const double *values,
                                                  tally_error *error);
/* How many there are, of histogram h at *q in *values, unless these are NULL. */
TALLY_API uint32_t tally_result_quantiles_get(const tally_result *result, uint64_t h,
                                              const double **q, const double **values);

/* What goes into the saved form; strings are copied, NULL leaves a field alone. */
TALLY_API tally_status tally_result_note(tally_result *result, const char *source,
                                         const char *device, const char *method, double seconds,
                                         uint64_t samples, tally_error *error);

/* Narrows how the counts are shown and saved: a count above the counter's limit sticks there (sat)
 * or is refused (u32). Merging results of saturating counters saturates. */
TALLY_API tally_status tally_result_narrow(tally_result *result, tally_counter counter,
                                           tally_error *error);

/* Adds `from` to `into`, in memory that does not grow with their number: same axes (bit-identical
 * edges; of words any), names (of tally_result_by any) and kind, else TALLY_ERROR_ARGUMENT saying
 * what differs; refuses, changing nothing, if a count would pass 2^64-1. Words and groups are
 * sorted anew; where several are one together (`most`, tally_result_top), others are refused. */
TALLY_API tally_status tally_result_merge(tally_result *into, const tally_result *from,
                                          tally_error *error);

/* A new result whose axis `axis`, of integers from 0, counted codes of `words`
 * (tally_input_options): its bins are the words that were counted, with their text as labels, the
 * largest count or sum first, equal ones in the order of their bytes. Release with
 * tally_result_destroy; so below. */
TALLY_API tally_status tally_result_words(const tally_result *result, uint32_t axis,
                                          const tally_words *words, tally_result **named,
                                          tally_error *error);
/* A new result with the first `most` bins of such an axis, and all others in one more, the last,
 * labelled "N other values". */
TALLY_API tally_status tally_result_top(const tally_result *result, uint32_t axis, uint64_t most,
                                        tally_result **top, tally_error *error);
/* A histogram for each word, called by its text, of a joint histogram of codes of `words` and
 * values: as tally_result_words orders them, words without samples left out, and with `most` above
 * 0 all but so many together. flows[code] are the samples in no bin of the second axis. */
TALLY_API tally_status tally_result_by(const tally_result *joint, const tally_words *words,
                                       const tally_flows *flows, uint64_t most,
                                       tally_result **result, tally_error *error);
/* The text of a bin that is a word, UTF-8 (what is none is written as \xhh); NULL for any other. */
TALLY_API const char *tally_result_label(const tally_result *result, uint32_t axis, uint64_t bin);

/* The unit of an axis of times: its edges are shown as dates. TALLY_TIME_NONE of any other. */
TALLY_API tally_time tally_result_time(const tally_result *result, uint32_t axis);
/* Makes `axis`, of numbers in that unit, one of times, or of numbers again (TALLY_TIME_NONE). */
TALLY_API tally_status tally_result_time_set(tally_result *result, uint32_t axis, tally_time time,
                                             tally_error *error);

/* ---- Profiles ---- */

/* A result with statistics (tally_bin_statistics) of columns of values in the bins of an axis: a
 * histogram for each column, called by its name. Its counts, and flows, are those of the values.
 * It is merged, saved, joined and drawn as any other.
 *
 * One without values, for the axis of `plan`, which has one and u64 counters; `column` names it. */
TALLY_API tally_status tally_profile_create(const tally_plan *plan, const char *column,
                                            uint32_t values, const char *const *names,
                                            tally_result **profile, tally_error *error);
/* Adds what tally_bin_statistics found for the same plan and as many columns of values: all arrays
 * but the weights', of one histogram for each. On failure nothing is added. */
TALLY_API tally_status tally_profile_add(tally_result *profile, const tally_statistics *bins,
                                         const tally_statistics *flows, tally_error *error);
/* Those of histogram h, `bins` of tally_result_info or four, in the result's memory, to be read
 * only; NULL pointers if it is no profile. */
TALLY_API tally_statistics tally_profile_bins(const tally_result *profile, uint64_t h);
TALLY_API tally_statistics tally_profile_flows(const tally_result *profile, uint64_t h);
/* The name of what is binned; NULL if it is no profile. */
TALLY_API const char *tally_profile_column(const tally_result *profile);
/* The unit of histogram h's values, if they are times, as tally_result_time has it of an axis. */
TALLY_API tally_time tally_profile_time(const tally_result *profile, uint64_t h);
TALLY_API tally_status tally_profile_time_set(tally_result *profile, uint64_t h, tally_time time,
                                              tally_error *error);

/* What is shown of a profile, as bits: the numbers of values and their sum and mean, the mean's
 * standard error sd/√n, and with n - 1 the standard deviation and its square. */
typedef enum tally_statistic {
    TALLY_STATISTIC_COUNT = 1,
    TALLY_STATISTIC_SUM = 2,
    TALLY_STATISTIC_MEAN = 4,
    TALLY_STATISTIC_ERROR = 8,
    TALLY_STATISTIC_SD = 16,
    TALLY_STATISTIC_VARIANCE = 32,
    TALLY_STATISTIC_MIN = 64,
    TALLY_STATISTIC_MAX = 128
} tally_statistic;

/* "count", "sum", "mean", "error", "sd", "variance", "min", "max"; 0 when `name` is none. */
TALLY_API int tally_statistic_parse(const char *name);

/* ---- What a result says ---- */

/* A new result of the axes axes[0 … count), in that order, each once: summed over the others. A
 * sample outside a summed axis stays where it was: in the flows, which are copied with names and
 * notes, as they are of all axes together. If the axes have flow bins (TALLY_FLOW_BIN), these are
 * summed as all bins are, and the flows of axis d are the ends of its projection. TALLY_ERROR_DATA
 * where a sum does not fit its counter; saturating counters saturate. Release with
 * tally_result_destroy. */
TALLY_API tally_status tally_result_project(const tally_result *result, const uint32_t *axes,
                                            uint32_t count, tally_result **projected,
                                            tally_error *error);
/* A new result with `join` neighbouring bins of axis `axis` in one, from the first on; the last
 * holds what is left. Its kind is TALLY_AXIS_EDGES unless the old kind's formula gives the same
 * edges. Flows, names, notes, errors and release as for tally_result_project. Not for categories.
 */
TALLY_API tally_status tally_result_rebin(const tally_result *result, uint32_t axis, uint64_t join,
                                          tally_result **rebinned, tally_error *error);

/* Writes the density of histogram h, `bins` of tally_result_info: count / (Σ counts × volume), with
 * a bin's volume the product of its widths, in the axes' units; flows do not count. So for weights.
 * TALLY_ERROR_DATA, as for the two below, where the bins do not add up to more than 0 or a count is
 * stuck at the limit of its counter. */
TALLY_API tally_status tally_result_density(const tally_result *result, uint64_t h, double *density,
                                            tally_error *error);

/* What counts leave open is where in its bin a sample is: the true value is from lo to hi (but for
 * rounding), `value` is a guess between them. In the samples' unit. */
typedef struct tally_estimate {
    double value, lo, hi;
} tally_estimate;

/* The mean of the samples in the bins of histogram h; flows do not count. lo is with every sample
 * at its bin's lower edge, hi at the upper one, value in the middle. On an integer axis with
 * integer samples all three are the mean. Where samples were clamped into an end bin that is not
 * empty, lo or hi is infinite. Of weighted results the weighted mean; a negative sum is
 * TALLY_ERROR_DATA. The result must have one axis (tally_result_project), not of categories. */
TALLY_API tally_status tally_result_mean(const tally_result *result, uint64_t h,
                                         tally_estimate *mean, tally_error *error);
/* The quantile q, 0 … 1, of histogram h: of the N samples in bins, under and over, the one of rank
 * max(1, ceil(q × N)), rounded as float64, in ascending order; of weighted results the first at
 * which the sum of weights reaches q of all. lo and hi are its bin's edges (infinite, or equal, as
 * for the mean), value a linear interpolation: as if the bin's samples lay evenly in it. If it is
 * among samples under or over, or weights of these are unknown: TALLY_ERROR_DATA. Axes as for the
 * mean. */
TALLY_API tally_status tally_result_quantile(const tally_result *result, uint64_t h, double q,
                                             tally_estimate *quantile, tally_error *error);

/* ---- Writing and reading results ---- */

typedef enum tally_format {
    TALLY_FORMAT_TABLE = 0,
    TALLY_FORMAT_CSV = 1,
    TALLY_FORMAT_JSON = 2,
    TALLY_FORMAT_NPY = 3,
    TALLY_FORMAT_PNG = 4,
    TALLY_FORMAT_SVG = 5
} tally_format;

/* -1 when `name` is no format's. */
TALLY_API int tally_format_parse(const char *name);

typedef struct tally_write_options {
    size_t struct_size;
    uint32_t width;  /* table: columns, 0 for 80; pictures: pixels, 0 for 1000 */
    uint32_t height; /* pictures: pixels, 0 for 600 */
    int32_t color;   /* table: ANSI colours */
    int32_t ascii;   /* table: bars of # instead of eighth blocks */
    int32_t log_counts;
    uint32_t max_rows; /* table: neighbouring bins are shown together above this; 0 for 32 */
    const char *title; /* pictures; NULL for the source's name */
    int32_t array;     /* JSON: an array even of one result */
    int32_t no_header; /* CSV: without the first line; table: without the lines above the rows that
                          say file, samples and columns */
    uint32_t statistics; /* profiles: which are shown (tally_statistic), 0: in tables and CSV all
                            but some, in pictures the mean with its error; they draw one, or these
                            two. JSON and results that are no profile take none */
} tally_write_options;

#define TALLY_WRITE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(tally_write_options), 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0                               \
    }

/* Takes `size` bytes and returns 0, or a nonzero errno value. */
typedef int (*tally_sink)(void *user, const void *bytes, size_t size);

/* Writes `count` results (a JSON array when count > 1; other formats take exactly one). JSON of a
 * Hist that Python saved with means is TALLY_ERROR_UNSUPPORTED. */
TALLY_API tally_status tally_result_write(const tally_result *const *results, size_t count,
                                          tally_format format, const tally_write_options *options,
                                          tally_sink sink, void *user, tally_error *error);
/* The same to `path`, through a temporary file in its folder that takes its place when whole: on
 * failure nothing is left and an older file stays. */
TALLY_API tally_status tally_result_save(const tally_result *const *results, size_t count,
                                         tally_format format, const tally_write_options *options,
                                         const char *path, tally_error *error);

/* Reads saved JSON: one object, or element `index` of an array. `name` is for messages. The whole
 * text is checked each time; tally_result_parse_all does so once for all of an array. */
TALLY_API tally_status tally_result_parse(const char *text, size_t size, const char *name,
                                          size_t index, tally_result **result, tally_error *error);
/* All of them: *count is 1 for an object and 0 for an empty array, of which *results is NULL.
 * Release with tally_result_destroy_all. */
TALLY_API tally_status tally_result_parse_all(const char *text, size_t size, const char *name,
                                              tally_result ***results, size_t *count,
                                              tally_error *error);
TALLY_API void tally_result_destroy_all(tally_result **results, size_t count); /* NULL is fine */

/* ---- Inputs ---- */

/* A file, pipe or standard input, decoded chunk by chunk. One thread at a time. */
typedef struct tally_input tally_input;

/* Which columns of integers in text are i64 or u64, not f64, if every value is one and all fit.
 * What f64 does not hold is rounded (tally_input_rounded). */
typedef enum tally_integers {
    TALLY_INTEGERS_LARGE = 0, /* those with one beyond 2^53 among the first */
    TALLY_INTEGERS_ALL,       /* every column: costs a pass over the text */
    TALLY_INTEGERS_NONE
} tally_integers;

typedef struct tally_input_options {
    size_t struct_size;
    tally_dtype dtype;     /* raw: required; else 0 */
    uint64_t shape[3];     /* raw: rows, columns, channels; all 0: one column to the end */
    uint64_t offset_bytes; /* raw */
    const char *const
        *columns; /* tables: names or numbers from 1, one a dimension; NULL: the only one */
    uint32_t columns_count;
    uint64_t row_begin, row_end; /* region; row_end 0: to the end */
    uint64_t column_begin, column_end;
    uint64_t chunk_bytes; /* most decoded bytes a read hands out, 0 for 4 MiB */
    int32_t rewindable;   /* nonzero: tally_input_rewind will be called; a large pipe
                             is spooled to a temporary file, text and JSON lines are kept parsed */
    uint32_t threads;     /* that read and decode, the caller's included; 0 for one a processor */
    int32_t header;       /* text: 1 the first record is headings, -1 it is data, 0 it tells */
    char delimiter;       /* text: between fields, ' ' for runs of white space; 0: it tells */
    const char *missing;  /* text, JSON lines: more words for missing, with commas between */
    uint64_t page; /* TIFF, PNM, PNG, GIF, WebP: which image of several, from 1; 0: all, which must
                      be of one dtype and channels */
    const char *inside; /* HDF5: the dataset that is read, FITS: the extension, ZIP (npz): the file;
                           NULL: as the path says, else the only one */
    tally_words *const *words; /* columns_count of them, or one without columns; NULL, or an entry
                                  that is: numbers are asked for */
    int32_t all_words;   /* 0: a column with an entry in `words` is of words if it is stored as text
                            or, of text and JSON lines, its first values, 100 at most, are not
                            numbers; 1: it is in any case, of one channel */
    int32_t whole_table; /* text, JSON lines: without columns, a table of several is opened for
                            tally_summary_create, which is all that it is good for then; 2: one
                            of any format with columns, which are read one by one */
    char decimal;        /* text: '.' or ',', which numbers have as their point; 0: '.' */
    char thousands;      /* text: one of , . ' _ and a space between thousands; 0: nothing */
    int32_t byte_order;  /* raw: of samples, 1 big-endian, -1 little-endian, 0 the host's */
    tally_integers integers; /* text, JSON lines: which columns of integers are i64 or u64 */
    uint32_t times; /* text, JSON lines: bit d: the d-th column is of dates and times; others are
                       if their first values, 100 at most, are */
    int32_t masked; /* Parquet, Arrow, FITS, HDF5, text, JSON lines: columns that are all i64 or
                       all u64 stay so where values are missing, and tally_input_mask says where;
                       0: they are f64 then, and an integer beyond 2^53 is refused, or rounded in
                       text */
} tally_input_options;

#define TALLY_INPUT_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(tally_input_options), (tally_dtype)0, {0, 0, 0}, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0,   \
            0, 0, NULL, 0, NULL, NULL, 0, 0, 0, 0, 0, TALLY_INTEGERS_LARGE, 0, 0                   \
    }

typedef struct tally_input_info {
    size_t struct_size;
    const char *format; /* "png", "jpeg", "tiff", "pnm", "gif", "bmp", "webp", "npy", "parquet",
                           "arrow", "hdf5", "fits", "jsonl", "text", "raw" */
    const char *compression; /* "gzip", "zstd", "xz", "bzip2", "deflate" (in ZIP) or "" */
    tally_dtype dtype;
    uint64_t rows, columns; /* 0 rows: unknown before the end */
    uint64_t channels;
    uint32_t dimensions; /* views that one read hands out: columns asked for; else 1 */
    uint64_t size_bytes; /* of the file as stored, 0 unknown */
    int32_t is_image;
    int32_t is_spooled; /* a pipe that was copied to a temporary file */
    uint32_t words;     /* bit d: view d has codes of words, as f64, NaN for missing */
    uint32_t table;     /* whole_table: its columns, 1 if they are read one by one; 0: it is not
                           open so */
    uint32_t booleans;  /* bit d: view d is stored as booleans, 0 and 1 */
    int32_t is_fortran; /* npy: columns lie one behind the other (Fortran order) */
} tally_input_info;

#define TALLY_INPUT_INFO_INIT                                                                      \
    {                                                                                              \
        sizeof(tally_input_info), NULL, NULL, (tally_dtype)0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0      \
    }

/* Opens `path` ("-" is standard input) and finds out what it holds from its content. Where no file
 * is called `path`, it may be FILE:INSIDE, with what `inside` of the options says. `options` may be
 * NULL. Messages carry the path and the place (byte, or line and column). Of a file what is
 * there now is read, also if it grows; one that is cut before that was read is TALLY_ERROR_IO. */
TALLY_API tally_status tally_input_open(const char *path, const tally_input_options *options,
                                        tally_input **input, tally_error *error);
TALLY_API void tally_input_close(tally_input *input); /* NULL is fine */
/* What this build reads and draws by other libraries, such as "PNG, gzip (ISA-L), zstd, pictures".
 * Never NULL. */
TALLY_API const char *tally_io_libraries(void);
/* How many bytes of `path` name the file: all of them, unless it is FILE:INSIDE as above; 0 of
 * NULL. */
TALLY_API size_t tally_input_file_length(const char *path);
TALLY_API tally_status tally_input_info_get(const tally_input *input, tally_input_info *info);
/* "R", "G", "B", "A", "grey", a column's heading … */
TALLY_API const char *tally_input_channel_name(const tally_input *input, uint64_t channel);

/* What the numbers of a view count if they are dates and times: microseconds, as f64, in text and
 * JSON lines, else in the file's unit. TALLY_TIME_NONE: they are none. */
TALLY_API tally_time tally_input_time(const tally_input *input, uint32_t view);

/* Nonzero when an integer beyond 2^53 has been rounded so far: in text and JSON lines with
 * fractions or, without `masked`, missing values in the same column, with other columns, or from a
 * pipe that is not rewindable. Elsewhere a column of which all are 64-bit integers, some beyond
 * 2^53, is i64 or u64.
 */
TALLY_API int32_t tally_input_rounded(const tally_input *input);

/* The next chunk: fills views[0 … dimensions), valid until the next call on `input`. *done is set
 * instead when there is no more. */
TALLY_API tally_status tally_input_read(tally_input *input, tally_view *views, int *done,
                                        tally_error *error);
/* All of the input as views with a source, which read the file when they are counted: every thread
 * its own part. Fills views[0 … dimensions). For Parquet, Arrow and FITS, and for uncompressed
 * samples in a file: raw data, npy, PNM, TIFF, HDF5 without scales and missing values. Else
 * views->source is NULL, and chunks are what there is. Valid until `input` is rewound or closed;
 * nothing is read, and tally_input_read goes on as if it had not been called. */
TALLY_API tally_status tally_input_view(tally_input *input, tally_view *views, tally_error *error);
/* Of an input that was opened with `masked`: the mask of the views that were handed out last, by
 * either call, for tally_execute. What it leaves out is missing in some column, as NaN is in those
 * of floats. Data and source are NULL if nothing is. Valid as long as the views. */
TALLY_API tally_status tally_input_mask(const tally_input *input, tally_view *mask,
                                        tally_error *error);
/* Adds all of `input` to `output` (TALLY_ACCUMULATE_ADD), as tally_execute of its view does,
 * without looking at each value: numbers of values in dictionaries are counted, and the plan's axis
 * is applied once to each value. *counted is 0, and nothing was done, where that is not possible or
 * not faster. It is of a column of Parquet or Arrow that has dictionaries, read whole, in at least
 * as many row groups or batches as `input` has threads; for a plan on the processor of one axis,
 * u64 counts and at most 2^20 bins. What `masked` leaves out is
 * counted as NaN. On failure the output is as it was. */
TALLY_API tally_status tally_input_count(tally_input *input, const tally_plan *plan,
                                         const tally_output *output, int32_t *counted,
                                         tally_error *error);
/* Adds all of `input` to `stats`, as tally_stats_add of its view does without moments, in the same
 * way and where that is possible: what is in a dictionary but in no row does not count. */
TALLY_API tally_status tally_input_stats(tally_input *input, tally_context *context,
                                         tally_stats *stats, int32_t *counted, tally_error *error);
/* What is in a table, column by column: names, types, missing values, distribution. */
typedef struct tally_summary tally_summary;

/* Reads a whole table, with all the input's threads: `input` was opened with `whole_table`, and its
 * info.table is not 0. `name` is the table's. Release with tally_summary_destroy. */
TALLY_API tally_status tally_summary_create(tally_input *input, const char *name,
                                            tally_summary **summary, tally_error *error);
/* The same of a file of any format with columns; *summary is NULL where it has none. A column of
 * those that are read one by one says why where it cannot be. */
TALLY_API tally_status tally_summary_open(const char *path, const tally_input_options *options,
                                          tally_summary **summary, tally_error *error);
TALLY_API void tally_summary_destroy(tally_summary *summary); /* NULL is fine */
/* As TALLY_FORMAT_TABLE, _JSON (an array of several) or _CSV; tally_summary_save as
 * tally_result_save. */
TALLY_API tally_status tally_summary_write(const tally_summary *const *summaries, size_t count,
                                           tally_format format, const tally_write_options *options,
                                           tally_sink sink, void *user, tally_error *error);
TALLY_API tally_status tally_summary_save(const tally_summary *const *summaries, size_t count,
                                          tally_format format, const tally_write_options *options,
                                          const char *path, tally_error *error);

/* Back to the start. Fails for a pipe opened without `rewindable`. */
TALLY_API tally_status tally_input_rewind(tally_input *input, tally_error *error);
/* Bytes of the stored file consumed so far. */
TALLY_API uint64_t tally_input_position(const tally_input *input);

/* Writes an image of u8 or u16 samples, 1 to 4 channels, packed or with a row stride: PNG or PNM by
 * the path's ending (.png, .pgm, .ppm, .pam). Through a temporary file, as tally_result_save. */
TALLY_API tally_status tally_image_save(const char *path, const tally_view *image,
                                        tally_error *error);

#ifdef __cplusplus
}
#endif

#endif
