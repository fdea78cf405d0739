/* SPDX-License-Identifier: Apache-2.0 */
/* How the files of a source are opened. */
#include "source.h"

int cli_source_has_integers(const cli_source *source)
{
    return source->kind.dtype == TALLY_I64 || source->kind.dtype == TALLY_U64;
}

void cli_source_input_options(const cli_source *source, tally_input_options *wanted)
{
    const cli_options *options = source->options;
    const char *text = cli_text(options, CLI_DTYPE, NULL);
    *wanted = (tally_input_options)TALLY_INPUT_OPTIONS_INIT;
    wanted->rewindable = source->keep;
    wanted->threads = (uint32_t)cli_uint(options, CLI_THREADS, 0);
    int order = 0;
    if (text)
        wanted->dtype = parse_dtype(text, &order);
    else if (cli_has(options, CLI_ALPHABET))
        wanted->dtype = TALLY_U8;
    text = cli_text(options, CLI_ENDIAN, "");
    wanted->byte_order = *text == 'b' ? 1 : *text == 'l' ? -1 : order;
    wanted->page = cli_uint(options, CLI_PAGE, 0);
    wanted->offset_bytes = cli_uint(options, CLI_OFFSET, 0);
    text = cli_text(options, CLI_SHAPE, NULL);
    if (text) {
        char *at = (char *)text;
        for (int i = 0; i < 3 && *at; i++) {
            wanted->shape[i] = strtoull(at, &at, 10);
            at += *at == ',';
        }
    }
    text = cli_text(options, CLI_ROWS, NULL);
    if (text)
        cli_parse_slice(text, &wanted->row_begin, &wanted->row_end);
    text = cli_text(options, CLI_COLS, NULL);
    if (text)
        cli_parse_slice(text, &wanted->column_begin, &wanted->column_end);
    text = cli_text(options, CLI_HEADER, NULL);
    if (text)
        wanted->header = strcmp(text, "yes") == 0 ? 1 : -1;
    text = cli_text(options, CLI_DELIMITER, "");
    wanted->delimiter = (char)(strcmp(text, "tab") == 0     ? '\t'
                               : strcmp(text, "space") == 0 ? ' '
                                                            : *text);
    wanted->decimal = *cli_text(options, CLI_DECIMAL, "");
    text = cli_text(options, CLI_THOUSANDS, "");
    wanted->thousands = (char)(strcmp(text, "space") == 0 ? ' ' : *text);
    wanted->missing = cli_text(options, CLI_NA, NULL);
    wanted->masked =
        !cli_has(options, CLI_MASK) && !cli_has(options, CLI_WEIGHTS) && !cli_has(options, CLI_OF);
    if (options->all_integers)
        wanted->integers = TALLY_INTEGERS_ALL;
    wanted->whole_table = cli_glance_wanted(options) ? 2 : 0;
    if (source->count > 1 && source->kind.format && !wanted->whole_table)
        wanted->integers = cli_source_has_integers(source)
                               ? TALLY_INTEGERS_ALL
                               : TALLY_INTEGERS_NONE; /* as the first file is */
    wanted->words = options->word->bit == CLI_RUN ? source->words : NULL;
    wanted->all_words =
        source->words_known || cli_has(options, CLI_CATEGORIES) || cli_has(options, CLI_BY);
    for (uint32_t d = 0; !source->kind.table && d < source->kind.dimensions && source->words_known;
         d++)
        wanted->times |= (uint32_t)(source->times[d] != TALLY_TIME_NONE) << d;
    wanted->columns = (const char *const *)source->columns;
    wanted->columns_count = (uint32_t)source->column_count;
    if (source->column_count == 0)
        wanted->columns = NULL;
}
