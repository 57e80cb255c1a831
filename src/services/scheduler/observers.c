/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/observer.h"

#include <stddef.h>

#include "services/scheduler/observers.h"

const scheduler_observer_fn scheduler_observers[] = {
    observe_for_journal,
    observe_for_plugin_server,
    observe_for_metrics,
    NULL,
};
