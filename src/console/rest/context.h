/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/strmap.h"
#include "console/identity/access.h"
#include "console/identity/tokens.h"
#include "console/org/place.h"
#include "console/outside/reach.h"
#include "net/rest/rest.h"
#include "text/json.h"

struct db;
struct change_feed;
struct delivery;
struct expiry;
struct http_client;
struct live;
struct service;
struct streams;
struct sync;
struct vault;
struct workload_watch;

/* What the parts of a console share. */
struct console_flags {
    const char *listen;
    const char *database;
    const char *audit_head;
    const char *tls_cert;
    const char *tls_key;
    const char *cluster_name;
    const char *url;
    const char *secrets_key;
    const char *allow_networks;
};

struct console {
    struct service *service;
    const struct console_flags *flags;
    struct db *db;
    struct http_server *server;
    struct rest_route *rows;  // all of them
    struct sync *sync;
    struct workload_watch *workloads;
    struct expiry *expiry;      // workloads that have ended, and are deleted later
    struct change_feed *feed;   // of changes, by all consoles of the database
    struct streams *streams;    // who listens to them
    struct live *live;          // the cluster as it is now, for the pages
    struct vault *vault;        // secrets of assets
    struct delivery *delivery;  // of notices
    unsigned char token_key[TOKEN_KEY_BYTES];
    char cluster_id[UUID_TEXT_MAX];
    char cluster_since[TIME_TEXT_MAX];
    char process[UUID_TEXT_MAX];  // this one, among all consoles of the database
    char *head_path;
    struct reach reach;           // of addresses that users gave
    struct http_client *outside;  // calls them
    struct strmap providers;      // what identity providers have published, by name; sso.c's
    struct strmap guests;         // limits of those who have not signed in, by address
    size_t guest_count;
    bool is_stopping;
    uint32_t works;  // passwords that are being looked at
};

/* There is one tenant. */
enum { TENANT_ID = 1 };
#define TENANT_ID_TEXT "1"

/* Who sends a request. */
struct caller {
    char id[UUID_TEXT_MAX];
    char name[256];
    bool is_user;
    bool must_change_password;
    char grant[SECRET_TEXT_MAX];  // that is used: to sign out
    char csrf[SECRET_TEXT_MAX];   // of a session; "": it is none
    struct access access;
};

/* Roles of routes that are no permission. */
#define ROLE_ANYONE "anyone"  // the sign-in itself; few requests a second from one address
#define ROLE_SELF "self"      // whoever has signed in, about itself
#define ROLE_PAGE "page"      // anybody: files of the page, which cost nothing

/* One request on its way to an answer. Handlers fill in the second part. */
struct request {
    struct console *console;
    struct http_exchange *exchange;
    const struct caller *caller;  // NULL: a guest
    struct json_at body;          // of a write; without a value when there is none
    yyjson_mut_doc *doc;          // of the answer

    int status;              // 200 unless set
    yyjson_mut_val *answer;  // NULL: none
    const char *action;      // of the audit: "create", ...; NULL: nothing has changed
    const char *type;        // of the thing that was changed
    char name[256];
    char id[UUID_TEXT_MAX];
    struct place place;     // what the thing belongs to; the tenant unless set
    bool is_private;        // only the caller may see it
    const char *sync_kind;  // an item that the cluster has to follow, with `id`
    bool syncs_all;         // all other items follow from it
    bool is_yaml;           // the answer is written as YAML
};

/* What a route does: returns 0, or a negative errno with a text for the answer. A change runs in a transaction. */
typedef int (*serve_fn)(struct request *request, struct err *err);

/* A request whose answer comes later, by request_reply(); `names` as below. -ENOSYS names a parameter of the query that is not
 * known; the request has to be answered all the same. */
MUST_CHECK int serve_begin(struct console *console, struct http_exchange *exchange, const char *const *names,
                           struct request *ret_request, struct err *err);

void serve_read(struct console *console, struct http_exchange *exchange, serve_fn fn);
/* With parameters of the query, up to NULL, that this reading knows besides those of all lists. */
void serve_read_by(struct console *console, struct http_exchange *exchange, serve_fn fn, const char *const *names);
void serve_change(struct console *console, struct http_exchange *exchange, serve_fn fn);
/* The body is YAML, of which JSON is a part. */
void serve_change_yaml(struct console *console, struct http_exchange *exchange, serve_fn fn);
#define YAML_TYPE "application/yaml"

/* Handlers of routes, from functions that fill in a request. */
#define READS(name, fn)                                  \
    void name(void *arg, struct http_exchange *exchange) \
    {                                                    \
        serve_read(arg, exchange, fn);                   \
    }
#define READS_BY(name, fn, names)                        \
    void name(void *arg, struct http_exchange *exchange) \
    {                                                    \
        serve_read_by(arg, exchange, fn, names);         \
    }
#define CHANGES_YAML(name, fn)                           \
    void name(void *arg, struct http_exchange *exchange) \
    {                                                    \
        serve_change_yaml(arg, exchange, fn);            \
    }
#define CHANGES(name, fn)                                \
    void name(void *arg, struct http_exchange *exchange) \
    {                                                    \
        serve_change(arg, exchange, fn);                 \
    }

/* The entry of a request in the audit log, in the transaction that is under way. */
MUST_CHECK int request_audit(struct request *request, struct err *err);

/* Commits, writes the head of the audit log, and lets everyone follow who follows changes. */
MUST_CHECK int request_commit(struct request *request, struct err *err);

/* Answers by the request's `status` and `answer`, or by `err` when `r` is negative. */
void request_reply(struct request *request, int r, const struct err *err);

/* Names of members: the texts are copied. */
void put_text(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, const char *text);
void put_now(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key);

/* A copy of an item as a value of the answer. */
yyjson_mut_val *copy_item(yyjson_mut_doc *doc, yyjson_val *item);

/* Who may send what; a rest_allow_fn. */
int console_allows(void *arg, struct http_exchange *exchange, const struct rest_route *route, struct err *err);

/* Reads again what a caller may do; -ENOKEY when its token or session has ended. */
MUST_CHECK int caller_refresh(struct console *console, struct caller *caller, struct err *err);

/* The value of a cookie that has the length of a secret at most. */
bool find_cookie(const struct http_exchange *exchange, const char *name, char value[static SECRET_TEXT_MAX]);

/* How browsers reach the console, without a slash at the end. */
void console_url(const struct console *console, char *url, size_t size);

/* Forgets all that identity providers have published. */
void sso_free_all(struct console *console);

/* Whether browsers reach the console by TLS, its own or that of a proxy which `url` names. */
bool console_is_secure(const struct console *console);

/* The name of the session's cookie. With the prefix, a browser takes it from this host alone, and by TLS. */
const char *session_cookie(const struct console *console);
