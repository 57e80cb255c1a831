/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/time.h"
#include "base/vec.h"
#include "gpu/daemon/arbiter/arbiter.h"
#include "gpu/daemon/group_spec.h"

struct err;

/*
 * What the daemon is told when it starts, in YAML; everything has a default but the folder:
 *
 *     folder: /run/muster/gpu
 *     gpus:                         # instead of asking NVML: for tests, and to leave GPUs out
 *     - {uuid: GPU-8a0f..., memory: 80Gi}
 *     memory: {reserve: 512Mi, credit: 64Mi, context: 512Mi, reclaim: {deadline: 2s, action: kill}}
 *     park: {host: 32Gi, timeout: 30s}
 *     mig: {keep: 60s}
 *     compute: {quantum: 25ms, plan: 100ms, drainBound: 1s, backlog: 1500us, idle: 1ms, together: 0s}
 *     watch: {interval: 100ms, tolerance: 64Mi, unregistered: notice, overuse: notice, stuck: notice}
 *     metrics: {address: 127.0.0.1, port: 9470}
 *     groups: [...]                 # see group_spec.h; more come by the API
 */
enum config_action { ACTION_NOTICE, ACTION_KILL };  // say so, or end the process

/* What may happen to groups that do not give back what they have borrowed. Each includes what stands before it. */
enum reclaim_action { RECLAIM_BY_TRIM, RECLAIM_BY_PARK, RECLAIM_BY_KILL };

struct gpud_gpu_spec {
    char uuid[GROUP_GPU_SIZE];
    char name[96];
    uint64_t memory_bytes;
};

struct gpud_config {
    char *folder;
    VEC(struct gpud_gpu_spec) gpus;  // empty: ask NVML
    uint64_t reserve_bytes;          // of each GPU, that nobody is given; 0: a hundredth, 512 MiB at least
    uint64_t credit_bytes;           // that go with a grant
    uint64_t context_bytes;          // of a context, until one has been seen
    nsec_t reclaim_deadline;         // in which borrowers give back what an owner wants
    enum reclaim_action reclaim_action;
    uint64_t host_bytes;  // of the host's memory, for what is parked; a quarter of it by default
    nsec_t park_timeout;  // in which processes that are to be parked have to stop
    nsec_t mig_keep;      // how long a slice that nobody uses is kept
    struct arbiter_options compute;
    nsec_t backlog;
    nsec_t idle;
    nsec_t watch_interval;  // of looking at NVML, while there are tenants; 0: never
    uint64_t tolerance_bytes;
    enum config_action unregistered;
    enum config_action overuse;
    enum config_action stuck;
    char *metrics_address;  // NULL: on the socket of the API alone
    uint16_t metrics_port;
    VEC(struct group_spec) groups;
};

/* The defaults, with the folder for this user: /run/muster/gpu for root, otherwise below XDG_RUNTIME_DIR. */
void gpud_config_init(struct gpud_config *config);
void gpud_config_done(struct gpud_config *config);

/* Reads the text over what is there. Returns 0 or -EINVAL; unknown members are refused. */
MUST_CHECK int gpud_config_parse(struct gpud_config *config, const char *text, size_t len, const char *name,
                                 struct err *err);
MUST_CHECK int gpud_config_read(struct gpud_config *config, const char *path, struct err *err);
