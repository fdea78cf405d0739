/* SPDX-License-Identifier: Apache-2.0 */
/* Which table of loops this processor runs fastest. */
#include "cpu/buckets.h"
#include "cpu/even.h"
#include "cpu/features.h"
#include "cpu/isa.h"
#include "cpu/join.h"
#include "cpu/order.h"
#include "cpu/pack.h"
#include "cpu/statistics.h"
#include "cpu/stats.h"

const ty_buckets_loops *ty_buckets_loops_get(void)
{
    TY_ISA_BEST(buckets);
}

const ty_even_loops *ty_even_loops_get(void)
{
    TY_ISA_BEST(even);
}

const ty_join_loops *ty_join_loops_get(void)
{
    TY_ISA_BEST(join);
}

const ty_order_loops *ty_order_loops_get(void)
{
    TY_ISA_BEST(order);
}

const ty_pack_loops *ty_pack_loops_get(void)
{
    TY_ISA_BEST(pack);
}

const ty_stats_loops *ty_stats_loops_get(void)
{
    TY_ISA_BEST(stats);
}

const ty_statistics_loops *ty_statistics_loops_get(void)
{
    TY_ISA_BEST(statistics);
}
