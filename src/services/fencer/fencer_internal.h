/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "base/vec.h"
#include "kube/client/backoff.h"
#include "net/loop.h"
#include "services/fencer/files.h"
#include "services/fencer/sharer.h"

struct follower;
struct gpud_link;
struct meter_series;
struct service;

struct fencer_flags {
    const char *node;
    const char *reservation_namespace;
    const char *gpud_folder;
    const char *cdi_dir;
    const char *library_dir;
    const char *driver_root;
    const char *host_root;
};

/* A pod that is to be behind a fence, and how far that has come. */
struct post {
    struct sharer pod;
    char *done;              // what the daemon was asked for and did; NULL: nothing yet
    char *refused;           // what it did not do, or what could not be asked; NULL: nothing
    char *told;              // the complaint that the pod has been told; NULL: none
    struct backoff backoff;  // of refusals in a row
    nsec_t due;              // not before this is it tried again
};

struct fencer_names VEC_OF(char *);

struct fencer {
    struct service *service;
    const struct fencer_flags *flags;
    struct fence_places places;
    struct follower *pods;
    struct gpud_link *gpud;
    VEC(struct post *) posts;
    struct keepers keepers;
    struct fencer_names groups;  // of pods, that the daemon has; what is asked for now included
    bool is_listed;              // they are known
    nsec_t look_at;              // when they are asked for again
    bool is_stopping;
    char asking[FENCE_NAME_MAX];  // whom the question under way is about
    char *asked;                  // and what it is; NULL: none
    struct backoff backoff;       // of a daemon that does not answer
    struct loop_task work;
    struct loop_timer timer;
    struct meter_series *written, *refusals, *daemon_up;
};

/* work.c: brings the daemon and the files to what the pods call for, one step at a time. Queue `work` after a change. */
void fencer_work(void *fencer);

/* The daemon may have changed by itself: it is asked what it has. */
void fencer_look(void *fencer);

/* pods.c */
void fencer_follow(struct fencer *fencer);
void post_free(struct post *post);
struct post *fencer_find(const struct fencer *fencer, const char *fence);

/* tell.c: the pod's owner learns why it is not behind its fence; once, while the reason is the same. */
struct err;
void post_complain(struct fencer *fencer, struct post *post, const struct err *err);
