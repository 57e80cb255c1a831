/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"

struct err;
struct oidc_person;
struct request;

/*
 * The user of somebody who has signed in at an identity provider, made at the first time, with the groups, uid and gid that the
 * provider says now. The user belongs to the provider's subject: a local user, or one of another provider, with the same e-mail
 * address is not taken over. Fills in the request's id and name.
 */
MUST_CHECK int sso_user_keep(struct request *request, const char *alias, const struct oidc_person *person,
                             struct err *err);
