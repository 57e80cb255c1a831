/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/time.h"
#include "kube/client/chance.h"
#include "kube/client/resource.h"

struct kube_config;
struct list;
struct loop;

/*
 * A client of one API server. Requests wait their turn: no more of them than `in_flight_max` are under way at once, and
 * they start at `qps` a second after a first `burst`. Tokens are renewed as needed, and a request that the server asks
 * to make again is made again.
 */
struct kube_client;
struct kube_call;

struct kube_client_options {
    double qps;  // 0: no limit
    double burst;
    uint32_t in_flight_max;  // 0: 64; watches do not count
    nsec_t timeout;          // of one try; 0: 30 s
    const char *user_agent;  // NULL: "muster"
    bool accepts_gzip;       // of large answers: less to carry, more work for the server
    bool shares_watches;     // all who follow a kind share one watch (kube/follow)
    uint64_t seed;           // of jitter; 0: one of the system's
};

/* Takes ownership of `config`. Requests that are under way when the client is freed end without a call back; lists,
 * watches and all else that is built on it in this folder is ended before. */
struct kube_client *kube_client_new(struct loop *loop, struct kube_config *config,
                                    const struct kube_client_options *options);
void kube_client_free(struct kube_client *client);

/*
 * For a service whose right to act ends at some moment: `may_write` is asked right before a write leaves, those of Leases
 * apart. One that may not is unsent, like one without a connection. A process that stood still, and goes on when others act
 * already, then does not send what it had decided before.
 */
void kube_client_guard(struct kube_client *client, bool (*may_write)(void *arg), void *arg);

struct loop *kube_client_loop(const struct kube_client *client);
const struct kube_config *kube_client_config(const struct kube_client *client);
struct chance *kube_client_chance(struct kube_client *client);

/* The watches that are shared, which are kube/follow's; NULL: none are. */
struct list *kube_client_feeds(struct kube_client *client);

/* For metrics: requests that wait for their turn or for another try, and those under way. */
size_t kube_client_waiting(const struct kube_client *client);
size_t kube_client_in_flight(const struct kube_client *client);

enum kube_verb {
    KUBE_GET,
    KUBE_LIST,
    KUBE_WATCH,
    KUBE_CREATE,
    KUBE_UPDATE,
    KUBE_PATCH_MERGE,      // RFC 7386
    KUBE_PATCH_STRATEGIC,  // Kubernetes' own, which merges lists by key; built-in kinds only
    KUBE_PATCH_JSON,       // RFC 6902
    KUBE_APPLY,            // server-side, with `field_manager`
    KUBE_DELETE,
    KUBE_DELETE_ALL,  // what the selectors match
    _KUBE_VERB_MAX
};

struct kube_answer {
    int status;          // of HTTP; 0 when none came
    struct err err;      // code 0: done. Otherwise what and why, with the verb and the object in the text
    const char *reason;  // of the server's Status: "Conflict", "AlreadyExists", ...; "" where there is none
    bool is_unsent;      // the server cannot have seen it, not in any of its tries
    bool is_unclear;     // of a write that is not known to be done: a try of it may have been, for its answer got lost
    const char *body;    // NUL-terminated; never NULL
    size_t body_len;
    struct kube_call *call;
};

/* The object in a good answer, parsed when it is first asked for; borrowed until the call back returns. For a list
 * that was cut into its items, the rest of it. */
MUST_CHECK int kube_answer_object(const struct kube_answer *answer, yyjson_val **ret_object, struct err *err);

/* Somebody else has changed the object in the meantime: read it anew and decide again. */
bool kube_answer_is_conflict(const struct kube_answer *answer);

/* The version asked for is too old to go on from: list again. */
bool kube_answer_is_expired(const struct kube_answer *answer);

typedef void (*kube_done_fn)(void *arg, const struct kube_answer *answer);

/* One item of a list or event of a watch, as text; NULL when it was too large and is left out. Returns 0, or a negative
 * errno that ends the request. */
typedef int (*kube_item_fn)(void *arg, const char *text, size_t len);

struct kube_request {
    enum kube_verb verb;
    const struct kube_resource *resource;
    const char *path;  // instead of a resource: "/version"
    const char *namespace;
    const char *name;
    const char *subresource;
    const char *body;  // JSON; NULL: none
    size_t body_len;

    /* All of these may be NULL or 0. */
    const char *label_selector;
    const char *field_selector;
    const char *resource_version;
    const char *resource_version_match;
    uint32_t limit;
    const char *continue_token;
    uint32_t timeout_s;  // that the server is told, for watches
    bool wants_bookmarks;
    bool wants_initial_events;
    bool is_metadata_only;      // PartialObjectMetadata instead of the object
    const char *field_manager;  // NULL: the client's user agent where one is needed
    bool is_forced;             // apply: take fields from other managers
    bool is_dry_run;

    bool is_urgent;      // goes before others and past the rate limit: leases
    bool is_repeatable;  // made again also when nobody knows whether it was done. Reading is, always
    uint32_t tries;      // 0: 6; 1: no second one
    nsec_t timeout;      // of one try; 0: the client's; a watch has none unless it is given
    nsec_t idle_timeout;
    size_t body_max;              // 0: 16 MiB
    void (*on_begun)(void *arg);  // the server has begun to answer, and does not refuse; may be NULL
    kube_item_fn on_item;         // of a list or watch: takes the items as they come
    bool is_raw;                  // the answer is no JSON: on_item takes its bytes as they come
    kube_done_fn on_done;
    void *arg;
};

/* Copies what it needs. `on_done` is called exactly once, from the loop, unless the call is cancelled. */
struct kube_call *kube_send(struct kube_client *client, const struct kube_request *request);

/* Ends a call without calling back any more. From anywhere but its own `on_done`. The server may have done it
 * already. */
void kube_cancel(struct kube_call *call);

/* Whether the server may have done what a call that is under way asks for: not when all tries were turned away so far. */
bool kube_call_may_be_done(const struct kube_call *call);

/* A single object of a list or watch may be so large. What etcd takes is smaller than that by far. */
enum { KUBE_ITEM_BYTES_MAX = 16 << 20 };
