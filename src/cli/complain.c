/* SPDX-License-Identifier: Apache-2.0 */

/* What goes to standard error: one line each, whatever the names from outside hold. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "cli/command.h"
#include "text/table.h"

enum { LINE_MAX_BYTES = 1024 };

int command_wrong(const struct command *command, const char *format, ...)
{
    const char *name = command ? command->name : "";
    const char *gap = command ? " " : "";
    char text[LINE_MAX_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)table_clean(text);
    size_t len = strlen(text);
    const char *see = len > 0 && text[len - 1] == '?' ? " See" : "; see";
    (void)fprintf(stderr, "muster%s%s: %s%s 'muster help%s%s'\n", gap, name, text, see, gap, name);
    return EXIT_WRONG_CALL;
}

int command_failed(int code, const struct err *err)
{
    static const int of_the_system[] = {-EIO, -ENOMEM, -EMFILE, -ENFILE, -EPIPE, -ENOTSUP};
    struct err shown = *err;

    (void)table_clean(shown.text);
    (void)fprintf(stderr, "muster: %s\n", shown.text);
    for (size_t i = 0; i < ARRAY_LEN(of_the_system); i++) {
        if (code == of_the_system[i])
            return EXIT_FAILED;
    }
    return EXIT_WRONG_CALL;
}

void command_warn(char *lines)
{
    char *next = lines;

    for (char *line; (line = strsep(&next, "\n")) && next;) {
        (void)table_clean(line);
        (void)fprintf(stderr, "muster: warning: %s\n", line);
    }
}

int command_failed_to_write(void)
{
    (void)fprintf(stderr, "muster: standard output: %s\n", strerror(errno));
    return EXIT_FAILED;
}
