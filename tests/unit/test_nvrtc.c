/*
 * Every kernel compiled by NVRTC for every architecture that is supported, with no device: the
 * methods of the registry over a stand-in for the device's limits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "device/kernel.h"
#include "kernels/text.h"
#include "methods/registry.h"

static const uint32_t architectures[] = {75, 80, 86, 89, 90, 100, 120};

/* Limits of a real device of that architecture, as far as launches depend on them. */
static ty_device make_device(uint32_t capability)
{
    ty_device d = {.ops = &ty_cuda_ops, .units = 80, .group_max = 1024, .warp = 32, .has_fp64 = 1};
    d.capability = capability;
    d.local_bytes = capability == 75                        ? 64 << 10
                    : capability == 80                      ? 163 << 10
                    : capability == 90 || capability == 100 ? 227 << 10
                                                            : 99 << 10;
    d.unit_local_bytes = d.local_bytes + 1024;
    d.unit_threads = capability == 75 ? 1024 : capability == 80 || capability >= 90 ? 2048 : 1536;
    return d;
}

/* A plan without a CUDA context: made for the processor, then looked at as this device's. */
static int make_plan(tally_context *context, const ty_method *m, tally_dtype dtype,
                     tally_plan **plan)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    int sixty_four = !strcmp(m->name, "podlozhnyuk-64"), few = !strcmp(m->name, "private-register");
    o.axes[0] = tally_axis_even(sixty_four ? 64 : few ? 32 : 256, 0, 256);
    o.dtypes[0] = dtype;
    return tally_plan_create(context, &o, plan, NULL);
}

static int compile(tally_plan *plan, const ty_method *m, uint32_t capability)
{
    const ty_kernel_method *kernel = m->backend;
    ty_device device = make_device(capability);
    ty_shape shape;
    char options[512];
    tally_error error = {""};
    void *code = NULL;
    size_t size = 0;
    plan->method = m;
    kernel->shape(plan, &device, UINT64_C(1) << 31, &shape);
    ty_kernel_options(plan, &device, &shape, options, sizeof options);
    char *text = ty_kernel_text(kernel);
    tally_status status = ty_nvrtc_compile(text, options, capability, &code, &size, &error);
    ty_free(text);
    if (status)
        fprintf(stderr, "FAILED %s sm_%u %s: %s\n", m->name, capability,
                tally_dtype_name(plan->options.dtypes[0]), error.message);
    ty_free(code);
    return !status;
}

int main(void)
{
    char reason[256];
    tally_context *context = NULL;
    tally_context_options o = TALLY_CONTEXT_OPTIONS_INIT;
    int compiled = 0, failed = 0;
    if (!ty_nvrtc_version(reason, sizeof reason)) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    o.device = TALLY_DEVICE_CPU;
    if (tally_context_create(&o, &context, NULL))
        return 1;
    for (int i = 0; ty_methods[i]; i++) {
        if (!(ty_methods[i]->devices & TY_ON_CUDA))
            continue;
        for (tally_dtype dtype = TALLY_U8; dtype <= TALLY_F64; dtype++) {
            tally_plan *plan = NULL;
            if (!(ty_methods[i]->dtypes >> dtype & 1) ||
                make_plan(context, ty_methods[i], dtype, &plan))
                continue;
            const ty_method *own = plan->method;
            for (unsigned a = 0; a < sizeof architectures / sizeof *architectures; a++) {
                /* Every dtype on one architecture, two dtypes on all of them. */
                if (architectures[a] != 90 && dtype != TALLY_U8 && dtype != TALLY_F32)
                    continue;
                int ok = compile(plan, ty_methods[i], architectures[a]);
                compiled += ok;
                failed += !ok;
            }
            plan->method = own;
            tally_plan_destroy(plan);
        }
    }
    tally_context_destroy(context);
    printf("NVRTC %s: %d kernels compiled, %d failed\n", ty_nvrtc_version(reason, sizeof reason),
           compiled, failed);
    return failed || !compiled;
}
