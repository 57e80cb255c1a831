/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"

/* What `text` points to while nothing has been allocated; never written to. */
static char empty[1];

void strbuf_init(struct strbuf *sb, size_t max)
{
    BUG_ON(max >= SIZE_MAX / 2);
    *sb = (struct strbuf){.text = empty, .max = max};
}

void strbuf_done(struct strbuf *sb)
{
    if (sb->cap)
        free(sb->text);
    strbuf_init(sb, sb->max);
}

void strbuf_clear(struct strbuf *sb)
{
    if (sb->cap)
        sb->text[0] = '\0';
    sb->len = 0;
    sb->is_cut = false;
}

/* Room for as much of `more` bytes as the limit allows; returns how much that is. */
static size_t make_room(struct strbuf *sb, size_t more)
{
    if (more > sb->max - sb->len) {
        sb->is_cut = true;
        more = sb->max - sb->len;
    }
    if (more && sb->len + more + 1 > sb->cap) {
        sb->cap = MAX(MAX(sb->len + more + 1, MIN(sb->cap * 2, sb->max + 1)), (size_t)32);
        sb->text = xrealloc(sb->text == empty ? NULL : sb->text, sb->cap);
    }
    return more;
}

void strbuf_add(struct strbuf *sb, const char *bytes, size_t len)
{
    size_t fits = make_room(sb, len);

    if (fits == 0)
        return;
    memcpy(sb->text + sb->len, bytes, fits);
    sb->len += fits;
    sb->text[sb->len] = '\0';
}

void strbuf_addstr(struct strbuf *sb, const char *text)
{
    strbuf_add(sb, text, strlen(text));
}

void strbuf_addch(struct strbuf *sb, char c)
{
    strbuf_add(sb, &c, 1);
}

void strbuf_add_binary(struct strbuf *sb, long long amount)
{
    static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    size_t power = 0;

    for (; amount > 0 && amount % 1024 == 0 && power + 1 < sizeof suffixes / sizeof *suffixes; power++)
        amount /= 1024;
    strbuf_addf(sb, "%lld%s", amount, suffixes[power]);
}

void strbuf_addf(struct strbuf *sb, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int wanted = vsnprintf(NULL, 0, format, args);
    va_end(args);
    BUG_ON(wanted < 0);

    size_t fits = make_room(sb, (size_t)wanted);
    if (fits == 0)
        return;
    va_start(args, format);
    (void)vsnprintf(sb->text + sb->len, fits + 1, format, args);
    va_end(args);
    sb->len += fits;
}

char *strbuf_take(struct strbuf *sb)
{
    char *text = sb->cap ? sb->text : xstrdup("");

    strbuf_init(sb, sb->max);
    return text;
}
