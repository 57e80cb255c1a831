/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The GPU daemon as a service of a process: flags, log and signals as all services have them, and no API server. */
extern const struct service_kind gpud_service;
