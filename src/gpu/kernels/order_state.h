/*
 * What the kernels of order statistics (order_*.cl) and their host (gpu/order.c) agree on: where a
 * call's numbers lie in the device's memory, as 64-bit words.
 */
#ifndef TY_ORDER_STATE_H
#define TY_ORDER_STATE_H

#define ORDER_RANKS 254 /* ranks of one call, at most */
#define ORDER_TABLE 512 /* edges, at most: two a rank, and one; rounded up to a power of two */
#define ORDER_CELLS 1024

/* One word each. */
#define ORDER_N      0 /* samples to search; 0: none, and the kernels return at once */
#define ORDER_DRAWN  1 /* of the positions drawn, those whose samples count */
#define ORDER_KEPT   2 /* keys that went through a sieve */
#define ORDER_EDGES  3 /* edges there are */
#define ORDER_OVER   4 /* nonzero: more keys went through than 32 bits count */
#define ORDER_COUNT  5 /* samples that count */
#define ORDER_TOP_IS 6 /* nonzero: the largest key is looked for, and it is no NaN */
#define ORDER_FAILED 7 /* nonzero: some rank was not found */
#define ORDER_NANS   8 /* NaN that a sieve counted */

/* ORDER_RANKS words each, padded: of each rank the rank among the keys that are counted in slices,
 * its slice, the list of this, the rank in the slice, and what became of it; the two edges that it
 * is between. */
#define ORDER_RANK     16
#define ORDER_SLICE    (ORDER_RANK + 256)
#define ORDER_LIST     (ORDER_SLICE + 256)
#define ORDER_IN_SLICE (ORDER_LIST + 256)
#define ORDER_WHAT     (ORDER_IN_SLICE + 256)
#define ORDER_FROM     (ORDER_WHAT + 256)
#define ORDER_TO       (ORDER_FROM + 256)
#define ORDER_EDGE     (ORDER_TO + 256)             /* ORDER_TABLE keys, ascending */
#define ORDER_WANTED   (ORDER_EDGE + ORDER_TABLE)   /* whether the gap before an edge is searched */
#define ORDER_CELL     (ORDER_WANTED + ORDER_TABLE) /* counts: 2e before edge e, 2e+1 equal */
#define ORDER_UPPER    (ORDER_CELL + ORDER_CELLS)   /* of a search by all groups, of each digit: */
#define ORDER_WORDS    (ORDER_UPPER + 32)           /* ORDER_SLOTS digits above, and ranks there */

/* ORDER_WHAT */
#define ORDER_FOUND  0
#define ORDER_SOUGHT 1
#define ORDER_LOST   2

#define ORDER_NO_RANK (~(ty_u64)0) /* a rank of a group without samples */

#define ORDER_RUN       1024  /* keys that a group sorts */
#define ORDER_MERGED    16    /* long runs, at most, that become one */
#define ORDER_FEW_KEYS  8192  /* so few, in short runs, become one run at once */
#define ORDER_MOST_KEYS 16384 /* that are passed on, of those drawn */
/* Of a group of so many work-items, those that find one key's place. */
#define ORDER_TEAM(group_size) ((group_size) < 16 ? (group_size) : 16)

#define ORDER_DIGIT_BITS 11
#define ORDER_DIGITS     (1u << ORDER_DIGIT_BITS)
#define ORDER_PART       16 /* sums of work-items that are added up by one, and such sums */
/* Words of local memory of a row's search besides the digits' counters and the keys. */
#define ORDER_ROW_FIXED(group_size) ((4 + (group_size) + ORDER_PART + 3) / 4 * 4)
/* Ranks of a search by all groups of work-items; 32-bit words of its counters: NaN, and from word 4
 * on those of each digit and rank. */
#define ORDER_SLOTS                2
#define ORDER_SELECT_WORDS(digits) (4 + (digits)*ORDER_SLOTS * ORDER_DIGITS)

/* Many ranks by slices (order_slices.cl). */
#define ORDER_BUCKETS     512
#define ORDER_BUCKET_BITS 9
#define ORDER_BUCKET_FEW  4 /* drawn keys of a bucket; and those that may be far from its others */
#define ORDER_BUCKET_FAR  8
#define ORDER_SLICES      4096 /* slices of a bucket, at most, and all there should be */
#define ORDER_EVEN_SLICES 8192 /* of equal width; and one of NaN */
#define ORDER_SLICES_MOST 9216 /* more than there are: twice as many, and one a bucket */
#define ORDER_STAGE_EXTRA 1024 /* words of keys on a group's stage besides a tile's */
#define ORDER_NEAR_EDGES  32   /* fewer edges than these have their drawn keys picked; */
#define ORDER_NEAR_EQUAL  64   /* of those equal to an edge so many */
#define ORDER_SHORT       512  /* keys of a list whose order is looked at */

/* What slices are (ORDER_S_EVEN): parts of buckets, or of equal width in values or in keys. */
#define ORDER_UNEVEN      0
#define ORDER_EVEN_VALUES 1
#define ORDER_EVEN_KEYS   2

/* Where numbers lie, in 32-bit words: the map's, then what the kernels tell each other. */
#define ORDER_S_LOW    0 /* two words */
#define ORDER_S_MOST   2
#define ORDER_S_SHIFT  3
#define ORDER_S_DROP   4
#define ORDER_S_AHEAD  5
#define ORDER_S_DRAWN  6 /* drawn keys that the map is made of */
#define ORDER_S_SLICES 7
#define ORDER_S_LISTS  8
#define ORDER_S_AGAIN  9  /* lists would have too many keys */
#define ORDER_S_HEAVY  10 /* many keys are left out of lists */
#define ORDER_S_REDO   11 /* a list had not the space for its keys */
#define ORDER_S_LOST   12 /* there is none */

/* Of each bucket two; of each slice two, its keys, and one, the number of its first drawn key, and
 * a byte, its list; then of lists, 256 each: the key left out (two words); its slice and the bucket
 * of this; where it begins, keys it has space for, and keys. */
#define ORDER_S_BUCKET 16
#define ORDER_S_COUNT  (ORDER_S_BUCKET + 2 * ORDER_BUCKETS)
#define ORDER_S_FIRST  (ORDER_S_COUNT + 2 * ORDER_SLICES_MOST)
#define ORDER_S_LIST   (ORDER_S_FIRST + ORDER_SLICES_MOST + 4)
#define ORDER_S_KEY    (ORDER_S_LIST + ORDER_SLICES_MOST / 4)
#define ORDER_S_SLICE  (ORDER_S_KEY + 512)
#define ORDER_S_WITHIN (ORDER_S_SLICE + 256)
#define ORDER_S_AT     (ORDER_S_WITHIN + 256)
#define ORDER_S_SPACE  (ORDER_S_AT + 256)
#define ORDER_S_FILL   (ORDER_S_SPACE + 256)
#define ORDER_S_SIFT   (ORDER_S_FILL + 256)

/* Of a sieve (order_sift.cl): its cells, and whether these are by values; whether samples equal to
 * edges are left out, and the two edges that most are; whether only what went through counts now;
 * whether there is space for all edges. Of the map: where its drawn keys begin; of what kind slices
 * are, and which. Of each edge the slice of what was left out; a byte of each cell by keys, and by
 * values. */
#define ORDER_SIFT_EDGES  20    /* edges, at most, and */
#define ORDER_SIFT_RANKS  18    /* the ranks that have so many */
#define ORDER_SIFT_CELLS  16384 /* a power of two */
#define ORDER_SIFT_GAPS   9     /* gaps, at most, whose keys are counted, and the last */
#define ORDER_SIFT_FIELDS 10    /* counters of a work-item; the last two may be of keys equal to */
#define ORDER_SIFT_OFTEN  9     /* the edge that most are equal to, and the next */
#define ORDER_SIFT_SECOND 8
#define ORDER_SIFT_LANES  32
#define ORDER_SIFT_EXTRA  2048 /* words of keys on a group's stage besides a tile's */
#define ORDER_CELLS_WORDS 8
#define ORDER_S_CELLS     ORDER_S_SIFT
#define ORDER_S_MAP_CELLS (ORDER_S_SIFT + ORDER_CELLS_WORDS)
#define ORDER_S_BY_VALUE  (ORDER_S_SIFT + 16)
#define ORDER_S_EQUAL     (ORDER_S_SIFT + 17)
#define ORDER_S_OFTEN     (ORDER_S_SIFT + 18)
#define ORDER_S_SIFTED    (ORDER_S_SIFT + 20)
#define ORDER_S_FITS      (ORDER_S_SIFT + 21)
#define ORDER_S_KEYS      (ORDER_S_SIFT + 22)
#define ORDER_S_EVEN      (ORDER_S_SIFT + 23)
#define ORDER_S_EDGE      (ORDER_S_SIFT + 24)
#define ORDER_S_TABLE     (ORDER_S_EDGE + 32)
#define ORDER_S_WORDS     (ORDER_S_TABLE + 2 * ORDER_SIFT_CELLS / 4)
/* Where things lie in a group's local memory, in words. */
#define ORDER_SF_EDGE   (ORDER_SIFT_CELLS / 4)
#define ORDER_SF_GAP    (ORDER_SF_EDGE + 2 * ORDER_NEAR_EDGES)
#define ORDER_SF_EQUAL  (ORDER_SF_GAP + ORDER_SIFT_FIELDS * ORDER_SIFT_LANES)
#define ORDER_SF_STAGED (ORDER_SF_EQUAL + ORDER_SIFT_EDGES * ORDER_SIFT_LANES)
#define ORDER_SF_STAGE  (ORDER_SF_STAGED + 32) /* of eight crews */

#endif
/* SPDX-License-Identifier: Apache-2.0 */
