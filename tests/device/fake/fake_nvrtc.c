/* SPDX-License-Identifier: Apache-2.0 */
/* A libnvrtc for tests: see fake.h. FAKE_NVRTC_MAJOR (13), _BUILD=WORDS (a failure with that log).
 */
#define FAKE_NAME "NVRTC"
#include "fake.h"

static const char code[] = "fake cubin";

#define ENTER(name)                                                                                \
    do {                                                                                           \
        int code_ = fake_enter(name);                                                              \
        if (code_)                                                                                 \
            return code_;                                                                          \
    } while (0)

FAKE_API int nvrtcVersion(int *major, int *minor)
{
    ENTER("nvrtcVersion");
    *major = (int)fake_number("MAJOR", 13);
    *minor = 0;
    return 0;
}

FAKE_API int nvrtcGetNumSupportedArchs(int *count)
{
    ENTER("nvrtcGetNumSupportedArchs");
    *count = 2;
    return 0;
}

FAKE_API int nvrtcGetSupportedArchs(int *archs)
{
    ENTER("nvrtcGetSupportedArchs");
    archs[0] = 75;
    archs[1] = 90;
    return 0;
}

FAKE_API int nvrtcCreateProgram(void **program, const char *text, const char *name, int headers,
                                const char *const *sources, const char *const *names)
{
    (void)text;
    (void)name;
    (void)headers;
    (void)sources;
    (void)names;
    ENTER("nvrtcCreateProgram");
    *program = fake_new(FAKE_PROGRAM, 0);
    return 0;
}

FAKE_API int nvrtcCompileProgram(void *program, int count, const char *const *options)
{
    ENTER("nvrtcCompileProgram");
    fake_is(program, FAKE_PROGRAM, "nvrtcCompileProgram");
    if (count < 1 || strncmp(options[0], "--gpu-architecture=", 19) != 0)
        fake_die("nvrtcCompileProgram", "no architecture");
    return *fake_text("BUILD", "") ? 6 : 0;
}

FAKE_API int nvrtcGetCUBINSize(void *program, size_t *size)
{
    ENTER("nvrtcGetCUBINSize");
    fake_is(program, FAKE_PROGRAM, "nvrtcGetCUBINSize");
    *size = sizeof code;
    return 0;
}

FAKE_API int nvrtcGetCUBIN(void *program, char *to)
{
    ENTER("nvrtcGetCUBIN");
    fake_is(program, FAKE_PROGRAM, "nvrtcGetCUBIN");
    memcpy(to, code, sizeof code);
    return 0;
}

FAKE_API int nvrtcGetPTXSize(void *program, size_t *size)
{
    return nvrtcGetCUBINSize(program, size);
}

FAKE_API int nvrtcGetPTX(void *program, char *to)
{
    return nvrtcGetCUBIN(program, to);
}

FAKE_API int nvrtcGetProgramLogSize(void *program, size_t *size)
{
    ENTER("nvrtcGetProgramLogSize");
    fake_is(program, FAKE_PROGRAM, "nvrtcGetProgramLogSize");
    *size = strlen(fake_text("BUILD", "")) + 1;
    return 0;
}

FAKE_API int nvrtcGetProgramLog(void *program, char *to)
{
    ENTER("nvrtcGetProgramLog");
    fake_is(program, FAKE_PROGRAM, "nvrtcGetProgramLog");
    memcpy(to, fake_text("BUILD", ""), strlen(fake_text("BUILD", "")) + 1);
    return 0;
}

FAKE_API int nvrtcDestroyProgram(void **program)
{
    int result = fake_enter("nvrtcDestroyProgram");
    fake_release(fake_is(*program, FAKE_PROGRAM, "nvrtcDestroyProgram"));
    *program = NULL;
    return result;
}
