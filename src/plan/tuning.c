/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file: a line that says what it is, one with the methods' signature, one with the device, then
 * rows as in src/plan/rates.c. A file that says anything else is not used.
 */
#include "plan/tuning.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "cpu/threads.h"
#include "gpu/device.h"

enum { most_text = 1 << 16 };

/* "cuda-sm_90 NVIDIA H200": whose speeds they are. */
static void name_device(const tally_context *context, char *name, size_t size)
{
    tally_device_info info = {.struct_size = sizeof info};
    char arch[32];
    context->backend->arch(context, arch, sizeof arch);
    if (context->device == TALLY_DEVICE_CPU)
        context->backend->info(context->index, &info);
    snprintf(name, size, "%s %s", arch,
             context->device == TALLY_DEVICE_CPU ? info.name
                                                 : ((const ty_device *)context->state)->name);
}

static void make_head(const char *name, char *head, size_t size)
{
    snprintf(head, size, "tally speeds 1\nmethods %016" PRIx64 "\ndevice %s\n",
             ty_methods_signature(), name);
}

/* "…/speeds-cuda-sm_90-NVIDIA-H200", the name cut where it is long. */
static int make_path(const char *name, int make, char *path, size_t size)
{
    if (!ty_cache_folder(path, size, make))
        return 0;
    size_t n = strlen(path);
    n += (size_t)snprintf(path + n, size - n, "/speeds-%.70s", name);
    for (char *c = path + n; *--c != '/';) {
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", *c))
            *c = '-';
    }
    return 1;
}

/* NULL: there is no file, or *why says why it cannot be taken. */
static char *read_text(const char *path, const char **why)
{
    int fd = ty_cache_open(path, why);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
    char *text = file ? ty_malloc(most_text) : NULL;
    size_t n = text ? fread(text, 1, most_text - 1, file) : 0;
    if (text)
        text[n] = '\0';
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return text;
}

/* Takes the file's rows into `tuning`, or says in `why` what keeps it from that; "" when there is
 * no file. */
static int take_file(const char *name, ty_tuning *tuning, char *why, size_t size)
{
    char path[1024], head[320];
    const char *wrong = NULL;
    unsigned line;
    *why = '\0';
    char *text = make_path(name, 0, path, sizeof path) ? read_text(path, &wrong) : NULL;
    if (!text) {
        if (wrong)
            snprintf(why, size, "measured ones are not read, %s: %s", wrong, path);
        return 0;
    }
    make_head(name, head, sizeof head);
    size_t n = strlen(head), methods = strcspn(text, "\n");
    int is_ours = !strncmp(text, head, methods + 1);
    if (strncmp(text, head, n) != 0)
        snprintf(why, size, "%s was measured %s", path,
                 is_ours ? "with other methods or on another device; `tally tune` again"
                         : "by no version of Tally that this one knows");
    else if (!ty_tuning_parse(text + n, tuning, &line))
        snprintf(why, size, "%s, line %u: no row", path, line + 3);
    ty_free(text);
    return !*why;
}

tally_status ty_tuning_open(tally_context *context, tally_error *error)
{
    char arch[32], name[176], why[sizeof context->tuning->note];
    ty_tuning *t = ty_malloc(2 * sizeof *t);
    if (!t)
        return ty_error_memory(error, "a table of speeds", 2 * sizeof *t);
    context->backend->arch(context, arch, sizeof arch);
    name_device(context, name, sizeof name);
    ty_tuning_default(arch, t);
    if (take_file(name, t + 1, why, sizeof why)) {
        t->count = t[1].count;
        memcpy(t->rates, t[1].rates, t->count * sizeof *t->rates);
        t->measured = 1;
        snprintf(t->note, sizeof t->note, "speeds measured here");
    } else if (*why) {
        size_t n = strlen(t->note);
        snprintf(t->note + n, sizeof t->note - n, "; %s", why);
    }
    t->threads = context->device == TALLY_DEVICE_CPU ? ty_pool_threads(context->pool) : 1;
    context->tuning = t;
    return TALLY_OK;
}

/* Written without the locale; at least 0.0001, for nothing measured takes no time. */
static void write_decimal(FILE *file, double value)
{
    uint64_t parts = value > 1e-4 ? (uint64_t)(value * 1e4 + 0.5) : 1;
    fprintf(file, " %" PRIu64 ".%04" PRIu64, parts / 10000, parts % 10000);
}

static int write_rows(FILE *file, const char *head, const ty_tuning *tuning)
{
    fputs(head, file);
    for (uint32_t i = 0; i < tuning->count; i++) {
        const ty_rate *r = &tuning->rates[i];
        fprintf(file, "%s %u %" PRIu64, r->method, r->bytes, r->bins);
        write_decimal(file, r->call_us);
        write_decimal(file, r->gbps);
        fputc('\n', file);
    }
    return !ferror(file);
}

tally_status ty_tuning_path(const tally_context *context, char *path, size_t size,
                            tally_error *error)
{
    char name[176];
    name_device(context, name, sizeof name);
    return make_path(name, 1, path, size)
               ? TALLY_OK
               : ty_error(
                     error, TALLY_ERROR_IO,
                     "no folder to keep speeds in: set TALLY_CACHE_DIR, XDG_CACHE_HOME or HOME");
}

tally_status ty_tuning_save(const tally_context *context, const ty_tuning *tuning, const char *path,
                            tally_error *error)
{
    char name[176], head[320], temporary[1040];
    name_device(context, name, sizeof name);
    make_head(name, head, sizeof head);
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int fd = mkstemp(temporary);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    int ok = file && write_rows(file, head, tuning);
    if (file)
        ok = !fclose(file) && ok;
    if (ok && !rename(temporary, path))
        return TALLY_OK;
    tally_status status = ty_error(error, TALLY_ERROR_IO, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        unlink(temporary);
    return status;
}
