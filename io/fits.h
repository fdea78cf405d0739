/* SPDX-License-Identifier: Apache-2.0 */
/* FITS: what its parts share. A file is units, each a header of cards and its data. fits_header.c
 * finds the units and reads their headers, fits.c makes an input of one. */
#ifndef TY_FITS_H
#define TY_FITS_H

#include "io/seekable.h"

enum { TY_FITS_BLOCK = 2880, TY_FITS_AXES = 32, TY_FITS_FIELDS = 999, TY_FITS_TEXT = 72 };

/* A card with a value: text without its quotes, or a word. */
typedef struct ty_fits_card {
    char key[9];
    char text[TY_FITS_TEXT];
    int is_text;
} ty_fits_card;

typedef struct ty_fits_unit {
    char name[TY_FITS_TEXT]; /* "": it has none */
    const char *refused;     /* what it is, if that is not read */
    int is_table;
    uint64_t header, data, bytes; /* in the file; of data */
    int bits;                     /* BITPIX: 8, 16, 32 and 64, floats negative */
    unsigned rank;
    uint64_t axes[TY_FITS_AXES]; /* NAXIS1 first: the one that runs fastest */
} ty_fits_unit;

/* Values as they are stored: value = zero + scale × stored. */
typedef struct ty_fits_field {
    char *name;          /* of a column */
    const char *refused; /* what it holds, if that is not counted */
    tally_dtype stored;
    int is_logical; /* 'T', 'F' and 0 */
    uint64_t at;    /* in its row */
    double scale, zero;
    int has_blank; /* stored integers of this value are missing */
    int64_t blank;
} ty_fits_field;

typedef struct ty_fits_file {
    ty_seekable in;
    uint32_t count;
    ty_fits_unit *units;
    uint32_t chosen;
    uint32_t fields; /* of a table; 1 of an image */
    ty_fits_field *field;
} ty_fits_file;

/* Finds the units of what `fits->in` is. */
tally_status ty_fits_scan(ty_fits_file *fits, tally_error *error);
/* The unit called `inside`, by number from 0 or by name; NULL: the only one with data,
 * before tables without rows. */
tally_status ty_fits_choose(ty_fits_file *fits, const char *inside, tally_error *error);
/* Reads what the chosen unit's fields are. */
tally_status ty_fits_fields(ty_fits_file *fits, tally_error *error);
/* Releases all but `in`, also what a failure left. */
void ty_fits_close(ty_fits_file *fits);

#endif
