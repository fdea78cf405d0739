/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics of samples on a device (core/order.h). */
#ifndef TY_GPU_ORDER_H
#define TY_GPU_ORDER_H

#include "core/order.h"
#include "gpu/method.h"

extern const ty_order_ops ty_gpu_order;

/* Their kernels, which are no method's, those of extremes and with weights apart, and what they are
 * compiled with. */
extern const ty_gpu_method ty_order_kernels, ty_extremes_kernels, ty_weighted_kernels;
void ty_order_options(const ty_device *device, tally_dtype dtype, ty_defines *options);

/* Their programs' and calls' memory, when the device is closed. */
void ty_orders_close(ty_device *device);

/* Sizes of a search; tests set others. */
typedef struct ty_order_sizes {
    uint32_t draw, most; /* of few ranks so many keys are drawn, at least, and at most */
    uint32_t width;      /* of what is searched to either side, in sixteenths of standard deviations
                          */
    uint64_t small;      /* a group of so many samples is searched by one group of work-items; */
    uint64_t many_small; /* if there are `many` groups, of so many */
    uint64_t many;
    uint32_t listed; /* lists have space for a share of the samples, and for so many */
    uint64_t sifted; /* of so many samples, few ranks are searched after a sieve */
    int rescue;      /* whether ranks that are lost are searched by digits */
    uint64_t middle; /* bytes of keys, at most, that are read for each of their digits */
} ty_order_sizes;
extern ty_order_sizes ty_order_sizes_used;

#endif
