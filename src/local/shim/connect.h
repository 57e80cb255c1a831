/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A connection to the process beside the pod of a folder (shim.h), whose path may be longer than a socket's can be. Returns a
 * descriptor of packets, which does not block; -1 when there is no such process. */
int shim_connect(const char *folder);
