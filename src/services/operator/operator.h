/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/*
 * `muster operator`: runs the other services as the Config `kai-config` and the SchedulingShards say, repairs what others
 * change, and reports by conditions how far it is.
 */
extern const struct service_kind operator_service;

/*
 * `muster controller`: the same, but the services run in its own process, which has to host them (frame/host.h). Nothing is
 * written but conditions and CRDs.
 */
extern const struct service_kind controller_service;
