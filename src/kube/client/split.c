/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A byte is looked at in one of three places: outside of objects, inside of one, or in a string. Strings are skipped to
 * their next quote or backslash, and most of what a cluster sends is in strings. An object that lies within one piece
 * of input is handed out from there; only one that is torn apart is copied.
 */
#include "kube/client/split.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

void split_init(struct split *split, enum split_mode mode, size_t object_max, size_t envelope_max)
{
    *split = (struct split){.mode = mode};
    strbuf_init(&split->object, object_max);
    strbuf_init(&split->envelope, envelope_max);
}

void split_done(struct split *split)
{
    strbuf_done(&split->object);
    strbuf_done(&split->envelope);
}

void split_clear(struct split *split)
{
    struct strbuf object = split->object;
    struct strbuf envelope = split->envelope;

    strbuf_clear(&object);
    strbuf_clear(&envelope);
    *split = (struct split){.mode = split->mode, .object = object, .envelope = envelope};
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The depth at which objects lie. */
static size_t ground(const struct split *split)
{
    return split->mode == SPLIT_LIST ? 2 : 0;
}

/* Where the string ends that `at` is in: behind its closing quote, or `end`. */
static const char *skip_string(struct split *split, const char *at, const char *end)
{
    for (; at < end; at++) {
        if (split->is_escaped)
            split->is_escaped = false;
        else if (*at == '\\')
            split->is_escaped = true;
        else if (*at == '"') {
            split->in_string = false;
            return at + 1;
        }
    }
    return end;
}

/* The end of the current object: behind its last bracket, with `*ret_ended` set, or `end`. */
static const char *skip_object(struct split *split, const char *at, const char *end, bool *ret_ended)
{
    while (at < end) {
        if (split->in_string) {
            at = skip_string(split, at, end);
            continue;
        }
        char c = *at++;

        if (c == '"')
            split->in_string = true;
        else if (c == '{' || c == '[')
            split->depth++;
        else if ((c == '}' || c == ']') && --split->depth == ground(split)) {
            *ret_ended = true;
            return at;
        }
    }
    return end;
}

/* Reads on in an object that started at or before `start`, and hands it out if it ends here. */
static const char *read_object(struct split *split, const char *start, const char *end, split_fn fn, void *arg,
                               int *ret)
{
    bool has_ended = false;
    const char *at = skip_object(split, start, end, &has_ended);
    size_t len = (size_t)(at - start);
    bool is_torn = split->object.len > 0 || split->object.is_cut;

    if (!has_ended || is_torn)
        strbuf_add(&split->object, start, len);
    if (!has_ended)
        return at;
    split->in_object = false;
    if (split->object.is_cut || len > split->object.max)
        *ret = fn(arg, NULL, 0);
    else if (is_torn)
        *ret = fn(arg, split->object.text, split->object.len);
    else
        *ret = fn(arg, start, len);
    strbuf_clear(&split->object);
    return at;
}

static int bad(struct err *err, char c)
{
    return err_set(err, -EBADMSG, "expected a JSON object, found byte 0x%02x", (unsigned char)c);
}

/* One byte between two objects of a stream. */
static int between_objects(struct split *split, char c, struct err *err)
{
    if (c == '{') {
        split->in_object = true;
        split->depth = ground(split);
        return 0;
    }
    return is_space(c) ? 0 : bad(err, c);
}

/* One byte between the brackets of "items". */
static int between_items(struct split *split, char c, struct err *err)
{
    if (c == ']') {
        split->in_items = false;
        split->depth--;
        strbuf_addch(&split->envelope, c);
        return 0;
    }
    return c == ',' ? 0 : between_objects(split, c, err);
}

/* A byte of a string of the envelope; at depth 1 the last string is remembered, which may be a key. */
static void in_envelope_string(struct split *split, char c)
{
    bool is_end = c == '"' && !split->is_escaped;

    split->is_escaped = c == '\\' && !split->is_escaped;
    if (is_end)
        split->in_string = false;
    else if (split->depth == 1 && split->key_len < sizeof split->key)
        split->key[split->key_len++] = c;
}

/* A byte of a list that is in none of its items. */
static int in_envelope(struct split *split, char c, struct err *err)
{
    if (split->is_over || (split->depth == 0 && c != '{'))
        return is_space(c) ? 0 : bad(err, c);
    strbuf_addch(&split->envelope, c);
    if (split->envelope.is_cut)
        return err_set(err, -EFBIG, "the metadata of the list is larger than %zu bytes", split->envelope.max);
    if (split->in_string) {
        in_envelope_string(split, c);
    } else if (c == '"') {
        split->in_string = true;
        if (split->depth == 1)
            split->key_len = 0;
    } else if (c == '{' || c == '[') {
        bool is_items = split->depth == 1 && split->key_len == 5 && memcmp(split->key, "items", 5) == 0;

        split->in_items = c == '[' && is_items;
        split->depth++;
    } else if (c == '}' || c == ']') {
        split->is_over = --split->depth == 0;
    }
    return 0;
}

int split_feed(struct split *split, const char *bytes, size_t len, split_fn fn, void *arg, struct err *err)
{
    const char *end = bytes + len;
    int r = 0;

    for (const char *at = bytes; at < end && r == 0;) {
        if (split->in_object) {
            at = read_object(split, at, end, fn, arg, &r);
        } else if (split->mode == SPLIT_STREAM) {
            r = between_objects(split, *at, err);
            /* The bracket belongs to the object. */
            at += !split->in_object;
        } else if (split->in_items) {
            r = between_items(split, *at, err);
            at += !split->in_object;
        } else {
            r = in_envelope(split, *at++, err);
        }
    }
    return r;
}

int split_end(const struct split *split, struct err *err)
{
    bool is_whole = split->mode == SPLIT_STREAM ? !split->in_object : split->is_over;

    return is_whole ? 0 : err_set(err, -EBADMSG, "the answer was cut off");
}
