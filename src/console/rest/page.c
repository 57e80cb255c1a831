/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The web page, whose files are part of the program. They are the same for everybody and say nothing about the organisation:
 * the page asks the REST for that, with the session of whoever looks at it.
 */
#include "base/err.h"
#include "base/macros.h"
#include "console/rest/context.h"
#include "console/rest/handlers.h"
#include "net/rest/files.h"

REST_EMBEDDED(console_html);
REST_EMBEDDED(console_css);
REST_EMBEDDED(console_js);
REST_EMBEDDED(setup_html);
REST_EMBEDDED(setup_js);
REST_EMBEDDED(used_html);
REST_EMBEDDED(inter_woff2);

static const struct rest_file pages[] = {
    REST_FILE("page", REST_HTML, console_html),
    REST_FILE("setup", REST_HTML, setup_html),
};

static const struct rest_file parts[] = {
    REST_FILE("console.css", REST_CSS, console_css),
    REST_FILE("console.js", REST_SCRIPT, console_js),
    REST_FILE("setup.js", REST_SCRIPT, setup_js),
    REST_FILE("inter.woff2", REST_FONT, inter_woff2),
};

/* One page for all paths: its script shows what the path names. */
void handle_page(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    rest_serve_file(exchange, pages, ARRAY_LEN(pages), "page");
}

void handle_page_part(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    rest_serve_file(exchange, parts, ARRAY_LEN(parts), rest_param(exchange, "file"));
}

/* The form for the first administrator, for whoever has the link. */
void handle_setup_page(void *arg, struct http_exchange *exchange)
{
    struct err err = {0};

    if (setup_check(arg, rest_query(exchange, "code"), &err) == 0)
        rest_serve_file(exchange, pages, ARRAY_LEN(pages), "setup");
    else
        http_reply(exchange, 401, REST_HTML, used_html, used_html_len);
}
