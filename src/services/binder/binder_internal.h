/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/err.h"
#include "base/list.h"
#include "base/map.h"
#include "base/strmap.h"
#include "base/time.h"
#include "frame/rush.h"
#include "kube/client/backoff.h"
#include "kube/client/client.h"
#include "kube/follow/pause.h"
#include "net/loop.h"
#include "services/binder/attempt.h"
#include "services/binder/documents/names.h"
#include "services/binder/documents/request.h"
#include "services/binder/options.h"
#include "services/binder/roster.h"

/*
 * The parts of the binder and how they meet:
 *
 *     items    the BindRequests, and which of them are due            items.c
 *     job      one attempt to carry one out, step by step             job.c, rollback.c, finish.c
 *     plugins  what some pods need before they are bound              plugin_*.c
 *     seats    reservation pods that are being waited for             seats.c
 *     groups   shared GPUs that nobody needs any more                 groups.c, strays.c
 *     roster   the pods that all of this depends on                   roster.c
 */
struct follower;
struct job;
struct kube_bind;
struct kube_list;
struct kube_modify;
struct log;
struct recorder;
struct service;

struct binder_flags {
    const char *scheduler_name;
    const char *reservation_namespace;
    const char *reservation_service_account;
    const char *reservation_image;
    const char *reservation_app_label;
    int64_t reservation_timeout_s;
    yyjson_doc *reservation_resources;
    yyjson_doc *reservation_pod_security;
    yyjson_doc *reservation_container_security;
    const char *scaling_namespace;
    int64_t reconciles_max;
    int64_t retry_first_s, retry_max_s;
    bool has_fake_gpus;
    bool has_fences;
    const char *plugins;
    const char *runtime_class;
};

/* Where an item stands. */
enum item_state {
    ITEM_IDLE,  // nothing to do
    ITEM_DUE,   // in the queue
    ITEM_RUNNING,
    ITEM_RESTING,  // until its timer fires
};

struct item {
    struct binder *binder;
    struct request *request;
    enum item_state state;
    nsec_t due_since;   // when it last got into the queue
    bool is_gone;       // the object is; the item goes with its job
    uint32_t failures;  // to write the outcome, in a row
    struct loop_timer timer;
    struct job *job;
    struct bound *bound;  // instead of a job: what is to be told
    struct list_link in_due;
    struct list_link in_going;
};

struct items {
    struct strmap by_name;  // -> struct item *
    struct map64 wanted;    // hash of a group -> active requests that list it
    size_t len;
    struct list due;
    struct list going;  // whose object is gone while their job runs
    size_t running;
    size_t stuck;       // of those, waiting for something that takes its time
    struct list later;  // and with a pod that is bound and will be told so
    size_t telling;     // or is being told
};

struct node_entry {
    char *name;
    char *gpu_mib;  // of its label; "" without
};

struct bound;
struct seat;
struct check;
struct stray;
struct binder_meters;

struct binder {
    struct service *service;
    struct loop *loop;
    struct kube_client *client;
    struct log *log;
    struct recorder *recorder;
    const struct binder_flags *flags;
    struct reservation_options reservation;
    struct plugin_options plugins;
    struct attempts attempts;
    struct roster roster;
    struct items items;
    struct strmap nodes;  // -> struct node_entry *
    struct seat *seats;
    struct check *checks;  // groups whose reservation is being looked for
    struct stray *strays;  // pods that are being taken out of their groups
    struct follower *follow_requests, *follow_nodes, *follow_pods;
    struct follow_pause pause;       // while a watch of requests or pods is cut
    uint64_t pauses;                 // that there have been
    struct loop_timer renewal;       // everything is to be listed anew
    struct loop_timer groups_timer;  // groups are to be looked at again, since a deletion failed
    struct backoff groups_backoff;
    struct rush rush;
    struct loop_timer later_timer;
    struct loop_task pump;
    struct binder_meters *meters;
    uint32_t device_version;    // that the server has, for kube_known_of()
    bool knows_devices;         // it has said so
    uint32_t unlabelled_binds;  // in a row, that came without the label that was sent with them
    bool is_ready;              // everything has been seen once
    bool is_renewing;           // and does not count any more
    bool is_stopping;           // nothing new is begun
};

/* After so many binds in a row without the label that was sent with them, labels are written before the bind. */
enum { UNLABELLED_BINDS_MAX = 3 };

/* items.c */
void items_init(struct items *items);
void items_done(struct items *items);
void binder_request_seen(struct binder *binder, yyjson_val *object);
void binder_request_gone(struct binder *binder, const char *namespace, const char *name);
bool binder_wants_group(const struct binder *binder, const char *id);

/* How long the jobs that run have taken until now. */
struct items_work {
    nsec_t sum, longest;
};
struct items_work items_work(const struct items *items, nsec_t now);

/* The job is over: the item rests so long (0: until something happens) and is then due again. */
void item_ended(struct item *item, nsec_t rest);

/* Its request is in another phase, as the server knows. */
void item_set_phase(struct item *item, enum request_phase phase, int64_t failed_attempts, uint64_t version);

/* Begins what is due, as far as there is room. */
void binder_pump(void *binder);

/* Nothing is to be decided now: what is known may be old. */
bool binder_is_held(const struct binder *binder);

/* Jobs that were held begin anew. */
void binder_resume_jobs(struct binder *binder);

/* An answer is awaited of a bind that the server may have done. */
bool binder_is_binding(const struct binder *binder);

/* groups.c */
void binder_groups_init(struct binder *binder);
void binder_sync_group(struct binder *binder, const char *id);
void binder_sync_node(struct binder *binder, const char *node);
void binder_sync_all(struct binder *binder);
void binder_checks_drop(struct binder *binder);

/* Deletes a pod of a group. Where that fails, all groups are looked at again after a while. */
void binder_remove_pod(struct binder *binder, struct roster_pod *pod, bool has_grace);

/* strays.c: pods that are in groups for nothing, at the start. */
void binder_free_strays(struct binder *binder);
void binder_strays_drop(struct binder *binder);

/* binder.c: a pod as a watch or an answer has it. */
void binder_pod_seen(struct binder *binder, yyjson_val *pod);
const struct node_entry *binder_node(const struct binder *binder, const char *name);

/* Nothing is under way that a stop has to wait for? */
void binder_check_stopped(void *binder);

/* seats.c: `gpu` is NULL when there is none, and `err` says why. */
typedef void (*seat_fn)(void *arg, size_t index, const char *gpu, const struct err *err);
void binder_reserve(struct binder *binder, const char *node, const char *group, yyjson_val *tolerations, seat_fn fn,
                    void *arg, size_t index);
/* A reservation pod of the group has changed. */
void binder_seat_changed(struct binder *binder, const char *group);
void binder_seats_drop(struct binder *binder);

/* One attempt at a request. */
struct job {
    struct binder *binder;
    struct item *item;
    const struct request *request;
    char *pod_uid;       // "" until the pod is known
    uint64_t pod_bound;  // hash of its PodBound condition
    char *pod_node;      // that the pod is on already; NULL: none
    yyjson_doc *pod;     // the whole of it; NULL where it is not needed
    size_t step;
    struct err err;    // what went wrong; code 0: nothing yet
    bool is_stale;     // the pod is not the one that was meant
    bool is_unknown;   // nobody could say what became of it: once more, later
    bool is_labelled;  // the pod may be in groups
    bool is_bare;      // it was seen bound, and in none
    bool is_asked;     // the server was asked to bind it
    uint64_t pauses;   // of the binder, when the job began
    bool is_held;      // what is known may be old: it begins anew when it is not
    bool is_stuck;
    char **gpus;  // by group
    size_t seats_open;
    size_t undo_at;

    /* Requests under way; NULL when they are not. */
    struct kube_call *call;
    struct kube_bind *bind;
    struct kube_modify *modify;
    struct kube_list *list;
    struct attempt *attempt;
    struct loop_timer timer;
    struct loop_task look;
    bool has_looked;  // at all sockets, before the bind
    uint32_t tries;
    nsec_t started, ended;
    bool is_telling;  // the pod is bound; all that is left is to tell so

    struct volume_work *volumes;
    struct claim_work *claims;
    struct sharing_work *sharing;
};

/* job.c */
void job_start(struct item *item);
struct job *job_new(struct item *item);
void job_free(struct job *job);

/* The step at hand is done, or has failed. To be called once for each step, from it or later. */
void job_next(struct job *job);
void job_fail(struct job *job, const struct err *err);

/* Waits for something that may take long, and that a stop does not wait for. */
void job_set_stuck(struct job *job, bool is_stuck);

/* Calls `fn` after a time, once; there is one timer a job. */
void job_wait(struct job *job, nsec_t time, loop_fn fn);

/* Whether the pod is known to be in the groups of its request, and in no others. */
bool job_has_labels(const struct job *job);

/* The pod: the whole of it, or what is kept of one on a shared GPU. */
yyjson_val *job_pod(const struct job *job);

/* Sends a write of the job; `attempt` is cleared by whoever is called back. Takes the body. */
void job_write(struct job *job, enum kube_verb verb, enum kube_known resource, const char *namespace, const char *name,
               const char *subresource, yyjson_mut_doc *body, kube_done_fn on_done);
void job_read(struct job *job, enum kube_known resource, const char *namespace, const char *name, kube_done_fn on_done);

/* rollback.c: takes back what was done, and ends the job. */
void job_roll_back(struct job *job);
void job_undone(struct job *job, const struct err *err);

/* finish.c: writes what became of it, which for a bound pod has time. */
void job_finish(struct job *job);
void job_tell(struct job *job);

/* later.c: ends a job whose pod is bound, and tells so when nothing more urgent is to be done. */
void binder_tell_later(struct job *job);
void binder_later_pump(struct binder *binder);
void binder_later_drop(struct item *item);

/* What some pods need before they are bound. */
struct plugin {
    bool (*is_needed)(const struct job *job);
    void (*prepare)(struct job *job);  // ends with job_next() or job_fail()
    void (*undo)(struct job *job);     // ends with job_undone()
    void (*drop)(struct job *job);     // frees its part of the job
};

/* What the plugin gpusharing has told the pod's container to use; NULL when it had nothing to tell. */
const char *job_shared_devices(const struct job *job);

extern const struct plugin plugin_volumes, plugin_claims, plugin_sharing, plugin_hami;
const struct plugin *plugin_find(enum binder_plugin plugin);
