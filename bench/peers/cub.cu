/* CUB's DeviceHistogram::HistogramEven, and HistogramRange on the same bins spelt out. 32-bit
 * counters, its fastest; levels of the samples' own type, as its examples have them. */
#include <cub/cub.cuh>
#include <cstdio>
#include <vector>

#include "gpu_peer.h"

namespace {

struct state {
    gpu_problem problem;
    bool range;
    unsigned *counts = nullptr;
    void *levels = nullptr, *scratch = nullptr;
    size_t scratch_bytes = 0;
    cudaStream_t stream = nullptr;
    cudaEvent_t from = nullptr, to = nullptr;
};

template <typename T> cudaError_t call(state *s)
{
    const gpu_problem &p = s->problem;
    const T *samples = static_cast<const T *>(p.samples);
    int levels = static_cast<int>(p.bins) + 1;
    if (s->range)
        return cub::DeviceHistogram::HistogramRange(s->scratch, s->scratch_bytes, samples, s->counts,
                                                    levels, static_cast<const T *>(s->levels),
                                                    static_cast<long long>(p.n), s->stream);
    return cub::DeviceHistogram::HistogramEven(s->scratch, s->scratch_bytes, samples, s->counts,
                                               levels, static_cast<T>(p.lo), static_cast<T>(p.hi),
                                               static_cast<long long>(p.n), s->stream);
}

/* u8's and u16's upper level, 256 or 65 536, is no value of their type: int holds it. */
template <typename T> cudaError_t call_int(state *s)
{
    const gpu_problem &p = s->problem;
    const T *samples = static_cast<const T *>(p.samples);
    int levels = static_cast<int>(p.bins) + 1;
    if (s->range)
        return cub::DeviceHistogram::HistogramRange(s->scratch, s->scratch_bytes, samples, s->counts,
                                                    levels, static_cast<const int *>(s->levels),
                                                    static_cast<long long>(p.n), s->stream);
    return cub::DeviceHistogram::HistogramEven(s->scratch, s->scratch_bytes, samples, s->counts,
                                               levels, static_cast<int>(p.lo),
                                               static_cast<int>(p.hi),
                                               static_cast<long long>(p.n), s->stream);
}

cudaError_t run(state *s)
{
    switch (s->problem.dtype) {
    case GPU_U8:
        return call_int<unsigned char>(s);
    case GPU_U16:
        return call_int<unsigned short>(s);
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
        levels[i] = static_cast<T>(p.lo + (p.hi - p.lo) * static_cast<double>(i) /
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
    if (s->from)
        cudaEventDestroy(s->from);
    if (s->to)
        cudaEventDestroy(s->to);
    if (s->stream)
        cudaStreamDestroy(s->stream);
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
        code = cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking);
    if (!code)
        code = cudaEventCreate(&s->from);
    if (!code)
        code = cudaEventCreate(&s->to);
    if (!code)
        code = run(s); /* says how much scratch it needs */
    if (!code)
        code = cudaMalloc(&s->scratch, s->scratch_bytes);
    if (!code)
        code = run(s);
    if (!code)
        code = cudaStreamSynchronize(s->stream);
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
    float milliseconds = 0;
    cudaEventRecord(s->from, s->stream);
    for (unsigned i = 0; i < calls; i++)
        if (run(s))
            return -1;
    cudaEventRecord(s->to, s->stream);
    if (cudaEventSynchronize(s->to) || cudaEventElapsedTime(&milliseconds, s->from, s->to))
        return -1;
    return milliseconds * 1e-3;
}

int counts(void *user, uint64_t *to)
{
    state *s = static_cast<state *>(user);
    std::vector<unsigned> host(s->problem.bins);
    if (cudaMemcpy(host.data(), s->counts, host.size() * sizeof host[0], cudaMemcpyDeviceToHost))
        return -1;
    for (size_t i = 0; i < host.size(); i++)
        to[i] = host[i];
    return 0;
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
