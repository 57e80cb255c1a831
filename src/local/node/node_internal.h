/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/strmap.h"
#include "frame/service.h"
#include "frame/work.h"
#include "local/cgroup/cgroup.h"
#include "local/member/member.h"
#include "local/node/image/store.h"
#include "local/node/link.h"
#include "local/node/machine.h"
#include "local/node/pod/plan.h"
#include "local/node/pod/sources.h"
#include "local/node/pod/users.h"
#include "local/node/shims.h"
#include "net/loop.h"

struct gpud_link;
struct image_map;

struct node_flags {
    const char *fake_nodes;
    const char *state;
    const char *gpud_folder;
    const char *image_map;
    const char *images;
    int64_t processes_max;
    bool node;
    /* Of a machine that has joined another one. */
    const char *metrics_address, *health_address;
    const char *token, *name;  // which `muster join` reads
    nsec_t lease_duration;
    bool allow_root;
};

/* The membership of a machine that has joined (joined.c). */
struct joined {
    bool is_on;
    nsec_t duration;  // of the lease
    char *lease_path;
    nsec_t sent;       // when the renewal that is under way was sent
    nsec_t until;      // pods may run until then; 0: not any more
    bool is_lapsed;    // a lease was over: pods that began before are given back
    bool is_reported;  // the node was written since
    bool is_removed;   // the control machine has removed the node
    struct member member;
    struct user_rules rules;
};

struct node {
    struct service *service;
    struct machine machine;
    struct cgroup_tree tree;
    struct shims shims;
    struct joined joined;
    char *pods_folder;
    struct image_map *images;   // NULL: none
    struct image_store *store;  // of podman's images; NULL: none were ever used here
    bool has_podman;            // new pods run in its images
    int64_t processes_max;      // of a container
    char *gpud_folder;          // of the GPU daemon
    struct strmap pods;         // by uid
    struct follower *follower;
    struct work *work;
    struct kube_call *node_call, *lease_call;
    struct loop_timer renew;
    bool is_on, is_synced, is_registered;
    bool is_report_due;  // the status is to be written after the request that is under way
    uint32_t beats;      // renewals so far
};

struct node_pod;
typedef void (*fence_fn)(struct node_pod *pod, const struct err *err);

/* The group of a pod at the GPU daemon. */
struct fence {
    struct gpud_link *gpud;  // NULL: nothing was asked yet
    fence_fn on_done;        // of what is asked now
    char *container;         // that has the parts of GPUs; NULL: not known yet
    VEC(char *) gpus;        // UUIDs
    bool may_exist;          // it was made, perhaps by an agent before us, and not removed since
    bool is_given_up;        // its removal was tried, and does not hold up the end of the pod
};

/* The image of a container. */
struct pod_image {
    char *container, *name;
    enum pull_policy policy;
    char *id;  // which the pod holds; NULL: it does not have it yet
    enum image_problem problem;
    struct err why;
    nsec_t shown_at;       // since when the problem is in the status of the pod; 0: it is not yet
    bool is_backoff_told;  // that it is tried again later
    uint32_t failures;     // in a row
    nsec_t retry_at;
};

/* The images of a pod's containers, without those that are folders or none. */
struct pod_images {
    VEC(struct pod_image) rows;
    uint32_t at;  // the row of the fetch
    struct image_fetch *fetch;
    struct loop_timer again;  // the pod is looked at then
    bool is_listed;
    bool is_pulling;  // and the pod is to say so
    bool is_awaited;  // the pod was begun, and cannot be followed before its images are mounted again
};

struct node_pod {
    struct node *node;
    struct work_item work;
    struct kube_call *call;
    struct fetching *fetching;
    struct sources sources;
    struct pod_link link;
    yyjson_doc *object;  // as it was seen last; NULL: it is not in the API
    char *namespace, *name, *uid, *folder;
    char *written;  // the status that was written last
    bool is_linked;
    bool is_ending, is_over;  // is_over: the API has its last status
    bool is_removed;          // its removal was asked for
    bool is_reservation;
    bool is_condemned;  // its lease was over: it is ended and given back
    bool is_claimed;    // the server knows that it begins here
    bool is_told;       // that its limits are not enforced
    bool can_change;    // it has volumes whose files follow their sources
    bool has_tokens;    // they were asked for with the sources
    nsec_t refresh_at;  // when these are looked at again
    VEC(char *) gpus;   // UUIDs that it holds
    struct fence fence;
    struct pod_images images;
};

/* Registration and lease (node_object.c). */
void node_register(struct node *node);
void node_renew_soon(struct node *node);
void node_report(struct node *node);  // writes the status, now or after the request that is under way

/* A machine that has joined another one (joined.c). */
MUST_CHECK int joined_open(struct node *node, const char *folder, const struct node_flags *flags, struct err *err);
void joined_done(struct node *node);
const struct user_rules *joined_rules(const struct node *node);  // NULL on a machine that has not joined
bool joined_may_begin(const struct node *node);  // whether pods may; always, on a machine that has not joined
void joined_renewed(struct node *node);          // the lease was renewed
void joined_reported(struct node *node);         // the Node object was written
void joined_refused(struct node *node);          // the certificate is not accepted any more
bool joined_is_over(const struct node *node);    // and nothing runs any more

/* Pods (node_pods.c). */
void node_put_pod(struct node *node, yyjson_val *object);
void node_drop_pod(struct node *node, const char *uid);
void node_adopt(struct node *node);  // folders of pods that the API does not have any more
void node_work_on_pod(void *arg, struct work_item *item);
void node_pod_free(struct node_pod *pod);
void node_pod_record(struct node_pod *pod, const char *type, const char *reason, const char *message);

void node_pod_look(struct node_pod *pod);  // something has changed

/* Starts or finds the process beside the pod, which has a plan. */
void node_pod_follow(struct node_pod *pod);

/* Its start (pod_start.c). Ends with work_done(). */
void node_pod_begin(struct node_pod *pod);

/* Why a pod cannot start yet. */
struct pod_waiting {
    const char *container;  // that waits for it, the others for that one; NULL: all do
    const char *reason, *message;
    const char *event, *event_message;  // a warning, when this is news
    bool is_timed;                      // somebody else says when it is tried again; until then work on the pod is over
};

/* The pod says why it cannot start yet, and is tried again later. */
void node_pod_wait_for(struct node_pod *pod, const struct pod_waiting *waiting);
void node_pod_wait(struct node_pod *pod, const char *reason, const char *event, const struct err *err);

/* Images (pod_fetch.c). Whether all are mounted; if not, work_done() was called or will be, and the pod is looked at again. */
bool node_pod_has_images(struct node_pod *pod);
void node_pod_restore_images(struct node_pod *pod);  // those that its plan names
void node_pod_resume(struct node_pod *pod);          // mounts them again, then follows it; ends with work_done()
void node_pod_release_images(struct node_pod *pod);
void pod_images_done(struct pod_images *images);  // the mounts stay

/* Volumes that follow their sources (pod_refresh.c). */
bool node_pod_is_stale(const struct node_pod *pod);
void node_pod_refresh(struct node_pod *pod);  // ends with work_done()
void node_pods_refresh(struct node *node);    // those whose time has come

/* GPUs (node_gpus.c). */
int64_t gpus_wanted(yyjson_val *pod);

/* Takes GPUs for the pod until it has so many. Returns 0, or -EBUSY when too few are free. */
MUST_CHECK int gpus_take(struct node_pod *pod, int64_t count, struct err *err);
void gpus_restore(struct node_pod *pod);  // those that its plan or its annotation names
void gpus_release(struct node_pod *pod);

/* Parts of GPUs (fence.c), of pods that ask for some. */
bool fence_is_wanted(yyjson_val *pod);

/* Makes the group, or changes it to what it should be. `on_done` is called once, at once or later, with what went wrong. */
void fence_make(struct node_pod *pod, fence_fn on_done);

/* Removes the group, and ends what is left in it. Afterwards may_exist says whether that succeeded. */
void fence_remove(struct node_pod *pod, fence_fn on_done);

/* Where its processes find it; to be freed. */
char *fence_socket(const struct node_pod *pod);

/* Makes groups of running pods again where the daemon has lost them. */
void fences_check(struct node *node);

/* Calls off what is asked. */
void fence_done(struct fence *fence);

/* Statuses that the agent writes itself (pod_notice.c); to be freed with yyjson_mut_doc_free(). */
yyjson_mut_doc *notice_waiting(yyjson_val *pod, const char *container, const char *reason, const char *message);
yyjson_mut_doc *notice_status(const struct node_pod *pod, yyjson_val *status);
yyjson_mut_doc *notice_reservation(const struct node_pod *pod);

/* Writes such a status. `on_done` gets the pod. */
struct kube_call *notice_send(struct node_pod *pod, yyjson_mut_doc *doc, kube_done_fn on_done);
