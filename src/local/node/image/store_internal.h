/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/list.h"
#include "base/strmap.h"
#include "local/node/image/podman.h"
#include "local/node/image/store.h"
#include "net/loop.h"

enum image_lane { LANE_QUICK, LANE_PULL, _LANE_MAX };

/* The users of an image: pods, and fetches that know its id. */
struct image_use {
    uint32_t count;
    char id[PODMAN_ID_MAX];
};

struct image_store {
    struct loop *loop;
    char *folder;
    struct list waiting[_LANE_MAX], running[_LANE_MAX];  // jobs (fetch.c)
    struct list over;                                    // fetches that are to be told so
    struct loop_task turn;
    struct strmap uses;  // images that are mounted or used, by id
};

/* The users of an image, perhaps none so far. */
struct image_use *image_store_use(struct image_store *store, const char *id);

/* Ends the mount of an image without users, and forgets it. */
void image_store_end_unused(struct image_store *store, struct image_use *use);

/* The file with the configuration of an image; to be freed. */
char *image_store_config(const struct image_store *store, const char *id);

/* Jobs and fetches (fetch.c): starts what waits, tells what is over. */
void image_store_take_turn(void *arg);
void image_store_end_jobs(struct image_store *store);
