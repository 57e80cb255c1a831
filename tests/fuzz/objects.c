/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Any YAML becomes a state or fails with a message in one line: objects of every kind, workloads and their pods, a
 * snapshot where it looks like one. The first byte chooses how strictly it is read.
 */
#include <string.h>

#include "base/err.h"
#include "fuzz.h"
#include "model/state.h"
#include "objects/notes.h"
#include "objects/object.h"
#include "objects/reader.h"
#include "objects/settings/settings.h"
#include "objects/snapshot.h"
#include "text/yaml.h"

enum { DOCUMENTS_MAX = 32, PODS_MAX = 200 };

struct reading {
    struct yaml_docs docs;
    struct object_source sources[DOCUMENTS_MAX];
    struct object_notes notes;
    struct object_set set;
    struct settings settings;
    struct err err;
};

static int add_documents(struct reading *reading, bool *ret_is_whole)
{
    int r = 0;

    for (uint32_t i = 0; r >= 0 && i < reading->docs.len && i < DOCUMENTS_MAX; i++) {
        struct object_source *source = &reading->sources[i];
        yyjson_val *root = yyjson_doc_get_root(reading->docs.items[i].json);

        *source =
            (struct object_source){.name = "fuzz", .yaml = &reading->docs.items[i], .is_snapshot = snapshot_is(root)};
        *ret_is_whole |= source->is_snapshot;
        r = source->is_snapshot ? snapshot_add(&reading->set, &reading->settings, root, source, &reading->err)
                                : object_set_add(&reading->set, root, source, &reading->err);
    }
    return r;
}

static int build(struct reading *reading, uint8_t how, struct state *state)
{
    struct object_options options;
    struct object_reader reader;
    bool is_whole = false;

    int r = add_documents(reading, &is_whole);
    if (r >= 0)
        r = settings_decode_set(&reading->settings, &reading->set, NULL, &reading->err);
    if (r < 0)
        return r;
    settings_sort(&reading->settings);
    settings_to_options(&reading->settings, &options);
    options.is_whole = is_whole;
    options.is_strict = how & 1;
    options.now = how & 2 ? NSEC_PER_HOUR : 0;
    object_reader_init(&reader, state, &options, &reading->set, &reading->notes);
    r = object_set_decode(&reading->set, &reader, &reading->err);
    object_reader_done(&reader);
    if (r >= 0)
        state_settle(state);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading reading = {0};
    struct state *state = state_new();

    object_notes_init(&reading.notes);
    object_set_init(&reading.set, &reading.notes);
    settings_init(&reading.settings);
    reading.set.made_max = PODS_MAX;
    int r = size ? yaml_parse((const char *)data + 1, size - 1, "fuzz", &reading.docs, &reading.err) : 0;
    if (r >= 0 && size)
        r = build(&reading, data[0], state);
    BUG_ON(r < 0 && (reading.err.text[0] == '\0' || strchr(reading.err.text, '\n')));
    settings_done(&reading.settings);
    object_set_done(&reading.set);
    object_notes_done(&reading.notes);
    yaml_docs_done(&reading.docs);
    state_free(state);
    return 0;
}
