/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A round takes the rows that are due and sends them side by side; the next round begins when all have ended. Rows are removed by
 * their outcome, never before: see notices.h on crashes.
 */
#include "console/notify/deliver.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "console/assets/vault.h"
#include "console/data/db.h"
#include "console/data/items.h"
#include "console/notify/channels.h"
#include "console/notify/notices.h"
#include "console/org/sync.h"
#include "console/rest/handlers.h"
#include "frame/service.h"
#include "net/http.h"
#include "net/loop.h"
#include "net/mail/mail.h"

enum { AT_ONCE = 16, ANSWER_MAX = 16 << 10, BODY_MAX = 16 << 10, HEADER_MAX = 256, TRIES_MAX = 12 };

#define ROUND_EACH (NSEC_PER_SEC / 2)
#define SEND_TIMEOUT (15 * NSEC_PER_SEC)
#define DELAY_FIRST (5 * NSEC_PER_SEC)
#define DELAY_MAX (4 * NSEC_PER_HOUR)

#define STATE_OK "Ok"
#define STATE_FAILING "Failing"

struct delivery {
    struct console *console;
    struct loop_timer round;
    struct list sendings;  // that are under way
};

struct sending {
    struct list_link link;
    struct delivery *delivery;
    int64_t seq;
    int64_t tries;
    char *channel;
    char *text;  // the notice
    yyjson_doc *notice;
    yyjson_doc *item;  // the channel
    char *secret;
    struct err outcome;  // of mail
};

static const char *text_at(yyjson_doc *doc, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_doc_ptr_get(doc, pointer));

    return text ? text : "";
}

static void sending_free(struct sending *sending)
{
    if (sending->secret)
        sodium_memzero(sending->secret, strlen(sending->secret));
    free(sending->secret);
    free(sending->channel);
    free(sending->text);
    yyjson_doc_free(sending->notice);
    yyjson_doc_free(sending->item);
    free(sending);
}

/* --- the end --- */

/* Written when it becomes another one, so that a channel that works costs no writes. */
static int write_state(struct console *console, const struct sending *sending, const char *problem, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = item_get(console->db, ITEM_CHANNEL, sending->channel, &doc, err);

    if (r < 0)
        return r == -ENOENT ? 0 : r;
    const char *state = *problem ? STATE_FAILING : STATE_OK;
    if (strcmp(text_at(doc, "/state"), state) == 0 && strcmp(text_at(doc, "/problem"), problem) == 0)
        return 0;
    yyjson_mut_doc *made = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *item = copy_item(made, yyjson_doc_get_root(doc));
    static const char *const members[] = {"state", "problem", "stateSince"};
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        (void)yyjson_mut_obj_remove_key(item, members[i]);
    put_text(made, item, "state", state);
    put_text(made, item, "problem", problem);
    put_now(made, item, "stateSince");
    r = item_update(console->db, ITEM_CHANNEL, sending->channel, item, err);
    yyjson_mut_doc_free(made);
    return r;
}

static nsec_t delay_of(int64_t tries)
{
    nsec_t delay = DELAY_FIRST;

    for (int64_t i = 0; i < tries && delay < DELAY_MAX; i++)
        delay *= 3;
    return MIN(delay, DELAY_MAX);
}

static int write_outcome(struct console *console, const struct sending *sending, const char *problem, struct err *err)
{
    bool is_over = !*problem || sending->tries + 1 >= TRIES_MAX;
    int r = is_over
                ? db_run(console->db, DB_CALL("DELETE FROM notices WHERE seq = $1", db_number(sending->seq)), NULL, err)
                : db_run(console->db,
                         DB_CALL("UPDATE notices SET tries = tries + 1, due = $2 WHERE seq = $1",
                                 db_number(sending->seq), db_number(nsec_now_wall() + delay_of(sending->tries))),
                         NULL, err);

    return r < 0 ? r : write_state(console, sending, problem, err);
}

static void note_outcome(struct console *console, const struct sending *sending, const char *problem)
{
    struct err err = {0};
    int r = db_begin(console->db, &err);

    if (r == 0) {
        r = write_outcome(console, sending, problem, &err);
        if (r == 0)
            r = db_commit(console->db, &err);
        else
            db_rollback(console->db);
    }
    if (*problem)
        log_warn(console->service->log, "a notice was not delivered", log_str("channel", sending->channel),
                 log_int("tries", sending->tries + 1), log_str("problem", problem));
    if (r < 0)
        log_warn(console->service->log, "the end of a delivery could not be written; it is sent again",
                 log_error(&err));
}

/* `problem` is why it was not taken; "": it was. */
static void sending_end(struct sending *sending, const char *problem)
{
    struct delivery *delivery = sending->delivery;

    list_remove(&delivery->sendings, &sending->link);
    note_outcome(delivery->console, sending, problem);
    sending_free(sending);
    if (delivery->sendings.len == 0)
        loop_timer_start(&delivery->round, ROUND_EACH);
}

/* --- webhooks and Slack --- */

static void on_done(void *arg, const struct http_response *response)
{
    char problem[512] = "";

    if (response->err.code)
        (void)snprintf(problem, sizeof problem, "%s", response->err.text);
    else if (response->status / 100 != 2)
        (void)snprintf(problem, sizeof problem, "it answered with status %d", response->status);
    sending_end(arg, problem);
}

static int post(struct sending *sending, const char *url, const char *body, const char *const *headers, struct err *err)
{
    struct console *console = sending->delivery->console;
    bool is_plain = strncmp(url, "http://", 7) == 0;
    int r = reach_check_url(&console->reach, url, err);

    if (r < 0)
        return r;
    (void)http_start(console->outside, &(struct http_request){
                                           .method = "POST",
                                           .url = url,
                                           .headers = headers,
                                           .body = body,
                                           .body_len = strlen(body),
                                           .may_connect = is_plain ? reach_allows_plain : reach_allows_tls,
                                           .may_connect_arg = &console->reach,
                                           .timeout = SEND_TIMEOUT,
                                           .body_max = ANSWER_MAX,
                                           .on_done = on_done,
                                           .arg = sending,
                                       });
    return 0;
}

static int sign(const struct sending *sending, const char *id, const char *timestamp, char *header, struct err *err)
{
    const char *key = strchr(sending->secret, '_');
    unsigned char bytes[64], mac[crypto_auth_hmacsha256_BYTES];
    crypto_auth_hmacsha256_state state;
    size_t len = 0;
    const char *const parts[] = {id, ".", timestamp, ".", sending->text};

    if (!key || sodium_base642bin(bytes, sizeof bytes, key + 1, strlen(key + 1), NULL, &len, NULL,
                                  sodium_base64_VARIANT_ORIGINAL) != 0)
        return err_set(err, -EBADMSG, "the channel has no key");
    (void)crypto_auth_hmacsha256_init(&state, bytes, len);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        (void)crypto_auth_hmacsha256_update(&state, (const unsigned char *)parts[i], strlen(parts[i]));
    (void)crypto_auth_hmacsha256_final(&state, mac);
    sodium_memzero(bytes, sizeof bytes);
    len = (size_t)snprintf(header, HEADER_MAX, "webhook-signature: v1,");
    (void)sodium_bin2base64(header + len, HEADER_MAX - len, mac, sizeof mac, sodium_base64_VARIANT_ORIGINAL);
    return 0;
}

static int send_webhook(struct sending *sending, struct err *err)
{
    const char *id = text_at(sending->notice, "/id");
    char id_header[HEADER_MAX], time_header[HEADER_MAX], signature[HEADER_MAX], timestamp[24];
    const char *const headers[] = {"Content-Type: application/json", id_header, time_header, signature, NULL};

    (void)snprintf(timestamp, sizeof timestamp, "%lld", (long long)(nsec_now_wall() / NSEC_PER_SEC));
    (void)snprintf(id_header, sizeof id_header, "webhook-id: %s", id);
    (void)snprintf(time_header, sizeof time_header, "webhook-timestamp: %s", timestamp);
    int r = sign(sending, id, timestamp, signature, err);
    return r < 0 ? r : post(sending, text_at(sending->item, "/url"), sending->text, headers, err);
}

/* Slack takes <...> for a link or a call to everyone: a name is neither. */
static char *escape(const char *words)
{
    struct strbuf text;

    strbuf_init(&text, BODY_MAX);
    for (; *words; words++) {
        if (*words == '&' || *words == '<' || *words == '>')
            strbuf_addstr(&text, *words == '&' ? "&amp;" : *words == '<' ? "&lt;" : "&gt;");
        else
            strbuf_addch(&text, *words);
    }
    return strbuf_take(&text);
}

static int send_slack(struct sending *sending, struct err *err)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    _cleanup_(freep) char *words = notify_words(yyjson_doc_get_root(sending->notice));
    _cleanup_(freep) char *escaped = escape(words);
    yyjson_mut_val *root;
    yyjson_mut_doc *doc = json_new_object(&root);

    put_text(doc, root, "text", escaped);
    char *body = yyjson_mut_write(doc, YYJSON_WRITE_ALLOW_INVALID_UNICODE, NULL);
    BUG_ON(!body);
    int r = post(sending, sending->secret, body, headers, err);
    free(body);
    yyjson_mut_doc_free(doc);
    return r;
}

/* --- mail --- */

static enum mail_tls tls_of(yyjson_doc *item)
{
    const char *tls = text_at(item, "/mail/tls");

    return strcmp(tls, "tls") == 0 ? MAIL_TLS : strcmp(tls, "none") == 0 ? MAIL_PLAIN : MAIL_STARTTLS;
}

/* In another thread, which reads what nobody changes meanwhile. */
static void send_by_server(void *arg)
{
    struct sending *sending = arg;
    struct console *console = sending->delivery->console;
    const char *to[MAIL_RECIPIENTS_MAX + 1] = {NULL};
    _cleanup_(freep) char *words = notify_words(yyjson_doc_get_root(sending->notice));
    size_t i, count;
    yyjson_val *address;
    const struct mail_server server = {
        .host = text_at(sending->item, "/mail/host"),
        .port = (uint16_t)yyjson_get_uint(yyjson_doc_ptr_get(sending->item, "/mail/port")),
        .tls = tls_of(sending->item),
        .user = text_at(sending->item, "/mail/username"),
        .password = sending->secret,
        .may_connect = tls_of(sending->item) == MAIL_PLAIN ? reach_allows_plain : reach_allows_tls,
        .may_connect_arg = &console->reach,
        .timeout = SEND_TIMEOUT,
    };

    yyjson_arr_foreach(yyjson_doc_ptr_get(sending->item, "/mail/to"), i, count, address)
    {
        if (i < MAIL_RECIPIENTS_MAX)
            to[i] = yyjson_get_str(address);
    }
    int r = mail_send(&server,
                      &(struct mail){.from = text_at(sending->item, "/mail/from"),
                                     .to = to,
                                     .id = text_at(sending->notice, "/id"),
                                     .subject = words,
                                     .body = words},
                      &sending->outcome);
    BUG_ON(r < 0 && sending->outcome.code == 0);
}

static void sent_by_server(void *arg)
{
    struct sending *sending = arg;
    struct console *console = sending->delivery->console;

    sending_end(sending, sending->outcome.code ? sending->outcome.text : "");
    console->works--;
    console_work_done(console);
}

static int send_mail(struct sending *sending, struct err *err)
{
    struct console *console = sending->delivery->console;

    (void)err;
    console->works++;
    loop_work(console->service->loop, send_by_server, sent_by_server, sending);
    return 0;
}

/* --- rounds --- */

static int (*const senders[])(struct sending *sending, struct err *err) = {
    [CHANNEL_WEBHOOK] = send_webhook,
    [CHANNEL_SLACK] = send_slack,
    [CHANNEL_MAIL] = send_mail,
};
_Static_assert(ARRAY_LEN(senders) == _CHANNEL_TYPE_MAX, "each type is sent");

static int load(struct sending *sending, enum channel_type *ret_type, struct err *err)
{
    struct console *console = sending->delivery->console;
    char owner[CHANNEL_OWNER_MAX];
    int r;

    if ((r = item_get(console->db, ITEM_CHANNEL, sending->channel, &sending->item, err)) < 0 ||
        (r = vault_get(console->vault, notify_channel_owner(sending->channel, owner), &sending->secret, err)) < 0 ||
        (r = json_parse(sending->text, strlen(sending->text), "a notice", &sending->notice, err)) < 0)
        return r;
    return notify_channel_type_parse(text_at(sending->item, "/type"), ret_type) ? 0
                                                                                : err_set(err, -EBADMSG, "its type");
}

static int take_row(void *arg, const struct db_value *columns, size_t count)
{
    struct delivery *delivery = arg;
    struct sending *sending = xcalloc(1, sizeof *sending);

    (void)count;
    sending->delivery = delivery;
    sending->seq = columns[0].number;
    sending->channel = xstrdup(columns[1].text);
    sending->text = xstrdup(columns[2].text);
    sending->tries = columns[3].number;
    list_push(&delivery->sendings, &sending->link);
    return 0;
}

static void begin_all(struct delivery *delivery)
{
    for (struct list_link *link = delivery->sendings.first, *next; link; link = next) {
        struct sending *sending = list_item(link, struct sending, link);
        struct err err = {0};
        enum channel_type type = CHANNEL_WEBHOOK;

        next = link->next;
        int r = load(sending, &type, &err);
        if (r == 0)
            r = senders[type](sending, &err);
        if (r < 0)
            sending_end(sending, err.text);
    }
}

static void on_round(void *arg)
{
    struct delivery *delivery = arg;
    struct console *console = delivery->console;
    struct err err = {0};
    int r = 0;

    if (sync_is_leading(console->sync) && !console->is_stopping)
        r = db_query(
            console->db,
            DB_CALL("SELECT seq, channel, notice, tries FROM notices WHERE due <= $1 ORDER BY due, seq LIMIT $2",
                    db_number(nsec_now_wall()), db_number(AT_ONCE)),
            take_row, delivery, &err);
    if (r < 0)
        log_warn(console->service->log, "notices could not be read; trying again later", log_error(&err));
    if (delivery->sendings.len == 0)
        loop_timer_start(&delivery->round, r < 0 ? DELAY_FIRST : ROUND_EACH);
    else
        begin_all(delivery);
}

struct delivery *delivery_new(struct console *console)
{
    struct delivery *delivery = xcalloc(1, sizeof *delivery);

    delivery->console = console;
    loop_timer_init(&delivery->round, console->service->loop, on_round, delivery);
    loop_timer_start(&delivery->round, ROUND_EACH);
    return delivery;
}

void delivery_free(struct delivery *delivery)
{
    if (!delivery)
        return;
    loop_timer_done(&delivery->round);
    while (delivery->sendings.first) {
        struct sending *sending = list_first(&delivery->sendings, struct sending, link);

        list_remove(&delivery->sendings, &sending->link);
        sending_free(sending);
    }
    free(delivery);
}
