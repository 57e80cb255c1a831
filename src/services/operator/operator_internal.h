/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/err.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "frame/service.h"
#include "kube/client/backoff.h"
#include "net/loop.h"
#include "services/operator/desired.h"

struct follower;
struct kube_modify;
struct hosted_service;

/*
 *     watches.c    what is followed, and what is kept of it
 *     owned.c    objects that are there or should be
 *     writes.c     makes one object as it should be
 *     reconcile.c  compares all of it and starts what has to be done
 *     status.c     conditions of the Config and of shards
 *     install.c    CRDs, and the Config that the chart brings
 *     hosting.c    runs the services in this process instead
 */

#define CONFIG_NAME "kai-config"

struct operator_flags {
    const char *namespace;
    const char *values_name;  // of the ConfigMap with the Config to apply; NULL: there is no such flag
    bool applies_crds;
    bool has_starter;  // of the controller
};

enum { UID_MAX = 64 };

/* An object that is there, or should be, or both. */
struct owned {
    enum owned_kind kind;
    char *namespace;
    char *name;

    bool is_there;
    char uid[UID_MAX];
    char owner[UID_MAX];  // UID of what controls it
    uint64_t seen;        // digest
    uint64_t version;     // of what was seen
    bool is_available;    // of Deployments and the like; true for others
    nsec_t switched_off;  // of a Prometheus, see prometheus_seen; 0: it is not
    nsec_t retention;

    const struct source *source;  // whose it should be; NULL: it should not be there
    size_t operand;
    yyjson_mut_val *object;  // as it should be; borrowed from the source
    uint64_t wanted;         // digest of it

    uint64_t done_wanted, done_seen;  // digests after the last write
    struct write *write;              // that is under way
    struct hosted_service *hosted;    // that runs in this process; NULL: none
    struct backoff backoff;
    nsec_t due;      // not written before that, after a failure
    struct err err;  // of the last write; code 0: it went well
};

/* The Config, or a SchedulingShard. */
struct source {
    struct operator* operator;
    bool is_config;
    bool is_assumed;  // there is no such object
    char *name;
    char uid[UID_MAX];
    int64_t generation;
    yyjson_doc *doc;  // the object
    struct desired desired;
    struct err err;  // why nothing is desired; code 0: all is well
    struct kube_call *status_call;
    uint64_t status_sent;  // digest of the conditions that were last written
};

struct pod_place {
    char *name;
    char uid[UID_MAX];
    char address[64];
    bool is_going;
};

struct lease_holder {
    char *name;
    char holder[256];
};

struct operator
{
    struct service *service;
    const struct operator_flags *flags;
    struct surroundings around;
    struct strmap owned[_OWNED_KIND_MAX];

    struct source *config;        // NULL: there is none
    VEC(struct source *) shards;  // by name
    struct strmap pods, leases;   // struct pod_place *, struct lease_holder *
    VEC(char *) cdi_policies;     // names of ClusterPolicies that use CDI
    size_t fake_nodes;

    struct follower *configs, *shard_follower, *crds, *nodes, *policies, *values, *pod_follower, *lease_follower;
    struct follower *kinds[_OWNED_KIND_MAX];
    struct follower *reservation_accounts, *scaling_accounts;
    char *reservation_namespace, *scaling_namespace;

    bool is_hosting;  // the services run in this process
    struct install *install;
    struct loop_timer timer;  // the next look
    struct loop_timer later;  // when something that failed is due
    bool is_stopping;
    struct meter_series *writes, *failures;
};

/* Looks at everything again, soon. */
void operator_wake(struct operator* operator);

/* watches.c */
void watches_begin(struct operator* operator);
/* Nothing is desired by it any more; frees it. */
void forget_source(struct operator* operator, struct source * source);
struct source *source_new(struct operator* operator, const char * name, const char *uid, yyjson_val *object,
                          bool is_config);
void watches_end(struct operator* operator);
bool watches_are_synced(const struct operator* operator);
/* Follows what the Config makes necessary. */
void watches_adapt(struct operator* operator);

/* owned.c */
struct owned *owned_get(struct operator* operator, enum owned_kind kind, const char *namespace, const char *name);
struct owned *owned_find(const struct operator* operator, enum owned_kind kind, const char *namespace,
                         const char *name);
void owned_see(struct owned *owned, yyjson_val *object);
/* The same of the answer to a write, which the watch may have overtaken. */
void owned_see_answer(struct owned *owned, yyjson_val *object);
void owned_gone(struct owned *owned);
void owned_free_all(struct operator* operator);

/* writes.c */
void owned_write(struct operator* operator, struct owned * owned);
void owned_remove(struct operator* operator, struct owned * owned);
void owned_write_cancel(struct owned *owned);

/* reconcile.c */
void operator_reconcile(void *arg);

/* status.c */
void operator_report(struct operator* operator, struct source * source, bool is_busy);

/* hosting.c */
/* Without a Config all has its defaults, and without shards as well there is one. */
void hosting_assume(struct operator* operator);
/* What a service is told; the rest of its Deployment has no meaning here. */
yyjson_mut_val *hosting_args(yyjson_mut_val *deployment);
/* Starts the service, or ends it, or ends it to start it anew. */
void hosting_settle(struct operator* operator, struct owned * owned);
void hosting_free(struct owned *owned);

/* install.c */
struct install *install_new(struct operator* operator);
void install_free(struct install *install);
bool install_is_done(const struct install *install);
/* The Config may have to be written again. */
void install_check(struct install *install);
/* The ConfigMap that the chart brings; NULL: it is gone. */
void install_values(struct install *install, yyjson_val *config_map);

void source_free(struct source *source);
