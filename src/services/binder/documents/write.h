/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/time.h"
#include "services/binder/documents/request.h"

struct reservation_options;

/* What the binder writes, as documents that the caller frees. Pure. */

/* Merge patches, all with the UID of the object, so that they never hit another one of its name. */

/* Puts the pod into the groups, or out of all of them. */
yyjson_mut_doc *write_labels(const char *uid, const struct request_groups *groups, bool is_in);
yyjson_mut_doc *write_status(const char *uid, const struct request_outcome *outcome, const char *reason);
yyjson_mut_doc *write_selected_node(const char *uid, const char *node);

/* A strategic merge patch of the pod's status: the PodBound condition. */
yyjson_mut_doc *write_condition(const char *uid, bool is_bound, const char *message, nsec_t now);

/* PodBound's reasons, which are those of the events as well. */
const char *bound_reason(bool is_bound);

/* The pod that keeps a GPU. `tolerations` may be NULL. */
yyjson_mut_doc *write_reservation(const struct reservation_options *options, const char *node, const char *group,
                                  yyjson_val *tolerations);

/* What goes into the ConfigMaps of a container that shares a GPU. */
struct sharing_data {
    const char *devices;  // ids with commas between them, as the container runtime wants them
    const char *portion;
    bool is_direct;  // the devices go into the second ConfigMap
};

/* One of the two ConfigMaps, owned by the pod. */
yyjson_mut_doc *write_sharing(const struct sharing_data *data, bool is_second, const char *namespace, const char *name,
                              const char *pod, const char *uid);

/* The same over a ConfigMap that is there: somebody else's is taken over, our own only gets what it lacks. Returns
 * whether it has changed. */
bool sharing_merge(const struct sharing_data *data, bool is_second, const char *pod, const char *uid,
                   yyjson_mut_doc *map);

/* Whether the container takes its devices from the second ConfigMap. */
bool sharing_is_direct(yyjson_val *container);

/* Whether the container can do without the ConfigMap `direct`: it takes all of it, where it is there. */
bool sharing_is_optional(yyjson_val *container, const char *direct);

/* The ids with commas between them, for CDI as its names; behind them the pod's fence, which is a CDI name itself, unless
 * it is NULL. To be freed by the caller. */
char *sharing_devices(const char *const *gpus, size_t count, bool is_cdi, const char *fence);

/* What HAMi-core holds a process to: of a GPU of `mib`, the portion. False when either makes no sense. */
bool memory_limit(const char *mib, const char *portion, char *text, size_t size);
