/* SPDX-License-Identifier: Apache-2.0 */
/* What the system says of its memory, from folders made like /proc and /sys; and that what is too
 * large for this machine is refused before it is asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "execute_help.h"
#include "input_help.h"

static char root[] = "/tmp/tally-memory-XXXXXX";

static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *at = full + sizeof root; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(full, 0700);
        *at = '/';
    }
    FILE *file = fopen(full, "w");
    if (!file || fputs(text, file) < 0 || fclose(file))
        abort();
}

static void clear(void)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'/*", root);
    CHECK(system(command) == 0);
}

#define KIB UINT64_C(1024)

static void test_machine(void)
{
    CHECK(ty_memory_available(root) == UINT64_MAX);
    put("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    5000 kB\nSwapFree:  20 kB\n");
    CHECK(ty_memory_available(root) == 5020 * KIB);
    clear();
}

static void test_version_2(void)
{
    put("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    5000 kB\n");
    put("proc/self/cgroup", "0::/a/b\n");
    put("sys/fs/cgroup/a/b/memory.max", "max\n");
    CHECK(ty_memory_available(root) == 5000 * KIB);
    put("sys/fs/cgroup/a/memory.max", "1000000\n"); /* the group above has a limit */
    put("sys/fs/cgroup/a/memory.current", "300000\n");
    CHECK(ty_memory_available(root) == 700000);
    put("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 200000\nfile 9\n");
    CHECK(ty_memory_available(root) == 900000);
    put("sys/fs/cgroup/memory.max", "600000\n"); /* a container's own */
    CHECK(ty_memory_available(root) == 600000);
    put("sys/fs/cgroup/memory.current", "600001\n");
    CHECK(ty_memory_available(root) == 0);
    clear();
}

static void test_version_1(void)
{
    put("proc/self/cgroup", "7:cpu,cpuacct:/\n4:memory:/x\n0::/\n");
    put("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "5000000\n");
    put("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "4000000\n");
    put("sys/fs/cgroup/memory/x/memory.stat", "inactive_file 7\ntotal_inactive_file 500000\n");
    CHECK(ty_memory_available(root) == 1500000);
    clear();
}

/* Nothing is allocated: on most machines so much would be lent. */
static void test_refused(void)
{
    tally_context *context = help_context(2);
    tally_plan_options o = help_options(TALLY_U8, tally_axis_even(UINT64_C(1) << 31, 0, 256));
    tally_plan *plan = help_plan(context, &o);
    const uint64_t available = ty_memory_available(""),
                   too_many = available / (UINT64_C(8) << 31) + 1;
    tally_result *result = NULL;
    tally_error error = {""};
    if (available == UINT64_MAX) {
        printf("skipped: the system does not say how much memory there is\n");
    } else {
        CHECK(tally_result_create(plan, too_many, NULL, &result, &error) == TALLY_ERROR_MEMORY);
        CHECK_SAY(strstr(error.message, "are available") != NULL, "%s", error.message);
        CHECK(ty_memory_check(available + (UINT64_C(1) << 30), "it", NULL, &error) ==
              TALLY_ERROR_MEMORY);
    }
    CHECK(ty_memory_check(1000, "it", NULL, &error) == TALLY_OK);
    tally_plan_destroy(plan);
    tally_context_destroy(context);
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    if (!mkdtemp(root))
        abort();
    test_machine();
    test_version_2();
    test_version_1();
    rmdir(root);
    test_refused();
    return help_end();
}
