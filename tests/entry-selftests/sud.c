// SPDX-License-Identifier: GPL-2.0-only
/*
 * Syscall user dispatch through sc and scv. The generic tests of it are in
 * tools/testing/selftests/syscall_user_dispatch; here is what powerpc may get
 * wrong: two instructions, an exact roll back, and the sigreturns of the vdso.
 */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
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

#ifndef PTRACE_SET_SYSCALL_USER_DISPATCH_CONFIG
#define PTRACE_SET_SYSCALL_USER_DISPATCH_CONFIG	0x4210
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG	0x4211

struct ptrace_sud_config {
	__u64 mode;
	__u64 selector;
	__u64 offset;
	__u64 len;
};
#endif

enum { ALLOW, BLOCK };

static char selector;

/* What the handler saw, and what it does */
static struct {
	int count, code, nr, error;
	unsigned int arch;
	unsigned long addr;
	struct pt_regs regs;
} seen;

static char selector_after;
static bool set_result, go_back;
static unsigned long result_r3, result_so;

static void dispatch(int sig, siginfo_t *info, void *ucontext)
{
	ucontext_t *uc = ucontext;

	seen.count++;
	seen.code = info->si_code;
	seen.error = info->si_errno;
	seen.nr = info->si_syscall;
	seen.arch = info->si_arch;
	seen.addr = (unsigned long)info->si_call_addr;
	memcpy(&seen.regs, UC_GREGS(uc), sizeof(seen.regs));
	if (set_result) {
		UC_GREGS(uc)[PT_R3] = result_r3;
		UC_GREGS(uc)[PT_CCR] &= ~CR0_SO;
		UC_GREGS(uc)[PT_CCR] |= result_so;
	}
	if (go_back)
		UC_GREGS(uc)[PT_NIP] -= 4;
	WRITE_ONCE(selector, selector_after);
}

static int sud_on(unsigned long offset, unsigned long len)
{
	return prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, offset, len, &selector);
}

FIXTURE(sud) {
	enum entry_way way;
	entry_run_fn run;
	struct entry_regs in, out;
};

FIXTURE_VARIANT(sud) {
	enum entry_way way;
};

FIXTURE_VARIANT_ADD(sud, sc) { .way = WAY_SC };
FIXTURE_VARIANT_ADD(sud, scv) { .way = WAY_SCV };

FIXTURE_SETUP(sud)
{
	struct sigaction sa = { .sa_sigaction = dispatch, .sa_flags = SA_SIGINFO };

	self->way = variant->way;
	self->run = way_run(variant->way);
	if (self->way == WAY_SCV && !have_scv())
		SKIP(return, "no scv here");
	if (sud_on(0, 0))
		SKIP(return, "this kernel has no syscall user dispatch");
	ASSERT_EQ(0, sigaction(SIGSYS, &sa, NULL));
	canaries_fill(&self->in, 1);
	self->in.cr &= ~CR0_SO;
	self->in.gpr[0] = SYS_getppid;
}

FIXTURE_TEARDOWN(sud)
{
}

/* The call with the selector at "block", and nothing else in between */
#define BLOCKED_CALL()							\
do {									\
	WRITE_ONCE(selector, BLOCK);					\
	self->run(&self->in, &self->out);				\
	WRITE_ONCE(selector, ALLOW);					\
} while (0)

/* What the entry itself has used up when the kernel gets to look */
#define ENTRY_VOLATILE	(SKIP_GPRS(9, 12) | SKIP_XER | SKIP_CTR)

static u64 entry_volatile(enum entry_way way)
{
	return ENTRY_VOLATILE | (way == WAY_SCV ? SKIP_LR : 0);
}

static void expect_dispatched(struct __test_metadata *_metadata, enum entry_way way,
			      const struct entry_regs *in)
{
	int i;

	EXPECT_EQ(SYS_USER_DISPATCH, seen.code);
	EXPECT_EQ(0, seen.error);
	EXPECT_EQ((int)in->gpr[0], seen.nr);
	EXPECT_EQ(AUDIT_ARCH_HERE, seen.arch);
	EXPECT_EQ(way_insn(way) + 4, seen.addr);
	EXPECT_EQ(way_insn(way) + 4, seen.regs.nip);
	EXPECT_EQ(way_trap(way), seen.regs.trap & ~0xfUL);
	for (i = 0; i < 32; i++) {
		if (i != 1 && (i < 9 || i > 12))
			EXPECT_EQ(in->gpr[i], seen.regs.gpr[i]);
	}
	EXPECT_EQ(in->gpr[3], seen.regs.orig_gpr3);
	EXPECT_EQ(in->cr, seen.regs.ccr);
	if (way == WAY_SC)
		EXPECT_EQ(in->lr, seen.regs.link);
}

TEST_F(sud, a_blocked_call_is_not_made_and_rolled_back_exactly)
{
	BLOCKED_CALL();
	EXPECT_EQ(1, seen.count);
	expect_dispatched(_metadata, self->way, &self->in);
	EXPECT_EQ(0, canaries_check("rolled back", &self->in, &self->out,
				    entry_volatile(self->way)));
}

TEST_F(sud, a_first_argument_that_looks_like_an_error_is_rolled_back_exactly)
{
	static const unsigned long values[] = {
		-1UL, -9UL, -512UL, -516UL, -4095UL, 0, 512, 0xffffffffUL,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		seen.count = 0;
		self->in.gpr[3] = values[i];
		BLOCKED_CALL();
		EXPECT_EQ(1, seen.count);
		expect_dispatched(_metadata, self->way, &self->in);
		EXPECT_EQ(0, canaries_check("rolled back", &self->in, &self->out,
					    entry_volatile(self->way)));
	}
}

TEST_F(sud, a_number_that_is_none_is_dispatched_too)
{
	static const unsigned long numbers[] = {
		9999, 0x7fffffffUL, -1UL, -2UL,
#if __BITS_PER_LONG == 64
		1UL << 32 | SYS_getppid,
#endif
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		seen.count = 0;
		self->in.gpr[0] = numbers[i];
		BLOCKED_CALL();
		EXPECT_EQ(1, seen.count);
		expect_dispatched(_metadata, self->way, &self->in);
	}
}

TEST_F(sud, an_allowed_call_is_made)
{
	WRITE_ONCE(selector, ALLOW);
	self->run(&self->in, &self->out);
	EXPECT_EQ(0, seen.count);
	EXPECT_EQ(getppid(), self->out.gpr[3]);
}

/* The address that counts is the one behind the instruction */
TEST_F(sud, a_call_in_the_range_is_made_and_one_at_its_end_is_not)
{
	unsigned long nip = way_insn(self->way) + 4;

	ASSERT_EQ(0, sud_on(nip, 4));
	BLOCKED_CALL();
	EXPECT_EQ(0, seen.count);
	EXPECT_EQ(getppid(), self->out.gpr[3]);

	ASSERT_EQ(0, sud_on(nip - 4, 4));
	BLOCKED_CALL();
	EXPECT_EQ(1, seen.count);

	ASSERT_EQ(0, sud_on(nip + 4, 4));
	BLOCKED_CALL();
	EXPECT_EQ(2, seen.count);
}

/* With the selector still at "block" the handler could not return otherwise. */
TEST_F(sud, the_sigreturn_of_the_vdso_is_not_dispatched)
{
	int i;

	selector_after = BLOCK;
	for (i = 1; i <= 5; i++) {
		BLOCKED_CALL();
		EXPECT_EQ(i, seen.count);
	}
}

static int plain_signals;

static void plain_handler(int sig)
{
	plain_signals++;
}

/* A handler without SA_SIGINFO has another frame and another sigreturn in 32 bits. */
TEST_F(sud, the_other_sigreturn_of_the_vdso_is_not_dispatched)
{
	struct sigaction sa = { .sa_handler = plain_handler };
	struct sigaction old;

	ASSERT_EQ(0, sigaction(SIGUSR1, &sa, &old));
	/* in the range, so that it is the call that sends the signal itself */
	ASSERT_EQ(0, sud_on(way_insn(self->way) + 4, 4));
	self->in.gpr[0] = SYS_kill;
	self->in.gpr[3] = getpid();
	self->in.gpr[4] = SIGUSR1;
	BLOCKED_CALL();
	EXPECT_EQ(1, plain_signals);
	EXPECT_EQ(0, seen.count);
	EXPECT_EQ(0, self->out.gpr[3]);
}

TEST_F(sud, the_handler_can_give_a_result)
{
	set_result = true;
	result_r3 = 12345;
	BLOCKED_CALL();
	EXPECT_EQ(12345, self->out.gpr[3]);
	EXPECT_EQ(0, self->out.cr & CR0_SO);

	result_r3 = way_errno(self->way, EPERM);
	result_so = way_so(self->way) ? CR0_SO : 0;
	BLOCKED_CALL();
	EXPECT_EQ(way_errno(self->way, EPERM), self->out.gpr[3]);
	EXPECT_EQ(result_so, self->out.cr & CR0_SO);
}

TEST_F(sud, the_handler_can_go_back_and_let_the_call_be_made)
{
	go_back = true;
	selector_after = ALLOW;
	BLOCKED_CALL();
	EXPECT_EQ(1, seen.count);
	EXPECT_EQ(getppid(), self->out.gpr[3]);
}

TEST_F(sud, it_can_be_switched_off)
{
	ASSERT_EQ(0, prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0));
	BLOCKED_CALL();
	EXPECT_EQ(0, seen.count);
	EXPECT_EQ(getppid(), self->out.gpr[3]);
}

TEST_F(sud, a_forked_child_is_without_it)
{
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		BLOCKED_CALL();
		_exit(seen.count);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* The ABI of a dispatched call is unknown: no filter and no tracer sees it. */
TEST_F(sud, a_dispatched_call_is_not_seen_by_seccomp)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = ARRAY_SIZE(insns), .filter = insns };

	ASSERT_EQ(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	ASSERT_EQ(0, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
	BLOCKED_CALL();
	EXPECT_EQ(1, seen.count);
	expect_dispatched(_metadata, self->way, &self->in);
}

TEST_F(sud, a_dispatched_call_is_a_signal_stop_and_no_syscall_stop)
{
	struct ptrace_syscall_info info;
	int status, calls = 0;
	struct pt_regs regs;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		sys_ptrace(PTRACE_TRACEME, 0, 0, NULL);
		if (sud_on(0, 0))
			_exit(1);
		syscall(SYS_kill, getpid(), SIGSTOP);
		BLOCKED_CALL();
		_exit(seen.count == 1 ? 0 : 1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, sys_ptrace(PTRACE_SETOPTIONS, pid, 0, (void *)PTRACE_O_TRACESYSGOOD));
	for (;;) {
		int sig = 0;

		if (is_signal_stop(status, SIGSYS)) {
			ASSERT_EQ(0, tracee_get(pid, &regs));
			EXPECT_EQ(SYS_getppid, regs.gpr[0]);
			EXPECT_EQ(self->in.gpr[3], regs.gpr[3]);
			EXPECT_EQ(self->in.cr, regs.ccr);
			sig = SIGSYS;
		} else if (is_syscall_stop(status)) {
			ASSERT_LT(0, sys_ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info),
						&info));
			calls += info.op == PTRACE_SYSCALL_INFO_ENTRY &&
				 info.instruction_pointer == way_insn(self->way) + 4;
		}
		ASSERT_EQ(0, sys_ptrace(PTRACE_SYSCALL, pid, 0, (void *)(long)sig));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		if (!WIFSTOPPED(status))
			break;
	}
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, calls);
}

TEST_F(sud, a_tracer_can_read_and_set_it)
{
	struct ptrace_sud_config config = { 0 };
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		sys_ptrace(PTRACE_TRACEME, 0, 0, NULL);
		WRITE_ONCE(selector, ALLOW);
		syscall(SYS_kill, getpid(), SIGSTOP);
		BLOCKED_CALL();
		_exit(seen.count == 1 ? 0 : 1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, sys_ptrace(PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, pid,
				sizeof(config), &config));
	EXPECT_EQ(PR_SYS_DISPATCH_OFF, config.mode);
	config.mode = PR_SYS_DISPATCH_ON;
	config.selector = (unsigned long)&selector;
	ASSERT_EQ(0, sys_ptrace(PTRACE_SET_SYSCALL_USER_DISPATCH_CONFIG, pid,
				sizeof(config), &config));
	memset(&config, 0, sizeof(config));
	ASSERT_EQ(0, sys_ptrace(PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, pid,
				sizeof(config), &config));
	EXPECT_EQ(PR_SYS_DISPATCH_ON, config.mode);
	EXPECT_EQ((unsigned long)&selector, config.selector);
	ASSERT_EQ(0, sys_ptrace(PTRACE_CONT, pid, 0, NULL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(is_signal_stop(status, SIGSYS));
	ASSERT_EQ(0, sys_ptrace(PTRACE_CONT, pid, 0, (void *)SIGSYS));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* These end the program, so it is a child of its own. */
static int end_of_child(void (*fn)(enum entry_way way), enum entry_way way)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		fn(way);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void bad_selector(enum entry_way way)
{
	if (sud_on(0, 0))
		return;
	WRITE_ONCE(selector, 7);
	call3(way, SYS_getppid, 0, 0, 0);
}

static void unreadable_selector(enum entry_way way)
{
	char *page = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, page))
		return;
	call3(way, SYS_getppid, 0, 0, 0);
}

TEST_F(sud, a_bad_selector_kills)
{
	int status = end_of_child(bad_selector, self->way);

	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGSYS, WTERMSIG(status));
	status = end_of_child(unreadable_selector, self->way);
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGSEGV, WTERMSIG(status));
}

TEST_HARNESS_MAIN
