/* SPDX-License-Identifier: Apache-2.0 */

/* The files of the page, which are part of the program. */
#include "net/rest/files.h"
#include "base/macros.h"
#include "web/web_internal.h"

REST_EMBEDDED(page_html);
REST_EMBEDDED(page_css);
REST_EMBEDDED(page_js);
REST_EMBEDDED(login_html);
REST_EMBEDDED(login_js);
REST_EMBEDDED(inter_woff2);

static const struct rest_file page_files[] = {
    REST_FILE("", REST_HTML, page_html),
    REST_FILE("page.css", REST_CSS, page_css),
    REST_FILE("page.js", REST_SCRIPT, page_js),
    REST_FILE("inter.woff2", REST_FONT, inter_woff2),
};

static const struct rest_file login_files[] = {
    REST_FILE("", REST_HTML, login_html),
    REST_FILE("page.css", REST_CSS, page_css),
    REST_FILE("login.js", REST_SCRIPT, login_js),
    REST_FILE("inter.woff2", REST_FONT, inter_woff2),
};

void serve_login_file(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    rest_serve_file(exchange, login_files, ARRAY_LEN(login_files), rest_param(exchange, "file"));
}

void serve_page_file(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    rest_serve_file(exchange, page_files, ARRAY_LEN(page_files), rest_param(exchange, "file"));
}
