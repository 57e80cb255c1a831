/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"
#include "cli/work/api.h"
#include "views/workloads.h"

/* Ends a workload: a Job stays as cancelled, other kinds are deleted. Fails as api_send() does. */
MUST_CHECK int workload_cancel(struct api *api, const struct workload_row *row, struct err *err);

/* Deletes the object that the user wrote, and all that belongs to it. */
MUST_CHECK int workload_delete(struct api *api, const struct workload_row *row, struct err *err);

/* Stops a Job for a while, and starts it again. Return -EINVAL for a workload of which that makes no sense. */
MUST_CHECK int workload_suspend(struct api *api, const struct workload_row *row, struct err *err);
MUST_CHECK int workload_resume(struct api *api, const struct workload_row *row, struct err *err);
