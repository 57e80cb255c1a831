/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/observer.h"

#include <stddef.h>

const scheduler_observer_fn scheduler_observers[] = {
    NULL,
};
