/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/*
 * `muster scaler`: lets a cluster autoscaler see pods that wait for a part of a GPU. Such pods request no GPU that an
 * autoscaler knows of, so for some of them a scaling pod is created that requests whole GPUs and cannot be placed either.
 */
extern const struct service_kind scaler_service;
