/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/vec.h"
#include "local/controllers/controller.h"

/* The ControllerRevisions of a StatefulSet: its templates, numbered; `kubectl rollout undo` reads them. */
struct revisions {
    VEC(struct child *) all;  // by number, the lowest first
    struct child *update;     // with the template as it is now; NULL: not there yet
};

enum { REVISION_CHILD_KIND = 1 };  // of the controller

void revisions_init(struct revisions *revisions, struct owner *set);
void revisions_done(struct revisions *revisions);

/* Creates the revision of the template, or gives one that has come back the highest number. Whether all is so already. */
bool revisions_settle(struct owner *set, const struct revisions *revisions);

struct child *revisions_find(const struct revisions *revisions, const char *name);

/* The template that a revision stands for. */
yyjson_val *revision_template(const struct child *revision);

/* Removes revisions beyond spec.revisionHistoryLimit that no pod and no status names. */
void revisions_clean(struct owner *set, const struct revisions *revisions, const char *current);
