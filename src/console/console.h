/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The control plane as a service of the frame: organisation, people, rights and audit in a database, Run:ai's REST in front,
 * and the Queues and namespaces of a cluster, or of a machine with `muster up`, that follow.
 */
struct service_kind;

extern const struct service_kind console_service;

/* The file of a console that is given no database, and what is added to its name for the head of the audit log. */
#define CONSOLE_DATABASE "console.db"
#define CONSOLE_HEAD_SUFFIX ".audit-head"
