/* SPDX-License-Identifier: Apache-2.0 */
/* Snappy's raw format, which Parquet packs pages by. */
#ifndef TY_SNAPPY_H
#define TY_SNAPPY_H

#include <stddef.h>

/* Unpacks all of `packed` into exactly `size` bytes. Nonzero when it is damaged or of another size;
 * never reads or writes outside. */
int ty_snappy_unpack(const unsigned char *packed, size_t packed_size, unsigned char *into,
                     size_t size);

#endif
