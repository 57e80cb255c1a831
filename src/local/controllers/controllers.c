/* SPDX-License-Identifier: Apache-2.0 */
#include "local/controllers/controllers.h"

#include <stddef.h>

const struct service_kind *const local_controllers[] = {
    &replica_sets_controller.service,
    &deployments_controller.service,
    &stateful_sets_controller.service,
    &jobs_controller.service,
    NULL,
};
