/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TY_LOCALE_HELP_H
#define TY_LOCALE_HELP_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* A locale with a decimal comma: an installed one, or one made for this test. Returns 0 if there is
 * none. */
static inline int comma_locale(void)
{
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (int i = 0; i < 3; i++)
        if (setlocale(LC_ALL, comma[i]))
            return 1;
    char folder[] = "/tmp/tally-locale-XXXXXX", command[200];
    if (!mkdtemp(folder))
        return 0;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
             folder);
    setenv("LOCPATH", folder, 1);
    int ok = system(command) == 0 && setlocale(LC_ALL, comma[0]);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && ok;
}

#endif
