/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "services/scheduler/observe/observer.h"

/* The observers that there are, a file each. */
int observe_for_metrics(const struct scheduler_view *view, struct scheduler_observer *ret, struct err *err);
int observe_for_plugin_server(const struct scheduler_view *view, struct scheduler_observer *ret, struct err *err);
int observe_for_shadow(const struct scheduler_view *view, struct scheduler_observer *ret, struct err *err);
int observe_for_journal(const struct scheduler_view *view, struct scheduler_observer *ret, struct err *err);
