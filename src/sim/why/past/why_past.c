/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/why/past/why_past.h"

#include "base/err.h"
#include "model/state.h"
#include "sim/replay/replay.h"
#include "sim/scenario/scenario_emit.h"
#include "sim/why/past/account.h"
#include "sim/why/why.h"

/* The workload as it was, and the answer about it. */
static void write_one(const struct account *account, uint32_t index, const struct why *why, FILE *out)
{
    struct emit e = {.out = out};
    char text[TIME_TEXT_MAX];

    emit_open(&e, NULL, '{');
    emit_str(&e, "time", time_format(account->last, text));
    account_write(&e, "account", account, index);
    if (why) {
        emit_key(&e, "answer");
        why_write(why, out);
    }
    emit_close(&e, '}');
    (void)fputc('\n', out);
}

static void print_one(const struct account *account, uint32_t index, const struct why *why,
                      const struct table_view *view, FILE *out)
{
    char text[TIME_TEXT_MAX];

    account_print(account, index, view, out);
    if (!why)
        return;
    (void)fprintf(out, "\nThe cluster at %s\n", time_format(why->now, text));
    why_print(why, view, out);
}

static void tell_one(const struct why_past_question *question, const struct account *account, uint32_t index,
                     const struct why *why, const struct table_view *view, FILE *out)
{
    if (question->as_json)
        write_one(account, index, why, out);
    else
        print_one(account, index, why, view, out);
}

/* It was pending: the cluster as that cycle found it says why. */
static int answer_pending(const struct why_past_question *question, const struct account *account, uint32_t index,
                          const struct table_view *view, FILE *out, struct err *err)
{
    const struct account_workload *workload = &account->workloads.items[index];
    struct replay_moment moment;
    int r = replay_find_state(&moment, question->journal, account->last, err);
    gang_id gang = r < 0 ? NO_ID : state_find_gang(moment.state, workload->namespace, workload->name);

    if (gang != NO_ID) {
        struct why why;

        why_ask(&why, moment.state, NULL, &moment.config, moment.now, gang);
        tell_one(question, account, index, &why, view, out);
        why_done(&why);
    } else if (r >= 0) {
        tell_one(question, account, index, NULL, view, out);
    }
    replay_moment_done(&moment);
    return r;
}

static void answer_all(const struct why_past_question *question, const struct account *account,
                       const struct table_view *view, FILE *out)
{
    struct emit e = {.out = out};

    if (!question->as_json) {
        account_print_all(account, view, out);
        return;
    }
    account_write_all(&e, account);
    (void)fputc('\n', out);
}

static int answer(const struct why_past_question *question, const struct account *account,
                  const struct table_view *view, FILE *out, struct err *err)
{
    uint32_t index;

    if (!question->workload) {
        answer_all(question, account, view, out);
        return 0;
    }
    int r = account_find_workload(account, question->workload, &index, err);
    if (r < 0)
        return r;
    if (account->workloads.items[index].state == ACCOUNT_PENDING)
        return answer_pending(question, account, index, view, out, err);
    tell_one(question, account, index, NULL, view, out);
    return 0;
}

int why_past_answer(const struct why_past_question *question, const struct table_view *view, FILE *out, struct err *err)
{
    struct account account;

    account_init(&account);
    int r = account_read(&account, question->journal, question->at, err);
    if (r >= 0)
        r = answer(question, &account, view, out, err);
    account_done(&account);
    return r;
}
