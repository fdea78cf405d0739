/* Lines of JSON: flat objects, written and read. */
#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "figure.h"

static figure_field *find(const figure_line *line, const char *key)
{
    for (size_t i = 0; i < line->count; i++)
        if (strcmp(line->fields[i].key, key) == 0)
            return (figure_field *)&line->fields[i];
    return NULL;
}

static figure_field *place(figure_line *line, const char *key)
{
    figure_field *field = find(line, key);
    if (!field && line->count < FIGURE_FIELDS)
        field = &line->fields[line->count++];
    if (field) {
        memset(field, 0, sizeof *field);
        snprintf(field->key, sizeof field->key, "%s", key);
    }
    return field;
}

void figure_set_text(figure_line *line, const char *key, const char *text)
{
    figure_field *field = place(line, key);
    if (!field)
        return;
    field->kind = FIGURE_IS_TEXT;
    snprintf(field->text, sizeof field->text, "%s", text);
}

void figure_set_number(figure_line *line, const char *key, double number)
{
    figure_field *field = isfinite(number) ? place(line, key) : NULL;
    if (!field)
        return;
    /* As it is written, so that pictures from lines are those from measuring. */
    char text[32];
    snprintf(text, sizeof text, number == floor(number) ? "%.0f" : "%.7g", number);
    field->kind = FIGURE_IS_NUMBER;
    field->number = fabs(number) < 1e15 ? strtod(text, NULL) : number;
}

void figure_set_truth(figure_line *line, const char *key, int truth)
{
    figure_field *field = place(line, key);
    if (!field)
        return;
    field->kind = FIGURE_IS_TRUTH;
    field->number = truth != 0;
}

const char *figure_text(const figure_line *line, const char *key, const char *otherwise)
{
    const figure_field *field = find(line, key);
    return field && field->kind == FIGURE_IS_TEXT ? field->text : otherwise;
}

double figure_number(const figure_line *line, const char *key)
{
    const figure_field *field = find(line, key);
    return field && field->kind == FIGURE_IS_NUMBER ? field->number : NAN;
}

int figure_truth(const figure_line *line, const char *key)
{
    const figure_field *field = find(line, key);
    return field && field->kind == FIGURE_IS_TRUTH && field->number != 0;
}

int figure_lines_add(figure_lines *lines, const figure_line *line)
{
    if (lines->count == lines->room) {
        size_t room = lines->room ? 2 * lines->room : 64;
        figure_line *more = realloc(lines->all, room * sizeof *more);
        if (!more)
            return cli_fail("out of memory");
        lines->all = more;
        lines->room = room;
    }
    lines->all[lines->count++] = *line;
    return CLI_OK;
}

/* ---- writing ---- */

static void print_text(const char *text, FILE *to)
{
    fputc('"', to);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(to, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(to, "\\u%04x", *c);
        else
            fputc(*c, to);
    }
    fputc('"', to);
}

static void print_number(double number, FILE *to)
{
    if (number == floor(number) && fabs(number) < 1e15)
        fprintf(to, "%.0f", number);
    else
        fprintf(to, fabs(number) < 1e15 ? "%.7g" : "%.17g", number);
}

void figure_line_print(const figure_line *line, FILE *to)
{
    for (size_t i = 0; i < line->count; i++) {
        const figure_field *field = &line->fields[i];
        fputs(i ? "," : "{", to);
        print_text(field->key, to);
        fputc(':', to);
        if (field->kind == FIGURE_IS_TEXT)
            print_text(field->text, to);
        else if (field->kind == FIGURE_IS_TRUTH)
            fputs(field->number != 0 ? "true" : "false", to);
        else
            print_number(field->number, to);
    }
    fputs("}\n", to);
}

/* Every key that any line has, in the order of their first appearance. */
void figure_lines_csv(const figure_lines *lines, FILE *to)
{
    static figure_line head;
    head.count = 0;
    for (size_t i = 0; i < lines->count; i++)
        for (size_t k = 0; k < lines->all[i].count; k++)
            if (!find(&head, lines->all[i].fields[k].key))
                place(&head, lines->all[i].fields[k].key);
    for (size_t k = 0; k < head.count; k++)
        fprintf(to, "%s%s", k ? "," : "", head.fields[k].key);
    fputc('\n', to);
    for (size_t i = 0; i < lines->count; i++) {
        for (size_t k = 0; k < head.count; k++) {
            const figure_field *field = find(&lines->all[i], head.fields[k].key);
            fputs(k ? "," : "", to);
            if (!field)
                continue;
            if (field->kind == FIGURE_IS_NUMBER) {
                print_number(field->number, to);
            } else if (field->kind == FIGURE_IS_TRUTH) {
                fputs(field->number != 0 ? "true" : "false", to);
            } else {
                fputc('"', to);
                for (const char *c = field->text; *c; c++)
                    fprintf(to, *c == '"' ? "\"\"" : "%c", *c);
                fputc('"', to);
            }
        }
        fputc('\n', to);
    }
}

/* ---- reading ---- */

/* A string at `*at`, its quotes and escapes undone, cut to `size`. */
static int read_text(const char **at, char *to, size_t size)
{
    const char *c = *at;
    size_t n = 0;
    if (*c++ != '"')
        return 0;
    for (; *c && *c != '"'; c++) {
        char one = *c;
        if (one == '\\') {
            c++;
            one = *c == 'n' ? '\n' : *c == 't' ? '\t' : *c;
            if (*c == 'u') { /* only what we write: control characters */
                unsigned code = 0;
                if (sscanf(c + 1, "%4x", &code) != 1)
                    return 0;
                one = code < 0x80 ? (char)code : '?';
                c += 4;
            }
            if (!*c)
                return 0;
        }
        if (n + 1 < size)
            to[n++] = one;
    }
    to[n] = '\0';
    *at = c + (*c == '"');
    return *c == '"';
}

/* Past an array or object, strings in it minded. */
static int skip_nested(const char **at)
{
    char text[8];
    int depth = 0;
    do {
        if (**at == '"') {
            if (!read_text(at, text, sizeof text))
                return 0;
            continue;
        }
        depth += (**at == '[' || **at == '{') - (**at == ']' || **at == '}');
        if (!*(*at)++)
            return 0;
    } while (depth);
    return 1;
}

static void skip_space(const char **at)
{
    while (isspace((unsigned char)**at))
        (*at)++;
}

static int read_value(const char **at, figure_line *line, const char *key)
{
    char text[FIGURE_TEXT], *end;
    if (**at == '"') {
        if (!read_text(at, text, sizeof text))
            return 0;
        figure_set_text(line, key, text);
        return 1;
    }
    if (**at == '[' || **at == '{')
        return skip_nested(at);
    static const char *const words[] = {"false", "true", "null"};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(*at, words[i], length) == 0) {
            if (i < 2)
                figure_set_truth(line, key, i);
            *at += length;
            return 1;
        }
    }
    double number = strtod(*at, &end);
    if (end == *at)
        return 0;
    figure_set_number(line, key, number);
    *at = end;
    return 1;
}

static int read_line(const char *at, figure_line *line)
{
    char key[24];
    line->count = 0;
    skip_space(&at);
    if (*at++ != '{')
        return 0;
    for (skip_space(&at); *at != '}';) {
        if (!read_text(&at, key, sizeof key))
            return 0;
        skip_space(&at);
        if (*at++ != ':')
            return 0;
        skip_space(&at);
        if (!read_value(&at, line, key))
            return 0;
        skip_space(&at);
        if (*at == ',')
            at++;
        else if (*at != '}')
            return 0;
        skip_space(&at);
    }
    at++;
    skip_space(&at);
    return *at == '\0';
}

int figure_lines_read(const char *path, figure_lines *lines)
{
    FILE *from = fopen(path, "rb");
    if (!from)
        return cli_fail("%s: %s", path, strerror(errno));
    char *text = NULL;
    size_t room = 0, number = 0;
    figure_line *line = malloc(sizeof *line);
    int code = line ? CLI_OK : cli_fail("out of memory");
    while (!code && getline(&text, &room, from) >= 0) {
        number++;
        if (text[strspn(text, " \t\r\n")] == '\0')
            continue;
        code = read_line(text, line)
                   ? figure_lines_add(lines, line)
                   : cli_fail("%s, line %zu: not one object of JSON", path, number);
    }
    if (!code && ferror(from))
        code = cli_fail("%s: %s", path, strerror(errno));
    free(line);
    free(text);
    fclose(from);
    return code;
}
