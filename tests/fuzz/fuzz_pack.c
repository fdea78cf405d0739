/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels file's packing (gpu/pack.h): any bytes unpacked into any number of bytes, and any
 * bytes packed and unpacked. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "gpu/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t packed = 0, wanted = size > 1 ? data[0] | (size_t)data[1] << 8 : 0;
    unsigned char *to = malloc((wanted > size ? wanted : size) + 1);
    unsigned char *own = ty_pack(data, size, &packed);
    if (to && size > 1)
        ty_unpack(data + 2, size - 2, to, wanted);
    if (to && own && (!ty_unpack(own, packed, to, size) || memcmp(to, data, size) != 0))
        abort();
    ty_free(own);
    free(to);
    return 0;
}
