/* SPDX-License-Identifier: Apache-2.0 */
/* What `tally run` does differently where several processes count together. */
#include "team.h"

#include "dates.h"
#include "job.h"

int cli_team_writes(const cli_options *options)
{
    return !options->team || options->team->rank == 0;
}

/* A rule or a calendar unit among the values of --bins. */
static int names_rule(const cli_options *options)
{
    for (size_t i = 0; i < options->values[CLI_BINS].count; i++) {
        size_t count = 0;
        char **pieces = cli_split(options->values[CLI_BINS].texts[i], &count);
        int found = 0;
        for (size_t p = 0; p < count; p++)
            found |= tally_rule_parse(pieces[p]) >= 0;
        cli_split_free(pieces, count);
        if (found)
            return 1;
    }
    return 0;
}

int cli_team_check(const cli_options *options)
{
    static const struct {
        cli_id option;
        const char *instead;
    } refused[] = {
        {CLI_RANKS, "`tally quantiles` finds them"},
        {CLI_OF, "`tally run --of` makes profiles, and `tally merge` adds them"},
        {CLI_SUM_SQUARES, "`tally run` adds up squares"},
        {CLI_KEEP_GOING, "one that fails ends all, and names the file"},
        {CLI_PROGRESS, "each process would show its own"},
    };
    if (!options->team)
        return CLI_OK;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (cli_has(options, refused[i].option))
            return cli_usage(options->word, "--%s is not for several processes: %s",
                             cli_option_row(refused[i].option)->name, refused[i].instead);
    if (names_rule(options))
        return cli_usage(options->word, "--bins: a rule needs all samples in one process; give a "
                                        "number");
    if (strpbrk(cli_text(options, CLI_DEVICE, ""), ":,*"))
        return cli_usage(options->word, "--device: each process takes the one that has its number "
                                        "on its machine; give cpu, cuda, opencl or auto");
    int standard = !options->operand_count || strcmp(cli_text(options, CLI_MASK, ""), "-") == 0 ||
                   strcmp(cli_text(options, CLI_WEIGHTS, ""), "-") == 0;
    for (size_t i = 0; i < options->operand_count; i++)
        standard |= strcmp(options->operands[i], "-") == 0;
    return standard ? cli_usage(options->word, "several processes read files, not standard input; "
                                               "name one")
                    : CLI_OK;
}

tally_status cli_team_stats(const cli_options *options, tally_status mine, tally_stats *stats,
                            uint32_t count, tally_dtype dtype, tally_error *error)
{
    cli_team *team = options->team;
    if (!team)
        return mine;
    const size_t ranks = (size_t)team->ranks;
    tally_stats *all = calloc(ranks * count, sizeof *all);
    if (!all && !mine)
        mine = cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
    tally_status status = team->gather(team, mine, stats, count * sizeof *stats, all, error);
    for (uint32_t i = 0; i < count && !status; i++) {
        stats[i] = (tally_stats)TALLY_STATS_INIT;
        for (size_t r = 0; r < ranks; r++)
            tally_stats_merge(&stats[i], &all[r * count + i], dtype);
    }
    free(all);
    return status;
}

/* Words with a NUL behind each. */
typedef struct text {
    char *bytes;
    uint64_t size;
} text;

/* Adds to `all` the words of `own`, and lists those that were new. */
static tally_status list_new(const tally_words *own, tally_words *all, text *list,
                             tally_error *error)
{
    const uint64_t count = tally_words_count(own);
    uint64_t room = 0;
    tally_status status = TALLY_OK;
    for (uint64_t code = 0; code < count && !status; code++) {
        const uint64_t before = tally_words_count(all);
        size_t size;
        const char *word = tally_words_text(own, code, &size);
        status = tally_words_add(all, word, size, error);
        if (status || tally_words_count(all) == before)
            continue;
        if (list->size + size + 1 > room) {
            room = 2 * room + size + 1;
            char *grown = realloc(list->bytes, (size_t)room);
            if (!grown)
                return cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
            list->bytes = grown;
        }
        memcpy(list->bytes + list->size, word, size + 1);
        list->size += size + 1;
    }
    return status;
}

/* One process' turn: what it has that nobody before had. */
static tally_status take_turn(cli_team *team, int from, const tally_words *own, tally_words *all,
                              tally_error *error)
{
    text list = {NULL, 0};
    tally_status status = from == team->rank ? list_new(own, all, &list, error) : TALLY_OK;
    status = team->say(team, status, from, &list.size, sizeof list.size, error);
    if (!status && from != team->rank && !(list.bytes = malloc((size_t)list.size + 1)))
        status = cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
    status = team->say(team, status, from, list.bytes, status ? 0 : list.size, error);
    for (uint64_t at = 0; !status && from != team->rank && at < list.size;) {
        const size_t size = strlen(list.bytes + at);
        status = tally_words_add(all, list.bytes + at, size, error);
        at += size + 1;
    }
    free(list.bytes);
    return status;
}

tally_status cli_team_words(const cli_options *options, tally_status mine, tally_words **words,
                            tally_error *error)
{
    cli_team *team = options->team;
    tally_words *all = NULL;
    if (!team)
        return mine;
    tally_status status = mine ? mine : tally_words_create(&all, error);
    for (int r = 0; r < team->ranks && !status; r++)
        status = take_turn(team, r, *words, all, error);
    if (status) {
        tally_words_destroy(all);
        return status;
    }
    tally_words_destroy(*words);
    *words = all;
    return TALLY_OK;
}

/* That all dealt the files alike: else one might be counted twice, or by nobody. */
static tally_status check_deals(cli_team *team, const cli_source *source, tally_error *error)
{
    uint64_t own = cli_deal_print(source), *all = calloc((size_t)team->ranks, sizeof *all);
    tally_status status = all ? TALLY_OK : cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
    status = team->gather(team, status, &own, sizeof own, all, error);
    for (int r = 0; r < team->ranks && !status; r++)
        if (all[r] != *all)
            status = cli_error(error, TALLY_ERROR_DATA,
                               "rank %d sees other files than rank 0: their sizes or what is in "
                               "them differ, or they change",
                               r);
    free(all);
    return status;
}

int cli_team_add(cli_job *job)
{
    cli_team *team = job->options->team;
    tally_error error = {""};
    if (!team)
        return CLI_OK;
    uint64_t numbers[] = {job->elements, job->by_missing, (uint64_t)job->source.rounded};
    const uint64_t values = job->by_flows ? tally_words_count(job->source.words[0]) : 0;
    const tally_output output = cli_tallied_output(&job->ours);
    tally_result_info info = {.struct_size = sizeof info};
    tally_result_info_get(job->ours.result, &info);
    tally_status status = check_deals(team, &job->source, &error);
    status = team->add(team, status, job->plan, info.histograms, &output, &error);
    status = team->sum(team, status, numbers, 3, &error);
    status = team->sum(team, status, (uint64_t *)job->by_flows, 4 * values, &error);
    job->elements = numbers[0];
    job->by_missing = numbers[1];
    job->source.rounded = numbers[2] != 0;
    return status ? cli_fail_status(status, &error) : CLI_OK;
}
