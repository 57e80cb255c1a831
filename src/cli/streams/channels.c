/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/streams/channels.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kube/client/meta.h"
#include "objects/fields.h"
#include "text/json.h"

bool channel_read(const char *bytes, size_t len, struct channel_message *ret)
{
    unsigned char channel = len > 0 ? (unsigned char)bytes[0] : CHANNEL_INPUT;

    if (len == 0 || (channel > CHANNEL_END && channel != CHANNEL_CLOSING))
        return false;
    *ret = (struct channel_message){.channel = channel, .bytes = bytes + 1, .len = len - 1};
    return true;
}

/* The code is one of the causes. Returns 0 where there is none: a command that fails has another one. */
static int code_in(yyjson_val *status)
{
    yyjson_val *causes = yyjson_obj_get(yyjson_obj_get(status, "details"), "causes");
    yyjson_val *cause;
    size_t i, max;
    int64_t code = 0;

    yyjson_arr_foreach(causes, i, max, cause)
    {
        if (strcmp(kube_text(cause, "reason"), "ExitCode") == 0 &&
            int_parse(kube_text(cause, "message"), 1, 255, &code))
            return (int)code;
    }
    return 0;
}

int channel_exit_status(const char *text, size_t len, int *ret_status, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    if (json_parse(text, len, "the server's last message", &doc, err) < 0)
        return err_wrap(err, -EPROTO, "the exit status cannot be read");
    yyjson_val *status = yyjson_doc_get_root(doc);
    if (strcmp(kube_text(status, "status"), "Success") == 0) {
        *ret_status = 0;
        return 0;
    }
    if (strcmp(kube_text(status, "reason"), "NonZeroExitCode") == 0 && code_in(status) > 0) {
        *ret_status = code_in(status);
        return 0;
    }
    const char *message = kube_text(status, "message");
    if (*message)
        return err_set(err, -EINVAL, "%s", message);
    return err_set(err, -EPROTO, "the server's last message says neither success nor failure");
}

size_t channel_size_message(unsigned columns, unsigned lines, char message[static CHANNEL_SIZE_BYTES])
{
    int len = snprintf(message, CHANNEL_SIZE_BYTES, "%c{\"Width\":%u,\"Height\":%u}", CHANNEL_SIZE, columns, lines);

    return (size_t)len;
}
