/* SPDX-License-Identifier: Apache-2.0 */
/* The words that are the bins of an axis (tally_result_words). */
#ifndef TY_LABELS_H
#define TY_LABELS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ty_labels {
    atomic_uint owners;
    uint64_t count;  /* labels so far, of bins */
    uint64_t others; /* values that the last bin stands for together; 0: for one, as all */
    size_t used;     /* bytes of text so far */
    char *text;      /* in the same block */
    size_t at[];     /* where each begins */
} ty_labels;

/* Without labels yet; there is memory for `count` of `bytes` in all, a NUL for each among them.
 * NULL when memory is out. */
ty_labels *ty_labels_create(uint64_t count, size_t bytes);

/* The same labels once more, which nobody changes from now on. The last of their owners to release
 * them frees them; NULL is none. */
ty_labels *ty_labels_share(ty_labels *labels);
void ty_labels_release(ty_labels *labels);

/* Bytes, with a NUL, of a label from any bytes: what is no UTF-8 is written as \xhh. */
size_t ty_label_bytes(const char *text, size_t size);

/* Adds one more of these bytes. */
void ty_labels_add(ty_labels *labels, const char *text, size_t size);

static inline const char *ty_label(const ty_labels *labels, uint64_t bin)
{
    return labels->text + labels->at[bin];
}

#endif
