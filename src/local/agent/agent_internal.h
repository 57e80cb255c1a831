/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/list.h"
#include "base/strmap.h"
#include "frame/service.h"
#include "frame/work.h"
#include "local/agent/fleet.h"
#include "local/agent/pod_status.h"
#include "local/runtimes/runtime.h"

struct agent_flags {
    const char *fake_nodes;
};

struct agent {
    struct service *service;
    const struct agent_flags *flags;
    struct fleet fleet;
    struct agent_node *nodes;  // of the fleet
    struct strmap pods;        // by uid
    struct follower *node_follower, *pod_follower;
    struct work *node_work, *pod_work, *leftover_work;
    struct list leftovers;  // nodes of an earlier start that are being deleted
    const struct runtime_kind *kind;
    struct runtime *runtime;
    uint32_t addresses;  // given to pods so far
    bool is_synced;
};

struct agent_node {
    struct agent *agent;
    struct work_item work;
    uint32_t index;
    struct kube_call *call;
    struct list pods;
    bool is_there, was_there;  // in the API; at any time since we started
    bool is_outdated;          // the one in the API is another, which is being deleted
    bool is_lost, is_ready;
};

/* What has been written of a pod. */
enum pod_phase { POD_PHASE_PENDING, POD_PHASE_RUNNING, POD_PHASE_OVER };

struct agent_pod {
    struct agent_node *node;
    struct list_link in_node;
    struct work_item work;
    struct kube_call *call;
    struct runtime_pod *run;  // NULL: not started
    char *namespace, *name, *uid;
    struct pod_containers containers;
    int64_t generation;
    uint32_t address;
    uint32_t restarts;  // that are written
    enum pod_phase phase;
    bool is_ending;
    bool has_finalizers;
    bool is_removed;  // its removal was asked for
    bool is_reservation;
    int32_t gpu;  // that a reservation pod holds; -1: none yet
};

/* Pods (agent_pods.c). */
void agent_put_pod(struct agent *agent, yyjson_val *object);
void agent_drop_pod(struct agent *agent, const char *uid);
void agent_work_on_pod(void *arg, struct work_item *item);

/* Nodes of an earlier start (agent_leftovers.c). Takes a node of the first list that is one: true. */
bool agent_take_leftover(struct agent *agent, yyjson_val *node);
void agent_work_on_leftover(void *arg, struct work_item *item);
void agent_forget_leftovers(struct agent *agent);

/* Nodes (agent_nodes.c). */
void agent_put_node(struct agent *agent, yyjson_val *object);
void agent_drop_node(struct agent *agent, const char *name);
void agent_work_on_node(void *arg, struct work_item *item);
