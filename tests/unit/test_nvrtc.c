/*
 * Every kernel compiled by NVRTC for every architecture that is supported, with no device: the
 * methods of the registry over a stand-in for the device's limits. None may spill registers to
 * memory, and those whose idea is to count in registers may have no stack frame.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "device/kernel.h"
#include "kernels/text.h"
#include "methods/registry.h"

/* A plan without a CUDA context: made for the processor, then looked at as this device's. */
static int make_plan(tally_context *context, tally_dtype dtype, uint64_t bins, tally_plan **plan)
{
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    o.axes[0] = tally_axis_even(bins, 0, 256);
    o.dtypes[0] = dtype;
    return tally_plan_create(context, &o, plan, NULL);
}

/* Methods whose idea is to count in registers, or to have threads for every register they get. */
static int keeps_registers(const char *name)
{
    return !strcmp(name, "private-register") || !strcmp(name, "trish") ||
           !strcmp(name, "nugteren") || !strncmp(name, "podlozhnyuk-", 12);
}

/* What the assembler says of the method's kernel: no spill and no stack where registers are to be
 * kept, at the standard settings; elsewhere it is only told. */
static int check_registers(const char *log, const ty_method *m, uint32_t capability,
                           const char *setting)
{
    static const char entry[] = "Compiling entry function 'count'", words[] = "bytes stack frame";
    const char *at = log ? strstr(log, entry) : NULL;
    unsigned stack, stores, loads;
    at = at ? strstr(at, words) : NULL;
    while (at && at > log && strchr(" 0123456789", at[-1]))
        at--;
    if (!at || sscanf(at, " %u bytes stack frame, %u bytes spill stores, %u bytes spill loads",
                      &stack, &stores, &loads) != 3) {
        fprintf(stderr, "FAILED %s sm_%u: the assembler does not tell about spills\n%s\n", m->name,
                capability, log ? log : "");
        return 0;
    }
    if (!stack && !stores && !loads)
        return 1;
    int strict = keeps_registers(m->name) && !setting;
    fprintf(stderr, "%s%s %s sm_%u: a stack frame of %u bytes, %u stored, %u loaded\n",
            strict ? "FAILED " : "note: ", m->name, setting ? setting : "", capability, stack,
            stores, loads);
    return !strict;
}

static int compile(tally_plan *plan, const ty_method *m, uint32_t capability, const char *setting)
{
    const ty_kernel_method *kernel = m->backend;
    ty_device device = ty_device_standin(capability);
    ty_shape shape;
    char options[512 + 32], *log = NULL;
    tally_error error = {""};
    void *code = NULL;
    size_t size = 0;
    plan->method = m;
    kernel->shape(plan, &device, UINT64_C(1) << 31, &shape);
    ty_kernel_options(plan, &device, &shape, options, 512);
    strcat(options, " --ptxas-options=--verbose");
    char *text = ty_kernel_text(kernel);
    tally_status status = ty_nvrtc_compile(text, options, capability, &code, &size, &log, &error);
    ty_free(text);
    if (status)
        fprintf(stderr, "FAILED %s sm_%u %s: %s\n", m->name, capability,
                tally_dtype_name(plan->options.dtypes[0]), error.message);
    int ok = !status && check_registers(log, m, capability, setting);
    ty_free(code);
    ty_free(log);
    return ok;
}

/* Private-register keeps every number of bins that it takes in registers: some of them. */
static int compile_few(tally_context *context, const ty_method *m, uint32_t capability)
{
    int ok = 1;
    for (uint64_t bins = 1; bins < 32; bins += 3) {
        tally_plan *plan = NULL;
        if (make_plan(context, TALLY_U8, bins, &plan))
            return 0;
        const ty_method *own = plan->method;
        ok = compile(plan, m, capability, NULL) && ok;
        plan->method = own;
        tally_plan_destroy(plan);
    }
    return ok;
}

/* The same with one setting. */
static int compile_with(tally_plan *plan, const ty_method *m, uint32_t capability, char *key,
                        char *value)
{
    char *settings[] = {key, value};
    plan->settings = settings;
    plan->options.settings_count = 1;
    int ok = compile(plan, m, capability, key);
    plan->settings = NULL;
    plan->options.settings_count = 0;
    return ok;
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
        int few = !strcmp(ty_methods[i]->name, "private-register");
        uint64_t bins = few ? 32 : !strcmp(ty_methods[i]->name, "podlozhnyuk-64") ? 64 : 256;
        for (tally_dtype dtype = TALLY_U8; dtype <= TALLY_F64; dtype++) {
            tally_plan *plan = NULL;
            if (!(ty_methods[i]->dtypes >> dtype & 1) || make_plan(context, dtype, bins, &plan))
                continue;
            const ty_method *own = plan->method;
            for (unsigned a = 0; ty_architectures[a]; a++) {
                /* Every dtype on one architecture, two dtypes on all of them. */
                if (ty_architectures[a] != 90 && dtype != TALLY_U8 && dtype != TALLY_F32)
                    continue;
                int ok = compile(plan, ty_methods[i], ty_architectures[a], NULL);
                if (few && dtype == TALLY_U8)
                    ok = compile_few(context, ty_methods[i], ty_architectures[a]) && ok;
                if (!strcmp(ty_methods[i]->name, "trish") && dtype == TALLY_U8)
                    ok = ok && compile_with(plan, ty_methods[i], ty_architectures[a], "k", "63") &&
                         compile_with(plan, ty_methods[i], ty_architectures[a], "threads", "256");
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
