/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign text as it is shown: whole in, nothing out that could drive a terminal. */
#include <stdio.h>
#include <string.h>

#include "../../common/printable.h"
#include "core/error.h"
#include "input_help.h"

static void expect(const char *from, size_t size, const char *want)
{
    char to[256];
    size_t took = printable(from, size, to, sizeof to);
    CHECK_SAY(took == size && !strcmp(to, want), "\"%s\" instead of \"%s\"", to, want);
}

#define EXPECT(from, want) expect(from, sizeof from - 1, want)

static void test_characters(void)
{
    EXPECT("", "");
    EXPECT("plain ~", "plain ~");
    EXPECT("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
    EXPECT("\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", /* a joiner makes one picture of two */
           "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb");
    EXPECT("a\033[2Jb", "a\\x1b[2Jb");
    EXPECT("\n\t\r\a\x7f", "\\n\\t\\r\\x07\\x7f");
    EXPECT("a\0b", "a\\x00b");
    EXPECT("\xc2\x9b[2J", "\\u009b[2J");             /* C1: CSI */
    EXPECT("\xe2\x80\xaetxt.exe", "\\u202etxt.exe"); /* to the left from here */
    EXPECT("\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c", "\\u2066\\u2069\\u061c");
    EXPECT("\xe2\x80\x8b\xef\xbb\xbf", "\\u200b\\ufeff");
    EXPECT("\xf3\xa0\x81\x81", "\\U000e0041"); /* a tag */
    EXPECT("\xff\xc3(\xe2\x82", "\\xff\\xc3(\\xe2\\x82");
    EXPECT("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80", "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
}

static void test_room(void)
{
    char to[8];
    CHECK(printable("abcdefgh", 8, to, sizeof to) == 7 && !strcmp(to, "abcdefg"));
    CHECK(printable("abcd\033", 5, to, sizeof to) == 4 && !strcmp(to, "abcd"));
    CHECK(printable("abcdef\xc3\xa4", 8, to, sizeof to) == 6 && !strcmp(to, "abcdef"));
    CHECK(printable("x", 1, to, 1) == 0 && !*to);
}

/* Whatever the bytes: what comes out is valid, shows nothing hidden, and stays as it is. */
static void test_random(uint64_t cases)
{
    for (uint64_t i = 0; i < cases; i++) {
        char from[40], to[sizeof from * 4 + 1], again[sizeof to];
        size_t size = help_below(sizeof from + 1);
        for (size_t b = 0; b < size; b++)
            from[b] = (char)(help_below(2) ? help_random() : 0xe2 - help_below(4));
        CHECK(printable(from, size, to, sizeof to) == size);
        size_t length = strlen(to);
        for (size_t b = 0, n; b < length; b += n) {
            n = utf8_length(to + b, length - b);
            CHECK(n && !printable_hides(utf8_value(to + b, n)));
            n = n ? n : 1;
        }
        CHECK(printable(to, length, again, sizeof again) == length && !strcmp(to, again));
    }
}

static void test_errors(void)
{
    tally_error error;
    (ty_error)(&error, TALLY_ERROR_FORMAT, "%s: bad", "a\033[31m\nb");
    CHECK_SAY(!strcmp(error.message, "a\\x1b[31m\\nb: bad"), "%s", error.message);
    ty_error_prefix(&error, "\xe2\x80\xaex");
    CHECK_SAY(!strcmp(error.message, "\\u202ex: a\\x1b[31m\\nb: bad"), "%s", error.message);
    char path[4096];
    memset(path, '\033', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    (ty_error)(&error, TALLY_ERROR_IO, "%s: no such file", path);
    CHECK_SAY(strlen(error.message) < sizeof error.message &&
                  strstr(error.message, "\\x1b...\\x1b") && strstr(error.message, ": no such file"),
              "%s", error.message);
}

int main(int argc, char **argv)
{
    help_begin(argc, argv);
    test_characters();
    test_room();
    test_random(20000);
    test_errors();
    return help_end();
}
