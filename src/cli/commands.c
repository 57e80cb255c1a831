/* SPDX-License-Identifier: Apache-2.0 */

/* The table of commands. */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "cli/command.h"
#include "cli/suggest.h"
#include "frame/service.h"
#include "gpu/daemon/service.h"
#include "services/binder/binder.h"
#include "services/fencer/fencer.h"
#include "services/grouper/grouper.h"
#include "services/reservation/reservation.h"
#include "services/scheduler/scheduler.h"
#include "sim/convert/convert.h"

static const char *const scheduler_examples[] = {
    "muster scheduler --kubeconfig ~/.kube/config",
    "muster scheduler --scheduler-conf=/etc/config/config.yaml --leader-elect",
    "muster scheduler --partition-label-value=h100 --bind-requests=always",
    NULL,
};

static const char *const output_choices[] = {"table", "json", NULL};

static const struct command_option scenario_options[] = {
    {'o', "output", "table|json", output_choices, "what to print: tables for people (default), or JSON"},
    {0, "repeat", "N", NULL, "play each scenario N times from a fresh state; timings are the medians"},
};

static const char *const scenario_examples[] = {
    "muster scenario examples/three-teams.json",
    "muster scenario -o json --repeat 5 cluster.json.gz",
    "generate-cluster | muster scenario -",
    NULL,
};

static const struct command_option why_options[] = {
    {'o', "output", "table|json", output_choices, "what to print: a tree for people (default), or JSON"},
    {0, "id", "ID", NULL, "the scenario to look at, where a file holds several"},
    {0, "kubeconfig", "FILE", NULL, "how to reach the cluster of kube: (default: where kubectl looks)"},
};

static const char *const why_examples[] = {
    "muster why batch-index examples/three-teams.json",
    "muster why team-a/train-llm nodes.yaml queues.yaml jobs/",
    "muster why -o json train-llm-0 snapshot.zip",
    "muster why team-a/train-llm kube:",
    NULL,
};

/* Of every command that simulates; see sim_run_call_set(). */
#define SIM_RUN_OPTIONS                                                                                              \
    {'o', "output", "table|json", output_choices, "what to print: tables for people (default), or JSON"},            \
        {'t', "trace", "FILE", NULL, "work that comes and goes, as CSV (docs/traces.md)"},                           \
        {'r', "report", "FILE", NULL, "write a page with plots: one HTML file that needs nothing else"},             \
        {0, "kubeconfig", "FILE", NULL, "how to reach the cluster of kube: (default: where kubectl looks)"},         \
        {0, "until", "WHEN", NULL, "stop after so long, such as 7d, or at a time"},                                  \
        {0, "grace", "TIME", NULL, "from a pod's eviction until it is gone (default 30s)"},                          \
        {0, "usage-window", "TIME", NULL, "time-based fair share: past use of so long counts (default 7d when on)"}, \
        {0, "usage-half-life", "TIME", NULL, "time-based fair share: use so long ago counts half"}

static const char *const fail_on_choices[] = {"never", "waiting", NULL};

static const struct command_option simulate_options[] = {
    SIM_RUN_OPTIONS,
    {0, "journal", "FOLDER", NULL, "keep what was told and decided, for 'muster replay'"},
    {0, "journal-size", "SIZE", NULL, "bytes that the journal may take, oldest first to go (default 1Gi)"},
    {0, "fail-on", "never|waiting", fail_on_choices,
     "exit with 1 when a workload can never run, or when one is pending at the end"},
    {0, "require", "REQUIREMENT", NULL,
     "exit with 1 unless it holds, such as 'lab/train=Running' or 'p95Wait<30m'; repeatable"},
};

static const char *const simulate_examples[] = {
    "muster simulate examples/three-teams/cluster jobs/",
    "muster simulate examples/three-teams/cluster --trace examples/three-teams/day.csv --report day.html",
    "muster simulate -o json snapshot.zip",
    "muster simulate kube: new-job.yaml",
    "muster simulate cluster/ new-job.yaml --require 'lab/train=Running' --fail-on never",
    NULL,
};

static const struct command_option compare_options[] = {
    SIM_RUN_OPTIONS,
    {'w', "with", "PATH", NULL, "more of the cluster, the same for both; may be given several times"},
    {0, "require", "REQUIREMENT", NULL,
     "exit with 1 unless B meets it, such as 'p95Wait(queue=research)<30m'; repeatable"},
};

static const char *const compare_examples[] = {
    "muster compare quotas.yaml new-quotas.yaml --with nodes.yaml --trace week.csv",
    "muster compare quotas.yaml new-quotas.yaml --with kube:prod --trace week.csv",
    "muster compare a/ b/ --trace week.csv --require 'p95Wait(queue=research)<30m' --require 'allocated>=0.98*A'",
    NULL,
};

static const struct command_option replay_options[] = {
    {'o', "output", "table|json", output_choices, "what to print: tables for people (default), or JSON"},
    {0, "at", "TIME", NULL, "show the last cycle at or before that time, such as 2026-03-01T12:00:00Z"},
};

static const char *const replay_examples[] = {
    "muster replay /var/lib/muster/journal",
    "muster replay --at 2026-03-01T12:00:00Z /var/lib/muster/journal",
    "muster simulate examples/gang --journal gang.journal && muster replay gang.journal",
    NULL,
};

static const char *const trace_verbs[] = {"generate", "convert", NULL};
/* trace.c reads them in this order. */
static const struct command_option trace_options[] = {
    {0, "out", "FILE", NULL, "where to write the trace (default: standard output)"},
    {0, "cluster", "FILE", NULL, "write nodes and queues to go with it, as YAML"},
    {0, "queues", "Q", NULL,
     "generate: how many queues, or their names: a,b,c (default 10); convert: spread owners over so many"},
    {0, "gpus-per-node", "N", NULL, "GPUs of a node; convert: where no file lists the nodes (default 8)"},
    {0, "from", "alibaba|philly|prometheus|slurm", convert_sources,
     "convert: where the files are from (default: found by their columns)"},
    {0, "keep-pending", NULL, NULL, "convert: keep workloads that never started"},
    {0, "seed", "N", NULL, "generate: the same number gives the same trace (default 1)"},
    {0, "days", "D", NULL, "generate: how long (default 30)"},
    {0, "gpus", "G", NULL, "generate: GPUs of the cluster (default 2000)"},
    {0, "jobs", "J", NULL, "generate: workloads (default 100000)"},
    {0, "load", "L", NULL, "generate: GPU time asked for, of all there is (default 0.9)"},
    {0, "failures", "F", NULL, "generate: nodes that fail each day (default 0)"},
};

static const char *const trace_examples[] = {
    "muster trace convert sacct.txt sinfo.txt --cluster cluster.yaml --out month.csv",
    "muster trace convert prometheus-*.json --cluster cluster.yaml --out month.csv",
    "muster trace convert openb_pod_list_default.csv openb_node_list_gpu_node.csv --cluster openb.yaml --out openb.csv",
    "muster trace generate --seed 7 --days 7 --gpus 512 --jobs 5000 --cluster cluster.yaml --out week.csv",
    NULL,
};


static const char *const gpud_examples[] = {
    "muster gpud",
    "muster gpud --config /etc/muster/gpud.yaml --log-json",
    NULL,
};

static const char *const binder_examples[] = {
    "muster binder --leader-elect",
    "muster binder --kubeconfig ~/.kube/config --qps 500 --burst 1000 --max-concurrent-reconciles 50",
    "muster binder --gpu-fence --plugins='{\"gpusharing\": {\"arguments\": {\"cdiEnabled\": \"true\"}}}'",
    NULL,
};

static const char *const reservation_examples[] = {
    "POD_NAME=gpu-reservation-0 POD_NAMESPACE=kai-resource-reservation muster reservation",
    NULL,
};

static const char *const fencer_examples[] = {
    "muster fencer --node-name gpu-1 --kubeconfig ~/.kube/config",
    "NODE_NAME=gpu-1 muster fencer --driver-root=/run/nvidia/driver --host-root=/host "
    "--library-dir=/var/lib/muster/gpu",
    NULL,
};

static const char *const grouper_examples[] = {
    "muster grouper --kubeconfig ~/.kube/config",
    "muster grouper --leader-elect --qps=200 --log-json",
    NULL,
};

static const char *const gpu_verbs[] = {"run", "top", "doctor", NULL};
static const char *const gpu_modes[] = {"strict", "fair", "time", NULL};

static const struct command_option gpu_options[] = {
    {0, "memory", "AMOUNT", NULL, "run: memory that is kept for the program, such as 20Gi, or 0.25 of the GPU"},
    {0, "memory-limit", "AMOUNT", NULL, "run: what it may have while nobody else wants it (default: no more)"},
    {0, "share", "PART", NULL, "run: share of the GPU's time (default: that of its memory)"},
    {0, "mode", "strict|fair|time", gpu_modes,
     "run: exactly the share, at least the share (default), or as the driver does"},
    {0, "gpu", "GPU", NULL, "run: which one, by UUID or number (default: the one with most room)"},
    {0, "name", "NAME", NULL, "run: what to call it in 'top' and in figures"},
    {0, "folder", "FOLDER", NULL, "of the daemon (default: /run/muster/gpu for root)"},
    {'o', "output", "table|json", output_choices, "top: what to print"},
    {0, "once", NULL, NULL, "top: print once and end"},
};

static const char *const gpu_examples[] = {
    "muster gpu run --memory 20Gi --share 0.25 -- python train.py",
    "muster gpu run --memory 0.5 --mode strict -- ./serve --port 8000",
    "muster gpu top",
    "muster gpu doctor",
    NULL,
};

static const char *const jq_examples[] = {
    "echo '{\"questions\": [{\"expression\": \".a\", \"document\": 0}], \"inputs\": [[{\"a\": 1}]]}' | muster jq",
    NULL,
};

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static const char *const completion_examples[] = {
    "source <(muster completion bash)",
    "muster completion fish | source",
    "muster completion zsh > ~/.zsh/functions/_muster",
    NULL,
};

static const struct command_option man_options[] = {
    {0, "list", NULL, NULL, "list the commands that have a page, one a line"},
};

static const char *const man_examples[] = {
    "muster man scenario | man -l -",
    NULL,
};

const struct command commands[] = {
    {
        .name = "scenario",
        .summary = "schedule a cluster described in a file, and say why the rest waits",
        .usage = "[-o table|json] [--repeat N] FILE...",
        .text =
            "Each FILE holds one scenario, or an array of them, as JSON: nodes, queues, jobs, and which actions run.\n"
            "It may be packed by gzip; '-' is standard input. Nothing but the file is looked at or changed.\n",
        .options = scenario_options,
        .option_count = ARRAY_LEN(scenario_options),
        .examples = scenario_examples,
        .run = run_scenario,
    },
    {
        .name = "why",
        .summary = "say why a workload waits, and what would help",
        .usage = "[-o table|json] [--id ID] WORKLOAD PATH...",
        .text =
            "WORKLOAD is the name of a gang, a pod or a job, or namespace/name. PATH is a scenario, or manifests, "
            "folders of\n"
            "them, a snapshot, or kube: or kube:CONTEXT for a running cluster, of which nothing but lists are asked "
            "for. Every\n"
            "remedy that is named was tried on a copy of the cluster, and found to work.\n",
        .options = why_options,
        .option_count = ARRAY_LEN(why_options),
        .examples = why_examples,
        .run = run_why,
    },
    {
        .name = "simulate",
        .summary = "play a cluster until nothing changes, or through a trace",
        .usage = "[OPTION...] PATH...",
        .text =
            "PATH is Kubernetes manifests, a folder of them, a snapshot of KAI's scheduler, a scenario, or kube: or "
            "kube:CONTEXT\n"
            "for a running cluster, of which nothing but lists are asked for. Without a trace, cycles run until "
            "nothing\n"
            "changes; with one, work comes and goes as the trace says, in virtual time.\n",
        .options = simulate_options,
        .option_count = ARRAY_LEN(simulate_options),
        .examples = simulate_examples,
        .run = run_simulate,
    },
    {
        .name = "compare",
        .summary = "play one trace with two settings, and show them side by side",
        .usage = "[OPTION...] --trace FILE A B",
        .text = "A and B are clusters as 'muster simulate' reads them: other quotas, weights, nodes or settings. "
                "Bounds are about B;\n"
                "the status is 1 when one of them breaks. docs/compare.md lists what can be bounded.\n",
        .options = compare_options,
        .option_count = ARRAY_LEN(compare_options),
        .examples = compare_examples,
        .run = run_compare,
    },
    {
        .name = "replay",
        .summary = "play a scheduler's journal again, or look at a past cycle",
        .usage = "[-o table|json] [--at TIME] PATH",
        .text = "PATH is the folder of a journal or one of its segments. Every cycle runs again through the engine on "
                "what was known\n"
                "then; the status is 1 when a decision or a verdict is another one now. docs/replay.md says more.\n",
        .options = replay_options,
        .option_count = ARRAY_LEN(replay_options),
        .examples = replay_examples,
        .run = run_replay,
    },
    {
        .name = "trace",
        .summary = "convert records of a real cluster to a trace, or make one up",
        .usage = "generate|convert [OPTION...] [FILE...]",
        .text =
            "convert reads what Slurm's accounting (sacct -P) or Prometheus know of the last month, and the public "
            "traces of Alibaba and\n"
            "Microsoft. generate makes up the life of a cluster from a seed. Both write CSV; docs/traces.md says which "
            "files and columns.\n",
        .options = trace_options,
        .option_count = ARRAY_LEN(trace_options),
        .examples = trace_examples,
        .words = trace_verbs,
        .operands = OPERANDS_PATHS,
        .run = run_trace,
    },
    {
        .name = "scheduler",
        .summary = "decide on a cluster: which pods run, where, and at whose expense",
        .usage = "[FLAG...]",
        .text =
            "Follows a Kubernetes cluster and binds the pods of its scheduler name as KAI Scheduler would, with the\n"
            "same objects, flags and configuration. It waits for nothing else: pods without an owner are placed at\n"
            "once, and those that need no work before the bind are bound straight away.\n",
        .service = &scheduler_service,
        .examples = scheduler_examples,
        .operands = OPERANDS_NONE,
        .run = run_service,
    },
    {
        .name = "grouper",
        .summary = "group the pods of a cluster into PodGroups, as a service",
        .usage = "[FLAG...]",
        .text = "Follows the pods of the scheduler and gives each the PodGroup that its owners call for. Runs until it "
                "is told\nto stop (SIGTERM); deploy/rbac has the rights it needs.\n",
        .service = &grouper_service,
        .examples = grouper_examples,
        .operands = OPERANDS_NONE,
        .run = run_service,
    },
    {
        .name = "gpu",
        .summary = "run a program with a part of a GPU, and see who uses what",
        .usage = "run|top|doctor [OPTION...] [-- PROGRAM ARGUMENT...]",
        .text =
            "run gives a program a memory limit and a share of a GPU's time that others cannot take away, without a "
            "cluster.\n"
            "top shows GPUs, who holds them and who waits; on a terminal 'h' lists its keys.\n"
            "doctor says whether shares are enforced here, by what, and if not, why.\n",
        .options = gpu_options,
        .option_count = ARRAY_LEN(gpu_options),
        .examples = gpu_examples,
        .words = gpu_verbs,
        .operands = OPERANDS_PATHS,
        .run = run_gpu,
    },
    {
        .name = "gpud",
        .summary = "share the GPUs of this node: memory limits and shares of compute",
        .usage = "[FLAG...]",
        .text = "The daemon of a node: it owns the ledger of GPU memory and hands out leases of compute. Programs that "
                "run under\n"
                "'muster gpu run', and containers that have its library, are its tenants.\n",
        .service = &gpud_service,
        .examples = gpud_examples,
        .operands = OPERANDS_NONE,
        .run = run_service,
    },
    {
        .name = "binder",
        .summary = "bind pods to the nodes that BindRequests name",
        .usage = "[FLAG...]",
        .text = "Carries out BindRequests: reserves shared GPUs, gives pods their volumes and devices, and binds them. "
                "What was\n"
                "done is taken back when a bind fails. docs/binder.md tells more.\n",
        .examples = binder_examples,
        .operands = OPERANDS_NONE,
        .service = &binder_service,
        .run = run_service,
    },
    {
        .name = "reservation",
        .summary = "keep a GPU for the pods that share it, from within a pod",
        .usage = "[FLAG...]",
        .text = "Runs in the pods that the binder makes: finds the one GPU that the pod was given, writes its UUID on "
                "the pod,\n"
                "and then does nothing until it is told to stop.\n",
        .examples = reservation_examples,
        .operands = OPERANDS_NONE,
        .service = &reservation_service,
        .run = run_service,
    },
    {
        .name = "fencer",
        .summary = "put the pods of a node that share GPUs behind fences",
        .usage = "[FLAG...]",
        .text =
            "Runs on each node beside 'muster gpud'. For each pod with a part of a GPU it asks gpud for a group with "
            "what the pod's\n"
            "annotations say, and writes a device by which the container runtime puts Muster's library in the driver's "
            "place.\n"
            "docs/gpu-sharing.md tells more.\n",
        .examples = fencer_examples,
        .operands = OPERANDS_NONE,
        .service = &fencer_service,
        .run = run_service,
    },
    {
        .name = "jq",
        .summary = "answer jq expressions within limits, for other services",
        .usage = "",
        .text =
            "Reads a request as JSON from standard input and prints the answers: {\"questions\": [{\"expression\":\n"
            "\".a\", \"document\": 0}], \"inputs\": [[{\"a\": 1}]]}. Whatever is asked, it ends within two seconds of\n"
            "processor time and takes no more than 256 MiB. The grouper starts it for Kartas.\n",
        .examples = jq_examples,
        .operands = OPERANDS_NONE,
        .run = run_jq,
    },
    {
        .name = "completion",
        .summary = "print what a shell needs to complete commands and options",
        .usage = "bash|zsh|fish",
        .examples = completion_examples,
        .words = shells,
        .operands = OPERANDS_NONE,
        .run = run_completion,
    },
    {
        .name = "man",
        .summary = "print the manual page of a command, or of the program",
        .usage = "[--list] [COMMAND]",
        .options = man_options,
        .option_count = ARRAY_LEN(man_options),
        .examples = man_examples,
        .operands = OPERANDS_COMMANDS,
        .run = run_man,
    },
    {
        .name = "version",
        .summary = "print the version",
        .usage = "",
        .operands = OPERANDS_NONE,
        .run = run_version,
    },
    {
        .name = "help",
        .summary = "tell about a command",
        .usage = "[COMMAND]",
        .operands = OPERANDS_COMMANDS,
        .run = run_help,
    },
    {0},
};

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name; command++) {
        if (strcmp(command->name, name) == 0)
            return command;
    }
    return NULL;
}

int command_main(int argc, char **argv)
{
    const struct command *command;
    struct arguments arguments;
    const char *name = argc > 1 ? argv[1] : NULL;
    int status;

    if (!name) {
        (void)command_help(NULL);
        return EXIT_WRONG_CALL;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    else if (strcmp(name, "--version") == 0)
        name = "version";
    command = command_find(name);
    if (!command)
        return name[0] == '-' ? command_wrong(NULL, "there is no option %s", name) : command_unknown(name);
    arguments_init(&arguments, command, argc - 2, (const char *const *)argv + 2);
    status = command->run(command, &arguments);
    arguments_done(&arguments);
    return status == EXIT_FINE && (fflush(stdout) != 0 || ferror(stdout)) ? command_failed_to_write() : status;
}
