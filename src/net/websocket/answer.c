/* SPDX-License-Identifier: Apache-2.0 */
#include "net/websocket/answer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { HEADER_MAX = 8 << 10, HEAD_MAX = 64 << 10, BODY_MAX = 64 << 10 };

static int add(struct websocket_answer *answer, struct strbuf *to, const char *bytes, size_t len)
{
    answer->head_len += len;
    strbuf_add(to, bytes, len);
    return to->is_cut || answer->head_len > HEAD_MAX ? HPE_USER : HPE_OK;
}

static int on_name(llhttp_t *parser, const char *bytes, size_t len)
{
    struct websocket_answer *answer = parser->data;

    return add(answer, &answer->name, bytes, len);
}

static int on_value(llhttp_t *parser, const char *bytes, size_t len)
{
    struct websocket_answer *answer = parser->data;

    return add(answer, &answer->value, bytes, len);
}

static int on_value_complete(llhttp_t *parser)
{
    struct websocket_answer *answer = parser->data;
    const char *name = answer->name.text;
    const char *value = answer->value.text;

    if (strcasecmp(name, "Upgrade") == 0)
        answer->is_upgrade = strcasecmp(value, "websocket") == 0;
    else if (strcasecmp(name, "Sec-WebSocket-Accept") == 0)
        (void)snprintf(answer->accept, sizeof answer->accept, "%s", value);
    else if (strcasecmp(name, "Sec-WebSocket-Protocol") == 0)
        (void)snprintf(answer->protocol, sizeof answer->protocol, "%s", value);
    strbuf_clear(&answer->name);
    strbuf_clear(&answer->value);
    return HPE_OK;
}

static int on_head_complete(llhttp_t *parser)
{
    struct websocket_answer *answer = parser->data;

    answer->status = llhttp_get_status_code(parser);
    return 0;
}

/* What does not fit is left out: the reason of a refusal comes first. */
static int on_body(llhttp_t *parser, const char *bytes, size_t len)
{
    struct websocket_answer *answer = parser->data;

    strbuf_add(&answer->body, bytes, len);
    return HPE_OK;
}

/* One answer is all that is read here; "100 Continue" and its like come before it. */
static int on_complete(llhttp_t *parser)
{
    struct websocket_answer *answer = parser->data;

    answer->has_ended = answer->status == 101 || answer->status >= 200;
    return answer->has_ended ? HPE_PAUSED : HPE_OK;
}

void websocket_answer_init(struct websocket_answer *answer)
{
    memset(answer, 0, sizeof *answer);
    llhttp_settings_init(&answer->settings);
    answer->settings.on_header_field = on_name;
    answer->settings.on_header_value = on_value;
    answer->settings.on_header_value_complete = on_value_complete;
    answer->settings.on_headers_complete = on_head_complete;
    answer->settings.on_body = on_body;
    answer->settings.on_message_complete = on_complete;
    llhttp_init(&answer->parser, HTTP_RESPONSE, &answer->settings);
    answer->parser.data = answer;
    strbuf_init(&answer->name, HEADER_MAX);
    strbuf_init(&answer->value, HEADER_MAX);
    strbuf_init(&answer->body, BODY_MAX);
}

void websocket_answer_done(struct websocket_answer *answer)
{
    strbuf_done(&answer->name);
    strbuf_done(&answer->value);
    strbuf_done(&answer->body);
}

ssize_t websocket_answer_read(struct websocket_answer *answer, const char *bytes, size_t len)
{
    if (answer->has_ended)
        return 0;
    llhttp_errno_t result = llhttp_execute(&answer->parser, bytes, len);

    if (result == HPE_OK)
        return (ssize_t)len;
    if ((result == HPE_PAUSED || result == HPE_PAUSED_UPGRADE) && answer->has_ended)
        return llhttp_get_error_pos(&answer->parser) - bytes;
    return -EPROTO;
}
