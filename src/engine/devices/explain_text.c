/* SPDX-License-Identifier: Apache-2.0 */

/* The words for what stands in the way of a claim. */
#include "base/strbuf.h"
#include "engine/devices/allocate.h"

static void add_amount(struct strbuf *out, device_nano amount)
{
    long long thousandths = (long long)(amount / 1000000);

    if (thousandths % 1000 != 0)
        strbuf_addf(out, "%lldm", thousandths);
    else
        strbuf_add_binary(out, thousandths / 1000);
}

static void add_needed(struct strbuf *out, device_nano needed, device_nano left)
{
    add_amount(out, needed);
    strbuf_addstr(out, " needed, at most ");
    add_amount(out, left);
    strbuf_addstr(out, " free");
}

static void add_capacity(const struct claim_problem *problem, struct strbuf *out)
{
    switch (problem->capacity_answer) {
    case SHARE_NO_CAPACITY:
        strbuf_addf(out, "; device %s has no capacity %s", problem->capacity_device, problem->capacity);
        return;
    case SHARE_NOT_ALLOWED:
        strbuf_addf(out, "; device %s does not allow requests for that much %s", problem->capacity_device,
                    problem->capacity);
        return;
    default:
        strbuf_addf(out, "; %u with too little %s: ", problem->short_count, problem->capacity);
        add_needed(out, problem->capacity_needed, problem->capacity_left);
        strbuf_addf(out, " (device %s)", problem->capacity_device);
    }
}

static void add_selector(const struct claim_problem *problem, struct strbuf *out)
{
    strbuf_addf(out, ": none of %u devices meets %s", problem->met, problem->selector);
    for (uint32_t i = 0; i < problem->part_count; i++)
        strbuf_addf(out, "%s%u %s %s", i == 0 ? " (" : ", ", problem->parts[i].met,
                    problem->parts[i].met == 1 ? "meets" : "meet", problem->parts[i].text);
    if (problem->part_count > 0)
        strbuf_addch(out, ')');
}

static void add_taint(const struct claim_problem *problem, struct strbuf *out)
{
    const struct device_taint *taint = problem->taint;

    strbuf_addf(out, "; %u with taints that are not tolerated (%s%s%s:%s)", problem->taint_count, taint->key,
                *taint->value ? "=" : "", taint->value,
                taint->effect == DEVICE_EFFECT_NO_EXECUTE ? "NoExecute" : "NoSchedule");
}

static void add_constraint(const struct device_constraint *constraint, struct strbuf *out)
{
    strbuf_addf(out, ": no devices that are free have %s %s", constraint->is_distinct ? "different" : "the same",
                constraint->attribute);
    for (size_t i = 0; i < constraint->request_count; i++)
        strbuf_addf(out, "%s%s", i == 0 ? " for requests " : ", ", constraint->requests[i]);
}

static void add_joint(const struct claim_problem *problem, struct strbuf *out)
{
    if (problem->constraint) {
        add_constraint(problem->constraint, out);
    } else if (problem->counter) {
        strbuf_addf(out, ": its devices draw too much on counter %s of %s: ", problem->counter, problem->counter_set);
        add_needed(out, problem->counter_needed, problem->counter_left);
    } else {
        strbuf_addstr(out, ": each request can be met, but not all of them at once");
    }
}

void claim_problem_write(const struct claim_problem *problem, struct strbuf *out)
{
    if (!problem->request) {
        add_joint(problem, out);
        return;
    }
    if (problem->class)
        strbuf_addf(out, ": device class %s does not exist", problem->class);
    else if (problem->selector)
        add_selector(problem, out);
    else if (problem->suitable < problem->wanted || problem->suitable == 0)
        strbuf_addf(out, ": %u of %u devices are suitable", problem->suitable, MAX(problem->wanted, 1U));
    else
        strbuf_addf(out, ": %u of %u suitable devices are free, %u needed", problem->free, problem->suitable,
                    problem->wanted);
    if (problem->is_unjudged)
        strbuf_addstr(out, "; a selector failed with an error");
    if (problem->taint_count > 0)
        add_taint(problem, out);
    if (problem->capacity)
        add_capacity(problem, out);
    if (problem->counter) {
        strbuf_addf(out, "; %u with too little of counter %s of %s: ", problem->counter_count, problem->counter,
                    problem->counter_set);
        add_needed(out, problem->counter_needed, problem->counter_left);
    }
    if (problem->pool)
        strbuf_addf(out, "; pool %s is being changed", problem->pool);
}
