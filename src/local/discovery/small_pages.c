/* SPDX-License-Identifier: Apache-2.0 */

/* /version, the probes, and what `muster status` shows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "local/api/kinds.h"
#include "local/rights/identity.h"
#include "local/rights/rights.h"
#include "local/server/files.h"
#include "local/server/resources.h"
#include "local/server/routes.h"
#include "local/server/server_parts.h"
#include "text/json.h"

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
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    _cleanup_(freep) char *kubeconfig = file_path(server->folder, SERVER_KUBECONFIG);
    _cleanup_(identity_unrefp) struct identity *identity = NULL;
    char namespace[OWN_NAMESPACE_MAX] = "default";
    const struct api_kind *kind;
    size_t objects = 0;
    size_t len = 0;

    if (rights_identify(server->rights, exchange, &identity) == 0)
        (void)rights_own_namespace(server->rights, identity, namespace);

    for (size_t i = 0; (kind = resource_at(server, i)); i++)
        if (api_kind_stored(kind) == kind)
            objects += store_count(server->store, resource_number(server, kind));
    (void)yyjson_mut_obj_add_int(doc, root, "pid", getpid());
    (void)yyjson_mut_obj_add_str(doc, root, "kubeconfig", kubeconfig);
    (void)yyjson_mut_obj_add_str(doc, root, "address", server->address ? server->address : "");
    (void)yyjson_mut_obj_add_uint(doc, root, "port", server_port(server));
    (void)yyjson_mut_obj_add_str(doc, root, "namespace", namespace);
    (void)yyjson_mut_obj_add_uint(doc, root, "objects", objects);
    (void)yyjson_mut_obj_add_uint(doc, root, "version", store_version(server->store));
    char *text = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    http_reply(exchange, 200, "application/json", text, len);
    free(text);
    yyjson_mut_doc_free(doc);
}
