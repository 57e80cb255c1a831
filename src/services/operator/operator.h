/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/*
 * `muster operator`: runs the other services as the Config `kai-config` and the SchedulingShards say, repairs what others
 * change, and reports by conditions how far it is.
 */
extern const struct service_kind operator_service;
