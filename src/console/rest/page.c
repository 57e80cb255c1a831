/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The web page, whose files are part of the program. They are the same for everybody and say nothing about the organisation:
 * the page asks the REST for that, with the session of whoever looks at it.
 */
#include "base/err.h"
#include "base/macros.h"
#include "console/rest/context.h"
#include "console/rest/handlers.h"
#include "console/signin/setup_link.h"
#include "net/rest/files.h"

/* ui/console/build writes them. Without the page there are only the first three, which say so. */
extern const struct rest_file console_app[];
extern const uint64_t console_app_count;

/* One page for all paths: its script shows what the path names. */
void handle_page(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    rest_serve_file(exchange, console_app, console_app_count, "index.html");
}

void handle_page_part(void *arg, struct http_exchange *exchange)
{
    (void)arg;
    rest_serve_file(exchange, console_app, console_app_count, rest_param(exchange, "file"));
}

/* The form for the first administrator, for whoever has the link. */
void handle_setup_page(void *arg, struct http_exchange *exchange)
{
    const struct rest_file *used = rest_find_file(console_app, console_app_count, "used.html");
    struct err err = {0};

    BUG_ON(!used);
    if (setup_check(arg, rest_query(exchange, "code"), &err) == 0)
        rest_serve_file(exchange, console_app, console_app_count, "setup.html");
    else
        http_reply(exchange, 401, used->type, used->text, *used->len);
}
