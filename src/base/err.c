/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A message is one line on a terminal, and the names in it come from outside: whatever could drive it becomes '?'. */
static void flatten(char *text)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        unsigned char next = (unsigned char)text[1];

        if (byte < 0x20 || byte == 0x7f)
            *text = '?';
        else if (byte == 0xc2 && next >= 0x80 && next < 0xa0)
            text[0] = text[1] = '?';
    }
}

static void mark_cut(struct err *err, int wanted)
{
    if (wanted >= (int)sizeof err->text)
        memcpy(err->text + sizeof err->text - 4, "...", 4);
}

int err_set(struct err *err, int code, const char *format, ...)
{
    if (!err)
        return code;

    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);

    err->code = code;
    mark_cut(err, wanted);
    flatten(err->text);
    return code;
}

int err_wrap(struct err *err, int code, const char *format, ...)
{
    if (!err)
        return code;

    char inner[sizeof err->text];
    memcpy(inner, err->text, sizeof inner);

    va_list args;
    va_start(args, format);
    int used = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);

    if (used >= 0 && used < (int)sizeof err->text)
        used += snprintf(err->text + used, sizeof err->text - (size_t)used, ": %s", inner);
    err->code = code;
    mark_cut(err, used);
    flatten(err->text);
    return code;
}
