/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet: what its parts share. A file is row groups of column chunks of pages; its footer says
 * where they are. parquet_footer.c reads that, parquet_pages.c goes from page to page of one chunk,
 * parquet_values.c decodes a page's values, parquet.c makes an input of chosen columns. */
#ifndef TY_PARQUET_H
#define TY_PARQUET_H

#include "io/codes.h"
#include "io/input.h"
#include "io/thrift.h"
#include "io/words.h"

/* The format's numbers. */
enum {
    TY_PQ_BOOLEAN,
    TY_PQ_INT32,
    TY_PQ_INT64,
    TY_PQ_INT96,
    TY_PQ_FLOAT,
    TY_PQ_DOUBLE,
    TY_PQ_BYTE_ARRAY,
    TY_PQ_FIXED
};
enum {
    TY_PQ_PLAIN = 0,
    TY_PQ_PLAIN_DICTIONARY = 2,
    TY_PQ_RLE = 3,
    TY_PQ_DELTA_PACKED = 5,
    TY_PQ_DELTA_LENGTHS = 6,
    TY_PQ_DELTA_PREFIXES = 7, /* DELTA_BYTE_ARRAY */
    TY_PQ_RLE_DICTIONARY = 8,
    TY_PQ_BYTE_STREAM_SPLIT = 9
};
enum { TY_PQ_DATA_PAGE, TY_PQ_INDEX_PAGE, TY_PQ_DICTIONARY_PAGE, TY_PQ_DATA_PAGE_V2 };
enum { TY_PQ_NONE, TY_PQ_SNAPPY, TY_PQ_GZIP, TY_PQ_ZSTD = 6, TY_PQ_LZ4_RAW = 7 };

/* ---- parquet_footer.c ---- */

/* A column of the schema: one that has values. */
typedef struct ty_pq_column {
    char *name; /* with those of the groups it is in: "a.b" */
    int type, type_bytes;
    int levels;      /* its definition levels are 0 … levels, and `levels` is a value */
    int repeated;    /* a row may have any number of values */
    int is_unsigned; /* INT32 or INT64 */
    int is_f16;      /* FIXED of 2 bytes */
    tally_time time; /* dates and timestamps, in this unit */
    int is_decimal;  /* INT32, INT64 or FIXED, times 10^-scale */
    int scale;
} ty_pq_column;

/* A column's part of a row group. */
typedef struct ty_pq_chunk {
    uint64_t begin, end; /* of its pages in the file */
    uint64_t values;     /* rows, missing ones too */
    int codec;
    int no_missing; /* the footer says that none is */
    int is_coded;   /* it has a dictionary, and the footer knows no page of plain values */
} ty_pq_chunk;

typedef struct ty_pq_footer {
    uint64_t rows;
    size_t column_count;
    ty_pq_column *columns;
    size_t group_count;
    uint64_t *group_rows;
} ty_pq_footer;

/* From the footer's bytes, without row groups. What it holds is released by ty_pq_footer_close. */
tally_status ty_pq_footer_open(const unsigned char *bytes, size_t size, const char *name,
                               ty_pq_footer *footer, tally_error *error);
void ty_pq_footer_close(ty_pq_footer *footer);
/* The row groups, and the chunks of columns picks[0 … count): those of group g to chunks[g × count]
 * and behind, to be released. No chunk reaches beyond `data_end` bytes of the file. */
tally_status ty_pq_groups(const unsigned char *bytes, size_t size, const char *name,
                          const uint32_t *picks, uint32_t count, uint64_t data_end,
                          ty_pq_footer *footer, ty_pq_chunk **chunks, tally_error *error);

/* ---- parquet_values.c ---- */

/* Runs of equal numbers and packed ones in turn. */
typedef struct ty_pq_runs {
    ty_thrift bytes;
    unsigned bits; /* of a number, 0 … 32 */
    uint64_t left; /* numbers left of the run that is open */
    int packed;    /* that run is `packed_at` and `done` of it; else all are `value` */
    uint32_t value;
    const unsigned char *packed_at;
    uint64_t done;
} ty_pq_runs;

void ty_pq_runs_begin(ty_pq_runs *runs, const unsigned char *at, size_t size, unsigned bits);
/* Opens the next run if none is open: how many numbers it has left, at most `most`; 0 when damaged.
 */
size_t ty_pq_runs_open(ty_pq_runs *runs, size_t most);
/* `count` numbers of a packed run that is open. There are 8 bytes to read behind the page. */
void ty_pq_runs_unpack(ty_pq_runs *runs, size_t count, uint32_t *numbers);

typedef enum ty_pq_fault {
    TY_PQ_FINE = 0,
    TY_PQ_DAMAGED = 1,
    TY_PQ_INEXACT = 2, /* an integer that float64 has not */
    TY_PQ_WORDS = 3    /* a word could not be kept */
} ty_pq_fault;

/* How a column's values are handed out. */
typedef struct ty_pq_target {
    const ty_pq_column *column;
    tally_dtype dtype;
    size_t bytes;       /* of a value as stored, fixed length; 0 for booleans and words */
    tally_words *words; /* of BYTE_ARRAY: values are codes of these, as float64 */
    int masked;         /* integers, 0 where a value is missing: a mask says where */
} ty_pq_target;

/* Differences of neighbours in blocks of four or so parts, each with its own number of bits. */
typedef struct ty_pq_deltas {
    ty_thrift bytes;
    uint64_t left; /* values, the next one included */
    uint64_t value, smallest;
    uint64_t part_size, parts, part; /* values a part; parts a block; the one that is open */
    uint64_t part_left, part_done;
    const unsigned char *widths, *packed;
    int first;
} ty_pq_deltas;

typedef struct ty_pq_values {
    ty_pq_target target;
    int encoding;
    const unsigned char *at,
        *end; /* PLAIN, DELTA_LENGTHS, DELTA_PREFIXES: bytes not read yet; BYTE_STREAM_SPLIT: all */
    uint64_t done;   /* values read of those */
    ty_pq_runs runs; /* dictionary numbers, booleans */
    ty_pq_deltas deltas, prefixes;
    unsigned char *last; /* DELTA_PREFIXES: the value before, and space for a page's bytes */
    size_t last_size;
    const unsigned char *dictionary; /* in target.dtype */
    size_t dictionary_count;
} ty_pq_values;

/* The values of a page, [at, end), with 16 readable bytes behind. */
ty_pq_fault ty_pq_values_begin(ty_pq_values *values, int encoding, const unsigned char *at,
                               const unsigned char *end);
/* The next `count` of them, without the missing ones, in target.dtype. */
ty_pq_fault ty_pq_values_read(ty_pq_values *values, size_t count, void *into);
/* `count` words as stored, each behind its length, from *at on, which is moved behind them. */
ty_pq_fault ty_pq_convert_words(const ty_pq_target *target, const unsigned char **at,
                                const unsigned char *end, size_t count, double *into);
/* `count` values as stored, to target.dtype. */
ty_pq_fault ty_pq_convert(const ty_pq_target *target, const unsigned char *stored, size_t count,
                          void *into);

/* ---- parquet_pages.c ---- */

/* Where a column is read. */
typedef struct ty_pq_cursor {
    const char *name; /* the file's */
    int file;
    uint64_t start; /* of the Parquet data in it */
    const ty_pq_chunk *chunk;
    uint64_t next;        /* the next page's place */
    unsigned char *input; /* stored bytes of the file */
    size_t input_room, input_size;
    uint64_t input_at;
    unsigned char *page; /* unpacked */
    size_t page_room;
    unsigned char *dictionary, *last;
    size_t dictionary_room, last_room;
    uint64_t rows_left; /* of the chunk, behind the page that is open */
    uint64_t page_left; /* rows of the page that is open */
    int page_missing;   /* it may have missing values: `levels` says which */
    ty_pq_runs levels;
    ty_pq_values values;
    unsigned char *valid; /* of the rows that are being read */
    size_t valid_room;
} ty_pq_cursor;

void ty_pq_cursor_close(ty_pq_cursor *cursor);
/* Starts on a chunk. */
void ty_pq_cursor_begin(ty_pq_cursor *cursor, const ty_pq_chunk *chunk);
/* The next `rows` rows, in the target's type, NaN where a value is missing; or `mask`, as many
 * bytes, becomes 0 there and 1 elsewhere, if the target is masked. */
tally_status ty_pq_cursor_read(ty_pq_cursor *cursor, size_t rows, void *into, unsigned char *mask,
                               tally_error *error);
/* Reads the words of all pages from the beginning of the chunk on, those of dictionaries and not
 * what their numbers are. */
tally_status ty_pq_cursor_words(ty_pq_cursor *cursor, tally_error *error);
/* Passes over the next `rows` rows, pages that are all among them unread. */
tally_status ty_pq_cursor_skip(ty_pq_cursor *cursor, uint64_t rows, tally_error *error);

/* Opens the next page with rows, if none is open. */
tally_status ty_pq_cursor_open(ty_pq_cursor *cursor, tally_error *error);
/* Which of the next `rows` rows of the page that is open, which may miss some, have a value:
 * `valid`, unless NULL, and how many in *count. */
tally_status ty_pq_cursor_levels(ty_pq_cursor *cursor, size_t rows, unsigned char *valid,
                                 size_t *count, tally_error *error);

/* ---- parquet_codes.c ---- */

/* Counts the numbers of values in the dictionary of a chunk, by a cursor of its column; 0: it is
 * not all of such numbers, or there is nothing to win, or it cannot be read. What `codes` holds is
 * released by the caller in any case. */
int ty_pq_count_codes(ty_pq_cursor *cursor, const ty_pq_chunk *chunk, ty_codes *codes);

/* ---- parquet_source.c ---- */

/* A column as what several threads read at once (tally_source). */
typedef struct ty_pq_source ty_pq_source;

/* `cursor` says file and column, and is not used itself; chunks[g × count] is the column's in row
 * group g. Elements are rows from `row_begin` on. What the arguments point to outlives it. NULL
 * when memory is out. */
ty_pq_source *ty_pq_source_open(const ty_pq_footer *footer, const ty_pq_chunk *chunks,
                                uint32_t count, const ty_pq_cursor *cursor, uint64_t row_begin);
void ty_pq_source_close(ty_pq_source *source); /* NULL is fine */
const tally_source *ty_pq_source_get(const ty_pq_source *source);
/* Where elements [begin, begin + count) of a masked column have values: mask[i] becomes 0 where one
 * is missing, and stays elsewhere. Any thread. */
tally_status ty_pq_source_mask(ty_pq_source *source, uint64_t begin, uint64_t count,
                               unsigned char *mask, tally_error *error);
/* ty_pq_count_codes and ty_pq_cursor_words of row group `group`. Any thread. */
int ty_pq_source_codes(ty_pq_source *source, size_t group, ty_codes *codes);
tally_status ty_pq_source_words(ty_pq_source *source, size_t group, tally_error *error);

#endif
