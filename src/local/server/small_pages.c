/* SPDX-License-Identifier: Apache-2.0 */

/* /version, the probes, and what `muster status` shows. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/server/resources_internal.h"
#include "local/server/routes_internal.h"
#include "local/server/server_internal.h"

/* The release of Kubernetes whose API this is: charts compare it. */
void serve_version(void *arg, struct http_exchange *exchange)
{
    static const char text[] = "{\"major\":\"1\",\"minor\":\"36\",\"gitVersion\":\"v1.36.0+muster\",\"gitCommit\":\"\","
                               "\"gitTreeState\":\"clean\",\"buildDate\":\"1970-01-01T00:00:00Z\",\"goVersion\":\"\","
                               "\"compiler\":\"\",\"platform\":\"linux/amd64\"}";

    (void)arg;
    http_reply(exchange, 200, "application/json", text, sizeof text - 1);
}

/* The store is open for as long as the server runs, and a store that breaks ends the process. */
void serve_health(void *arg, struct http_exchange *exchange)
{
    const char *path = http_exchange_path(exchange);
    char text[128];

    (void)arg;
    if (!rest_query_is_true(exchange, "verbose")) {
        http_reply_text(exchange, 200, "ok");
        return;
    }
    (void)snprintf(text, sizeof text, "[+]ping ok\n[+]store ok\n%.*s check passed\n", (int)strcspn(path + 1, "/"),
                   path + 1);
    http_reply_text(exchange, 200, text);
}

void serve_process(void *arg, struct http_exchange *exchange)
{
    struct server *server = arg;
    const struct api_kind *kind;
    size_t objects = 0;
    char text[512];

    for (size_t i = 0; (kind = resource_at(server, i)); i++)
        objects += store_count(server->store, resource_number(server, kind));
    int len = snprintf(text, sizeof text,
                       "{\"pid\":%d,\"address\":\"%.200s\",\"port\":%u,\"objects\":%zu,\"version\":%" PRIu64 "}",
                       (int)getpid(), server->address ? server->address : "", (unsigned)server_port(server), objects,
                       store_version(server->store));

    http_reply(exchange, 200, "application/json", text, (size_t)len);
}
