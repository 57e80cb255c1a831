/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "frame/service.h"
#include "kube/client/backoff.h"
#include "net/loop.h"
#include "net/rest/rest.h"
#include "services/admission/keyring.h"
#include "services/admission/rules.h"

struct follower;
struct http_server;
struct kube_call;
struct admission;

enum { HOOKS = 4, DNS_NAMES = 3, DNS_NAME_MAX = 160 };

struct admission_flags {
    const char *scheduler_name;
    const char *hook_names[HOOKS];  // of the configurations, in the order of hooks.c
    const char *address;            // a port, or "host:port"
    const char *namespace;
    const char *service_name;
    const char *secret_name;
    bool shares_gpus;
    bool limits_memory;
    bool blocks_devices;
    const char *runtime_class;
    const char *old_runtime_class;
    nsec_t server_lifetime;
    nsec_t authority_lifetime;
};

/* A webhook configuration, whose caBundle we keep. */
struct hook {
    struct admission *admission;
    const struct kube_resource *resource;
    const char *name;
    struct follower *follower;
    yyjson_doc *seen;  // as it was last seen; NULL: it is not there
    struct kube_call *call;
    struct backoff backoff;
    nsec_t not_before;  // monotonic: when the next write may be tried
    struct loop_timer timer;
};

/* Which certificates there are: the Secret, and what is done about it. */
struct vault {
    struct follower *follower;
    yyjson_doc *seen;  // the Secret; NULL: it is not there
    struct keyring keyring;
    struct kube_call *call;
    struct backoff backoff;
    nsec_t not_before;
    struct loop_task task;
    struct loop_timer timer;
    char *served_pem;  // the certificate that the server has
    char names[DNS_NAMES][DNS_NAME_MAX];
    const char *name_list[DNS_NAMES];
};

struct admission {
    struct service *service;
    const struct admission_flags *flags;
    const char *namespace;
    struct admission_rules rules;
    struct vault vault;
    struct hook hooks[HOOKS];
    struct http_server *server;
    struct loop_timer linger;  // from the signal to the end of the server
    struct meter *reviews;     // by webhook and outcome
    struct meter_series *rotations;
    struct meter *days_left;
    bool is_stopping;
};

/* Starts and ends the following of the Secret and the configurations. */
void vault_start(struct admission *admission);
void vault_done(struct admission *admission);
void hooks_start(struct admission *admission);
void hooks_done(struct admission *admission);

/* Looks again at what has to be written. */
void vault_look(struct admission *admission);
void hooks_look(struct admission *admission);

/* Whether the authority to come is in every configuration that there is. */
bool hooks_have_next(const struct admission *admission);

/* The keyring has a certificate to serve with: starts the server, or has it use the certificate. */
void server_use(struct admission *admission, const struct certificate *certificate);

/* A copy of the object as a document of its own; NULL for none. */
yyjson_doc *object_keep(yyjson_val *object);
