/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/vec.h"
#include "kube/sharing.h"

/*
 * Pods as the fencer needs them, read from the API's objects: those that share GPUs, with what they ask for, and those
 * that keep a GPU for others, with which one it is. Pure.
 */
struct sharer_groups VEC_OF(char *);

struct sharer {
    char fence[FENCE_NAME_MAX];  // its name
    char *namespace;
    char *name;
    char *uid;
    bool is_held;                 // it was bound with its fence, without which it does not start
    struct sharer_groups groups;  // GPU groups that it is in, in the order of its labels
    char *container;              // that uses them; "" when `problem` is set
    char *words;                  // what it asks for, as the GPU daemon reads it: a JSON object
    char *problem;                // why nothing can be asked for it; NULL: nothing is wrong
    int64_t user;                 // that its processes have to run as; -1, as it is read: any that can reach the socket
    char *cgroup;                 // that they have to be in, freed with it; NULL, as it is read: any
};

/* Whether the pod shares GPUs and has not ended; if so `*ret_sharer` is it, to be given back with sharer_done(). */
bool sharer_read(yyjson_val *pod, struct sharer *ret_sharer);
void sharer_done(struct sharer *sharer);

/* A pod that keeps the GPU of a group. */
struct keeper {
    char *uid;
    char *group;
    char *gpu;  // its UUID or number
};

/* Whether the pod, of the reservations' namespace, has said which GPU it keeps. */
bool keeper_read(yyjson_val *pod, struct keeper *ret_keeper);
void keeper_done(struct keeper *keeper);

struct keepers VEC_OF(struct keeper);

/* The group that the GPU daemon is asked for, as JSON, to be freed by the caller; NULL while the GPU of one of the pod's
 * groups is not known. */
char *sharer_ask(const struct sharer *sharer, const struct keepers *keepers);
