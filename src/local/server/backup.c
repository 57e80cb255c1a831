/* SPDX-License-Identifier: Apache-2.0 */

/* A copy of all objects in a file, made while work goes on. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "local/server/routes.h"
#include "local/server/server_parts.h"
#include "net/http_server.h"
#include "text/json.h"

static void on_done(void *arg, int result, const struct err *err)
{
    struct http_exchange *exchange = arg;

    if (result < 0)
        rest_fail(exchange, result, "%s", err->text);
    else
        http_reply(exchange, 200, "application/json", "{}", 2);
}

/* The body names the file, which the server makes: {"path": "/..."}. Whoever may ask this is the server's own user or root,
 * so that it is written with no more rights than they have. */
void serve_backup(void *arg, struct http_exchange *exchange)
{
    struct server *server = arg;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};
    size_t len = 0;
    const char *body = http_exchange_body(exchange, &len);

    if (json_parse(body, len, "body", &doc, &err) < 0) {
        rest_fail(exchange, -EINVAL, "%s", err.text);
        return;
    }
    const char *path = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "path"));

    if (!path || path[0] != '/' || strlen(path) >= PATH_MAX) {
        rest_fail(exchange, -EINVAL, "path: the whole path of a file is needed");
        return;
    }
    store_backup(server->store, path, on_done, exchange);
}
