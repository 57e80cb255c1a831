/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/run_gantt.h"

#include "model/resources.h"

void gantt_done(struct gantt *gantt)
{
    vec_foreach (&gantt->nodes, node)
        vec_done(&node->lanes);
    vec_done(&gantt->nodes);
    vec_done(&gantt->segments);
    vec_done(&gantt->open);
}

static bool is_taken(const struct gantt_lane *lane, uint32_t hundredth)
{
    return lane->taken[hundredth / 64] >> hundredth % 64 & 1;
}

static void mark(struct gantt_lane *lane, uint32_t top, uint32_t height, bool is_taken_now)
{
    for (uint32_t i = top; i < top + height; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;

        if (is_taken_now)
            lane->taken[i / 64] |= bit;
        else
            lane->taken[i / 64] &= ~bit;
    }
}

/* Where `height` hundredths are free in one piece; overlaps at the bottom when the free ones are scattered. */
static uint32_t find_gap(const struct gantt_lane *lane, uint32_t height)
{
    uint32_t run = 0;

    for (uint32_t i = 0; i < GANTT_LANE; i++) {
        run = is_taken(lane, i) ? 0 : run + 1;
        if (run == height)
            return i + 1 - height;
    }
    return GANTT_LANE - height;
}

static bool is_free(const struct gantt_lane *lane)
{
    return lane->group == 0 && !lane->taken[0] && !lane->taken[1];
}

/* The lane of the group, else the first free one; when all are taken by our count, the last one twice. */
static uint32_t find_lane(struct gantt_node *node, gpu_group group, uint32_t most)
{
    for (uint32_t i = 0; group && i < node->lanes.len; i++)
        if (node->lanes.items[i].group == group)
            return i;
    for (uint32_t i = 0; i < node->lanes.len; i++)
        if (is_free(&node->lanes.items[i]))
            return i;
    if (node->lanes.len < most)
        vec_push(&node->lanes, (struct gantt_lane){0});
    return node->lanes.len - 1;
}

static void open_segment(struct gantt *gantt, pod_id pod, const struct gantt_segment *segment)
{
    uint32_t *first = &gantt->open.items[pod];
    struct gantt_segment *last = *first == NO_ID ? NULL : &gantt->segments.items[*first];

    /* Lanes side by side are one bar. */
    if (last && last->top + last->height == segment->top && last->height % GANTT_LANE == 0 &&
        segment->height == GANTT_LANE) {
        last->height += segment->height;
        return;
    }
    vec_push(&gantt->segments, *segment);
    vec_last(&gantt->segments).next = *first;
    *first = gantt->segments.len - 1;
}

static void take(struct gantt *gantt, pod_id pod, struct gantt_segment segment, const struct gantt_place *place,
                 gpu_group group, uint32_t height)
{
    struct gantt_node *node = &gantt->nodes.items[segment.node];
    uint32_t i = find_lane(node, group, MAX(place->lanes, 1u));
    struct gantt_lane *lane = &node->lanes.items[i];
    uint32_t top = find_gap(lane, height);

    lane->group = group;
    mark(lane, top, height, true);
    segment.top = i * GANTT_LANE + top;
    segment.height = height;
    open_segment(gantt, pod, &segment);
}

void gantt_start(struct gantt *gantt, pod_id pod, uint32_t job, const struct gantt_place *place, nsec_t now)
{
    const struct group_list *groups = place->groups;
    struct gantt_segment segment = {.node = place->node, .job = job, .start = now};
    uint32_t lanes = groups->count ? groups->count : (uint32_t)((place->gpus + GPU_ONE - 1) / GPU_ONE);

    if (gantt->is_off || lanes == 0)
        return;
    if (gantt->segments.len + lanes > GANTT_SEGMENTS_MAX) {
        gantt->is_cut = true;
        return;
    }
    if (gantt->nodes.len <= place->node)
        vec_resize(&gantt->nodes, place->node + 1);
    while (gantt->open.len <= pod)
        vec_push(&gantt->open, NO_ID);
    for (uint32_t i = 0; i < lanes; i++) {
        int64_t part = groups->count ? place->gpus / lanes * 100 / GPU_ONE : GANTT_LANE;

        take(gantt, pod, segment, place, groups->count ? group_at(groups, i) : 0,
             (uint32_t)CLAMP(part, INT64_C(1), (int64_t)GANTT_LANE));
    }
}

static void close_segment(struct gantt *gantt, struct gantt_segment *segment, enum gantt_end how, nsec_t now)
{
    struct gantt_node *node = &gantt->nodes.items[segment->node];
    uint32_t left = segment->height;

    segment->end = now;
    segment->how = how;
    for (uint32_t top = segment->top; left > 0;) {
        struct gantt_lane *lane = &node->lanes.items[top / GANTT_LANE];
        uint32_t height = MIN(left, GANTT_LANE - top % GANTT_LANE);

        mark(lane, top % GANTT_LANE, height, false);
        if (!lane->taken[0] && !lane->taken[1])
            lane->group = 0;
        top += height;
        left -= height;
    }
}

void gantt_stop(struct gantt *gantt, pod_id pod, enum gantt_end how, nsec_t now)
{
    if (pod >= gantt->open.len)
        return;
    for (uint32_t i = gantt->open.items[pod]; i != NO_ID; i = gantt->segments.items[i].next)
        close_segment(gantt, &gantt->segments.items[i], how, now);
    gantt->open.items[pod] = NO_ID;
}

void gantt_finish(struct gantt *gantt, nsec_t now)
{
    for (pod_id pod = 0; pod < gantt->open.len; pod++)
        gantt_stop(gantt, pod, GANTT_RUNS, now);
}
