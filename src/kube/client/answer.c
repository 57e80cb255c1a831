/* SPDX-License-Identifier: Apache-2.0 */

/* What an answer means: the server's Status in our terms. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kube/client/client_internal.h"
#include "kube/client/meta.h"
#include "text/json.h"

static const struct {
    const char *reason;  // NULL: any
    int status;
    int code;
} codes[] = {
    {"Expired", 400, -ESTALE},
    {NULL, 400, -EINVAL},
    {NULL, 401, -EACCES},
    {NULL, 403, -EPERM},
    {NULL, 404, -ENOENT},
    {NULL, 405, -EOPNOTSUPP},
    {"AlreadyExists", 409, -EEXIST},
    {NULL, 409, -EAGAIN},
    {NULL, 410, -ESTALE},
    {NULL, 413, -EFBIG},
    {NULL, 415, -EINVAL},
    {NULL, 422, -EINVAL},
    {NULL, 429, -EBUSY},
    {NULL, 504, -ETIMEDOUT},
};

static int code_of(int status, const char *reason)
{
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        if (codes[i].status == status && (!codes[i].reason || strcmp(codes[i].reason, reason) == 0))
            return codes[i].code;
    }
    return -EIO;
}

int kube_answer_object(const struct kube_answer *answer, yyjson_val **ret_object, struct err *err)
{
    struct kube_call *call = answer->call;

    if (!call)
        return err_set(err, -ENODATA, "no request was sent to the server");
    if (!call->doc) {
        int r = json_parse(answer->body, answer->body_len, "the answer", &call->doc, err);

        if (r < 0)
            return err_wrap(err, r, "%s", call->what);
    }
    *ret_object = yyjson_doc_get_root(call->doc);
    return 0;
}

bool kube_answer_is_conflict(const struct kube_answer *answer)
{
    return answer->status == 409 && strcmp(answer->reason, "AlreadyExists") != 0;
}

bool kube_answer_is_expired(const struct kube_answer *answer)
{
    return answer->status == 410 || strcmp(answer->reason, "Expired") == 0;
}

/* What comes from outside goes into a message of one line. */
static void add_line(struct err *err, int code, int status, const char *text)
{
    char line[400];
    size_t len = 0;

    for (; *text && len < sizeof line - 1; text++)
        line[len++] = (char)((unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text);
    while (len > 0 && line[len - 1] == ' ')
        len--;
    line[len] = '\0';
    (void)err_set(err, code, "%s%s(HTTP status %d)", line, len ? " " : "", status);
}

void kube_answer_describe(struct kube_answer *answer)
{
    yyjson_val *object = NULL;

    answer->reason = "";
    if (answer->err.code == 0 && answer->status / 100 != 2) {
        const char *message = answer->body;

        if (kube_answer_object(answer, &object, NULL) == 0 && strcmp(kube_text(object, "kind"), "Status") == 0) {
            message = kube_text(object, "message");
            answer->reason = kube_text(object, "reason");
        }
        add_line(&answer->err, code_of(answer->status, answer->reason), answer->status, message);
    }
}

void kube_answer_explain(struct kube_answer *answer, const char *what)
{
    kube_answer_describe(answer);
    if (answer->err.code < 0)
        (void)err_wrap(&answer->err, answer->err.code, "%s", what);
}
