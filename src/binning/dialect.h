/* One dialect for kernels and host: what bin.h and the kernels may use under C11, OpenCL C 1.2 and
 * CUDA C. All three are compiled with contraction off: a multiply-add is fused only where it is
 * written as one. */
#ifndef TY_DIALECT_H
#define TY_DIALECT_H

/*
 * A kernel is written
 *
 *     TY_KERNEL(group_size) name(TY_GLOBAL const ty_u8 *data, … TY_LOCAL_ARG)
 *     {
 *         TY_LOCAL_INIT
 *         … ty_local[i] …
 *
 * (TY_KERNEL_DENSE also says how many groups a multiprocessor should hold, which bounds the
 * registers) where ty_local is the group's local memory as 32-bit words, the first at a multiple of
 * 16 bytes: a trailing argument under OpenCL, the dynamic shared memory under CUDA.
 */
#if defined(__OPENCL_VERSION__)
#if defined(cl_khr_fp64) && !defined(TY_NO_FP64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#elif !defined(TY_NO_FP64)
#define TY_NO_FP64 /* bytes need none: their slots are in a table */
#endif
#pragma OPENCL FP_CONTRACT OFF
typedef uchar ty_u8;
typedef char ty_i8;
typedef ushort ty_u16;
typedef short ty_i16;
typedef uint ty_u32;
typedef int ty_i32;
typedef ulong ty_u64;
typedef long ty_i64;
#define TY_KERNEL(size) __kernel __attribute__((reqd_work_group_size(size, 1, 1))) void

#define TY_KERNEL_DENSE(size, groups) TY_KERNEL(size)
#define TY_FN                         static inline
#define TY_TABLE                      __global const
#define TY_GLOBAL                     __global
#define TY_LOCAL                      __local
#define TY_LOCAL_ARG                  , __local uint4 *ty_local_vectors
#define TY_LOCAL_INIT                 __local ty_u32 *ty_local = (__local ty_u32 *)ty_local_vectors;
#define TY_LID                        ((ty_u32)get_local_id(0))
#define TY_GROUP                      ((ty_u32)get_group_id(0))
#define TY_GROUPS                     ((ty_u32)get_num_groups(0))
#define TY_BARRIER()                  barrier(CLK_LOCAL_MEM_FENCE)
#define TY_GLOBAL_BARRIER()           barrier(CLK_GLOBAL_MEM_FENCE)
#define TY_WHOLE_BARRIER()            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define TY_ADD_LOCAL(address, value)                                                               \
    atomic_add((volatile __local ty_u32 *)(address), (ty_u32)(value))
#define TY_ADD_GLOBAL(address, value)                                                              \
    atomic_add((volatile __global ty_u32 *)(address), (ty_u32)(value))
#define TY_AND_LOCAL(address, value)                                                               \
    atomic_and((volatile __local ty_u32 *)(address), (ty_u32)(value))
#define TY_DEC_LOCAL(address) atomic_dec((volatile __local ty_u32 *)(address)) /* wraps */
#define TY_SWAP_LOCAL(address, value)                                                              \
    atomic_xchg((volatile __local ty_u32 *)(address), (ty_u32)(value))
/* Local memory by addresses, of which `first` is a pointer to the one of TY_LOCAL_ADDRESS: they
 * take no more arithmetic than is written. */
#define TY_LOCAL_ADDRESS(first)          0u
#define TY_LOAD_AT(first, address)       (*TY_LOCAL_AT(first, address))
#define TY_ADD_AT(first, address, value) TY_ADD_LOCAL(TY_LOCAL_AT(first, address), value)
#define TY_FETCH_ADD_AT                  TY_ADD_AT /* what was there */
#define TY_INC_AT(first, address)        TY_ADD_AT(first, address, 1)
#define TY_INC_AT_IF(first, address, condition)                                                    \
    ((condition) ? (void)TY_ADD_AT(first, address, 1) : (void)0)
#define TY_LOCAL_AT(first, address) ((__local ty_u32 *)((__local ty_u8 *)(first) + (address)))
#define TY_SWAP_LOCAL_IF(address, old, value)                                                      \
    atomic_cmpxchg((volatile __local ty_u32 *)(address), (ty_u32)(old), (ty_u32)(value))
#define TY_MIN_LOCAL(address, value)                                                               \
    atomic_min((volatile __local ty_u32 *)(address), (ty_u32)(value))
#define TY_MIN_GLOBAL(address, value)                                                              \
    atomic_min((volatile __global ty_u32 *)(address), (ty_u32)(value))
#define TY_ADD_WIDE(address, value) ty_add_wide(address, value)
#define TY_PREFETCH(from)           ((void)(from))
#define TY_DISCARD(line)
#define TY_TAKE_GLOBAL(address) atomic_xchg((volatile __global ty_u32 *)(address), 0u)
#define TY_GRID_WAIT()
#define TY_GRID_TRIGGER()
#define TY_READ(p) (*(p))
/* Adds to a 64-bit word by the 32-bit atomics that every device has: each wrap of the lower half is
 * seen by exactly one work-item, which carries it. The word is right when all have added. */
TY_FN void ty_add_wide(__global ty_u64 *address, ty_u64 value)
{
    volatile __global ty_u32 *halves = (volatile __global ty_u32 *)address;
    ty_u32 low = (ty_u32)value, old = atomic_add(halves, low);
    ty_u32 high = (ty_u32)(value >> 32) + (old + low < low ? 1u : 0u);
    if (high)
        atomic_add(halves + 1, high);
}
#define TY_RINT(x)     rint(x)
#define TY_SET_BITS(x) ((ty_u32)popcount((ty_u32)(x)))
#define TY_MAX_LOCAL(address, value)                                                               \
    atomic_max((volatile __local ty_u32 *)(address), (ty_u32)(value))
#define TY_MAX_GLOBAL(address, value)                                                              \
    atomic_max((volatile __global ty_u32 *)(address), (ty_u32)(value))
#define TY_OR_GLOBAL(address, value)                                                               \
    atomic_or((volatile __global ty_u32 *)(address), (ty_u32)(value))
#define TY_AS_FLOAT(x)   as_float(x)
#define TY_BITS_OF(x)    as_ulong((double)(x))
#define TY_AS_DOUBLE(x)  as_double((ulong)(x))
#define TY_FLOAT_BITS(x) as_uint(x)
#define TY_LOW_WORD(x)   ((ty_u32)as_ulong(x))
#define TY_FMAF(a, b, c) fma((float)(a), (float)(b), (float)(c))
#define TY_FLOOR(x)      floor((float)(x))
#define TY_FMA(a, b, c)  fma((double)(a), (double)(b), (double)(c))
#define TY_FABS(x)       fabs(x)
#define TY_MAX_ABS(x, y) fmax(fabs(x), (y))
#define TY_SATURATE(x)   fmin(fmax((x), 0.0f), 1.0f)
#define TY_MUL_HI(a, b)  mul_hi((ty_u32)(a), (ty_u32)(b))
#define TY_STREAM(from)  (*(from)) /* a load of what is read once */
#define TY_PINNED(from)  (*(from))
#define TY_PIN(number, zero)
/* A word whose byte 1 is 0 with byte k of another there. */
#define TY_BYTE_INTO(word, other, k) ((word) | (((other) >> 8 * (k)&0xffu) << 8))
/* NVIDIA's compiler takes PTX; a group that is a few warps runs in lock step only where it is asked
 * to. What TY_READ took above TY_READ_FIRST is read before anything below: left alone, the
 * assembler moves each read down to its use, to save registers, and then waits for memory a word at
 * a time. What TY_OPAQUE passed over is for the compiler another word: nothing computed from it
 * before is kept in registers for what is computed after.
 */
#if defined(TY_WARP) && TY_WARP == 32
#define TY_UNROLL       __attribute__((opencl_unroll_hint))
#define TY_ROLLED       __attribute__((opencl_unroll_hint(1)))
#define TY_UNROLL4      __attribute__((opencl_unroll_hint(4)))
#define TY_WARP_SYNC()  __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#define TY_READ_FIRST() TY_WARP_SYNC()
#if defined(TY_BOUNDED) /* with registers for all loads, as opencl_build.c has it, they stay */
#define TY_LOADED()
#else
#define TY_LOADED() TY_READ_FIRST()
#endif
#define TY_OPAQUE(word)      __asm__ volatile("" : "+r"(word))
#define TY_OPAQUE_LONG(word) __asm__ volatile("" : "+l"(word))
#define TY_DEVICE_FENCE()    __asm__ volatile("membar.gl;" ::: "memory")
TY_FN ty_u32 TY_SHUFFLE_UP(ty_u32 value, ty_u32 lanes)
{
    ty_u32 got;
    __asm__ volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;"
                     : "=r"(got)
                     : "r"(value), "r"(lanes));
    return got;
}
TY_FN ty_u32 TY_SHUFFLE(ty_u32 value, ty_u32 lane)
{
    ty_u32 got;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;"
                     : "=r"(got)
                     : "r"(value), "r"(lane));
    return got;
}
/* A bit for each lane whose condition holds. */
TY_FN ty_u32 TY_BALLOT(int condition)
{
    ty_u32 got;
    __asm__ volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}"
                     : "=r"(got)
                     : "r"(condition));
    return got;
}
/* The bits that any lane has. */
TY_FN ty_u32 TY_ANY_BITS(ty_u32 word)
{
    for (ty_u32 d = 1; d < 32; d *= 2)
        word |= TY_SHUFFLE(word, (ty_u32)get_local_id(0) % 32 ^ d);
    return word;
}
#else
#define TY_UNROLL /* a device that runs work-items as a loop of its own has no use for it */
#define TY_ROLLED
#define TY_UNROLL4
#define TY_WARP_SYNC() barrier(CLK_LOCAL_MEM_FENCE)
#define TY_DEVICE_FENCE()                                                                          \
    mem_fence(CLK_GLOBAL_MEM_FENCE) /* 1.2 promises no more: ty_device.has_fence */
#define TY_READ_FIRST()
#define TY_LOADED()
#define TY_OPAQUE(word)
#define TY_OPAQUE_LONG(word)
#endif
#elif defined(__CUDACC__)
typedef unsigned char ty_u8;
typedef signed char ty_i8;
typedef unsigned short ty_u16;
typedef short ty_i16;
typedef unsigned int ty_u32;
typedef int ty_i32;
typedef unsigned long long ty_u64;
typedef long long ty_i64;
#define TY_FN    static __device__ __forceinline__
#define TY_TABLE const
#define TY_GLOBAL
#define TY_UNROLL  _Pragma("unroll")
#define TY_ROLLED  _Pragma("unroll 1")
#define TY_UNROLL4 _Pragma("unroll 4")
#define TY_LOCAL
#define TY_KERNEL_DENSE(size, groups) extern "C" __global__ void __launch_bounds__(size, groups)
#define TY_KERNEL(size)               extern "C" __global__ void __launch_bounds__(size)
#define TY_LOCAL_ARG
#define TY_LOCAL_INIT                      extern __shared__ __align__(16) ty_u32 ty_local[];
#define TY_LID                             (threadIdx.x)
#define TY_GROUP                           (blockIdx.x)
#define TY_GROUPS                          (gridDim.x)
#define TY_BARRIER()                       __syncthreads()
#define TY_GLOBAL_BARRIER()                __syncthreads()
#define TY_WHOLE_BARRIER()                 __syncthreads()
#define TY_DEVICE_FENCE()                  __threadfence()
#define TY_ADD_LOCAL(address, value)       atomicAdd((ty_u32 *)(address), (ty_u32)(value))
#define TY_ADD_GLOBAL(address, value)      atomicAdd((ty_u32 *)(address), (ty_u32)(value))
#define TY_ADD_WIDE(address, value)        atomicAdd((ty_u64 *)(address), (ty_u64)(value))
#define TY_AND_LOCAL(address, value)       atomicAnd((ty_u32 *)(address), (ty_u32)(value))
#define TY_DEC_LOCAL(address)              atomicDec((ty_u32 *)(address), 0xffffffffu)
#define TY_SWAP_LOCAL(address, value)      atomicExch((ty_u32 *)(address), (ty_u32)(value))
#define TY_PREFETCH(from)                  asm volatile("prefetch.global.L2 [%0];" : : "l"(from))
#define TY_LOCAL_ADDRESS(first)            ((ty_u32)__cvta_generic_to_shared(first))
#define TY_LOAD_AT(first, address)         ty_load_at(address)
#define TY_ADD_AT(first, address, value)   ty_add_at(address, value)
#define TY_FETCH_ADD_AT(first, at, value)  ty_fetch_add_at(at, value)
#define TY_INC_AT(first, address)          ty_inc_at(address)
#define TY_INC_AT_IF(first, at, condition) ty_inc_at_if(at, condition)
#define TY_SWAP_LOCAL_IF(address, old, value)                                                      \
    atomicCAS((ty_u32 *)(address), (ty_u32)(old), (ty_u32)(value))
#define TY_MIN_LOCAL(address, value)  atomicMin((ty_u32 *)(address), (ty_u32)(value))
#define TY_MIN_GLOBAL(address, value) atomicMin((ty_u32 *)(address), (ty_u32)(value))
#define TY_TAKE_GLOBAL(address)       atomicExch((ty_u32 *)(address), 0u)
#define TY_RINT(x)                    rint(x)
#define TY_MAX_LOCAL(address, value)  atomicMax((ty_u32 *)(address), (ty_u32)(value))
#define TY_MAX_GLOBAL(address, value) atomicMax((ty_u32 *)(address), (ty_u32)(value))
#define TY_OR_GLOBAL(address, value)  atomicOr((ty_u32 *)(address), (ty_u32)(value))
#define TY_AS_FLOAT(x)                __uint_as_float(x)
#define TY_BITS_OF(x)                 ((ty_u64)__double_as_longlong(x))
#define TY_AS_DOUBLE(x)               __longlong_as_double((long long)(x))
#define TY_FLOAT_BITS(x)              __float_as_uint(x)
#define TY_LOW_WORD(x)                ((ty_u32)__double2loint(x))
#define TY_FMAF(a, b, c)              __fmaf_rn(a, b, c)
#define TY_FMA(a, b, c)               __fma_rn(a, b, c)
#define TY_FABS(x)                    fabsf(x)
#define TY_MAX_ABS(x, y)              fmaxf(fabsf(x), (y))
#define TY_SATURATE(x)                __saturatef(x)
#define TY_MUL_HI(a, b)               __umulhi((a), (b))
#define TY_STREAM(from)               __ldcs(from)
#define TY_BYTE_INTO(word, other, k)  __byte_perm((word), (other), 0x3200 | (4 + (k)) << 4)
#define TY_SHUFFLE_UP(value, lanes)   __shfl_up_sync(0xffffffffu, (value), (lanes))
#define TY_SHUFFLE(value, lane)       __shfl_sync(0xffffffffu, (value), (lane))
#define TY_WARP_SYNC()                __syncwarp()
#define TY_READ_FIRST()               __syncwarp()
#define TY_LOADED()
#define TY_OPAQUE(word)      asm volatile("" : "+r"(word))
#define TY_OPAQUE_LONG(word) asm volatile("" : "+l"(word))
#define TY_READ(p)           ty_read(p)

TY_FN ty_u32 ty_load_at(ty_u32 address)
{
    ty_u32 word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
    return word;
}

TY_FN void ty_add_at(ty_u32 address, ty_u32 value)
{
    asm volatile("red.shared.add.u32 [%0], %1;" : : "r"(address), "r"(value) : "memory");
}

TY_FN ty_u32 ty_fetch_add_at(ty_u32 address, ty_u32 value)
{
    ty_u32 old;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;"
                 : "=r"(old)
                 : "r"(address), "r"(value)
                 : "memory");
    return old;
}

TY_FN void ty_inc_at(ty_u32 address)
{
    asm volatile("red.shared.add.u32 [%0], 1;" : : "r"(address) : "memory");
}

/* Without a branch. */
TY_FN void ty_inc_at_if(ty_u32 address, int condition)
{
    asm volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; @p red.shared.add.u32 [%0], 1;}"
                 :
                 : "r"(address), "r"(condition)
                 : "memory");
}

/* A load of what is read once that stays before TY_PIN in a loop: left alone, the assembler moves
 * loads down to their use. The branch is never taken; it has a number so that two are not made one.
 */
#define TY_PINNED(from)      ty_pinned(from)
#define TY_PIN(number, zero)                                                                       \
    {                                                                                              \
        ty_u32 never = (zero);                                                                     \
        TY_OPAQUE(never);                                                                          \
        if (never == ~(ty_u32)(number))                                                            \
            break;                                                                                 \
    }
TY_FN uint4 ty_pinned(const uint4 *from)
{
    uint4 q;
    asm volatile("ld.relaxed.gpu.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(q.x), "=r"(q.y), "=r"(q.z), "=r"(q.w)
                 : "l"(from)
                 : "memory");
    return q;
}

/* A plain read of what no one writes may pass any barrier. */
TY_FN ty_u32 ty_read(const ty_u32 *p)
{
    ty_u32 word;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(word) : "l"(p) : "memory");
    return word;
}
/* A kernel that was launched early (ty_launch.early) waits for all that is before it,
 * and lets what is behind it start, which waits in turn. Both do nothing after an ordinary launch.
 */
#if __CUDA_ARCH__ >= 900
#define TY_GRID_WAIT()    asm volatile("griddepcontrol.wait;" ::: "memory")
#define TY_GRID_TRIGGER() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#else
#define TY_GRID_WAIT()
#define TY_GRID_TRIGGER()
#endif
/* 128 bytes whose content no one needs any more: they are not written back to memory. */
#if __CUDA_ARCH__ >= 800
#define TY_DISCARD(line) asm volatile("discard.global.L2 [%0], 128;" : : "l"(line) : "memory")
#else
#define TY_DISCARD(line)
#endif
/* Barrier `number` (1 … 15) of `size` work-items: some wait, the others only say that they have
 * come. Where there is no such thing TY_MEET is a barrier of the whole group, and TY_MEET_TOO, for
 * a meeting that such barriers before and behind it replace, is nothing. */
#define TY_MEET(comes, number, size, waits)                                                        \
    do {                                                                                           \
        if (comes)                                                                                 \
            ty_meet(number, size, waits);                                                          \
    } while (0)
#define TY_MEET_TOO(number, size, waits) ty_meet(number, size, waits)
TY_FN void ty_meet(ty_u32 number, ty_u32 size, int waits)
{
    if (waits)
        asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(size) : "memory");
    else
        asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(size) : "memory");
}
/* Local memory by numbers of bytes from its first word on. From compute capability 8.0 on ty_local
 * lies at 1 024 (TY_LOCAL_CHECK): an offset in the instruction, where a pointer would cost an
 * addition.
 */
#define TY_LOCAL_CHECK()                                                                           \
    if (__cvta_generic_to_shared(ty_local) != 1024)                                                \
    asm volatile("trap;")
#define TY_COUNT_AT(first, at)  ty_count_at(at)
#define TY_VECTOR_AT(first, at) ty_vector_at(at)
TY_FN void ty_count_at(ty_u32 at)
{
    asm volatile("red.shared.add.u32 [%0+1024], 1;" : : "r"(at) : "memory");
}
TY_FN uint4 ty_vector_at(ty_u32 at)
{
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4+1024];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(at)
                 : "memory");
    return v;
}
/* 16 bytes from global to local memory, past the registers and the first-level cache. TY_COPIED
 * numbers what was begun since the last one; TY_COPIES_LEFT(n) waits for all numbers but the last
 * n.
 */
#if __CUDA_ARCH__ >= 800
#define TY_COPY(first, at, from)                                                                   \
    asm volatile("cp.async.cg.shared.global [%0+1024], [%1], 16;" ::"r"(at), "l"(from) : "memory")
#define TY_COPIED()       asm volatile("cp.async.commit_group;" ::: "memory")
#define TY_COPIES_LEFT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#else
#define TY_COPY(first, at, from) ty_copy(at, *(from))
#define TY_COPIED()
#define TY_COPIES_LEFT(n)
TY_FN void ty_copy(ty_u32 at, uint4 v)
{
    asm volatile("st.shared.v4.u32 [%0+1024], {%1, %2, %3, %4};" ::"r"(at), "r"(v.x), "r"(v.y),
                 "r"(v.z), "r"(v.w)
                 : "memory");
}
#endif
#define TY_BALLOT(condition) __ballot_sync(0xffffffffu, condition)
#define TY_SET_BITS(x)       ((ty_u32)__popc(x))
#if __CUDA_ARCH__ >= 800
#define TY_ANY_BITS(word)  __reduce_or_sync(0xffffffffu, word)
#define TY_SUM_LANES(word) __reduce_add_sync(0xffffffffu, word)
#else
TY_FN ty_u32 TY_SUM_LANES(ty_u32 word)
{
    for (ty_u32 d = 1; d < 32; d *= 2)
        word += __shfl_xor_sync(0xffffffffu, word, d);
    return word;
}
TY_FN ty_u32 TY_ANY_BITS(ty_u32 word)
{
    for (ty_u32 d = 1; d < 32; d *= 2)
        word |= __shfl_xor_sync(0xffffffffu, word, d);
    return word;
}
#endif
#define TY_POPCOUNT(x) ((ty_u32)__popc(x))
#define TY_LAST(x)     (31u - (ty_u32)__clz((int)(x)))
#else
#include <math.h>
#include <stdint.h>
typedef uint8_t ty_u8;
typedef uint16_t ty_u16;
typedef uint32_t ty_u32;
typedef int32_t ty_i32;
typedef uint64_t ty_u64;
typedef int64_t ty_i64;
#define TY_FN    static inline
#define TY_TABLE const
#define TY_LOCAL
#define TY_GLOBAL
#define TY_ROLLED
#define TY_TIES          2 /* whatever the axis (cell.h) */
/* Round to nearest by the magic number: exact for |x| < 2^51, one add and one subtract on every
 * CPU. */
#define TY_RINT(x)       (((x) + 6755399441055744.0) - 6755399441055744.0)
#define TY_FLOAT_BITS(x) ty_float_bits(x)
#define TY_AS_FLOAT(x)   ty_as_float(x)
#define TY_AS_DOUBLE(x)  ty_as_double(x)
#define TY_MUL_HI(a, b)  ((ty_u32)((ty_u64)(a) * (b) >> 32))
#define TY_LOW_WORD(x)   ty_low_word(x)
#define TY_BITS_OF(x)    ty_double_bits(x)
#define TY_FMAF(a, b, c) fmaf(a, b, c)
#define TY_FLOOR(x)      floorf(x)
#define TY_FMA(a, b, c)  fma(a, b, c)
#define TY_FABS(x)       fabsf(x)
#define TY_MAX_ABS(x, y) fmaxf(fabsf(x), (y))
#define TY_SATURATE(x)   ty_saturate(x)

TY_FN ty_u32 ty_float_bits(float x)
{
    union {
        float f;
        ty_u32 u;
    } v = {x};
    return v.u;
}

TY_FN float ty_as_float(ty_u32 u)
{
    union {
        ty_u32 u;
        float f;
    } v = {u};
    return v.f;
}

TY_FN ty_u64 ty_double_bits(double x)
{
    union {
        double d;
        ty_u64 u;
    } v = {x};
    return v.u;
}

TY_FN double ty_as_double(ty_u64 u)
{
    union {
        ty_u64 u;
        double d;
    } v = {u};
    return v.d;
}

TY_FN ty_u32 ty_low_word(double x)
{
    return (ty_u32)ty_double_bits(x);
}

/* NaN becomes 0. */
TY_FN float ty_saturate(float x)
{
    return x > 0 ? x < 1 ? x : 1 : 0;
}
#endif

#if defined(__CUDACC__) || (defined(__OPENCL_VERSION__) && defined(TY_WARP) && TY_WARP == 32)
/* Instructions that neither language has a word for. */
#if defined(__CUDACC__)
#define TY_ASM                asm
#define TY_LOCAL_BYTES(local) ((ty_u32)__cvta_generic_to_shared(local))
#else
#define TY_ASM                __asm__
#define TY_LOCAL_BYTES(local) ((ty_u32)(ulong)(local))
#endif

/* Adds 1 to the word of local memory at a number of bytes. */
#define TY_INC_LOCAL_AT(byte) TY_ASM volatile("red.shared.add.u32 [%0], 1;" ::"r"(byte) : "memory")

/* 16 bytes that no one writes, past the first-level cache. */
#define TY_READ_ONCE(quad) ty_read_once(quad)
TY_FN uint4 ty_read_once(TY_GLOBAL const uint4 *quad)
{
    uint4 v;
    TY_ASM volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                    : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                    : "l"((ty_u64)quad));
    return v;
}

#define TY_FLOOR_BITS(x, n)   ty_floor_bits(x, n)
#define TY_MIN_NAN(a, b)      ty_min_nan(a, b)
#define TY_OF_HALF(bits)      ty_of_half(bits)
#define TY_FMA_DOWN(a, b, c)  ty_fma_down(a, b, c)
#define TY_MAD_UPPER(a, b, c) ty_mad_upper(a, b, c)

/* floor(x) + n: the multiple of 2^-149 below, whose bits are that number. Below zero it comes out
 * below zero, above 2^24 above 2^24; a NaN above all. */
TY_FN int ty_floor_bits(float x, ty_u32 n)
{
    float sum;
    TY_ASM("fma.rm.f32 %0, %1, 0f00000001, %2;" : "=f"(sum) : "f"(x), "f"(TY_AS_FLOAT(n)));
    return (int)TY_FLOAT_BITS(sum);
}

/* The same of x*scale + shift, in multiples of 2^-149. */
TY_FN int ty_floor_fma(float x, float scale, float shift)
{
    float sum;
    TY_ASM("fma.rm.f32 %0, %1, %2, %3;" : "=f"(sum) : "f"(x), "f"(scale), "f"(shift));
    return (int)TY_FLOAT_BITS(sum);
}

/* The smaller, or NaN if the first is one. */
TY_FN float ty_min_nan(float a, float b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float least;
    TY_ASM("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
    return least;
#else
    return a > b ? b : a;
#endif
}

/* Rounded down. */
TY_FN float ty_fma_down(float a, float b, float c)
{
    float sum;
    TY_ASM("fma.rm.f32 %0, %1, %2, %3;" : "=f"(sum) : "f"(a), "f"(b), "f"(c));
    return sum;
}

TY_FN float ty_of_half(ty_u16 bits)
{
    float value;
    TY_ASM("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

/* One instruction, where the compiler makes two of a sum in 64 bits. */
TY_FN ty_u32 ty_mad_upper(ty_u32 a, ty_u32 b, ty_u64 c)
{
    ty_u32 upper;
    TY_ASM("{.reg .u32 low; mad.lo.cc.u32 low, %1, %2, %3; madc.hi.u32 %0, %1, %2, %4;}"
           : "=r"(upper)
           : "r"(a), "r"(b), "r"((ty_u32)c), "r"((ty_u32)(c >> 32)));
    return upper;
}
#else
/* The upper word of a*b + c. */
#define TY_MAD_UPPER(a, b, c) ((ty_u32)(((ty_u64)(a) * (b) + (c)) >> 32))
#endif

#if !defined(TY_MEET)
#define TY_MEET(comes, number, size, waits) TY_BARRIER()
#define TY_MEET_TOO(number, size, waits)
#define TY_LOCAL_CHECK()
#define TY_COUNT_AT(first, at)   TY_ADD_LOCAL((TY_LOCAL ty_u8 *)(first) + (at), 1)
#define TY_VECTOR_AT(first, at)  (*(TY_LOCAL uint4 *)((TY_LOCAL ty_u8 *)(first) + (at)))
#define TY_COPY(first, at, from) (TY_VECTOR_AT(first, at) = *(from))
#define TY_COPIED()
#define TY_COPIES_LEFT(n)
#endif

#endif
/* SPDX-License-Identifier: Apache-2.0 */
