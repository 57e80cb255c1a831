/* SPDX-License-Identifier: Apache-2.0 */

/* Any message of a server is one of a known channel or none, and any end is an exit status or an error that says why. */
#include "cli/streams/channels.h"

#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct channel_message message;
    struct err err = {0};
    int status = -1;

    if (!channel_read((const char *)data, size, &message)) {
        BUG_ON(size > 0 && (data[0] <= CHANNEL_END || data[0] == CHANNEL_CLOSING));
        return 0;
    }
    BUG_ON(message.len + 1 != size || message.bytes != (const char *)data + 1);
    if (message.channel != CHANNEL_END)
        return 0;
    if (channel_exit_status(message.bytes, message.len, &status, &err) == 0)
        BUG_ON(status < 0 || status > 255);
    else
        BUG_ON(err.text[0] == '\0' || status != -1);
    return 0;
}
