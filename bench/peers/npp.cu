/* SPDX-License-Identifier: Apache-2.0 */
/* NPP's HistogramEven of one 8-bit channel. The samples are an image 4096 wide; it has signed 32-bit
 * counters. */
#include <cstdio>
#include <nppi_statistics_functions.h>

#include "cuda_calls.h"
#include "gpu_peer.h"

namespace {

enum { width = 4096 };

struct state {
    gpu_problem problem;
    NppStreamContext context = {};
    NppiSize size;
    Npp32s *counts = nullptr;
    Npp8u *scratch = nullptr;
    cuda_calls calls;
};

NppStatus run(state *s)
{
    return nppiHistogramEven_8u_C1R_Ctx(static_cast<const Npp8u *>(s->problem.samples), width,
                                        s->size, s->counts, static_cast<int>(s->problem.bins) + 1,
                                        static_cast<Npp32s>(s->problem.lo),
                                        static_cast<Npp32s>(s->problem.hi), s->scratch, s->context);
}

void end(void *user)
{
    state *s = static_cast<state *>(user);
    cudaFree(s->counts);
    cudaFree(s->scratch);
    s->calls.close();
    delete s;
}

bool fill_context(NppStreamContext *c, cudaStream_t stream)
{
    cudaDeviceProp about;
    if (cudaGetDevice(&c->nCudaDeviceId) || cudaGetDeviceProperties(&about, c->nCudaDeviceId))
        return false;
    c->hStream = stream;
    c->nMultiProcessorCount = about.multiProcessorCount;
    c->nMaxThreadsPerMultiProcessor = about.maxThreadsPerMultiProcessor;
    c->nMaxThreadsPerBlock = about.maxThreadsPerBlock;
    c->nSharedMemPerBlock = about.sharedMemPerBlock;
    c->nCudaDevAttrComputeCapabilityMajor = about.major;
    c->nCudaDevAttrComputeCapabilityMinor = about.minor;
    c->nStreamFlags = cudaStreamNonBlocking;
    return true;
}

const char *start(const gpu_problem *problem, void **made)
{
    size_t bytes = 0;
    if (problem->dtype != GPU_U8)
        return "8-bit samples only";
    if (problem->n % width || problem->n / width > 1 << 24)
        return "an image of whole rows only";
    state *s = new state;
    s->problem = *problem;
    s->size = {width, static_cast<int>(problem->n / width)};
    bool ok = !s->calls.open() && fill_context(&s->context, s->calls.stream) &&
              !nppiHistogramEvenGetBufferSize_8u_C1R_Ctx(
                  s->size, static_cast<int>(problem->bins) + 1, &bytes, s->context) &&
              !cudaMalloc(&s->counts, (problem->bins + 1) * sizeof *s->counts) &&
              !cudaMalloc(&s->scratch, bytes + 1) && run(s) == NPP_SUCCESS &&
              !cudaStreamSynchronize(s->calls.stream);
    if (!ok) {
        end(s);
        cudaGetLastError();
        return "it refuses";
    }
    *made = s;
    return nullptr;
}

double time_calls(void *user, unsigned calls)
{
    state *s = static_cast<state *>(user);
    return s->calls.time(calls, [s] { return run(s) != NPP_SUCCESS; });
}

int counts(void *user, uint64_t *to)
{
    state *s = static_cast<state *>(user);
    return cuda_counts(s->counts, s->problem.bins, to);
}

const gpu_peer peers[] = {
    {"NPP", "HistogramEven", start, time_calls, counts, end},
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
    std::snprintf(text, sizeof text, "%d.%d", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    return text;
}
