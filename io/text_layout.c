/* SPDX-License-Identifier: Apache-2.0 */
/* Which delimiter a text has, whether its first line is a heading (ty_layout_detect), and of what
 * kind its columns are (ty_layout_kinds): told by a survey of its first records. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/text_fields.h"

#define SAMPLE_RECORDS 100
#define LEAST_WORDS    20          /* records with words under headings */
#define SAMPLE_BYTES   (256 << 10) /* after at least two records */

typedef struct ty_survey {
    const char *first;        /* the first record */
    uint32_t width;           /* its fields */
    uint32_t records;         /* complete ones, the first included */
    uint32_t agreeing;        /* later ones as wide as the first, no quotes of theirs cut */
    uint32_t wider;           /* likewise ones with one field more */
    int first_is_text;        /* no field of the first record is a number or missing */
    int first_has_years;      /* its numbers are years in a row, behind a field that is none */
    uint32_t with_years;      /* records with such numbers */
    uint64_t fields, numbers; /* of all records; numbers and missing ones among them */
    uint64_t commas;          /* within numbers, of all records */
} ty_survey;

/* What the records' columns hold, the first record apart. */
typedef struct ty_column_survey {
    uint8_t first_is_text, next_is_number; /* next: the first later field that is not missing */
    uint8_t first_is_boolean;
    /* Times and commas (TY_FIELD_COMMA) count as numbers, too, booleans as texts. */
    uint32_t numbers, texts, times, commas, booleans;
    uint8_t has_wide, has_others; /* integers beyond 2^53; what is no integer */
} ty_column_survey;

/* Passes over blank lines and comments. NULL: no record begins before `end`. */
static const char *find_record(ty_delimiter delimiter, const char *p, const char *end)
{
    while (p < end && ty_line_is_skipped(delimiter, p, end)) {
        p = ty_line_end(p, end);
        if (p < end)
            p = ty_line_next(p, end);
    }
    return p < end ? p : NULL;
}

static void note_field(ty_column_survey *column, const ty_field *from, ty_field_kind kind,
                       int is_first)
{
    const ty_field field = ty_field_trim(from);
    int is_integer;
    double value;
    const int is_boolean = ty_field_is_boolean(&field, &value);
    if (is_first) {
        column->first_is_text = kind == TY_FIELD_TEXT;
        column->first_is_boolean = (uint8_t)is_boolean;
        return;
    }
    column->has_wide |=
        (uint8_t)ty_integer_is_wide(field.begin, field.begin + field.size, &is_integer);
    column->has_others |= (uint8_t)(!is_integer && kind != TY_FIELD_MISSING);
    if (kind != TY_FIELD_MISSING) {
        if (!column->numbers && !column->texts)
            column->next_is_number = kind != TY_FIELD_TEXT;
        column->numbers += kind != TY_FIELD_TEXT;
        column->times += kind == TY_FIELD_TIME;
        column->commas += kind == TY_FIELD_COMMA;
        column->texts += kind == TY_FIELD_TEXT;
        column->booleans += (uint32_t)is_boolean;
    }
}

/* Whether a date's blank is the one before its time of day, and the field at `p`, behind it, is
 * that time with more: "10:00,on". */
static int is_cut_time(const char *p, const char *end)
{
    const char *behind = p;
    int is_clock = 0;
    for (; behind < end && ((*behind >= '0' && *behind <= ':') || *behind == '.'); behind++)
        is_clock |= *behind == ':';
    return is_clock && behind < end && !ty_is_line_end(*behind) &&
           ty_skip_blanks(' ', behind, end) == behind;
}

/* Two years or more, each next to the one before: 2019, 2020. */
typedef struct ty_years {
    double last;
    uint32_t count;
    int has_others; /* numbers or times */
} ty_years;

static void note_year(ty_years *years, ty_field_kind kind, double value, int leads)
{
    const int is_year = kind == TY_FIELD_NUMBER && value >= 1000 && value < 3000 &&
                        value == floor(value) && (!years->count || fabs(value - years->last) == 1);
    if (is_year && !leads) {
        years->last = value;
        years->count++;
    } else
        years->has_others |= kind != TY_FIELD_TEXT && kind != TY_FIELD_MISSING;
}

static uint32_t count_sign(const ty_field *field, char sign)
{
    uint32_t found = 0;
    for (size_t i = 0; i < field->size; i++)
        found += field->begin[i] == sign;
    return found;
}

/* Adds the record at `p` to `survey`, and its fields to `columns` if that is not NULL. Returns what
 * follows it, or NULL, with nothing added, when the record is not complete. */
static const char *survey_record(ty_delimiter delimiter, const ty_spelling *spelling, const char *p,
                                 const char *end, int ended, ty_survey *survey,
                                 ty_column_survey *columns)
{
    ty_field field;
    const char *record = p;
    uint32_t width = 0;
    uint64_t numbers = 0, commas = 0;
    ty_years years = {0};
    int cuts_quotes = 0; /* a delimiter within quotes, as in a log's "GET /a,b" */
    for (;; p = ty_field_next(delimiter, p)) {
        p = ty_field_scan(delimiter, p, end, &field);
        if ((p == end && !ended) || field.open)
            return NULL;
        double value;
        ty_field_kind kind = ty_field_read(&field, spelling, &value);
        note_year(&years, kind, value, width == 0);
        if (kind == TY_FIELD_COMMA)
            commas += count_sign(&field, ',');
        else if (kind == TY_FIELD_NUMBER && isnan(value))
            kind = TY_FIELD_MISSING;
        int is_cut = kind == TY_FIELD_TIME && delimiter == ' ' && is_cut_time(p, end);
        numbers += kind != TY_FIELD_TEXT && !is_cut;
        cuts_quotes |= !field.quoted && count_sign(&field, '"') % 2;
        if (columns && width < survey->width)
            note_field(columns + width, &field, kind, record == survey->first);
        width++;
        if (p == end || ty_is_line_end(*p))
            break;
    }
    const int has_years = years.count > 1 && !years.has_others;
    survey->with_years += (uint32_t)has_years;
    if (!survey->records++) {
        survey->first = record;
        survey->first_has_years = has_years;
        survey->width = width;
        survey->first_is_text = numbers == 0;
    } else if (!cuts_quotes) {
        int last_is_empty = field.size == 0 && !field.quoted;
        survey->agreeing += width == survey->width || (width == survey->width + 1 && last_is_empty);
        survey->wider += width == survey->width + 1 && !last_is_empty;
    }
    survey->fields += width;
    survey->numbers += numbers;
    survey->commas += commas;
    return p < end ? ty_line_next(p, end) : p;
}

static ty_survey survey_text(ty_delimiter delimiter, const ty_spelling *spelling, const char *text,
                             const char *end, int ended)
{
    ty_survey survey = {.first = NULL};
    const char *p = text;
    while (p && survey.records < SAMPLE_RECORDS &&
           (survey.records < 2 || p - text < SAMPLE_BYTES)) {
        p = find_record(delimiter, p, end);
        if (p)
            p = survey_record(delimiter, spelling, p, end, ended, &survey, NULL);
    }
    return survey;
}

int ty_line_names_delimiter(const char *p, const char *end, ty_delimiter *delimiter)
{
    const char *stop = ty_line_end(p, end);
    if (stop - p != 5 || memcmp(p, "sep=", 4) != 0 || !memchr(",;|\t", p[4], 4))
        return 0;
    *delimiter = *delimiter ? *delimiter : p[4];
    return 1;
}

/* Whether some column begins with text and goes on with numbers, or with nothing but true and
 * false; or the first record's numbers, and no other's, are years in a row. A first record that is
 * all text is a header wherever a number follows at all: as data no column of it could be read. */
static int has_header(const ty_survey *survey, const ty_column_survey *columns)
{
    int all_text = 1, any_number = 0;
    for (uint32_t i = 0; i < survey->width; i++) {
        all_text &= columns[i].first_is_text;
        any_number |= columns[i].numbers > 0;
        if (columns[i].first_is_text && columns[i].next_is_number &&
            columns[i].numbers >= columns[i].texts)
            return 1;
        if (columns[i].first_is_text && !columns[i].first_is_boolean && columns[i].booleans &&
            columns[i].booleans == columns[i].texts && !columns[i].numbers)
            return 1;
    }
    return (all_text && any_number) || (survey->first_has_years && survey->with_years == 1);
}

/* Whether values[i], a hash or 0 for nothing, is there once more. */
static int is_again(const uint32_t *values, uint32_t count, uint32_t i)
{
    for (uint32_t k = 0; k < count; k++)
        if (k != i && values[k] == values[i] && values[i])
            return 1;
    return 0;
}

/* Headings of columns of words: no column has its first field again, and one has all others. */
static int heads_words(const ty_survey *survey, ty_delimiter delimiter, const char *end)
{
    enum { COLUMNS = 64 }; /* that are looked at */
    uint32_t values[COLUMNS][SAMPLE_RECORDS] = {{0}};
    const uint32_t records = survey->records;
    ty_field field = {.size = 0};
    const char *p = survey->first;
    if (!survey->first_is_text || survey->width < 2 || records <= LEAST_WORDS)
        return 0;
    for (uint32_t r = 0; r < records; r++) {
        p = find_record(delimiter, p, end);
        for (uint32_t c = 0;; c++, p = ty_field_next(delimiter, p)) {
            p = ty_field_scan(delimiter, p, end, &field);
            for (size_t i = 0; i < field.size && c < COLUMNS; i++)
                values[c][r] = (values[c][r] ^ (unsigned char)field.begin[i]) * 16777619 + 1;
            if (p == end || ty_is_line_end(*p))
                break;
        }
        p = p < end ? ty_line_next(p, end) : p;
    }
    int any = 0;
    for (uint32_t c = 0; c < COLUMNS && c < survey->width; c++) {
        uint32_t r = 1;
        while (r < records && is_again(values[c], records, r))
            r++;
        any |= r == records;
        if (is_again(values[c], records, 0))
            return 0;
    }
    return any;
}

/* Headings above rows that begin with a name each, as R writes tables. */
static int has_row_names(const ty_survey *s)
{
    return s->first_is_text && s->records > 1 && s->wider == s->records - 1;
}

/* How many later records are as they should be. */
static uint32_t fitting(const ty_survey *s)
{
    return has_row_names(s) ? s->wider : s->agreeing;
}

static int fits_half(const ty_survey *s)
{
    return 2 * fitting(s) >= s->records - 1;
}

static int is_better(const ty_survey *a, const ty_survey *b)
{
    double share_a = a->records > 1 ? (double)fitting(a) / (a->records - 1) : 1;
    double share_b = b->records > 1 ? (double)fitting(b) / (b->records - 1) : 1;
    if (share_a != share_b)
        return share_a > share_b;
    return (double)a->numbers / (double)a->fields > (double)b->numbers / (double)b->fields;
}

/* Whether a blank is taken for what is within fields: most of those that blanks make are text, and
 * another delimiter fits half of the records or more; or tabs fit all, and make no more text, as
 * "Day 1", tab, "5" has. */
static int is_within(const ty_survey *by_blanks, const ty_survey *other, ty_delimiter delimiter)
{
    const uint64_t texts = by_blanks->fields - by_blanks->numbers;
    if (delimiter == '\t' && fitting(other) == other->records - 1 &&
        texts >= other->fields - other->numbers)
        return 1;
    return 2 * texts > by_blanks->fields && fits_half(other);
}

/* Whether commas are taken for what is within numbers: another delimiter fits half of the records
 * or more, and makes numbers with all commas in them, but perhaps for those of the first record,
 * headings. */
static int is_within_numbers(const ty_survey *by_commas, const ty_survey *other)
{
    return fits_half(other) && other->commas > 0 &&
           other->commas + by_commas->width >= by_commas->fields - by_commas->records + 1;
}

/* The delimiter that makes the first record more than one field and the most later ones as wide;
 * among equals the one with more numbers, then the first here. Tabs, white space and bars must fit
 * half of the records: they are common around and inside fields. */
static ty_delimiter find_delimiter(const ty_spelling *spelling, const char *text, const char *end,
                                   int ended, ty_survey *best)
{
    static const ty_delimiter candidates[] = {'\t', ';', '|', ',', ' '};
    ty_delimiter delimiter = '\n';
    for (size_t i = 0; i < sizeof candidates; i++) {
        if (spelling && (candidates[i] == spelling->decimal ||
                         (candidates[i] == ' ' && spelling->thousands == ' ')))
            continue;
        ty_survey survey = survey_text(candidates[i], spelling, text, end, ended);
        int is_sure = candidates[i] == ';' || candidates[i] == ',';
        if (survey.width < 2 || (!is_sure && !fits_half(&survey)))
            continue;
        if (delimiter != '\n' && ((candidates[i] == ',' && is_within_numbers(&survey, best)) ||
                                  (candidates[i] == ' ' && is_within(&survey, best, delimiter))))
            continue;
        if (delimiter == '\n' || is_better(&survey, best)) {
            delimiter = candidates[i];
            *best = survey;
        }
    }
    /* A blank may be between a date and a time, and what is between thousands in a number. */
    if (delimiter == ' ' || (spelling && delimiter == spelling->thousands)) {
        ty_survey whole = survey_text('\n', spelling, text, end, ended);
        if (whole.numbers == whole.fields && whole.records)
            delimiter = '\n';
    }
    if (delimiter == '\n')
        *best = survey_text(delimiter, spelling, text, end, ended);
    return delimiter;
}

/* Surveys the columns of the same records, and sets layout->has_header. */
static tally_status detect_header(const ty_survey *survey, const char *end, int ended,
                                  const ty_layout_wish *wish, ty_layout *layout, tally_error *error)
{
    ty_survey again = *survey;
    const char *p = survey->first;
    ty_column_survey *columns = ty_calloc(survey->width, sizeof *columns);
    if (!columns)
        return ty_error_memory(error, "the columns of a text", survey->width * sizeof *columns);
    for (uint32_t i = 0; i < survey->records; i++) {
        p = find_record(layout->delimiter, p, end);
        p = survey_record(layout->delimiter, wish->spelling, p, end, ended, &again, columns);
    }
    layout->has_header = has_header(survey, columns) || heads_words(survey, layout->delimiter, end);
    ty_free(columns);
    return TALLY_OK;
}

tally_status ty_layout_detect(const char *text, size_t size, int ended, const ty_layout_wish *wish,
                              ty_layout *layout, tally_error *error)
{
    const char *end = text + size;
    ty_survey survey;
    layout->delimiter = wish->delimiter;
    if (wish->delimiter)
        survey = survey_text(wish->delimiter, wish->spelling, text, end, ended);
    else
        layout->delimiter = find_delimiter(wish->spelling, text, end, ended, &survey);
    layout->has_header = wish->header > 0;
    layout->columns = survey.width;
    layout->records = survey.records;
    layout->row_names = wish->header >= 0 && survey.width > 0 && (layout->delimiter != '\n') &&
                        has_row_names(&survey);
    if (layout->row_names) {
        layout->has_header = 1;
        layout->columns++;
    }
    if (survey.records < 2 || wish->header || layout->row_names)
        return TALLY_OK;
    return detect_header(&survey, end, ended, wish, layout, error);
}

tally_status ty_layout_kinds(const ty_layout *layout, const ty_spelling *spelling, const char *text,
                             size_t size, int ended, uint8_t *kinds, tally_error *error)
{
    const char *p = text, *end = text + size;
    /* One record is taken as seen: what is a heading stands before `text`. */
    ty_survey survey = {.width = layout->columns, .records = 1};
    ty_column_survey *columns = ty_calloc(layout->columns, sizeof *columns);
    if (!columns)
        return ty_error_memory(error, "the columns of a text", layout->columns * sizeof *columns);
    while (p && survey.records <= SAMPLE_RECORDS) {
        p = find_record(layout->delimiter, p, end);
        if (p)
            p = survey_record(layout->delimiter, spelling, p, end, ended, &survey, columns);
    }
    for (uint32_t i = 0; i < layout->columns; i++) {
        const ty_column_survey *c = columns + i;
        kinds[i] = (uint8_t)(!c->texts && c->times && c->times == c->numbers      ? TY_FIELD_TIME
                             : c->texts && c->texts == c->booleans && !c->numbers ? TY_FIELD_BOOLEAN
                             : c->numbers == c->times && c->texts                 ? TY_FIELD_TEXT
                             : c->commas + c->texts > c->numbers - c->commas      ? TY_FIELD_COMMA
                             : c->has_wide && !c->has_others                      ? TY_FIELD_INTEGER
                                                             : TY_FIELD_NUMBER);
    }
    ty_free(columns);
    return TALLY_OK;
}
