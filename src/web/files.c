/* SPDX-License-Identifier: Apache-2.0 */

/* The files of the page, which are part of the program. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "web/web_internal.h"

#define EMBEDDED(symbol)        \
    extern const char symbol[]; \
    extern const uint64_t symbol##_len

EMBEDDED(page_html);
EMBEDDED(page_css);
EMBEDDED(page_js);
EMBEDDED(login_html);
EMBEDDED(login_js);

struct file {
    const char *name;
    const char *type;
    const char *text;
    const uint64_t *len;
};

#define HTML "text/html; charset=utf-8"
#define CSS "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"

static const struct file page_files[] = {
    {"", HTML, page_html, &page_html_len},
    {"page.css", CSS, page_css, &page_css_len},
    {"page.js", SCRIPT, page_js, &page_js_len},
};

static const struct file login_files[] = {
    {"", HTML, login_html, &login_html_len},
    {"page.css", CSS, page_css, &page_css_len},
    {"login.js", SCRIPT, login_js, &login_js_len},
};

static void serve_file(struct http_exchange *exchange, const struct file *files, size_t count)
{
    const char *name = rest_param(exchange, "file");

    for (size_t i = 0; i < count; i++) {
        if (strcmp(files[i].name, name) == 0) {
            http_reply(exchange, 200, files[i].type, files[i].text, *files[i].len);
            return;
        }
    }
    rest_fail(exchange, -ENOENT, "there is no file '%.100s'", name);
}

void serve_login_file(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    serve_file(exchange, login_files, ARRAY_LEN(login_files));
}

void serve_page_file(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    serve_file(exchange, page_files, ARRAY_LEN(page_files));
}
