/* SPDX-License-Identifier: Apache-2.0 */
// OpenCV: calcHist, on one thread. Counts are float32 there.
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "peer.h"

namespace
{

struct state {
    bench_problem problem;
    std::vector<cv::Mat> images;
    std::vector<float> edges;
    cv::Mat histogram;
};

const char *start(const bench_problem *p, void **made)
{
    if (p->dtype == BENCH_F64)
        return "takes 8- and 16-bit integers and float32 only";
    if (p->kind == BENCH_WEIGHTS)
        return "has no weights";
    if (p->n > 0x7fffffff)
        return "an image has fewer than 2^31 columns";
    try {
        cv::setNumThreads(1);
        state *s = new state;
        int type = p->dtype == BENCH_U8 ? CV_8U : CV_32F;
        s->problem = *p;
        s->images.emplace_back(1, (int)p->n, type, const_cast<void *>(p->x));
        if (p->kind == BENCH_EVEN_2D)
            s->images.emplace_back(1, (int)p->n, type, const_cast<void *>(p->y));
        if (p->kind == BENCH_EDGES)
            s->edges.assign(p->edges, p->edges + p->bins + 1);
        *made = s;
        return nullptr;
    } catch (const std::exception &) {
        return "out of memory";
    }
}

int count(void *user)
{
    state *s = static_cast<state *>(user);
    const bench_problem &p = s->problem;
    const float even[2] = {(float)p.lo, (float)p.hi};
    const float *one = p.kind == BENCH_EDGES ? s->edges.data() : even;
    const float *ranges[2] = {one, one};
    const int channels[2] = {0, 1}, sizes[2] = {(int)p.bins, (int)p.bins};
    try {
        cv::calcHist(s->images.data(), s->images.size(), channels, cv::noArray(), s->histogram,
                     (int)s->images.size(), sizes, ranges, p.kind != BENCH_EDGES);
    } catch (const std::exception &) {
        return 1;
    }
    return 0;
}

void counts(void *user, double *to)
{
    const state *s = static_cast<const state *>(user);
    const float *from = s->histogram.ptr<float>();
    for (size_t i = 0; i < s->histogram.total(); i++)
        to[i] = from[i];
}

void end(void *user)
{
    delete static_cast<state *>(user);
}

const bench_peer peers[] = {{"opencv", "calcHist", CV_VERSION, start, count, counts, end}};

} // namespace

extern "C" __attribute__((visibility("default"))) const bench_peer *
tally_bench_peers(size_t *count_of)
{
    *count_of = sizeof peers / sizeof *peers;
    return peers;
}
