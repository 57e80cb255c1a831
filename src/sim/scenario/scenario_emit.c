/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/scenario_emit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static bool is_plain(char c)
{
    return (unsigned char)c >= ' ' && c != '"' && c != '\\';
}

/* Names need no escapes in nearly every case: what needs none is written in one piece. */
static void write_string(FILE *out, const char *text)
{
    (void)putc_unlocked('"', out);
    for (const char *at = text; *at;) {
        const char *end = at;

        while (is_plain(*end))
            end++;
        (void)fwrite_unlocked(at, 1, (size_t)(end - at), out);
        at = end;
        if (*at == '"' || *at == '\\')
            (void)fprintf(out, "\\%c", *at++);
        else if (*at)
            (void)fprintf(out, "\\u%04x", (unsigned int)(unsigned char)*at++);
    }
    (void)putc_unlocked('"', out);
}

static void start(struct emit *e, const char *key)
{
    if (e->needs_comma)
        (void)putc_unlocked(',', e->out);
    e->needs_comma = true;
    if (!key)
        return;
    write_string(e->out, key);
    (void)putc_unlocked(':', e->out);
}

void emit_open(struct emit *e, const char *key, char bracket)
{
    start(e, key);
    (void)putc_unlocked(bracket, e->out);
    e->needs_comma = false;
}

void emit_close(struct emit *e, char bracket)
{
    (void)putc_unlocked(bracket, e->out);
    e->needs_comma = true;
}

void emit_str(struct emit *e, const char *key, const char *text)
{
    start(e, key);
    write_string(e->out, text);
}

void emit_bool(struct emit *e, const char *key, bool value)
{
    start(e, key);
    (void)fputs(value ? "true" : "false", e->out);
}

void emit_int(struct emit *e, const char *key, int64_t value)
{
    start(e, key);
    (void)fprintf(e->out, "%" PRId64, value);
}

void emit_double(struct emit *e, const char *key, double value)
{
    char text[32];

    start(e, key);
    /* Adding 0 turns a negative zero into the ordinary one. */
    value += 0.0;
    if (value == floor(value) && fabs(value) < 1e15) {
        (void)fprintf(e->out, "%.0f", value);
        return;
    }
    (void)snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value)
        (void)snprintf(text, sizeof text, "%.17g", value);
    (void)fputs(isfinite(value) ? text : "null", e->out);
}

void emit_key(struct emit *e, const char *key)
{
    start(e, key);
}
