/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct command;

/* muster complete live: names of workloads, queues and nodes of the server that the commands for people talk to. */
extern const struct command complete_live_command;
