/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Each event is a small input of its own: the object, and beside it the few others that its decoder looks up. When it has
 * become a delta nothing of it is left.
 */
#include "base/err.h"
#include "services/scheduler/intake/intake_internal.h"
#include "services/scheduler/observe/observer.h"

void reading_begin(struct reading *in, struct intake *intake)
{
    *in = (struct reading){.intake = intake};
    object_set_init(&in->set, &intake->notes);
    intake->reader.objects = &in->set;
    intake->options.now = nsec_now_wall();
    intake->options.is_strict = false;
}

void reading_end(struct reading *in)
{
    vec_foreach (&in->docs, doc)
        yyjson_doc_free(*doc);
    vec_done(&in->docs);
    object_set_done(&in->set);
    in->intake->reader.objects = NULL;
}

struct object *reading_add(struct reading *in, enum watch_kind kind, yyjson_val *val, struct err *err)
{
    int r = object_set_add_as(&in->set, watch_object_kind(kind), val, NULL, err);

    return r < 0 ? NULL : in->set.objects.items[in->set.objects.len - 1];
}

void reading_add_doc(struct reading *in, enum watch_kind kind, yyjson_doc *doc)
{
    if (!doc)
        return;
    vec_push(&in->docs, doc);
    (void)reading_add(in, kind, yyjson_doc_get_root(doc), NULL);
}

int reading_decode(struct reading *in, const struct object *object, struct err *err)
{
    struct intake *intake = in->intake;
    int r = object_decode(&intake->reader, object, err);

    if (r >= 0) {
        intake->deltas++;
        OBSERVE(intake->observers, on_object, object);
    }
    return r;
}
