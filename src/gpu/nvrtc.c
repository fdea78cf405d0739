/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC, opened at run time: CUDA C to machine code for one architecture. Needs no device. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dynlib.h"
#include "core/error.h"
#include "gpu/device.h"

typedef struct _nvrtcProgram *nvrtcProgram;
typedef int nvrtcResult;

#define FUNCTIONS(F)                                                                               \
    F("nvrtcVersion", version, (int *, int *))                                                     \
    F("nvrtcGetNumSupportedArchs", arch_count, (int *))                                            \
    F("nvrtcGetSupportedArchs", archs, (int *))                                                    \
    F("nvrtcCreateProgram", create,                                                                \
      (nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *)) \
    F("nvrtcCompileProgram", compile, (nvrtcProgram, int, const char *const *))                    \
    F("nvrtcGetCUBINSize", cubin_size, (nvrtcProgram, size_t *))                                   \
    F("nvrtcGetCUBIN", cubin, (nvrtcProgram, char *))                                              \
    F("nvrtcGetPTXSize", ptx_size, (nvrtcProgram, size_t *))                                       \
    F("nvrtcGetPTX", ptx, (nvrtcProgram, char *))                                                  \
    F("nvrtcGetProgramLogSize", log_size, (nvrtcProgram, size_t *))                                \
    F("nvrtcGetProgramLog", log, (nvrtcProgram, char *))                                           \
    F("nvrtcDestroyProgram", destroy, (nvrtcProgram *))

#define MEMBER(symbol, name, parameters) nvrtcResult(*name) parameters;
static struct nvrtc_api {
    FUNCTIONS(MEMBER)
} rtc;
#undef MEMBER

static struct {
    pthread_once_t once;
    char version[32], reason[256];
    int archs[64], arch_count;
} found = {.once = PTHREAD_ONCE_INIT};

static void find(void)
{
    const char *candidates[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                "/usr/local/cuda/lib64/libnvrtc.so", NULL};
#define SYMBOL(symbol, name, parameters) {symbol, offsetof(struct nvrtc_api, name), 1},
    static const ty_symbol symbols[] = {FUNCTIONS(SYMBOL){NULL, 0, 0}};
#undef SYMBOL
    char why[176];
    int major = 0, minor = 0;
    if (!ty_dynlib_open("TALLY_NVRTC_LIBRARY", candidates, symbols, &rtc, why, sizeof why)) {
        snprintf(found.reason, sizeof found.reason,
                 "no kernel compiler: %s (install NVRTC, or put its folder on LD_LIBRARY_PATH)",
                 why);
        return;
    }
    nvrtcResult result = rtc.version(&major, &minor);
    if (!result)
        result = rtc.arch_count(&found.arch_count);
    if (!result && found.arch_count <= 64)
        result = rtc.archs(found.archs);
    if (result || found.arch_count > 64) {
        snprintf(found.reason, sizeof found.reason,
                 "no kernel compiler: NVRTC does not answer (%d)", result);
        return;
    }
    snprintf(found.version, sizeof found.version, "%d.%d", major, minor);
}

const char *ty_nvrtc_version(char *reason, size_t size)
{
    pthread_once(&found.once, find);
    if (found.version[0])
        return found.version;
    snprintf(reason, size, "%s", found.reason);
    return NULL;
}

/* The newest architecture that the compiler knows and the device can run. */
static int choose_arch(uint32_t capability)
{
    int best = 0;
    for (int i = 0; i < found.arch_count; i++) {
        if (found.archs[i] <= (int)capability && found.archs[i] > best)
            best = found.archs[i];
    }
    return best;
}

/* "-DA=1 -DB" as separate words; returns their number. */
static int split(char *text, const char **words, int most)
{
    int n = 0;
    char *rest = NULL;
    for (char *w = strtok_r(text, " ", &rest); w && n < most; w = strtok_r(NULL, " ", &rest))
        words[n++] = w;
    return n;
}

static tally_status take_code(nvrtcProgram program, int as_ptx, void **code, size_t *size,
                              tally_error *error)
{
    nvrtcResult result = as_ptx ? rtc.ptx_size(program, size) : rtc.cubin_size(program, size);
    if (result)
        return ty_error(error, TALLY_ERROR_DEVICE, "NVRTC: no code after compiling (%d)", result);
    *code = ty_malloc(*size);
    if (!*code)
        return ty_error_memory(error, "a kernel", *size);
    result = as_ptx ? rtc.ptx(program, *code) : rtc.cubin(program, *code);
    if (result) {
        ty_free(*code);
        return ty_error(error, TALLY_ERROR_DEVICE, "NVRTC: no code after compiling (%d)", result);
    }
    return TALLY_OK;
}

static char *read_log(nvrtcProgram program)
{
    size_t size = 0;
    char *log = NULL;
    if (!rtc.log_size(program, &size) && (log = ty_calloc(1, size + 1)))
        (void)rtc.log(program, log);
    return log;
}

static tally_status compile_failed(nvrtcProgram program, nvrtcResult result, tally_error *error)
{
    char *log = read_log(program);
    tally_status status =
        ty_error(error, TALLY_ERROR_DEVICE, "NVRTC: the kernel does not build (%d): %s", result,
                 log ? log : "");
    ty_free(log);
    return status;
}

static tally_status compile_for(const char *source, const char *options, int target, int as_ptx,
                                void **code, size_t *size, char **log, tally_error *error)
{
    char arch[48], words[1024];
    const char *flags[64] = {arch, "--fmad=false", "--std=c++17", "--restrict"};
    snprintf(arch, sizeof arch, "--gpu-architecture=%s_%d", as_ptx ? "compute" : "sm", target);
    if (strlen(options) >= sizeof words)
        return ty_error(error, TALLY_ERROR_INTERNAL, "a kernel's options are too long");
    snprintf(words, sizeof words, "%s", options);
    int n = 4 + split(words, flags + 4, 60);
    nvrtcProgram program;
    nvrtcResult result = rtc.create(&program, source, "tally.cu", 0, NULL, NULL);
    if (result)
        return ty_error(error, TALLY_ERROR_DEVICE, "NVRTC: cannot start (%d)", result);
    result = rtc.compile(program, n, flags);
    tally_status status = result ? compile_failed(program, result, error)
                                 : take_code(program, as_ptx, code, size, error);
    if (!status && log)
        *log = read_log(program);
    rtc.destroy(&program);
    return status;
}

static tally_status check_found(tally_error *error)
{
    char reason[256];
    if (!ty_nvrtc_version(reason, sizeof reason))
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s", reason);
    return TALLY_OK;
}

tally_status ty_nvrtc_compile(const char *source, const char *options, uint32_t capability,
                              void **code, size_t *size, char **log, tally_error *error)
{
    tally_status status = check_found(error);
    if (status)
        return status;
    int target = choose_arch(capability);
    if (!target)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "NVRTC %s compiles for nothing as old as sm_%u", found.version, capability);
    return compile_for(source, options, target, target != (int)capability, code, size, log, error);
}

tally_status ty_nvrtc_ptx(const char *source, const char *options, uint32_t capability, void **code,
                          size_t *size, tally_error *error)
{
    tally_status status = check_found(error);
    return status ? status
                  : compile_for(source, options, (int)capability, 1, code, size, NULL, error);
}
