/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* `muster fencer`: on each node with GPUs, puts the pods that share them behind fences: a group of `muster gpud` each,
 * and a file by which the container runtime puts Muster's library in the driver's place. */
extern const struct service_kind fencer_service;
