/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <yyjson.h>

struct object;
struct object_set;

/*
 * The workload that a person wrote, behind a PodGroup that was made for it: a Job, a RayCluster, a lone Pod. Texts are
 * the documents', and live as long.
 */
struct owner {
    const char *api_version;
    const char *kind;
    const char *namespace;
    const char *name;
    const struct object *object;  // NULL: it is not in the input
};

/* False when there is no such PodGroup in the input, or nobody owns it: then the PodGroup is what was written. */
bool owner_find(const struct object_set *set, const char *namespace, const char *pod_group, struct owner *ret_owner);

/*
 * The workload above the pod of a PodGroup: a Deployment's pods are groups of their own, and so are those of others whose
 * pods start one by one. The topmost owner that is known by name. False when the group is not that of one pod, or nobody
 * owns the pod.
 */
bool owner_of_replica(const struct object_set *set, const struct object *pod_group, struct owner *ret_owner);

/* Whether a workload of that name owns this one, directly or in steps, as a Deployment owns its pods. */
bool owner_is_below(const struct object_set *set, const struct owner *owner, const char *name);

/* A pod template of a workload; a Pod is its own template. */
struct pod_template {
    char path[256];  // as a JSON pointer: "/spec/template"; "" for a Pod
    yyjson_val *value;
};

/*
 * Finds the pod templates of the workload, wherever its kind has them: objects with a spec of containers. Returns how
 * many there are, at most `max`.
 */
enum { POD_TEMPLATES_MAX = 16 };
size_t owner_templates(const struct object *workload, struct pod_template *templates, size_t max);

/* Appends a member to a JSON pointer, with the characters escaped that mean something in it; cut to fit. */
void json_pointer_add(char *path, size_t size, const char *key);
