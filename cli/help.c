/* SPDX-License-Identifier: Apache-2.0 */
/* --help, made from the table. */
#include <unistd.h>

#include "cli.h"

enum { TEXT_COLUMN = 26, MOST_WIDTH = 100 };

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static size_t width(void)
{
    uint32_t terminal = cli_terminal_width(STDOUT_FILENO);
    return terminal >= 40 && terminal < MOST_WIDTH ? terminal : MOST_WIDTH;
}

/* Breaks `text` between words; `indent` in front of every line but the first, which starts at
 * `column`. */
static void wrap(const char *text, size_t column, size_t indent)
{
    size_t right = width();
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > indent && column + 1 + length > right) {
            cli_out("\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            cli_out(" ");
            column++;
        }
        cli_out_bytes(text, length);
        column += length;
        text += length + strspn(text + length, " ");
    }
    cli_out("\n");
}

static void show_option(const cli_option *row)
{
    char left[80];
    char letter[8] = "    ";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, row->name, row->argument ? " " : "",
             row->argument ? row->argument : "");
    size_t used = strlen(left);
    cli_out("%s", left);
    if (used + 1 >= TEXT_COLUMN) {
        cli_out("\n");
        used = 0;
    }
    cli_out("%*s", (int)(TEXT_COLUMN - used), "");
    wrap(row->help, TEXT_COLUMN, TEXT_COLUMN);
}

static void show_words(void)
{
    cli_out("usage: tally FILE... [options]\n"
            "       tally WORD [arguments] [options]\n\n"
            "Exact histograms at the speed of memory.\n\nWords\n");
    for (size_t i = 0; i < cli_word_count; i++) {
        const cli_word *word = &cli_word_table[i];
        size_t used = strlen(word->name) + 3 + strlen(word->operands);
        cli_out("  %s %s%*s", word->name, word->operands,
                (int)(used < TEXT_COLUMN ? TEXT_COLUMN - used : 1), "");
        wrap(word->summary, TEXT_COLUMN, TEXT_COLUMN);
    }
    cli_out(
        "\n`tally WORD --help` shows a word's options; those of run, which is meant when no word "
        "is given:\n");
}

void cli_help(const cli_word *word)
{
    if (!word) {
        show_words();
        word = cli_word_find("run");
    } else {
        cli_out("usage: tally %s%s%s [options]\n\n", word->name, *word->operands ? " " : "",
                word->operands);
        wrap(word->detail, 0, 0);
        if (*word->examples) {
            cli_out("\nExamples\n");
            for (const char *line = word->examples; *line; line += strcspn(line, "\n") + 1)
                cli_out("  %.*s\n", (int)strcspn(line, "\n"), line);
        }
    }
    for (const char *const *group = cli_group_order; *group; group++) {
        int any = 0;
        for (size_t i = 0; i < cli_option_count; i++) {
            const cli_option *row = &cli_option_table[i];
            if (!(row->words & word->bit) || !row->group || strcmp(row->group, *group) != 0)
                continue;
            if (!any++)
                cli_out("\n%s\n", *group);
            show_option(row);
        }
    }
}

int cli_word_help(const cli_options *options)
{
    const char *name = options->operand_count ? options->operands[0] : NULL;
    const cli_word *word = name ? cli_word_find(name) : NULL;
    if (name && !word)
        return cli_usage(options->word, "no word %s; `tally help` lists them", name);
    cli_help(word);
    return cli_out_end();
}

int cli_word_version(const cli_options *options)
{
    cli_out("tally %s\n", tally_version());
    if (tally_io_libraries()[0])
        cli_out("with %s\n", tally_io_libraries());
    if (cli_has(options, CLI_VERBOSE))
        cli_out("reads by itself GIF, BMP, PNM, npy, FITS, Parquet, Arrow, JSON lines, text, raw "
                "samples\n"
                "loops for %s, by %s\n"
                "counts on the processor, CUDA and OpenCL devices (tally devices lists them)\n"
                "CUDA kernels compiled ahead: %s\n",
                TALLY_LOOPS, COMPILER, tally_kernels_describe());
    return cli_out_end();
}
