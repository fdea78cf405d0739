/* SPDX-License-Identifier: Apache-2.0 */
/* Samples dealt to devices of unlike speeds, by a clock that is counted: each is counted once, and
 * no slow device holds up the end. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "plan/dealing.h"

enum { MIB = 1 << 20 };

typedef struct machine {
    const char *name;
    unsigned devices;
    double speeds[8]; /* MiB a second */
} machine;

/* When all is counted, over the time that the sum of all speeds would take. */
static double simulate(const machine *m, uint64_t extent)
{
    ty_dealing d = {.extent = extent, .least = 32 * MIB, .most = 512 * MIB, .devices = m->devices};
    double now[8] = {0}, end = 0, all = 0;
    int done[8] = {0};
    uint64_t counted = 0;
    for (unsigned i = 0; i < m->devices; i++)
        all += m->speeds[i];
    for (unsigned left = m->devices; left;) {
        unsigned next = m->devices;
        for (unsigned i = 0; i < m->devices; i++)
            if (!done[i] && (next == m->devices || now[i] < now[next]))
                next = i;
        uint64_t begin = 0;
        const uint64_t n = ty_deal_next(&d, next, &begin);
        CHECK_SAY(!n || begin == counted, "%s: a gap", m->name);
        counted += n;
        done[next] = !n;
        left -= !n;
        const double seconds = (double)n / MIB / m->speeds[next];
        now[next] += seconds;
        end = n && now[next] > end ? now[next] : end;
        if (n)
            ty_deal_done(&d, next, n, seconds);
    }
    CHECK_SAY(counted == extent, "%s: %llu of %llu", m->name, (unsigned long long)counted,
              (unsigned long long)extent);
    return end * all * MIB / (double)extent;
}

int main(void)
{
    static const machine machines[] = {
        {"one", 1, {40000}},
        {"two alike", 2, {40000, 40000}},
        {"two and a processor", 3, {40000, 40000, 15000}},
        {"eight", 8, {40000, 40000, 40000, 40000, 40000, 40000, 40000, 40000}},
        {"one slow", 3, {40000, 40000, 400}},
        {"one very slow", 2, {40000, 40}},
        {"seven slow", 8, {40000, 900, 900, 900, 900, 900, 900, 900}}};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const machine *m = &machines[i];
        double slowest = m->speeds[0], all = 0;
        for (unsigned k = 0; k < m->devices; k++) {
            slowest = m->speeds[k] < slowest ? m->speeds[k] : slowest;
            all += m->speeds[k];
        }
        const uint64_t extent = UINT64_C(8192) * MIB;
        /* Everyone's first piece cannot be avoided. */
        const double first = 32 / slowest * all / 8192, took = simulate(m, extent);
        CHECK_SAY(took < 1.05 || took <= first + 1e-9, "%s: %.3f of the ideal time", m->name, took);
        simulate(m, 1);
        simulate(m, 33 * MIB);
        printf("%s: %.3f\n", m->name, took);
    }
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
