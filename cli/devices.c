/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which devices there are. Drivers are asked by a child process each: one that ends the process
 * which loads it (a broken installation, a library of another version) is then missing, with the
 * reason, and the command goes on. The processor is asked here, and asks no driver.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

enum { MOST_DEVICES = 256 };

/* In the child: writes the devices of one driver. The other drivers are not even opened. */
static int tell(tally_device_type driver, int out)
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    setenv(driver == TALLY_DEVICE_CUDA ? "TALLY_OPENCL_LIBRARY" : "TALLY_CUDA_LIBRARY", "none", 1);
    for (uint32_t i = 0; i < tally_device_count(); i++) {
        tally_device_info info = {.struct_size = sizeof info};
        if (tally_device_get(i, &info, NULL))
            return 0;
        /* In one piece: shorter than PIPE_BUF. */
        if (info.device == driver && write(out, &info, sizeof info) != (ssize_t)sizeof info)
            return 0;
    }
    return 1;
}

/* Bytes read, up to the end. */
static size_t read_all(int in, void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(in, (char *)bytes + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

/* The one entry of a driver that did not answer. */
static void is_broken(tally_device_type driver, int status, tally_device_info *info)
{
    *info = (tally_device_info){.struct_size = sizeof *info, .device = driver};
    snprintf(info->id, sizeof info->id, "%s", driver == TALLY_DEVICE_CUDA ? "cuda" : "opencl");
    if (WIFSIGNALED(status))
        snprintf(info->reason, sizeof info->reason,
                 "its driver ends the process that loads it: %s (signal %d)",
                 strsignal(WTERMSIG(status)), WTERMSIG(status));
    else
        snprintf(info->reason, sizeof info->reason,
                 "its driver ends the process that loads it (exit code %d)", WEXITSTATUS(status));
}

/* Adds a driver's devices, or one entry that says what is wrong with it. */
static int ask(tally_device_type driver, cli_device_list *list)
{
    int ends[2], status = 0;
    if (pipe(ends))
        return cli_fail("asking a driver: %s", strerror(errno));
    pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return cli_fail("asking a driver: %s", strerror(errno));
    }
    if (child == 0) {
        close(ends[0]);
        _exit(!tell(driver, ends[1]));
    }
    close(ends[1]);
    tally_device_info *to = list->devices + list->count;
    size_t n = read_all(ends[0], to, (MOST_DEVICES - list->count) * sizeof *to) / sizeof *to;
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (status || !n) {
        is_broken(driver, status, to);
        n = 1;
    }
    list->count += n;
    return CLI_OK;
}

int cli_devices_find(tally_device_type only, cli_device_list *list)
{
    tally_error error = {""};
    list->count = 0;
    list->devices = calloc(MOST_DEVICES, sizeof *list->devices);
    if (!list->devices)
        return cli_fail("out of memory");
    int code = CLI_OK;
    if (!only || only == TALLY_DEVICE_CPU) {
        list->devices->struct_size = sizeof *list->devices;
        tally_status status = tally_device_get(0, list->devices, &error);
        code = status ? cli_fail_status(status, &error) : CLI_OK;
        list->count = 1;
    }
    if (!code && (!only || only == TALLY_DEVICE_CUDA))
        code = ask(TALLY_DEVICE_CUDA, list);
    if (!code && (!only || only == TALLY_DEVICE_OPENCL))
        code = ask(TALLY_DEVICE_OPENCL, list);
    if (code)
        free(list->devices);
    return code;
}
