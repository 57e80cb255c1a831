/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "frame/service.h"

/* The scheduler as a service: `muster scheduler`. */
extern const struct service_kind scheduler_service;
