/* `tally bench`: how fast this processor counts, beside other libraries on the same data. */
#include <unistd.h>

#include "bench.h"
#include "figure.h"

enum { REPEATS = 9 };

typedef struct job {
    const cli_options *options;
    bench_case *cases;
    size_t count;
    bench_data data;
    bench_ways ways;
    bench_sum sum;
    cli_progress progress;
    int json, quick;
    size_t measured, wrong;
} job;

/* $TALLY_BENCH_FOLDER, or "bench" beside the command: the photograph, and the peers. */
static void find_folder(char *to, size_t size)
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

static int check(const cli_options *options)
{
    const char *device = cli_text(options, CLI_DEVICE, "cpu");
    tally_device_type type;
    int32_t index;
    if (!cli_parse_device(device, &type, &index) || index != 0 ||
        (type != TALLY_DEVICE_AUTO && type != TALLY_DEVICE_CPU))
        return cli_usage(options->word,
                         "--device %s: `tally bench` times the processor: cpu. bench/gpu.sh times "
                         "graphics processors",
                         device);
    if (options->values[CLI_SET].count > BENCH_SETTINGS)
        return cli_usage(options->word, "more than %d settings", BENCH_SETTINGS);
    for (size_t i = 0; i < options->values[CLI_SET].count; i++) {
        const char *text = options->values[CLI_SET].texts[i];
        if (!strchr(text, '=') || strlen(text) >= BENCH_SETTING_BYTES)
            return cli_usage(options->word, "--set %s: not KEY=VALUE", text);
    }
    const char *method = cli_text(options, CLI_METHOD, "auto");
    int known = strcmp(method, "auto") == 0;
    for (uint32_t m = 0; m < tally_method_count(); m++) {
        tally_method_info info = {.struct_size = sizeof info};
        if (tally_method_get(m, &info, NULL) == TALLY_OK)
            known |= strcmp(info.name, method) == 0 && strstr(info.devices, "cpu") != NULL;
    }
    if (!known)
        return cli_usage(options->word, "no method %s on device cpu; `tally methods` lists them",
                         method);
    return CLI_OK;
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
    for (size_t i = 0; i < job->ways.count; i++) {
        const bench_way *way = &job->ways.all[i];
        if ((way->role != BENCH_OURS && way->role != BENCH_APART) || !way->ran)
            continue;
        job->measured++;
        if (!way->same) {
            job->wrong++;
            cli_fail("%s: %s %s on %u threads: counts differ from the reference", wanted->name,
                     way->name, way->call, way->threads);
        }
    }
}

static int run_case(job *job, size_t i)
{
    const bench_case *wanted = &job->cases[i];
    bench_problem problem;
    tally_error error = {""};
    job->progress.what = wanted->name;
    cli_progress_show(&job->progress, effort(job, 0) - effort(job, i), effort(job, 0));
    if (bench_data_make(&job->data, wanted, &problem)) {
        cli_note(job->options, "skipped: %s: %s", wanted->name, job->data.why);
        return CLI_OK;
    }
    unsigned repeats = (unsigned)cli_uint(job->options, CLI_REPEATS, REPEATS);
    if (bench_measure(&job->ways, wanted, &problem, repeats, job->quick, &error))
        return cli_fail("%s: %s", wanted->name, error.message);
    cli_progress_wipe();
    look_wrong(job, wanted);
    if (job->json)
        bench_show_json(&job->ways, wanted, &problem);
    else
        bench_show_case(&job->ways, wanted, &problem, cli_has(job->options, CLI_VERBOSE),
                        &job->sum);
    return cli_out_end();
}

static int run(job *job)
{
    int code = bench_ways_open(&job->ways, job->options, &job->data);
    if (code)
        return code;
    for (size_t i = 0; i < job->ways.skipped_count && job->json; i++)
        cli_note(job->options, "skipped: %s: %s", job->ways.skipped[i].name,
                 job->ways.skipped[i].reason);
    if (!job->json)
        bench_show_head(&job->ways);
    cli_progress_start(&job->progress, job->options, "");
    job->progress.plain = 1;
    for (size_t i = 0; i < job->count && !code; i++)
        code = run_case(job, i);
    cli_progress_end(&job->progress);
    if (!code && !job->json)
        bench_show_end(&job->ways, &job->sum);
    if (!code && job->measured == 0)
        code = cli_fail("nothing could be measured");
    int end = cli_out_end();
    return code ? code : job->wrong ? CLI_FAILED : end;
}

int cli_bench(const cli_options *options)
{
    static const cli_id of_figures[] = {CLI_FROM, CLI_PEERS, CLI_FOLDER};
    char folder[600];
    job job = {.options = options, .quick = cli_has(options, CLI_QUICK)};
    if (cli_has(options, CLI_TUNE))
        return cli_tune(options);
    find_folder(folder, sizeof folder);
    if (cli_has(options, CLI_FIGURE) || cli_has(options, CLI_LIST))
        return cli_bench_figures(options, folder);
    int code = check(options);
    for (size_t i = 0; i < 3 && !code; i++)
        if (cli_has(options, of_figures[i]))
            code = cli_usage(options->word, "--%s goes with --figure",
                             cli_option_row(of_figures[i])->name);
    if (code)
        return code;
    job.json = strcmp(cli_text(options, CLI_LIST_FORMAT, "table"), "json") == 0;
    job.cases = bench_cases(options, &job.count);
    job.data.folder = folder;
    job.data.seed = cli_uint(options, CLI_SEED, 1);
    if (!job.cases)
        code = cli_fail("out of memory");
    else if (job.count == 0)
        code = cli_usage(options->word,
                         "--only %s: no such case; they are called u8-uniform-64KiB, "
                         "f32-2048-normal, edges-f64-uniform, 2d, weights and so on",
                         cli_text(options, CLI_ONLY, ""));
    else if (bench_data_start(&job.data, job.cases, job.count))
        code = cli_fail("out of memory");
    else
        code = run(&job);
    bench_ways_close(&job.ways);
    bench_data_release(&job.data);
    free(job.cases);
    return code;
}
