/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Whatever a server answers to the request for a WebSocket is an answer or none, the same one when it comes in pieces; what
 * is behind its end is left for the WebSocket. The first byte says how long the pieces are.
 */
#include <string.h>

#include "base/macros.h"
#include "fuzz.h"
#include "net/websocket/answer.h"

/* Returns how much of the text belongs to the answer, or -1. */
static ssize_t read_all(struct websocket_answer *answer, const char *bytes, size_t len, size_t piece)
{
    size_t at = 0;

    while (at < len && !answer->has_ended) {
        size_t part = MIN(piece, len - at);
        ssize_t used = websocket_answer_read(answer, bytes + at, part);

        if (used < 0)
            return -1;
        BUG_ON((size_t)used > part || ((size_t)used < part && !answer->has_ended));
        at += (size_t)used;
    }
    return (ssize_t)at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct websocket_answer whole, pieces;

    if (size < 2)
        return 0;
    websocket_answer_init(&whole);
    websocket_answer_init(&pieces);
    ssize_t first = read_all(&whole, (const char *)data + 1, size - 1, size);
    ssize_t second = read_all(&pieces, (const char *)data + 1, size - 1, (size_t)data[0] + 1);

    BUG_ON(first != second);
    if (first >= 0) {
        BUG_ON(whole.status != pieces.status || whole.has_ended != pieces.has_ended);
        BUG_ON(strcmp(whole.accept, pieces.accept) != 0 || strcmp(whole.protocol, pieces.protocol) != 0);
        BUG_ON(strcmp(whole.body.text, pieces.body.text) != 0);
        BUG_ON(whole.has_ended && whole.status != 101 && whole.status < 200);
    }
    websocket_answer_done(&whole);
    websocket_answer_done(&pieces);
    return 0;
}
