/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The number of "SIGUSR1" and its like; SIGTERM for everything that is none. */
int signal_number(const char *name);
