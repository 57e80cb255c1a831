/* SPDX-License-Identifier: Apache-2.0 */
#include "local/rights/rights.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/owner_keys.h"
#include "local/machines/machines.h"
#include "local/rights/account_tokens.h"
#include "local/rights/bootstrap.h"
#include "local/rights/identity.h"
#include "local/rights/policies.h"
#include "local/rights/users.h"
#include "local/server/files.h"
#include "local/server/request.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"
#include "net/http_server.h"

enum { ROOT_UID = 0, EXPLAIN_MAX = 4096 };

static const char *const policy_plurals[POLICY_KINDS] = {
    [POLICY_CLUSTER_ROLES] = "clusterroles",
    [POLICY_ROLES] = "roles",
    [POLICY_CLUSTER_BINDINGS] = "clusterrolebindings",
    [POLICY_BINDINGS] = "rolebindings",
};

struct following {
    struct rights *rights;
    enum policy_kind kind;
    uint32_t number;
    struct store_follower follower;
    uint64_t position;
};

struct known_user {
    struct identity *identity;
    nsec_t read;  // of the user that it was made from
};

struct rights {
    struct server *server;
    struct policies policies;
    struct following following[POLICY_KINDS];
    struct users users;
    VEC(struct known_user) known;
    struct token_key key;
};

/* --- Roles and bindings, as the store has them --- */

static void put(struct following *following, const struct store_object *object)
{
    yyjson_doc *doc = yyjson_read(object->body, object->body_len, 0);

    BUG_ON(!doc);
    policies_put(&following->rights->policies, following->kind, object->namespace, object->name, doc);
}

static void read_all(struct following *following)
{
    struct store *store = following->rights->server->store;
    const struct store_object *object;
    struct store_cursor cursor;

    store_cursor_init(&cursor, store, following->number, "", "");
    while ((object = store_cursor_next(&cursor)))
        put(following, object);
    store_cursor_done(&cursor);
    BUG_ON(store_position(store, store_version(store), &following->position) < 0);
}

static void on_change(void *arg)
{
    struct following *following = arg;
    const struct store_change *change = NULL;

    while (store_next_change(following->rights->server->store, following->number, &following->position, &change) > 0) {
        if (change->is_removal)
            policies_drop(&following->rights->policies, following->kind, change->after->namespace, change->after->name);
        else
            put(following, change->after);
    }
}

int rights_open(struct server *server, struct rights **ret_rights, struct err *err)
{
    _cleanup_(freep) char *path = file_path(server->folder, "tokens.key");
    struct rights *rights = xcalloc(1, sizeof *rights);
    int r = token_key_open(path, &rights->key, err);

    if (r < 0) {
        free(rights);
        return r;
    }
    rights->server = server;
    for (size_t i = 0; i < POLICY_KINDS; i++) {
        struct following *following = &rights->following[i];

        following->rights = rights;
        following->kind = (enum policy_kind)i;
        following->number =
            resource_number(server, builtin_kind_find("rbac.authorization.k8s.io", "v1", policy_plurals[i]));
        read_all(following);
        store_follow(server->store, &following->follower, following->number, on_change, following);
    }
    bootstrap_roles(server, &rights->policies);
    *ret_rights = rights;
    return 0;
}

void rights_stop(struct rights *rights)
{
    for (size_t i = 0; rights && i < POLICY_KINDS; i++)
        store_unfollow(rights->server->store, &rights->following[i].follower);
}

void rights_free(struct rights *rights)
{
    if (!rights)
        return;
    vec_foreach (&rights->known, known)
        identity_unref(known->identity);
    vec_done(&rights->known);
    users_done(&rights->users);
    policies_done(&rights->policies);
    explicit_bzero(&rights->key, sizeof rights->key);
    free(rights);
}

/* Only root can run pods as their users. */
bool rights_serve_all(const struct rights *rights)
{
    (void)rights;
    return geteuid() == ROOT_UID;
}

const struct policies *rights_policies(const struct rights *rights)
{
    return &rights->policies;
}

/* --- Identities --- */

bool rights_is_admin(uint32_t uid)
{
    return uid == geteuid() || uid == ROOT_UID;
}

const struct user *rights_user(struct rights *rights, uint32_t uid)
{
    return users_get(&rights->users, uid, nsec_now_monotonic());
}

const char *rights_own_namespace(struct rights *rights, const struct identity *identity,
                                 char name[static OWN_NAMESPACE_MAX])
{
    if (identity->account)
        (void)snprintf(name, OWN_NAMESPACE_MAX, "%s", identity->account_namespace);
    else if (identity->is_admin)
        (void)snprintf(name, OWN_NAMESPACE_MAX, "default");
    else
        (void)home_name(rights_user(rights, identity->owner), name);
    return name;
}

static struct identity *make_user(const struct user *user)
{
    struct identity *identity = identity_new(user->name, user->uid);

    identity->is_admin = identity->is_owned_by_admin = rights_is_admin(user->uid);
    if (identity->is_admin)
        identity_add_group(identity, GROUP_ADMINS);
    identity_add_group(identity, GROUP_USERS);
    identity_add_group(identity, GROUP_ALL);
    vec_foreach (&user->groups, group)
        identity_add_group(identity, *group);
    return identity;
}

static struct identity *identity_of_user(struct rights *rights, uint32_t uid)
{
    const struct user *user = rights_user(rights, uid);
    struct known_user *found = NULL;

    vec_foreach (&rights->known, known) {
        if (known->identity->owner == uid)
            found = known;
    }
    if (!rights_is_admin(uid) && rights_serve_all(rights))
        bootstrap_home(rights->server, &rights->policies, user);
    if (found && found->read == user->read)
        return identity_ref(found->identity);
    if (!found) {
        vec_push(&rights->known, (struct known_user){0});
        found = &rights->known.items[rights->known.len - 1];
    }
    identity_unref(found->identity);
    *found = (struct known_user){.identity = make_user(user), .read = user->read};
    return identity_ref(found->identity);
}

/* An object that a token speaks of, when it is still the same. NULL otherwise; the caller frees it. */
static yyjson_doc *object_of_token(struct rights *rights, const char *plural, const char *namespace, const char *name,
                                   const char *uid)
{
    struct server *server = rights->server;
    const struct store_object *object =
        store_latest(server->store, resource_number(server, builtin_kind_find("", "v1", plural)), namespace, name);
    yyjson_doc *doc = object ? yyjson_read(object->body, object->body_len, 0) : NULL;
    yyjson_val *own = yyjson_obj_get(yyjson_obj_get(yyjson_doc_get_root(doc), "metadata"), "uid");

    if (doc && yyjson_equals_str(own, uid))
        return doc;
    yyjson_doc_free(doc);
    return NULL;
}

/* The user whom an account acts for: the one of the pod that it is bound to, or the one who has made the account. */
static int owner_of_claims(struct rights *rights, const struct account_claims *claims, uint32_t *ret_owner)
{
    yyjson_doc *account = object_of_token(rights, "serviceaccounts", claims->namespace, claims->name, claims->uid);
    yyjson_doc *pod = account && claims->pod
                          ? object_of_token(rights, "pods", claims->namespace, claims->pod, claims->pod_uid)
                          : NULL;
    yyjson_doc *whose = claims->pod ? pod : account;
    int r = whose ? owner_uid(yyjson_doc_get_root(whose), geteuid(), ret_owner, NULL) : -ENOKEY;

    yyjson_doc_free(account);
    yyjson_doc_free(pod);
    return r < 0 ? -ENOKEY : 0;
}

static int identity_of_claims(struct rights *rights, const struct account_claims *claims,
                              struct identity **ret_identity)
{
    struct identity *identity;
    struct strbuf text;
    uint32_t owner = 0;

    if (owner_of_claims(rights, claims, &owner) < 0)
        return -ENOKEY;
    strbuf_init(&text, EXPLAIN_MAX);
    strbuf_addf(&text, ACCOUNT_PREFIX "%s:%s", claims->namespace, claims->name);
    identity = identity_new(text.text, owner);
    identity_set_account(identity, claims->namespace, claims->name, claims->uid);
    identity->is_owned_by_admin = rights_is_admin(owner);
    identity->pod = claims->pod ? xstrdup(claims->pod) : NULL;
    identity->pod_uid = claims->pod_uid ? xstrdup(claims->pod_uid) : NULL;
    identity_add_group(identity, GROUP_ACCOUNTS);
    strbuf_clear(&text);
    strbuf_addf(&text, GROUP_ACCOUNTS ":%s", claims->namespace);
    identity_add_group(identity, text.text);
    identity_add_group(identity, GROUP_ALL);
    strbuf_done(&text);
    *ret_identity = identity;
    return 0;
}

int rights_read_token(struct rights *rights, const char *token, struct identity **ret_identity,
                      struct account_claims *ret_claims)
{
    struct account_claims claims = {0};
    uid_t uid = 0;
    int r;

    if (tokens_find(&rights->server->tokens, token, nsec_now_wall(), &uid) == 0) {
        *ret_identity = identity_of_user(rights, uid);
        return 0;
    }
    r = account_token_read(&rights->key, token, nsec_now_wall(), &claims);
    if (r == 0)
        r = identity_of_claims(rights, &claims, ret_identity);
    if (r == 0 && ret_claims)
        *ret_claims = claims;
    else
        account_claims_done(&claims);
    return r;
}

char *rights_make_token(const struct rights *rights, const struct account_claims *claims)
{
    return account_token_make(&rights->key, claims);
}

/* A token for others, such as another service that checks it by a TokenReview, does not open this server. */
static bool is_for_us(const struct account_claims *claims)
{
    if (!claims->name)
        return true;
    vec_foreach (&claims->audiences, audience) {
        if (strcmp(*audience, ACCOUNT_TOKEN_AUDIENCE) == 0)
            return true;
    }
    return false;
}

int rights_identify(struct rights *rights, struct http_exchange *exchange, struct identity **ret_identity)
{
    static const char scheme[] = "Bearer ";
    const struct http_peer *peer = http_exchange_peer(exchange);
    const char *header = http_exchange_header(exchange, "Authorization");
    struct account_claims claims = {0};

    /* A token that comes over the socket is meant: the process may act for an account there as well. */
    if (!header && peer && peer->has_credentials) {
        *ret_identity = identity_of_user(rights, peer->uid);
        return 0;
    }
    if (!header && peer && peer->name)
        return machines_identify(rights->server->machines, peer, ret_identity);
    if (!header || strncasecmp(header, scheme, strlen(scheme)) != 0 ||
        rights_read_token(rights, header + strlen(scheme), ret_identity, &claims) < 0)
        return -ENOKEY;
    bool is_good = is_for_us(&claims);

    account_claims_done(&claims);
    if (is_good)
        return 0;
    identity_unref(TAKE_PTR(*ret_identity));
    return -ENOKEY;
}

/* --- Rights --- */

bool rights_allow(const struct rights *rights, const struct identity *identity, const struct rights_question *question)
{
    return identity->is_admin || policies_allow(&rights->policies, identity, question);
}

void rights_explain(struct strbuf *text, const struct identity *identity, const struct rights_question *question)
{
    strbuf_addf(text, "User \"%s\" cannot %s ", identity->name, question->verb);
    if (!question->resource) {
        strbuf_addf(text, "path \"%s\"", question->path);
        return;
    }
    strbuf_addf(text, "resource \"%s%s%s\" in API group \"%s\"", question->resource, *question->subresource ? "/" : "",
                question->subresource, question->group);
    if (*question->namespace)
        strbuf_addf(text, " in the namespace \"%s\"", question->namespace);
    else
        strbuf_addstr(text, " at the cluster scope");
}
