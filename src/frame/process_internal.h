/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "frame/process.h"
#include "frame/service.h"
#include "net/loop.h"

struct lease;

struct hosted;

/* Figures under one prefix, shared by the services that use it. */
struct process_registry {
    char *prefix;
    const struct service *owner;  // a hosted service has its own; NULL: all others share it
    struct metrics *metrics;
};

/* What the frame keeps of a running process. */
struct process_run {
    struct process_services VEC_OF(struct service *) services;
    struct process_servers VEC_OF(struct http_server *) servers;
    struct process_registries VEC_OF(struct process_registry) registries;
    const struct service_kind *const *hostable;  // kinds that a host may start, up to a NULL; NULL: none
    enum log_level level;
    struct kube_client *client;       // of all services, where there are several; NULL: each has its own
    char *server;                     // its address
    struct loop_timer stop_timer;     // an end that does not wait for ever
    struct loop_timer started_timer;  // when what is done once has been done
    struct err failure;               // why we stop; code 0: we were told to
    bool is_stopping;
    bool is_draining;       // all services are over
    uint32_t servers_open;  // of those that drain
};

/* What the frame keeps of a running service. */
struct service_run {
    struct hosted *hosted;  // NULL: it lives as long as the process
    struct lease *lease;
    struct loop_timer drain_timer;  // looks whether events have been written
    struct meter *problems;
    char lease_name[64];
    char *server;              // address of the API server; NULL without one
    nsec_t unreachable_again;  // when it may be logged again that nobody answers there
    bool is_opened;
    bool is_leading;
    bool has_lost;  // the lease, to somebody else
    bool is_ready;
    bool is_stopping;    // it was told to
    bool has_stopped;    // the kind has nothing under way any more
    bool is_given_back;  // its lease is, or is about to be; true without one as well
    bool is_over;        // events are written and the lease is given back
};

/* Settings: the tables of flags, and whether their values go together. */
extern const struct flag process_flags[];
extern const size_t process_flag_count;
int process_settings_check(const struct process_settings *settings, enum log_level *ret_level, struct err *err);
bool process_log_is_json(const struct process_settings *settings);
int service_settings_check(const struct service_kind *kind, const struct service_settings *settings, struct err *err);

/* One service, in the order in which the process calls these. */
struct service *service_new(struct process *process, const struct service_kind *kind);
int service_configure(struct service *service, struct err *err);
int service_open(struct service *service, enum log_level level, struct err *err);
void service_begin(struct service *service);  // leads, or seeks the lease
void service_begin_stop(struct service *service);
void service_close(struct service *service);
void service_free(struct service *service);

/* Hosted services. */
void hosted_close(struct hosted *hosted);  // before the loop ends
void hosted_free(struct hosted *hosted);
const char *hosted_name(const struct hosted *hosted);
void hosted_tell_ready(const struct hosted *hosted, bool is_ready);
/* It is over and nobody needs it any more. */
void hosted_remove_soon(struct hosted *hosted);
void process_forget_service(struct process *process, const struct service *service);

/* A service is over. When all are, so is the process. */
void process_service_is_over(struct process *process);
/* A service cannot go on: all stop; at once when nothing may be waited for. */
void process_fail(struct process *process, const struct err *err, bool is_at_once);

/* The registry of a prefix; the same one for all services of the process that ask for it, a hosted one apart. */
struct metrics *service_registry(const struct service *service, const char *prefix);
void process_forget_metrics(struct process *process, const struct service *service);
void process_metrics_render(struct process *process, struct strbuf *text);
void service_metrics_add(struct service *service);

/* Probes and metrics as the settings say. */
int probes_start(struct process *process, struct log *log, struct err *err);

/* Lets requests that are under way finish, and then stops the loop. */
void servers_drain(struct process *process);
void servers_stop(struct process *process);
