/* SPDX-License-Identifier: Apache-2.0 */
#include "local/machines/relay.h"

#include <errno.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "local/api/meta.h"
#include "local/machines/joined.h"
#include "local/machines/machines_internal.h"
#include "local/rights/identity.h"
#include "local/rights/rights.h"
#include "local/server/request.h"
#include "local/server/server_parts.h"
#include "local/shim/shim.h"
#include "net/http_server.h"
#include "net/rest/errors.h"
#include "net/rest/rest.h"
#include "net/websocket/websocket.h"
#include "text/json.h"

enum { ID_BYTES = 16, LINE_MAX_BYTES = 128 << 10, UNSENT_MAX = 1 << 20, RELAYS_MAX = 1024 };

/* The agent has this long to answer an order. */
#define ANSWER_TIMEOUT (15 * NSEC_PER_SEC)
#define BEAT (15 * NSEC_PER_SEC)

static const char *const protocols[] = {
    [RELAY_LOG] = NULL, [RELAY_V4] = "v4.channel.k8s.io", [RELAY_V5] = "v5.channel.k8s.io"};

/* The request that an agent holds open. */
struct channel {
    struct list_link in_machines;
    struct machines *machines;
    struct http_exchange *exchange;
    struct loop_timer beat;
    char *node;
};

struct relay {
    struct list_link in_machines;
    struct machines *machines;
    enum relay_kind kind;
    char id[2 * ID_BYTES + 1];
    char *node;
    struct loop_timer timer;
    struct request *request;         // until the agent has agreed
    struct http_exchange *exchange;  // of a log, after that
    struct websocket *client;        // of a command, after that
    struct websocket *agent;         // NULL: it has not come yet
    bool is_client_paused, is_agent_paused;
};

/* --- channels --- */

static void channel_free(struct machines *machines, struct channel *channel)
{
    list_remove(&machines->channels, &channel->in_machines);
    loop_timer_done(&channel->beat);
    http_on_cancel(channel->exchange, NULL, NULL);
    http_reply_end(channel->exchange);
    free(channel->node);
    free(channel);
}

static void on_channel_gone(void *arg)
{
    struct channel *channel = arg;

    channel_free(channel->machines, channel);
}

/* So that both sides notice when the other is gone. */
static void on_beat(void *arg)
{
    struct channel *channel = arg;

    http_reply_write(channel->exchange, "\n", 1);
    loop_timer_start(&channel->beat, BEAT);
}

static struct channel *channel_find(struct machines *machines, const char *node)
{
    for (struct list_link *link = machines->channels.first; link; link = link->next) {
        struct channel *channel = list_item(link, struct channel, in_machines);

        if (strcmp(channel->node, node) == 0)
            return channel;
    }
    return NULL;
}

/* The name of the node that sends it; to be freed. NULL when it has just been removed. */
static char *sender(struct server *server, struct http_exchange *exchange)
{
    _cleanup_(identity_unrefp) struct identity *identity = NULL;

    if (rights_identify(server->rights, exchange, &identity) < 0 || !identity->node)
        return NULL;
    return xstrdup(identity->node);
}

void serve_node_streams(void *arg, struct http_exchange *exchange)
{
    struct server *server = arg;
    struct machines *machines = server->machines;
    char *node = sender(server, exchange);

    if (!node) {
        rest_fail(exchange, -ENOKEY, "Unauthorized");
        return;
    }
    struct channel *before = channel_find(machines, node);
    struct channel *channel = xcalloc(1, sizeof *channel);

    /* An agent that was started anew, or whose connection broke unnoticed. */
    if (before)
        channel_free(machines, before);
    *channel = (struct channel){.machines = machines, .exchange = exchange, .node = node};
    list_push(&machines->channels, &channel->in_machines);
    loop_timer_init(&channel->beat, server->loop, on_beat, channel);
    http_reply_begin(exchange, 200, "application/json");
    http_on_cancel(exchange, on_channel_gone, channel);
    on_beat(channel);
}

/* --- relays --- */

static void relay_free(struct machines *machines, struct relay *relay)
{
    list_remove(&machines->relays, &relay->in_machines);
    loop_timer_done(&relay->timer);
    free(relay->node);
    free(relay);
}

/* Ends the side of the client, after `message` if it has had no answer yet. */
static void end_client(struct relay *relay, const char *message)
{
    if (relay->request) {
        http_on_cancel(relay->request->exchange, NULL, NULL);
        fail_internal(TAKE_PTR(relay->request), "%s", message);
    }
    if (relay->exchange) {
        http_on_cancel(relay->exchange, NULL, NULL);
        http_reply_end(TAKE_PTR(relay->exchange));
    }
    if (relay->client)
        websocket_close(TAKE_PTR(relay->client), WEBSOCKET_NORMAL);
}

static void end_sides(struct relay *relay, const char *message)
{
    end_client(relay, message);
    if (relay->agent)
        websocket_close(TAKE_PTR(relay->agent), WEBSOCKET_NORMAL);
}

static void relay_end(struct relay *relay, const char *message)
{
    end_sides(relay, message);
    relay_free(relay->machines, relay);
}

void relays_stop(struct machines *machines)
{
    for (struct relay *relay; (relay = list_first(&machines->relays, struct relay, in_machines));) {
        end_sides(relay, "the server is stopping");
        relay_free(machines, relay);
    }
    for (struct channel *channel; (channel = list_first(&machines->channels, struct channel, in_machines));)
        channel_free(machines, channel);
}

static void on_timeout(void *arg)
{
    relay_end(arg, "the machine of the pod does not answer");
}

static void on_client_gone(void *arg)
{
    relay_end(arg, "the client has disconnected");
}

/* --- from the client --- */

static void on_client_message(void *arg, const char *bytes, size_t len)
{
    struct relay *relay = arg;

    if (len == 0 || ((unsigned char)bytes[0] == CHANNEL_CLOSE && relay->kind != RELAY_V5))
        return;
    websocket_send(relay->agent, bytes, len);
    if (websocket_unsent(relay->agent) > UNSENT_MAX && !relay->is_client_paused) {
        relay->is_client_paused = true;
        websocket_pause(relay->client);
    }
}

static void on_client_end(void *arg)
{
    struct relay *relay = arg;

    websocket_free(TAKE_PTR(relay->client));
    relay_end(relay, "");
}

static void on_agent_drain(void *arg)
{
    struct relay *relay = arg;

    if (relay->is_client_paused && relay->client) {
        relay->is_client_paused = false;
        websocket_resume(relay->client);
    }
}

/* --- to the client --- */

static void on_client_drain(void *arg)
{
    struct relay *relay = arg;

    if (relay->is_agent_paused && relay->agent) {
        relay->is_agent_paused = false;
        websocket_resume(relay->agent);
    }
}

/* The agent has agreed: the client gets its answer. */
static void begin(struct relay *relay)
{
    struct http_exchange *exchange = relay->request->exchange;

    loop_timer_stop(&relay->timer);
    http_on_cancel(exchange, NULL, NULL);
    request_end(TAKE_PTR(relay->request));
    if (relay->kind == RELAY_LOG) {
        relay->exchange = exchange;
        http_reply_begin(exchange, 200, "text/plain");
        http_on_cancel(exchange, on_client_gone, relay);
        http_on_drain(exchange, on_client_drain, relay);
        return;
    }
    relay->client = websocket_accept(
        exchange, protocols[relay->kind],
        &(struct websocket_handler){
            .on_message = on_client_message, .on_end = on_client_end, .on_drain = on_client_drain, .arg = relay});
    if (!relay->client)
        relay_end(relay, "");
}

static void take_verdict(struct relay *relay, const char *bytes, size_t len)
{
    yyjson_doc *doc = yyjson_read(bytes, len, 0);
    const char *message = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "message"));

    if (doc && !message) {
        begin(relay);
    } else {
        http_on_cancel(relay->request->exchange, NULL, NULL);
        fail_bad(TAKE_PTR(relay->request), "%s", message ? message : "the machine of the pod gave no answer");
        relay_end(relay, "");
    }
    yyjson_doc_free(doc);
}

static void on_agent_message(void *arg, const char *bytes, size_t len)
{
    struct relay *relay = arg;
    size_t unsent;

    if (relay->request) {
        take_verdict(relay, bytes, len);
        return;
    }
    if (relay->exchange) {
        http_reply_write(relay->exchange, bytes, len);
        unsent = http_reply_unsent(relay->exchange);
    } else {
        websocket_send(relay->client, bytes, len);
        unsent = websocket_unsent(relay->client);
    }
    if (unsent > UNSENT_MAX && !relay->is_agent_paused) {
        relay->is_agent_paused = true;
        websocket_pause(relay->agent);
    }
}

static void on_agent_end(void *arg)
{
    struct relay *relay = arg;

    websocket_free(TAKE_PTR(relay->agent));
    relay_end(relay, "the machine of the pod has closed the connection");
}

void serve_node_stream(void *arg, struct http_exchange *exchange)
{
    struct server *server = arg;
    _cleanup_(freep) char *node = sender(server, exchange);
    const char *id = rest_param(exchange, "id");
    struct relay *found = NULL;

    for (struct list_link *link = server->machines->relays.first; node && link; link = link->next) {
        struct relay *relay = list_item(link, struct relay, in_machines);

        if (!relay->agent && strcmp(relay->id, id) == 0 && strcmp(relay->node, node) == 0)
            found = relay;
    }
    if (!found || !websocket_is_wanted(exchange)) {
        rest_fail(exchange, -ENOENT, "no client waits for this stream");
        return;
    }
    found->agent = websocket_accept(
        exchange, RELAY_PROTOCOL,
        &(struct websocket_handler){
            .on_message = on_agent_message, .on_end = on_agent_end, .on_drain = on_agent_drain, .arg = found});
}

/* --- the request --- */

bool relay_is_needed(struct server *server, yyjson_mut_doc *pod)
{
    yyjson_mut_val *spec = yyjson_mut_obj_get(yyjson_mut_doc_get_root(pod), "spec");
    const char *name = yyjson_mut_get_str(yyjson_mut_obj_get(spec, "nodeName"));
    const struct store_object *node =
        name && *name ? store_get(server->store, server->machines->number, "", name) : NULL;
    yyjson_doc *doc = node ? yyjson_read(node->body, node->body_len, 0) : NULL;
    bool result = *kube_text(yyjson_doc_get_root(doc), "metadata", "annotations", KEY_JOINED);

    yyjson_doc_free(doc);
    return result;
}

static void send_order(const struct relay *relay, const struct channel *channel, const char *uid, const char *order)
{
    struct strbuf line;

    strbuf_init(&line, LINE_MAX_BYTES);
    strbuf_addf(&line, "{\"id\":\"%s\",\"pod\":", relay->id);
    json_add_string(&line, uid);
    strbuf_addstr(&line, ",\"name\":");
    json_add_string(&line, relay->request->name);
    strbuf_addf(&line, ",\"order\":%s}\n", order);
    http_reply_write(channel->exchange, line.text, line.len);
    strbuf_done(&line);
}

void relay_start(struct request *request, yyjson_mut_doc *pod, const char *order, enum relay_kind kind)
{
    struct machines *machines = request->server->machines;
    yyjson_mut_val *spec = yyjson_mut_obj_get(yyjson_mut_doc_get_root(pod), "spec");
    const char *node = yyjson_mut_get_str(yyjson_mut_obj_get(spec, "nodeName"));
    const struct channel *channel = channel_find(machines, node);
    unsigned char bytes[ID_BYTES];

    if (!channel) {
        fail_internal(request, "the machine of the pod, %s, is not connected", node);
        return;
    }
    if (machines->relays.len >= RELAYS_MAX) {
        fail_internal(request, "too many streams are open");
        return;
    }
    struct relay *relay = xcalloc(1, sizeof *relay);

    *relay = (struct relay){.machines = machines, .kind = kind, .node = xstrdup(node), .request = request};
    list_push(&machines->relays, &relay->in_machines);
    BUG_ON(RAND_bytes(bytes, sizeof bytes) != 1);
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(relay->id + 2 * i, sizeof relay->id - 2 * i, "%02x", bytes[i]);
    loop_timer_init(&relay->timer, request->server->loop, on_timeout, relay);
    loop_timer_start(&relay->timer, ANSWER_TIMEOUT);
    http_on_cancel(request->exchange, on_client_gone, relay);
    send_order(relay, channel, meta_text(pod, "uid"), order);
}
