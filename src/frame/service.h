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
#include "kube/client/client.h"
#include "kube/events/events.h"
#include "net/rest/rest.h"
#include "text/metrics.h"

struct kube_config;
struct loop;
struct service;

/*
 * A service is a process that runs until it is told to stop: one loop, one client of the API server, servers for probes
 * and metrics, and, when asked for, a Lease so that one of several acts. What it does beyond that is in the functions
 * of its kind, which are called in this order:
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
    size_t values_size;               // of the struct that the flags' values go to
    const struct rest_route *routes;  // served beside /metrics; `arg` of the handlers is the service
    size_t route_count;

    int (*configure)(struct service *service, struct err *err);  // these may be NULL
    int (*open)(struct service *service, struct err *err);       // a failure ends the process; close is not called
    void (*lead)(struct service *service);
    void (*stop)(struct service *service);
    void (*close)(struct service *service);
};

/* What all services have flags for. `configure` may change any of it. */
struct service_settings {
    const char *kubeconfig;  // "": $KUBECONFIG, the pod that we are in, ~/.kube/config
    const char *context;
    double qps, burst;
    int64_t in_flight_max;
    const char *metrics_address;  // "host:port", ":port"; "" or "0": not served
    const char *health_address;
    const char *metrics_prefix;  // "muster" unless configure says otherwise
    bool wants_lease;
    const char *lease_name;       // to be set by configure; NULL: "muster-<name of the service>"
    const char *lease_namespace;  // "": that of the pod or context
    nsec_t lease_duration, lease_renew_deadline, lease_retry_period;
    const char *component;  // who events come from; NULL: the name of the service
    nsec_t stop_timeout;    // the longest that stop may take
    bool is_json;           // of the log
    bool is_devel;
    int64_t verbosity;
    const char *log_level;
    const char *log_encoder;
};

/* All but `state` is read only, outside of configure. */
struct service {
    const struct service_kind *kind;
    void *values;  // of the kind's flags
    void *state;   // the kind's own
    struct service_settings settings;
    int argc;  // what it was called with
    const char *const *argv;

    struct loop *loop;
    struct kube_client *client;
    struct log *log;
    struct metrics *metrics;
    struct recorder *recorder;
    struct service_run *run;  // the frame's own
};

/*
 * Runs a service until it is told to stop. Returns 0 after an orderly end; 1 when help was asked for, to be given by the
 * caller; -EINVAL when the call was wrong, any other negative errno when it could not go on. `err` says why; it is also
 * in the log once there is one.
 */
MUST_CHECK int service_main(const struct service_kind *kind, int argc, const char *const *argv, struct err *err);

/* The tables of flags: that of the kind, then that of all services. Values are left out. */
void service_flag_sets(const struct service_kind *kind, struct flag_set ret_sets[static 2]);

/* Whether we may act at this moment: we lead, hold the lease where one is needed, and have not been stopped. */
bool service_is_leading(const struct service *service);

/* /readyz answers with it; false at first. */
void service_set_ready(struct service *service, bool is_ready);

/* Ends the service with an error, in order, from anywhere after open. */
void service_fail(struct service *service, const struct err *err);

/* Everything that stop had to wait for is done. */
void service_stopped(struct service *service);

/* Serves `routes` at an address as well, until the service ends; `routes` are borrowed. Nothing for "" and "0". */
MUST_CHECK int service_serve(struct service *service, const char *address, const struct rest_route *routes,
                             size_t route_count, void *arg, struct err *err);

/* Logs and counts that following `what` had a problem and goes on after `wait`; for a follower's on_problem. */
void service_follow_problem(struct service *service, const char *what, const struct err *err, nsec_t wait);

/* Takes "host:port", ":port" or "[v6]:port" apart. Returns 1; 0 for "" and "0", which stand for no address; or -EINVAL.
 * An address without a host has "" there. */
MUST_CHECK int service_address_parse(const char *text, char host[static 256], uint16_t *ret_port, struct err *err);

/* The level of the log that the flags ask for. */
MUST_CHECK int service_log_level(const struct service_settings *settings, enum log_level *ret_level, struct err *err);
