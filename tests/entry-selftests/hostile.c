// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input that no program makes on purpose: scv with other vectors, numbers that
 * are none, signal frames, contexts and stack pointers that lead into the kernel
 * or nowhere. The program may die of it, by a signal that says why; the kernel may
 * not, and none of it may leave the program with more rights than before.
 */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "../../kselftest_harness.h"
#include "entry.h"

/* A page of code, made as it is needed */
static u32 *code;

static void make_code(int nr_insns, const u32 *insns)
{
	int i;

	for (i = 0; i < nr_insns; i++)
		code[i] = insns[i];
	for (i = 0; i < nr_insns; i++)
		asm volatile("dcbst 0,%0; sync; icbi 0,%0; isync" : : "r" (code + i) : "memory");
}

static bool map_code(void)
{
	code = mmap(NULL, 0x10000, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return code != MAP_FAILED;
}

/* Calls it with r0, r3 and r4, and returns r3. */
static unsigned long run_code(unsigned long r0, unsigned long r3, unsigned long r4)
{
	register unsigned long a0 asm("r0") = r0;
	register unsigned long a3 asm("r3") = r3;
	register unsigned long a4 asm("r4") = r4;

	asm volatile("mtctr %3; bctrl"
		     : "+r" (a0), "+r" (a3), "+r" (a4)
		     : "r" (code)
		     : "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr", "ctr",
		       "xer", "cr0", "memory");
	return a3;
}

#define INSN_SC(lev)	(0x44000002 | (lev) << 5)
#define INSN_SCV(lev)	(0x44000001 | (lev) << 5)
#define INSN_BLR	0x4e800020
/* scv puts the address behind it into LR */
#define INSN_MFLR_R5	0x7ca802a6
#define INSN_MTLR_R5	0x7ca803a6

static int ill_count, ill_code;
static unsigned long ill_addr, ill_nip, ill_r3;

static void catch_sigill(int sig, siginfo_t *info, void *ucontext)
{
	ucontext_t *uc = ucontext;

	ill_count++;
	ill_code = info->si_code;
	ill_addr = (unsigned long)info->si_addr;
	ill_nip = UC_GREGS(uc)[PT_NIP];
	ill_r3 = UC_GREGS(uc)[PT_R3];
	/* behind the instruction, wherever we were told it is */
	UC_GREGS(uc)[PT_NIP] = (unsigned long)(code + 2);
}

/* SIGILL at the address behind the instruction, for each of them */
static int scv_vectors(void)
{
	struct sigaction sa = { .sa_sigaction = catch_sigill, .sa_flags = SA_SIGINFO };
	int lev, bad = 0;

	sigaction(SIGILL, &sa, NULL);
	for (lev = 1; lev < 128; lev++) {
		const u32 insns[] = { INSN_MFLR_R5, INSN_SCV(lev), INSN_MTLR_R5, INSN_BLR };

		make_code(4, insns);
		ill_count = 0;
		run_code(SYS_getppid, 77, 78);
		if (ill_count == 1 && ill_code == ILL_ILLOPC && ill_r3 == 77 &&
		    ill_addr == (unsigned long)(code + 2) && ill_nip == ill_addr)
			continue;
		printf("# scv %d: %d times SIGILL, code %d, address %lx, nip %lx, r3 %lx\n",
		       lev, ill_count, ill_code, ill_addr, ill_nip, ill_r3);
		bad++;
	}
	return bad;
}

TEST(scv_1_to_127_is_sigill)
{
	if (!have_scv())
		SKIP(return, "no scv here");
	ASSERT_TRUE(map_code());
	EXPECT_EQ(0, scv_vectors());
}

TEST(scv_1_to_127_is_sigill_under_a_tracer)
{
	struct ptrace_syscall_info info;
	int status, calls = 0;
	pid_t pid;

	if (!have_scv())
		SKIP(return, "no scv here");
	ASSERT_TRUE(map_code());
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		sys_ptrace(PTRACE_TRACEME, 0, 0, NULL);
		syscall(SYS_kill, getpid(), SIGSTOP);
		_exit(scv_vectors() ? 1 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, sys_ptrace(PTRACE_SETOPTIONS, pid, 0,
				(void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)));
	while (WIFSTOPPED(status)) {
		int sig = WSTOPSIG(status) == SIGILL ? SIGILL : 0;

		/* none of them is a system call to a tracer, though 6.12 shows it the exit */
		if (is_syscall_stop(status)) {
			ASSERT_LT(0, sys_ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info),
						&info));
			calls += info.op == PTRACE_SYSCALL_INFO_ENTRY &&
				 info.instruction_pointer == (unsigned long)(code + 2);
		}
		ASSERT_EQ(0, sys_ptrace(PTRACE_SYSCALL, pid, 0, (void *)(long)sig));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
	}
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, calls);
}

TEST(scv_1_to_127_is_sigill_under_seccomp)
{
	/* everything but what the test itself needs would end it */
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, -1, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = ARRAY_SIZE(insns), .filter = insns };

	if (!have_scv())
		SKIP(return, "no scv here");
	ASSERT_TRUE(map_code());
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		SKIP(return, "no seccomp");
	EXPECT_EQ(0, scv_vectors());
}

/* A hypercall to some, a system call to others: the answer is theirs. */
TEST(sc_with_a_level_does_no_harm)
{
	int lev, status;
	pid_t pid;

	ASSERT_TRUE(map_code());
	for (lev = 1; lev < 128; lev++) {
		const u32 insns[] = { INSN_SC(lev), INSN_BLR };

		make_code(2, insns);
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			run_code(SYS_getppid, 0x1000, 0);
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		if (!WIFEXITED(status))
			EXPECT_EQ(SIGILL, WTERMSIG(status));
	}
}

FIXTURE(hostile) {
	enum entry_way way;
};

FIXTURE_VARIANT(hostile) {
	enum entry_way way;
};

FIXTURE_VARIANT_ADD(hostile, sc) { .way = WAY_SC };
FIXTURE_VARIANT_ADD(hostile, scv) { .way = WAY_SCV };

FIXTURE_SETUP(hostile)
{
	self->way = variant->way;
	if (self->way == WAY_SCV && !have_scv())
		SKIP(return, "no scv here");
}

FIXTURE_TEARDOWN(hostile)
{
}

static u64 next_random(u64 *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed ^ *seed >> 33;
}

/* No kernel has so many calls; what looks valid from far away is not either. */
#define FIRST_BAD_NUMBER	4096

TEST_F(hostile, numbers_that_are_none_are_enosys)
{
	unsigned long enosys = way_errno(self->way, NO_SUCH_CALL);
	unsigned long nr;
	u64 seed = 1;
	int i;

	for (nr = FIRST_BAD_NUMBER; nr < 70000; nr += 7)
		ASSERT_EQ(enosys, call3(self->way, nr, -1, -1, -1)) TH_LOG("%lx", nr);
	for (i = 0; i < __BITS_PER_LONG; i++) {
		nr = 1UL << i;
		if (nr < FIRST_BAD_NUMBER)
			continue;
		ASSERT_EQ(enosys, call3(self->way, nr, -1, -1, -1)) TH_LOG("%lx", nr);
		ASSERT_EQ(enosys, call3(self->way, nr | SYS_getppid, -1, -1, -1)) TH_LOG("%lx", nr);
		ASSERT_EQ(enosys, call3(self->way, -nr, -1, -1, -1)) TH_LOG("%lx", -nr);
	}
	for (i = 1; i < 5000; i++)
		ASSERT_EQ(enosys, call3(self->way, -i, -1, -1, -1)) TH_LOG("-%d", i);
	for (i = 0; i < 20000; i++) {
		nr = next_random(&seed);
		if (nr < FIRST_BAD_NUMBER)
			continue;
		ASSERT_EQ(enosys, call3(self->way, nr, -1, -1, -1)) TH_LOG("%lx", nr);
	}
}

static const unsigned long bad_pointers[] = {
	0, 8, -1UL, -8UL, -16UL, -4096UL, 0x10001,
#if __BITS_PER_LONG == 64
	0xc000000000000000UL,		/* the kernel */
	0xc000000000003000UL,		/* its scv vector */
	0xc00000000000c000UL,
	0xd000000000000000UL,
	0x8000000000000000UL,
	0x7fffffffffffff00UL,
	0x0010000000000000UL,
	0x0000f00000000000UL,
#else
	0xc0000000UL,
	0xc0000c00UL,
	0xd0000000UL,
	0x80000000UL,
	0xbffffff0UL,
#endif
};

/* A call with @r1 for a stack pointer; nothing in between uses it. */
static unsigned long call_with_stack(enum entry_way way, unsigned long stack,
				     unsigned long nr, unsigned long a, unsigned long b)
{
	register unsigned long r0 asm("r0") = nr;
	register unsigned long r3 asm("r3") = a;
	register unsigned long r4 asm("r4") = b;
	register unsigned long r14 asm("r14") = stack;

	if (way == WAY_SC)
		asm volatile("mr 15,1; mr 1,%3; sc; mr 1,15"
			     : "+r" (r0), "+r" (r3), "+r" (r4) : "r" (r14)
			     : "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r15",
			       "lr", "ctr", "xer", "cr0", "memory");
	else
		asm volatile("mr 15,1; mr 1,%3; .long 0x44000001; mr 1,15"
			     : "+r" (r0), "+r" (r3), "+r" (r4) : "r" (r14)
			     : "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r15",
			       "lr", "ctr", "xer", "cr0", "memory");
	return r3;
}

TEST_F(hostile, a_call_does_not_mind_a_bad_stack_pointer)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad_pointers); i++) {
		EXPECT_EQ(getppid(), call_with_stack(self->way, bad_pointers[i],
						     SYS_getppid, 0, 0));
		EXPECT_EQ(way_errno(self->way, NO_SUCH_CALL),
			  call_with_stack(self->way, bad_pointers[i], 9999, 0, 0));
	}
}

static int usr1_count;

static void count_usr1(int sig)
{
	usr1_count++;
}

TEST_F(hostile, a_signal_on_a_bad_stack_is_sigsegv)
{
	unsigned int i;
	int status;
	pid_t pid;

	signal(SIGUSR1, count_usr1);
	for (i = 0; i < ARRAY_SIZE(bad_pointers); i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			call_with_stack(self->way, bad_pointers[i], SYS_kill, getpid(), SIGUSR1);
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status)) TH_LOG("%lx", bad_pointers[i]);
		EXPECT_EQ(SIGSEGV, WTERMSIG(status));
	}
}

TEST_F(hostile, a_signal_on_its_own_stack_does_not_mind_a_bad_one)
{
	struct sigaction sa = { .sa_handler = count_usr1, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = 0x20000 };
	unsigned int i;

	stack.ss_sp = malloc(stack.ss_size);
	ASSERT_EQ(0, sigaltstack(&stack, NULL));
	ASSERT_EQ(0, sigaction(SIGUSR1, &sa, NULL));
	for (i = 0; i < ARRAY_SIZE(bad_pointers); i++) {
		EXPECT_EQ(0, call_with_stack(self->way, bad_pointers[i], SYS_kill,
					     getpid(), SIGUSR1));
		EXPECT_EQ(i + 1, usr1_count);
	}
}

/* A sigreturn without a frame */
TEST_F(hostile, sigreturn_from_nowhere_is_sigsegv)
{
	unsigned int i;
	int status;
	pid_t pid;

	for (i = 0; i < ARRAY_SIZE(bad_pointers); i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			call_with_stack(self->way, bad_pointers[i], SYS_rt_sigreturn, 0, 0);
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status)) TH_LOG("%lx", bad_pointers[i]);
		EXPECT_EQ(SIGSEGV, WTERMSIG(status));
	}
}

TEST_F(hostile, swapcontext_to_nowhere_is_an_error_or_sigsegv)
{
	unsigned int i;
	int status;
	pid_t pid;

	for (i = 0; i < ARRAY_SIZE(bad_pointers); i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			/* nothing to save, and a bad one to load */
			call3(self->way, SYS_swapcontext, 0, bad_pointers[i],
			      sizeof(ucontext_t));
			call3(self->way, SYS_swapcontext, bad_pointers[i], 0,
			      sizeof(ucontext_t));
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		if (!WIFEXITED(status))
			EXPECT_EQ(SIGSEGV, WTERMSIG(status)) TH_LOG("%lx", bad_pointers[i]);
	}
}

/* What the handler puts into the context, by number of the test */
static unsigned int ctx_index;
static unsigned long ctx_value, ctx_msr;
static int ctx_count;
static u64 ctx_seed;

static void spoil_context(int sig, siginfo_t *info, void *ucontext)
{
	ucontext_t *uc = ucontext;

	if (ctx_count++)
		ctx_msr = UC_GREGS(uc)[PT_MSR];
	else
		UC_GREGS(uc)[ctx_index] = ctx_value;
}

/* Sends itself the signal that spoils the context, and one that looks at it. */
static int child_with_context(enum entry_way way, unsigned int index, unsigned long value)
{
	struct sigaction sa = { .sa_sigaction = spoil_context, .sa_flags = SA_SIGINFO };
	int status;
	pid_t pid = fork();

	if (pid)
		return waitpid(pid, &status, 0) == pid ? status : -1;
	ctx_index = index;
	ctx_value = value;
	ctx_count = 0;
	sigaction(SIGUSR1, &sa, NULL);
	call3(way, SYS_kill, getpid(), SIGUSR1, 0);
	call3(way, SYS_kill, getpid(), SIGUSR1, 0);
	_exit(ctx_count == 2 ? 0 : 1);
}

static bool died_of_a_fault(int status)
{
	int sig = WTERMSIG(status);

	return WIFSIGNALED(status) && (sig == SIGSEGV || sig == SIGILL || sig == SIGBUS ||
				       sig == SIGTRAP || sig == SIGFPE);
}

TEST_F(hostile, a_context_that_goes_on_in_the_kernel_is_sigsegv)
{
	static const unsigned long targets[] = {
#if __BITS_PER_LONG == 64
		0xc000000000000000UL, 0xc000000000000100UL, 0xc000000000000c00UL,
		0xc000000000003000UL, 0xc000000000004c00UL, 0xc00000000000bd00UL,
		0xd000000000000000UL, 0xffffffffffffff00UL, 0x8000000000000000UL,
#else
		0xc0000000UL, 0xc0000100UL, 0xc0000c00UL, 0xfffffff0UL,
#endif
	};
	unsigned int i;
	int status;

	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		status = child_with_context(self->way, PT_NIP, targets[i]);
		EXPECT_TRUE(WIFSIGNALED(status)) TH_LOG("%lx", targets[i]);
		EXPECT_EQ(SIGSEGV, WTERMSIG(status));
	}
}

/* Each bit of the MSR, set and cleared: the program keeps running as a program. */
TEST_F(hostile, no_bit_of_the_msr_comes_from_a_context)
{
	struct sigaction sa = { .sa_sigaction = spoil_context, .sa_flags = SA_SIGINFO };
	/* FP with FE0 and FE1, VEC and VSX come and go; LE is the program's to change */
	unsigned long msr, ignore = 0x2000 | 0x900 | 1;
	int bit, status, set;
	pid_t pid;

#if __BITS_PER_LONG == 64
	ignore |= 0x2000000 | 0x800000;
#else
	ignore |= 0x2000000;
#endif
	/* once without change, to know it */
	ctx_count = 1;
	sigaction(SIGUSR1, &sa, NULL);
	call3(self->way, SYS_kill, getpid(), SIGUSR1, 0);
	msr = ctx_msr;
	ASSERT_TRUE(msr & 0x4000) TH_LOG("not even PR: %lx", msr);

	for (bit = 0; bit < __BITS_PER_LONG; bit++) {
		for (set = 0; set < 2; set++) {
			unsigned long value = set ? msr | 1UL << bit : msr & ~(1UL << bit);

			if (value == msr)
				continue;
			pid = fork();
			ASSERT_LE(0, pid);
			if (!pid) {
				ctx_index = PT_MSR;
				ctx_value = value;
				ctx_count = 0;
				call3(self->way, SYS_kill, getpid(), SIGUSR1, 0);
				call3(self->way, SYS_kill, getpid(), SIGUSR1, 0);
				if ((ctx_msr ^ msr) & ~ignore) {
					printf("# MSR bit %d: %lx became %lx\n", bit, value,
					       ctx_msr);
					_exit(1);
				}
				_exit(0);
			}
			ASSERT_EQ(pid, waitpid(pid, &status, 0));
			/* dying is all right for the other endian and for TM */
			if (!died_of_a_fault(status))
				EXPECT_EQ(0, status) TH_LOG("bit %d", bit);
		}
	}
}

TEST_F(hostile, a_context_with_any_word_wrong_does_no_harm)
{
	static const unsigned long values[] = {
		0, 1, -1UL, 0x55555555UL,
#if __BITS_PER_LONG == 64
		0xc000000000003000UL, 0x8000000000000000UL,
#else
		0xc0003000UL,
#endif
	};
	unsigned int i, word;
	int status;

	for (word = 0; word <= PT_RESULT; word++) {
		for (i = 0; i < ARRAY_SIZE(values); i++) {
			status = child_with_context(self->way, word, values[i]);
			ASSERT_TRUE(WIFEXITED(status) || died_of_a_fault(status))
				TH_LOG("word %d, value %lx, status %x", word, values[i], status);
		}
	}
}

/* The same with all of it, bounded and repeatable */
#define FUZZ_ROUNDS	300

static void fuzz_context(int sig, siginfo_t *info, void *ucontext)
{
	ucontext_t *uc = ucontext;
	unsigned long *words = (unsigned long *)ucontext;
	int changes = 1 + next_random(&ctx_seed) % 20;
	unsigned int i;

	while (changes--) {
		i = next_random(&ctx_seed) % (sizeof(*uc) / sizeof(long));
		words[i] = next_random(&ctx_seed);
		if (next_random(&ctx_seed) & 1)
			words[i] &= 0xffff;
	}
}

TEST_F_TIMEOUT(hostile, a_random_context_does_no_harm, 120)
{
	struct sigaction sa = { .sa_sigaction = fuzz_context, .sa_flags = SA_SIGINFO };
	int status, round, died = 0;
	pid_t pid;

	for (round = 0; round < FUZZ_ROUNDS; round++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			/* a signal mask or a loop may be the result */
			signal(SIGALRM, SIG_DFL);
			alarm(2);
			ctx_seed = round;
			sigaction(SIGUSR1, &sa, NULL);
			call3(self->way, SYS_kill, getpid(), SIGUSR1, 0);
			_exit(0);
		}
		/* not every result can be waited for: alarm() may be blocked */
		for (status = 0; status < 300; status++) {
			if (waitpid(pid, NULL, WNOHANG) == pid)
				break;
			usleep(10000);
		}
		if (status == 300) {
			kill(pid, SIGKILL);
			ASSERT_EQ(pid, waitpid(pid, NULL, 0)) TH_LOG("seed %d", round);
		}
		died++;
	}
	EXPECT_EQ(FUZZ_ROUNDS, died);
	EXPECT_EQ(getppid(), call3(self->way, SYS_getppid, 0, 0, 0));
}

/* A tracer may write any MSR, NIP and trap; what the program gets is a program's. */
TEST_F(hostile, what_a_tracer_writes_does_no_harm)
{
	static const struct call call_getppid = { .r0 = SYS_getppid };
	static const unsigned int words[] = {
		PT_MSR, PT_NIP, PT_R1, PT_TRAP, PT_ORIG_R3, PT_CCR, PT_XER, PT_RESULT,
		PT_R0 + 13, PT_R0 + 2,
	};
	unsigned long msr = 0, now;
	struct tracee t;
	unsigned int i, k;
	int status;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		for (k = 0; k < ARRAY_SIZE(bad_pointers); k++) {
			ASSERT_EQ(0, tracee_start(&t, self->way, &call_getppid, NULL));
			ASSERT_TRUE(is_syscall_stop(tracee_go(&t, PTRACE_SYSCALL, 0)));
			ASSERT_EQ(0, sys_ptrace(PTRACE_PEEKUSR, t.pid,
						PT_MSR * sizeof(long), &msr));
			/* may be refused */
			sys_ptrace(PTRACE_POKEUSR, t.pid, words[i] * sizeof(long),
				   (void *)bad_pointers[k]);
			ASSERT_EQ(0, sys_ptrace(PTRACE_PEEKUSR, t.pid,
						PT_MSR * sizeof(long), &now));
			/* FP, VEC, VSX and what steps the program are the tracer's */
			EXPECT_EQ(msr & 0x4000, now & 0x4000);
			EXPECT_EQ(msr & 0x8000, now & 0x8000);
			EXPECT_EQ(msr & 0x30, now & 0x30);
			status = tracee_finish(&t);
			if (WIFSTOPPED(status)) {
				EXPECT_TRUE(WSTOPSIG(status) == SIGSEGV ||
					    WSTOPSIG(status) == SIGILL ||
					    WSTOPSIG(status) == SIGBUS ||
					    WSTOPSIG(status) == SIGTRAP);
				tracee_kill(&t);
			}
			munmap(t.call, sizeof(*t.call));
		}
	}
}

TEST_HARNESS_MAIN
