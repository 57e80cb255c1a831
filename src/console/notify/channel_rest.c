/* SPDX-License-Identifier: Apache-2.0 */

/* The handlers of notification channels. */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "console/assets/vault.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/notify/channels.h"
#include "console/notify/notices.h"
#include "console/rest/handlers.h"

enum { CHANNELS_MAX = 64 };

/* As clients see it: no secret, and the scope as everywhere. */
static yyjson_mut_val *shown(struct request *request, yyjson_mut_val *item)
{
    yyjson_mut_doc *doc = request->doc;
    yyjson_doc *kept = yyjson_mut_val_imut_copy(yyjson_mut_obj_get(item, "place"), NULL);
    yyjson_mut_val *mail = yyjson_mut_obj_get(item, "mail");
    struct place place;

    BUG_ON(!kept);
    place_load(yyjson_doc_get_root(kept), &place);
    yyjson_doc_free(kept);
    (void)yyjson_mut_obj_remove_key(item, "place");
    place_put(request, item, &place);
    if (yyjson_mut_equals_str(yyjson_mut_obj_get(item, "type"), notify_channel_type_name(CHANNEL_SLACK)))
        put_text(doc, item, "url", CHANNEL_HIDDEN);
    if (mail)
        put_text(doc, mail, "password", CHANNEL_HIDDEN);
    return item;
}

static void note(struct request *request, const char *action, const char *name)
{
    request->action = action;
    request->type = ITEM_CHANNEL;
    (void)snprintf(request->id, sizeof request->id, "%.36s", name);
    (void)snprintf(request->name, sizeof request->name, "%s", name);
}

static const char *path_name(const struct request *request)
{
    return rest_param(request->exchange, "channel");
}

static int take_channel(struct request *request, yyjson_mut_val **ret_item, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = item_get(request->console->db, ITEM_CHANNEL, path_name(request), &doc, err);

    if (r == 0)
        *ret_item = copy_item(request->doc, yyjson_doc_get_root(doc));
    return r;
}

static int add_shown(void *arg, yyjson_val *item)
{
    struct request *request = arg;

    (void)yyjson_mut_arr_append(request->answer, shown(request, copy_item(request->doc, item)));
    return 0;
}

static int list_channels(struct request *request, struct err *err)
{
    request->answer = yyjson_mut_arr(request->doc);
    return items_each(request->console->db, ITEM_CHANNEL, "", add_shown, request, err);
}
READS(handle_list_channels, list_channels)

static int get_channel(struct request *request, struct err *err)
{
    int r = take_channel(request, &request->answer, err);

    return r < 0 ? r : (shown(request, request->answer), 0);
}
READS(handle_get_channel, get_channel)

static int check_name(struct request *request, const char *name, struct err *err)
{
    int64_t count = 0;
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    int r;

    if (len == 0 || len > CHANNEL_NAME_MAX || name[len])
        return err_set(err, -EINVAL, "name: 1 to %d lower-case letters, digits and '-' are allowed", CHANNEL_NAME_MAX);
    r = db_query_number(request->console->db,
                        DB_CALL("SELECT count(*) FROM items WHERE kind = $1", db_text(ITEM_CHANNEL)), &count, err);
    return r == 0 && count >= CHANNELS_MAX ? err_set(err, -EINVAL, "there are %d channels already", CHANNELS_MAX) : r;
}

static int create_channel(struct request *request, struct err *err)
{
    char secret[CHANNEL_SECRET_MAX];
    const char *name = NULL;
    int r;

    if ((r = json_member_str(&request->body, "name", JSON_REQUIRED, &name, err)) < 0 ||
        (r = check_name(request, name, err)) < 0 ||
        (r = notify_channel_read(request, name, NULL, &request->answer, secret, err)) < 0 ||
        (r = item_insert(request->console->db, &(struct item_key){ITEM_CHANNEL, name, "", name}, request->answer,
                         err)) < 0)
        return r;
    shown(request, request->answer);
    if (*secret)
        put_text(request->doc, request->answer, "secret", secret);
    sodium_memzero(secret, sizeof secret);
    request->status = 201;
    note(request, "create", name);
    return 0;
}
CHANGES(handle_create_channel, create_channel)

static int update_channel(struct request *request, struct err *err)
{
    char secret[CHANNEL_SECRET_MAX];
    yyjson_mut_val *before = NULL;
    int r;

    if ((r = take_channel(request, &before, err)) < 0 ||
        (r = notify_channel_read(request, path_name(request), before, &request->answer, secret, err)) < 0 ||
        (r = item_update(request->console->db, ITEM_CHANNEL, path_name(request), request->answer, err)) < 0)
        return r;
    shown(request, request->answer);
    note(request, "update", path_name(request));
    return 0;
}
CHANGES(handle_update_channel, update_channel)

static int delete_channel(struct request *request, struct err *err)
{
    char owner[CHANNEL_OWNER_MAX];
    const char *name = path_name(request);
    int r;

    if ((r = item_delete(request->console->db, ITEM_CHANNEL, name, err)) < 0 ||
        (r = vault_delete(request->console->vault, notify_channel_owner(name, owner), err)) < 0 ||
        (r = notify_drop(request->console, name, err)) < 0)
        return r;
    request->status = 204;
    note(request, "delete", name);
    return 0;
}
CHANGES(handle_delete_channel, delete_channel)

/* Is sent as any other; how it went is the channel's state. */
static int test_channel(struct request *request, struct err *err)
{
    yyjson_mut_val *item = NULL;
    const char *name = path_name(request);
    int r = take_channel(request, &item, err);

    if (r < 0)
        return r;
    request->status = 202;
    note(request, "test", name);
    return notify_add_to(request->console, name,
                         &(struct notice){.event = "test", .detail = "test", .id = name, .name = name}, err);
}
CHANGES(handle_test_channel, test_channel)
