/* SPDX-License-Identifier: Apache-2.0 */

/* The table of paths. */
#include "local/server/routes.h"

#include "local/machines/machines.h"
#include "local/machines/relay.h"
#include "local/server/server_parts.h"

static void serve_objects(void *arg, struct http_exchange *exchange)
{
    request_serve(arg, exchange);
}

#define OBJECTS(method)                                            \
    REST_ROUTE(method, "/api/{version}/{path...}", serve_objects), \
        REST_ROUTE(method, "/apis/{group}/{version}/{path...}", serve_objects)

const struct rest_route server_routes[] = {
    REST_ROUTE("GET", "/api", serve_core_versions),
    REST_ROUTE("GET", "/apis", serve_groups),
    REST_ROUTE("GET", "/api/{version}", serve_resources),
    REST_ROUTE("GET", "/apis/{group}", serve_group),
    REST_ROUTE("GET", "/apis/{group}/{version}", serve_resources),
    OBJECTS("GET"),
    OBJECTS("POST"),
    OBJECTS("PUT"),
    OBJECTS("PATCH"),
    OBJECTS("DELETE"),
    REST_ROUTE("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", serve_review),
    REST_ROUTE("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", serve_review),
    REST_ROUTE("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", serve_review),
    REST_ROUTE("POST", "/apis/authentication.k8s.io/v1/tokenreviews", serve_review),
    REST_ROUTE("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", serve_review),
    REST_ROUTE("POST", "/apis/authorization.k8s.io/v1/namespaces/{namespace}/localsubjectaccessreviews", serve_review),
    REST_ROUTE("GET", "/openapi/v2", serve_openapi_v2),
    REST_ROUTE("GET", "/openapi/v3", serve_openapi),
    REST_ROUTE("GET", "/openapi/v3/{path...}", serve_openapi_document),
    REST_ROUTE("GET", "/version", serve_version, .role = ROLE_ANYONE),
    REST_ROUTE("GET", "/healthz", serve_health, .role = ROLE_ANYONE),
    REST_ROUTE("GET", "/livez", serve_health, .role = ROLE_ANYONE),
    REST_ROUTE("GET", "/readyz", serve_health, .role = ROLE_ANYONE),
    REST_ROUTE("GET", "/muster/process", serve_process, .role = ROLE_USER),
    REST_ROUTE("POST", "/muster/token", serve_token, .role = ROLE_USER),
    REST_ROUTE("POST", "/muster/node-token", serve_node_token, .role = ROLE_LOCAL),
    REST_ROUTE("POST", "/muster/join", serve_join, .role = ROLE_ANYONE),
    REST_ROUTE("POST", "/muster/certificate", serve_node_certificate, .role = ROLE_NODE),
    REST_ROUTE("GET", "/muster/streams", serve_node_streams, .role = ROLE_NODE),
    REST_ROUTE("GET", "/muster/streams/{id}", serve_node_stream, .role = ROLE_NODE),
    REST_ROUTE("POST", "/muster/backup", serve_backup, .role = ROLE_LOCAL),
};
const size_t server_route_count = ARRAY_LEN(server_routes);
