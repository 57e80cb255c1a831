/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"
#include "base/strbuf.h"

struct err;

/*
 * Cuts a stream of JSON into objects while it comes, so that no more than one of them is ever in memory: the events of
 * a watch, which follow each other, or the items of a list, which lie in its array "items". Only brackets and strings
 * are looked at; whether an object is good JSON is for the parser of it to say.
 */
enum split_mode {
    SPLIT_STREAM,  // objects one after the other
    SPLIT_LIST,    // one object; what is in its "items" is cut out, and the rest is kept as `envelope`
};

/* One object: `len` bytes, borrowed. `text` is NULL when the object was larger than allowed and has been left out.
 * Returns 0, or a negative errno that ends the reading. */
typedef int (*split_fn)(void *arg, const char *text, size_t len);

struct split {
    enum split_mode mode;
    struct strbuf object;    // the part of an object that came with earlier bytes
    struct strbuf envelope;  // of a list: valid JSON with an empty "items", once all has come
    size_t depth;            // open brackets
    size_t key_len;          // of the string at depth 1 that came last
    char key[8];
    bool in_string;
    bool is_escaped;  // the last byte was a backslash in a string
    bool in_items;    // of a list: between the brackets of "items"
    bool in_object;
    bool is_over;  // of a list: the last bracket is closed
};

void split_init(struct split *split, enum split_mode mode, size_t object_max, size_t envelope_max);
void split_done(struct split *split);

/* Ready for a new stream. */
void split_clear(struct split *split);

/* The next bytes of the stream. Returns 0, what `fn` returned, -EBADMSG for what cannot be, -EFBIG for an envelope
 * that is too large. After a failure nothing more can be read. */
MUST_CHECK int split_feed(struct split *split, const char *bytes, size_t len, split_fn fn, void *arg, struct err *err);

/* The stream has ended. Returns 0, or -EBADMSG when it ended in the middle. */
MUST_CHECK int split_end(const struct split *split, struct err *err);
