/* One dialect for kernels and host: what bin.h and the kernels may use under C11, OpenCL C 1.2 and
 * CUDA C. No fused multiply-add anywhere: all three are compiled with contraction off. */
#ifndef TY_DIALECT_H
#define TY_DIALECT_H

#if defined(__OPENCL_VERSION__)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
typedef uchar ty_u8;
typedef ushort ty_u16;
typedef uint ty_u32;
typedef ulong ty_u64;
typedef long ty_i64;
#define TY_FN      static inline
#define TY_RINT(x) rint(x)
#define TY_TABLE   __global const
#elif defined(__CUDACC__)
typedef unsigned char ty_u8;
typedef unsigned short ty_u16;
typedef unsigned int ty_u32;
typedef unsigned long long ty_u64;
typedef long long ty_i64;
#define TY_FN      static __device__ __forceinline__
#define TY_RINT(x) rint(x)
#define TY_TABLE   const
#else
#include <math.h>
#include <stdint.h>
typedef uint8_t ty_u8;
typedef uint16_t ty_u16;
typedef uint32_t ty_u32;
typedef uint64_t ty_u64;
typedef int64_t ty_i64;
#define TY_FN      static inline
#define TY_TABLE   const
/* Round to nearest by the magic number: exact for |x| < 2^51, one add and one subtract on every
 * CPU. */
#define TY_RINT(x) (((x) + 6755399441055744.0) - 6755399441055744.0)
#endif

#endif
