// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a tracer may change at each kind of stop, what comes of it, and that it
 * never comes of it for the tracer itself.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/elf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "../../kselftest_harness.h"
#include "entry.h"

FIXTURE(stop) {
	enum entry_way way;
	struct tracee tracee;
};

FIXTURE_VARIANT(stop) {
	enum entry_way way;
};

FIXTURE_VARIANT_ADD(stop, sc) { .way = WAY_SC };
FIXTURE_VARIANT_ADD(stop, scv) { .way = WAY_SCV };

FIXTURE_SETUP(stop)
{
	self->way = variant->way;
	self->tracee.pid = 0;
	if (self->way == WAY_SCV && !have_scv())
		SKIP(return, "no scv here");
}

FIXTURE_TEARDOWN(stop)
{
	if (self->tracee.pid > 0)
		tracee_kill(&self->tracee);
}

static const struct call call_getppid = {
	.r0 = SYS_getppid, .arg = { 11, 12, 13, 14, 15, 16 },
};

static const struct call call_close_bad = { .r0 = SYS_close, .arg = { -1UL } };

/* Starts the child and runs it up to the entry of its call. */
#define START_AT_ENTRY(_tracee, _call, _prepare)			\
do {									\
	struct tracee *_t = (_tracee);					\
									\
	ASSERT_EQ(0, tracee_start(_t, self->way, (_call), (_prepare)));	\
	ASSERT_TRUE(is_syscall_stop(tracee_go(_t, PTRACE_SYSCALL, 0)));	\
	ASSERT_EQ(0, tracee_get(_t->pid, &regs));			\
} while (0)

/* Lets it run from here to its end and compares what the call gave. */
#define EXPECT_RESULT(_tracee, _value, _error)				\
do {									\
	struct tracee *_t = (_tracee);					\
									\
	EXPECT_EQ(0, tracee_finish(_t));				\
	EXPECT_EQ((unsigned long)(_value), _t->call->r3);		\
	EXPECT_EQ((_error) && _t->way == WAY_SC, _t->call->so);		\
} while (0)

static void filter(unsigned int nr, unsigned int action, unsigned int other_nr,
		   unsigned int other_action)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other_nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, other_action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {
		.len = ARRAY_SIZE(insns),
		.filter = insns,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(KSFT_SKIP);
}

static void stop_on_getppid(void)
{
	filter(SYS_getppid, SECCOMP_RET_TRACE, SYS_gettid, SECCOMP_RET_ERRNO | 7);
}

static void allow_everything(void)
{
	filter(SYS_getppid, SECCOMP_RET_ALLOW, SYS_gettid, SECCOMP_RET_ALLOW);
}

TEST_F(stop, the_number_can_be_changed_at_entry)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	START_AT_ENTRY(t, &call_close_bad, NULL);
	regs.gpr[0] = SYS_getppid;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, getpid(), false);
}

TEST_F(stop, a_number_out_of_range_at_entry_is_enosys)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	START_AT_ENTRY(t, &call_getppid, NULL);
	regs.gpr[0] = 9999;
	regs.gpr[3] = 777;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, way_errno(self->way, NO_SUCH_CALL), true);
}

/* Different from a seccomp stop, where the result is the tracer's */
TEST_F(stop, number_minus_1_at_entry_is_enosys_whatever_r3_says)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	START_AT_ENTRY(t, &call_getppid, NULL);
	regs.gpr[0] = -1UL;
	regs.gpr[3] = 777;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, way_errno(self->way, NO_SUCH_CALL), true);
}

#if __BITS_PER_LONG == 64
TEST_F(stop, a_number_with_high_bits_at_entry_is_enosys)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	START_AT_ENTRY(t, &call_getppid, NULL);
	regs.gpr[0] |= 1UL << 32;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, way_errno(self->way, NO_SUCH_CALL), true);
}
#endif

TEST_F(stop, all_six_arguments_can_be_changed_at_entry)
{
	static const struct call nonsense = {
		.r0 = SYS_mmap, .arg = { 1, 2, 3, 4, 5, 6 },
	};
	unsigned long where = 0x30000000, size = 0x10000;
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	START_AT_ENTRY(t, &nonsense, NULL);
	regs.gpr[3] = where;
	regs.gpr[4] = size;
	regs.gpr[5] = PROT_READ;
	regs.gpr[6] = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	regs.gpr[7] = -1UL;
	regs.gpr[8] = 0;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, where, false);
}

/* Without seccomp the first argument is r3 at an entry stop */
TEST_F(stop, the_first_argument_at_entry_is_r3)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	START_AT_ENTRY(t, &call_close_bad, NULL);
	regs.gpr[3] = 1;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, 0, false);
}

TEST_F(stop, the_first_argument_at_entry_is_not_orig_gpr3)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	START_AT_ENTRY(t, &call_close_bad, NULL);
	regs.orig_gpr3 = 1;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, way_errno(self->way, EBADF), true);
}

/* With a filter it is orig_gpr3, from which r3 is loaded after the filter ran */
TEST_F(stop, the_first_argument_at_entry_is_orig_gpr3_under_seccomp)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	START_AT_ENTRY(t, &call_close_bad, allow_everything);
	regs.orig_gpr3 = 1;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, 0, false);
}

TEST_F(stop, the_first_argument_at_entry_is_not_r3_under_seccomp)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	START_AT_ENTRY(t, &call_close_bad, allow_everything);
	regs.gpr[3] = 1;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, way_errno(self->way, EBADF), true);
}

TEST_F(stop, the_result_can_be_changed_at_exit)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	START_AT_ENTRY(t, &call_close_bad, NULL);
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	regs.gpr[3] = 1234;
	regs.ccr &= ~CR0_SO;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, 1234, false);
}

TEST_F(stop, success_can_be_made_an_error_at_exit)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	START_AT_ENTRY(t, &call_getppid, NULL);
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	regs.gpr[3] = way_errno(self->way, 5);
	if (way_so(self->way))
		regs.ccr |= CR0_SO;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, way_errno(self->way, 5), true);
}

/* Negative is not an error for sc unless SO says so, and nobody changes that here */
TEST_F(stop, a_negative_result_at_exit_stays_negative)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	START_AT_ENTRY(t, &call_getppid, NULL);
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	regs.gpr[3] = -5UL;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, -5UL, false);
}

TEST_F(stop, the_number_can_be_changed_at_a_seccomp_stop)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_getppid, stop_on_getppid));
	ASSERT_TRUE(is_event_stop(tracee_go(t, PTRACE_CONT, 0), PTRACE_EVENT_SECCOMP));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	regs.gpr[0] = SYS_getpid;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, t->pid, false);
}

TEST_F(stop, a_number_changed_at_a_seccomp_stop_is_filtered_again)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_getppid, stop_on_getppid));
	ASSERT_TRUE(is_event_stop(tracee_go(t, PTRACE_CONT, 0), PTRACE_EVENT_SECCOMP));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	regs.gpr[0] = SYS_gettid;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, way_errno(self->way, 7), true);
}

TEST_F(stop, the_first_argument_at_a_seccomp_stop_is_orig_gpr3)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_getppid, stop_on_getppid));
	ASSERT_TRUE(is_event_stop(tracee_go(t, PTRACE_CONT, 0), PTRACE_EVENT_SECCOMP));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	regs.gpr[0] = SYS_close;
	regs.gpr[3] = 12345;
	regs.orig_gpr3 = 1;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, 0, false);
}

TEST_F(stop, number_minus_1_at_a_seccomp_stop_returns_what_r3_says)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_getppid, stop_on_getppid));
	ASSERT_TRUE(is_event_stop(tracee_go(t, PTRACE_CONT, 0), PTRACE_EVENT_SECCOMP));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	regs.gpr[0] = -1UL;
	regs.gpr[3] = 777;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, 777, false);
}

TEST_F(stop, number_minus_1_at_a_seccomp_stop_returns_an_error_from_r3)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_getppid, stop_on_getppid));
	ASSERT_TRUE(is_event_stop(tracee_go(t, PTRACE_CONT, 0), PTRACE_EVENT_SECCOMP));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	regs.gpr[0] = -1UL;
	regs.gpr[3] = -5UL;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	/* what a 32-bit tracer writes is not extended, and so no error */
	if (is_compat())
		EXPECT_RESULT(t, -5UL, false);
	else
		EXPECT_RESULT(t, way_errno(self->way, 5), true);
}

/* ptrace comes first, then the filter: at both stops the tracer may change it */
TEST_F(stop, a_ptrace_stop_comes_before_the_seccomp_stop)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	START_AT_ENTRY(t, &call_close_bad, stop_on_getppid);
	EXPECT_EQ(SYS_close, regs.gpr[0]);
	regs.gpr[0] = SYS_getppid;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	ASSERT_TRUE(is_event_stop(tracee_go(t, PTRACE_SYSCALL, 0), PTRACE_EVENT_SECCOMP));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	EXPECT_EQ(getpid(), regs.gpr[3]);
	EXPECT_RESULT(t, getpid(), false);
}

/* Every other register is the program's too, at entry and at exit, if there is a stop */
TEST_F(stop, all_registers_can_be_changed_at_entry_and_at_exit)
{
	struct {
		struct entry_regs in, out;
	} *shared;
	struct entry_regs new;
	struct pt_regs regs;
	int at_exit, i, status;
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_FALSE(shared == MAP_FAILED);
	for (at_exit = 0; at_exit < 2; at_exit++) {
		canaries_fill(&shared->in, 1);
		shared->in.gpr[0] = SYS_getppid;
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			entry_run_fn run = way_run(self->way);

			sys_ptrace(PTRACE_TRACEME, 0, 0, NULL);
			syscall(SYS_kill, getpid(), SIGSTOP);
			run(&shared->in, &shared->out);
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		for (i = 0; i <= at_exit; i++) {
			ASSERT_EQ(0, sys_ptrace(PTRACE_SYSCALL, pid, 0, NULL));
			ASSERT_EQ(pid, waitpid(pid, &status, 0));
			ASSERT_TRUE(WIFSTOPPED(status));
		}
		ASSERT_EQ(0, tracee_get(pid, &regs));
		ASSERT_EQ(way_insn(self->way) + 4, regs.nip);
		canaries_fill(&new, 2);
		new.gpr[1] = regs.gpr[1];
		new.gpr[13] = regs.gpr[13];
		new.gpr[2] = __BITS_PER_LONG == 64 ? new.gpr[2] : regs.gpr[2];
		if (!at_exit)
			new.gpr[0] = SYS_getppid;
		new.cr &= ~CR0_SO;
		memcpy(regs.gpr, new.gpr, sizeof(regs.gpr));
		regs.ccr = new.cr;
		regs.xer = new.xer;
		regs.ctr = new.ctr;
		regs.link = new.lr;
		ASSERT_EQ(0, tracee_set(pid, &regs));
		/*
		 * Without a stop at exit the volatile registers are not the
		 * program's any more, and the others not loaded.
		 */
		if (!at_exit) {
			ASSERT_EQ(0, sys_ptrace(PTRACE_SYSCALL, pid, 0, NULL));
			ASSERT_EQ(pid, waitpid(pid, &status, 0));
			ASSERT_TRUE(WIFSTOPPED(status));
		}
		ASSERT_EQ(0, sys_ptrace(PTRACE_CONT, pid, 0, NULL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);

		memcpy(shared->in.gpr, new.gpr, sizeof(new.gpr));
		shared->in.cr = new.cr;
		shared->in.xer = new.xer;
		shared->in.ctr = new.ctr;
		shared->in.lr = new.lr;
		if (!at_exit)
			shared->in.gpr[3] = getpid();
		EXPECT_EQ(0, canaries_check(at_exit ? "exit" : "entry", &shared->in,
					    &shared->out, 0));
	}
}

/* Runs the child by single steps up to its call. */
static int step_to_call(struct tracee *t, struct pt_regs *regs)
{
	int steps, status;

	for (steps = 0; steps < 20000; steps++) {
		status = tracee_go(t, PTRACE_SINGLESTEP, 0);
		if (!is_signal_stop(status, SIGTRAP) || tracee_get(t->pid, regs))
			return -1;
		if (regs->nip == way_insn(t->way))
			return 0;
	}
	return -1;
}

TEST_F(stop, a_step_over_the_call_of_a_failing_call_stops_behind_it)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_close_bad, NULL));
	ASSERT_EQ(0, step_to_call(t, &regs));
	ASSERT_TRUE(is_signal_stop(tracee_go(t, PTRACE_SINGLESTEP, 0), SIGTRAP));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	if (regs.nip == way_insn(self->way) + 4)
		SKIP(return, "system calls are audited here");
	EXPECT_EQ(way_insn(self->way) + 8, regs.nip);
	EXPECT_EQ(way_errno(self->way, EBADF), regs.gpr[3]);
	EXPECT_EQ(way_so(self->way), regs_so(&regs));
	EXPECT_RESULT(t, way_errno(self->way, EBADF), true);
}

/*
 * Emulation and steps together: the call is reported and not made, and then the
 * step behind it is reported, right there.
 */
TEST_F(stop, sysemu_singlestep_stops_at_the_call_and_behind_it)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_getppid, NULL));
	ASSERT_EQ(0, step_to_call(t, &regs));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSEMU_SINGLESTEP, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	EXPECT_EQ(way_insn(self->way) + 4, regs.nip);
	EXPECT_EQ(11, regs.gpr[3]);
	EXPECT_EQ(SYS_getppid, regs.gpr[0]);
	regs.gpr[3] = 4321;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	ASSERT_TRUE(is_signal_stop(tracee_go(t, PTRACE_SYSEMU_SINGLESTEP, 0), SIGTRAP));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	EXPECT_EQ(way_insn(self->way) + 4, regs.nip);
	EXPECT_EQ(4321, regs.gpr[3]);
	ASSERT_TRUE(is_signal_stop(tracee_go(t, PTRACE_SYSEMU_SINGLESTEP, 0), SIGTRAP));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	EXPECT_EQ(way_insn(self->way) + 8, regs.nip);
	EXPECT_RESULT(t, 4321, false);
}

TEST_F(stop, sysemu_gives_the_result_of_the_tracer)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_getppid, NULL));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSEMU, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	regs.gpr[3] = 1357;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	EXPECT_RESULT(t, 1357, false);
}

/* One call reported, emulated, and made after all: go back to it. */
TEST_F(stop, after_sysemu_the_call_can_be_made_after_all)
{
	struct tracee *t = &self->tracee;
	struct pt_regs regs;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_getppid, NULL));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSEMU, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	regs.nip -= 4;
	ASSERT_EQ(0, tracee_set(t->pid, &regs));
	/* the exit of the one that was not made, and the entry of the one that is */
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	EXPECT_EQ(way_insn(self->way), regs.nip);
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	EXPECT_EQ(way_insn(self->way) + 4, regs.nip);
	EXPECT_EQ(SYS_getppid, regs.gpr[0]);
	EXPECT_EQ(11, regs.gpr[3]);
	EXPECT_RESULT(t, getpid(), false);
}

/*
 * Executes one call in the stopped child and puts its registers back, as debuggers
 * do: from one signal stop to the next.
 */
static unsigned long inject(struct tracee *t, unsigned long nr, unsigned long arg)
{
	struct pt_regs saved, regs;
	unsigned long result;

	if (tracee_get(t->pid, &saved))
		return -1;
	regs = saved;
	regs.nip = way_insn(t->way);
	regs.gpr[0] = nr;
	regs.gpr[1] -= 1024;		/* the instruction behind it stores */
	regs.gpr[3] = arg;
	regs.trap = 0;			/* this is no call to be restarted */
	if (tracee_set(t->pid, &regs) ||
	    !is_signal_stop(tracee_go(t, PTRACE_SINGLESTEP, 0), SIGTRAP) ||
	    tracee_get(t->pid, &regs))
		return -1;
	/* with audit it stops right behind the call */
	if (regs.nip != way_insn(t->way) + 4 && regs.nip != way_insn(t->way) + 8)
		return -1;
	result = regs.gpr[3];
	if (tracee_set(t->pid, &saved))
		return -1;
	return result;
}

TEST_F(stop, a_debugger_can_inject_a_call_at_a_signal_stop)
{
	struct tracee *t = &self->tracee;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_close_bad, NULL));
	/* it is stopped by its SIGSTOP */
	EXPECT_EQ(t->pid, inject(t, SYS_getpid, 5));
	EXPECT_EQ(getpid(), inject(t, SYS_getppid, 5));
	EXPECT_RESULT(t, way_errno(self->way, EBADF), true);
}

/* The interrupted read() is in the saved registers, and restarts with them. */
TEST_F(stop, a_call_interrupted_for_an_injection_goes_on)
{
	struct tracee *t = &self->tracee;
	int fds[2], status;
	char byte = 0;

	/* the -ERESTARTSYS that a 32-bit tracer writes back is not recognised by 6.12 */
	if (is_compat() && self->way == WAY_SCV)
		SKIP(return, "not with scv in 32 bits");
	ASSERT_EQ(0, pipe(fds));
	struct call call = {
		.r0 = SYS_read, .arg = { fds[0], (unsigned long)&byte, 1 },
	};
	ASSERT_EQ(0, tracee_start(t, self->way, &call, NULL));
	ASSERT_EQ(0, sys_ptrace(PTRACE_CONT, t->pid, 0, NULL));
	ASSERT_TRUE(wait_until_asleep(t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(t->pid, waitpid(t->pid, &status, 0));
	ASSERT_TRUE(is_signal_stop(status, SIGUSR1));
	EXPECT_EQ(t->pid, inject(t, SYS_getpid, 5));
	ASSERT_EQ(1, write(fds[1], "x", 1));
	EXPECT_RESULT(t, 1, false);
}

/* Everything in reach of the tracer is written, then it makes calls of its own. */
TEST_F(stop, what_a_tracer_writes_does_not_touch_its_own_calls)
{
	struct tracee *t = &self->tracee;
	unsigned long i, value;
	struct pt_regs regs, junk;
	struct iovec iov = { .iov_base = &junk, .iov_len = sizeof(junk) };
	struct call call;
	int round;

	START_AT_ENTRY(t, &call_getppid, NULL);
	for (round = 0; round < 3; round++) {
		for (i = 0; i <= PT_RESULT; i++) {
			value = i == PT_MSR ? regs.msr : (unsigned long)-512 + i;
			/* by the instruction under test; some of them cannot be written */
			call = (struct call){
				.r0 = SYS_ptrace,
				.arg = { PTRACE_POKEUSR, t->pid, i * sizeof(long), value },
			};
			call_make(self->way, &call);
			if (call.r3)
				EXPECT_EQ(way_errno(self->way, EIO), call.r3);
			EXPECT_EQ(call.r3 && way_so(self->way), call.so);

			EXPECT_EQ(getppid(), call3(self->way, SYS_getppid, 1, 2, 3));
			EXPECT_EQ(way_errno(self->way, EBADF),
				  call3(self->way, SYS_close, -1, 2, 3));
			EXPECT_EQ(way_errno(self->way, NO_SUCH_CALL),
				  call3(self->way, 9999, -1, 2, 3));
		}
		memset(&junk, 0xff, sizeof(junk));
		junk.msr = regs.msr;
		EXPECT_EQ(0, sys_ptrace(PTRACE_SETREGS, t->pid, 0, &junk));
		EXPECT_EQ(getppid(), call3(self->way, SYS_getppid, 1, 2, 3));
		EXPECT_EQ(0, sys_ptrace(PTRACE_SETREGSET, t->pid, NT_PRSTATUS, &iov));
		EXPECT_EQ(getppid(), call3(self->way, SYS_getppid, 1, 2, 3));
		ASSERT_EQ(0, tracee_set(t->pid, &regs));
	}
	EXPECT_RESULT(t, getpid(), false);
}

/* What the child does under a tracer that reads and writes at every stop */
static int got_signals;

static void count_signal(int sig)
{
	got_signals++;
}

static int busy_child(enum entry_way way)
{
	struct timespec delay = { .tv_nsec = 3000000 };
	int i, status, bad = 0;
	pid_t pid;

	signal(SIGUSR1, count_signal);
	for (i = 0; i < 20; i++) {
		bad += call3(way, SYS_close, -1, 0, 0) != way_errno(way, EBADF);
		bad += call3(way, SYS_getppid, 0, 0, 0) != getppid();
		bad += call3(way, 9999, 0, 0, 0) != way_errno(way, NO_SUCH_CALL);
		bad += call3(way, SYS_kill, getpid(), SIGUSR1, 0) != 0;
		bad += got_signals != i + 1;
	}
	for (i = 0; i < 3; i++) {
		pid = call3(way, SYS_fork, 0, 0, 0);
		if (!pid)
			_exit(17);
		bad += waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 17;
		bad += nanosleep(&delay, NULL) && errno != NO_SUCH_CALL;
	}
	return bad;
}

#define ALL_EVENTS							\
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
	 PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | \
	 PTRACE_O_EXITKILL)

TEST_F(stop, writing_back_what_was_read_at_every_stop_changes_nothing)
{
	struct pt_regs regs, junk;
	int status, stops = 0;
	pid_t pid, who;

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		sys_ptrace(PTRACE_TRACEME, 0, 0, NULL);
		syscall(SYS_kill, getpid(), SIGSTOP);
		_exit(busy_child(self->way) ? 1 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, sys_ptrace(PTRACE_SETOPTIONS, pid, 0, (void *)ALL_EVENTS));
	who = pid;
	for (;;) {
		int sig = 0;

		if (WIFSTOPPED(status)) {
			sig = WSTOPSIG(status);
			if (sig == (SIGTRAP | 0x80) || sig == SIGTRAP || sig == SIGSTOP)
				sig = 0;
			ASSERT_EQ(0, tracee_get(who, &regs));
			memset(&junk, 0x55, sizeof(junk));
			junk.msr = regs.msr;
			ASSERT_EQ(0, tracee_set(who, &junk));
			ASSERT_EQ(0, tracee_set(who, &regs));
			ASSERT_EQ(0, sys_ptrace(PTRACE_SYSCALL, who, 0, (void *)(long)sig));
			stops++;
		} else if (who == pid) {
			break;
		}
		who = waitpid(-1, &status, __WALL);
		ASSERT_LT(0, who);
	}
	EXPECT_EQ(0, status);
	EXPECT_LT(200, stops);
}

/* Waits for @pid; the status or -1 */
static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, __WALL) == pid ? status : -1;
}

TEST_F(stop, a_fork_shows_its_child_with_r3_0_behind_the_call)
{
	static const struct call call_fork = { .r0 = SYS_fork };
	struct tracee *t = &self->tracee;
	unsigned long child = 0;
	struct pt_regs regs;
	int status;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_fork, NULL));
	ASSERT_EQ(0, sys_ptrace(PTRACE_SETOPTIONS, t->pid, 0, (void *)ALL_EVENTS));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_TRUE(is_event_stop(tracee_go(t, PTRACE_SYSCALL, 0), PTRACE_EVENT_FORK));
	ASSERT_EQ(0, sys_ptrace(PTRACE_GETEVENTMSG, t->pid, 0, &child));

	status = wait_for(child);
	ASSERT_TRUE(is_signal_stop(status, SIGSTOP));
	ASSERT_EQ(0, tracee_get(child, &regs));
	EXPECT_EQ(0, regs.gpr[3]);
	EXPECT_FALSE(regs_so(&regs));
	EXPECT_EQ(way_insn(self->way) + 4, regs.nip);
	EXPECT_EQ(way_trap(self->way), regs.trap & ~0xfUL);

	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_EQ(0, tracee_get(t->pid, &regs));
	EXPECT_EQ(child, regs.gpr[3]);

	/* the child's next stop is its own exit, through a call */
	ASSERT_EQ(0, sys_ptrace(PTRACE_SYSCALL, child, 0, NULL));
	ASSERT_TRUE(is_syscall_stop(wait_for(child)));
	ASSERT_EQ(0, tracee_get(child, &regs));
	EXPECT_EQ(SYS_exit_group, regs.gpr[0]);
	ASSERT_EQ(0, sys_ptrace(PTRACE_CONT, child, 0, NULL));
	ASSERT_TRUE(is_event_stop(wait_for(child), PTRACE_EVENT_EXIT));
	ASSERT_EQ(0, sys_ptrace(PTRACE_CONT, child, 0, NULL));
	EXPECT_EQ(0, wait_for(child));

	/* and so is the parent's, who has sent a SIGCHLD to nobody */
	status = tracee_go(t, PTRACE_CONT, 0);
	while (WIFSTOPPED(status))
		status = tracee_go(t, PTRACE_CONT, 0);
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, t->call->r3 != child && t->call->r3 != 0);
}

TEST_F(stop, an_exit_shows_its_status)
{
	static const struct call call_exit = { .r0 = SYS_exit_group, .arg = { 33 } };
	struct tracee *t = &self->tracee;
	unsigned long code = 0;
	int status;

	ASSERT_EQ(0, tracee_start(t, self->way, &call_exit, NULL));
	ASSERT_EQ(0, sys_ptrace(PTRACE_SETOPTIONS, t->pid, 0, (void *)ALL_EVENTS));
	ASSERT_TRUE(is_syscall_stop(tracee_go(t, PTRACE_SYSCALL, 0)));
	ASSERT_TRUE(is_event_stop(tracee_go(t, PTRACE_SYSCALL, 0), PTRACE_EVENT_EXIT));
	ASSERT_EQ(0, sys_ptrace(PTRACE_GETEVENTMSG, t->pid, 0, &code));
	EXPECT_EQ(33 << 8, code);
	status = tracee_finish(t);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(33, WEXITSTATUS(status));
}

/* The new program starts with nothing of the old one's registers. */
TEST_F(stop, exec_starts_with_clean_registers)
{
	static char *const argv[] = { "entry", NULL };
	static char *const envp[] = { NULL };
	struct entry_regs in, out;
	struct pt_regs regs;
	int i, status;
	pid_t pid;

	canaries_fill(&in, 3);
	in.gpr[0] = SYS_execve;
	in.gpr[3] = (unsigned long)"/proc/self/exe";
	in.gpr[4] = (unsigned long)argv;
	in.gpr[5] = (unsigned long)envp;
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		entry_run_fn run = way_run(self->way);

		sys_ptrace(PTRACE_TRACEME, 0, 0, NULL);
		syscall(SYS_kill, getpid(), SIGSTOP);
		run(&in, &out);
		_exit(1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, sys_ptrace(PTRACE_SETOPTIONS, pid, 0, (void *)ALL_EVENTS));
	ASSERT_EQ(0, sys_ptrace(PTRACE_SYSCALL, pid, 0, NULL));
	ASSERT_TRUE(is_syscall_stop(wait_for(pid)));
	ASSERT_EQ(0, sys_ptrace(PTRACE_SYSCALL, pid, 0, NULL));
	ASSERT_TRUE(is_event_stop(wait_for(pid), PTRACE_EVENT_EXEC));
	ASSERT_EQ(0, sys_ptrace(PTRACE_SYSCALL, pid, 0, NULL));
	ASSERT_TRUE(is_syscall_stop(wait_for(pid)));
	ASSERT_EQ(0, tracee_get(pid, &regs));
	EXPECT_EQ(SYS_execve, regs.gpr[0]);
	for (i = 3; i < 32; i++) {
		/* 12 is the entry point for ELFv2 */
		if (i != 12)
			EXPECT_EQ(0, regs.gpr[i]);
	}
	EXPECT_EQ(0, regs.xer);
	EXPECT_EQ(0, regs.ctr);
	EXPECT_EQ(0, regs.link);
	EXPECT_EQ(0, regs.ccr);
	kill(pid, SIGKILL);
	waitpid(pid, &status, __WALL);
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ELFDATA_HERE	ELFDATA2LSB
#else
#define ELFDATA_HERE	ELFDATA2MSB
#endif

#if __BITS_PER_LONG == 64
/*
 * A 32-bit program, made here: close(-1), then exit(r3), as nobody builds two
 * sizes of one test.
 */
static int exec_32bit(void)
{
	static const u32 code[] = {
		0x3860ffff,	/* li	r3,-1 */
		0x3880ffff,	/* li	r4,-1 */
		0x38000006,	/* li	r0,6 (close) */
		0x44000002,	/* sc */
		0x38000001,	/* li	r0,1 (exit) */
		0x44000002,	/* sc */
	};
	struct image32 {
		struct elf32_hdr ehdr;
		struct elf32_phdr phdr;
		u32 code[ARRAY_SIZE(code)];
	} image = {
		.ehdr = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA_HERE, EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_PPC,
			.e_version = EV_CURRENT,
			.e_entry = 0x10000000 + offsetof(struct image32, code),
			.e_phoff = sizeof(struct elf32_hdr),
			.e_ehsize = sizeof(struct elf32_hdr),
			.e_phentsize = sizeof(struct elf32_phdr),
			.e_phnum = 1,
		},
		.phdr = {
			.p_type = PT_LOAD,
			.p_vaddr = 0x10000000,
			.p_filesz = sizeof(image),
			.p_memsz = sizeof(image),
			.p_flags = PF_R | PF_X,
			.p_align = 0x10000,
		},
	};
	int fd = memfd_create("entry32", 0);
	char path[64];

	memcpy(image.code, code, sizeof(code));
	if (fd < 0 || write(fd, &image, sizeof(image)) != sizeof(image))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return execl(path, "entry32", NULL);
}

TEST(a_64_bit_tracer_sees_a_32_bit_program)
{
	struct ptrace_syscall_info info;
	struct pt_regs regs;
	pid_t pid = fork();
	int status;

	ASSERT_LE(0, pid);
	if (!pid) {
		sys_ptrace(PTRACE_TRACEME, 0, 0, NULL);
		exec_32bit();
		_exit(100);
	}
	status = wait_for(pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 100)
		SKIP(return, "this kernel runs no 32-bit programs");
	ASSERT_TRUE(is_signal_stop(status, SIGTRAP));
	ASSERT_EQ(0, sys_ptrace(PTRACE_SETOPTIONS, pid, 0, (void *)ALL_EVENTS));
	ASSERT_EQ(0, sys_ptrace(PTRACE_SYSCALL, pid, 0, NULL));
	ASSERT_TRUE(is_syscall_stop(wait_for(pid)));
	ASSERT_EQ(0, tracee_get(pid, &regs));
	EXPECT_EQ(6, regs.gpr[0]);
	EXPECT_EQ(0xffffffffU, (u32)regs.gpr[3]);
	EXPECT_EQ(0, sys_ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0);
	EXPECT_EQ(PTRACE_SYSCALL_INFO_ENTRY, info.op);
	EXPECT_EQ(0x14, info.arch);
	EXPECT_EQ(6, info.entry.nr);
	EXPECT_EQ(0xffffffffUL, info.entry.args[0]);
	EXPECT_EQ(0xffffffffUL, info.entry.args[1]);

	ASSERT_EQ(0, sys_ptrace(PTRACE_SYSCALL, pid, 0, NULL));
	ASSERT_TRUE(is_syscall_stop(wait_for(pid)));
	ASSERT_EQ(0, tracee_get(pid, &regs));
	EXPECT_EQ(EBADF, regs.gpr[3]);
	EXPECT_TRUE(regs_so(&regs));
	/* a result with a high half, which the program cannot see */
	regs.gpr[3] = 0x1234567800000021UL;
	ASSERT_EQ(0, tracee_set(pid, &regs));
	ASSERT_EQ(0, sys_ptrace(PTRACE_CONT, pid, 0, NULL));
	ASSERT_TRUE(is_event_stop(wait_for(pid), PTRACE_EVENT_EXIT));
	ASSERT_EQ(0, sys_ptrace(PTRACE_CONT, pid, 0, NULL));
	status = wait_for(pid);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0x21, WEXITSTATUS(status));
}
#endif

TEST_HARNESS_MAIN
