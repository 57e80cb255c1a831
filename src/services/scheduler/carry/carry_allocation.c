/* SPDX-License-Identifier: Apache-2.0 */

/*
 * An AllocationResult as the API has it: each device with the request that it is for, what drivers are to be told by the
 * classes and the claim, and the nodes on which the devices can be used.
 */
#include <string.h>

#include "model/delta.h"
#include "services/scheduler/carry/carry_internal.h"
#include "text/json.h"
#include "text/quantity.h"

struct writer {
    const struct carry *carry;
    const struct state *state;
    yyjson_mut_doc *doc;
    const struct claim *claim;
    device_request_fn request_of;
    const void *arg;
};

static const struct slice *slice_of(const struct state *state, const struct device *device, uint32_t *ret_place)
{
    vec_foreach (&state->slices, slice) {
        name_id pool = slice->pool == 0 && slice->node != NO_ID ? state->nodes.items[slice->node].name : slice->pool;

        if (!slice->is_present || slice->driver != device->driver || pool != device->pool)
            continue;
        for (uint32_t d = 0; d < slice->device_count; d++)
            if (slice->devices[d] == device->name) {
                *ret_place = d;
                return slice;
            }
    }
    return NULL;
}

/* The way in which the request was met that the device is for; NULL when the claim just has a class and a count. */
static const struct device_ask *ask_of(const struct writer *w, const struct device *device)
{
    const struct claim_ask *ask = &w->claim->ask;
    const char *name = state_name(w->state, device->request);

    for (size_t r = 0; device->request != 0 && r < ask->request_count; r++)
        for (size_t o = 0; o < ask->requests[r].ask_count; o++)
            if (strcmp(ask->requests[r].asks[o].full_name, name) == 0)
                return &ask->requests[r].asks[o];
    return NULL;
}

/* The request of a plan is for a resource; those of its claim are for containers. */
static const char *request_name(const struct writer *w, uint32_t device)
{
    const struct device_ask *ask = w->claim->is_plan ? NULL : ask_of(w, &w->claim->devices[device]);

    return ask ? ask->full_name : w->request_of(w->arg, device);
}

static void add_tolerations(const struct writer *w, yyjson_mut_val *result, const struct device_ask *ask)
{
    static const char *const effects[] = {"None", "NoSchedule", "NoExecute"};

    if (ask->toleration_count == 0)
        return;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(w->doc, result, "tolerations");
    for (size_t i = 0; i < ask->toleration_count; i++) {
        const struct device_toleration *from = &ask->tolerations[i];
        yyjson_mut_val *to = yyjson_mut_arr_add_obj(w->doc, list);

        if (*from->key)
            (void)yyjson_mut_obj_add_str(w->doc, to, "key", from->key);
        (void)yyjson_mut_obj_add_str(w->doc, to, "operator", from->exists ? "Exists" : "Equal");
        if (*from->value)
            (void)yyjson_mut_obj_add_str(w->doc, to, "value", from->value);
        if (!from->any_effect)
            (void)yyjson_mut_obj_add_str(w->doc, to, "effect", effects[from->effect]);
        if (from->has_seconds)
            (void)yyjson_mut_obj_add_sint(w->doc, to, "tolerationSeconds", from->seconds);
    }
}

static void add_texts(const struct writer *w, yyjson_mut_val *object, const char *key, const char *const *texts,
                      size_t count)
{
    if (count == 0)
        return;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(w->doc, object, key);
    for (size_t i = 0; i < count; i++)
        (void)yyjson_mut_arr_add_str(w->doc, list, texts[i]);
}

/* A share of a device has a name of its own, by which its driver tells it from others. */
static void add_share(const struct writer *w, yyjson_mut_val *result, const struct device *device)
{
    char id[CARRY_UUID_TEXT];

    carry_uuid(w->carry, id);
    (void)yyjson_mut_obj_add_strcpy(w->doc, result, "shareID", id);
    if (device->amount_count == 0)
        return;
    yyjson_mut_val *consumed = yyjson_mut_obj_add_obj(w->doc, result, "consumedCapacity");
    for (uint32_t i = 0; i < device->amount_count; i++) {
        const struct device_amount *amount = &w->claim->amounts[device->first_amount + i];
        struct quantity quantity = {.nano = amount->whole * QUANTITY_NANO_PER_ONE + amount->nano, .is_binary = true};
        char text[QUANTITY_EXACT_TEXT_MAX];

        (void)yyjson_mut_obj_add_strcpy(w->doc, consumed, amount->name,
                                        *amount->text ? amount->text : quantity_format_exact(&quantity, text));
    }
}

static void add_result(const struct writer *w, yyjson_mut_val *results, uint32_t index)
{
    const struct device *device = &w->claim->devices[index];
    yyjson_mut_val *result = yyjson_mut_arr_add_obj(w->doc, results);
    const struct device_ask *ask = ask_of(w, device);
    uint32_t place = 0;
    const struct slice *slice = slice_of(w->state, device, &place);

    (void)yyjson_mut_obj_add_strcpy(w->doc, result, "request", request_name(w, index));
    (void)yyjson_mut_obj_add_str(w->doc, result, "driver", state_name(w->state, device->driver));
    (void)yyjson_mut_obj_add_str(w->doc, result, "pool", state_name(w->state, device->pool));
    (void)yyjson_mut_obj_add_str(w->doc, result, "device", state_name(w->state, device->name));
    if (device->is_admin)
        (void)yyjson_mut_obj_add_bool(w->doc, result, "adminAccess", true);
    if (device->is_share)
        add_share(w, result, device);
    if (ask)
        add_tolerations(w, result, ask);
    if (slice && slice->offers) {
        const struct device_offer *offer = &slice->offers[place];

        add_texts(w, result, "bindingConditions", offer->conditions, offer->condition_count);
        add_texts(w, result, "bindingFailureConditions", offer->failures, offer->failure_count);
    }
}

/* ---- What drivers are told. ---- */

static void add_config(const struct writer *w, yyjson_mut_val *list, const char *source, const char *const *requests,
                       size_t request_count, const struct device_config *config)
{
    yyjson_doc *read = yyjson_read(config->text, strlen(config->text), 0);
    yyjson_mut_val *entry = read ? yyjson_val_mut_copy(w->doc, yyjson_doc_get_root(read)) : NULL;

    yyjson_doc_free(read);
    if (!yyjson_mut_is_obj(entry))
        return;
    (void)yyjson_mut_obj_add_str(w->doc, entry, "source", source);
    add_texts(w, entry, "requests", requests, request_count);
    (void)yyjson_mut_arr_append(list, entry);
}

/* How the request was met: the first way that some device is for, else the only one. */
static const struct device_ask *chosen(const struct writer *w, const struct device_request *request)
{
    for (uint32_t i = 0; i < w->claim->device_count; i++) {
        const struct device_ask *ask = ask_of(w, &w->claim->devices[i]);

        if (ask && ask >= request->asks && ask < request->asks + request->ask_count)
            return ask;
    }
    return request->ask_count == 1 ? &request->asks[0] : NULL;
}

static bool is_class_before(const struct writer *w, size_t request, const char *class)
{
    for (size_t r = 0; r < request; r++) {
        const struct device_ask *ask = chosen(w, &w->claim->ask.requests[r]);

        if (ask && ask->device_class == class)
            return true;
    }
    return false;
}

struct names VEC_OF(const char *);

/* The requests that the class serves, by the names that results have. */
static void requests_of_class(const struct writer *w, const char *class, struct names *names)
{
    const struct claim_ask *ask = &w->claim->ask;

    for (size_t r = 0; !w->claim->is_plan && r < ask->request_count; r++) {
        const struct device_ask *own = chosen(w, &ask->requests[r]);

        if (own && own->device_class == class)
            vec_push(names, own->full_name);
    }
    for (uint32_t i = 0; w->claim->is_plan && i < w->claim->device_count; i++) {
        const struct device_ask *own = ask_of(w, &w->claim->devices[i]);
        const char *name = request_name(w, i);

        if (own && own->device_class == class && (names->len == 0 || strcmp(vec_last(names), name) != 0))
            vec_push(names, name);
    }
}

/* Each class tells its drivers once, for all requests that it serves. */
static void add_class_configs(const struct writer *w, yyjson_mut_val *list)
{
    const struct claim_ask *ask = &w->claim->ask;

    for (size_t r = 0; r < ask->request_count; r++) {
        const struct device_ask *own = chosen(w, &ask->requests[r]);
        name_id name = 0;
        struct names names = {0};

        if (!own || is_class_before(w, r, own->device_class) ||
            !intern_find(&w->state->names, own->device_class, strlen(own->device_class), &name))
            continue;
        const struct device_class *class = state_find_device_class(w->state, name);
        requests_of_class(w, own->device_class, &names);
        for (uint32_t i = 0; class && names.len > 0 && i < class->config_count; i++)
            add_config(w, list, "FromClass", names.items, names.len, &class->configs[i]);
        vec_done(&names);
    }
}

static bool config_is_for(const struct writer *w, const struct device_config *config)
{
    for (size_t i = 0; i < config->request_count; i++)
        for (size_t r = 0; r < w->claim->ask.request_count; r++) {
            const struct device_request *request = &w->claim->ask.requests[r];
            const struct device_ask *ask = chosen(w, request);

            if (config->requests[i] == request->name || (ask && config->requests[i] == ask->full_name))
                return true;
        }
    return config->request_count == 0;
}

static void add_configs(const struct writer *w, yyjson_mut_val *devices)
{
    yyjson_mut_val *list = yyjson_mut_arr(w->doc);
    const struct claim_ask *ask = &w->claim->ask;

    add_class_configs(w, list);
    for (size_t i = 0; i < ask->config_count; i++)
        if (config_is_for(w, &ask->configs[i]))
            add_config(w, list, "FromClaim", ask->configs[i].requests, ask->configs[i].request_count, &ask->configs[i]);
    if (yyjson_mut_arr_size(list) > 0)
        (void)yyjson_mut_obj_add_val(w->doc, devices, "config", list);
}

/* ---- Where the devices can be used. ---- */

struct terms {
    yyjson_mut_val *fields;
    yyjson_mut_val *expressions;
};

static void add_match(const struct writer *w, struct terms *to, const struct match_spec *match)
{
    static const char *const operators[_MATCH_OP_MAX] = {"In", "NotIn", "Exists", "DoesNotExist",
                                                         "Gt", "Lt",    "In",     "NotIn"};
    bool is_field = match->op == MATCH_FIELD_NAME_IN || match->op == MATCH_FIELD_NAME_NOT_IN;
    yyjson_mut_val *entry = yyjson_mut_obj(w->doc);

    (void)yyjson_mut_obj_add_str(w->doc, entry, "key", is_field ? "metadata.name" : match->key);
    (void)yyjson_mut_obj_add_str(w->doc, entry, "operator", operators[match->op]);
    add_texts(w, entry, "values", match->values, match->value_count);
    yyjson_mut_val *list = is_field ? to->fields : to->expressions;
    size_t i, max;
    yyjson_mut_val *known;
    yyjson_mut_arr_foreach(list, i, max, known)
    {
        if (yyjson_mut_equals(known, entry))
            return;
    }
    (void)yyjson_mut_arr_append(list, entry);
}

/* Adds where the device can be used. False when that is the pod's node alone. */
static bool add_reach(const struct writer *w, const struct device *device, struct terms *to)
{
    uint32_t place = 0;
    const struct slice *slice = slice_of(w->state, device, &place);
    const struct device_offer *offer = slice && slice->offers ? &slice->offers[place] : NULL;

    if (!slice || (offer && offer->binds_to_node))
        return false;
    if (!slice->has_device_nodes && slice->is_for_all_nodes)
        return true;
    if (!slice->has_device_nodes && slice->node != NO_ID)
        return false;
    const struct node_reach *reach = slice->has_device_nodes && offer ? &offer->reach : &slice->reach;
    if ((reach->node && *reach->node) || reach->term_count > 1)
        return false;
    for (size_t i = 0; reach->term_count == 1 && i < reach->terms[0].count; i++)
        add_match(w, to, &reach->terms[0].all[i]);
    return true;
}

static void add_selector(const struct writer *w, yyjson_mut_val *allocation, const char *node)
{
    struct terms terms = {yyjson_mut_arr(w->doc), yyjson_mut_arr(w->doc)};
    bool is_on_node_alone = false;

    for (uint32_t i = 0; i < w->claim->device_count && !is_on_node_alone; i++)
        is_on_node_alone = !add_reach(w, &w->claim->devices[i], &terms);
    if (is_on_node_alone) {
        const struct match_spec match = {MATCH_FIELD_NAME_IN, "", &node, 1};

        terms = (struct terms){yyjson_mut_arr(w->doc), yyjson_mut_arr(w->doc)};
        add_match(w, &terms, &match);
    }
    if (yyjson_mut_arr_size(terms.fields) + yyjson_mut_arr_size(terms.expressions) == 0)
        return;
    yyjson_mut_val *selector = yyjson_mut_obj_add_obj(w->doc, allocation, "nodeSelector");
    yyjson_mut_val *term =
        yyjson_mut_arr_add_obj(w->doc, yyjson_mut_obj_add_arr(w->doc, selector, "nodeSelectorTerms"));
    if (yyjson_mut_arr_size(terms.fields) > 0)
        (void)yyjson_mut_obj_add_val(w->doc, term, "matchFields", terms.fields);
    if (yyjson_mut_arr_size(terms.expressions) > 0)
        (void)yyjson_mut_obj_add_val(w->doc, term, "matchExpressions", terms.expressions);
}

void carry_allocation(struct carrying *carrying, yyjson_mut_val *allocation, const struct claim *claim,
                      device_request_fn request_of, const void *arg)
{
    struct writer w = {carrying->carry, carrying->carry->state, carrying->doc, claim, request_of, arg};
    yyjson_mut_val *devices = yyjson_mut_obj_add_obj(w.doc, allocation, "devices");
    yyjson_mut_val *results = yyjson_mut_obj_add_arr(w.doc, devices, "results");

    for (uint32_t i = 0; claim && i < claim->device_count; i++)
        add_result(&w, results, i);
    if (!claim)
        return;
    add_configs(&w, devices);
    add_selector(&w, allocation, state_name(w.state, carrying->node));
}
