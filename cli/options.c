/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing the command line by the table. */
#include "cli.h"
#include "dates.h"

static int belongs(const cli_option *row, const cli_word *word)
{
    return (row->words & word->bit) != 0;
}

static const cli_option *find_long(const cli_word *word, const char *name, size_t length)
{
    for (size_t i = 0; i < cli_option_count; i++) {
        const cli_option *row = &cli_option_table[i];
        if (belongs(row, word) && strlen(row->name) == length &&
            memcmp(row->name, name, length) == 0)
            return row;
    }
    return NULL;
}

static const cli_option *find_letter(const cli_word *word, char letter)
{
    for (size_t i = 0; i < cli_option_count; i++)
        if (belongs(&cli_option_table[i], word) && cli_option_table[i].letter == letter)
            return &cli_option_table[i];
    return NULL;
}

/* An unknown option: whose it is, or which one is meant. */
static int unknown(const cli_word *word, const char *name, size_t length)
{
    char text[64];
    size_t kept = length < sizeof text - 1 ? length : sizeof text - 1;
    memcpy(text, name, kept);
    text[kept] = '\0';
    for (size_t w = 0; w < cli_word_count; w++)
        if (find_long(&cli_word_table[w], text, kept))
            return cli_usage(word, "--%s is an option of `tally %s`, not of `tally %s`", text,
                             cli_word_table[w].name, word->name);
    const cli_option *best = NULL;
    size_t least = kept / 3 + 1;
    for (size_t i = 0; i < cli_option_count; i++) {
        const cli_option *row = &cli_option_table[i];
        if (!belongs(row, word) || !row->group)
            continue;
        size_t far = cli_distance(text, row->name, least);
        int starts = kept >= 3 && strncmp(text, row->name, kept) == 0;
        if (starts || far < least || (far == least && !best)) {
            best = row;
            least = starts ? 0 : far;
        }
    }
    if (best)
        return cli_usage(word, "no option --%s; do you mean --%s?", text, best->name);
    return cli_usage(word, "no option --%s", text);
}

#define DTYPE_NAMES "one of %s, or NumPy's name, such as float32, int16, <f4 and >u2"

static int check(const cli_word *word, const cli_option *row, const char *text)
{
    uint64_t integer;
    double real;
    int is_date, order;
    switch (row->kind) {
    case CLI_CHOICE:
        if (row->id == CLI_DTYPE) {
            if (parse_dtype(text, &order))
                break;
            if (cli_dtype_meant(text))
                return cli_usage(word, "--%s %s: is called %s here; " DTYPE_NAMES, row->name, text,
                                 cli_dtype_meant(text), row->choices);
            return cli_usage(word, "--%s %s: " DTYPE_NAMES, row->name, text, row->choices);
        }
        if (!has_word(row->choices, strcmp(text, " ") == 0 ? "space" : text))
            return cli_usage(word, "--%s %s: one of %s", row->name, text, row->choices);
        break;
    case CLI_UINT:
        if (!parse_u64(text, &integer) || integer < row->least || integer > row->most) {
            if (row->most == UINT64_MAX)
                return cli_usage(word, "--%s %s: an integer from %llu", row->name, text,
                                 (unsigned long long)row->least);
            return cli_usage(word, "--%s %s: an integer from %llu to %llu", row->name, text,
                             (unsigned long long)row->least, (unsigned long long)row->most);
        }
        break;
    case CLI_WHEN:
        if (!cli_value_parse(text, TALLY_TIME_NONE, 0, &real, &is_date))
            return cli_usage(word,
                             "--%s: %s is not a finite number, nor a date; two are needed, as in "
                             "--%s 0 1 or --%s=0,1",
                             row->name, text, row->name, row->name);
        break;
    case CLI_REAL:
        if (!cli_parse_real(text, &real))
            return cli_usage(word, "--%s %s: not a finite number", row->name, text);
        break;
    case CLI_FILE:
    case CLI_TEXT:
        if (*text == '\0' && row->id != CLI_TITLE)
            return cli_usage(word, "--%s needs %s, not an empty word", row->name, row->argument);
        break;
    case CLI_FLAG:
        break;
    }
    return CLI_OK;
}

static int add(cli_options *options, const cli_option *row, const char *text)
{
    size_t count = options->values[row->id].count;
    const char **texts = options->values[row->id].texts;
    if (row->kind == CLI_FLAG) {
        options->values[row->id].count = count + 1;
        return CLI_OK;
    }
    int bad = check(options->word, row, text);
    if (bad)
        return bad;
    texts = realloc(texts, (count + 1) * sizeof *texts);
    if (!texts)
        return cli_fail("out of memory");
    texts[count] = text;
    options->values[row->id].texts = texts;
    options->values[row->id].count = count + 1;
    return CLI_OK;
}

/* --range=LO,HI: the pieces become the option's own words. */
static int add_joined(cli_options *options, const cli_option *row, const char *value)
{
    if (row->arguments == 1)
        return add(options, row, value);
    size_t count = 0;
    char **pieces = cli_split(value, &count);
    if (!pieces)
        return cli_fail("out of memory");
    int status = CLI_OK;
    size_t room = sizeof options->split / sizeof *options->split - options->split_count;
    if (count != row->arguments || count > room)
        status = cli_usage(options->word, "--%s=%s: needs %u values, %s", row->name, value,
                           row->arguments, row->argument);
    for (size_t i = 0; i < count && !status; i++) {
        options->split[options->split_count++] = pieces[i];
        status = add(options, row, pieces[i]);
        pieces[i] = NULL;
    }
    cli_split_free(pieces, count);
    return status;
}

static int again(const cli_options *options, const cli_option *row)
{
    if (options->values[row->id].count == 0 || row->repeats || row->kind == CLI_FLAG)
        return CLI_OK;
    return cli_usage(options->word, "--%s is given twice", row->name);
}

/* `i` is at the option; returns an exit code and moves `i` to the option's last argument. */
static int parse_long(cli_options *options, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2;
    const char *equal = strchr(name, '=');
    size_t length = equal ? (size_t)(equal - name) : strlen(name);
    const cli_option *row = find_long(options->word, name, length);
    if (!row)
        return unknown(options->word, name, length);
    int status = again(options, row);
    if (status)
        return status;
    if (equal && row->kind == CLI_FLAG)
        return cli_usage(options->word, "--%s takes no value", row->name);
    if (row->kind == CLI_FLAG)
        return add(options, row, NULL);
    if (equal)
        return add_joined(options, row, equal + 1);
    if (row->arguments == 2 && *i + 1 < argc && strchr(argv[*i + 1], ','))
        return add_joined(options, row, argv[++*i]);
    if ((unsigned)(argc - 1 - *i) < row->arguments && row->arguments == 2)
        return cli_usage(options->word, "--%s needs %s: two numbers, as in --%s 0 1 or --%s=0,1",
                         row->name, row->argument, row->name, row->name);
    if ((unsigned)(argc - 1 - *i) < row->arguments)
        return cli_usage(options->word, "--%s needs %s", row->name, row->argument);
    for (unsigned a = 0; a < row->arguments && !status; a++)
        status = add(options, row, argv[++*i]);
    return status;
}

/* Which long options may be meant. */
static int unknown_letter(const cli_word *word, char letter)
{
    char names[256] = "";
    for (size_t i = 0; i < cli_option_count; i++) {
        const cli_option *row = &cli_option_table[i];
        const size_t used = strlen(names);
        if (belongs(row, word) && row->group && row->name[0] == letter &&
            used + strlen(row->name) + 8 < sizeof names)
            snprintf(names + used, sizeof names - used, "%s--%s", used ? ", " : "", row->name);
    }
    const char text[] = {letter, '\0'};
    return cli_usage(word, "no option -%s%s%s%s", text, *names ? "; do you mean " : "", names,
                     *names ? "?" : "");
}

static int parse_letters(cli_options *options, int argc, char **argv, int *i)
{
    for (const char *at = argv[*i] + 1; *at; at++) {
        const cli_option *row = find_letter(options->word, *at);
        if (!row)
            return unknown_letter(options->word, *at);
        int status = again(options, row);
        if (status)
            return status;
        if (row->kind == CLI_FLAG) {
            add(options, row, NULL);
            continue;
        }
        if (at[1])
            return add_joined(options, row, at + 1 + (at[1] == '='));
        if (*i + 1 >= argc)
            return cli_usage(options->word, "-%c needs %s", *at, row->argument);
        return add(options, row, argv[++*i]);
    }
    return CLI_OK;
}

static int count_operands(const cli_options *options)
{
    const cli_word *word = options->word;
    size_t n = options->operand_count;
    if (cli_has(options, CLI_HELP) || cli_has(options, CLI_VERSION))
        return CLI_OK;
    if (*word->operands == '\0' && n > 0)
        return cli_usage(word, "`tally %s` takes no file, but was given %s", word->name,
                         options->operands[0]);
    if (n < word->least)
        return cli_usage(word, "`tally %s` needs %s", word->name, word->operands);
    if (word->most && n > word->most)
        return cli_usage(word, "`tally %s` takes one %s, but was given %zu", word->name,
                         word->operands, n);
    return CLI_OK;
}

int cli_options_parse(int argc, char **argv, cli_options *options)
{
    memset(options, 0, sizeof *options);
    int i = 1;
    options->word = argc > 1 ? cli_word_find(argv[1]) : NULL;
    if (options->word)
        i = 2;
    else
        options->word = cli_word_find("run");
    options->operands = calloc((size_t)argc + 1, sizeof *options->operands);
    if (!options->operands)
        return cli_fail("out of memory");
    int only_files = 0;
    for (; i < argc; i++) {
        const char *text = argv[i];
        int status = CLI_OK;
        if (only_files || text[0] != '-' || text[1] == '\0')
            options->operands[options->operand_count++] = text;
        else if (strcmp(text, "--") == 0)
            only_files = 1;
        else if (text[1] == '-')
            status = parse_long(options, argc, argv, &i);
        else
            status = parse_letters(options, argc, argv, &i);
        if (status)
            return status;
    }
    return count_operands(options);
}

void cli_options_release(cli_options *options)
{
    for (int id = 0; id < CLI_ID_COUNT; id++)
        free(options->values[id].texts);
    for (size_t i = 0; i < options->split_count; i++)
        free(options->split[i]);
    for (size_t i = 0; i < options->found_count; i++)
        free(options->found[i]);
    free(options->found);
    free(options->operands);
    memset(options, 0, sizeof *options);
}

int cli_has(const cli_options *options, cli_id id)
{
    return options->values[id].count > 0;
}

const char *cli_text(const cli_options *options, cli_id id, const char *otherwise)
{
    size_t count = options->values[id].count;
    return count && options->values[id].texts ? options->values[id].texts[count - 1] : otherwise;
}

uint64_t cli_uint(const cli_options *options, cli_id id, uint64_t otherwise)
{
    uint64_t value = otherwise;
    const char *text = cli_text(options, id, NULL);
    if (text)
        parse_u64(text, &value);
    return value;
}
