/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with rights that its caller lacks: no library is loaded, no file is read and no folder
 * is used because the caller's environment says so. The program starts a copy of itself with
 * another user's or group's rights; where it may make none the test is skipped. Drivers are the
 * stand-ins of fake/.
 */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/env.h"
#include "gpu/device.h"
#include "gpu/kernels_file.h"
#include "check.h"
#include "io/spool.h"

static char folder[] = "/tmp/tally-foreign-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int is_fake(const tally_device_info *info)
{
    return info->available && !strcmp(info->name, "fake GPU");
}

/* What the environment leads to, in the process that runs this: 1 everything, 0 nothing. */
static void check_believed(int believed)
{
    char path[1024] = "";
    int fakes = 0, scratch;
    CHECK_SAY(ty_env_is_foreign() == !believed, "the process knows whose it is");
    for (uint32_t i = 0; i < tally_device_count(); i++) {
        tally_device_info info = {.struct_size = sizeof info};
        CHECK_SAY(!tally_device_get(i, &info, NULL), "a device");
        fakes += is_fake(&info);
    }
    CHECK_SAY(believed ? fakes >= 2 : !fakes, "drivers of the caller's choice");
    CHECK_SAY(!strstr(ty_kernels_describe(), getenv("TALLY_KERNELS_FILE")) == !believed,
              "a kernels file of the caller's choice");
    CHECK_SAY(!ty_cache_folder(path, sizeof path, 0) == !believed,
              "a cache of the caller's choice");
    unsetenv("TALLY_CACHE_DIR");
    CHECK_SAY(!ty_cache_folder(path, sizeof path, 0) == !believed, "nor by XDG_CACHE_HOME");
    unsetenv("XDG_CACHE_HOME");
    CHECK_SAY(!ty_cache_folder(path, sizeof path, 0) == !believed, "nor by HOME");
    /* The folder of TMPDIR is not there. (A C library may have dropped the variable.) */
    setenv("TMPDIR", "/proc/tally/not-there", 1);
    scratch = ty_spool_file(NULL);
    CHECK_SAY((scratch < 0) == believed, "temporary files where the caller says");
    if (scratch >= 0)
        close(scratch);
}

static int copy_program(const char *to)
{
    char bytes[1 << 16];
    FILE *from = fopen("/proc/self/exe", "rb"), *file = fopen(to, "wb");
    size_t n;
    int ok = from && file;
    while (ok && (n = fread(bytes, 1, sizeof bytes, from)) > 0)
        ok = fwrite(bytes, 1, n, file) == n;
    if (from)
        fclose(from);
    return file && !fclose(file) && ok;
}

/* Gives the copy the rights of another user (as root) or of another group of ours. */
static int give_rights(const char *program)
{
    gid_t groups[64];
    if (geteuid() == 0)
        return !chown(program, 65534, 65534) && !chmod(program, 04755);
    int n = getgroups(64, groups);
    for (int i = 0; i < n; i++) {
        if (groups[i] != getegid() && !chown(program, (uid_t)-1, groups[i]))
            return !chmod(program, 02755);
    }
    return 0;
}

/* The copy's exit status: 77 where the system gave it no rights. */
static int run_copy(const char *program)
{
    int result = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, "copy", (char *)NULL);
        _exit(127);
    }
    waitpid(child, &result, 0);
    return WIFEXITED(result) ? WEXITSTATUS(result) : 1;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        if (!ty_env_is_foreign())
            return 77;
        check_believed(0);
        fflush(NULL);
        _exit(failures != 0); /* the search for leaks may not look at such a process */
    }
    if (!mkdtemp(folder) || chmod(folder, 0755))
        return 1;
    setenv("TALLY_OPENCL_LIBRARY", FAKE_FOLDER "/libOpenCL.so.1", 1);
    setenv("TALLY_CUDA_LIBRARY", FAKE_FOLDER "/libcuda.so.1", 1);
    setenv("TALLY_NVRTC_LIBRARY", FAKE_FOLDER "/libnvrtc.so.13", 1);
    setenv("TALLY_KERNELS_FILE", path_of("kernels"), 1);
    setenv("TALLY_CACHE_DIR", folder, 1);
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("HOME", folder, 1);
    int result = 77;
    const char *program = path_of("program");
    if (copy_program(program) && give_rights(program))
        result = run_copy(program);
    if (result == 77)
        printf("skipped: the system gave a copy of this program no other rights\n");
    CHECK_SAY(result == 0 || result == 77, "a program with rights that its caller lacks");
    unlink(program);
    check_believed(1);
    rmdir(folder);
    return failures ? 1 : result;
}
