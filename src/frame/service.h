/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "base/macros.h"
#include "base/time.h"
#include "frame/flags.h"
#include "frame/process.h"
#include "kube/client/client.h"
#include "kube/events/events.h"
#include "text/metrics.h"

struct service;

/*
 * A service is a part of a process (process.h) that runs until it is told to stop. What it needs of the frame is in its
 * kind: a client of the API server with a recorder of events, and, when asked for, a Lease so that one of several acts.
 * What it does is in the functions of its kind, which are called in this order:
 *
 *     configure   flags are known: check them, name the lease, set addresses
 *     open        loop, client, log, metrics and recorder are there: start to follow objects
 *     lead        from now on we act; at once without leader election
 *     stop        act no more, and call service_stopped() when nothing is under way any more
 *     close       give back everything
 *
 * A follower stays open without leading, with all objects at hand, until the lease is its own. SIGTERM, SIGINT, the loss
 * of the lease and service_fail() all lead to stop. stop comes only after lead, close only after open.
 */
struct service_kind {
    const char *name;  // of the command, and in logs
    const struct flag *flags;
    size_t flag_count;
    size_t values_size;  // of the struct that the flags' values go to
    bool has_api;        // it has a client of the API server, and records events
    bool can_elect;      // it may be one of several replicas, of which one acts; only with an API

    int (*configure)(struct service *service, struct err *err);  // these may be NULL
    int (*open)(struct service *service, struct err *err);       // a failure ends the process; close is not called
    void (*lead)(struct service *service);
    void (*stop)(struct service *service);
    void (*close)(struct service *service);
};

/* What services have flags for beside those of the process. `configure` may change any of it. */
struct service_settings {
    const char *kubeconfig;  // "": $KUBECONFIG, the pod that we are in, ~/.kube/config
    const char *context;
    double qps, burst;
    int64_t in_flight_max;
    bool wants_lease;
    const char *lease_name;       // to be set by configure; NULL: "muster-<name of the service>"
    const char *lease_namespace;  // "": that of the pod or context
    nsec_t lease_duration, lease_renew_deadline, lease_retry_period;
    const char *component;       // who events come from; NULL: the name of the service
    const char *metrics_prefix;  // "muster" unless configure says otherwise
};

/* All but `state` is read only, outside of configure. */
struct service {
    const struct service_kind *kind;
    struct process *process;
    void *values;  // of the kind's flags
    void *state;   // the kind's own
    struct service_settings settings;
    struct process_settings *common;  // of the process; those of a hosted service (host.h) have no effect

    struct loop *loop;           // of the process
    struct kube_client *client;  // NULL for a kind without an API, and so is the recorder
    struct recorder *recorder;
    struct log *log;
    struct metrics *metrics;
    struct service_run *run;  // the frame's own
};

/*
 * The tables of flags of one service: that of the kind, those of the frame that it has a use for, that of the process.
 * Values are left out. Returns how many there are.
 */
enum { SERVICE_FLAG_SETS = 4 };
size_t service_flag_sets(const struct service_kind *kind, struct flag_set ret_sets[static SERVICE_FLAG_SETS]);

/* Whether we may act at this moment: we lead, hold the lease where one is needed, and have not been stopped. */
bool service_is_leading(const struct service *service);

/* /readyz answers with it; false at first. */
void service_set_ready(struct service *service, bool is_ready);

/* Ends the process with an error, in order, from anywhere after open. */
void service_fail(struct service *service, const struct err *err);

/* Everything that stop had to wait for is done. */
void service_stopped(struct service *service);

/* Logs and counts that following `what` had a problem and goes on after `wait`; for a follower's on_problem. */
void service_follow_problem(struct service *service, const char *what, const struct err *err, nsec_t wait);
