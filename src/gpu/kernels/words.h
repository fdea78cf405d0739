/*
 * Bytes read as 32-bit words, wherever they start and however many there are: up to three bytes
 * ahead of the first aligned word, the words, and up to three bytes behind. For kernels that count
 * bytes.
 */
#ifndef TY_WORDS_H
#define TY_WORDS_H

typedef struct ty_words {
    TY_GLOBAL const ty_u8 *start; /* the first byte */
    TY_GLOBAL const ty_u32 *word; /* the first aligned word */
    ty_u64 count;                 /* words */
    ty_u32 head, tail;            /* bytes ahead and behind */
} ty_words;

TY_FN ty_words ty_words_of(TY_GLOBAL const ty_u8 *start, ty_u64 n)
{
    ty_words w;
    w.start = start;
    w.head = (ty_u32)((0 - (ty_u64)start) & 3);
    if (w.head > n)
        w.head = (ty_u32)n;
    w.word = (TY_GLOBAL const ty_u32 *)(start + w.head);
    w.count = (n - w.head) / 4;
    w.tail = (ty_u32)(n - w.head - w.count * 4);
    return w;
}

/* Loose byte i, 0 … head+tail-1. */
TY_FN ty_u32 ty_words_loose(const ty_words *w, ty_u32 i)
{
    return i < w->head ? w->start[i] : w->start[(ty_u64)w->head + w->count * 4 + (i - w->head)];
}

#endif
/* SPDX-License-Identifier: Apache-2.0 */
