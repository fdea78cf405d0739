/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles ahead of time the kernels that `auto` may choose, for every architecture, into the
 * kernels file (src/gpu/kernels_file.h). Run by the build:
 *
 *     prebuild FILE all|TARGET[,TARGET…]      TARGET: 75 … 120, or ptx
 *
 * Which kernels: plans of every dtype and kind of axis over numbers of bins and samples are
 * resolved as on a device of the architecture, and what `auto` takes is compiled; so are weighted
 * sums and joint tables of float samples, and what counts samples with a mask or not packed, or
 * adds them to an output in device memory, and as PTX statistics of float values. Uneven edges
 * would be two thirds of all: lookup tables in local memory are in it for the usual types, else the
 * search, and of the other types only what takes any layout. NVRTC is opened as at run time;
 * without it no file is made, which is said and is no failure. What was compiled before comes from
 * the cache ($TALLY_CACHE_DIR).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/alloc.h"
#include "binning/float32.h"
#include "binning/lookup.h"
#include "binning/affine.h"
#include "cpu/threads.h"
#include "gpu/method.h"
#include "gpu/kernels_file.h"
#include "gpu/order.h"
#include "gpu/statistics.h"
#include "gpu/call.h"
#include "plan/cost.h"
#include "plan/registry.h"

/* PTX for architectures to come is of the oldest kind, with the options of a large device. */
enum { ptx_arch = 75, ptx_like = 100, most_items = 8192 };

typedef struct item {
    ty_target target;
    const ty_gpu_method *kernel;
    char options[sizeof(((ty_defines *)0)->text)];
    void *code;
    size_t size;
    int cached;
    tally_error error;
} item;

static struct {
    item *items;
    size_t count;
    char compiler[32];
} all;

static void die(const char *what, const char *words)
{
    fprintf(stderr, "prebuild: %s: %s\n", what, words);
    exit(1);
}

/* ---- which kernels ---- */

static void add(ty_target target, const ty_gpu_method *kernel, const char *options)
{
    for (size_t i = all.count; i-- > 0;) {
        const item *old = &all.items[i];
        if (old->kernel == kernel && old->target.arch == target.arch &&
            old->target.is_ptx == target.is_ptx && !strcmp(old->options, options))
            return;
    }
    if (all.count == most_items)
        die("too many kernels", "more than 8192");
    item *new = &all.items[all.count++];
    new->target = target;
    new->kernel = kernel;
    snprintf(new->options, sizeof new->options, "%s", options);
}

/* Types that most data are of. */
static int is_usual(tally_dtype dtype)
{
    return dtype == TALLY_U8 || dtype == TALLY_U16 || dtype == TALLY_I32 || dtype == TALLY_F32 ||
           dtype == TALLY_F64;
}

/* The lookup tables in local memory that the plan's edges may ask for. Plans whose
 * kernel is not here search their edges. */
static void add_lookups(ty_target target, tally_plan *plan)
{
    const ty_gpu_method *kernel = plan->method->backend;
    ty_axis *axis = &plan->axes[0];
    ty_defines o;
    if (kernel->tables < TY_TABLES_LOCAL || !ty_lookup_serves(axis))
        return;
    for (axis->lookup_kind = TY_LOOKUP_ONE; axis->lookup_kind <= TY_LOOKUP_INDEX;
         axis->lookup_kind++) {
        if (axis->lookup_kind == TY_LOOKUP_INDEX && tally_dtype_bytes(axis->dtype) == 8)
            continue;
        for (axis->positive = 0; axis->positive <= ty_lookup_by_float(axis); axis->positive++) {
            ty_gpu_options(plan, plan->context->state, &o);
            add(target, kernel, o.text);
        }
    }
}

/* The kernel of the plan that `auto` makes of these options, if it makes one. */
static void add_plan(tally_context *context, ty_target target, const tally_plan_options *options)
{
    tally_plan *plan = NULL;
    if (ty_plan_resolve(context, options, 0, &plan, NULL))
        return;
    const ty_gpu_method *kernel = plan->method->backend;
    ty_defines o;
    ty_gpu_options(plan, context->state, &o);
    add(target, kernel, o.text);
    /* As most axes are. */
    const int serves[] = {
        0, ty_float32_serves(options->dtypes[0]),
        kernel->reads == TY_READS_COLUMN &&
            (ty_affine16_serves(options->dtypes[0]) ||
             (kernel->maps >= TY_MAPS_32 && ty_affine32_serves(options->dtypes[0])))};
    for (int proof = TY_PROVEN_F32; proof <= TY_PROVEN_AFFINE; proof++) {
        if (!kernel->maps || !plan->axes[0].even || !serves[proof])
            continue;
        for (uint32_t d = 0; d < options->dimensions; d++)
            plan->axes[d].proof = (ty_proof)proof;
        ty_gpu_options(plan, context->state, &o);
        add(target, kernel, o.text);
    }
    add_lookups(target, plan);
    tally_plan_destroy(plan);
}

/* What a plan that `auto` makes takes for samples that its own kernel does not read, and to add to
 * an output in device memory. Rows with gaps are left to what takes any layout where there is no
 * compiler. */
static void add_others(tally_context *context, ty_target target, const tally_plan_options *options)
{
    tally_plan *plan = NULL;
    tally_plan_options o = *options;
    if (ty_plan_resolve(context, options, 0, &plan, NULL))
        return;
    for (int k = 0; k < TY_ROUTES; k++) {
        const ty_method *other = k == TY_ROUTE_ROWS ? NULL : ty_route_method(plan, k);
        o.method = other ? other->name : NULL;
        if (other)
            add_plan(context, target, &o);
    }
    tally_plan_destroy(plan);
}

/* Plans that differ in what may change a kernel, for one dtype and number of bins. */
static void add_plans(tally_context *context, ty_target target, tally_dtype dtype, uint64_t bins,
                      const double *edges)
{
    static const uint64_t sizes[] = {1,       1 << 6,  1 << 9,  1 << 12,
                                     1 << 16, 1 << 20, 1 << 26, UINT64_C(1) << 31};
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    o.dtypes[0] = dtype;
    o.axes[0] = edges ? tally_axis_edges(bins, edges) : tally_axis_even(bins, 0, (double)bins);
    if (edges && !is_usual(dtype)) {
        o.method = "views";
        add_plan(context, target, &o);
        o.method = "global-in-place";
        add_plan(context, target, &o);
        return;
    }
    for (int s = 0; s < 8; s++) { /* by which `auto` chooses: a method asked for needs no more */
        o.n_hint = sizes[s];
        add_plan(context, target, &o);
    }
    add_others(context, target, &o);
    for (o.channels = 2; o.channels <= 4 && tally_dtype_bytes(dtype) == 1; o.channels++) {
        add_plan(context, target, &o);
        add_others(context, target, &o);
    }
}

/* Weighted sums and joint tables of the types that most data are of. */
static void add_joint(tally_context *context, ty_target target, tally_dtype dtype, uint64_t bins)
{
    static const tally_dtype weights[] = {TALLY_F32, TALLY_F64};
    tally_plan_options o = {.struct_size = sizeof o, .dimensions = 1};
    o.n_hint = UINT64_C(1) << 26;
    for (int d = 0; d < 2; d++) {
        o.dtypes[d] = dtype;
        o.axes[d] = tally_axis_even(bins, 0, 1);
    }
    for (int w = 0; w < 2; w++) {
        o.weight_dtype = weights[w];
        add_plan(context, target, &o);
    }
    o.weight_dtype = (tally_dtype)0;
    o.dimensions = 2;
    add_plan(context, target, &o);
    add_others(context, target, &o);
}

/* Of a plan of statistics as it stands. */
static void add_wishes(tally_context *context, ty_target target, const tally_plan *plan)
{
    const tally_dtype value = plan->options.dtypes[0];
    const ty_statistics_wish wishes[] = {
        {value, 1, 0}, {value, 2, 0}, {value, 0, 1}, {value, 2, 1}};
    ty_defines o;
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        ty_statistics_options(plan, context->state, &wishes[i], &o);
        add(target, plan->method->backend, o.text);
    }
}

/* Statistics of values by bins, of float samples and values of one type, which need memory of a
 * large device; edges are searched, or proven as even ones. */
static void add_statistics(tally_context *context, ty_target target, tally_dtype dtype,
                           uint64_t bins, const double *edges)
{
    tally_plan_options options = {
        .struct_size = sizeof options, .dimensions = 1, .method = "views"};
    tally_plan *plan = NULL;
    options.dtypes[0] = dtype;
    options.axes[0] = edges ? tally_axis_edges(bins, edges) : tally_axis_even(bins, 0, 1);
    if (ty_plan_resolve(context, &options, 0, &plan, NULL))
        return;
    ty_axis *axis = &plan->axes[0];
    plan->method = &ty_statistics_kernels;
    add_wishes(context, target, plan);
    if (ty_float32_serves(dtype)) {
        axis->proof = TY_PROVEN_F32;
        add_wishes(context, target, plan);
        axis->map.tie = 1;
        add_wishes(context, target, plan);
    }
    tally_plan_destroy(plan);
}

static void add_target(ty_target target, const double *edges)
{
    ty_device device = ty_device_virtual(target.is_ptx ? ptx_like : target.arch);
    ty_tuning tuning;
    tally_context context = {.backend = &ty_cuda_backend,
                             .device = TALLY_DEVICE_CUDA,
                             .state = &device,
                             .tuning = &tuning};
    char arch[32];
    snprintf(arch, sizeof arch, "cuda-sm_%u", device.capability);
    ty_tuning_default(arch, &tuning);
    for (int dtype = TALLY_U8; dtype <= TALLY_F64; dtype++) {
        for (uint64_t bins = 1; bins <= 1 << 24; bins = bins * 9 / 8 + 1)
            add_plans(&context, target, (tally_dtype)dtype, bins, NULL);
        for (uint64_t bins = 1; bins <= 1 << 18; bins = bins * 5 / 4 + 1)
            add_plans(&context, target, (tally_dtype)dtype, bins, edges);
        for (uint64_t bins = 10; bins <= 4096 && dtype >= TALLY_F32; bins *= 2)
            add_joint(&context, target, (tally_dtype)dtype, bins);
        for (uint64_t bins = 1; bins <= 1 << 17 && target.is_ptx && dtype >= TALLY_F32;
             bins = bins * 9 / 8 + 1) {
            add_statistics(&context, target, (tally_dtype)dtype, bins, NULL);
            add_statistics(&context, target, (tally_dtype)dtype, bins, edges);
        }
        ty_defines o;
        ty_order_options(&device, (tally_dtype)dtype, &o);
        add(target, &ty_order_kernels, o.text);
        add(target, &ty_extremes_kernels, o.text);
        add(target, &ty_weighted_kernels, o.text);
    }
}

/* "all", or some of "75,90,ptx". */
static int wanted(const char *list, const char *name)
{
    size_t n = strlen(name);
    if (!strcmp(list, "all"))
        return 1;
    for (const char *at = list; *at; at += strcspn(at, ",;"), at += *at != '\0') {
        if (!strncmp(at, name, n) && strspn(at + n, ",;") + !at[n] > 0)
            return 1;
    }
    return 0;
}

static void find_kernels(const char *list)
{
    enum { most_edges = (1 << 18) + 1 };
    double *edges = malloc(most_edges * sizeof *edges);
    char name[16];
    if (!edges)
        die("memory", "out of memory");
    for (int i = 0; i < most_edges; i++)
        edges[i] = i + (i & 1) * 0.25;
    for (int a = 0; ty_architectures[a]; a++) {
        snprintf(name, sizeof name, "%u", ty_architectures[a]);
        if (wanted(list, name))
            add_target((ty_target){ty_architectures[a], 0}, edges);
    }
    if (wanted(list, "ptx"))
        add_target((ty_target){ptx_arch, 1}, edges);
    free(edges);
}

/* Those of a target together, and in it those that are alike: they are packed together. */
static int alike(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->target.is_ptx != y->target.is_ptx)
        return x->target.is_ptx - y->target.is_ptx;
    if (x->target.arch != y->target.arch)
        return x->target.arch < y->target.arch ? -1 : 1;
    if (x->kernel != y->kernel)
        return x->kernel < y->kernel ? -1 : 1;
    return strcmp(x->options, y->options);
}

/* ---- compiling ---- */

static void compile(void *arg, unsigned part, unsigned worker)
{
    item *it = &all.items[part];
    char signature[96];
    (void)arg;
    (void)worker;
    snprintf(signature, sizeof signature, "prebuilt|%s_%u|nvrtc %s",
             it->target.is_ptx ? "compute" : "sm", it->target.arch, all.compiler);
    char *text = ty_gpu_text(it->kernel);
    if (!text)
        return;
    it->code = ty_cache_get(text, it->options, signature, &it->size);
    it->cached = it->code != NULL;
    if (!it->cached) {
        tally_status status =
            it->target.is_ptx
                ? ty_nvrtc_ptx(text, it->options, it->target.arch, &it->code, &it->size, &it->error)
                : ty_nvrtc_compile(text, it->options, it->target.arch, &it->code, &it->size, NULL,
                                   &it->error);
        if (status)
            it->code = NULL;
        else
            ty_cache_put(text, it->options, signature, it->code, it->size);
    }
    ty_free(text);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compile_all(void)
{
    ty_pool *pool = ty_pool_create(0);
    if (!pool)
        die("memory", "out of memory");
    ty_pool_run(pool, 0, (unsigned)all.count, compile, NULL);
    ty_pool_destroy(pool);
    for (size_t i = 0; i < all.count; i++) {
        if (!all.items[i].code)
            die(all.items[i].options, all.items[i].error.message);
    }
}

static void save(const char *path)
{
    ty_kernel_entry *entries = calloc(all.count + 1, sizeof *entries);
    tally_error error = {""};
    if (!entries)
        die("memory", "out of memory");
    for (size_t i = 0; i < all.count; i++) {
        const item *it = &all.items[i];
        char *text = ty_gpu_text(it->kernel);
        if (!text)
            die("memory", "out of memory");
        entries[i] = (ty_kernel_entry){.target = it->target, .code = it->code, .size = it->size};
        ty_kernels_key(text, it->options, it->target, entries[i].key);
        ty_free(text);
    }
    if (ty_kernels_save(path, entries, all.count, &error))
        die("saving", error.message);
    free(entries);
}

int main(int argc, char **argv)
{
    char reason[256];
    double begin = seconds();
    size_t cached = 0, bytes = 0;
    if (argc != 3) {
        fprintf(stderr, "usage: prebuild FILE all|TARGET[,TARGET...]\n");
        return 2;
    }
    const char *version = ty_nvrtc_version(reason, sizeof reason);
    if (!version) {
        printf("prebuild: no kernels file is made: %s\n", reason);
        return 0;
    }
    snprintf(all.compiler, sizeof all.compiler, "%s", version);
    all.items = calloc(most_items, sizeof *all.items);
    if (!all.items)
        die("memory", "out of memory");
    find_kernels(argv[2]);
    if (!all.count)
        die(argv[2], "no target; all, or some of 75,80,86,89,90,100,120,ptx");
    qsort(all.items, all.count, sizeof *all.items, alike);
    double found = seconds();
    compile_all();
    double compiled = seconds();
    save(argv[1]);
    for (size_t i = 0; i < all.count; i++) {
        cached += (size_t)all.items[i].cached;
        bytes += all.items[i].size;
        ty_free(all.items[i].code);
    }
    printf("prebuild: %s: %zu kernels (%zu compiled before), %.1f MB of code; found in %.1f s, "
           "compiled in %.1f s, written in %.1f s\n",
           argv[1], all.count, cached, (double)bytes * 1e-6, found - begin, compiled - found,
           seconds() - compiled);
    free(all.items);
    return 0;
}
