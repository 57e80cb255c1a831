/* SPDX-License-Identifier: Apache-2.0 */

/* Which kinds there are, in the form of one document for all groups, and in the older one of a document for each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "local/discovery/accept.h"
#include "local/discovery/discovery_internal.h"
#include "local/server/compress.h"
#include "local/server/routes.h"
#include "local/server/server_parts.h"

/* Sends a document with a tag of its contents, or 304 when the client has it. */
static void reply_tagged(struct http_exchange *exchange, const char *type, yyjson_mut_doc *doc)
{
    const char *known = http_exchange_header(exchange, "If-None-Match");
    size_t len = 0;
    char *text = yyjson_mut_write(doc, 0, &len);
    char tag[32];

    (void)snprintf(tag, sizeof tag, "\"%016" PRIx64 "\"", hash_bytes(text, len, 0));
    http_reply_header(exchange, "ETag", tag);
    http_reply_header(exchange, "Vary", "Accept");
    http_reply_header(exchange, "Cache-Control", "no-cache, private");
    if (known && strcmp(known, tag) == 0)
        http_reply(exchange, 304, NULL, NULL, 0);
    else
        reply_compressed(exchange, 200, type, text, len);
    free(text);
}

static void reply(struct http_exchange *exchange, yyjson_mut_doc *doc)
{
    reply_tagged(exchange, "application/json", doc);
    yyjson_mut_doc_free(doc);
}

static void reply_aggregated(const struct server *server, struct http_exchange *exchange, const char *version,
                             bool is_core)
{
    char type[128];
    yyjson_mut_doc *doc = discovery_aggregated(server, version, is_core);

    (void)snprintf(type, sizeof type, "application/json;g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList", version);
    reply_tagged(exchange, type, doc);
    yyjson_mut_doc_free(doc);
}

void serve_core_versions(void *arg, struct http_exchange *exchange)
{
    const char *aggregated = accept_discovery(http_exchange_header(exchange, "Accept"));

    if (aggregated)
        reply_aggregated(arg, exchange, aggregated, true);
    else
        reply(exchange, discovery_core_versions(arg));
}

void serve_groups(void *arg, struct http_exchange *exchange)
{
    const char *aggregated = accept_discovery(http_exchange_header(exchange, "Accept"));

    if (aggregated)
        reply_aggregated(arg, exchange, aggregated, false);
    else
        reply(exchange, discovery_groups(arg));
}

static void reply_if_any(struct http_exchange *exchange, yyjson_mut_doc *doc)
{
    if (doc)
        reply(exchange, doc);
    else
        rest_fail_problem(exchange,
                          &(struct rest_problem){.status = 404,
                                                 .message = "the server could not find the requested resource",
                                                 .has_details = true});
}

void serve_group(void *arg, struct http_exchange *exchange)
{
    reply_if_any(exchange, discovery_group(arg, rest_param(exchange, "group")));
}

void serve_resources(void *arg, struct http_exchange *exchange)
{
    bool is_core = strncmp(http_exchange_path(exchange), "/apis", strlen("/apis")) != 0;
    const char *group = is_core ? "" : rest_param(exchange, "group");

    reply_if_any(exchange, discovery_resources(arg, group, rest_param(exchange, "version")));
}
