/* SPDX-License-Identifier: Apache-2.0 */
/* CUB's DeviceHistogram::HistogramEven, and HistogramRange on the same bins spelt out. 32-bit
 * counters, its fastest; levels of the samples' own type, as its examples have them. */
#include <cub/cub.cuh>
#include <cstdio>
#include <vector>

#include "cuda_calls.h"
#include "gpu_peer.h"

namespace {

struct state {
    gpu_problem problem;
    bool range;
    unsigned *counts = nullptr;
    void *levels = nullptr, *scratch = nullptr;
    size_t scratch_bytes = 0;
    cuda_calls calls;
};

/* Levels of another type L than the samples' where their own does not hold the upper one. */
template <typename T, typename L = T> cudaError_t call(state *s)
{
    const gpu_problem &p = s->problem;
    const T *samples = static_cast<const T *>(p.samples);
    int levels = static_cast<int>(p.bins) + 1;
    if (s->range)
        return cub::DeviceHistogram::HistogramRange(
            s->scratch, s->scratch_bytes, samples, s->counts, levels,
            static_cast<const L *>(s->levels), static_cast<long long>(p.n), s->calls.stream);
    return cub::DeviceHistogram::HistogramEven(
        s->scratch, s->scratch_bytes, samples, s->counts, levels, static_cast<L>(p.lo),
        static_cast<L>(p.hi), static_cast<long long>(p.n), s->calls.stream);
}

cudaError_t run(state *s)
{
    switch (s->problem.dtype) {
    case GPU_U8:
        return call<unsigned char, int>(s);
    case GPU_U16:
        return call<unsigned short, int>(s);
    case GPU_I32:
        return call<int>(s);
    case GPU_F32:
        return call<float>(s);
    default:
        return call<double>(s);
    }
}

template <typename T> void *copy_levels(const gpu_problem &p)
{
    std::vector<T> levels(p.bins + 1);
    void *to = nullptr;
    for (uint64_t i = 0; i <= p.bins; i++)
        levels[i] = static_cast<T>(p.edges ? p.edges[i]
                                           : p.lo + (p.hi - p.lo) * static_cast<double>(i) /
                                                        static_cast<double>(p.bins));
    if (cudaMalloc(&to, levels.size() * sizeof(T)) == cudaSuccess)
        cudaMemcpy(to, levels.data(), levels.size() * sizeof(T), cudaMemcpyHostToDevice);
    return to;
}

void end(void *user)
{
    state *s = static_cast<state *>(user);
    cudaFree(s->counts);
    cudaFree(s->levels);
    cudaFree(s->scratch);
    s->calls.close();
    delete s;
}

const char *start(const gpu_problem *problem, void **made, bool range)
{
    /* Seen of CUB 3.0.1 on an H200: an illegal address, after which the process cannot go on. */
    if (problem->dtype == GPU_I32 && problem->bins > 4 << 20)
        return "it ends in an illegal address";
    state *s = new state;
    s->problem = *problem;
    s->range = range;
    if (range)
        s->levels = problem->dtype == GPU_F64   ? copy_levels<double>(*problem)
                    : problem->dtype == GPU_F32 ? copy_levels<float>(*problem)
                                                : copy_levels<int>(*problem);
    cudaError_t code = cudaMalloc(&s->counts, problem->bins * sizeof *s->counts);
    if (!code)
        code = s->calls.open();
    if (!code)
        code = run(s); /* says how much scratch it needs */
    if (!code)
        code = cudaMalloc(&s->scratch, s->scratch_bytes);
    if (!code)
        code = run(s);
    if (!code)
        code = cudaStreamSynchronize(s->calls.stream);
    if (code) {
        end(s);
        cudaGetLastError();
        return cudaGetErrorString(code);
    }
    *made = s;
    return nullptr;
}

const char *start_even(const gpu_problem *problem, void **made)
{
    return start(problem, made, false);
}

const char *start_range(const gpu_problem *problem, void **made)
{
    return start(problem, made, true);
}

double time_calls(void *user, unsigned calls)
{
    state *s = static_cast<state *>(user);
    return s->calls.time(calls, [s] { return run(s); });
}

int counts(void *user, uint64_t *to)
{
    state *s = static_cast<state *>(user);
    return cuda_counts(s->counts, s->problem.bins, to);
}

const gpu_peer peers[] = {
    {"CUB", "HistogramEven", start_even, time_calls, counts, end},
    {"CUB", "HistogramRange", start_range, time_calls, counts, end},
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr},
};

} // namespace

const gpu_peer *gpu_peers(void)
{
    return peers;
}

const char *gpu_peer_version(void)
{
    static char text[32];
    std::snprintf(text, sizeof text, "%d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION,
                  CUB_SUBMINOR_VERSION);
    return text;
}
