/* SPDX-License-Identifier: Apache-2.0 */
/* A folder among the operands stands for the files in it. */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "cli.h"

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Adds a path to the operands and to what they own. */
static int add_path(cli_options *options, const char *folder, const char *name)
{
    const size_t length = strlen(folder), count = options->operand_count + 1;
    const int slash = length && folder[length - 1] != '/';
    char *path = malloc(length + strlen(name) + 2);
    const char **operands = realloc(options->operands, count * sizeof *operands);
    options->operands = operands ? operands : options->operands;
    char **found = realloc(options->found, (options->found_count + 1) * sizeof *found);
    options->found = found ? found : options->found;
    if (!path || !operands || !found) {
        free(path);
        return cli_fail("out of memory");
    }
    sprintf(path, "%s%s%s", folder, slash ? "/" : "", name);
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
        free(path);
        return CLI_OK;
    }
    options->found[options->found_count++] = path;
    options->operands[options->operand_count++] = path;
    return CLI_OK;
}

/* Hidden files, and what Spark, Dask and the like put beside the data: marks and descriptions. */
static int is_beside(const char *name)
{
    return name[0] == '.' || !strcmp(name, "_SUCCESS") || !strcmp(name, "_metadata") ||
           !strcmp(name, "_common_metadata");
}

static int add_folder(cli_options *options, const char *path)
{
    const size_t before = options->operand_count;
    DIR *folder = opendir(path);
    int code = folder ? CLI_OK : cli_fail("%s: cannot be opened: %s", path, strerror(errno));
    for (const struct dirent *entry; !code && (entry = readdir(folder));)
        if (!is_beside(entry->d_name))
            code = add_path(options, path, entry->d_name);
    if (folder)
        closedir(folder);
    if (!code && options->operand_count == before)
        return cli_fail("%s: there is no file in this folder", path);
    qsort(options->operands + before, options->operand_count - before, sizeof *options->operands,
          by_bytes);
    return code;
}

int cli_folders_expand(cli_options *options)
{
    const size_t count = options->operand_count;
    const char **given = options->operands;
    struct stat about;
    int code = CLI_OK;
    options->operand_count = 0;
    options->operands = calloc(count + 1, sizeof *options->operands);
    if (!options->operands)
        code = cli_fail("out of memory");
    for (size_t i = 0; i < count && !code; i++) {
        if (stat(given[i], &about) == 0 && S_ISDIR(about.st_mode)) {
            code = add_folder(options, given[i]);
            continue;
        }
        const size_t size = (options->operand_count + 1) * sizeof *options->operands;
        const char **grown = realloc(options->operands, size);
        if (!grown) {
            code = cli_fail("out of memory");
            break;
        }
        options->operands = grown;
        options->operands[options->operand_count++] = given[i];
    }
    free(given);
    return code;
}
