/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/* Serves the streams of this machine's pods to the control machine (local/machines/relay.h), over connections that go out
 * from here. */
extern const struct service_kind member_streams_service;
