/* SPDX-License-Identifier: Apache-2.0 */

/* The outcome of a rule, and how it is written. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "services/admission/rules.h"

/* Reasons and warnings beyond these are left out: nobody reads them, and the answer stays small. */
enum { MESSAGE_MAX = 8 << 10, LINE_BYTES_MAX = 1024, WARNINGS_MAX = 16 };

void admission_verdict_init(struct admission_verdict *verdict)
{
    *verdict = (struct admission_verdict){0};
    strbuf_init(&verdict->message, MESSAGE_MAX);
}

void admission_verdict_done(struct admission_verdict *verdict)
{
    strbuf_done(&verdict->message);
    yyjson_mut_doc_free(verdict->patch);
    vec_foreach (&verdict->warnings, warning)
        free(*warning);
    vec_done(&verdict->warnings);
}

void admission_deny(struct admission_verdict *verdict, const char *format, ...)
{
    char line[LINE_BYTES_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    verdict->is_denied = true;
    if (verdict->message.len + strlen(line) + 1 > MESSAGE_MAX)
        return;
    strbuf_addf(&verdict->message, "%s%s", verdict->message.len ? "\n" : "", line);
}

void admission_warn(struct admission_verdict *verdict, const char *format, ...)
{
    char line[LINE_BYTES_MAX];
    va_list args;

    if (verdict->warnings.len >= WARNINGS_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    vec_push(&verdict->warnings, xstrdup(line));
}

/* Bytes 10xxxxxx go on with a character. */
static size_t whole_characters(const char *text, size_t len)
{
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return len;
}

const char *admission_text(const char *value, char text[static ADMISSION_TEXT_MAX])
{
    size_t len = strlen(value);

    if (len < ADMISSION_TEXT_MAX) {
        memcpy(text, value, len + 1);
        return text;
    }
    len = whole_characters(value, ADMISSION_TEXT_MAX - sizeof "...");
    (void)snprintf(text, ADMISSION_TEXT_MAX, "%.*s...", (int)len, value);
    return text;
}
