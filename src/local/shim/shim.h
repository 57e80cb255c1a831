/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The process beside each pod. It starts the containers of one pod, holds their pipes and terminals, writes their logs,
 * collects their exit codes, restarts and probes them, and so outlives the daemon: a daemon that is killed or upgraded
 * finds the pod as it is. Everything is in the pod's folder, which only the daemon's user can read:
 *
 *     STATE/pods/UID/
 *       plan.json        what to run: the pod, and what the daemon has resolved for each container
 *       status.json      how it stands; written before a container is started, and when anything changes
 *       lock             held for as long as the process lives, so that a pod never has two
 *       socket           packets, see below
 *       CONTAINER/N.log  output of run number N
 *       volumes/NAME     volumes
 *
 * A client's first packet is a JSON object with the member `op`:
 *
 *     watch    with `deadline`, seconds that the pod may run, 0 for ever; a packet "{}" comes back whenever status.json has changed, and {"type","reason","message"} for events
 *     stop     ends the pod, within `grace` seconds
 *     exec     `container`, `command`, `stdin`, `stdout`, `stderr`, `tty`; then packets of a channel and bytes
 *     attach   `container`, `stdin`, `stdout`, `stderr`; likewise
 *
 * Channels are those of Kubernetes' remote commands: 0 stdin, 1 stdout, 2 stderr, 3 the Status at the end, 4 the size of
 * the terminal, 255 the end of a channel.
 */
#define POD_PLAN "plan.json"
#define POD_STATUS "status.json"
#define POD_LOCK "lock"
#define POD_SOCKET "socket"
#define POD_STOP "stop"  // the pod is to end, whoever runs it
#define POD_SHIM_LOG "shim.log"
#define POD_VOLUMES "volumes"

enum { SHIM_PACKET_MAX = 64 << 10, POD_PLAN_BYTES_MAX = 32 << 20 };

enum shim_channel {
    CHANNEL_STDIN,
    CHANNEL_STDOUT,
    CHANNEL_STDERR,
    CHANNEL_STATUS,
    CHANNEL_RESIZE,
    CHANNEL_CLOSE = 255,
};

/* Runs the pod of a folder to its end. Returns an exit status: 0 also when another process has the pod. */
int shim_main(const char *folder);
