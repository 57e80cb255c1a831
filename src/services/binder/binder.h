/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* `muster binder`: carries out BindRequests. It reserves GPUs, prepares volumes and devices, and binds pods. */
extern const struct service_kind binder_service;
