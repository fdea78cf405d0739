/* NPP's HistogramEven of one 8-bit channel. The samples are an image 4096 wide; it has signed 32-bit
 * counters. */
#include <cstdio>
#include <nppi_statistics_functions.h>
#include <vector>

#include "gpu_peer.h"

namespace {

enum { width = 4096 };

struct state {
    gpu_problem problem;
    NppStreamContext context = {};
    NppiSize size;
    Npp32s *counts = nullptr;
    Npp8u *scratch = nullptr;
    cudaEvent_t from = nullptr, to = nullptr;
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
    if (s->from)
        cudaEventDestroy(s->from);
    if (s->to)
        cudaEventDestroy(s->to);
    if (s->context.hStream)
        cudaStreamDestroy(s->context.hStream);
    delete s;
}

bool fill_context(NppStreamContext *c)
{
    cudaDeviceProp about;
    if (cudaGetDevice(&c->nCudaDeviceId) ||
        cudaGetDeviceProperties(&about, c->nCudaDeviceId) ||
        cudaStreamCreateWithFlags(&c->hStream, cudaStreamNonBlocking))
        return false;
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
    bool ok = fill_context(&s->context) &&
              !nppiHistogramEvenGetBufferSize_8u_C1R_Ctx(
                  s->size, static_cast<int>(problem->bins) + 1, &bytes, s->context) &&
              !cudaMalloc(&s->counts, (problem->bins + 1) * sizeof *s->counts) &&
              !cudaMalloc(&s->scratch, bytes + 1) && !cudaEventCreate(&s->from) &&
              !cudaEventCreate(&s->to) && run(s) == NPP_SUCCESS &&
              !cudaStreamSynchronize(s->context.hStream);
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
    float milliseconds = 0;
    cudaEventRecord(s->from, s->context.hStream);
    for (unsigned i = 0; i < calls; i++)
        if (run(s) != NPP_SUCCESS)
            return -1;
    cudaEventRecord(s->to, s->context.hStream);
    if (cudaEventSynchronize(s->to) || cudaEventElapsedTime(&milliseconds, s->from, s->to))
        return -1;
    return milliseconds * 1e-3;
}

int counts(void *user, uint64_t *to)
{
    state *s = static_cast<state *>(user);
    std::vector<Npp32s> host(s->problem.bins);
    if (cudaMemcpy(host.data(), s->counts, host.size() * sizeof host[0], cudaMemcpyDeviceToHost))
        return -1;
    for (size_t i = 0; i < host.size(); i++)
        to[i] = static_cast<uint64_t>(host[i]);
    return 0;
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
