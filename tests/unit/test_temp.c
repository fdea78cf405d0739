/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written whole or not at all: what stands in the folder meanwhile, links, and
 * processes that are killed. */
#include "input_help.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/temp_file.h"

static void check_text(const char *path, const char *text)
{
    blob file = help_load(path);
    CHECK_SAY(file.size == strlen(text) && !memcmp(file.bytes, text, file.size), "%s: %.*s", path,
              (int)file.size, (const char *)file.bytes);
    blob_free(&file);
}

static ty_temp *open_temp(const char *path)
{
    tally_error error = {""};
    ty_temp *temp = NULL;
    CHECK_SAY(!ty_temp_open(path, &temp, &error), "%s", error.message);
    return temp;
}

/* Writes "new" to `path`. */
static void save(const char *path)
{
    tally_error error = {""};
    ty_temp *temp = open_temp(path);
    if (!temp)
        return;
    CHECK(!ty_temp_write(temp, "new", 3));
    CHECK_SAY(!ty_temp_commit(temp, &error), "%s", error.message);
    check_text(path, "new");
}

static mode_t mode_of(const char *path)
{
    struct stat file;
    return lstat(path, &file) ? 0 : file.st_mode & 07777;
}

static void test_replace(void)
{
    const char *path = help_path("file");
    mode_t mask = umask(022);
    int before = help_files();
    ty_temp *temp = open_temp(path);
    CHECK(help_files() == before + ty_temp_always_named);
    ty_temp_write(temp, "lost", 4);
    ty_temp_discard(temp);
    CHECK(help_files() == before);
    save(path);
    CHECK(help_files() == before + 1 && mode_of(path) == 0644);
    help_write("file", "old", 3);
    chmod(path, 0640);
    temp = open_temp(path);
    ty_temp_write(temp, "lost", 4);
    check_text(path, "old");
    ty_temp_discard(temp);
    check_text(path, "old");
    save(path);
    CHECK(help_files() == before + 1 && mode_of(path) == 0640);
    unlink(path);
    /* Somebody else makes it meanwhile. */
    tally_error error = {""};
    temp = open_temp(path);
    ty_temp_write(temp, "mine", 4);
    help_write("file", "theirs", 6);
    CHECK_SAY(!ty_temp_commit(temp, &error), "%s", error.message);
    check_text(path, "mine");
    CHECK(help_files() == before + 1);
    unlink(path);
    umask(mask);
}

static int is_link(const char *path)
{
    struct stat file;
    return lstat(path, &file) == 0 && S_ISLNK(file.st_mode);
}

static void test_links(void)
{
    char target[256], link[256], second[256];
    tally_error error = {""};
    ty_temp *temp = NULL;
    snprintf(target, sizeof target, "%s", help_path("target"));
    snprintf(link, sizeof link, "%s", help_path("link"));
    snprintf(second, sizeof second, "%s", help_path("second"));
    for (int absolute = 0; absolute < 2; absolute++) {
        CHECK(!symlink(absolute ? target : "target", link) && !symlink("link", second));
        for (int there = 0; there < 2; there++) { /* dangling, then not */
            save(there ? link : second);
            CHECK(is_link(link) && is_link(second) && !is_link(target));
            check_text(target, "new");
            help_write("target", "old", 3);
        }
        unlink(link);
        unlink(second);
        unlink(target);
    }
    /* In another folder, seen from there. */
    char folder[256], inside[300];
    snprintf(folder, sizeof folder, "%s", help_path("folder"));
    snprintf(inside, sizeof inside, "%s/deep", folder);
    CHECK(!mkdir(folder, 0777) && !symlink("folder/deep", link) && !symlink("../target", inside));
    save(link);
    check_text(target, "new");
    CHECK(is_link(link) && is_link(inside));
    unlink(inside);
    unlink(link);
    unlink(target);
    rmdir(folder);
    CHECK(!symlink("nowhere/target", link));
    CHECK(ty_temp_open(link, &temp, &error) == TALLY_ERROR_IO &&
          strstr(error.message, "No such file"));
    unlink(link);
    CHECK(!symlink("second", link) && !symlink("link", second));
    CHECK_SAY(ty_temp_open(link, &temp, &error) == TALLY_ERROR_IO &&
                  strstr(error.message, "evels of symbolic links"),
              "%s", error.message);
    unlink(link);
    unlink(second);
}

/* A process that is killed while it writes. */
static void test_killed(void)
{
    const char *path = help_path("killed");
    static const char block[100000];
    int before = help_files();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        ty_temp *temp = open_temp(path);
        for (int i = 0; i < 20; i++)
            ty_temp_write(temp, block, sizeof block);
        raise(SIGKILL);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK_SAY(help_files() == before + ty_temp_always_named, "%d files, %d before", help_files(),
              before);
}

static void make_old(const char *name, time_t seconds)
{
    const char *path = help_write(name, "x", 1);
    struct timespec times[2] = {{time(NULL) - seconds, 0}, {time(NULL) - seconds, 0}};
    CHECK(!utimensat(AT_FDCWD, path, times, 0));
}

/* What killed processes left is removed after a while, and nothing else. */
static void test_sweep(void)
{
    static const char *const kept[] = {
        "killed.tmp-0123456789abcde",  "killed.tmp-0123456789abcdeg",
        "killed.tmp-0123456789ABCDEF", "killed.0123456789abcdef",
        "other.tmp-0123456789abcdef",  "killed.tmp-000000000000000ff"};
    int before = help_files();
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        make_old(kept[i], 1000000);
    make_old("killed.tmp-00000000000000fe", 60); /* may still be written to */
    make_old("killed.tmp-00000000000000ff", 7200);
    make_old("killed.tmp-0123456789abcdef", 7200);
    save(help_path("killed"));
    CHECK_SAY(help_files() == before + 6 + 1 + 1, "%d files, %d before", help_files(), before);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        CHECK_SAY(access(help_path(kept[i]), F_OK) == 0, "%s", kept[i]);
    CHECK(access(help_path("killed.tmp-00000000000000fe"), F_OK) == 0);
}

/* Whether this system makes a file without a name where the test's files are, and can name it. */
static int makes_unnamed(void)
{
    int named = 0;
#if defined __O_TMPFILE
    char folder[512], from[40];
    const char *name = help_path("try");
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(name, '/') - name), name);
    int file = open(folder, __O_TMPFILE | O_DIRECTORY | O_WRONLY, 0600);
    snprintf(from, sizeof from, "/proc/self/fd/%d", file);
    named = file >= 0 && linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    if (file >= 0)
        close(file);
    unlink(name);
#endif
    return named;
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    ty_temp_always_named = !makes_unnamed();
    printf("files without a name: %s\n", ty_temp_always_named ? "none here" : "yes");
    for (;; ty_temp_always_named = 1) {
        test_replace();
        test_links();
        test_killed();
        if (ty_temp_always_named)
            break;
    }
    test_sweep();
    return help_end();
}
