/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "kube/client/client.h"

/*
 * A write that ends only when its outcome is certain. The answer to a write may get lost: the connection is cut, a timeout
 * passes, the server says 5xx after it has handed the write to its store. A later refusal (403 of a server that has not
 * loaded its roles yet, 409) says nothing about the try whose answer was lost. So the object itself is read, by a GET that
 * no cache answers, until it can be read. If it shows that the write was not done, the write is made again, and is refused
 * for good only when the server refuses it and the object has not shown it for a while.
 *
 * While nobody knows, the write has to be taken for done: `on_unknown` says that it begins, `on_done` that it is over. In
 * between there is no limit of time; an outage may last for hours.
 */
struct kube_certain;

/* What an object says about a write. */
enum kube_shown {
    KUBE_SHOWS_DONE,
    KUBE_SHOWS_NOT_DONE,    // so far
    KUBE_SHOWS_IMPOSSIBLE,  // it is not and will not be done: `err` says why
};

/* Whether a write that has not been done may be made again. */
enum kube_repeat {
    KUBE_REPEAT_NOW,
    KUBE_REPEAT_LATER,  // what it was decided by may be old: asked again soon
    KUBE_REPEAT_NEVER,  // it must not be done any more, and ends with -ESTALE
};

/* Asked before each try but the first: the store of the server may have been restored from a backup meanwhile, in which
 * the room that the write takes belongs to somebody else. */
typedef enum kube_repeat (*kube_repeat_fn)(void *arg);

struct kube_certain_request {
    struct kube_request write;             // may be made twice; its body, `on_done` and `arg` are not used
    const yyjson_mut_doc *doc;             // its body
    const struct kube_resource *resource;  // the object that shows whether it was done, by namespace and name
    const char *namespace;
    const char *name;
    /* Judges the object; NULL: there is none. Fills `err` in when it is impossible. */
    enum kube_shown (*judge)(void *arg, yyjson_val *object, struct err *err);
    kube_repeat_fn may_repeat;  // NULL: it always may
    /* The outcome is unknown, for the reason given. Called once at most, may be NULL. */
    void (*on_unknown)(void *arg, const struct err *err);
    /* Certain: done where the code is 0, not done otherwise. The object of the answer is the one that was written or read;
     * where the write was refused there is none. */
    kube_done_fn on_done;
    void *arg;
};

/* Copies the request. */
struct kube_certain *kube_certain_start(struct kube_client *client, const struct kube_certain_request *request);

/* Nothing is called back any more. The server may have done it. */
void kube_certain_cancel(struct kube_certain *certain);

/* The server cannot have done anything of it so far: after a cancel it will not be done. */
bool kube_certain_is_unsent(const struct kube_certain *certain);
