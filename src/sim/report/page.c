/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The page is a template with four places in it, "{{NAME}}". Names of queues and jobs come from outside: in the data every
 * '<' is written as an escape, so that nothing in it can end the script element it stands in.
 */
#include "sim/report/page.h"

#include <stdint.h>
#include <string.h>

#include "base/macros.h"

/* ui/report, embedded by the build. */
extern const char report_html[];
extern const uint64_t report_html_len;
extern const char report_css[];
extern const uint64_t report_css_len;
extern const char shadow_js[];
extern const uint64_t shadow_js_len;

static void put_data(FILE *out, const struct page *page)
{
    for (const char *at = page->data, *end = page->data + page->data_len; at < end;) {
        const char *next = memchr(at, '<', (size_t)(end - at));

        (void)fwrite(at, 1, (size_t)((next ? next : end) - at), out);
        if (next)
            (void)fputs("\\u003c", out);
        at = next ? next + 1 : end;
    }
}

static void put_title(FILE *out, const struct page *page)
{
    for (const char *at = page->title; *at; at++) {
        if (*at == '<' || *at == '>' || *at == '&')
            (void)fprintf(out, "&#%d;", *at);
        else
            (void)fputc(*at, out);
    }
}

static void put_style(FILE *out, const struct page *page)
{
    (void)page;
    (void)fwrite(report_css, 1, report_css_len, out);
}

static void put_script(FILE *out, const struct page *page)
{
    (void)fwrite(page->script, 1, page->script_len, out);
}

static const struct {
    const char *name;
    void (*put)(FILE *out, const struct page *page);
} places[] = {
    {"{{TITLE}}", put_title},
    {"{{STYLE}}", put_style},
    {"{{DATA}}", put_data},
    {"{{SCRIPT}}", put_script},
};

void page_write(FILE *out, const struct page *page)
{
    const char *at = report_html;
    const char *page_end = report_html + report_html_len;

    while (at < page_end) {
        const char *next = memmem(at, (size_t)(page_end - at), "{{", 2);
        const char *end = next ? next : page_end;

        (void)fwrite(at, 1, (size_t)(end - at), out);
        at = end;
        for (size_t i = 0; next && i < ARRAY_LEN(places); i++) {
            size_t len = strlen(places[i].name);

            if ((size_t)(page_end - next) < len || memcmp(next, places[i].name, len) != 0)
                continue;
            places[i].put(out, page);
            at = next + len;
        }
        BUG_ON(next && at == end);
    }
}

void page_write_shadow(FILE *out, const char *title, const char *data, size_t len)
{
    page_write(out,
               &(struct page){
                   .title = title, .script = shadow_js, .script_len = shadow_js_len, .data = data, .data_len = len});
}
