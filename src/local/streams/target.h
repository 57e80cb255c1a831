/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct request;

/* The container that a request means. */
struct target {
    yyjson_mut_doc *pod;
    const char *container;  // borrowed from the pod
    char *folder;           // of the pod, in the state folder
};

/* Finds it by the parameter `container`, which only pods with several need. False after an answer. */
bool target_find(struct request *request, struct target *ret_target);
void target_done(struct target *target);

/* How the last run of the container stands, by status.json. */
struct target_run {
    bool is_known;
    bool is_running, has_run;
    unsigned restarts;  // the number of the last run
    char waiting[128];  // the reason while it waits
};
struct target_run target_run(const char *folder, const char *container);
