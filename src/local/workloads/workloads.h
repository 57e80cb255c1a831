/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "local/controllers/controller.h"

/* The controllers of workloads. Each is a service of its own (frame/service.h), by the first member of its kind. */
extern const struct controller_kind replica_sets_controller;
extern const struct controller_kind replication_controllers_controller;
extern const struct controller_kind deployments_controller;
extern const struct controller_kind stateful_sets_controller;
extern const struct controller_kind jobs_controller;
extern const struct controller_kind cron_jobs_controller;
extern const struct controller_kind budgets_controller;
