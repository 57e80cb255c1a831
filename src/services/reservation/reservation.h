/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* `muster reservation`: what runs in a pod that keeps a GPU for others. It writes on its own pod which GPU it was given,
 * and then does nothing until it is told to stop. */
extern const struct service_kind reservation_service;
