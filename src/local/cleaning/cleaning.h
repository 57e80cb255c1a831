/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct service_kind;

/* Deletes objects whose owners are gone, and carries out deletion in the foreground and with orphans. */
extern const struct service_kind garbage_service;

/* Empties namespaces that are deleted, and puts into each what every namespace has. */
extern const struct service_kind namespaces_service;

/* Marks nodes whose lease is not renewed, and removes pods of nodes that are lost or gone. */
extern const struct service_kind nodes_service;
