/* SPDX-License-Identifier: Apache-2.0 */
/* A number that nobody can know beforehand, from the operating system. */
#ifndef TY_RANDOM_H
#define TY_RANDOM_H

#include <stdint.h>

uint32_t ty_random_u32(void);

#endif
