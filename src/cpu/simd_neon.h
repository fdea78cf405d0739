/* SPDX-License-Identifier: Apache-2.0 */
/* simd.h's vectors for aarch64. */
#ifndef TY_SIMD_NEON_H
#define TY_SIMD_NEON_H

/* Two vectors of two, so that the slots fill one of four. */
enum { F64_LANES = 4, F64_FUSED = 1 };
typedef struct f64x {
    float64x2_t a, b;
} f64x;
typedef struct f64x_mask {
    uint64x2_t a, b;
} f64x_mask;
typedef uint32x4_t u32h;

#define F64X_PAIR(name, result, operand, ...)                                                      \
    INLINE result name(operand x, operand y)                                                       \
    {                                                                                              \
        return (result){__VA_ARGS__(x.a, y.a), __VA_ARGS__(x.b, y.b)};                             \
    }
F64X_PAIR(f64x_add, f64x, f64x, vaddq_f64)
F64X_PAIR(f64x_sub, f64x, f64x, vsubq_f64)
F64X_PAIR(f64x_mul, f64x, f64x, vmulq_f64)
F64X_PAIR(f64x_min, f64x, f64x, vminq_f64)
F64X_PAIR(f64x_max, f64x, f64x, vmaxq_f64)
F64X_PAIR(f64x_below, f64x_mask, f64x, vcltq_f64)
F64X_PAIR(f64x_equal, f64x_mask, f64x, vceqq_f64)
F64X_PAIR(f64x_mask_and, f64x_mask, f64x_mask, vandq_u64)
F64X_PAIR(f64x_mask_or, f64x_mask, f64x_mask, vorrq_u64)
#undef F64X_PAIR

#define f64x_clamp(x, a, b)        f64x_max(a, f64x_min(b, x))
#define f64x_whole_distance(a)     f64x_abs(f64x_sub(a, f64x_nearest(a)))
#define f64x_mask_none()           ((f64x_mask){vdupq_n_u64(0), vdupq_n_u64(0)})
#define f64x_mask_any(s)           (vmaxvq_u32(f64x_mask_low(s)) != 0)
#define f64x_affine_floor(a, b, c) f64x_add(f64x_floor(f64x_mul(a, b)), c)

INLINE f64x f64x_fill(double x)
{
    return (f64x){vdupq_n_f64(x), vdupq_n_f64(x)};
}

INLINE f64x f64x_mul_add(f64x x, f64x y, f64x z)
{
    return (f64x){vfmaq_f64(z.a, x.a, y.a), vfmaq_f64(z.b, x.b, y.b)};
}

INLINE f64x f64x_select(f64x_mask s, f64x x, f64x y)
{
    return (f64x){vbslq_f64(s.a, x.a, y.a), vbslq_f64(s.b, x.b, y.b)};
}

INLINE f64x f64x_abs(f64x x)
{
    return (f64x){vabsq_f64(x.a), vabsq_f64(x.b)};
}

INLINE f64x f64x_nearest(f64x x)
{
    return (f64x){vrndnq_f64(x.a), vrndnq_f64(x.b)};
}

INLINE f64x f64x_floor(f64x x)
{
    return (f64x){vrndmq_f64(x.a), vrndmq_f64(x.b)};
}

INLINE f64x_mask f64x_not_below(f64x x, f64x y)
{
    const f64x_mask s = f64x_below(x, y);
    const uint64x2_t all = vdupq_n_u64(UINT64_MAX);
    return (f64x_mask){veorq_u64(s.a, all), veorq_u64(s.b, all)};
}

INLINE uint32x4_t f64x_mask_low(f64x_mask s)
{
    return vcombine_u32(vmovn_u64(s.a), vmovn_u64(s.b));
}

/* INT32_MIN of NaN, too: converted it is 0. */
INLINE uint32x2_t f64_narrow(float64x2_t x, int64x2_t whole)
{
    const uint64x2_t inside = vcaltq_f64(x, vdupq_n_f64(0x1p31));
    return vreinterpret_u32_s32(vmovn_s64(vbslq_s64(inside, whole, vdupq_n_s64(INT32_MIN))));
}

INLINE u32h f64x_round_i32(f64x x)
{
    return vcombine_u32(f64_narrow(x.a, vcvtnq_s64_f64(x.a)), f64_narrow(x.b, vcvtnq_s64_f64(x.b)));
}

INLINE u32h f64x_truncate_i32(f64x x)
{
    return vcombine_u32(f64_narrow(x.a, vcvtq_s64_f64(x.a)), f64_narrow(x.b, vcvtq_s64_f64(x.b)));
}

INLINE u32h f64x_high_u32(f64x x)
{
    return vcombine_u32(vshrn_n_u64(vreinterpretq_u64_f64(x.a), 32),
                        vshrn_n_u64(vreinterpretq_u64_f64(x.b), 32));
}

#define u32h_fill(x)           vdupq_n_u32((uint32_t)(x))
#define u32h_load(p)           vld1q_u32((const uint32_t *)(const void *)(p))
#define u32h_store(p, i)       vst1q_u32((uint32_t *)(void *)(p), i)
#define u32h_add(a, b)         vaddq_u32(a, b)
#define u32h_sub(a, b)         vsubq_u32(a, b)
#define u32h_and(a, b)         vandq_u32(a, b)
#define u32h_or3(a, b, c)      vorrq_u32(vorrq_u32(a, b), c)
#define u32h_any_top_bit(a)    (vmaxvq_u32(a) >> 31 != 0)
#define u32h_xor(a, b)         veorq_u32(a, b)
#define u32h_min(a, b)         vminq_u32(a, b)
#define u32h_sign_mask(a)      vreinterpretq_u32_s32(vshrq_n_s32(vreinterpretq_s32_u32(a), 31))
#define u32h_shift_left(a, n)  vshlq_u32(a, vdupq_n_s32((int32_t)(n)))
#define u32h_shift_right(a, n) vshlq_u32(a, vdupq_n_s32(-(int32_t)(n)))
#define u32h_increment(n, s)   vsubq_u32(n, f64x_mask_low(s))
#define u32h_select(s, a, b)   vbslq_u32(f64x_mask_low(s), a, b)

INLINE f64x f64x_of_f32(float32x4_t x)
{
    return (f64x){vcvt_f64_f32(vget_low_f32(x)), vcvt_high_f64_f32(x)};
}

INLINE f64x f64x_of_u32(uint32x4_t x)
{
    return (f64x){vcvtq_f64_u64(vmovl_u32(vget_low_u32(x))), vcvtq_f64_u64(vmovl_high_u32(x))};
}

INLINE f64x f64x_of_i32(int32x4_t x)
{
    return (f64x){vcvtq_f64_s64(vmovl_s32(vget_low_s32(x))), vcvtq_f64_s64(vmovl_high_s32(x))};
}

INLINE f64x f64x_load_f64(const void *p)
{
    return (f64x){vld1q_f64(p), vld1q_f64((const double *)p + 2)};
}

INLINE f64x f64x_load_u64(const void *p)
{
    return (f64x){vcvtq_f64_u64(vld1q_u64(p)), vcvtq_f64_u64(vld1q_u64((const uint64_t *)p + 2))};
}

INLINE f64x f64x_load_i64(const void *p)
{
    return (f64x){vcvtq_f64_s64(vld1q_s64(p)), vcvtq_f64_s64(vld1q_s64((const int64_t *)p + 2))};
}

#define LOAD_U16(p) vmovl_u16(vld1_u16((const uint16_t *)(const void *)(p)))
#define LOAD_I16(p) vmovl_s16(vld1_s16((const int16_t *)(const void *)(p)))

#define f64x_load_u32(p)  f64x_of_u32(u32h_load(p))
#define f64x_load_i32(p)  f64x_of_i32(vreinterpretq_s32_u32(u32h_load(p)))
#define f64x_load_u16(p)  f64x_of_u32(LOAD_U16(p))
#define f64x_load_i16(p)  f64x_of_i32(LOAD_I16(p))
#define f64x_load_f32(p)  f64x_of_f32(f32x_load_f32(p))
#define f64x_load_f16(p)  f64x_of_f32(f32x_load_f16(p))
#define f64x_load_bf16(p) f64x_of_f32(f32x_load_bf16(p))

enum { F32_LANES = 4, F32_FUSED = 1 };
typedef float32x4_t f32x;
typedef uint32x4_t u32x;

INLINE u32x f32x_round_i32(f32x x)
{
    const uint32x4_t inside = vcaltq_f32(x, vdupq_n_f32(0x1p31F));
    return vbslq_u32(inside, vreinterpretq_u32_s32(vcvtnq_s32_f32(x)),
                     vdupq_n_u32((uint32_t)INT32_MIN));
}

#define f32x_fill(x)                  vdupq_n_f32((float)(x))
#define f32x_add(a, b)                vaddq_f32(a, b)
#define f32x_mul_add(a, b, c)         vfmaq_f32(c, a, b)
#define f32x_clamp(x, low, high)      vmaxq_f32(low, vminq_f32(high, x))
#define f32x_bits(x)                  vreinterpretq_u32_f32(x)
#define f32x_of_bits(i)               vreinterpretq_f32_u32(i)
#define f64x_of_f32x(x, i)            f64x_of_f32(x)
#define u32x_fill(x)                  u32h_fill(x)
#define u32x_load(p)                  u32h_load(p)
#define u32x_store(p, i)              u32h_store(p, i)
#define u32x_add(a, b)                vaddq_u32(a, b)
#define u32x_sub(a, b)                vsubq_u32(a, b)
#define u32x_and(a, b)                vandq_u32(a, b)
#define u32x_or3(a, b, c)             u32h_or3(a, b, c)
#define u32x_and_or(a, keep, b)       vorrq_u32(vandq_u32(a, keep), b)
#define u32x_shift_right(a, n)        u32h_shift_right(a, n)
#define u32x_any_top_bit(a)           u32h_any_top_bit(a)
#define u32x_select_equal(x, y, a, b) vbslq_u32(vceqq_u32(x, y), a, b)
#define u32x_max_i32(a, b)                                                                         \
    vreinterpretq_u32_s32(vmaxq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b)))

#define f32x_load_f32(p)  vld1q_f32((const float *)(const void *)(p))
#define f32x_load_u16(p)  vcvtq_f32_u32(LOAD_U16(p))
#define f32x_load_i16(p)  vcvtq_f32_s32(LOAD_I16(p))
#define f32x_load_bf16(p) vreinterpretq_f32_u32(vshlq_n_u32(LOAD_U16(p), 16))
#define f32x_load_f16(p)                                                                           \
    vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16((const uint16_t *)(const void *)(p))))

#endif
