/* SPDX-License-Identifier: Apache-2.0 */
/* How fast this processor counts, in turn with other libraries on the same data. */
#include <unistd.h>

#include "bench.h"

enum { REPEATS = 9 };

typedef struct job {
    const bench_options *options;
    bench_case *cases;
    size_t count;
    bench_data data;
    bench_contenders contenders;
    bench_sum sum;
    int json, quick;
    size_t measured, wrong;
} job;

void bench_find_folder(char *to, size_t size)
{
    char path[500];
    const char *named = getenv("TALLY_BENCH_FOLDER");
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    if (named)
        snprintf(to, size, "%s", named);
    else
        snprintf(to, size, "%s/bench", slash ? path : ".");
}

static int check(const bench_options *options)
{
    const char *device = options->device ? options->device : "cpu";
    tally_device_type type;
    int32_t index;
    if (!parse_device(device, &type, &index) || index != 0 ||
        (type != TALLY_DEVICE_AUTO && type != TALLY_DEVICE_CPU))
        return bench_usage("--device %s: tally-bench times the processor: cpu. bench/gpu.sh times "
                           "graphics processors",
                           device);
    if (options->output)
        return bench_usage("--output goes with --figure");
    if (options->mib)
        return bench_usage("--mib goes with --figure");
    for (size_t i = 0; i < options->set.count; i++) {
        const char *text = options->set.texts[i];
        if (!strchr(text, '=') || strlen(text) >= BENCH_SETTING_BYTES)
            return bench_usage("--set %s: not KEY=VALUE", text);
    }
    const char *method = options->method ? options->method : "auto";
    int known = strcmp(method, "auto") == 0;
    for (uint32_t m = 0; m < tally_method_count(); m++) {
        tally_method_info info = {.struct_size = sizeof info};
        if (tally_method_get(m, &info, NULL) == TALLY_OK)
            known |= strcmp(info.name, method) == 0 && strstr(info.devices, "cpu") != NULL;
    }
    if (!known)
        return bench_usage("no method %s on device cpu; `tally methods` lists them", method);
    return BENCH_OK;
}

/* How long a case takes, about, in nanoseconds: for the time left. */
static uint64_t effort(const job *job, size_t first)
{
    uint64_t sum = 0;
    for (size_t i = first; i < job->count; i++)
        sum += job->cases[i].n * (job->cases[i].dtype == BENCH_U8 ? 10 : 80) + 150000000;
    return sum;
}

static void look_wrong(job *job, const bench_case *wanted)
{
    for (size_t i = 0; i < job->contenders.count; i++) {
        const bench_contender *contender = &job->contenders.all[i];
        if ((contender->role != BENCH_TALLY && contender->role != BENCH_SCALING) || !contender->ran)
            continue;
        job->measured++;
        if (!contender->same) {
            job->wrong++;
            bench_fail("%s: %s %s on %u threads: counts differ from the reference", wanted->name,
                       contender->name, contender->call, contender->threads);
        }
    }
}

static int run_case(job *job, size_t i)
{
    const bench_case *wanted = &job->cases[i];
    bench_problem problem;
    tally_error error = {""};
    bench_progress_show(wanted->name, effort(job, 0) - effort(job, i), effort(job, 0));
    if (bench_data_make(&job->data, wanted, &problem)) {
        bench_note(job->options, "skipped: %s: %s", wanted->name, job->data.why);
        return BENCH_OK;
    }
    unsigned repeats = job->options->repeats ? (unsigned)job->options->repeats : REPEATS;
    if (bench_measure(&job->contenders, wanted, &problem, repeats, job->quick, &error))
        return bench_fail("%s: %s", wanted->name, error.message);
    bench_progress_wipe();
    look_wrong(job, wanted);
    if (job->json)
        bench_show_json(&job->contenders, wanted, &problem);
    else
        bench_show_case(&job->contenders, wanted, &problem, job->options->verbose, &job->sum);
    return bench_out_end();
}

static int run(job *job)
{
    int code = bench_contenders_open(&job->contenders, job->options, &job->data);
    if (code)
        return code;
    for (size_t i = 0; i < job->contenders.skipped_count && job->json; i++)
        bench_note(job->options, "skipped: %s: %s", job->contenders.skipped[i].name,
                   job->contenders.skipped[i].reason);
    if (!job->json)
        bench_show_head(&job->contenders);
    bench_progress_start(job->options);
    for (size_t i = 0; i < job->count && !code; i++)
        code = run_case(job, i);
    bench_progress_end();
    if (!code && !job->json)
        bench_show_end(&job->contenders, &job->sum);
    if (!code && job->measured == 0)
        code = bench_fail("nothing could be measured");
    int end = bench_out_end();
    return code ? code : job->wrong ? BENCH_FAILED : end;
}

int bench_run(const bench_options *options)
{
    char folder[600];
    job job = {.options = options, .quick = options->quick};
    int code = check(options);
    if (code)
        return code;
    bench_find_folder(folder, sizeof folder);
    job.json = options->format && strcmp(options->format, "json") == 0;
    job.cases = bench_cases(options, &job.count);
    job.data.folder = folder;
    job.data.seed = options->seed;
    if (!job.cases)
        code = bench_fail("out of memory");
    else if (job.count == 0)
        code = bench_usage("--only %s: no such case; they are called u8-uniform-64KiB, "
                           "f32-2048-normal, edges-f64-uniform, 2d, weights and so on",
                           options->only.texts[0]);
    else if (bench_data_start(&job.data, job.cases, job.count))
        code = bench_fail("out of memory");
    else
        code = run(&job);
    bench_contenders_close(&job.contenders);
    bench_data_release(&job.data);
    free(job.cases);
    return code;
}
