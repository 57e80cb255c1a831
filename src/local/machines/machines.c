/* SPDX-License-Identifier: Apache-2.0 */
#include "local/machines/machines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "local/api/kinds.h"
#include "local/api/meta.h"
#include "local/api/names.h"
#include "local/machines/joined.h"
#include "local/machines/machines_internal.h"
#include "local/machines/relay.h"
#include "local/rights/identity.h"
#include "local/rights/rights.h"
#include "local/rights/users.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"
#include "local/verbs/write.h"
#include "net/http_server.h"
#include "net/rest/errors.h"
#include "text/json.h"

#define TOKEN_LIFETIME_MAX NSEC_PER_HOUR
#define CLOCK_SKEW NSEC_PER_HOUR

enum { ANSWER_MAX = 64 << 10, NAME_MAX_BYTES = 128 };

/* --- Nodes that are removed --- */

static bool is_ending(const struct store_object *object)
{
    yyjson_doc *doc = yyjson_read(object->body, object->body_len, 0);
    bool result = yyjson_obj_get(yyjson_obj_get(yyjson_doc_get_root(doc), "metadata"), "deletionTimestamp") != NULL;

    yyjson_doc_free(doc);
    return result;
}

static void cut_off(struct machines *machines, const char *node)
{
    char name[NAME_MAX_BYTES];

    (void)snprintf(name, sizeof name, NODE_USER_PREFIX "%s", node);
    for (size_t i = 0; i < machines->server->listener_count; i++)
        http_server_disconnect(machines->server->listeners[i], name);
}

static void on_change(void *arg)
{
    struct machines *machines = arg;
    const struct store_change *change = NULL;

    while (store_next_change(machines->server->store, machines->number, &machines->position, &change) > 0) {
        if (change->is_removal || is_ending(change->after))
            cut_off(machines, change->after->name);
    }
}

struct machines *machines_open(struct server *server, struct certificate *authority, nsec_t lifetime)
{
    struct machines *machines = xcalloc(1, sizeof *machines);

    machines->server = server;
    machines->authority = *authority;
    *authority = (struct certificate){0};
    machines->lifetime = lifetime;
    machines->number = resource_number(server, builtin_kind_find("", "v1", "nodes"));
    BUG_ON(store_position(server->store, store_version(server->store), &machines->position) < 0);
    store_follow(server->store, &machines->follower, machines->number, on_change, machines);
    return machines;
}

void machines_stop(struct machines *machines)
{
    if (!machines)
        return;
    relays_stop(machines);
    store_unfollow(machines->server->store, &machines->follower);
}

void machines_free(struct machines *machines)
{
    if (!machines)
        return;
    certificate_done(&machines->authority);
    join_tokens_done(&machines->tokens);
    free(machines);
}

/* --- Identities --- */

static const char *uid_of(const struct http_peer *peer)
{
    bool is_node = false;
    const char *uid = NULL;

    for (size_t i = 0; i < peer->group_count; i++) {
        is_node |= strcmp(peer->groups[i], GROUP_NODES) == 0;
        if (strncmp(peer->groups[i], NODE_UID_PREFIX, strlen(NODE_UID_PREFIX)) == 0)
            uid = peer->groups[i] + strlen(NODE_UID_PREFIX);
    }
    return is_node ? uid : NULL;
}

/* Whether the Node object is the one that the certificate was made for, and is to stay. */
static bool is_member(struct machines *machines, const char *node, const char *uid)
{
    const struct store_object *object = store_latest(machines->server->store, machines->number, "", node);
    yyjson_doc *doc = object ? yyjson_read(object->body, object->body_len, 0) : NULL;
    yyjson_val *root = yyjson_doc_get_root(doc);
    bool result = doc && strcmp(kube_text(root, "metadata", "uid"), uid) == 0 &&
                  !*kube_text(root, "metadata", "deletionTimestamp");

    yyjson_doc_free(doc);
    return result;
}

int machines_identify(struct machines *machines, const struct http_peer *peer, struct identity **ret_identity)
{
    const char *uid = uid_of(peer);
    size_t len = strlen(NODE_USER_PREFIX);

    if (!machines || !uid || strncmp(peer->name, NODE_USER_PREFIX, len) != 0 ||
        !is_member(machines, peer->name + len, uid))
        return -ENOKEY;
    struct identity *identity = identity_new(peer->name, (uint32_t)geteuid());

    identity->node = xstrdup(peer->name + len);
    identity->is_owned_by_admin = true;
    identity_add_group(identity, GROUP_NODES);
    identity_add_group(identity, GROUP_ALL);
    *ret_identity = identity;
    return 0;
}

/* --- Tokens --- */

/* The body may have a shorter time than an hour: {"seconds": 60}. */
void serve_node_token(void *arg, struct http_exchange *exchange)
{
    struct server *server = arg;
    struct machines *machines = server->machines;
    char secret[JOIN_SECRET_MAX], fingerprint[CERTIFICATE_FINGERPRINT_MAX];
    size_t len = 0;
    const char *body = http_exchange_body(exchange, &len);
    yyjson_doc *doc = len > 0 ? yyjson_read(body, len, 0) : NULL;
    yyjson_val *seconds = yyjson_obj_get(yyjson_doc_get_root(doc), "seconds");
    nsec_t lifetime = seconds ? CLAMP(yyjson_get_sint(seconds), 1, 3600) * NSEC_PER_SEC : TOKEN_LIFETIME_MAX;

    yyjson_doc_free(doc);
    if (!machines->authority.cert_pem || certificate_fingerprint(machines->authority.cert_pem, fingerprint) < 0) {
        rest_fail(exchange, -ENOSYS, "this server listens on no port, so no machine can join it");
        return;
    }
    if (join_tokens_make(&machines->tokens, nsec_now_boot(), lifetime, secret) < 0) {
        rest_fail(exchange, -EUSERS, "too many tokens are waiting to be used; try again later");
        return;
    }
    struct strbuf text;

    strbuf_init(&text, ANSWER_MAX);
    strbuf_addf(&text, "{\"token\":\"%s.%s\",\"address\":", secret, fingerprint);
    json_add_string(&text, server->address);
    strbuf_addf(&text, ",\"port\":%u,\"seconds\":%lld}", (unsigned)server->port, (long long)(lifetime / NSEC_PER_SEC));
    http_reply(exchange, 200, "application/json", text.text, text.len);
    explicit_bzero(text.text, text.len);
    strbuf_done(&text);
}

/* --- Certificates --- */

static int issue(struct machines *machines, const char *node, const char *uid, const char *request_pem, char **ret_pem,
                 struct err *err)
{
    char name[NAME_MAX_BYTES], group[NAME_MAX_BYTES];
    const char *organisations[] = {GROUP_NODES, group};
    nsec_t now = nsec_now_wall();

    (void)snprintf(name, sizeof name, NODE_USER_PREFIX "%s", node);
    (void)snprintf(group, sizeof group, NODE_UID_PREFIX "%s", uid);
    return certificate_issue_client(&machines->authority,
                                    &(struct certificate_client){
                                        .common_name = name,
                                        .organisations = organisations,
                                        .organisation_count = ARRAY_LEN(organisations),
                                        .not_before = now - CLOCK_SKEW,
                                        .not_after = now + machines->lifetime,
                                    },
                                    request_pem, ret_pem, err);
}

/* Whose pods have no annotation of a user: those of the owner of this server. */
static void answer_certificate(struct machines *machines, struct http_exchange *exchange, const char *pem)
{
    const struct user *owner = rights_user(machines->server->rights, (uint32_t)geteuid());
    struct strbuf text;

    strbuf_init(&text, ANSWER_MAX);
    strbuf_addstr(&text, "{\"certificate\":");
    json_add_string(&text, pem);
    strbuf_addf(&text, ",\"owner\":{\"uid\":%u,\"name\":", (unsigned)geteuid());
    json_add_string(&text, owner->name);
    strbuf_addstr(&text, "}}");
    http_reply(exchange, 200, "application/json", text.text, text.len);
    strbuf_done(&text);
}

struct joining {
    struct machines *machines;
    struct http_exchange *exchange;
    char *certificate;
};

static void on_made(void *arg, int result, const struct store_object *object, const struct err *err)
{
    struct joining *joining = arg;

    if (result < 0) {
        rest_fail(joining->exchange, result, "%s", err->text);
    } else {
        log_info(joining->machines->server->log, "a machine has joined", log_str("node", object->name));
        answer_certificate(joining->machines, joining->exchange, joining->certificate);
    }
    free(joining->certificate);
    free(joining);
}

static yyjson_mut_doc *node_doc(const struct api_kind *kind, const char *name)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, root, "metadata");

    (void)yyjson_mut_obj_add_strcpy(doc, meta, "name", name);
    (void)yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, meta, "annotations"), KEY_JOINED, "true");
    (void)yyjson_mut_arr_add_str(doc, yyjson_mut_obj_add_arr(doc, meta, "finalizers"), LEASE_FINALIZER);
    (void)yyjson_mut_obj_add_obj(doc, root, "spec");
    (void)yyjson_mut_obj_add_obj(doc, root, "status");
    meta_stamp_new(doc, kind, nsec_now_wall());
    return doc;
}

/* All is checked before the token is used up, and a token is used up before anything is written. */
static void join(struct machines *machines, struct http_exchange *exchange, const char *token, const char *name,
                 const char *request_pem)
{
    struct joining *joining = xcalloc(1, sizeof *joining);
    yyjson_mut_doc *doc = node_doc(builtin_kind_find("", "v1", "nodes"), name);
    struct err err = {0};
    int r = 0;

    if (store_latest(machines->server->store, machines->number, "", name))
        r = err_set(&err, -EEXIST,
                    "node '%s' exists: remove it with 'muster node remove %s', or join under another name with --name",
                    name, name);
    if (r == 0)
        r = issue(machines, name, meta_text(doc, "uid"), request_pem, &joining->certificate, &err);
    if (r == 0 && join_tokens_take(&machines->tokens, nsec_now_boot(), token) < 0)
        r = err_set(&err, -ENOKEY, "the token is unknown, used or expired: 'muster node token' prints a new one");
    if (r < 0) {
        rest_fail(exchange, r, "%s", err.text);
        free(joining->certificate);
        free(joining);
    } else {
        joining->machines = machines;
        joining->exchange = exchange;
        write_doc(machines->server, &(struct write){.kind = machines->number, .namespace = "", .name = name}, doc,
                  on_made, joining);
    }
    yyjson_mut_doc_free(doc);
}

static const char *member(yyjson_doc *doc, const char *name)
{
    const char *text = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), name));

    return text ? text : "";
}

void serve_join(void *arg, struct http_exchange *exchange)
{
    struct server *server = arg;
    size_t len = 0;
    const char *body = http_exchange_body(exchange, &len);
    yyjson_doc *doc = yyjson_read(body, len, 0);
    const char *name = member(doc, "name");
    const struct http_peer *peer = http_exchange_peer(exchange);

    if (!peer || !peer->is_tls || !server->machines->authority.cert_pem)
        rest_fail(exchange, -EACCES, "machines can join over TLS only");
    else if (!name_is_subdomain(name) || strlen(name) > JOINED_NAME_MAX)
        rest_fail(exchange, -EINVAL,
                  "'%.100s' is not a name for a node: lower case letters, digits, '-' and '.', at most %d of them",
                  name, JOINED_NAME_MAX);
    else
        join(server->machines, exchange, member(doc, "token"), name, member(doc, "request"));
    yyjson_doc_free(doc);
}

void serve_node_certificate(void *arg, struct http_exchange *exchange)
{
    struct server *server = arg;
    const struct http_peer *peer = http_exchange_peer(exchange);
    size_t len = 0;
    const char *body = http_exchange_body(exchange, &len);
    yyjson_doc *doc = yyjson_read(body, len, 0);
    _cleanup_(freep) char *pem = NULL;
    struct err err = {0};

    /* The guard has identified it; it may have gone meanwhile. */
    const char *uid = peer && peer->name ? uid_of(peer) : NULL;
    int r =
        uid ? issue(server->machines, peer->name + strlen(NODE_USER_PREFIX), uid, member(doc, "request"), &pem, &err)
            : err_set(&err, -ENOKEY, "Unauthorized");

    if (r < 0)
        rest_fail(exchange, r, "%s", err.text);
    else
        answer_certificate(server->machines, exchange, pem);
    yyjson_doc_free(doc);
}
