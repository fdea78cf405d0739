/* SPDX-License-Identifier: Apache-2.0 */
#include "core/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"

enum { path_size = 4096 };

/* The number behind `key` on a line of a file; the file's first number if key is "". */
static int read_number(const char *path, const char *key, uint64_t *number)
{
    char line[256];
    int found = 0;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        if (!strncmp(line, key, strlen(key)))
            found = sscanf(line + strlen(key), " %" SCNu64, number) == 1;
    }
    if (file)
        fclose(file);
    return found;
}

static uint64_t of_machine(const char *root)
{
    char path[path_size];
    uint64_t available, swap = 0;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    if (!read_number(path, "MemAvailable:", &available))
        return UINT64_MAX;
    read_number(path, "SwapFree:", &swap);
    return (available + swap) * 1024;
}

/* What one control group may still use; pages of files that it can drop are not counted as used. */
static uint64_t of_group(const char *folder, int version)
{
    static const char *const names[2][3] = {
        {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "},
        {"memory.max", "memory.current", "inactive_file "}};
    char path[path_size + 32];
    uint64_t limit, used = 0, files = 0;
    snprintf(path, sizeof path, "%s/%s", folder, names[version - 1][0]);
    if (!read_number(path, "", &limit)) /* "max" is no number */
        return UINT64_MAX;
    snprintf(path, sizeof path, "%s/%s", folder, names[version - 1][1]);
    read_number(path, "", &used);
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    read_number(path, names[version - 1][2], &files);
    used -= files < used ? files : used;
    return used < limit ? limit - used : 0;
}

/* The least of a group and all above it. In a container the process' own may not be visible. */
static uint64_t of_groups(const char *mount, const char *group, int version)
{
    char folder[path_size];
    uint64_t least = UINT64_MAX;
    snprintf(folder, sizeof folder, "%s%s", mount, group);
    for (;;) {
        const uint64_t available = of_group(folder, version);
        char *end = strrchr(folder, '/');
        least = available < least ? available : least;
        if (strlen(folder) <= strlen(mount) || !end)
            return least;
        *end = '\0';
    }
}

uint64_t ty_memory_available(const char *root)
{
    char path[path_size], line[path_size], mount[path_size];
    uint64_t least = of_machine(root);
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'), *group;
        line[strcspn(line, "\n")] = '\0';
        if (!controllers || !(group = strchr(controllers + 1, ':')))
            continue;
        *group++ = '\0';
        const int version = controllers[1] ? 1 : 2;
        if (version == 1 && strcmp(controllers + 1, "memory") != 0)
            continue;
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s", root, version == 1 ? "/memory" : "");
        const uint64_t available = of_groups(mount, group, version);
        least = available < least ? available : least;
    }
    if (file)
        fclose(file);
    return least;
}

tally_status ty_memory_check(uint64_t bytes, const char *what, const char *instead,
                             tally_error *error)
{
    const uint64_t small = UINT64_C(64) << 20;
    const uint64_t available = bytes < small ? UINT64_MAX : ty_memory_available("");
    if (bytes <= available)
        return TALLY_OK;
    return ty_error(error, TALLY_ERROR_MEMORY,
                    "out of memory: %" PRIu64 " bytes for %s, and %" PRIu64
                    " are available; ask for %s",
                    bytes, what, available, instead ? instead : "fewer bins");
}
