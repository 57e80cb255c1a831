/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/observe/observer.h"

#include <stddef.h>

#include "services/scheduler/observe/observers.h"

const scheduler_observer_fn scheduler_observers[] = {
    observe_for_journal,
    observe_for_plugin_server,
    observe_for_metrics,
    NULL,
};
