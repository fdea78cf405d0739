/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files of a source this process reads, of those that count together (team.h). Small files,
 * and those that have to be decoded from their begin, are dealt whole, to whom has the fewest bytes
 * so far; of the others each process counts a range of the elements. Every process decides by
 * itself, alike; cli_team_add checks that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/stat.h>

#include "team.h"
#include "source.h"

enum { UNDECIDED = -2, ALL = -1 };

static tally_status find_size(const char *path, uint64_t *bytes, tally_error *error)
{
    struct stat about;
    char *file = strndup(path, tally_input_file_length(path)); /* of FILE:INSIDE the file */
    tally_status status = file ? TALLY_OK : cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
    if (!status && stat(file, &about))
        status = cli_error(error, TALLY_ERROR_IO, "%s: %s", path, strerror(errno));
    else if (!status && !S_ISREG(about.st_mode))
        status = cli_error(error, TALLY_ERROR_IO,
                           "%s: several processes read files, each by itself, and no pipes", path);
    else if (!status)
        *bytes = (uint64_t)about.st_size;
    free(file);
    return status;
}

tally_status cli_deal_start(cli_source *source, tally_error *error)
{
    const cli_team *team = source->options->team;
    if (!team)
        return TALLY_OK;
    source->deals = calloc(source->count, sizeof *source->deals);
    source->load = calloc((size_t)team->ranks, sizeof *source->load);
    tally_status status = source->deals && source->load
                              ? TALLY_OK
                              : cli_error(error, TALLY_ERROR_MEMORY, "out of memory");
    for (size_t i = 0; i < source->count && !status; i++) {
        source->deals[i].owner = UNDECIDED;
        status = find_size(source->paths[i], &source->deals[i].bytes, error);
    }
    return status;
}

static void deal_whole(cli_source *source, cli_deal *deal)
{
    int least = 0;
    for (int r = 1; r < source->options->team->ranks; r++)
        least = source->load[r] < source->load[least] ? r : least;
    deal->owner = least;
    source->load[least] += deal->bytes + 1;
}

/* Whether it may be cut: words have codes that are found by reading on, and --verify looks at
 * weights that are in memory. */
static int is_large(const cli_source *source, const cli_deal *deal)
{
    const cli_team *team = source->options->team;
    const int looks = cli_has(source->options, CLI_VERIFY) && cli_has(source->options, CLI_WEIGHTS);
    return team->ranks > 1 && deal->bytes >= team->split && !looks && !cli_source_has_words(source);
}

int cli_deal_skips(cli_source *source)
{
    cli_deal *deal = source->deals ? &source->deals[source->current] : NULL;
    if (deal && deal->owner == UNDECIDED && !is_large(source, deal))
        deal_whole(source, deal);
    return deal && deal->owner >= 0 && deal->owner != source->options->team->rank;
}

int cli_deal_cuts(const cli_source *source)
{
    const cli_deal *deal = source->deals ? &source->deals[source->current] : NULL;
    return deal && (deal->owner == ALL || (deal->owner == UNDECIDED && is_large(source, deal)));
}

/* ---- a range of the elements ---- */

static tally_status read_slice(void *user, uint64_t begin, uint64_t count, void *to,
                               tally_error *error)
{
    const cli_slice *s = user;
    return s->from->read(s->from->user, s->offset + begin, count, to, error);
}

static const void *lend_slice(void *user, uint64_t begin, uint64_t count)
{
    const cli_slice *s = user;
    return s->from->lend ? s->from->lend(s->from->user, s->offset + begin, count) : NULL;
}

static void give_back_slice(void *user, const void *lent, uint64_t begin, uint64_t count)
{
    const cli_slice *s = user;
    s->from->give_back(s->from->user, lent, s->offset + begin, count);
}

static void cut(tally_view *view, cli_slice *slice, uint64_t begin, uint64_t end)
{
    slice->from = view->source;
    slice->offset = begin;
    slice->source = (tally_source)TALLY_SOURCE_INIT;
    slice->source.read = read_slice;
    slice->source.lend = lend_slice;
    slice->source.give_back = give_back_slice;
    slice->source.grain = view->source->grain;
    slice->source.user = slice;
    view->source = &slice->source;
    view->rows = 1;
    view->columns = end - begin;
}

void cli_deal_cut(cli_source *source, cli_chunk *chunk)
{
    const cli_team *team = source->options->team;
    cli_deal *deal = &source->deals[source->current];
    const uint64_t all = chunk->elements, grain = chunk->views[0].source->grain,
                   unit = grain ? grain : 1, units = all / unit + (all % unit != 0),
                   ranks = (uint64_t)team->ranks, rank = (uint64_t)team->rank,
                   first = units / ranks * rank + (rank < units % ranks ? rank : units % ranks),
                   begin = first * unit < all ? first * unit : all,
                   mine = units / ranks + (rank < units % ranks),
                   end = mine * unit < all - begin ? begin + mine * unit : all;
    if (deal->owner == UNDECIDED)
        for (uint64_t r = 0; r < ranks; r++)
            source->load[r] += deal->bytes / ranks;
    deal->owner = ALL;
    deal->elements = all;
    cli_slice *slice = source->slices;
    for (uint32_t d = 0; d < source->dimensions; d++)
        cut(&chunk->views[d], slice++, begin, end);
    if (chunk->has_mask)
        cut(&chunk->mask, slice++, begin, end);
    if (chunk->has_weights)
        cut(&chunk->weights, slice, begin, end);
    chunk->elements = end - begin;
}

int cli_deal_keeps(cli_source *source)
{
    cli_deal *deal = &source->deals[source->current];
    if (deal->owner == UNDECIDED)
        deal_whole(source, deal);
    return deal->owner == source->options->team->rank;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t cli_deal_print(const cli_source *source)
{
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), &source->count, sizeof source->count);
    for (size_t i = 0; i < source->count; i++) {
        const cli_deal *deal = &source->deals[i];
        hash = mix(hash, source->paths[i], strlen(source->paths[i]) + 1);
        hash = mix(hash, &deal->bytes, sizeof deal->bytes);
        hash = mix(hash, &deal->elements, sizeof deal->elements);
        hash = mix(hash, &deal->owner, sizeof deal->owner);
    }
    return hash;
}
