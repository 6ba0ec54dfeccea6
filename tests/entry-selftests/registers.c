// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every register that user space can see, before and after each kind of kernel
 * entry. What the ABI calls preserved must be; what it calls volatile must hold
 * nothing of the kernel's.
 */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <ucontext.h>

#include "../../kselftest_harness.h"
#include "entry.h"

FIXTURE(regs) {
	enum entry_way way;
	entry_run_fn run;
};

FIXTURE_VARIANT(regs) {
	enum entry_way way;
};

FIXTURE_VARIANT_ADD(regs, sc) { .way = WAY_SC };
FIXTURE_VARIANT_ADD(regs, scv) { .way = WAY_SCV };

FIXTURE_SETUP(regs)
{
	self->way = variant->way;
	self->run = way_run(variant->way);
	if (self->way == WAY_SCV && !have_scv())
		SKIP(return, "no scv here");
}

FIXTURE_TEARDOWN(regs)
{
}

/*
 * After a call: r3 is the result, r0, r4 to r12, CTR and XER are volatile. With
 * sc the kernel keeps CR apart from CR0.SO, and LR. With scv it keeps all of CR
 * and leaves in LR and CTR what the instruction put there: the address behind
 * it and the MSR.
 */
#define CALL_VOLATILE	(SKIP_GPR(0) | SKIP_GPRS(3, 12) | SKIP_XER | SKIP_CTR)

/*
 * Zero, or what the program itself had in some register, not always the same:
 * when the L1D is flushed in software, scv leaves r13 in r7 and r1 in r8.
 */
static bool is_own(const struct entry_regs *in, const struct entry_regs *out,
		   unsigned long value)
{
	int i;

	for (i = 0; i < 32; i++) {
		if (value == in->gpr[i])
			return true;
	}
	return !value || value == out->gpr[1];
}

static int check_call(enum entry_way way, const char *when,
		      const struct entry_regs *in, const struct entry_regs *out)
{
	struct entry_regs want = *in;
	u64 skip = CALL_VOLATILE;
	int bad, i;

	if (way == WAY_SC) {
		want.cr &= ~CR0_SO;
		want.cr |= out->cr & CR0_SO;
	} else {
		want.lr = way_insn(way) + 4;
	}
	bad = canaries_check(when, &want, out, skip);

	/*
	 * A 32-bit kernel has never cleared what is volatile, and leaves its own
	 * addresses there.
	 */
	if (!kernel_is_64bit())
		return bad;

	for (i = 0; i < 13; i++) {
		if (i == 1 || i == 2 || i == 3 || is_own(in, out, out->gpr[i]))
			continue;
		printf("# %s: r%d is %lx, not the program's\n", when, i, out->gpr[i]);
		bad++;
	}
	/* XER of the program, or 0, or as a leftover the number of the call */
	if (out->xer && out->xer != xer_kept(in->xer) &&
	    out->xer != xer_kept(in->gpr[0])) {
		printf("# %s: xer is %lx\n", when, out->xer);
		bad++;
	}
	if (out->ctr && out->ctr != in->ctr) {
		/* the MSR of a user program; bits 61 and 62 are privileged */
		bool msr = way == WAY_SCV && (out->ctr & 0x4000) &&
			   !(out->ctr & 0x6000000000000000ULL);

		if (!msr) {
			printf("# %s: ctr is %lx\n", when, out->ctr);
			bad++;
		}
	}
	return bad;
}

/* A few calls that go deep into the kernel, and some that hardly enter it */
static const struct {
	const char *name;
	unsigned long nr, arg[3];
} calls[] = {
	{ "getppid", SYS_getppid },
	{ "no such call", 9999 },
	{ "close(-1)", SYS_close, { -1UL } },
	{ "sched_yield", SYS_sched_yield },
	{ "getrandom to a bad address", SYS_getrandom, { 8, 64, 0 } },
	{ "munmap of nothing", SYS_munmap, { 1, 1 } },
	{ "nanosleep of a bad address", SYS_nanosleep, { 0, 0 } },
	{ "sync", SYS_sync },
};

static int check_calls(enum entry_way way, const char *what)
{
	entry_run_fn run = way_run(way);
	struct entry_regs in, out;
	char when[100];
	unsigned int i, round;
	int bad = 0;

	for (round = 0; round < 4; round++) {
		for (i = 0; i < ARRAY_SIZE(calls); i++) {
			canaries_fill(&in, round * 100 + i);
				in.gpr[0] = calls[i].nr;
			in.gpr[3] = calls[i].arg[0];
			in.gpr[4] = calls[i].arg[1];
			in.gpr[5] = calls[i].arg[2];
			run(&in, &out);
			snprintf(when, sizeof(when), "%s, %s", what, calls[i].name);
			bad += check_call(way, when, &in, &out);
		}
	}
	return bad;
}

TEST_F(regs, a_call_keeps_what_is_preserved_and_leaks_nothing)
{
	EXPECT_EQ(0, check_calls(self->way, "plain"));
}

static void filter_number(unsigned int nr, unsigned int action)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
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

TEST_F(regs, a_call_under_seccomp_keeps_what_is_preserved_and_leaks_nothing)
{
	filter_number(SYS_getppid, SECCOMP_RET_ERRNO | 7);
	EXPECT_EQ(0, check_calls(self->way, "seccomp"));
}

TEST_F(regs, a_traced_call_keeps_what_is_preserved_and_leaks_nothing)
{
	pid_t pid = fork();
	int status;

	ASSERT_LE(0, pid);
	if (!pid) {
		sys_ptrace(PTRACE_TRACEME, 0, 0, NULL);
		kill(getpid(), SIGSTOP);
		_exit(check_calls(self->way, "traced") ? 1 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	while (WIFSTOPPED(status)) {
		ASSERT_EQ(0, sys_ptrace(PTRACE_SYSCALL, pid, 0, NULL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
	}
	EXPECT_EQ(0, status);
}

/* A handler that leaves nothing of the registers as it was */
static int handled;

static void spoil_registers(int sig)
{
	static struct entry_regs in, out;

	canaries_fill(&in, 1000 + handled);
	in.ctr = 1;
	entry_run_spin(&in, &out);
	handled++;
}

TEST_F(regs, a_call_that_takes_a_signal_keeps_what_is_preserved)
{
	struct entry_regs in, out;
	int i;

	signal(SIGUSR1, spoil_registers);
	for (i = 0; i < 20; i++) {
		canaries_fill(&in, i);
		in.gpr[0] = SYS_kill;
		in.gpr[3] = getpid();
		in.gpr[4] = SIGUSR1;
		self->run(&in, &out);
		EXPECT_EQ(i + 1, handled);
		EXPECT_EQ(0, out.gpr[3]);
		EXPECT_EQ(0, check_call(self->way, "signal in a call", &in, &out));
	}
}

/* What sigreturn has to bring back: all of it, also what a call would not */
static struct entry_regs uc_new;
static struct pt_regs uc_seen;
static timer_t uc_timer;
static const struct itimerspec uc_delay = { .it_value.tv_nsec = 2000000 };

static void replace_registers(int sig, siginfo_t *info, void *ucontext)
{
	ucontext_t *uc = ucontext;
	unsigned long *regs = (unsigned long *)UC_GREGS(uc);
	unsigned int i;

	/* on the way into the loop: not yet */
	if (info->si_code == SI_TIMER && regs[PT_NIP] != (unsigned long)entry_spin_insn) {
		timer_settime(uc_timer, 0, &uc_delay, NULL);
		return;
	}
	handled++;
	memcpy(&uc_seen, regs, sizeof(uc_seen));
	for (i = 0; i < 32; i++) {
		/* the stack and the thread pointer stay */
		if (i != 1 && i != (__BITS_PER_LONG == 64 ? 13 : 2))
			regs[i] = uc_new.gpr[i];
	}
	regs[PT_CCR] = uc_new.cr;
	regs[PT_XER] = uc_new.xer;
	regs[PT_LNK] = uc_new.lr;
	regs[PT_CTR] = uc_new.ctr;
}

static void catch_with(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	handled = 0;
	sigaction(sig, &sa, NULL);
}

TEST_F(regs, sigreturn_to_a_call_loads_every_register_of_the_context)
{
	struct entry_regs in, out, want;
	int i;

	catch_with(SIGUSR1, replace_registers);
	for (i = 0; i < 20; i++) {
		canaries_fill(&in, i);
		canaries_fill(&uc_new, i + 500);
		/* FP and vectors come back as they were */
		want = in;
		memcpy(want.gpr, uc_new.gpr, sizeof(want.gpr));
		want.cr = uc_new.cr;
		want.xer = uc_new.xer;
		want.lr = uc_new.lr;
		want.ctr = uc_new.ctr;
		in.gpr[0] = SYS_kill;
		in.gpr[3] = getpid();
		in.gpr[4] = SIGUSR1;
		self->run(&in, &out);
		EXPECT_EQ(i + 1, handled);
		EXPECT_EQ(0, canaries_check("sigreturn to a call", &want, &out, 0));
		EXPECT_EQ(way_insn(self->way) + 4, uc_seen.nip);
		EXPECT_EQ(0, uc_seen.gpr[3]);
	}
}

/* Both sides of fork() compare. */
TEST_F(regs, a_forked_child_has_the_registers_of_its_parent)
{
	struct entry_regs in, out;
	int i, status;
	pid_t self_pid = getpid();

	for (i = 0; i < 10; i++) {
		canaries_fill(&in, i);
		in.gpr[0] = SYS_fork;
		self->run(&in, &out);
		/* as of the parent's last context switch, and so it always was */
		if (getpid() != self_pid)
			out.vrsave = in.vrsave;
		status = check_call(self->way, getpid() == self_pid ? "parent" : "child",
				    &in, &out);
		if (getpid() != self_pid)
			_exit(status || out.gpr[3] || out.cr & CR0_SO & ~in.cr);
		EXPECT_EQ(0, status);
		ASSERT_LT(0, (long)out.gpr[3]);
		ASSERT_EQ(out.gpr[3], waitpid(out.gpr[3], &status, 0));
		EXPECT_EQ(0, status);
	}
}

TEST(a_page_fault_keeps_every_register)
{
	struct entry_regs in, out;
	long page = sysconf(_SC_PAGESIZE);
	unsigned char *p;
	int i;

	p = mmap(NULL, 50 * page, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_FALSE(p == MAP_FAILED);
	for (i = 0; i < 50; i++) {
		canaries_fill(&in, i);
		in.gpr[4] = (unsigned long)p + i * page;
		entry_run_store(&in, &out);
		EXPECT_EQ((unsigned char)in.gpr[5], p[i * page]);
		EXPECT_EQ(0, canaries_check("page fault", &in, &out, 0));
	}
}

static void skip_instruction(int sig, siginfo_t *info, void *ucontext)
{
	ucontext_t *uc = ucontext;

	memcpy(&uc_seen, UC_GREGS(uc), sizeof(uc_seen));
	UC_GREGS(uc)[PT_NIP] += 4;
	spoil_registers(sig);
}

TEST(a_fault_with_a_signal_shows_and_keeps_every_register)
{
	struct entry_regs in, out;
	int i, gpr;

	catch_with(SIGSEGV, skip_instruction);
	for (i = 0; i < 20; i++) {
		canaries_fill(&in, i);
		in.gpr[4] = 8;
		entry_run_store(&in, &out);
		EXPECT_EQ(i + 1, handled);
		EXPECT_EQ(0, canaries_check("SIGSEGV", &in, &out, 0));
		EXPECT_EQ((unsigned long)entry_store_insn, uc_seen.nip);
		EXPECT_EQ(8, uc_seen.dar);
		EXPECT_EQ(in.cr, uc_seen.ccr);
		EXPECT_EQ(xer_kept(in.xer), uc_seen.xer);
		EXPECT_EQ(in.lr, uc_seen.link);
		EXPECT_EQ(in.ctr, uc_seen.ctr);
		for (gpr = 0; gpr < 32; gpr++) {
			if (gpr != 1)
				EXPECT_EQ(in.gpr[gpr], uc_seen.gpr[gpr]);
		}
	}
}

/* Turns of bdnz: a few milliseconds on anything from an emulator to hardware */
#define TURNS		10000000UL
/* More than anybody waits for; something else ends the loop */
#define FOREVER		(~0UL >> 1)

/* Seconds to look for what only time brings */
#define PATIENCE	15

/* Runs the loop and compares. CTR ends at 0, nothing else may change. */
static int spin(const char *when, unsigned long seed)
{
	static __thread struct entry_regs in, out;
	struct entry_regs want;

	canaries_fill(&in, seed);
	in.ctr = TURNS;
	want = in;
	want.ctr = 0;
	entry_run_spin(&in, &out);
	return canaries_check(when, &want, &out, 0);
}

/* A timer that only wakes a file descriptor, so that nothing but the interrupt happens */
TEST(a_timer_interrupt_keeps_every_register)
{
	struct itimerspec every = {
		.it_interval.tv_nsec = 200000, .it_value.tv_nsec = 200000,
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	time_t end = time(NULL) + PATIENCE;
	u64 ticks, total = 0;
	int i;

	ASSERT_LE(0, fd);
	if (timerfd_settime(fd, 0, &every, NULL))
		SKIP(return, "no timer: %s", strerror(errno));
	for (i = 0; total < 200 && time(NULL) < end; i++) {
		EXPECT_EQ(0, spin("timer interrupt", i));
		if (read(fd, &ticks, sizeof(ticks)) == sizeof(ticks))
			total += ticks;
	}
	EXPECT_LE(200, total);
}

TEST(a_signal_at_any_moment_keeps_every_register)
{
	struct itimerspec every = {
		.it_interval.tv_nsec = 1000000, .it_value.tv_nsec = 1000000,
	};
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1,
	};
	time_t end = time(NULL) + PATIENCE;
	timer_t timer;
	int i;

	signal(SIGUSR1, spoil_registers);
	ASSERT_EQ(0, timer_create(CLOCK_MONOTONIC, &event, &timer));
	ASSERT_EQ(0, timer_settime(timer, 0, &every, NULL));
	for (i = 0; handled < 50 && time(NULL) < end; i++)
		EXPECT_EQ(0, spin("signal", i));
	timer_delete(timer);
	EXPECT_LE(50, handled);
}

TEST(sigreturn_to_a_loop_loads_every_register_of_the_context)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1,
	};
	struct entry_regs in, out, want;
	int i, gpr;

	catch_with(SIGUSR1, replace_registers);
	ASSERT_EQ(0, timer_create(CLOCK_MONOTONIC, &event, &uc_timer));
	for (i = 0; i < 20; i++) {
		canaries_fill(&in, i);
		canaries_fill(&uc_new, i + 500);
		uc_new.ctr = 1;
		want = in;
		memcpy(want.gpr, uc_new.gpr, sizeof(want.gpr));
		want.cr = uc_new.cr;
		want.xer = uc_new.xer;
		want.lr = uc_new.lr;
		want.ctr = 0;
		in.ctr = FOREVER;
		ASSERT_EQ(0, timer_settime(uc_timer, 0, &uc_delay, NULL));
		entry_run_spin(&in, &out);
		ASSERT_EQ(i + 1, handled);
		EXPECT_EQ(0, canaries_check("sigreturn", &want, &out, 0));
		EXPECT_EQ((unsigned long)entry_spin_insn, uc_seen.nip);
		EXPECT_EQ(in.cr, uc_seen.ccr);
		EXPECT_EQ(xer_kept(in.xer), uc_seen.xer);
		EXPECT_EQ(in.lr, uc_seen.link);
		for (gpr = 0; gpr < 32; gpr++) {
			if (gpr != 1)
				EXPECT_EQ(in.gpr[gpr], uc_seen.gpr[gpr]);
		}
	}
	timer_delete(uc_timer);
}

/* Two processes on one CPU, each with its own canaries */
TEST(preemption_keeps_every_register)
{
	time_t end = time(NULL) + PATIENCE;
	struct rusage usage = { 0 };
	int cpu = sched_getcpu(), i, status, *stop;
	pid_t pid;

	stop = mmap(NULL, sizeof(*stop), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_FALSE(stop == MAP_FAILED);
	ASSERT_TRUE(pin_to_cpu(cpu < 0 ? 0 : cpu));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		for (i = 0; !READ_ONCE(*stop); i++) {
			if (spin("preempting", i + 77))
				_exit(1);
		}
		_exit(0);
	}
	for (i = 0; usage.ru_nivcsw < 10 && time(NULL) < end; i++) {
		EXPECT_EQ(0, spin("preempted", i));
		ASSERT_EQ(0, getrusage(RUSAGE_SELF, &usage));
	}
	WRITE_ONCE(*stop, 1);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_LE(10, usage.ru_nivcsw);
}

/*
 * A tracer that stops its child in the loop again and again, reads every
 * register, writes them all anew, and lets the child compare.
 */
struct spinner {
	struct entry_regs in, out;
	pid_t pid;
};

#define THREAD_GPR	(__BITS_PER_LONG == 64 ? 13 : 2)

/* A child in the endless loop with the canaries of @seed, seized */
static struct spinner *spinner_start(unsigned long seed)
{
	struct spinner *s;
	pid_t pid;

	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return NULL;
	canaries_fill(&s->in, seed);
	s->in.ctr = FOREVER;
	pid = fork();
	if (!pid) {
		entry_run_spin(&s->in, &s->out);
		_exit(0);
	}
	if (pid < 0 || sys_ptrace(PTRACE_SEIZE, pid, 0, (void *)PTRACE_O_EXITKILL))
		return NULL;
	s->pid = pid;
	return s;
}

/* Stops it in the loop; false if it never gets there */
static bool spinner_stop(struct spinner *s, struct pt_regs *regs)
{
	int tries, status;

	for (tries = 0; tries < 1000; tries++) {
		if (sys_ptrace(PTRACE_INTERRUPT, s->pid, 0, NULL) ||
		    waitpid(s->pid, &status, 0) != s->pid ||
		    !WIFSTOPPED(status) || tracee_get(s->pid, regs))
			return false;
		if (regs->nip == (unsigned long)entry_spin_insn)
			return true;
		if (sys_ptrace(PTRACE_CONT, s->pid, 0, NULL))
			return false;
		usleep(1000);
	}
	return false;
}

TEST(a_ptrace_stop_shows_and_keeps_every_register)
{
	struct spinner *s = spinner_start(5);
	struct pt_regs regs, junk;
	u64 fpr[33];
	int i, stops, status;

	ASSERT_TRUE(!!s);
	for (stops = 0; stops < 50; stops++) {
		ASSERT_TRUE(spinner_stop(s, &regs));
		for (i = 0; i < 32; i++) {
			if (i != 1 && i != THREAD_GPR)
				EXPECT_EQ(s->in.gpr[i], regs.gpr[i]);
		}
		EXPECT_EQ(s->in.cr, regs.ccr);
		EXPECT_EQ(xer_kept(s->in.xer), regs.xer);
		EXPECT_EQ(s->in.lr, regs.link);
		if (s->in.sets & (SET_FP | SET_VSX)) {
			ASSERT_EQ(0, sys_ptrace(PTRACE_GETFPREGS, s->pid, 0, fpr));
			for (i = 0; i < 32; i++)
				EXPECT_EQ(s->in.sets & SET_FP ? s->in.fpr[i] : s->in.vsr[i][0],
					  fpr[i]);
			EXPECT_EQ(s->in.fpscr, fpr[32]);
		}
		/* there and back */
		memset(&junk, 0x77, sizeof(junk));
		junk.nip = regs.nip;
		junk.msr = regs.msr;
		junk.trap = regs.trap;
		ASSERT_EQ(0, tracee_set(s->pid, &junk));
		if (stops == 49)
			regs.ctr = 1;
		ASSERT_EQ(0, tracee_set(s->pid, &regs));
		ASSERT_EQ(0, sys_ptrace(PTRACE_CONT, s->pid, 0, NULL));
	}
	ASSERT_EQ(s->pid, waitpid(s->pid, &status, 0));
	EXPECT_EQ(0, status);
	s->in.ctr = 0;
	EXPECT_EQ(0, canaries_check("ptrace stop", &s->in, &s->out,
				    SKIP_GPR(THREAD_GPR)));
}

TEST(what_a_tracer_writes_is_what_the_program_has)
{
	struct entry_regs new;
	struct spinner *s;
	struct pt_regs regs;
	int i, status;

	for (i = 0; i < 10; i++) {
		s = spinner_start(i);
		ASSERT_TRUE(!!s);
		ASSERT_TRUE(spinner_stop(s, &regs));
		canaries_fill(&new, i + 300);
		new.gpr[1] = regs.gpr[1];
		new.gpr[THREAD_GPR] = regs.gpr[THREAD_GPR];
		memcpy(regs.gpr, new.gpr, sizeof(regs.gpr));
		regs.ccr = new.cr;
		regs.xer = new.xer;
		regs.link = new.lr;
		regs.ctr = 1;
		ASSERT_EQ(0, tracee_set(s->pid, &regs));
		ASSERT_EQ(0, sys_ptrace(PTRACE_DETACH, s->pid, 0, NULL));
		ASSERT_EQ(s->pid, waitpid(s->pid, &status, 0));
		EXPECT_EQ(0, status);

		memcpy(s->in.gpr, new.gpr, sizeof(new.gpr));
		s->in.cr = new.cr;
		s->in.xer = new.xer;
		s->in.lr = new.lr;
		s->in.ctr = 0;
		EXPECT_EQ(0, canaries_check("written by a tracer", &s->in, &s->out, 0));
	}
}

TEST_HARNESS_MAIN
