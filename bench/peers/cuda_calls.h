/* SPDX-License-Identifier: Apache-2.0 */
/* What peers in CUDA share: a stream with two events on it, calls timed between them, counts
 * fetched. */
#ifndef CUDA_CALLS_H
#define CUDA_CALLS_H

#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>
#include <vector>

struct cuda_calls {
    cudaStream_t stream = nullptr;
    cudaEvent_t from = nullptr, to = nullptr;

    cudaError_t open()
    {
        cudaError_t code = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        if (!code)
            code = cudaEventCreate(&from);
        return code ? code : cudaEventCreate(&to);
    }

    void close()
    {
        if (from)
            cudaEventDestroy(from);
        if (to)
            cudaEventDestroy(to);
        if (stream)
            cudaStreamDestroy(stream);
    }

    /* Seconds of so many calls of `run`, which returns 0 unless it failed; -1 if one did. */
    template <typename F> double time(unsigned calls, F run)
    {
        float milliseconds = 0;
        cudaEventRecord(from, stream);
        for (unsigned i = 0; i < calls; i++)
            if (run())
                return -1;
        cudaEventRecord(to, stream);
        if (cudaEventSynchronize(to) || cudaEventElapsedTime(&milliseconds, from, to))
            return -1;
        return milliseconds * 1e-3;
    }
};

/* Counts in device memory, made 64 bits wide; 0, or -1 on failure. */
template <typename T> int cuda_counts(const T *counts, size_t bins, uint64_t *to)
{
    std::vector<T> host(bins);
    if (cudaMemcpy(host.data(), counts, bins * sizeof(T), cudaMemcpyDeviceToHost))
        return -1;
    for (size_t i = 0; i < bins; i++)
        to[i] = static_cast<uint64_t>(host[i]);
    return 0;
}

#endif
