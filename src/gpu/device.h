/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device does for the rest of Tally: memory, programs, launches. opencl*.c and cuda*.c
 * implement it and hold no algorithm; backend.c uses it and names no runtime.
 *
 * Every function that can fail returns a status and the driver's own words in `error`. An open
 * device is safe from several threads, each with its own queue; a queue and what is launched on it
 * belong to one thread at a time.
 */
#ifndef TY_DEVICE_H
#define TY_DEVICE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/tally.h>

typedef struct ty_device ty_device;

/* Device memory: a CUdeviceptr or a cl_mem; 0 is none. */
typedef uint64_t ty_memory;

/* A kernel's argument, by value. */
typedef struct ty_arg {
    enum { TY_ARG_U32, TY_ARG_U64, TY_ARG_MEMORY } kind;
    union {
        uint32_t u32;
        uint64_t u64;
        ty_memory memory;
    } value;
} ty_arg;

static inline ty_arg ty_arg_memory(ty_memory memory)
{
    return (ty_arg){.kind = TY_ARG_MEMORY, .value.memory = memory};
}

static inline ty_arg ty_arg_u32(uint32_t value)
{
    return (ty_arg){.kind = TY_ARG_U32, .value.u32 = value};
}

static inline ty_arg ty_arg_u64(uint64_t value)
{
    return (ty_arg){.kind = TY_ARG_U64, .value.u64 = value};
}

/* One launch of a row of groups. The local memory is the kernel's last argument (dialect.h). An
 * `early` kernel waits itself for what is before it on the queue (TY_GRID_WAIT): where the device
 * can, it starts while that ends. */
enum { TY_MOST_ARGS = 80 };
typedef struct ty_launch {
    uint32_t groups, group_size;
    uint32_t local_bytes;
    const ty_arg *args;
    unsigned arg_count; /* at most TY_MOST_ARGS */
    int early;
} ty_launch;

/* What the compiler says of one kernel; 0 where the runtime does not tell. */
typedef struct ty_kernel_stats {
    uint32_t registers, spill_bytes, static_local_bytes, group_max;
    uint32_t groups_per_unit; /* of the launched size and local memory that one unit holds */
    uint32_t launched_size, launched_local; /* set by the caller */
} ty_kernel_stats;

/* Where a program is from. */
enum { TY_COMPILED = 0, TY_FROM_CACHE = 1, TY_FROM_FILE = 2 };

typedef struct ty_device_ops {
    const char *name; /* "cuda", "opencl" */
    tally_device_type type;

    /* Devices there are; with none, `reason` says why. Cheap after the first call. */
    uint32_t (*count)(char *reason, size_t size);
    tally_status (*describe)(uint32_t index, tally_device_info *info, tally_error *error);

    /* `native`: tally_context_options.native. */
    tally_status (*open)(uint32_t index, void *native, ty_device **device, tally_error *error);
    void (*close)(ty_device *device);

    /* A queue of our own, or one around the caller's native stream. Commands on one run in order.
     */
    tally_status (*queue_open)(ty_device *device, void *native, void **queue, tally_error *error);
    void (*queue_close)(ty_device *device, void *queue);
    /* Waits for everything on the queue; a fault in a kernel shows here. */
    tally_status (*wait)(ty_device *device, void *queue, tally_error *error);
    /* Waits for everything on the device; NULL: only queues can be waited for. */
    tally_status (*wait_all)(ty_device *device, tally_error *error);
    /* Whether a native stream records what is put on it in a graph; NULL: none does. */
    tally_status (*recording)(ty_device *device, void *native, int *is, tally_error *error);
    /* Lets this thread allocate while some stream records (`mode` -1), or gives back the mode that
     * was returned then. */
    int (*relax)(int mode);
    /* Makes the device this thread's current one for the operations until `leave`, which otherwise
     * each do so; NULL: there is no such thing. */
    void (*enter)(ty_device *device);
    void (*leave)(ty_device *device);

    /* The native stream of a queue. */
    void *(*native)(void *queue);
    /* What is put on `queue` from now on runs after what is now on `before`, a queue of any device
     * of this runtime; NULL: only the host can wait for that. */
    tally_status (*follow)(ty_device *device, void *queue, ty_device *other, void *before,
                           tally_error *error);
    /* Whether the device's kernels read another's memory; NULL: none do. */
    int (*reaches)(ty_device *device, ty_device *other);

    tally_status (*alloc)(ty_device *device, size_t bytes, ty_memory *memory, tally_error *error);
    void (*release)(ty_device *device, ty_memory memory);
    /* Bytes of a caller's memory object; NULL where memory is bare pointers. */
    tally_status (*extent)(ty_device *device, ty_memory memory, uint64_t *bytes,
                           tally_error *error);
    /* The caller's host memory may be reused once `wait` has returned. */
    tally_status (*upload)(ty_device *device, void *queue, ty_memory to, size_t offset,
                           const void *from, size_t bytes, tally_error *error);
    tally_status (*download)(ty_device *device, void *queue, void *to, ty_memory from,
                             size_t offset, size_t bytes, tally_error *error);
    tally_status (*clear)(ty_device *device, void *queue, ty_memory memory, size_t offset,
                          size_t bytes, tally_error *error);

    /* Host memory that the device copies from at full speed; ordinary memory where there is none.
     * `pinned`: whether all of a block of the caller's is such memory; NULL: none is. */
    tally_status (*pinned_alloc)(ty_device *device, size_t bytes, void **block, tally_error *error);
    void (*pinned_free)(ty_device *device, void *block);
    int (*pinned)(ty_device *device, const void *block, size_t bytes);

    /* Compiles `source` with "-D…" `options`, or loads it from the kernels file or the disk cache;
     * *origin says which. A failure carries the compiler's log. */
    tally_status (*build)(ty_device *device, const char *source, const char *options,
                          void **program, int *origin, tally_error *error);
    /* After the queues that it was launched on. */
    void (*program_close)(ty_device *device, void *program);
    tally_status (*stats)(ty_device *device, void *program, const char *kernel,
                          ty_kernel_stats *stats, tally_error *error);
    /* Not early while the queue records a graph. */
    tally_status (*launch)(ty_device *device, void *queue, void *program, const char *kernel,
                           const ty_launch *launch, tally_error *error);

    /* Device time: events on a queue, and the seconds between two that have passed. `event_wait`
     * returns when what is before the event is done. */
    tally_status (*event_record)(ty_device *device, void *queue, void **event, tally_error *error);
    tally_status (*event_wait)(ty_device *device, void *event, tally_error *error);
    double (*elapsed)(ty_device *device, void *from, void *to);
    void (*event_close)(ty_device *device, void *event);
} ty_device_ops;

/* An open device. `native` is its runtime's own. */
struct ty_device {
    const ty_device_ops *ops;
    void *native;
    char name[128];
    char signature[320]; /* device and driver (OpenCL: compiler too): part of the cache's key */
    uint64_t memory_bytes;
    uint32_t units;            /* multiprocessors, compute units */
    uint32_t group_max;        /* work-items of a group */
    uint32_t local_bytes;      /* most local memory a group may have */
    uint32_t unit_local_bytes; /* local memory of one unit */
    uint32_t unit_threads;     /* work-items that one unit holds at once */
    uint32_t warp;             /* work-items that can be synchronised as a warp; 1: none */
    uint32_t capability;       /* CUDA: 90 for 9.0; else 0 */
    int has_fp64;
    int has_fence; /* what a group wrote before a fence is seen by one that is told so after it */
    int has_wide_atomics;        /* atomic operations of 64 bits */
    struct ty_orders *orders;    /* order.c's; under the same lock */
    struct ty_spare *spares;     /* gather.c's; under it too */
    struct ty_workspace *parked; /* workspace.c's; under it too */
    unsigned parked_count;
    struct ty_program *programs; /* programs.h; the lock is theirs */
    pthread_mutex_t programs_lock;
};

extern const ty_device_ops ty_opencl_ops, ty_cuda_ops;

/* ---- cache.c: compiled programs on disk ---- */

/* The user's folder for what Tally keeps, made with `make` and then only if it is the user's alone.
 * Leaves room for a name of 79 bytes. 0 where there is none. */
int ty_cache_folder(char *path, size_t size, int make);
/* Opens a file of that folder for reading: a regular one, and the folder and the file the user's
 * alone. -1: there is none (*why is NULL), or *why says what keeps it from being read. Waits for
 * nobody. */
int ty_cache_open(const char *path, const char **why);
/* Whether all of `size` bytes could be read from byte `offset` on. */
int ty_cache_read(int fd, uint64_t offset, void *bytes, size_t size);
/* Whether all could be written. */
int ty_cache_write(int fd, const void *bytes, size_t size);
/* Reads the entry for (source, options, signature): its bytes (ty_free) or NULL. A corrupt or
 * foreign entry is not there. */
void *ty_cache_get(const char *source, const char *options, const char *signature, size_t *size);
/* Writes it; failures are silent, for the cache is only a convenience. */
void ty_cache_put(const char *source, const char *options, const char *signature, const void *bytes,
                  size_t size);

/* ---- nvrtc.c: CUDA C to machine code ---- */

/* Compiles for `capability`; *code (ty_free) is a cubin. `log`, unless NULL, gets what the compiler
 * said (ty_free; NULL for nothing). */
tally_status ty_nvrtc_compile(const char *source, const char *options, uint32_t capability,
                              void **code, size_t *size, char **log, tally_error *error);
/* The same as PTX, ended by a NUL, which drivers assemble for any architecture from `capability`.
 */
tally_status ty_nvrtc_ptx(const char *source, const char *options, uint32_t capability, void **code,
                          size_t *size, tally_error *error);
/* "13.0", or NULL with the reason why there is no compiler. */
const char *ty_nvrtc_version(char *reason, size_t size);

/* ---- virtual_device.c ---- */

/* The architectures that kernels are compiled for ahead of time, ended by 0; and a CUDA device of
 * one, as far as launches and kernels' options depend on it, without a driver. */
extern const uint32_t ty_architectures[];
ty_device ty_device_virtual(uint32_t capability);

#endif
