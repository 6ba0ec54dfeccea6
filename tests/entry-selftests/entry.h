/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of kernel entry and exit share: running one instruction with
 * every register set to a known value, the two ways to make a system call, and
 * a child to be traced.
 */

#ifndef _SELFTESTS_POWERPC_ENTRY_H
#define _SELFTESTS_POWERPC_ENTRY_H

#include <asm/bitsperlong.h>

#if __BITS_PER_LONG == 64
#define REGS_LONG	8
#else
#define REGS_LONG	4
#endif

/* Offsets into struct entry_regs, for entry_asm.S */
#define REGS_CR		(32 * REGS_LONG)
#define REGS_XER	(33 * REGS_LONG)
#define REGS_CTR	(34 * REGS_LONG)
#define REGS_LR		(35 * REGS_LONG)
#define REGS_SETS	(36 * REGS_LONG)
#define REGS_FPSCR	320
#define REGS_VRSAVE	328
#define REGS_VSCR	336
#define REGS_FPR	352
#define REGS_VR		608
#define REGS_VSR	1120

/* Which of the sets beyond the GPRs are loaded and stored */
#define SET_FP		1
#define SET_VMX		2
#define SET_VSX		4	/* the FPRs and the VRs are parts of these */

#ifndef __ASSEMBLER__

#include <assert.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <asm/cputable.h>
#include <linux/ptrace.h>

#include "utils.h"

#ifndef PPC_FEATURE2_SCV
#define PPC_FEATURE2_SCV	0x00100000
#endif

/* errno of a call that is not there */
#define NO_SUCH_CALL		38

#define CR0_SO			0x10000000UL

/* The values that a system call leaves in pt_regs.trap */
#define TRAP_SC			0xc00
#define TRAP_SCV		0x3000

#if __BITS_PER_LONG == 32
#define AUDIT_ARCH_HERE		0x14U
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define AUDIT_ARCH_HERE		0xc0000015U
#else
#define AUDIT_ARCH_HERE		0x80000015U
#endif

/**
 * struct entry_regs - every register that user space can see
 * @gpr: r1 and the thread pointer (r13, on 32-bit r2) are stored, never loaded
 * @cr: condition register
 * @xer: fixed point exception register
 * @ctr: count register
 * @lr: link register
 * @sets: SET_*, which of the members below are in use
 * @end_of_gprs: padding
 * @fpscr: floating point status and control, as an FPR image
 * @vrsave: SPR 256
 * @unused: padding
 * @vscr: vector status and control, as a VR image
 * @fpr: with SET_FP
 * @vr: with SET_VMX
 * @vsr: with SET_VSX, each in the order of lxvd2x: @vsr[n][0] is FPR n
 */
struct entry_regs {
	union {
		struct {
			unsigned long gpr[32];
			unsigned long cr, xer, ctr, lr;
			unsigned long sets;
		};
		char end_of_gprs[REGS_FPSCR];	/* the same in 32 and 64 bits */
	};
	u64 fpscr;
	u32 vrsave, unused;
	u32 vscr[4];
	u64 fpr[32];
	u64 vr[32][2];
	u64 vsr[64][2];
} __cacheline_aligned;

static_assert(offsetof(struct entry_regs, sets) == REGS_SETS, "sets");
static_assert(offsetof(struct entry_regs, vrsave) == REGS_VRSAVE, "vrsave");
static_assert(offsetof(struct entry_regs, vscr) == REGS_VSCR, "vscr");
static_assert(offsetof(struct entry_regs, fpr) == REGS_FPR, "fpr");
static_assert(offsetof(struct entry_regs, vr) == REGS_VR, "vr");
static_assert(offsetof(struct entry_regs, vsr) == REGS_VSR, "vsr");

/*
 * In entry_asm.S. Each loads all registers from @in, executes its one
 * instruction and stores all registers to @out.
 */
typedef void (*entry_run_fn)(const struct entry_regs *in,
			     struct entry_regs *out);

void entry_run_sc(const struct entry_regs *in, struct entry_regs *out);
void entry_run_scv(const struct entry_regs *in, struct entry_regs *out);
/* bdnz to itself, so CTR says for how long; CTR is 0 afterwards */
void entry_run_spin(const struct entry_regs *in, struct entry_regs *out);
/* stores the byte in r5 to the address in r4 */
void entry_run_store(const struct entry_regs *in, struct entry_regs *out);

/* Where those instructions are */
extern const char entry_sc_insn[], entry_scv_insn[];
extern const char entry_spin_insn[], entry_store_insn[];

/**
 * enum entry_way - the instruction that makes the system call
 * @WAY_SC: sc
 * @WAY_SCV: scv 0, where AT_HWCAP2 says that it is there
 */
enum entry_way { WAY_SC, WAY_SCV };

static inline bool have_scv(void)
{
	return have_hwcap2(PPC_FEATURE2_SCV);
}

static inline entry_run_fn way_run(enum entry_way way)
{
	return way == WAY_SC ? entry_run_sc : entry_run_scv;
}

static inline unsigned long way_insn(enum entry_way way)
{
	return (unsigned long)(way == WAY_SC ? entry_sc_insn : entry_scv_insn);
}

static inline unsigned long way_trap(enum entry_way way)
{
	return way == WAY_SC ? TRAP_SC : TRAP_SCV;
}

/* r3 as the kernel returns it for an error: sc positive, scv negative */
static inline unsigned long way_errno(enum entry_way way, int error)
{
	return way == WAY_SC ? error : -(long)error;
}

/* CR0.SO as the kernel returns it for an error; scv never sets it */
static inline bool way_so(enum entry_way way)
{
	return way == WAY_SC;
}

/**
 * struct call - a system call and what came back
 * @r0: the number, all 64 bits of it
 * @arg: r3 to r8
 * @r3: what was in r3 afterwards
 * @so: whether CR0.SO was set afterwards
 */
struct call {
	unsigned long r0;
	unsigned long arg[6];
	unsigned long r3;
	bool so;
};

/* Makes the call with the instruction at way_insn(way), and no other. */
void call_make(enum entry_way way, struct call *call);

/* The same for the common case; the result is r3 as the kernel left it. */
unsigned long call3(enum entry_way way, unsigned long nr, unsigned long a,
		    unsigned long b, unsigned long c);

/* Also for a 32-bit program */
bool kernel_is_64bit(void);

/* A 32-bit program, whose registers have another half that it does not see */
static inline bool is_compat(void)
{
	return __BITS_PER_LONG == 32 && kernel_is_64bit();
}

/* The sets that this machine has */
unsigned long entry_sets(void);

/* Fills all of @regs with values that follow from @seed and are all different. */
void canaries_fill(struct entry_regs *regs, unsigned long seed);

/*
 * Compares and says in words what differs. Bit n of @skip_gprs leaves GPR n
 * out, the SKIP_* do it for the others. Returns the number of differences.
 */
#define SKIP_GPR(n)	(1ULL << (n))
#define SKIP_CR		SKIP_GPR(32)
#define SKIP_XER	SKIP_GPR(33)
#define SKIP_CTR	SKIP_GPR(34)
#define SKIP_LR		SKIP_GPR(35)
#define SKIP_GPRS(from, to) \
	((2ULL << (to)) - (1ULL << (from)))

int canaries_check(const char *when, const struct entry_regs *want,
		   const struct entry_regs *got, u64 skip);

/* What the hardware keeps of a value written to the register */
unsigned long xer_kept(unsigned long xer);

static inline u64 timebase(void)
{
#if __BITS_PER_LONG == 64
	return mfspr(268);
#else
	u32 hi, lo;

	do {
		hi = mfspr(269);
		lo = mfspr(268);
	} while (hi != mfspr(269));
	return (u64)hi << 32 | lo;
#endif
}

/* For memory shared with a handler, a thread or a child */
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)

/* Timebase ticks a second, from /proc/cpuinfo; 0 if it does not say */
u64 timebase_freq(void);

/* Keeps the caller on one CPU; false if that did not work. */
bool pin_to_cpu(int cpu);

/*
 * The system call itself: <linux/ptrace.h> has every constant and structure,
 * and cannot be included together with glibc's <sys/ptrace.h>.
 */
long sys_ptrace(int request, pid_t pid, unsigned long addr, void *data);

/* The registers in a ucontext_t, indexed by PT_* */
#if __BITS_PER_LONG == 64
#define UC_GREGS(uc)	((uc)->uc_mcontext.gp_regs)
#else
#define UC_GREGS(uc)	((uc)->uc_mcontext.uc_regs->gregs)
#endif

/* Waits until @pid sleeps; false if it does not */
bool wait_until_asleep(pid_t pid);

/* Registers of a stopped tracee; both return 0 or -1 with errno */
int tracee_get(pid_t pid, struct pt_regs *regs);
int tracee_set(pid_t pid, const struct pt_regs *regs);

/**
 * struct tracee - a child that makes one system call under a tracer
 * @pid: the child
 * @way: sc or scv
 * @call: shared with the child, which writes r3 and so
 */
struct tracee {
	pid_t pid;
	enum entry_way way;
	struct call *call;
};

/*
 * Forks a child that stops itself with SIGSTOP and then executes the call, and
 * waits for that stop. @prepare, if there, runs in the child before the stop.
 * Returns 0 or -1.
 */
int tracee_start(struct tracee *t, enum entry_way way, const struct call *call,
		 void (*prepare)(void));

/* ptrace(@request), then the wait status of the next stop or end; -1 on error */
int tracee_go(struct tracee *t, int request, int sig);

/* Lets it run to its end: the wait status */
int tracee_finish(struct tracee *t);

/* Kills what is left of it */
void tracee_kill(struct tracee *t);

/* What a wait status of the tracee says */
static inline bool is_syscall_stop(int status)
{
	return WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80);
}

static inline bool is_event_stop(int status, int event)
{
	return status >> 8 == (SIGTRAP | event << 8);
}

static inline bool is_signal_stop(int status, int sig)
{
	return WIFSTOPPED(status) && status >> 8 == sig;
}

static inline bool regs_so(const struct pt_regs *regs)
{
	return regs->ccr & CR0_SO;
}

#endif /* __ASSEMBLER__ */
#endif /* _SELFTESTS_POWERPC_ENTRY_H */
