/* SPDX-License-Identifier: Apache-2.0 */
/* The man page and the shells' completions, made from the tables. */
#include "cli.h"

/* ---- roff ---- */

/* Text with what roff and typography would change escaped. */
static void roff(const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\\')
            cli_out("\\e");
        else if (*c == '-')
            cli_out("\\-");
        else if (*c == '\'')
            cli_out("\\(aq");
        else if (*c == '`')
            cli_out("\\(ga");
        else if (*c == '.' && (c == text || c[-1] == '\n'))
            cli_out("\\&.");
        else
            cli_out_bytes(c, 1);
    }
}

static void man_head(const char *name, const char *summary)
{
    cli_out(".TH TALLY");
    for (const char *c = name; *c; c++)
        cli_out("%c", *c == '-' ? '-' : *c - 'a' + 'A');
    cli_out(" 1 \"\" \"tally %s\" \"User Commands\"\n.SH NAME\ntally%s \\- ", tally_version(),
            name);
    roff(summary);
    cli_out("\n");
}

static void roff_words(unsigned words)
{
    int any = 0;
    if (words == CLI_ALL || words == CLI_RUN)
        return;
    cli_out(" (");
    for (size_t i = 0; i < cli_word_count; i++)
        if (words & cli_word_table[i].bit)
            cli_out("%s%s", any++ ? ", " : "", cli_word_table[i].name);
    cli_out(")");
}

/* `words`: also whose option it is. */
static void roff_option(const cli_option *row, int words)
{
    cli_out(".TP\n\\fB");
    if (row->letter)
        cli_out("\\-%c\\fR, \\fB", row->letter);
    cli_out("\\-\\-");
    roff(row->name);
    cli_out("\\fR");
    if (row->argument) {
        cli_out(" \\fI");
        roff(row->argument);
        cli_out("\\fR");
    }
    cli_out("\n");
    roff(row->help);
    if (row->id == CLI_DTYPE) {
        cli_out(": ");
        roff(row->choices);
    }
    if (words)
        roff_words(row->words);
    cli_out("\n");
}

/* The options of `word`, or of all if it is NULL, by their groups. */
static void man_options(const cli_word *word)
{
    for (const char *const *group = cli_group_order; *group; group++) {
        int any = 0;
        for (size_t i = 0; i < cli_option_count; i++) {
            const cli_option *row = &cli_option_table[i];
            if (!row->group || strcmp(row->group, *group) != 0 ||
                (word && !(row->words & word->bit)))
                continue;
            if (!any++)
                cli_out(".SS %s\n", *group);
            roff_option(row, !word);
        }
    }
}

static void roff_section(const char *title, const char *text)
{
    cli_out(".SH %s\n", title);
    roff(text);
    cli_out("\n");
}

static void man_words(void)
{
    cli_out(".SH WORDS\n");
    for (size_t i = 0; i < cli_word_count; i++) {
        const cli_word *word = &cli_word_table[i];
        cli_out(".TP\n\\fBtally %s\\fR", word->name);
        if (*word->operands) {
            cli_out(" \\fI");
            roff(word->operands);
            cli_out("\\fR");
        }
        cli_out("\n");
        roff(word->detail);
        cli_out("\n");
    }
}

static void man_examples(void)
{
    cli_out(".SH EXAMPLES\n.nf\n");
    for (size_t i = 0; i < cli_word_count; i++)
        roff(cli_word_table[i].examples);
    cli_out(".fi\n");
}

static void man(void)
{
    man_head("", "count samples into histograms, exactly and fast");
    cli_out(".SH SYNOPSIS\n\\fBtally\\fR \\fIFILE\\fR... [\\fIoptions\\fR]\n.br\n"
            "\\fBtally\\fR \\fIWORD\\fR [\\fIarguments\\fR] [\\fIoptions\\fR]\n");
    roff_section("DESCRIPTION",
                 "Counts how many samples of a file fall in which bin, on the processor or a "
                 "graphics processor, and shows the histogram as a table, CSV, JSON, .npy or a "
                 "picture. A sample x is in bin i when edge i <= x < edge i+1, compared exactly; "
                 "the last bin takes its upper edge too. Samples below, above and NaN are counted "
                 "apart. Files larger than memory are streamed.");
    man_words();
    cli_out(".SH OPTIONS\nA word in parentheses tells whose option it is; without one it is "
            "\\fBtally run\\fR\\(aqs, or everyone\\(aqs.\n");
    man_options(NULL);
    man_examples();
    cli_out(".SH EXIT STATUS\n.TP\n0\ndone; also when the reader of standard output went away\n"
            ".TP\n1\nthe work failed: an unreadable file, wrong data, a full disk, a lost device\n"
            ".TP\n2\nthe command line is wrong, whatever the data are\n"
            ".TP\n3\na valid wish that this build, device or method does not serve\n");
    cli_out(
        ".SH ENVIRONMENT\n.TP\nCOLUMNS\nhow wide tables and help are (else the terminal's, else "
        "80)\n"
        ".TP\nLC_ALL, LC_CTYPE, LANG\ntables in ASCII where the first that is set does not name "
        "UTF\\-8\n"
        ".TP\nNO_COLOR\nno colours unless \\-\\-color always\n"
        ".TP\nTALLY_CACHE_DIR\nwhere compiled kernels are kept (else XDG_CACHE_HOME/tally, else "
        "~/.cache/tally)\n"
        ".TP\nTALLY_DISABLE_CPU\nprocessor features not to use, such as avx512\n"
        ".TP\nTMPDIR\nwhere a pipe that must be read twice is copied to\n");
    cli_out(".SH SEE ALSO\nA page for each word:");
    for (size_t i = 0; i < cli_word_count; i++)
        cli_out("%s\n.BR tally\\-%s (1)", i ? "," : "", cli_word_table[i].name);
    cli_out("\n");
}

/* tally-WORD.1: what `tally WORD --help` says. */
static void man_word(const cli_word *word)
{
    char name[32];
    snprintf(name, sizeof name, "-%s", word->name);
    man_head(name, word->summary);
    cli_out(".SH SYNOPSIS\n\\fBtally %s\\fR ", word->name);
    if (*word->operands) {
        cli_out("\\fI");
        roff(word->operands);
        cli_out("\\fR ");
    }
    cli_out("[\\fIoptions\\fR]\n");
    roff_section("DESCRIPTION", word->detail);
    cli_out(".SH OPTIONS\n");
    man_options(word);
    if (*word->examples) {
        cli_out(".SH EXAMPLES\n.nf\n");
        roff(word->examples);
        cli_out(".fi\n");
    }
    cli_out(".SH SEE ALSO\n.BR tally (1),\nwhich has exit statuses and environment variables\n");
}

/* ---- completions ---- */

/* An option's choices inside the shell's quotes, which takes them apart by its own rules again:
 * `apostrophe` is what one is written as. */
static void choices(const cli_option *row, const char *apostrophe)
{
    for (const char *c = row->choices; *c; c++)
        if (*c == '\'')
            cli_out("%s", apostrophe);
        else
            cli_out_bytes(c, 1);
}

static void bash_options(const cli_word *word)
{
    for (size_t i = 0; i < cli_option_count; i++) {
        const cli_option *row = &cli_option_table[i];
        if (!(row->words & word->bit) || !row->group)
            continue;
        if (row->letter)
            cli_out("-%c ", row->letter);
        cli_out("--%s ", row->name);
    }
}

/* What completes the argument of the options of `word`. */
static void bash_arguments(const cli_word *word)
{
    cli_out("    %s)\n        case $before in\n", word->name);
    for (size_t i = 0; i < cli_option_count; i++) {
        const cli_option *row = &cli_option_table[i];
        if (!(row->words & word->bit) || !row->group || row->kind == CLI_FLAG)
            continue;
        cli_out("        ");
        if (row->letter)
            cli_out("-%c | ", row->letter);
        cli_out("--%s) ", row->name);
        if (row->choices) {
            cli_out("COMPREPLY=($(compgen -W \"");
            choices(row, "\\\\'");
            cli_out("\" -- \"$current\")) ;;\n");
        } else if (row->kind == CLI_FILE || row->id == CLI_WEIGHTS)
            cli_out("COMPREPLY=($(compgen -f -- \"$current\")) ;;\n");
        else if (row->id == CLI_METHOD)
            cli_out("COMPREPLY=($(compgen -W \"$(tally methods --color never 2>/dev/null | grep -v "
                    "'^ ')\" -- \"$current\")) ;;\n");
        else
            cli_out("COMPREPLY=() ;;\n");
    }
    cli_out("        *) options=\"");
    bash_options(word);
    cli_out("\" ;;\n        esac\n        ;;\n");
}

static void bash(void)
{
    cli_out("# bash completion of tally\n_tally()\n{\n"
            "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
            "    local word=${COMP_WORDS[1]} options=\n    COMPREPLY=()\n    case $word in\n    ");
    for (size_t i = 0; i < cli_word_count; i++)
        cli_out("%s%s", i ? " | " : "", cli_word_table[i].name);
    cli_out(") ;;\n    *) word=run ;;\n    esac\n    case $word in\n");
    for (size_t i = 0; i < cli_word_count; i++)
        bash_arguments(&cli_word_table[i]);
    cli_out("    esac\n    [ -n \"$options\" ] || return 0\n"
            "    if [[ $current == -* ]]; then\n"
            "        COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
            "    else\n"
            "        COMPREPLY=($(compgen -f -- \"$current\"))\n"
            "        [ \"$COMP_CWORD\" -gt 1 ] || COMPREPLY+=($(compgen -W \"");
    for (size_t i = 0; i < cli_word_count; i++)
        cli_out("%s%s", i ? " " : "", cli_word_table[i].name);
    cli_out("\" -- \"$current\"))\n    fi\n}\ncomplete -o filenames -F _tally tally\n");
}

/* Help in single quotes, cut at its first sentence's end; `special` characters get a backslash. */
static void quoted(const char *text, const char *special)
{
    size_t length = strcspn(text, ";");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'')
            cli_out("'\\''");
        else if (strchr(special, text[i]))
            cli_out("\\%c", text[i]);
        else
            cli_out_bytes(text + i, 1);
    }
}

static void zsh_argument(const cli_option *row)
{
    for (unsigned a = 0; a < row->arguments; a++) {
        cli_out(":value:");
        if (row->choices) {
            cli_out("(");
            choices(row, "\\'\\''");
            cli_out(")");
        } else if (row->kind == CLI_FILE || row->id == CLI_WEIGHTS)
            cli_out("_files");
    }
}

static void zsh_option(const cli_option *row)
{
    for (int form = row->letter ? 0 : 1; form < 2; form++) {
        cli_out("            '%s", row->repeats ? "*" : "");
        if (form == 0)
            cli_out("-%c", row->letter);
        else
            cli_out("--%s%s", row->name, row->arguments == 1 ? "=" : "");
        cli_out("[");
        quoted(row->help, "[]:\\");
        cli_out("]");
        zsh_argument(row);
        cli_out("' \\\n");
    }
}

static void zsh(void)
{
    cli_out("#compdef tally\n\n_tally()\n{\n    local -a words_of_tally\n    words_of_tally=(\n");
    for (size_t i = 0; i < cli_word_count; i++) {
        cli_out("        '%s:", cli_word_table[i].name);
        quoted(cli_word_table[i].summary, ":\\");
        cli_out("'\n");
    }
    cli_out("    )\n    local word=run\n    if (( CURRENT > 2 )); then\n        case $words[2] in\n"
            "        ");
    for (size_t i = 0; i < cli_word_count; i++)
        cli_out("%s%s", i ? "|" : "", cli_word_table[i].name);
    cli_out(") word=$words[2]; shift words; (( CURRENT-- )) ;;\n        esac\n"
            "    elif [[ $words[2] != -* ]]; then\n"
            "        _describe 'word' words_of_tally\n        _files\n        return\n    fi\n"
            "    case $word in\n");
    for (size_t i = 0; i < cli_word_count; i++) {
        const cli_word *word = &cli_word_table[i];
        cli_out("    %s)\n        _arguments -s \\\n", word->name);
        for (size_t o = 0; o < cli_option_count; o++)
            if (cli_option_table[o].words & word->bit && cli_option_table[o].group)
                zsh_option(&cli_option_table[o]);
        cli_out("            '*:file:_files'\n        ;;\n");
    }
    cli_out("    esac\n}\n\n_tally \"$@\"\n");
}

static void fish_option(const cli_option *row)
{
    cli_out("complete -c tally");
    if (row->words != CLI_ALL) {
        cli_out(" -n '__tally_word");
        for (size_t i = 0; i < cli_word_count; i++)
            if (row->words & cli_word_table[i].bit)
                cli_out(" %s", cli_word_table[i].name);
        cli_out("'");
    }
    if (row->letter)
        cli_out(" -s %c", row->letter);
    cli_out(" -l %s", row->name);
    if (row->kind != CLI_FLAG)
        cli_out(row->kind == CLI_FILE || row->id == CLI_WEIGHTS ? " -r -F" : " -x");
    if (row->choices) {
        cli_out(" -a '");
        choices(row, "\\\\\\'");
        cli_out("'");
    }
    cli_out(" -d '");
    for (const char *c = row->help; *c && *c != ';'; c++) {
        if (*c == '\'' || *c == '\\')
            cli_out("\\");
        cli_out_bytes(c, 1);
    }
    cli_out("'\n");
}

static void fish(void)
{
    cli_out("# fish completion of tally\n"
            "# True when the command line is of one of the words given; without a word it is run.\n"
            "function __tally_word\n    set -l tokens (commandline -opc)\n    set -l word run\n"
            "    if set -q tokens[2]; and contains -- $tokens[2]");
    for (size_t i = 0; i < cli_word_count; i++)
        cli_out(" %s", cli_word_table[i].name);
    cli_out("\n        set word $tokens[2]\n    end\n    contains -- $word $argv\nend\n");
    for (size_t i = 0; i < cli_word_count; i++) {
        cli_out("complete -c tally -n __fish_use_subcommand -a %s -d '", cli_word_table[i].name);
        quoted(cli_word_table[i].summary, "\\");
        cli_out("'\n");
    }
    for (size_t i = 0; i < cli_option_count; i++)
        if (cli_option_table[i].group)
            fish_option(&cli_option_table[i]);
}

int cli_generate(const cli_options *options)
{
    const char *what = cli_text(options, CLI_PRINT, "");
    const char *name = options->operand_count ? options->operands[0] : NULL;
    const cli_word *word = name ? cli_word_find(name) : NULL;
    if (name && (!word || strcmp(what, "man") != 0))
        return cli_usage(options->word, "--print %s %s: only `man` has a page for each word", what,
                         name);
    if (word)
        man_word(word);
    else if (strcmp(what, "man") == 0)
        man();
    else if (strcmp(what, "bash") == 0)
        bash();
    else if (strcmp(what, "zsh") == 0)
        zsh();
    else
        fish();
    return cli_out_end();
}
