/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a file where the page cache has them, lent and not copied.
 *
 * A file that is cut while it is mapped would end the process with SIGBUS. So bytes are lent under
 * a read lease (F_SETLEASE): the kernel has whoever would cut the file or open it for writing wait
 * until the lease is given back, which is when nobody holds bytes any more, after milliseconds;
 * from the moment that somebody waits no more are lent. Without a lease nothing is lent, and the
 * file is to be read: where others write to it, where it is another user's, on file systems that
 * may change behind the kernel's back. What could still cut it is open(O_RDONLY | O_TRUNC), which
 * POSIX leaves undefined, or a process that was stopped for longer than the kernel waits (45 s). */
#ifndef TY_MAPPING_H
#define TY_MAPPING_H

#include <stddef.h>
#include <stdint.h>

typedef struct ty_mapping ty_mapping;

/* Of a file opened for reading only, by a descriptor that nobody else has and that outlives the
 * mapping, with so many bytes. NULL: it cannot be. */
ty_mapping *ty_mapping_make(int file, uint64_t size);
void ty_mapping_free(ty_mapping *mapping);

/* Bytes [at, at + size) of the file, to be returned soon; NULL: they are to be read. Of any number
 * of threads. `mapping` may be NULL. */
const void *ty_mapping_lend(ty_mapping *mapping, uint64_t at, size_t size);
void ty_mapping_return(ty_mapping *mapping, const void *bytes, size_t size);

#endif
