/* SPDX-License-Identifier: Apache-2.0 */
#include "text/wrap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Narrower paragraphs than this cannot be read; the line is then longer than the terminal is wide. */
enum { LEAST_WIDTH = 20 };

static uint32_t width_left(const struct table_view *view, const char *lead)
{
    uint32_t used = table_columns(lead);

    if (view->width == 0)
        return UINT32_MAX;
    return view->width > used + LEAST_WIDTH ? view->width - used : LEAST_WIDTH;
}

void wrap_print(FILE *out, const struct table_view *view, const char *lead, const char *rest, enum text_style style,
                const char *text)
{
    _cleanup_(freep) char *clean = xstrdup(text);
    uint32_t width = width_left(view, lead);
    const char *at = clean;

    (void)table_clean(clean);
    do {
        size_t len = table_line_bytes(at, width);

        (void)fprintf(out, "%s%s%.*s%s\n", at == clean ? lead : rest, style_start(style, view->has_colour), (int)len,
                      at, style_end(style, view->has_colour));
        at += len;
        at += strspn(at, " ");
    } while (*at);
}
