/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "gpu/protocol/pages.h"

struct err;

/*
 * A request for a part of a GPU, in whatever words: KAI's annotations, Run:ai's, NvFractions', HAMi's resources and
 * variables, Volcano's. All of them become one struct, to the byte; what cannot be enforced here is refused, with the
 * reason. Variables that those systems set for their own libraries count where nothing else asks for memory.
 */
enum gpu_word_kind { WORD_ANNOTATION, WORD_RESOURCE, WORD_VARIABLE };

struct gpu_word {
    enum gpu_word_kind kind;
    const char *key;
    const char *value;
};

/* Whether a word of that key means anything here. */
bool gpu_word_is_known(enum gpu_word_kind kind, const char *key);

enum {
    GPU_REQUEST_WHOLE = 1000000000,  // portions are in billionths, as KAI's books are
    GPU_CONTAINER_SIZE = 64,         // of a container's name, with its NUL
};

struct gpu_request {
    uint32_t devices;
    bool is_portion;          // memory is a part of each GPU, below in billionths; otherwise in bytes
    uint64_t memory_request;  // of each GPU
    uint64_t memory_limit;
    uint32_t share;  // of compute, in millionths; 0: as much as of the memory
    uint32_t cap;    // likewise; 0: the share where it is strict, otherwise all
    enum gpu_mode mode;
    bool is_urgent;                      // of the latency class: its turn comes at once, within its share
    char container[GPU_CONTAINER_SIZE];  // that the words name as theirs; empty: the first one
    const char *alias;                   // the key that said how much memory; borrowed from the words
};

/* Reads the words of one container; those that are not about GPUs are passed over. Returns 1, 0 when nothing asks for a
 * part of a GPU, or -EINVAL: a value makes no sense or contradicts another, or -ENOTSUP: it cannot be enforced here. */
MUST_CHECK int gpu_request_read(const struct gpu_word *words, size_t count, struct gpu_request *ret_request,
                                struct err *err);

/* What the request means on a GPU with so much memory: bytes, and shares of compute in millionths. */
struct gpu_amounts {
    uint64_t request_bytes;
    uint64_t limit_bytes;
    uint32_t share;
    uint32_t cap;
};

/* Fails with -EINVAL when the GPU has less than that. */
MUST_CHECK int gpu_request_on(const struct gpu_request *request, uint64_t gpu_bytes, struct gpu_amounts *ret_amounts,
                              struct err *err);
