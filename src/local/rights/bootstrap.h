/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct policies;
struct server;
struct user;

/* Objects of rights that the server makes itself where they are missing. Those that are there stay as they are. They hold
 * at once, before they are on the disk. */

/* The roles that every cluster has, which charts and users bind, and those of the users of this machine. */
void bootstrap_roles(struct server *server, struct policies *policies);

/* The namespace of a user and its rights in it. A namespace that was made by
 * somebody else is not given away. */
void bootstrap_home(struct server *server, struct policies *policies, const struct user *user);

/* The name of the namespace: "u-alice", or "u-1000" when the user's name cannot be one. */
enum { HOME_NAME_MAX = 64 };
const char *home_name(const struct user *user, char name[static HOME_NAME_MAX]);
