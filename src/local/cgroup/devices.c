/* SPDX-License-Identifier: Apache-2.0 */
#include "local/cgroup/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/macros.h"

/* Numbers above the last GPU's are files of the driver itself: /dev/nvidiactl, /dev/nvidia-modeset. */
enum { NVIDIA_MAJOR = 195, GPU_MINOR_LAST = 253 };

enum { HEAD_LENGTH = 7, TAIL_LENGTH = 4, PROGRAM_MAX = HEAD_LENGTH + DEVICES_MAX + TAIL_LENGTH };

static long bpf(int command, union bpf_attr *attr)
{
    return syscall(SYS_bpf, command, attr, sizeof *attr);
}

static struct bpf_insn load(uint8_t to, size_t offset)
{
    return (struct bpf_insn){
        .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = to, .src_reg = BPF_REG_1, .off = (int16_t)offset};
}

/* Compares a register with a number, and jumps to instruction `to` when `how` holds. */
static struct bpf_insn jump(uint8_t how, uint8_t reg, uint32_t number, size_t here, size_t to)
{
    return (struct bpf_insn){.code = (uint8_t)(BPF_JMP | BPF_K | how),
                             .dst_reg = reg,
                             .off = (int16_t)(to - here - 1),
                             .imm = (int32_t)number};
}

static struct bpf_insn answer(bool is_allowed)
{
    return (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = is_allowed};
}

/* Returns the length of the program. */
static size_t write_program(struct bpf_insn program[static PROGRAM_MAX], const uint32_t *minors, size_t count)
{
    const size_t allow = HEAD_LENGTH + count + 2;
    size_t n = 0;

    program[n++] = load(BPF_REG_2, offsetof(struct bpf_cgroup_dev_ctx, access_type));
    program[n++] = (struct bpf_insn){.code = BPF_ALU | BPF_AND | BPF_K, .dst_reg = BPF_REG_2, .imm = 0xffff};
    program[n] = jump(BPF_JNE, BPF_REG_2, BPF_DEVCG_DEV_CHAR, n, allow);
    n++;
    program[n++] = load(BPF_REG_3, offsetof(struct bpf_cgroup_dev_ctx, major));
    program[n] = jump(BPF_JNE, BPF_REG_3, NVIDIA_MAJOR, n, allow);
    n++;
    program[n++] = load(BPF_REG_4, offsetof(struct bpf_cgroup_dev_ctx, minor));
    program[n] = jump(BPF_JGT, BPF_REG_4, GPU_MINOR_LAST, n, allow);
    n++;
    for (size_t i = 0; i < count; i++, n++)
        program[n] = jump(BPF_JEQ, BPF_REG_4, minors[i], n, allow);
    program[n++] = answer(false);
    program[n++] = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
    program[n++] = answer(true);
    program[n++] = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
    return n;
}

/* A descriptor of the program in the kernel, or -errno. */
static int load_program(const uint32_t *minors, size_t count)
{
    static const char license[] = "Apache-2.0";
    struct bpf_insn program[PROGRAM_MAX];
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    attr.insn_cnt = (uint32_t)write_program(program, minors, count);
    attr.insns = (uintptr_t)program;
    attr.license = (uintptr_t)license;
    long fd = bpf(BPF_PROG_LOAD, &attr);
    return fd < 0 ? -errno : (int)fd;
}

bool devices_can_restrict(void)
{
    int fd = load_program(NULL, 0);

    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

int devices_restrict(const char *path, const uint32_t *minors, size_t count, struct err *err)
{
    union bpf_attr attr;

    if (count > DEVICES_MAX)
        return err_set(err, -E2BIG, "control group %s: more than %d GPUs", path, DEVICES_MAX);
    int group = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int program = group < 0 ? -errno : load_program(minors, count);
    int r = MIN(program, 0);
    if (r == 0) {
        memset(&attr, 0, sizeof attr);
        attr.target_fd = (uint32_t)group;
        attr.attach_bpf_fd = (uint32_t)program;
        attr.attach_type = BPF_CGROUP_DEVICE;
        r = bpf(BPF_PROG_ATTACH, &attr) < 0 ? -errno : 0;
    }
    if (program >= 0)
        (void)close(program);
    if (group >= 0)
        (void)close(group);
    return r < 0 ? err_set(err, r, "control group %s: access to GPUs cannot be restricted: %s", path, strerror(-r)) : 0;
}
