/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    return code;
}
