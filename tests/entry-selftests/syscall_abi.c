// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a system call returns, and what a signal handler, a seccomp filter and a
 * tracer see of it, through sc and through scv. All of it is ABI, and it is not
 * the same for the two: sc returns a positive errno and sets CR0.SO, scv returns
 * a negative errno and leaves CR alone.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "../../kselftest_harness.h"
#include "entry.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH	59
#define PR_SYS_DISPATCH_OFF		0
#define PR_SYS_DISPATCH_ON		1
#endif

#ifndef SYS_USER_DISPATCH
#define SYS_USER_DISPATCH		2
#endif

/* read() returns this to the kernel's own signal code, and it is seen there */
#define ERESTARTSYS	512

FIXTURE(abi) {
	enum entry_way way;
	struct tracee tracee;
};

FIXTURE_VARIANT(abi) {
	enum entry_way way;
};

FIXTURE_VARIANT_ADD(abi, sc) { .way = WAY_SC };
FIXTURE_VARIANT_ADD(abi, scv) { .way = WAY_SCV };

FIXTURE_SETUP(abi)
{
	self->way = variant->way;
	self->tracee.pid = 0;
	if (self->way == WAY_SCV && !have_scv())
		SKIP(return, "no scv here");
}

FIXTURE_TEARDOWN(abi)
{
	if (self->tracee.pid > 0)
		tracee_kill(&self->tracee);
}

/* Executes one call and compares r3 and SO. */
#define EXPECT_CALL(_r0, _a, _r3, _so)					\
do {									\
	struct call _call = { .r0 = (_r0), .arg = { (_a) } };		\
									\
	call_make(self->way, &_call);					\
	EXPECT_EQ((unsigned long)(_r3), _call.r3);			\
	EXPECT_EQ((_so), _call.so);					\
} while (0)

TEST_F(abi, an_unknown_number_is_enosys)
{
	unsigned long enosys = way_errno(self->way, NO_SUCH_CALL);

	EXPECT_CALL(9999, 1, enosys, way_so(self->way));
	EXPECT_CALL(-1UL, 1, enosys, way_so(self->way));
#if __BITS_PER_LONG == 64
	EXPECT_CALL(1UL << 32 | SYS_getpid, 1, enosys, way_so(self->way));
	EXPECT_CALL(-1UL << 32 | SYS_getpid, 1, enosys, way_so(self->way));
#endif
}

TEST_F(abi, an_error_is_positive_with_so_by_sc_and_negative_by_scv)
{
	EXPECT_CALL(SYS_close, -1, way_errno(self->way, EBADF), way_so(self->way));
}

TEST_F(abi, success_clears_so_by_sc_and_leaves_it_alone_by_scv)
{
	entry_run_fn run = way_run(self->way);
	struct entry_regs in, out;

	EXPECT_CALL(SYS_getpid, 0, getpid(), false);

	canaries_fill(&in, 1);
	in.gpr[0] = SYS_getpid;
	in.cr |= CR0_SO;
	run(&in, &out);
	EXPECT_EQ(getpid(), out.gpr[3]);
	EXPECT_EQ(self->way == WAY_SC ? in.cr & ~CR0_SO : in.cr, out.cr);
}

#if __BITS_PER_LONG == 64
/* 0xffffffff is -1 only to someone who looks at 32 bits of it */
TEST_F(abi, a_large_result_is_not_an_error)
{
	int fd = memfd_create("entry", 0);
	struct call call = { .r0 = SYS_lseek, .arg = { fd, 0xffffffffUL, SEEK_SET } };

	ASSERT_LE(0, fd);
	call_make(self->way, &call);
	EXPECT_EQ(0xffffffffUL, call.r3);
	EXPECT_FALSE(call.so);
}
#endif

/* F_GETOWN may return a small negative number, a process group, and says so */
TEST_F(abi, a_forced_success_is_not_an_error)
{
	int fds[2];

	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(0, fcntl(fds[0], F_SETOWN, -getpgrp()));
	struct call call = { .r0 = SYS_fcntl, .arg = { fds[0], F_GETOWN } };

	call_make(self->way, &call);
	EXPECT_EQ((unsigned long)-getpgrp(), call.r3);
	EXPECT_FALSE(call.so);
}

/* The 32-bit halves above a 32-bit argument are nothing */
TEST_F(abi, an_int_argument_is_its_low_half)
{
	unsigned long fd = -1;

	/* as in close(-1), and in close(0xffffffff) */
	EXPECT_CALL(SYS_close, fd, way_errno(self->way, EBADF), way_so(self->way));
	EXPECT_CALL(SYS_close, 0xffffffffUL, way_errno(self->way, EBADF), way_so(self->way));
	ASSERT_EQ(100, dup2(1, 100));
#if __BITS_PER_LONG == 64
	EXPECT_CALL(SYS_close, 1UL << 32 | 100, 0, false);
#else
	EXPECT_CALL(SYS_close, 100, 0, false);
#endif
}

/* getppid() gets @action, everything else is allowed */
static void filter_getppid(unsigned int action)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {
		.len = ARRAY_SIZE(insns),
		.filter = insns,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)) {
		printf("# cannot install a seccomp filter\n");
		_exit(KSFT_SKIP);
	}
}

/* The slow way through the entry looks at the same 64 bits of the number */
TEST_F(abi, an_unknown_number_is_enosys_under_seccomp_too)
{
	unsigned long enosys = way_errno(self->way, NO_SUCH_CALL);

	filter_getppid(SECCOMP_RET_ALLOW);
	EXPECT_CALL(9999, 1, enosys, way_so(self->way));
	EXPECT_CALL(-1UL, 1, enosys, way_so(self->way));
#if __BITS_PER_LONG == 64
	EXPECT_CALL(1UL << 32 | SYS_getpid, 1, enosys, way_so(self->way));
	EXPECT_CALL(-1UL << 32 | SYS_getpid, 1, enosys, way_so(self->way));
#endif
}

TEST_F(abi, seccomp_errno_is_an_error)
{
	filter_getppid(SECCOMP_RET_ERRNO | 7);
	EXPECT_CALL(SYS_getppid, 77, way_errno(self->way, 7), way_so(self->way));
}

TEST_F(abi, seccomp_errno_0_is_success)
{
	filter_getppid(SECCOMP_RET_ERRNO | 0);
	EXPECT_CALL(SYS_getppid, 77, 0, false);
}

TEST_F(abi, seccomp_trace_without_a_tracer_is_enosys)
{
	filter_getppid(SECCOMP_RET_TRACE);
	EXPECT_CALL(SYS_getppid, 77, way_errno(self->way, NO_SUCH_CALL), way_so(self->way));
}

/* What a SIGSYS handler sees */
static struct {
	int count, code, nr, error;
	unsigned int arch;
	unsigned long addr;
	struct pt_regs regs;
} sigsys;

static void sigsys_handler(int sig, siginfo_t *info, void *ucontext)
{
	ucontext_t *uc = ucontext;

	sigsys.count++;
	sigsys.code = info->si_code;
	sigsys.error = info->si_errno;
	sigsys.nr = info->si_syscall;
	sigsys.arch = info->si_arch;
	sigsys.addr = (unsigned long)info->si_call_addr;
	memcpy(&sigsys.regs, UC_GREGS(uc), sizeof(sigsys.regs));
}

static void sigsys_catch(void)
{
	struct sigaction sa = {
		.sa_sigaction = sigsys_handler,
		.sa_flags = SA_SIGINFO,
	};

	memset(&sigsys, 0, sizeof(sigsys));
	sigaction(SIGSYS, &sa, NULL);
}

TEST_F(abi, seccomp_trap_shows_and_returns_the_first_argument)
{
	sigsys_catch();
	filter_getppid(SECCOMP_RET_TRAP | 5);
	EXPECT_CALL(SYS_getppid, 77, 77, false);
	EXPECT_EQ(1, sigsys.count);
	EXPECT_EQ(1 /* SYS_SECCOMP */, sigsys.code);
	EXPECT_EQ(5, sigsys.error);
	EXPECT_EQ(SYS_getppid, sigsys.nr);
	EXPECT_EQ(AUDIT_ARCH_HERE, sigsys.arch);
	EXPECT_EQ(way_insn(self->way) + 4, sigsys.addr);
	EXPECT_EQ(way_insn(self->way) + 4, sigsys.regs.nip);
	EXPECT_EQ(SYS_getppid, sigsys.regs.gpr[0]);
	EXPECT_EQ(77, sigsys.regs.gpr[3]);
	EXPECT_EQ(77, sigsys.regs.orig_gpr3);
	EXPECT_FALSE(regs_so(&sigsys.regs));
	EXPECT_EQ(way_trap(self->way), sigsys.regs.trap & ~0xfUL);
}

/*
 * Where r3 is left alone it still takes the way of a result, and a first argument
 * of -1 comes out as errno 1. Not pretty, but so it is. (The -1 of a 32-bit program
 * is none to a 64-bit kernel.)
 */
TEST_F(abi, seccomp_trap_takes_an_argument_of_minus_1_for_an_errno)
{
	if (is_compat())
		SKIP(return, "only with registers as wide as the kernel's");
	sigsys_catch();
	filter_getppid(SECCOMP_RET_TRAP);
	EXPECT_CALL(SYS_getppid, -1, way_errno(self->way, 1), way_so(self->way));
	EXPECT_EQ(1, sigsys.count);
	EXPECT_EQ(way_errno(self->way, 1), sigsys.regs.gpr[3]);
	EXPECT_EQ(-1UL, sigsys.regs.orig_gpr3);
	EXPECT_EQ(way_so(self->way), regs_so(&sigsys.regs));
}

/* Registers as the tracee's program set them, before the kernel did anything */
static void expect_entry(struct __test_metadata *_metadata,
			 const struct tracee *t, const struct pt_regs *regs)
{
	int i;

	EXPECT_EQ(t->call->r0, regs->gpr[0]);
	for (i = 0; i < 6; i++)
		EXPECT_EQ(t->call->arg[i], regs->gpr[3 + i]);
	EXPECT_EQ(t->call->arg[0], regs->orig_gpr3);
	EXPECT_FALSE(regs_so(regs));
	EXPECT_EQ(way_insn(t->way) + 4, regs->nip);
	EXPECT_EQ(way_trap(t->way), regs->trap & ~0xfUL);
}

static const struct call call_getppid = {
	.r0 = SYS_getppid, .arg = { 11, 12, 13, 14, 15, 16 },
};

static const struct call call_close_bad = {
	.r0 = SYS_close, .arg = { -1UL, 12, 13, 14, 15, 16 },
};

TEST_F(abi, a_tracer_sees_the_first_argument_in_r3_at_entry)
{
	struct tracee *t = &self->tracee;
	struct ptrace_syscall_info info;
	struct pt_regs regs;
	long size;
	int i;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_getppid, NULL));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	expect_entry(_metadata, t, &regs);

	memset(&info, 0x55, sizeof(info));
	size = sys_ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof(info), &info);
	EXPECT_EQ(offsetof(struct ptrace_syscall_info, entry.args[6]), size);
	EXPECT_EQ(PTRACE_SYSCALL_INFO_ENTRY, info.op);
	EXPECT_EQ(AUDIT_ARCH_HERE, info.arch);
	EXPECT_EQ(regs.nip, info.instruction_pointer);
	EXPECT_EQ(regs.gpr[1], info.stack_pointer);
	EXPECT_EQ(SYS_getppid, info.entry.nr);
	for (i = 0; i < 6; i++)
		EXPECT_EQ(call_getppid.arg[i], info.entry.args[i]);

	EXPECT_EQ(0, tracee_finish(t));
	EXPECT_EQ(getpid(), t->call->r3);
	EXPECT_FALSE(t->call->so);
}

TEST_F(abi, a_tracer_sees_a_failure_at_exit)
{
	struct tracee *t = &self->tracee;
	struct ptrace_syscall_info info;
	struct pt_regs regs;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_close_bad, NULL));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	EXPECT_EQ(way_errno(self->way, EBADF), regs.gpr[3]);
	EXPECT_EQ(-1UL, regs.orig_gpr3);
	EXPECT_EQ(way_so(self->way), regs_so(&regs));
	EXPECT_EQ(SYS_close, regs.gpr[0]);
	EXPECT_EQ(way_insn(self->way) + 4, regs.nip);

	memset(&info, 0x55, sizeof(info));
	EXPECT_EQ(offsetof(struct ptrace_syscall_info, exit.is_error) + 1,
		  sys_ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof(info), &info));
	EXPECT_EQ(PTRACE_SYSCALL_INFO_EXIT, info.op);
	EXPECT_EQ(-EBADF, info.exit.rval);
	EXPECT_EQ(1, info.exit.is_error);

	EXPECT_EQ(0, tracee_finish(t));
	EXPECT_EQ(way_errno(self->way, EBADF), t->call->r3);
	EXPECT_EQ(way_so(self->way), t->call->so);
}

TEST_F(abi, a_tracer_sees_success_at_exit)
{
	struct tracee *t = &self->tracee;
	struct ptrace_syscall_info info;
	struct pt_regs regs;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_getppid, NULL));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	EXPECT_EQ(getpid(), regs.gpr[3]);
	EXPECT_EQ(11, regs.orig_gpr3);
	EXPECT_FALSE(regs_so(&regs));

	memset(&info, 0x55, sizeof(info));
	EXPECT_LT(0, sys_ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof(info), &info));
	EXPECT_EQ(PTRACE_SYSCALL_INFO_EXIT, info.op);
	EXPECT_EQ(getpid(), info.exit.rval);
	EXPECT_EQ(0, info.exit.is_error);
	EXPECT_EQ(0, tracee_finish(t));
}

TEST_F(abi, a_tracer_skips_the_call_with_number_minus_1)
{
	struct tracee *t = &self->tracee;
	struct ptrace_syscall_info info;
	struct pt_regs regs;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_getppid, NULL));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	regs.gpr[0] = -1UL;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	EXPECT_EQ(way_errno(self->way, NO_SUCH_CALL), regs.gpr[3]);
	EXPECT_EQ(way_so(self->way), regs_so(&regs));
	EXPECT_EQ(11, regs.orig_gpr3);

	memset(&info, 0x55, sizeof(info));
	EXPECT_LT(0, sys_ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof(info), &info));
	EXPECT_EQ(-NO_SUCH_CALL, info.exit.rval);
	EXPECT_EQ(1, info.exit.is_error);

	EXPECT_EQ(0, tracee_finish(t));
	EXPECT_EQ(way_errno(self->way, NO_SUCH_CALL), t->call->r3);
	EXPECT_EQ(way_so(self->way), t->call->so);
}

TEST_F(abi, sysemu_does_not_run_the_call_and_leaves_r3_alone)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_getppid, NULL));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSEMU, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	expect_entry(_metadata, t, &regs);
	EXPECT_EQ(0, tracee_finish(t));
	EXPECT_EQ(11, t->call->r3);
	EXPECT_FALSE(t->call->so);
}

/* As with seccomp above */
TEST_F(abi, sysemu_takes_an_argument_of_minus_1_for_an_errno)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	if (is_compat())
		SKIP(return, "only with registers as wide as the kernel's");
	ASSERT_EQ(0, tracee_start(t, self->way, &call_close_bad, NULL));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSEMU, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	expect_entry(_metadata, t, &regs);
	EXPECT_EQ(0, tracee_finish(t));
	EXPECT_EQ(way_errno(self->way, 1), t->call->r3);
	EXPECT_EQ(way_so(self->way), t->call->so);
}

static void stop_on_getppid(void)
{
	filter_getppid(SECCOMP_RET_TRACE | 3);
}

/* On purpose not what a ptrace stop shows: r3 is the result so far */
TEST_F(abi, a_seccomp_stop_has_enosys_in_r3_and_the_argument_in_orig_gpr3)
{
	struct tracee *t = &self->tracee;
	struct ptrace_syscall_info info;
	struct pt_regs regs;
	unsigned long msg = 0;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_getppid, stop_on_getppid));
	ASSERT_TRUE(is_event_stop(tracee_go(t, PTRACE_CONT, 0), PTRACE_EVENT_SECCOMP));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	EXPECT_EQ(SYS_getppid, regs.gpr[0]);
	EXPECT_EQ((unsigned long)-NO_SUCH_CALL, regs.gpr[3]);
	EXPECT_EQ(11, regs.orig_gpr3);
	EXPECT_EQ(12, regs.gpr[4]);
	EXPECT_FALSE(regs_so(&regs));
	EXPECT_EQ(0, sys_ptrace(PTRACE_GETEVENTMSG, t->pid, 0, &msg));
	EXPECT_EQ(3, msg);

	memset(&info, 0x55, sizeof(info));
	EXPECT_LT(0, sys_ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, sizeof(info), &info));
	EXPECT_EQ(PTRACE_SYSCALL_INFO_SECCOMP, info.op);
	EXPECT_EQ(SYS_getppid, info.seccomp.nr);
	EXPECT_EQ(11, info.seccomp.args[0]);
	EXPECT_EQ(16, info.seccomp.args[5]);
	EXPECT_EQ(3, info.seccomp.ret_data);

	EXPECT_EQ(0, tracee_finish(t));
	EXPECT_EQ(getpid(), t->call->r3);
	EXPECT_FALSE(t->call->so);
}

/* ERESTARTSYS is shown to a tracer, and to nobody else */
TEST_F(abi, an_interrupted_read_shows_erestartsys_at_the_signal_stop)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;
	char byte = 0;
	int fds[2], status;

	ASSERT_EQ(0, pipe(fds));
	struct call call = {
		.r0 = SYS_read, .arg = { fds[0], (unsigned long)&byte, 1 },
	};
	ASSERT_EQ(0, tracee_start(t, self->way, &call, NULL));
	ASSERT_EQ(0, sys_ptrace(PTRACE_CONT, t->pid, 0, NULL));
	ASSERT_TRUE(wait_until_asleep(t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(t->pid, waitpid(t->pid, &status, 0));
	ASSERT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(SIGUSR1, WSTOPSIG(status));

	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	EXPECT_EQ(way_errno(self->way, ERESTARTSYS), regs.gpr[3]);
	EXPECT_EQ(way_so(self->way), regs_so(&regs));
	EXPECT_EQ(fds[0], regs.orig_gpr3);
	EXPECT_EQ(SYS_read, regs.gpr[0]);
	EXPECT_EQ(way_insn(self->way) + 4, regs.nip);

	/* without the signal it goes on where it was */
	ASSERT_EQ(0, sys_ptrace(PTRACE_CONT, t->pid, 0, NULL));
	ASSERT_TRUE(wait_until_asleep(t->pid));
	ASSERT_EQ(1, write(fds[1], "x", 1));
	ASSERT_EQ(t->pid, waitpid(t->pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, t->call->r3);
	EXPECT_FALSE(t->call->so);
}

/*
 * The instruction behind the call is executed before the next stop: 6.12
 * reports the step when the next trace interrupt comes, and the call itself
 * gives none.
 */
TEST_F(abi, a_step_over_the_call_stops_one_instruction_behind_it)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;
	int steps, status;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_getppid, NULL));
	for (steps = 0; steps < 20000; steps++) {
		status = tracee_go(t, PTRACE_SINGLESTEP, 0);
		ASSERT_TRUE(WIFSTOPPED(status));
		ASSERT_EQ(SIGTRAP, WSTOPSIG(status));
		ASSERT_EQ(0, tracee_get(t->pid, &regs));
		if (regs.nip == way_insn(self->way))
			break;
	}
	ASSERT_EQ(way_insn(self->way), regs.nip);
	status = tracee_go(t, PTRACE_SINGLESTEP, 0);
	ASSERT_TRUE(WIFSTOPPED(status));
	EXPECT_EQ(SIGTRAP, WSTOPSIG(status));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	/* with audit, or after audit was on once, the exit reports the step itself */
	if (regs.nip == way_insn(self->way) + 4)
		SKIP(return, "system calls are audited here");
	EXPECT_EQ(way_insn(self->way) + 8, regs.nip);
	EXPECT_EQ(getpid(), regs.gpr[3]);
	EXPECT_EQ(0, tracee_finish(t));
	EXPECT_EQ(getpid(), t->call->r3);
}

static char sud_selector;

TEST_F(abi, user_dispatch_rolls_the_call_back_exactly)
{
	entry_run_fn run = way_run(self->way);
	struct entry_regs in, out;
	int i;

	sigsys_catch();
	canaries_fill(&in, 3);
	in.cr &= ~CR0_SO;
	in.gpr[0] = SYS_getppid;
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON,
		  way_insn(self->way == WAY_SC ? WAY_SCV : WAY_SC), 8, &sud_selector))
		SKIP(return, "this kernel has no syscall user dispatch");
	sud_selector = 1;
	/* the handler's own sigreturn is in the vdso, which is let through */
	run(&in, &out);
	sud_selector = 0;

	EXPECT_EQ(1, sigsys.count);
	EXPECT_EQ(SYS_USER_DISPATCH, sigsys.code);
	EXPECT_EQ(0, sigsys.error);
	EXPECT_EQ(SYS_getppid, sigsys.nr);
	EXPECT_EQ(AUDIT_ARCH_HERE, sigsys.arch);
	EXPECT_EQ(way_insn(self->way) + 4, sigsys.addr);
	EXPECT_EQ(way_insn(self->way) + 4, sigsys.regs.nip);
	for (i = 0; i < 32; i++) {
		/* r9 to r12 hold the way into the kernel, r1 is not a canary */
		if (i != 1 && (i < 9 || i > 12))
			EXPECT_EQ(in.gpr[i], sigsys.regs.gpr[i]);
	}
	EXPECT_EQ(in.gpr[3], sigsys.regs.orig_gpr3);
	EXPECT_EQ(in.cr, sigsys.regs.ccr);
	/* and the program goes on with the same ones */
	EXPECT_EQ(0, canaries_check("after SIGSYS", &in, &out,
				    SKIP_GPRS(9, 12) | SKIP_XER | SKIP_CTR |
				    (self->way == WAY_SCV ? SKIP_LR : 0)));
}

TEST_HARNESS_MAIN
