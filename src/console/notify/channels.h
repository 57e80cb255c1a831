/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;
struct json_at;
struct notice;
struct request;

/*
 * Where notices go: a webhook, an incoming webhook of Slack, or mail. A channel says which notices it wants, and belongs to a
 * scope, of which it gets those. Its secret (the key of signatures, the URL of Slack, the password of the mail server) is in the
 * vault, under notify_channel_owner().
 */
#define ITEM_CHANNEL "notification-channel"  // "": names are unique; the identifier is the name

enum channel_type { CHANNEL_WEBHOOK, CHANNEL_SLACK, CHANNEL_MAIL, _CHANNEL_TYPE_MAX };

const char *notify_channel_type_name(enum channel_type type);
bool notify_channel_type_parse(const char *text, enum channel_type *ret_type);

enum { CHANNEL_NAME_MAX = 50, CHANNEL_OWNER_MAX = 80 };
const char *notify_channel_owner(const char *name, char owner[static CHANNEL_OWNER_MAX]);

/* What is shown in the place of a secret. A request with it leaves the secret as it is. */
#define CHANNEL_HIDDEN "********"

/* Whether the channel of this item is to get a notice. */
bool notify_channel_wants(yyjson_val *item, const struct notice *notice);

/*
 * Reads the request's body into an item; `before` is the item that it takes the place of, NULL for a new one. A new webhook's
 * key is made here and written into `ret_secret` (at least CHANNEL_SECRET_MAX bytes), which is empty otherwise.
 */
enum { CHANNEL_SECRET_MAX = 64 };
MUST_CHECK int notify_channel_read(struct request *request, const char *name, yyjson_mut_val *before,
                                   yyjson_mut_val **ret_item, char ret_secret[static CHANNEL_SECRET_MAX],
                                   struct err *err);
