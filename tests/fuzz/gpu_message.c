/* SPDX-License-Identifier: Apache-2.0 */

/* Any packet is a message or an error; a message keeps its bounds, and its way back gives the same packet. */
#include "gpu/protocol/message.h"

#include <string.h>

#include "base/macros.h"
#include "fuzz.h"

static bool has_gpu(enum gpu_message_type type)
{
    return type != GPU_HELLO && type != GPU_PING && type != GPU_PONG && type != GPU_WELCOME && type != GPU_REFUSED &&
           type != GPU_NOTICE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gpu_message message;
    struct gpu_message again;
    uint8_t bytes[GPU_MESSAGE_SIZE];

    if (gpu_message_decode(data, size, &message) != GPU_MESSAGE_FINE)
        return 0;
    BUG_ON(size != GPU_MESSAGE_SIZE);
    BUG_ON(has_gpu(message.type) && message.memory.gpu >= GPU_MAX);
    BUG_ON(message.type == GPU_RESERVE && message.memory.bytes > GPU_BYTES_MAX);
    BUG_ON(message.type == GPU_HELLO && strnlen(message.hello.name, GPU_NAME_SIZE) == GPU_NAME_SIZE);
    gpu_message_encode(&message, bytes);
    BUG_ON(gpu_message_decode(bytes, sizeof bytes, &again) != GPU_MESSAGE_FINE);
    BUG_ON(memcmp(&message, &again, sizeof message) != 0);
    return 0;
}
