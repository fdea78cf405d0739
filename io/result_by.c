/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram for each value of a column of words, from the joint one of words and values. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/result.h"
#include "io/words.h"

typedef struct group {
    uint64_t samples, code;
    const char *text;
    size_t size;
} group;

static int by_samples(const void *a, const void *b)
{
    const group *x = a, *y = b;
    return x->samples != y->samples ? (x->samples < y->samples) - (x->samples > y->samples)
                                    : strcmp(x->text, y->text);
}

/* The words that have samples, in bins or not, the most first. NULL: out of memory. */
static group *find_groups(const tally_result *joint, const tally_words *words,
                          const tally_flows *flows, uint64_t *count)
{
    const uint64_t known = tally_words_count(words), bins = joint->axes[1].bins;
    group *groups = ty_calloc(known + 1, sizeof *groups);
    *count = 0;
    for (uint64_t code = 0; groups && code < known && code < joint->axes[0].bins; code++) {
        const tally_flows *f = flows + code;
        group g = {.code = code, .samples = f->under + f->over + f->nan + f->masked};
        for (uint64_t b = 0; b < bins; b++)
            g.samples += ((const uint64_t *)joint->counts)[code * bins + b];
        if (!g.samples)
            continue;
        g.text = ty_words_bytes(words, code, &g.size);
        groups[(*count)++] = g;
    }
    if (groups)
        qsort(groups, (size_t)*count, sizeof *groups, by_samples);
    return groups;
}

static void add_group(tally_result *into, uint64_t h, const tally_result *joint,
                      const tally_flows *flows, uint64_t code)
{
    uint64_t *to = (uint64_t *)into->counts + h * into->bins;
    for (uint64_t b = 0; b < into->bins; b++)
        to[b] += ((const uint64_t *)joint->counts)[code * into->bins + b];
    into->flows[h].under += flows[code].under;
    into->flows[h].over += flows[code].over;
    into->flows[h].nan += flows[code].nan;
    into->flows[h].masked += flows[code].masked;
}

static tally_status make(const tally_result *joint, const tally_flows *flows, const group *groups,
                         uint64_t count, uint64_t kept, tally_result **result, tally_error *error)
{
    char last[64];
    size_t bytes = sizeof last;
    const uint64_t histograms = kept + (count > kept) + (count == 0);
    snprintf(last, sizeof last, "%" PRIu64 " other values", count - kept);
    for (uint64_t i = 0; i < kept; i++)
        bytes += ty_label_bytes(groups[i].text, groups[i].size);
    ty_labels *labels = ty_labels_create(histograms, bytes);
    const char **names = ty_calloc(histograms, sizeof(const char *));
    tally_status status = TALLY_OK;
    if (!labels || !names)
        status = ty_error_memory(error, "the names of histograms", bytes);
    for (uint64_t i = 0; i < histograms && !status; i++) {
        if (i < kept)
            ty_labels_add(labels, groups[i].text, groups[i].size);
        else
            ty_labels_add(labels, count ? last : "(none)", count ? strlen(last) : 6);
        names[i] = ty_label(labels, i);
    }
    ty_result_shape shape = {.dimensions = 1,
                             .axes = &joint->axes[1],
                             .kind = TALLY_RESULT_COUNTS,
                             .dtype = joint->dtype,
                             .times = {joint->times[1]},
                             .histograms = histograms,
                             .names = names,
                             .by = joint->names[0],
                             .others = count - kept};
    if (!status)
        status = ty_result_create(&shape, result, error);
    for (uint64_t i = 0; i < count && !status; i++)
        add_group(*result, i < kept ? i : kept, joint, flows, groups[i].code);
    if (!status)
        status = ty_result_add_notes(*result, joint, error);
    ty_labels_release(labels);
    ty_free(names);
    return status;
}

tally_status tally_result_by(const tally_result *joint, const tally_words *words,
                             const tally_flows *flows, uint64_t most, tally_result **result,
                             tally_error *error)
{
    if (!joint || !words || !flows || !result)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s is NULL",
                        !joint   ? "joint"
                        : !words ? "words"
                        : !flows ? "flows"
                                 : "result");
    if (joint->dimensions != 2 || joint->histograms != 1 || joint->kind != TALLY_RESULT_COUNTS ||
        ty_counter_saturates(joint->counter))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "the joint result must be one histogram of words and values, of counts");
    uint64_t count;
    group *groups = find_groups(joint, words, flows, &count);
    if (!groups)
        return ty_error_memory(error, "the values of a column", 0);
    tally_result *made = NULL;
    tally_status status =
        make(joint, flows, groups, count, most && most < count ? most : count, &made, error);
    ty_free(groups);
    if (status)
        tally_result_destroy(made);
    else
        *result = made;
    return status;
}
