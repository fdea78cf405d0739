/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input that is opened for each of several columns. */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static int copy_all(int from, int to)
{
    char bytes[64 << 10];
    for (;;) {
        const ssize_t got = read(from, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        for (ssize_t done = 0, put; done < got; done += put) {
            put = write(to, bytes + done, (size_t)(got - done));
            if (put < 0 && errno != EINTR)
                return 0;
            put = put < 0 ? 0 : put;
        }
    }
}

int cli_stdin_keep(const char **path)
{
    struct stat about;
    *path = CLI_KEPT_STDIN;
    if (fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode) &&
        lseek(STDIN_FILENO, 0, SEEK_CUR) == 0)
        return CLI_OK;
    const char *folder = getenv("TMPDIR");
    char name[4096];
    const int fits = snprintf(name, sizeof name, "%s/tally-XXXXXX",
                              folder && *folder ? folder : "/tmp") < (int)sizeof name;
    const int file = fits ? mkstemp(name) : -1;
    if (file < 0)
        return cli_fail("no temporary file for standard input; set TMPDIR to a folder with room");
    unlink(name);
    const int good = copy_all(STDIN_FILENO, file) && dup2(file, STDIN_FILENO) >= 0;
    const int why = errno;
    close(file);
    return good ? CLI_OK
                : cli_fail("standard input: copying it to a temporary file (in TMPDIR) failed: %s",
                           strerror(why));
}
