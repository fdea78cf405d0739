/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache of compiled kernels: what is written is read, nothing else is, and its absence changes
 * nothing but time. With the stand-in drivers of fake/ where plans are made.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "core/alloc.h"
#include "gpu/device.h"
#include "plan/plan.h"

static char folder[] = "/tmp/tally-cache-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* The only entry of the folder `name`, whole path; its number of files goes to *count. */
static const char *entry_of(const char *name, int *count)
{
    static char path[600];
    DIR *d = opendir(path_of(name));
    *count = 0;
    for (const struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        ++*count;
        snprintf(path, sizeof path, "%s/%s", path_of(name), e->d_name);
    }
    if (d)
        closedir(d);
    return path;
}

/* Whether the cache has `code` for the key. */
static int has(const char *text, const char *options, const char *signature, const char *code)
{
    size_t size = 0;
    char *got = ty_cache_get(text, options, signature, &size);
    int same = got && size == strlen(code) && !memcmp(got, code, size);
    ty_free(got);
    return same;
}

static int has_none(const char *text, const char *options, const char *signature)
{
    size_t size = 0;
    void *got = ty_cache_get(text, options, signature, &size);
    ty_free(got);
    return !got;
}

static void test_keys(void)
{
    struct stat info;
    int count;
    setenv("TALLY_CACHE_DIR", path_of("a/b"), 1);
    CHECK_SAY(has_none("text", "-D1", "sm_90|13.0"), "nothing there at first");
    ty_cache_put("text", "-D1", "sm_90|13.0", "code", 4);
    CHECK_SAY(has("text", "-D1", "sm_90|13.0", "code"), "what was put is got");
    CHECK_SAY(has_none("texT", "-D1", "sm_90|13.0"), "another text");
    CHECK_SAY(has_none("text", "-D2", "sm_90|13.0"), "other options");
    CHECK_SAY(has_none("text", "-D1", "sm_90|13.1"), "another compiler");
    CHECK_SAY(has_none("text-D1", "", "sm_90|13.0"), "the borders between the key's parts count");
    CHECK_SAY(!stat(path_of("a/b"), &info) && (info.st_mode & 0777) == 0700, "the folder is 0700");
    CHECK_SAY(!stat(path_of("a"), &info) && (info.st_mode & 0777) == 0700, "so is its parent");
    CHECK_SAY(!stat(entry_of("a/b", &count), &info) && (info.st_mode & 0777) == 0600 && count == 1,
              "one file, 0600, nothing temporary left");
    ty_cache_put("text", "-D1", "sm_90|13.0", "newer code", 10);
    CHECK_SAY(has("text", "-D1", "sm_90|13.0", "newer code"),
              "a later entry replaces an earlier one");
}

static void test_places(void)
{
    char *home = strdup(path_of("home")), *xdg = strdup(path_of("xdg"));
    int count;
    unsetenv("TALLY_CACHE_DIR");
    setenv("XDG_CACHE_HOME", xdg, 1);
    setenv("HOME", home, 1);
    ty_cache_put("x", "", "", "1", 1);
    entry_of("xdg/tally", &count);
    CHECK_SAY(count == 1, "XDG_CACHE_HOME/tally");
    unsetenv("XDG_CACHE_HOME");
    ty_cache_put("x", "", "", "1", 1);
    entry_of("home/.cache/tally", &count);
    CHECK_SAY(count == 1, "HOME/.cache/tally");
    unsetenv("HOME");
    ty_cache_put("x", "", "", "1", 1);
    CHECK_SAY(has_none("x", "", ""), "nowhere to write is fine");
    free(home);
    free(xdg);
}

/* An entry changed in every way: byte by byte, cut, emptied, another key's. */
static void test_damage(void)
{
    int count, wrong = 0;
    setenv("TALLY_CACHE_DIR", path_of("damage"), 1);
    ty_cache_put("text", "", "sig", "machine code", 12);
    const char *entry = entry_of("damage", &count);
    struct stat info;
    unsigned char whole[512];
    FILE *f = fopen(entry, "rb");
    CHECK_SAY(f && !stat(entry, &info), "the entry can be read");
    size_t n = f ? fread(whole, 1, sizeof whole, f) : 0;
    if (f)
        fclose(f);
    for (size_t i = 0; i <= 2 * n; i++) {
        f = fopen(entry, "wb");
        if (!f)
            break;
        unsigned char was = i < n ? whole[i] : 0;
        if (i < n)
            whole[i] ^= 0x40;
        fwrite(whole, 1, i < n ? n : i - n, f); /* then cut at every length */
        fclose(f);
        if (i < n)
            whole[i] = was;
        wrong +=
            i == 2 * n ? !has("text", "", "sig", "machine code") : !has_none("text", "", "sig");
    }
    CHECK_SAY(!wrong && n > 64, "no damaged entry is taken, the whole one is");
    f = fopen(entry, "ab");
    fputc(0, f);
    fclose(f);
    CHECK_SAY(has_none("text", "", "sig"), "nor one that is too long");
    /* Another entry's content under this name. */
    char *name = strdup(entry);
    remove(name);
    ty_cache_put("other", "", "sig", "other code", 10);
    CHECK_SAY(!rename(entry_of("damage", &count), name), "renamed");
    CHECK_SAY(has_none("text", "", "sig"), "an entry of another key is foreign");
    ty_cache_put("text", "", "sig", "machine code", 12);
    CHECK_SAY(has("text", "", "sig", "machine code"), "and is written anew");
    /* A link to it is not followed. */
    char target[600];
    snprintf(target, sizeof target, "%s/target", folder);
    CHECK_SAY(!rename(name, target) && !symlink(target, name), "linked");
    CHECK_SAY(has_none("text", "", "sig"), "a link is not an entry");
    free(name);
}

static void test_unwritable(void)
{
    setenv("TALLY_CACHE_DIR", path_of("file/inside"), 1);
    FILE *f = fopen(path_of("file"), "w");
    fclose(f);
    ty_cache_put("x", "", "", "1", 1);
    CHECK_SAY(has_none("x", "", ""), "a folder that cannot be made");
    mkdir(path_of("open"), 0700);
    chmod(path_of("open"), 0777);
    setenv("TALLY_CACHE_DIR", path_of("open"), 1);
    ty_cache_put("x", "", "", "1", 1);
    CHECK_SAY(has_none("x", "", ""), "a folder that others may write to is not used");
    mkdir(path_of("shut"), 0700);
    setenv("TALLY_CACHE_DIR", path_of("shut"), 1);
    chmod(path_of("shut"), 0500);
    pid_t child = fork();
    if (child == 0) {
        /* Root may write anywhere, and a folder of root's is not this user's. */
        int result = geteuid() == 0 &&
                     (chown(path_of("shut"), 65534, 65534) || chmod(folder, 0755) || setuid(65534));
        ty_cache_put("x", "", "", "1", 1);
        exit(result || !has_none("x", "", ""));
    }
    int result = 1;
    waitpid(child, &result, 0);
    CHECK_SAY(!result, "a folder that cannot be written to");
}

/* What others could have written is no entry; a pipe is not waited for. */
static void test_foreign(void)
{
    int count;
    setenv("TALLY_CACHE_DIR", path_of("foreign"), 1);
    ty_cache_put("text", "", "sig", "code", 4);
    char *entry = strdup(entry_of("foreign", &count));
    CHECK_SAY(entry && !chmod(entry, 0622) && has_none("text", "", "sig"),
              "others may write to it");
    CHECK_SAY(!chmod(entry, 0600) && has("text", "", "sig", "code"), "only its owner may");
    CHECK_SAY(!chmod(path_of("foreign"), 0777) && has_none("text", "", "sig"), "an open folder");
    CHECK_SAY(!chmod(path_of("foreign"), 0700) && has("text", "", "sig", "code"), "a shut one");
    if (!chown(entry, 65534, 65534))
        CHECK_SAY(has_none("text", "", "sig"), "another's entry");
    else
        printf("skipped: an entry of another owner: only root can make one\n");
    alarm(60);
    CHECK_SAY(!unlink(entry) && !mkfifo(entry, 0600) && has_none("text", "", "sig"), "a pipe");
    ty_cache_put("text", "", "sig", "code", 4);
    CHECK_SAY(has("text", "", "sig", "code"), "which the next entry replaces");
    alarm(0);
    CHECK_SAY(!unlink(entry) && !mkdir(entry, 0700) && has_none("text", "", "sig"), "a folder");
    free(entry);
}

/* Processes that write and read the same entries: what is read is always whole. */
static void test_at_once(void)
{
    enum { processes = 4, rounds = 300, size = 30000 };
    setenv("TALLY_CACHE_DIR", path_of("shared"), 1);
    pid_t children[processes];
    for (int p = 0; p < processes; p++) {
        children[p] = fork();
        if (children[p])
            continue;
        char *code = malloc(size);
        int bad = !code;
        for (int i = 0; i < rounds && !bad; i++) {
            char text[16];
            size_t got = 0;
            snprintf(text, sizeof text, "%d", i % 5);
            memset(code, p + 1, size);
            ty_cache_put(text, "", "", code, size);
            char *read = ty_cache_get(text, "", "", &got);
            for (size_t j = 1; read && j < got; j++)
                bad |= read[j] != read[0];
            bad |= !read || got != size;
            ty_free(read);
        }
        free(code);
        exit(bad);
    }
    int all = 0, count;
    for (int p = 0; p < processes; p++) {
        int result = 1;
        waitpid(children[p], &result, 0);
        all |= result;
    }
    entry_of("shared", &count);
    CHECK_SAY(!all && count == 5, "four processes at once");
}

/* ---- with plans ---- */

typedef struct made {
    char describe[640], signature[320];
    long compiles;
} made;

/* A plan in a process of its own, where drivers are as the environment says. */
static made make(tally_device_type device, const char *library, const char *call, uint64_t bins)
{
    made m = {"", "", -1};
    int ends[2];
    fflush(NULL);
    if (pipe(ends))
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        tally_context_options where = TALLY_CONTEXT_OPTIONS_INIT;
        tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
        tally_context *context = NULL;
        tally_plan *plan = NULL;
        tally_error error = {""};
        char path[512];
        snprintf(path, sizeof path, "%s/%s", FAKE_FOLDER, library);
        void *handle = dlopen(path, RTLD_NOW);
        long (*calls)(const char *) = NULL;
        *(void **)&calls = dlsym(handle, "fake_calls");
        where.device = device;
        o.axes[0] = tally_axis_even(bins, 0, 256);
        o.dtypes[0] = TALLY_U8;
        o.method = "private-shared";
        if (tally_context_create(&where, &context, &error) ||
            tally_plan_create(context, &o, &plan, &error)) {
            fprintf(stderr, "%s\n", error.message);
            exit(1);
        }
        snprintf(m.describe, sizeof m.describe, "%s", tally_plan_describe(plan));
        memcpy(m.signature, ((ty_device *)context->state)->signature, sizeof m.signature);
        m.compiles = calls(call);
        tally_plan_destroy(plan);
        tally_context_destroy(context);
        exit(write(ends[1], &m, sizeof m) != sizeof m);
    }
    close(ends[1]);
    if (read(ends[0], &m, sizeof m) != sizeof m)
        CHECK_SAY(0, "a plan on a stand-in device");
    close(ends[0]);
    waitpid(child, NULL, 0);
    return m;
}

static int cached(const made *m)
{
    return strstr(m->describe, "from the disk cache") != NULL;
}

static void test_plans(tally_device_type device, const char *library, const char *call)
{
    int count;
    setenv("TALLY_CACHE_DIR", path_of(library), 1);
    made first = make(device, library, call, 256), second = make(device, library, call, 256);
    CHECK_SAY(first.compiles == 1 && !cached(&first), "the first plan compiles");
    CHECK_SAY(second.compiles == 0 && cached(&second),
              "the second takes it from the cache, and says so");
    made bins = make(device, library, call, 100);
    CHECK_SAY(bins.compiles == 0, "another number of bins compiles nothing");
    /* What the driver will not take is compiled again. */
    FILE *f = fopen(entry_of(library, &count), "r+b");
    CHECK_SAY(f && count == 1 && !fseek(f, 100, SEEK_SET) && fputc('!', f) != EOF,
              "an entry to damage");
    if (f)
        fclose(f);
    made third = make(device, library, call, 256), fourth = make(device, library, call, 256);
    CHECK_SAY(third.compiles == 1 && !cached(&third), "a damaged entry is compiled again");
    CHECK_SAY(fourth.compiles == 0, "and written again");
}

/* A binary, which costs PoCL another compilation, is asked for where it can be kept. */
static void test_binaries(void)
{
    setenv("TALLY_CACHE_DIR", path_of("binaries"), 1);
    made kept = make(TALLY_DEVICE_OPENCL, "libOpenCL.so.1", "clGetProgramInfo", 256);
    setenv("TALLY_CACHE_DIR", "/dev/null", 1);
    made lost = make(TALLY_DEVICE_OPENCL, "libOpenCL.so.1", "clGetProgramInfo", 256);
    CHECK_SAY(kept.compiles == 2, "a binary's size and a binary are asked for");
    CHECK_SAY(lost.compiles == 0, "none is asked for where there is no cache");
}

static void test_signature(tally_device_type device, const char *library, const char *variable,
                           const char *value)
{
    made before = make(device, library, "", 256);
    setenv(variable, value, 1);
    made after = make(device, library, "", 256);
    unsetenv(variable);
    CHECK_SAY(strcmp(before.signature, after.signature) != 0, "%s", variable);
}

/* The compiler's version is part of the key, though not of the device's signature: its library is
 * opened only when something has to be compiled. */
static void test_compiler(void)
{
    setenv("TALLY_CACHE_DIR", path_of("compiler"), 1);
    make(TALLY_DEVICE_CUDA, "libnvrtc.so.13", "nvrtcCompileProgram", 256);
    setenv("FAKE_NVRTC_MAJOR", "12", 1);
    made other = make(TALLY_DEVICE_CUDA, "libnvrtc.so.13", "nvrtcCompileProgram", 256);
    unsetenv("FAKE_NVRTC_MAJOR");
    made again = make(TALLY_DEVICE_CUDA, "libnvrtc.so.13", "nvrtcCompileProgram", 256);
    CHECK_SAY(other.compiles == 1 && again.compiles == 0, "another compiler compiles again");
}

int main(void)
{
    char command[128];
    if (!mkdtemp(folder))
        return 1;
    setenv("TALLY_KERNELS_FILE", "none", 1);
    setenv("TALLY_OPENCL_LIBRARY", FAKE_FOLDER "/libOpenCL.so.1", 1);
    setenv("TALLY_CUDA_LIBRARY", FAKE_FOLDER "/libcuda.so.1", 1);
    setenv("TALLY_NVRTC_LIBRARY", FAKE_FOLDER "/libnvrtc.so.13", 1);
    test_keys();
    test_places();
    test_damage();
    test_unwritable();
    test_foreign();
    test_at_once();
    test_plans(TALLY_DEVICE_CUDA, "libnvrtc.so.13", "nvrtcCompileProgram");
    test_plans(TALLY_DEVICE_OPENCL, "libOpenCL.so.1", "clCreateProgramWithSource");
    test_binaries();
    test_signature(TALLY_DEVICE_CUDA, "libcuda.so.1", "FAKE_CUDA_DRIVER", "13010");
    test_signature(TALLY_DEVICE_CUDA, "libcuda.so.1", "FAKE_CUDA_CAPABILITY", "75");
    test_compiler();
    test_signature(TALLY_DEVICE_OPENCL, "libOpenCL.so.1", "FAKE_OPENCL_NAME", "another GPU");
    test_signature(TALLY_DEVICE_OPENCL, "libOpenCL.so.1", "FAKE_OPENCL_DRIVER", "7.2");
    test_signature(TALLY_DEVICE_OPENCL, "libOpenCL.so.1", "FAKE_OPENCL_VERSION", "OpenCL 3.0 x");
    test_signature(TALLY_DEVICE_OPENCL, "libOpenCL.so.1", "FAKE_OPENCL_PLATFORM",
                   "OpenCL 3.0 LLVM 99");
    snprintf(command, sizeof command, "chmod -R u+rwx '%s'; rm -rf '%s'", folder, folder);
    if (system(command))
        failures++;
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
