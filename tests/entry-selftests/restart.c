// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls that a signal interrupts: which of them start again, which fail
 * with EINTR, with which registers, and that none of the kernel's own ERESTART*
 * ever reaches a program or its handlers.
 */

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#include "../../kselftest_harness.h"
#include "entry.h"

/* What a handler saw */
struct frame {
	int sig;
	struct pt_regs regs;
};

/* In memory that parent and child share */
static struct shared {
	struct call call;
	int handled;
	struct frame frame[8];
	/* memory for the calls */
	int word;
	struct { long sec, nsec; } time, left;
	struct pollfd pollfd;
	char byte;
} *shared;

static int fds[2], other_fds[2];

static void handler(int sig, siginfo_t *info, void *ucontext)
{
	ucontext_t *uc = ucontext;
	struct frame *f = &shared->frame[shared->handled & 7];

	f->sig = sig;
	memcpy(&f->regs, UC_GREGS(uc), sizeof(f->regs));
	shared->handled++;
}

static enum entry_way handler_way;

/* A handler that has a call of its own interrupted and restarted */
static void handler_with_call(int sig, siginfo_t *info, void *ucontext)
{
	char byte;

	handler(sig, info, ucontext);
	if (call3(handler_way, SYS_read, other_fds[0], (unsigned long)&byte, 1) != 1)
		_exit(50);
}

FIXTURE(restart) {
	enum entry_way way;
	pid_t pid;
};

FIXTURE_VARIANT(restart) {
	enum entry_way way;
};

FIXTURE_VARIANT_ADD(restart, sc) { .way = WAY_SC };
FIXTURE_VARIANT_ADD(restart, scv) { .way = WAY_SCV };

FIXTURE_SETUP(restart)
{
	struct timespec nothing = { 0 };

	self->way = variant->way;
	self->pid = 0;
	if (self->way == WAY_SCV && !have_scv())
		SKIP(return, "no scv here");
	if (nanosleep(&nothing, NULL) && errno == NO_SUCH_CALL)
		SKIP(return, "a kernel without 32-bit time");
	handler_way = self->way;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_FALSE(shared == MAP_FAILED);
	ASSERT_EQ(0, pipe(fds));
	ASSERT_EQ(0, pipe(other_fds));
}

FIXTURE_TEARDOWN(restart)
{
	if (self->pid > 0) {
		kill(self->pid, SIGKILL);
		waitpid(self->pid, NULL, 0);
	}
}

/**
 * struct sleeping_call - a system call that sleeps
 * @r0: its number
 * @prepare: sets the arguments
 * @restarts: with SA_RESTART it starts again; if not, it never does with a handler
 * @by_block: it goes on with restart_syscall()
 * @wake: lets it succeed
 * @value: what it returns then
 */
struct sleeping_call {
	const char *name;
	unsigned long r0;
	void (*prepare)(struct call *call);
	bool restarts, by_block;
	void (*wake)(void);
	unsigned long value;
};

static void prepare_read(struct call *call)
{
	call->arg[0] = fds[0];
	call->arg[1] = (unsigned long)&shared->byte;
	call->arg[2] = 1;
}

static void prepare_futex(struct call *call)
{
	shared->word = 5;
	call->arg[0] = (unsigned long)&shared->word;
	call->arg[1] = FUTEX_WAIT;
	call->arg[2] = 5;
}

static void prepare_futex_timeout(struct call *call)
{
	prepare_futex(call);
	shared->time.sec = 1000;
	call->arg[3] = (unsigned long)&shared->time;
}

static void prepare_poll(struct call *call)
{
	shared->pollfd.fd = fds[0];
	shared->pollfd.events = POLLIN;
	call->arg[0] = (unsigned long)&shared->pollfd;
	call->arg[1] = 1;
	call->arg[2] = 1000000;
}

static void prepare_nanosleep(struct call *call)
{
	shared->time.sec = 0;
	shared->time.nsec = 700000000;
	call->arg[0] = (unsigned long)&shared->time;
	call->arg[1] = (unsigned long)&shared->left;
}

static void wake_fd(void)
{
	if (write(fds[1], "x", 1) != 1)
		abort();
}

static void wake_futex(void)
{
	syscall(SYS_futex, &shared->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* It ends by itself. */
static void wake_nobody(void)
{
}

static const struct sleeping_call sleeping_calls[] = {
	{ "read", SYS_read, prepare_read, true, false, wake_fd, 1 },
	{ "futex", SYS_futex, prepare_futex, true, false, wake_futex, 0 },
	{ "futex with a timeout", SYS_futex, prepare_futex_timeout, false, true, wake_futex, 0 },
	{ "poll", SYS_poll, prepare_poll, false, true, wake_fd, 1 },
	{ "nanosleep", SYS_nanosleep, prepare_nanosleep, false, true, wake_nobody, 0 },
};

#define END_OF_CALLS	(sleeping_calls + ARRAY_SIZE(sleeping_calls))

/* A child that makes the call, with handlers for two signals; sleeping when this returns */
static pid_t start_call(const struct sleeping_call *c, enum entry_way way, int flags1,
			int flags2, bool traced)
{
	struct sigaction sa1 = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags1 };
	struct sigaction sa2 = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags2 };
	int status;
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	shared->call.r0 = c->r0;
	c->prepare(&shared->call);
	pid = fork();
	if (!pid) {
		sigaction(SIGUSR1, &sa1, NULL);
		sigaction(SIGUSR2, &sa2, NULL);
		if (traced) {
			sys_ptrace(PTRACE_TRACEME, 0, 0, NULL);
			syscall(SYS_kill, getpid(), SIGSTOP);
		}
		call_make(way, &shared->call);
		_exit(0);
	}
	if (pid < 0)
		return -1;
	if (traced) {
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
		    sys_ptrace(PTRACE_SETOPTIONS, pid, 0,
			       (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)))
			return -1;
		return pid;
	}
	return wait_until_asleep(pid) ? pid : -1;
}

static bool wait_for_handler(int count)
{
	int tries;

	for (tries = 0; tries < 5000 && READ_ONCE(shared->handled) < count; tries++)
		usleep(1000);
	return READ_ONCE(shared->handled) >= count;
}

static int end_of(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* None of 512 to 516, in either way that errors are written */
static bool is_erestart(unsigned long r3)
{
	long value = r3;

	if (value < 0)
		value = -value;
	return value >= 512 && value <= 516;
}

static void expect_no_erestart(struct __test_metadata *_metadata)
{
	int i;

	EXPECT_FALSE(is_erestart(shared->call.r3));
	for (i = 0; i < shared->handled && i < 8; i++)
		EXPECT_FALSE(is_erestart(shared->frame[i].regs.gpr[3]));
}

#define EXPECT_CALL(_which, _value, _error)				\
do {									\
	const char *_name = (_which)->name;				\
									\
	EXPECT_EQ((unsigned long)(_value), shared->call.r3)		\
		TH_LOG("%s", _name);					\
	EXPECT_EQ((_error) && way_so(self->way), shared->call.so)	\
		TH_LOG("%s", _name);					\
	expect_no_erestart(_metadata);					\
} while (0)

TEST_F(restart, a_handler_without_sa_restart_makes_it_eintr)
{
	unsigned long eintr = way_errno(self->way, EINTR);
	const struct sleeping_call *c;
	struct pt_regs *regs;

	for (c = sleeping_calls; c < END_OF_CALLS; c++) {
		self->pid = start_call(c, self->way, 0, 0, false);
		ASSERT_LT(0, self->pid);
		ASSERT_EQ(0, kill(self->pid, SIGUSR1));
		EXPECT_EQ(0, end_of(self->pid));
		self->pid = 0;
		EXPECT_EQ(1, shared->handled);
		EXPECT_CALL(c, eintr, true);
		regs = &shared->frame[0].regs;
		EXPECT_EQ(eintr, regs->gpr[3]);
		EXPECT_EQ(way_so(self->way), regs_so(regs));
		EXPECT_EQ(way_insn(self->way) + 4, regs->nip);
	}
}

TEST_F(restart, a_handler_with_sa_restart_restarts_it_if_it_can_be)
{
	unsigned long eintr = way_errno(self->way, EINTR);
	const struct sleeping_call *c;
	struct pt_regs *regs;

	for (c = sleeping_calls; c < END_OF_CALLS; c++) {
		self->pid = start_call(c, self->way, SA_RESTART, 0, false);
		ASSERT_LT(0, self->pid);
		ASSERT_EQ(0, kill(self->pid, SIGUSR1));
		ASSERT_TRUE(wait_for_handler(1));
		regs = &shared->frame[0].regs;
		if (c->restarts) {
			ASSERT_TRUE(wait_until_asleep(self->pid));
			c->wake();
			EXPECT_EQ(0, end_of(self->pid));
			EXPECT_CALL(c, c->value, false);
			/* the handler saw the call as it was made */
			EXPECT_EQ(way_insn(self->way), regs->nip);
			EXPECT_EQ(c->r0, regs->gpr[0]);
			EXPECT_EQ(shared->call.arg[0], regs->gpr[3]);
			EXPECT_EQ(shared->call.arg[1], regs->gpr[4]);
			EXPECT_EQ(shared->call.arg[2], regs->gpr[5]);
		} else {
			EXPECT_EQ(0, end_of(self->pid));
			EXPECT_CALL(c, eintr, true);
			EXPECT_EQ(way_insn(self->way) + 4, regs->nip);
		}
		self->pid = 0;
		EXPECT_EQ(1, shared->handled);
	}
}

TEST_F(restart, stop_and_continue_without_a_handler_restart_it)
{
	const struct sleeping_call *c;
	int status;

	for (c = sleeping_calls; c < END_OF_CALLS; c++) {
		self->pid = start_call(c, self->way, 0, 0, false);
		ASSERT_LT(0, self->pid);
		ASSERT_EQ(0, kill(self->pid, SIGSTOP));
		ASSERT_EQ(self->pid, waitpid(self->pid, &status, WUNTRACED));
		ASSERT_TRUE(WIFSTOPPED(status));
		ASSERT_EQ(0, kill(self->pid, SIGCONT));
		ASSERT_TRUE(wait_until_asleep(self->pid));
		c->wake();
		EXPECT_EQ(0, end_of(self->pid));
		self->pid = 0;
		EXPECT_CALL(c, c->value, false);
	}
}

/* Both pending when the call is interrupted: only the first decides, and once. */
TEST_F(restart, two_signals_at_once_restart_it_once)
{
	const struct sleeping_call *c;
	int status, flags;

	for (c = sleeping_calls; c < END_OF_CALLS; c++) {
		for (flags = 0; flags < 2; flags++) {
			bool again = c->restarts && flags;

			self->pid = start_call(c, self->way, flags ? SA_RESTART : 0,
					       flags ? 0 : SA_RESTART, false);
			ASSERT_LT(0, self->pid);
			ASSERT_EQ(0, kill(self->pid, SIGSTOP));
			ASSERT_EQ(self->pid, waitpid(self->pid, &status, WUNTRACED));
			ASSERT_EQ(0, kill(self->pid, SIGUSR1));
			ASSERT_EQ(0, kill(self->pid, SIGUSR2));
			ASSERT_EQ(0, kill(self->pid, SIGCONT));
			ASSERT_TRUE(wait_for_handler(2));
			if (again) {
				ASSERT_TRUE(wait_until_asleep(self->pid));
				c->wake();
			}
			EXPECT_EQ(0, end_of(self->pid));
			self->pid = 0;
			EXPECT_EQ(2, shared->handled);
			if (again)
				EXPECT_CALL(c, c->value, false);
			else
				EXPECT_CALL(c, way_errno(self->way, EINTR), true);
		}
	}
}

/* Many signals, one after the other, and each time the same call goes on. */
TEST_F(restart, a_call_is_restarted_again_and_again)
{
	const struct sleeping_call *c = sleeping_calls;
	int i;

	self->pid = start_call(c, self->way, SA_RESTART, SA_RESTART, false);
	ASSERT_LT(0, self->pid);
	for (i = 1; i <= 200; i++) {
		ASSERT_EQ(0, kill(self->pid, i & 1 ? SIGUSR1 : SIGUSR2));
		ASSERT_TRUE(wait_for_handler(i));
	}
	ASSERT_TRUE(wait_until_asleep(self->pid));
	c->wake();
	EXPECT_EQ(0, end_of(self->pid));
	self->pid = 0;
	EXPECT_EQ(200, shared->handled);
	EXPECT_CALL(c, 1, false);
}

TEST_F(restart, a_call_in_a_handler_and_the_one_under_it_both_restart)
{
	struct sigaction sa1 = {
		.sa_sigaction = handler_with_call, .sa_flags = SA_SIGINFO | SA_RESTART,
	};
	struct sigaction sa2 = {
		.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART,
	};
	const struct sleeping_call *c = sleeping_calls;

	shared->call.r0 = c->r0;
	c->prepare(&shared->call);
	self->pid = fork();
	ASSERT_LE(0, self->pid);
	if (!self->pid) {
		sigaction(SIGUSR1, &sa1, NULL);
		sigaction(SIGUSR2, &sa2, NULL);
		call_make(self->way, &shared->call);
		_exit(0);
	}
	ASSERT_TRUE(wait_until_asleep(self->pid));
	ASSERT_EQ(0, kill(self->pid, SIGUSR1));
	ASSERT_TRUE(wait_for_handler(1));
	ASSERT_TRUE(wait_until_asleep(self->pid));
	ASSERT_EQ(0, kill(self->pid, SIGUSR2));
	ASSERT_TRUE(wait_for_handler(2));
	ASSERT_TRUE(wait_until_asleep(self->pid));
	ASSERT_EQ(1, write(other_fds[1], "x", 1));
	usleep(20000);
	ASSERT_TRUE(wait_until_asleep(self->pid));
	c->wake();
	EXPECT_EQ(0, end_of(self->pid));
	self->pid = 0;
	EXPECT_CALL(c, 1, false);
	/* the inner call was restarted with the inner call's registers */
	EXPECT_EQ(other_fds[0], shared->frame[1].regs.gpr[3]);
	EXPECT_EQ(way_insn(self->way), shared->frame[1].regs.nip);
}

static int next_stop(pid_t pid, int sig)
{
	int status;

	if (sys_ptrace(PTRACE_SYSCALL, pid, 0, (void *)(long)sig) ||
	    waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

/* Exit with ERESTART*, the signal, and the entry again, which may be another number */
TEST_F(restart, a_tracer_sees_it_interrupted_and_made_again)
{
	const struct sleeping_call *c;
	struct pt_regs regs;
	int status;

	for (c = sleeping_calls; c < END_OF_CALLS; c++) {
		self->pid = start_call(c, self->way, SA_RESTART, 0, true);
		ASSERT_LT(0, self->pid);
		ASSERT_TRUE(is_syscall_stop(next_stop(self->pid, 0)));
		ASSERT_EQ(0, sys_ptrace(PTRACE_SYSCALL, self->pid, 0, NULL));
		ASSERT_TRUE(wait_until_asleep(self->pid));
		ASSERT_EQ(0, kill(self->pid, SIGUSR1));
		ASSERT_EQ(self->pid, waitpid(self->pid, &status, 0));
		ASSERT_TRUE(is_syscall_stop(status));
		ASSERT_EQ(0, tracee_get(self->pid, &regs));
		EXPECT_TRUE(is_erestart(regs.gpr[3]));
		EXPECT_EQ(way_so(self->way), regs_so(&regs));
		EXPECT_EQ(way_insn(self->way) + 4, regs.nip);

		/* the tracer takes the signal away */
		ASSERT_TRUE(is_signal_stop(next_stop(self->pid, 0), SIGUSR1));
		ASSERT_TRUE(is_syscall_stop(next_stop(self->pid, 0)));
		ASSERT_EQ(0, tracee_get(self->pid, &regs));
		EXPECT_EQ(c->by_block ? SYS_restart_syscall : c->r0, regs.gpr[0]);
		EXPECT_EQ(way_insn(self->way) + 4, regs.nip);
		if (!c->by_block) {
			EXPECT_EQ(shared->call.arg[0], regs.gpr[3]);
			EXPECT_EQ(shared->call.arg[1], regs.gpr[4]);
			EXPECT_EQ(shared->call.arg[2], regs.gpr[5]);
		}
		ASSERT_EQ(0, sys_ptrace(PTRACE_CONT, self->pid, 0, NULL));
		ASSERT_TRUE(wait_until_asleep(self->pid));
		c->wake();
		EXPECT_EQ(0, end_of(self->pid));
		self->pid = 0;
		EXPECT_EQ(0, shared->handled);
		EXPECT_CALL(c, c->value, false);
	}
}

/* A tracer that writes another result where ERESTART* was has the last word. */
TEST_F(restart, a_tracer_can_replace_the_result_of_an_interrupted_call)
{
	const struct sleeping_call *c;
	struct pt_regs regs;
	int status;

	for (c = sleeping_calls; c < END_OF_CALLS; c++) {
		self->pid = start_call(c, self->way, SA_RESTART, 0, true);
		ASSERT_LT(0, self->pid);
		ASSERT_EQ(0, sys_ptrace(PTRACE_CONT, self->pid, 0, NULL));
		ASSERT_TRUE(wait_until_asleep(self->pid));
		ASSERT_EQ(0, kill(self->pid, SIGUSR1));
		ASSERT_EQ(self->pid, waitpid(self->pid, &status, 0));
		ASSERT_TRUE(is_signal_stop(status, SIGUSR1));
		ASSERT_EQ(0, tracee_get(self->pid, &regs));
		regs.gpr[3] = 77;
		regs.ccr &= ~CR0_SO;
		ASSERT_EQ(0, tracee_set(self->pid, &regs));
		ASSERT_EQ(0, sys_ptrace(PTRACE_CONT, self->pid, 0, (void *)SIGUSR1));
		EXPECT_EQ(0, end_of(self->pid));
		self->pid = 0;
		EXPECT_EQ(1, shared->handled);
		EXPECT_CALL(c, 77, false);
		EXPECT_EQ(77, shared->frame[0].regs.gpr[3]);
	}
}

/* A sleep goes on for what was left of it, not from the start, and not for nothing. */
TEST_F(restart, a_stopped_sleep_ends_when_it_would_have)
{
	const struct sleeping_call *c = &sleeping_calls[4];
	struct timespec start, end;
	int i, status;
	s64 ms;

	clock_gettime(CLOCK_MONOTONIC, &start);
	self->pid = start_call(c, self->way, 0, 0, false);
	ASSERT_LT(0, self->pid);
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, kill(self->pid, SIGSTOP));
		ASSERT_EQ(self->pid, waitpid(self->pid, &status, WUNTRACED));
		ASSERT_EQ(0, kill(self->pid, SIGCONT));
		usleep(20000);
	}
	EXPECT_EQ(0, end_of(self->pid));
	self->pid = 0;
	clock_gettime(CLOCK_MONOTONIC, &end);
	ms = (end.tv_sec - start.tv_sec) * 1000LL + (end.tv_nsec - start.tv_nsec) / 1000000;
	EXPECT_CALL(c, 0, false);
	EXPECT_LE(700, ms);
}

TEST_HARNESS_MAIN
