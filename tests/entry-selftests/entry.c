// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tests of kernel entry and exit share, see entry.h.
 */

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "entry.h"

static unsigned long thread_pointer(void)
{
	unsigned long tp;

#if __BITS_PER_LONG == 64
	asm volatile("mr %0,13" : "=r" (tp));
#else
	asm volatile("mr %0,2" : "=r" (tp));
#endif
	return tp;
}

#if __BITS_PER_LONG == 64
#define THREAD_GPR	13
#else
#define THREAD_GPR	2
#endif

void call_make(enum entry_way way, struct call *call)
{
	static __thread struct entry_regs in, out;
	int i;

	in.gpr[0] = call->r0;
	for (i = 0; i < 6; i++)
		in.gpr[3 + i] = call->arg[i];
	way_run(way)(&in, &out);
	call->r3 = out.gpr[3];
	call->so = out.cr & CR0_SO;
}

unsigned long call3(enum entry_way way, unsigned long nr, unsigned long a,
		    unsigned long b, unsigned long c)
{
	struct call call = { .r0 = nr, .arg = { a, b, c } };

	call_make(way, &call);
	return call.r3;
}

bool kernel_is_64bit(void)
{
	struct utsname name;

	return !uname(&name) && strstr(name.machine, "64");
}

unsigned long entry_sets(void)
{
	unsigned long sets = 0;

	if (have_hwcap(PPC_FEATURE_HAS_VSX))
		return SET_VSX;
	if (have_hwcap(PPC_FEATURE_HAS_FPU))
		sets |= SET_FP;
	if (have_hwcap(PPC_FEATURE_HAS_ALTIVEC))
		sets |= SET_VMX;
	return sets;
}

void canaries_fill(struct entry_regs *regs, unsigned long seed)
{
	u64 next = 0x9e3779b97f4a7c15ULL * (seed + 1);
	unsigned int i;

	memset(regs, 0, sizeof(*regs));
	for (i = 0; i < 32; i++) {
		next += 0x9e3779b97f4a7c15ULL;
		regs->gpr[i] = next ^ next >> 29;
	}
	regs->gpr[THREAD_GPR] = thread_pointer();
	regs->cr = 0xa5c3961eUL ^ (seed & 0xff) * 0x01010101UL;
	regs->xer = seed & 1 ? 0x20000015UL : 0xc0000033UL;
	regs->ctr = next ^ next >> 17;
	regs->lr = next ^ next >> 13;
	regs->sets = entry_sets();
	regs->fpscr = 2 - (seed & 1);		/* rounding mode only */
	regs->vrsave = ~seed;
	for (i = 0; i < 32; i++) {
		next += 0x9e3779b97f4a7c15ULL;
		/* as a double neither infinite nor a NaN */
		regs->fpr[i] = (next ^ next >> 31) & ~(1ULL << 62);
	}
	for (i = 0; i < 32; i++) {
		next += 0x9e3779b97f4a7c15ULL;
		regs->vr[i][0] = next;
		regs->vr[i][1] = next ^ 0x0123456789abcdefULL;
	}
	for (i = 0; i < 64; i++) {
		next += 0x9e3779b97f4a7c15ULL;
		regs->vsr[i][0] = next ^ next >> 27;
		regs->vsr[i][1] = next ^ next >> 23;
	}
}

unsigned long xer_kept(unsigned long xer)
{
	unsigned long kept;

	asm volatile("mfxer 0; mtxer %1; mfxer %0; mtxer 0"
		     : "=&r" (kept) : "r" (xer) : "r0");
	return kept;
}

static int differs(const char *when, const char *name, int nr, u64 want,
		   u64 got)
{
	if (want == got)
		return 0;
	printf("# %s: %s%.0d is %llx, was %llx\n", when, name, nr,
	       (unsigned long long)got, (unsigned long long)want);
	return 1;
}

int canaries_check(const char *when, const struct entry_regs *want,
		   const struct entry_regs *got, u64 skip)
{
	int i, bad = 0;

	for (i = 0; i < 32; i++) {
		if (i != 1 && !(skip & SKIP_GPR(i)))
			bad += differs(when, "r", i, want->gpr[i], got->gpr[i]);
	}
	if (!(skip & SKIP_CR))
		bad += differs(when, "cr", 0, want->cr, got->cr);
	if (!(skip & SKIP_XER))
		bad += differs(when, "xer", 0, xer_kept(want->xer), got->xer);
	if (!(skip & SKIP_CTR))
		bad += differs(when, "ctr", 0, want->ctr, got->ctr);
	if (!(skip & SKIP_LR))
		bad += differs(when, "lr", 0, want->lr, got->lr);

	if (want->sets & (SET_FP | SET_VSX))
		bad += differs(when, "fpscr", 0, want->fpscr, got->fpscr);
	if (want->sets & SET_FP) {
		for (i = 0; i < 32; i++)
			bad += differs(when, "f", i, want->fpr[i], got->fpr[i]);
	}
	if (want->sets & (SET_VMX | SET_VSX))
		bad += differs(when, "vrsave", 0, want->vrsave, got->vrsave);
	if (want->sets & SET_VMX) {
		for (i = 0; i < 32; i++) {
			bad += differs(when, "v", i, want->vr[i][0], got->vr[i][0]);
			bad += differs(when, "v", i, want->vr[i][1], got->vr[i][1]);
		}
	}
	if (want->sets & SET_VSX) {
		for (i = 0; i < 64; i++) {
			bad += differs(when, "vs", i, want->vsr[i][0], got->vsr[i][0]);
			bad += differs(when, "vs", i, want->vsr[i][1], got->vsr[i][1]);
		}
	}
	return bad;
}

u64 timebase_freq(void)
{
	unsigned long long freq = 0;
	char line[256];
	FILE *f;

	f = fopen("/proc/cpuinfo", "r");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "timebase : %llu", &freq) == 1)
			break;
	}
	fclose(f);
	return freq;
}

bool pin_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

bool wait_until_asleep(pid_t pid)
{
	char path[64], line[256], *state;
	int tries;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (tries = 0; tries < 5000; tries++) {
		f = fopen(path, "r");
		if (!f)
			return false;
		state = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
		fclose(f);
		if (state && state[2] == 'S')
			return true;
		usleep(1000);
	}
	return false;
}

long sys_ptrace(int request, pid_t pid, unsigned long addr, void *data)
{
	return syscall(SYS_ptrace, request, pid, addr, data);
}

int tracee_get(pid_t pid, struct pt_regs *regs)
{
	return sys_ptrace(PTRACE_GETREGS, pid, 0, regs);
}

int tracee_set(pid_t pid, const struct pt_regs *regs)
{
	return sys_ptrace(PTRACE_SETREGS, pid, 0, (void *)regs);
}

int tracee_start(struct tracee *t, enum entry_way way, const struct call *call,
		 void (*prepare)(void))
{
	int status;

	t->way = way;
	t->call = mmap(NULL, sizeof(*t->call), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t->call == MAP_FAILED)
		return -1;
	*t->call = *call;
	t->call->r3 = 0x5555;

	t->pid = fork();
	if (t->pid < 0)
		return -1;
	if (!t->pid) {
		pid_t self = getpid();

		if (sys_ptrace(PTRACE_TRACEME, 0, 0, NULL))
			_exit(100);
		if (prepare)
			prepare();
		/* raise() makes more calls after this one */
		syscall(SYS_kill, self, SIGSTOP);
		call_make(way, t->call);
		_exit(0);
	}
	if (waitpid(t->pid, &status, 0) != t->pid)
		return -1;
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP)
		return -1;
	/* a stop at a system call then says so: SIGTRAP | 0x80 */
	return sys_ptrace(PTRACE_SETOPTIONS, t->pid, 0,
			  (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL |
				   PTRACE_O_TRACESECCOMP));
}

int tracee_go(struct tracee *t, int request, int sig)
{
	int status;

	if (sys_ptrace(request, t->pid, 0, (void *)(long)sig))
		return -1;
	if (waitpid(t->pid, &status, 0) != t->pid)
		return -1;
	return status;
}

int tracee_finish(struct tracee *t)
{
	return tracee_go(t, PTRACE_CONT, 0);
}

void tracee_kill(struct tracee *t)
{
	int status;

	kill(t->pid, SIGKILL);
	waitpid(t->pid, &status, __WALL);
}
