/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a ZIP archive, of more than 4 GiB too (zip64). It is read strictly: it must end
 * the file, and the files that it lists must lie one behind the other before it, so that a few
 * bytes cannot stand for many files. */
#include "io/zip.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"

enum {
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    COMMENT_MOST = 65535,
    NAME_MOST = 200, /* shown */
    LIST_BYTES = 500,
    DEFLATE_RATIO = 1032, /* the most that a byte can stand for, but for a few */
    STORED = 0,
    DEFLATED = 8
};

#define DIRECTORY_MOST ((uint64_t)256 << 20)

typedef struct ty_zip_entry {
    const unsigned char *record; /* in the directory */
    const char *name;            /* not ended by a NUL */
    size_t name_size;
    unsigned method, flags;
    uint32_t check;
    uint64_t at, stored, size;
} ty_zip_entry;

typedef struct ty_zip {
    const ty_seekable *in;
    int is_alone; /* as of ty_member */
    uint64_t directory_at, directory_size;
    unsigned char *directory;
    size_t count;
    ty_zip_entry *entries; /* by their place in the file */
} ty_zip;

static uint64_t number(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

int ty_zip_probe(const unsigned char *head, size_t size)
{
    return size >= 4 && (!memcmp(head, "PK\3\4", 4) || !memcmp(head, "PK\5\6", 4));
}

static tally_status damaged(const ty_zip *z, uint64_t at, const char *what, tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT,
                    "%s: damaged or cut short: %s of this ZIP archive (near byte %" PRIu64 ")",
                    z->in->name, what, at);
}

static tally_status read_at(const ty_zip *z, uint64_t at, void *into, size_t size,
                            tally_error *error)
{
    if (at > z->in->size || size > z->in->size - at)
        return damaged(z, at, "bytes are missing at the end", error);
    return ty_file_read_at(z->in->name, z->in->file, z->in->start + at, into, size, error);
}

/* ---- The directory ---- */

/* Where the record that ends the archive is, behind which is only its comment. */
static tally_status find_end(const ty_zip *z, unsigned char end[END_BYTES], uint64_t *at,
                             tally_error *error)
{
    const uint64_t size = z->in->size;
    const size_t last = size < END_BYTES + COMMENT_MOST ? (size_t)size : END_BYTES + COMMENT_MOST;
    unsigned char *bytes = ty_malloc(last + 1);
    if (!bytes)
        return ty_error_memory(error, "the end of a ZIP archive", last + 1);
    tally_status status = read_at(z, size - last, bytes, last, error);
    size_t i = status || last < END_BYTES ? SIZE_MAX : last - END_BYTES;
    while (i != SIZE_MAX && (memcmp(bytes + i, "PK\5\6", 4) != 0 ||
                             number(bytes + i + 20, 2) != last - END_BYTES - i))
        i--;
    if (i != SIZE_MAX) {
        memcpy(end, bytes + i, END_BYTES);
        *at = size - last + i;
    } else if (!status) {
        status = damaged(z, size, "no directory is at the end", error);
    }
    ty_free(bytes);
    return status;
}

/* The same of zip64, if there is one; *at is moved to it. */
static tally_status find_end64(ty_zip *z, uint64_t *at, uint64_t *count, tally_error *error)
{
    unsigned char locator[LOCATOR_BYTES], end[END64_BYTES];
    if (*at < LOCATOR_BYTES)
        return TALLY_OK;
    tally_status status = read_at(z, *at - LOCATOR_BYTES, locator, sizeof locator, error);
    if (status || memcmp(locator, "PK\6\7", 4) != 0)
        return status;
    const uint64_t where = number(locator + 8, 8);
    if (number(locator + 4, 4) || number(locator + 16, 4) > 1 || where > *at - LOCATOR_BYTES)
        return damaged(z, *at - LOCATOR_BYTES, "the end of the directory", error);
    status = read_at(z, where, end, sizeof end, error);
    if (status)
        return status;
    if (memcmp(end, "PK\6\6", 4) != 0 || number(end + 16, 8) ||
        number(end + 24, 8) != number(end + 32, 8))
        return damaged(z, where, "the end of the directory", error);
    *at = where;
    *count = number(end + 32, 8);
    z->directory_size = number(end + 40, 8);
    z->directory_at = number(end + 48, 8);
    return TALLY_OK;
}

static tally_status read_directory(ty_zip *z, uint64_t *count, tally_error *error)
{
    unsigned char end[END_BYTES];
    uint64_t at = 0;
    tally_status status = find_end(z, end, &at, error);
    if (status)
        return status;
    *count = number(end + 10, 2);
    z->directory_size = number(end + 12, 4);
    z->directory_at = number(end + 16, 4);
    status = find_end64(z, &at, count, error);
    if (status)
        return status;
    if (number(end + 4, 4) && number(end + 4, 4) != UINT32_MAX)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s: a ZIP archive in several files",
                        z->in->name);
    if (z->directory_at > at || z->directory_size != at - z->directory_at ||
        *count > z->directory_size / ENTRY_BYTES)
        return damaged(z, at, "the end of the directory", error);
    if (z->directory_size > DIRECTORY_MOST)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED,
                        "%s: a ZIP archive with a directory of %" PRIu64 " bytes; %" PRIu64
                        " are read",
                        z->in->name, z->directory_size, DIRECTORY_MOST);
    z->directory = ty_malloc((size_t)z->directory_size + 1);
    z->entries = ty_calloc((size_t)*count + 1, sizeof *z->entries);
    if (!z->directory || !z->entries)
        return ty_error_memory(error, "the directory of a ZIP archive", z->directory_size);
    return read_at(z, z->directory_at, z->directory, (size_t)z->directory_size, error);
}

/* What the field of zip64 has for the numbers that did not fit; nonzero: it has too little. */
static int widen(ty_zip_entry *e, const unsigned char *extra, size_t size)
{
    uint64_t *const wide[] = {&e->size, &e->stored, &e->at};
    size_t n = 0;
    while (size >= 4 && number(extra, 2) != 1 && number(extra + 2, 2) <= size - 4) {
        const size_t step = 4 + (size_t)number(extra + 2, 2);
        extra += step;
        size -= step;
    }
    if (size >= 4 && number(extra, 2) == 1 && number(extra + 2, 2) <= size - 4)
        n = (size_t)number(extra + 2, 2);
    for (size_t i = 0, at = 4; i < sizeof wide / sizeof *wide; i++) {
        if (*wide[i] != UINT32_MAX)
            continue;
        if (at + 8 > n + 4)
            return 1;
        *wide[i] = number(extra + at, 8);
        at += 8;
    }
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const uint64_t one = ((const ty_zip_entry *)a)->at, other = ((const ty_zip_entry *)b)->at;
    return (one > other) - (one < other);
}

static tally_status check_places(ty_zip *z, tally_error *error)
{
    qsort(z->entries, z->count, sizeof *z->entries, by_place);
    for (size_t i = 0; i < z->count; i++) {
        const ty_zip_entry *e = z->entries + i;
        const uint64_t next = i + 1 < z->count ? e[1].at : z->directory_at;
        if (e->at > next || next - e->at < LOCAL_BYTES + e->name_size ||
            e->stored > next - e->at - LOCAL_BYTES - e->name_size)
            return damaged(z, e->at, "files that lie over each other, or behind the end,", error);
    }
    return TALLY_OK;
}

/* Files alone; folders are left out. */
static tally_status read_entries(ty_zip *z, uint64_t count, tally_error *error)
{
    const unsigned char *at = z->directory, *end = z->directory + z->directory_size;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t place = z->directory_at + (uint64_t)(at - z->directory);
        if (end - at < ENTRY_BYTES || memcmp(at, "PK\1\2", 4) != 0)
            return damaged(z, place, "an entry of the directory", error);
        const size_t name = (size_t)number(at + 28, 2), extra = (size_t)number(at + 30, 2);
        const size_t all = ENTRY_BYTES + name + extra + (size_t)number(at + 32, 2);
        ty_zip_entry e = {at,
                          (const char *)at + ENTRY_BYTES,
                          name,
                          (unsigned)number(at + 10, 2),
                          (unsigned)number(at + 8, 2),
                          (uint32_t)number(at + 16, 4),
                          number(at + 42, 4),
                          number(at + 20, 4),
                          number(at + 24, 4)};
        if ((size_t)(end - at) < all || widen(&e, at + ENTRY_BYTES + name, extra) || !name)
            return damaged(z, place, "an entry of the directory", error);
        if (e.name[name - 1] != '/')
            z->entries[z->count++] = e;
        at += all;
    }
    return at == end ? check_places(z, error)
                     : damaged(z, z->directory_at, "the length of the directory", error);
}

/* ---- The choice ---- */

static int is_called(const ty_zip_entry *e, const char *name, const char *ending)
{
    const size_t size = strlen(name), more = strlen(ending);
    return e->name_size == size + more && !memcmp(e->name, name, size) &&
           !memcmp(e->name + size, ending, more);
}

/* What stands in messages: the names of all, or of the first of them. */
static tally_status list_names(const ty_zip *z, char list[LIST_BYTES], tally_error *error)
{
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; i < z->count; i++) {
        const ty_zip_entry *e = z->entries + i;
        const size_t ending = e->name_size > 4 && !memcmp(e->name + e->name_size - 4, ".npy", 4);
        char *name = ty_text_copy(e->name, e->name_size - 4 * ending);
        if (!name)
            return ty_error_memory(error, "a name in a ZIP archive", e->name_size);
        const int fit = ty_text_fit(name, NAME_MOST);
        const int is_full = used + (size_t)fit + 8 > LIST_BYTES;
        used += (size_t)snprintf(list + used, LIST_BYTES - used, "%s%.*s", used ? ", " : "",
                                 is_full ? 3 : fit, is_full ? "..." : name);
        ty_free(name);
        if (is_full)
            break;
    }
    return TALLY_OK;
}

static tally_status refuse_choice(const ty_zip *z, const char *inside, tally_error *error)
{
    char list[LIST_BYTES];
    const char *name = z->in->name;
    tally_status status = list_names(z, list, error);
    if (status)
        return status;
    if (!z->count)
        return ty_error(error, TALLY_ERROR_FORMAT, "%s: no file is in this ZIP archive", name);
    if (inside)
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: nothing is called '%.*s' in it; there are: %s", name,
                        ty_text_fit(inside, NAME_MOST), inside, list);
    return ty_error(error, TALLY_ERROR_ARGUMENT,
                    "%s: several files are in it: %s; choose one as %s:NAME", name, list, name);
}

static tally_status choose(const ty_zip *z, const char *inside, const ty_zip_entry **chosen,
                           tally_error *error)
{
    static const char *const sheets[] = {"[Content_Types].xml", "xl/workbook.xml", "mimetype"};
    *chosen = !inside && z->count == 1 ? z->entries : NULL;
    for (size_t i = 0; i < z->count; i++) {
        const ty_zip_entry *e = z->entries + i;
        for (size_t k = 0; k < sizeof sheets / sizeof *sheets && !inside; k++)
            if (is_called(e, sheets[k], ""))
                return ty_error(
                    error, TALLY_ERROR_UNSUPPORTED,
                    "%s: an Office document, which is not read; save a spreadsheet as CSV",
                    z->in->name);
        if (!inside || (!is_called(e, inside, "") && !is_called(e, inside, ".npy")))
            continue;
        if (*chosen)
            return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s: two files in it are called '%.*s'",
                            z->in->name, ty_text_fit(inside, NAME_MOST), inside);
        *chosen = e;
    }
    return *chosen ? TALLY_OK : refuse_choice(z, inside, error);
}

/* ---- The file ---- */

/* Checks what the file itself says, and finds where its bytes begin. */
static tally_status find_bytes(const ty_zip *z, const ty_zip_entry *e, const char *name,
                               uint64_t *start, tally_error *error)
{
    unsigned char local[LOCAL_BYTES];
    const uint64_t next = e + 1 < z->entries + z->count ? e[1].at : z->directory_at;
    tally_status status = read_at(z, e->at, local, sizeof local, error);
    if (status)
        return status;
    const uint64_t before = LOCAL_BYTES + number(local + 26, 2) + number(local + 28, 2);
    if (memcmp(local, "PK\3\4", 4) != 0 || number(local + 26, 2) != e->name_size ||
        number(local + 8, 2) != e->method || before > next - e->at ||
        e->stored > next - e->at - before)
        return damaged(z, e->at, "a file", error);
    if ((e->flags | number(local + 6, 2)) & 1)
        return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s: is encrypted, which is not read",
                        name);
    if (e->method != STORED && e->method != DEFLATED)
        return ty_error(
            error, TALLY_ERROR_UNSUPPORTED,
            "%s: packed by method %u of ZIP; 0 (stored) and 8 (deflated) are read: unzip it", name,
            e->method);
    if (!e->size || !e->stored)
        return ty_error(error, TALLY_ERROR_FORMAT, "%s: empty", name);
    if (e->method == STORED ? e->size != e->stored : e->size / DEFLATE_RATIO > e->stored)
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s: damaged: %" PRIu64 " bytes cannot be %" PRIu64 " packed ones", name,
                        e->size, e->stored);
    *start = e->at + before;
    return TALLY_OK;
}

static tally_status open_member(const ty_zip *z, const ty_zip_entry *e, ty_stream **member,
                                tally_error *error)
{
    ty_member m = {.file = z->in->file,
                   .is_alone = z->is_alone,
                   .size = e->stored,
                   .is_deflated = e->method == DEFLATED,
                   .check = e->check,
                   .unpacked = e->size};
    char *own = ty_text_copy(e->name, e->name_size);
    const size_t room = strlen(z->in->name) + (own ? strlen(own) : 0) + 2;
    char *name = own ? ty_malloc(room) : NULL;
    tally_status status = TALLY_OK;
    if (name) {
        snprintf(name, room, "%s:%s", z->in->name, own);
        m.name = name;
        status = find_bytes(z, e, name, &m.start, error);
        m.start += z->in->start;
        if (!status)
            status = ty_stream_open_member(&m, member, error);
    } else {
        status = ty_error_memory(error, "a name in a ZIP archive", room);
    }
    ty_free(name);
    ty_free(own);
    return status;
}

tally_status ty_zip_open(ty_stream *stream, const char *inside, ty_seekable *archive,
                         ty_stream **member, tally_error *error)
{
    ty_zip z = {.in = archive, .is_alone = ty_stream_is_alone(stream)};
    uint64_t count = 0;
    const ty_zip_entry *chosen = NULL;
    tally_status status = ty_seekable_open(stream, archive, error);
    if (!status)
        status = read_directory(&z, &count, error);
    if (!status)
        status = read_entries(&z, count, error);
    if (!status)
        status = choose(&z, inside, &chosen, error);
    if (!status)
        status = open_member(&z, chosen, member, error);
    ty_free(z.directory);
    ty_free(z.entries);
    return status;
}
