/* SPDX-License-Identifier: Apache-2.0 */
/* FITS headers: cards of 80 characters in blocks of 2880 bytes, up to END. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "io/fits.h"
#include "io/number.h"
#include "io/rows.h"

enum { CARD = 80, UNITS_MOST = 100000, LIST_BYTES = 500, NAME_MOST = 60 };

static tally_status damaged(const ty_fits_file *f, uint64_t at, const char *what,
                            tally_error *error)
{
    return ty_error(error, TALLY_ERROR_FORMAT, "%s: fits: %s (near byte %" PRIu64 ")", f->in.name,
                    what, at);
}

/* ---- Cards ---- */

static int is_blank(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] != ' ')
            return 0;
    return 1;
}

static void trim(char *text)
{
    size_t size = strlen(text);
    while (size && text[size - 1] == ' ')
        text[--size] = '\0';
}

/* Nonzero: it has a value. */
static int parse_card(const char *bytes, ty_fits_card *card)
{
    const char *at = bytes + 10, *end = bytes + CARD;
    size_t size = 0;
    memset(card, 0, sizeof *card);
    memcpy(card->key, bytes, 8);
    trim(card->key);
    if (memcmp(bytes + 8, "= ", 2) != 0)
        return 0;
    while (at < end && *at == ' ')
        at++;
    card->is_text = at < end && *at == '\'';
    if (card->is_text)
        for (at++; at < end && (*at != '\'' || (at + 1 < end && at[1] == '\'')); at++) {
            at += *at == '\'';
            card->text[size++] = *at;
        }
    else
        for (; at < end && *at != '/'; at++)
            card->text[size++] = *at;
    trim(card->text);
    return 1;
}

/* An integer and nothing else. */
static int card_integer(const ty_fits_card *card, int64_t *value)
{
    const char *at = card->text;
    const int minus = *at == '-';
    uint64_t sum = 0;
    at += minus || *at == '+';
    if (card->is_text || !*at)
        return 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        const unsigned digit = (unsigned)(*at - '0');
        if (sum > ((uint64_t)INT64_MAX + 1 - digit) / 10)
            return 0;
        sum = sum * 10 + digit;
    }
    if (*at || (sum > INT64_MAX && !minus))
        return 0;
    *value = minus ? -(int64_t)(sum - (sum != 0)) - (sum != 0) : (int64_t)sum;
    return 1;
}

/* Exponents may be D's. */
static int card_number(ty_fits_card *card, double *value)
{
    for (char *at = card->text; *at; at++)
        if (*at == 'D' || *at == 'd')
            *at = 'E';
    const char *end = card->text + strlen(card->text);
    return !card->is_text && ty_number_parse(card->text, end, value) == end;
}

/* "NAXIS12" is number 12 of "NAXIS"; 0: it is none. */
static unsigned key_number(const char *key, const char *of)
{
    const size_t size = strlen(of);
    unsigned number = 0;
    if (strncmp(key, of, size) != 0 || !key[size] || key[size] == '0')
        return 0;
    for (key += size; *key >= '0' && *key <= '9'; key++)
        number = number * 10 + (unsigned)(*key - '0');
    return *key ? 0 : number;
}

/* Hands each card with a value to `take`, which returns what is wrong with it or NULL; *end is
 * where the data begin. */
typedef const char *(*take_card)(void *user, ty_fits_card *card);

static tally_status read_cards(const ty_fits_file *f, uint64_t at, take_card take, void *user,
                               uint64_t *end, tally_error *error)
{
    char block[TY_FITS_BLOCK];
    for (uint64_t place = at;; place += sizeof block) {
        if (f->in.size < sizeof block || place > f->in.size - sizeof block)
            return damaged(f, f->in.size, "the file ends inside a header", error);
        tally_status status = ty_file_read_at(f->in.name, f->in.file, f->in.start + place, block,
                                              sizeof block, error);
        for (size_t i = 0; i < sizeof block && !status; i += CARD) {
            ty_fits_card card;
            for (size_t k = 0; k < CARD; k++)
                if (block[i + k] < ' ' || block[i + k] > '~')
                    return damaged(f, place + i + k, "a header that is not of plain characters",
                                   error);
            if (!memcmp(block + i, "END", 3) && is_blank(block + i + 3, CARD - 3)) {
                *end = place + sizeof block;
                return TALLY_OK;
            }
            const char *wrong = parse_card(block + i, &card) ? take(user, &card) : NULL;
            if (wrong)
                return damaged(f, place + i, wrong, error);
        }
        if (status)
            return status;
    }
}

/* ---- Units ---- */

typedef struct ty_unit_cards {
    ty_fits_unit *unit;
    char kind[TY_FITS_TEXT];
    int64_t rank, extra, groups;
    unsigned axes_seen;
    int has_bits, is_tiled, has_groups, is_wide;
} ty_unit_cards;

static const char *take_unit_card(void *user, ty_fits_card *card)
{
    ty_unit_cards *c = user;
    ty_fits_unit *u = c->unit;
    int64_t value = 0;
    const unsigned axis = key_number(card->key, "NAXIS");
    if (!strcmp(card->key, "EXTNAME"))
        memcpy(u->name, card->text, sizeof u->name);
    if (!strcmp(card->key, "XTENSION"))
        memcpy(c->kind, card->text, sizeof c->kind);
    c->is_tiled |= !strcmp(card->key, "ZIMAGE") && card->text[0] == 'T';
    c->has_groups |= !strcmp(card->key, "GROUPS") && card->text[0] == 'T';
    const int is_bits = !strcmp(card->key, "BITPIX"), is_rank = !strcmp(card->key, "NAXIS");
    const int is_extra = !strcmp(card->key, "PCOUNT"), is_groups = !strcmp(card->key, "GCOUNT");
    if (!is_bits && !is_rank && !is_extra && !is_groups && !axis)
        return NULL;
    if (!card_integer(card, &value) || (value < 0 && !is_bits))
        return "BITPIX, NAXIS, PCOUNT or GCOUNT is no number that it can be";
    if (is_bits) {
        u->bits = value >= -64 && value <= 64 ? (int)value : 0;
        c->has_bits = 1;
    }
    if (is_rank)
        c->rank = value;
    if (is_extra)
        c->extra = value;
    if (is_groups)
        c->groups = value;
    if (axis > TY_FITS_AXES)
        c->is_wide = 1;
    else if (axis) {
        u->axes[axis - 1] = (uint64_t)value;
        c->axes_seen |= 1u << (axis - 1);
    }
    return NULL;
}

static const char *find_refusal(const ty_unit_cards *c, int is_first)
{
    if (c->has_groups && is_first && c->rank && !c->unit->axes[0])
        return "random groups";
    if (is_first || !strcmp(c->kind, "IMAGE"))
        return NULL;
    if (!strcmp(c->kind, "BINTABLE"))
        return c->is_tiled ? "an image compressed in tiles, which funpack makes plain" : NULL;
    return !strcmp(c->kind, "TABLE") ? "a table in text, which astropy makes a binary one of"
                                     : "an extension of a kind that is not read";
}

static int is_known_size(int bits)
{
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == -32 || bits == -64;
}

/* How many bytes of data a unit has, by its header. */
static tally_status find_bytes(const ty_fits_file *f, const ty_unit_cards *c, ty_fits_unit *u,
                               tally_error *error)
{
    uint64_t bytes = 1;
    int is_large = 0;
    if (!c->has_bits || !is_known_size(u->bits))
        return damaged(f, u->header, "BITPIX is none of 8, 16, 32, 64, -32 and -64", error);
    if (c->rank < 0 || c->is_wide || c->rank > TY_FITS_AXES)
        return damaged(f, u->header, "NAXIS is missing or above 32", error);
    u->rank = (unsigned)c->rank;
    if (u->rank && c->axes_seen != (uint32_t)((UINT64_C(1) << u->rank) - 1))
        return damaged(f, u->header, "not as many axes as NAXIS says", error);
    for (unsigned i = c->has_groups && !u->axes[0]; i < u->rank; i++)
        is_large |= ty_rows_multiply(bytes, u->axes[i], &bytes);
    is_large |= bytes > UINT64_MAX / 2;
    bytes += (uint64_t)c->extra;
    is_large |= ty_rows_multiply(bytes, (uint64_t)c->groups, &bytes) ||
                ty_rows_multiply(bytes, (uint64_t)(u->bits < 0 ? -u->bits : u->bits) / 8, &bytes);
    u->bytes = u->rank ? bytes : 0;
    if (is_large || u->bytes > f->in.size - u->data)
        return ty_error(error, TALLY_ERROR_FORMAT,
                        "%s: fits: the header at byte %" PRIu64 " promises %s%" PRIu64
                        " bytes of data, but %" PRIu64 " follow",
                        f->in.name, u->header, is_large ? "more than " : "",
                        is_large ? UINT64_MAX / 2 : u->bytes, f->in.size - u->data);
    return TALLY_OK;
}

static tally_status read_unit(const ty_fits_file *f, uint64_t at, ty_fits_unit *u,
                              tally_error *error)
{
    ty_unit_cards c = {.unit = u, .rank = -1, .groups = 1};
    memset(u, 0, sizeof *u);
    u->header = at;
    tally_status status = read_cards(f, at, take_unit_card, &c, &u->data, error);
    if (!status)
        status = find_bytes(f, &c, u, error);
    if (status)
        return status;
    u->is_table = at && !strcmp(c.kind, "BINTABLE");
    u->refused = find_refusal(&c, !at);
    if (u->is_table && (u->rank != 2 || u->bits != 8))
        return damaged(f, at, "a table whose header is not a table's", error);
    return TALLY_OK;
}

/* Whether another unit begins there; zeros up to the end are none. */
static tally_status look(const ty_fits_file *f, uint64_t at, int *more, tally_error *error)
{
    char head[8] = "";
    *more = 0;
    if (at >= f->in.size)
        return TALLY_OK;
    const size_t size = f->in.size - at < sizeof head ? (size_t)(f->in.size - at) : sizeof head;
    tally_status status =
        ty_file_read_at(f->in.name, f->in.file, f->in.start + at, head, size, error);
    *more = !status && !memcmp(head, "XTENSION", sizeof head);
    if (status || *more || !memcmp(head, "\0\0\0\0\0\0\0", sizeof head))
        return status;
    return damaged(f, at, "what follows the data is no extension", error);
}

tally_status ty_fits_scan(ty_fits_file *f, tally_error *error)
{
    uint32_t room = 0;
    int more = 1;
    tally_status status = TALLY_OK;
    for (uint64_t at = 0; more && !status;) {
        if (f->count == UNITS_MOST)
            return ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s: more than %d extensions",
                            f->in.name, UNITS_MOST);
        if (f->count == room) {
            room = room ? 2 * room : 4;
            ty_fits_unit *units = ty_realloc(f->units, room * sizeof *units);
            if (!units)
                return ty_error_memory(error, "the extensions of a FITS file",
                                       room * sizeof *units);
            f->units = units;
        }
        ty_fits_unit *u = f->units + f->count++;
        status = read_unit(f, at, u, error);
        if (status)
            return status;
        at = u->data + u->bytes;
        at += (TY_FITS_BLOCK - u->bytes % TY_FITS_BLOCK) % TY_FITS_BLOCK;
        status = look(f, at, &more, error);
    }
    return status;
}

/* ---- The choice ---- */

/* Also a table without rows has data. */
static int has_data(const ty_fits_unit *u)
{
    return u->bytes || u->is_table;
}

static void list_units(const ty_fits_file *f, char list[LIST_BYTES])
{
    size_t used = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < f->count; i++) {
        const ty_fits_unit *u = f->units + i;
        char item[NAME_MOST + 40];
        if (!has_data(u))
            continue;
        const int size = snprintf(item, sizeof item, "%s%" PRIu32 "%s%.*s (%s)", used ? ", " : "",
                                  i, u->name[0] ? " " : "", ty_text_fit(u->name, NAME_MOST),
                                  u->name, u->is_table ? "table" : "image");
        if (used + (size_t)size + 8 > LIST_BYTES) {
            memcpy(list + used, ", ...", 6);
            return;
        }
        memcpy(list + used, item, (size_t)size + 1);
        used += (size_t)size;
    }
}

static int same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a >= 'a' && *a <= 'z' ? *a - 32 : *a) != (*b >= 'a' && *b <= 'z' ? *b - 32 : *b))
            return 0;
    return *a == *b;
}

static int is_called(const ty_fits_file *f, uint32_t i, const char *inside)
{
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, i);
    return same_name(inside, number) || same_name(inside, f->units[i].name);
}

/* Sets `chosen` to the last of those that may be meant, which are so many. */
static uint32_t find_units(ty_fits_file *f, const char *inside)
{
    uint32_t found = 0;
    for (int empty = 0; empty < 2 && !found; empty++)
        for (uint32_t i = 0; i < f->count; i++) {
            const ty_fits_unit *u = f->units + i;
            if (inside ? !is_called(f, i, inside) : empty ? !has_data(u) : !u->bytes)
                continue;
            f->chosen = i;
            found++;
        }
    return found;
}

tally_status ty_fits_choose(ty_fits_file *f, const char *inside, tally_error *error)
{
    char list[LIST_BYTES];
    const uint32_t found = find_units(f, inside);
    list_units(f, list);
    if (!list[0])
        return ty_error(error, TALLY_ERROR_FORMAT, "%s: no data are in this FITS file", f->in.name);
    if (!found || !has_data(f->units + f->chosen))
        return ty_error(error, TALLY_ERROR_ARGUMENT,
                        "%s: no data are called '%.*s' in it; there are: %s", f->in.name,
                        ty_text_fit(inside, NAME_MOST), inside, list);
    if (found > 1)
        return ty_error(error, TALLY_ERROR_ARGUMENT, "%s: several %s: %s; choose one as %s:%s",
                        f->in.name, inside ? "of this name" : "images and tables", list, f->in.name,
                        inside ? "NUMBER" : "NUMBER or NAME");
    const ty_fits_unit *u = f->units + f->chosen;
    return u->refused ? ty_error(error, TALLY_ERROR_UNSUPPORTED, "%s: unit %" PRIu32 " is %s",
                                 f->in.name, f->chosen, u->refused)
                      : TALLY_OK;
}

/* ---- Fields ---- */

static const struct {
    char code;
    unsigned char bytes; /* of one */
    tally_dtype stored;  /* 0: refused */
    const char *refused;
} codes[] = {{'L', 1, TALLY_U8, NULL},
             {'B', 1, TALLY_U8, NULL},
             {'I', 2, TALLY_I16, NULL},
             {'J', 4, TALLY_I32, NULL},
             {'K', 8, TALLY_I64, NULL},
             {'E', 4, TALLY_F32, NULL},
             {'D', 8, TALLY_F64, NULL},
             {'X', 1, (tally_dtype)0, "bits"},
             {'A', 1, (tally_dtype)0, "text"},
             {'C', 8, (tally_dtype)0, "complex numbers"},
             {'M', 16, (tally_dtype)0, "complex numbers"},
             {'P', 8, (tally_dtype)0, "lists of any length"},
             {'Q', 16, (tally_dtype)0, "lists of any length"}};

/* TFORM: how often, and of what. */
static const char *take_form(ty_fits_field *field, const char *text)
{
    uint64_t times = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && times < UINT32_MAX; at++)
        times = times * 10 + (uint64_t)(*at - '0');
    times = at == text ? 1 : times;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (codes[i].code != *at)
            continue;
        field->stored = codes[i].stored;
        field->is_logical = *at == 'L';
        field->refused = codes[i].refused ? codes[i].refused
                         : times == 1     ? NULL
                                          : "several values a row";
        field->at = *at == 'X' ? (times + 7) / 8 : times * codes[i].bytes; /* its size, for now */
        return NULL;
    }
    return "a column of an unknown type (TFORM)";
}

typedef struct ty_field_cards {
    ty_fits_file *fits;
    int is_table;
    uint32_t seen; /* TFORMs */
} ty_field_cards;

static const char *take_column_card(ty_field_cards *c, ty_fits_card *card)
{
    static const char *const keys[] = {"TFORM", "TTYPE", "TSCAL", "TZERO", "TNULL"};
    unsigned number = 0, which = 0;
    for (; which < sizeof keys / sizeof *keys; which++)
        if ((number = key_number(card->key, keys[which])))
            break;
    if (!number || number > c->fits->fields)
        return NULL;
    ty_fits_field *field = c->fits->field + number - 1;
    if (which == 0) {
        c->seen += !field->stored && !field->refused;
        return take_form(field, card->text);
    }
    if (which == 1 && !field->name) {
        field->name = ty_text_copy(card->text, strlen(card->text));
        return NULL;
    }
    if (which == 2 && !card_number(card, &field->scale))
        return "TSCAL is no number";
    if (which == 3 && !card_number(card, &field->zero))
        return "TZERO is no number";
    if (which == 4)
        field->has_blank = card_integer(card, &field->blank);
    return NULL;
}

static const char *take_field_card(void *user, ty_fits_card *card)
{
    ty_field_cards *c = user;
    ty_fits_field *field = c->fits->field;
    if (c->is_table)
        return take_column_card(c, card);
    if (!strcmp(card->key, "BSCALE") && !card_number(card, &field->scale))
        return "BSCALE is no number";
    if (!strcmp(card->key, "BZERO") && !card_number(card, &field->zero))
        return "BZERO is no number";
    if (!strcmp(card->key, "BLANK"))
        field->has_blank = card_integer(card, &field->blank);
    return NULL;
}

static const char *take_count(void *user, ty_fits_card *card)
{
    int64_t value;
    if (strcmp(card->key, "TFIELDS") != 0)
        return NULL;
    if (!card_integer(card, &value) || value < 0 || value > TY_FITS_FIELDS)
        return "TFIELDS is no number from 0 to 999";
    *(uint32_t *)user = (uint32_t)value;
    return NULL;
}

/* Turns the sizes of a table's fields to where they begin. */
static tally_status place_fields(ty_fits_file *f, const ty_fits_unit *u, uint32_t seen,
                                 tally_error *error)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < f->fields && seen == f->fields; i++) {
        const uint64_t size = f->field[i].at;
        f->field[i].at = at;
        at += size;
        if (!f->field[i].name && !(f->field[i].name = ty_text_copy("", 0)))
            return ty_error_memory(error, "the name of a column", 1);
    }
    return seen != f->fields || at > u->axes[0]
               ? damaged(f, u->header, "columns that are missing, or longer than a row", error)
               : TALLY_OK;
}

tally_status ty_fits_fields(ty_fits_file *f, tally_error *error)
{
    const ty_fits_unit *u = f->units + f->chosen;
    ty_field_cards cards = {f, u->is_table, 0};
    uint64_t end;
    tally_status status = TALLY_OK;
    uint32_t count = u->is_table ? 0 : 1;
    if (u->is_table)
        status = read_cards(f, u->header, take_count, &count, &end, error);
    if (status)
        return status;
    f->field = ty_calloc(count ? count : 1, sizeof *f->field);
    if (!f->field)
        return ty_error_memory(error, "the columns of a FITS table", count * sizeof *f->field);
    f->fields = count;
    for (uint32_t i = 0; i < count; i++)
        f->field[i].scale = 1;
    if (!u->is_table)
        f->field->stored = u->bits == 8     ? TALLY_U8
                           : u->bits == 16  ? TALLY_I16
                           : u->bits == 32  ? TALLY_I32
                           : u->bits == 64  ? TALLY_I64
                           : u->bits == -32 ? TALLY_F32
                                            : TALLY_F64;
    status = read_cards(f, u->header, take_field_card, &cards, &end, error);
    return status || !u->is_table ? status : place_fields(f, u, cards.seen, error);
}

void ty_fits_close(ty_fits_file *f)
{
    for (uint32_t i = 0; i < f->fields; i++)
        ty_free(f->field[i].name);
    ty_free(f->field);
    ty_free(f->units);
}
