/* SPDX-License-Identifier: Apache-2.0 */

/* pods/portforward: which of its protocols a client speaks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "local/api/meta.h"
#include "local/server/files.h"
#include "local/server/object_text.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/shim/shim.h"
#include "local/streams/forward_internal.h"
#include "local/streams/streams.h"
#include "local/verbs/write.h"
#include "net/http_server.h"
#include "net/rest/rest.h"
#include "net/websocket/websocket.h"

enum { PORT_MAX = 65535 };

static const char *const protocols[] = {"SPDY/3.1+portforward.k8s.io", "v4.channel.k8s.io"};

int forward_port(const char *text, uint16_t *ret_port)
{
    char *end = NULL;
    long port = strtol(text, &end, 10);

    if (*text < '0' || *text > '9' || *end || port <= 0 || port > PORT_MAX)
        return -EINVAL;
    *ret_port = (uint16_t)port;
    return 0;
}

/* The ports of the request: ports=80&ports=443, or ports=80,443. Returns how many, 0 when one is wrong. */
static size_t read_ports(struct request *request, uint16_t ports[static FORWARD_PORTS_MAX])
{
    const char *name, *value;
    size_t count = 0;

    for (size_t at = 0; rest_query_next(request->exchange, &at, &name, &value);) {
        if (strcmp(name, "ports") != 0)
            continue;
        while (*value) {
            size_t len = strcspn(value, ",");
            _cleanup_(freep) char *text = xstrndup(value, len);

            if (count >= FORWARD_PORTS_MAX || forward_port(text, &ports[count]) < 0)
                return 0;
            count++;
            value += len + (value[len] == ',');
        }
    }
    return count;
}

/* The pod has processes on this machine. False after an answer. */
static bool is_running(struct request *request)
{
    const struct store_object *object =
        store_get(request->server->store, request->number, request->namespace, request->name);

    if (!object) {
        fail_not_found(request);
        return false;
    }
    yyjson_mut_doc *pod = object_doc(object);
    yyjson_mut_val *status = yyjson_mut_obj_get(yyjson_mut_doc_get_root(pod), "status");
    const char *phase = yyjson_mut_get_str(yyjson_mut_obj_get(status, "phase"));
    _cleanup_(freep) char *pods = file_path(request->server->folder, "pods");
    _cleanup_(freep) char *folder = file_path(pods, meta_text(pod, "uid"));
    _cleanup_(freep) char *socket = file_path(folder, POD_SOCKET);
    bool is_good = phase && strcmp(phase, "Running") == 0 && access(socket, F_OK) == 0;

    if (!is_good)
        fail_bad(request, "unable to forward port because pod is not running. Current status=%s",
                 phase ? phase : "Pending");
    yyjson_mut_doc_free(pod);
    return is_good;
}

static void serve_websocket(struct request *request)
{
    const char *protocol = websocket_protocol(request->exchange, protocols, ARRAY_LEN(protocols));
    struct http_exchange *exchange = request->exchange;
    struct loop *loop = request->server->loop;
    uint16_t ports[FORWARD_PORTS_MAX];
    size_t count = read_ports(request, ports);

    if (!protocol) {
        fail_bad(request, "none of the protocols of the client is known: %s, %s", protocols[0], protocols[1]);
    } else if (protocol == protocols[0]) {
        request_end(request);
        forward_spdy(exchange, loop, true);
    } else if (count == 0) {
        fail_bad(request, "query parameter \"ports\": expected 1 to %d ports", FORWARD_PORTS_MAX);
    } else {
        request_end(request);
        forward_channels(exchange, loop, protocol, ports, count);
    }
}

void serve_port_forward(struct request *request)
{
    struct http_exchange *exchange = request->exchange;
    const char *upgrade = http_exchange_header(exchange, "Upgrade");

    if (request->verb != VERB_GET && request->verb != VERB_CREATE) {
        fail_method(request);
        return;
    }
    if (!is_running(request))
        return;
    if (websocket_is_wanted(exchange)) {
        serve_websocket(request);
    } else if (http_exchange_wants_upgrade(exchange) && upgrade && strcasecmp(upgrade, "SPDY/3.1") == 0) {
        struct loop *loop = request->server->loop;

        request_end(request);
        forward_spdy(exchange, loop, false);
    } else {
        fail_bad(request, "Upgrade request required: WebSocket or SPDY/3.1");
    }
}
