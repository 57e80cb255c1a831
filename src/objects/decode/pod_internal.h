/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "objects/decode/decode.h"

/* A pod as it is written; the parts that decide what it asks for and where it may go are read from here. */
struct pod_json {
    struct json_at metadata;
    struct json_at spec;
    struct json_at status;
    struct json_at labels;
    struct json_at annotations;
    nsec_t deleted;
    const char *node;
    const char *scheduler;
    const char *priority_class;
    int32_t priority;
    bool has_host_network;
    struct json_at containers;
    struct json_at init_containers;
    struct json_at overhead;
    struct json_at node_selector;
    struct json_at affinity;
    struct json_at tolerations;
    struct json_at spread;
    struct json_at volumes;
    struct json_at claims;
    struct json_at gates;
    const char *phase;
    const char *nominated_node;
    const char *qos;
    struct json_at claim_statuses;
    struct json_at extended_claim;
};

/* The requests of all containers together, its share of GPUs and its quality of service. */
int pod_request_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                       struct pod_spec *spec, struct err *err);

/* Node selector, affinity, tolerations, spread and host ports. */
int pod_placement_decode(struct object_reader *reader, const struct pod_json *json, struct constraints_spec *spec,
                         struct err *err);

/* Volume claims and config maps that have to be there, into the constraints. */
int pod_volumes_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                       struct constraints_spec *spec, struct err *err);

/* The resource claims that it names or that are made for it. */
int pod_claims_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                      struct pod_spec *spec, struct err *err);

/* Status, node and shared GPUs, from its phase and its BindRequest. */
int pod_status_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                      struct pod_spec *spec, struct err *err);

/* The name of the claim that the pod calls so; NULL when it calls none so. */
const char *pod_claim_called(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                             const char *reference);

/* The devices that its BindRequest has for its claims, when the pod is in the state. */
int pod_devices_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                       struct err *err);

/* An init container that keeps running beside the others. */
bool container_is_sidecar(const struct json_at *container);
