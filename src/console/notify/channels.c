/* SPDX-License-Identifier: Apache-2.0 */
#include "console/notify/channels.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "console/assets/vault.h"
#include "console/notify/notices.h"
#include "console/outside/reach.h"
#include "console/rest/handlers.h"
#include "net/mail/mail.h"

enum { EVENTS_MAX = 32, EVENT_TEXT_MAX = 64, KEY_BYTES = 32, HOST_MAX = 253, PASSWORD_TEXT_MAX = 256 };

static const char *const names[] = {
    [CHANNEL_WEBHOOK] = "webhook",
    [CHANNEL_SLACK] = "slack",
    [CHANNEL_MAIL] = "mail",
};
_Static_assert(ARRAY_LEN(names) == _CHANNEL_TYPE_MAX, "a name for each type");

const char *notify_channel_type_name(enum channel_type type)
{
    return names[type];
}

bool notify_channel_type_parse(const char *text, enum channel_type *ret_type)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], text) == 0) {
            *ret_type = (enum channel_type)i;
            return true;
        }
    }
    return false;
}

const char *notify_channel_owner(const char *name, char owner[static CHANNEL_OWNER_MAX])
{
    (void)snprintf(owner, CHANNEL_OWNER_MAX, "channel/%s", name);
    return owner;
}

/* --- which notices --- */

/* "workload" is every notice of that event, "workload:Failed" those with that detail. */
static bool names_notice(const char *text, const struct notice *notice)
{
    size_t len = strlen(notice->event);

    return strncmp(text, notice->event, len) == 0 &&
           (!text[len] || (text[len] == ':' && strcmp(text + len + 1, notice->detail) == 0));
}

bool notify_channel_wants(yyjson_val *item, const struct notice *notice)
{
    struct place place;
    size_t i, count;
    yyjson_val *event;

    place_load(yyjson_obj_get(item, "place"), &place);
    if (!place_holds(&place, &notice->place))
        return false;
    yyjson_arr_foreach(yyjson_obj_get(item, "events"), i, count, event)
    {
        if (names_notice(yyjson_get_str(event), notice))
            return true;
    }
    return false;
}

static bool is_event(const char *text)
{
    size_t event = strcspn(text, ":");
    const char *detail = text + event;

    if ((event != 8 || strncmp(text, "workload", 8) != 0) && (event != 6 || strncmp(text, "change", 6) != 0))
        return false;
    return !*detail || (detail[1] && strlen(text) <= EVENT_TEXT_MAX &&
                        !detail[1 + strspn(detail + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-")]);
}

static int take_events(struct request *request, yyjson_mut_val *item, struct err *err)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(request->doc, item, "events");
    struct json_at events;
    const char *text = NULL;
    int r = json_member_array(&request->body, "events", JSON_REQUIRED, &events, err);

    if (r < 0)
        return r;
    if (yyjson_arr_size(events.val) == 0 || yyjson_arr_size(events.val) > EVENTS_MAX)
        return json_fail(&events, err, -EINVAL, "expected 1 to %d", EVENTS_MAX);
    for (struct json_at event = {0}; json_next(&events, &event);) {
        if ((r = json_str(&event, &text, err)) < 0)
            return r;
        if (!is_event(text))
            return json_fail(&event, err, -EINVAL,
                             "expected 'workload' or 'change', alone or with a phase or a type: 'workload:Failed', "
                             "'change:project'");
        (void)yyjson_mut_arr_add_strcpy(request->doc, list, text);
    }
    return 0;
}

static int take_scope(struct request *request, yyjson_mut_val *item, struct err *err)
{
    struct place place = {.scope = SCOPE_TENANT};
    int r = yyjson_obj_get(request->body.val, "scope") ? place_read(request, &request->body, &place, err) : 0;

    if (r == 0)
        place_save(request, yyjson_mut_obj_add_obj(request->doc, item, "place"), &place);
    return r;
}

/* --- where to --- */

static int keep_secret(struct request *request, const char *name, const char *secret, struct err *err)
{
    char owner[CHANNEL_OWNER_MAX];

    return vault_put(request->console->vault, notify_channel_owner(name, owner), secret, err);
}

/* The key is of our making: what people choose could be guessed from a signature. */
static int make_key(struct request *request, const char *name, char secret[static CHANNEL_SECRET_MAX], struct err *err)
{
    unsigned char key[KEY_BYTES];
    int len = snprintf(secret, CHANNEL_SECRET_MAX, "whsec_");

    randombytes_buf(key, sizeof key);
    (void)sodium_bin2base64(secret + len, CHANNEL_SECRET_MAX - (size_t)len, key, sizeof key,
                            sodium_base64_VARIANT_ORIGINAL);
    sodium_memzero(key, sizeof key);
    return keep_secret(request, name, secret, err);
}

static int take_url(struct request *request, const char **ret_url, struct err *err)
{
    int r = json_member_str(&request->body, "url", JSON_REQUIRED, ret_url, err);

    return r < 0 ? r : reach_check_url(&request->console->reach, *ret_url, err);
}

/* Whoever has the URL can write to the channel: it is a secret. */
static int take_slack(struct request *request, const char *name, bool is_new, struct err *err)
{
    const char *url = NULL;
    int r = json_member_str(&request->body, "url", JSON_REQUIRED, &url, err);

    if (r < 0 || (!is_new && strcmp(url, CHANNEL_HIDDEN) == 0))
        return r < 0 ? r : 0;
    r = take_url(request, &url, err);
    return r < 0 ? r : keep_secret(request, name, url, err);
}

static int take_recipients(struct request *request, const struct json_at *mail, yyjson_mut_val *to, struct err *err)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(request->doc, to, "to");
    struct json_at recipients;
    const char *address = NULL;
    int r = json_member_array(mail, "to", JSON_REQUIRED, &recipients, err);

    if (r < 0)
        return r;
    if (yyjson_arr_size(recipients.val) == 0 || yyjson_arr_size(recipients.val) > MAIL_RECIPIENTS_MAX)
        return json_fail(&recipients, err, -EINVAL, "expected 1 to %d", MAIL_RECIPIENTS_MAX);
    for (struct json_at one = {0}; json_next(&recipients, &one);) {
        if ((r = json_str(&one, &address, err)) < 0 || (r = check_email(address, err)) < 0)
            return r;
        (void)yyjson_mut_arr_add_strcpy(request->doc, list, address);
    }
    return 0;
}

/* Letters of names and addresses: the host becomes a part of a URL. */
static int check_host(const struct json_at *mail, const char *host, struct err *err)
{
    size_t len = strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:");

    return len > 0 && len <= HOST_MAX && !host[len] ? 0
                                                    : json_fail(mail, err, -EINVAL, "host: expected a name or address");
}

/* A password is for the server that it was given for: whoever sends it elsewhere has to know it. */
static bool is_same_server(yyjson_mut_val *before, yyjson_mut_val *mail)
{
    static const char *const members[] = {"host", "port", "tls"};
    yyjson_mut_val *old = yyjson_mut_obj_get(before, "mail");

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        if (!yyjson_mut_equals(yyjson_mut_obj_get(old, members[i]), yyjson_mut_obj_get(mail, members[i])))
            return false;
    }
    return true;
}

static int take_login(struct request *request, const char *name, yyjson_mut_val *before, const struct json_at *mail,
                      yyjson_mut_val *to, struct err *err)
{
    const char *user = "", *password = "";
    int r;

    if ((r = json_member_str(mail, "username", JSON_OPTIONAL, &user, err)) < 0 ||
        (r = json_member_str(mail, "password", JSON_OPTIONAL, &password, err)) < 0)
        return r;
    if (strlen(user) > PASSWORD_TEXT_MAX || strlen(password) > PASSWORD_TEXT_MAX)
        return json_fail(mail, err, -EINVAL, "username, password: longer than %d bytes", PASSWORD_TEXT_MAX);
    put_text(request->doc, to, "username", user);
    if (!before || strcmp(password, CHANNEL_HIDDEN) != 0)
        return keep_secret(request, name, password, err);
    return is_same_server(before, to)
               ? 0
               : json_fail(mail, err, -EINVAL, "password: required for another host, port or tls");
}

static int take_mail(struct request *request, const char *name, yyjson_mut_val *before, yyjson_mut_val *item,
                     struct err *err)
{
    static const char *const ways[] = {[MAIL_STARTTLS] = "starttls", [MAIL_TLS] = "tls", [MAIL_PLAIN] = "none"};
    yyjson_mut_val *to = yyjson_mut_obj_add_obj(request->doc, item, "mail");
    const char *host = NULL, *from = NULL, *tls = ways[MAIL_STARTTLS];
    int64_t port = 587;
    size_t way = 0;
    struct json_at mail;
    int r;

    if ((r = json_member_object(&request->body, "mail", JSON_REQUIRED, &mail, err)) < 0 ||
        (r = json_member_str(&mail, "host", JSON_REQUIRED, &host, err)) < 0 || (r = check_host(&mail, host, err)) < 0 ||
        (r = json_member_int64(&mail, "port", JSON_OPTIONAL, 1, UINT16_MAX, &port, err)) < 0 ||
        (r = json_member_str(&mail, "tls", JSON_OPTIONAL, &tls, err)) < 0 ||
        (r = json_member_str(&mail, "from", JSON_REQUIRED, &from, err)) < 0 || (r = check_email(from, err)) < 0 ||
        (r = take_recipients(request, &mail, to, err)) < 0)
        return r;
    while (way < ARRAY_LEN(ways) && strcmp(ways[way], tls) != 0)
        way++;
    if (way == ARRAY_LEN(ways))
        return json_fail(&mail, err, -EINVAL, "tls: expected starttls, tls or none");
    put_text(request->doc, to, "host", host);
    (void)yyjson_mut_obj_add_sint(request->doc, to, "port", port);
    put_text(request->doc, to, "tls", tls);
    put_text(request->doc, to, "from", from);
    return take_login(request, name, before, &mail, to, err);
}

static int take_target(struct request *request, enum channel_type type, const char *name, yyjson_mut_val *before,
                       yyjson_mut_val *item, char secret[static CHANNEL_SECRET_MAX], struct err *err)
{
    const char *url = NULL;
    int r;

    if (type == CHANNEL_MAIL)
        return take_mail(request, name, before, item, err);
    if (type == CHANNEL_SLACK)
        return take_slack(request, name, before == NULL, err);
    r = take_url(request, &url, err);
    if (r < 0)
        return r;
    put_text(request->doc, item, "url", url);
    return !before ? make_key(request, name, secret, err) : 0;
}

int notify_channel_read(struct request *request, const char *name, yyjson_mut_val *before, yyjson_mut_val **ret_item,
                        char ret_secret[static CHANNEL_SECRET_MAX], struct err *err)
{
    yyjson_mut_val *item = yyjson_mut_obj(request->doc);
    const char *text = NULL;
    enum channel_type type;
    int r = json_member_str(&request->body, "type", JSON_REQUIRED, &text, err);

    ret_secret[0] = '\0';
    if (r < 0)
        return r;
    if (!notify_channel_type_parse(text, &type))
        return err_set(err, -EINVAL, "type: expected webhook, slack or mail");
    if (before && !yyjson_mut_equals_str(yyjson_mut_obj_get(before, "type"), text))
        return err_set(err, -EINVAL, "type: a channel keeps its type");
    put_text(request->doc, item, "name", name);
    put_text(request->doc, item, "type", text);
    if ((r = take_events(request, item, err)) < 0 || (r = take_scope(request, item, err)) < 0)
        return r;
    *ret_item = item;
    return take_target(request, type, name, before, item, ret_secret, err);
}
