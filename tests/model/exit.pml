/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way back to user space on 64-bit Book3S, as a model for spin.
 *
 * powerpc masks interrupts in software: local_irq_disable() sets a byte in the
 * paca and leaves MSR[EE] on. An interrupt that arrives then is noted in
 * paca->irq_happened and handled later ("replayed"). The exit to user space must
 * not leave with one noted, and not with work that one of them has made, although
 * it turns nothing off in hardware: its last instructions are in the restart table,
 * and an interrupt there lets the exit start again.
 *
 * One CPU goes from user space into the kernel and back for ever. Everything else
 * is the world: a timer, a device, another CPU that sets a thread flag and sends an
 * IPI, and NMIs. Each transition below names the code it stands for; file names are
 * those of arch/powerpc/kernel in 6.12. Where the kernel goes through the generic
 * entry code, the protocol is the same: exit_to_user_mode_prepare() is FLAGS to
 * WORK_DISABLE, exit_to_user_mode() is ENTER_USER, and the check, the restart
 * table and what they repeat stay with powerpc.
 *
 * What must hold (the assertions; "user" is each instruction in user space):
 *  - user: no interrupt is noted in irq_happened, none that was noted is forgotten,
 *    irqs are on in both senses
 *  - user: no thread flag is set, unless the IPI of the CPU that set it is on its way
 *  - user: the context tracking says user, and it is entered and left in turns
 *  - the same for need_resched on the way back to a preemptible kernel
 *  - SRR0 and SRR1 are at the rfid what the exit wrote into them
 *  - no handler runs while the context tracking says user
 *
 * The exit that is called reentrant leaves MSR[EE] on, the other one turns it off
 * before the check (interrupt_exit_not_reentrant, set by some mitigations). The model
 * chooses one at the beginning and checks both.
 *
 * Errors to be found on purpose, one at a time (see "run"):
 *  NO_RECHECK		after a replay nobody looks at the flags again
 *  NO_CHECK		nobody looks at irq_happened
 *  NO_RESTART		an interrupt in the last instructions does not restart them
 *  NO_SOFT_MASK		the last instructions do not count as masked
 *  NMI_NO_RESTART	an NMI there does not restart them
 *  NO_USER_EXIT		a retry does not leave user context first
 *  KERNEL_REENTRANT	the exit to the kernel leaves MSR[EE] on like the one to user
 *			space, with the C code that 6.12 has for it
 *  NO_KERNEL_RECHECK	after a replay on the way back to the kernel nobody looks
 *			at need_resched again
 *
 * Not in here: softirqs, which run with interrupts on inside the replay; returns to
 * a kernel that has interrupts masked; machine checks that kill; Book3E and 32-bit,
 * which turn MSR[EE] off and have no lazy masking at the exit.
 */

mtype = {
	USER,				/* a user program runs */
	SC, SCV, FAULT,			/* entry, assembly */
	ENTER, OPEN_KERNEL, KERNEL,	/* entry, C, and the kernel proper */
	EXIT, FLAGS, WORK, WORK_DISABLE, ENTER_USER, CHECK, TEST_CHECK,
	RETRY, RETRY_DISABLE, TAIL,	/* exit, C */
	RST_TEST, RST_SOFT, RST_HAPPENED, RST_SRR, RST_RFI,	/* exit, restartable */
	RESTART, RESTART_MASK, RESTART_C,			/* restart, not restartable */
	ENABLE, REPLAY, REPLAYED,	/* local_irq_enable() */
	/* an interrupt in the kernel, its C code and its restartable last part */
	K_EXIT, K_RESCHED, K_CHECK, K_TEST_CHECK, K_REPLAY, K_CLEAR, K_CLEARED,
	KRST_SOFT, KRST_TEST, KRST_HAPPENED, KRST_SRR, KRST_RFI,
	K_RESTART, K_RESTART_C
};

mtype pc = USER;
mtype after_enable;		/* where local_irq_enable() returns to */
mtype k_return;			/* what the interrupt in the kernel interrupted */

/* The hardware */
bool ee = true;			/* MSR[EE] */
bool line_dec;			/* the decrementer is negative */
bool line_dev;			/* a device interrupts */
bool line_ipi;			/* another CPU interrupts */
bool srr;			/* SRR0, SRR1 are what the exit wrote */

/* The paca */
bool soft;			/* irq_soft_mask: irqs are masked */
bool hard_dis;			/* irq_happened: PACA_IRQ_HARD_DIS */
bool noted_dec;			/* irq_happened: PACA_IRQ_DEC */
bool noted_ee;			/* irq_happened: PACA_IRQ_EE, which has to be hard masked */

bool seen_dec, seen_ee;		/* a register with a copy of irq_happened */

/* The task */
bool tif_signal;		/* any flag that only the exit to user space looks at */
bool tif_resched;		/* TIF_NEED_RESCHED */
bool in_user_context;		/* ct_state() == CT_STATE_USER */

/* Another CPU has set a flag, and its IPI has not been handled */
bool ipi_sent;

bool must_hard_disable;		/* exit_must_hard_disable() */

/*
 * An interrupt that was noted, and not handled; for the assertions only. An
 * external interrupt that is forgotten interrupts again, the decrementer does not.
 */
bool owed_dec;

#define noted		(noted_dec || noted_ee)
#define line_ee		(line_dev || line_ipi)

/* RESTART_TABLE */
#define restartable_u	(pc == RST_TEST || pc == RST_SOFT || pc == RST_HAPPENED || \
			 pc == RST_SRR || pc == RST_RFI)
#define restartable_k	(pc == KRST_SOFT || pc == KRST_TEST || pc == KRST_HAPPENED || \
			 pc == KRST_SRR || pc == KRST_RFI)
#define restartable	(restartable_u || restartable_k)

/* SOFT_MASK_TABLE: masked whatever irq_soft_mask says */
#ifdef NO_SOFT_MASK
#define implicit	(pc == SCV || pc == RESTART || pc == K_RESTART)
#else
#define implicit	(pc == SCV || pc == RESTART || pc == K_RESTART || restartable)
#endif

#define masked		(soft || implicit)

/*
 * The only places where an interrupt is not masked: a user program, and these. (The
 * restartable ones are masked by their address, if nobody breaks that.)
 */
#define open		(!masked && (pc == KERNEL || pc == WORK || pc == WORK_DISABLE || \
				     pc == RETRY_DISABLE || pc == EXIT || restartable))

#ifdef NO_RESTART
#define restart()	skip
#else
#define restart()							\
	if								\
	:: restartable_u -> pc = RESTART				\
	:: restartable_k -> pc = K_RESTART				\
	:: else								\
	fi
#endif

/* timer_interrupt(), do_IRQ(): the work of a handler is a signal or a wake-up */
inline make_work()
{
	if
	:: tif_signal = true
	:: tif_resched = true
	:: skip
	fi
}

inline handle_dec()
{
	assert(!in_user_context);
	line_dec = false;
	owed_dec = false;
	make_work()
}

inline handle_ee()
{
	assert(!in_user_context);
	if
	:: line_dev -> line_dev = false; make_work()
	:: else
	fi;
	if
	:: line_ipi -> line_ipi = false; ipi_sent = false
	:: else
	fi
}

/* user_enter_irqoff(), user_exit_irqoff() */
inline user_enter()
{
	assert(!in_user_context);
	in_user_context = true
}

inline user_exit()
{
	assert(in_user_context);
	in_user_context = false
}

active proctype cpu()
{
	if
	:: must_hard_disable = true
	:: must_hard_disable = false
	fi;
	in_user_context = true;

	do
	/*
	 * User space, with the assertions, and the ways out of it.
	 */
	:: pc == USER -> atomic {
		assert(ee && !soft && !hard_dis && !noted && !owed_dec);
		assert(in_user_context);
		assert(!(tif_signal || tif_resched) || ipi_sent);
		if
		/* interrupt_64.S system_call_common: hardware clears EE */
		:: ee = false; pc = SC
		/* exceptions-64s.S system_call_vectored: EE stays */
		:: pc = SCV
		/* a page fault and others like it */
		:: ee = false; pc = FAULT
		/* an asynchronous interrupt; the hardware goes there when it can */
		:: line_dec -> ee = false; hard_dis = true; soft = true;
			user_exit(); handle_dec(); pc = EXIT
		:: line_ee -> ee = false; hard_dis = true; soft = true;
			user_exit(); handle_ee(); pc = EXIT
		fi
	}

	/* interrupt_64.S: IRQS_ALL_DISABLED, then mtmsrd with EE */
	:: pc == SC -> atomic { soft = true; ee = true; pc = ENTER }
	/* exceptions-64s.S: masked by address until this store */
	:: pc == SCV -> atomic { soft = true; pc = ENTER }
	/* interrupt.h interrupt_enter_prepare(): soft-mask, then __hard_irq_enable() */
	:: pc == FAULT -> atomic { soft = true; ee = true; pc = ENTER }

	/* syscall.c system_call_exception(), or interrupt_enter_prepare() */
	:: pc == ENTER -> atomic { user_exit(); pc = OPEN_KERNEL }
	:: pc == OPEN_KERNEL -> atomic { after_enable = KERNEL; pc = ENABLE }

	/* in the kernel a fault with irqs on: interrupt_enter_prepare(), EE stays on */
	:: pc == KERNEL -> atomic { soft = true; k_return = KERNEL; pc = K_EXIT }
	/* the system call or the fault is over; it may have made work for itself */
	:: pc == KERNEL -> atomic {
		if
		:: tif_signal = true
		:: tif_resched = true
		:: skip
		fi;
		pc = EXIT
	}

	/*
	 * The exit: syscall_exit_prepare(), interrupt_exit_user_prepare() and
	 * interrupt_exit_user_prepare_main(), all in interrupt.c.
	 */
	:: pc == EXIT -> atomic { soft = true; pc = FLAGS }	/* local_irq_disable() */
	/* read_thread_flags() */
	:: pc == FLAGS -> atomic {
		if
		:: tif_signal || tif_resched -> after_enable = WORK; pc = ENABLE
		:: else -> pc = ENTER_USER
		fi
	}
	/* schedule(), do_notify_resume() */
	:: pc == WORK -> atomic {
		if
		:: tif_resched -> tif_resched = false
		:: tif_signal -> tif_signal = false
		:: else
		fi;
		pc = WORK_DISABLE
	}
	:: pc == WORK_DISABLE -> atomic { soft = true; pc = FLAGS }
	/* user_enter_irqoff() */
	:: pc == ENTER_USER -> atomic { user_enter(); pc = CHECK }
	/* prep_irq_for_enabled_exit(): __hard_EE_RI_disable() */
	:: pc == CHECK -> atomic {
		if
		:: must_hard_disable -> ee = false
		:: else
		fi;
		pc = TEST_CHECK
	}
	/* prep_irq_for_enabled_exit(): lazy_irq_pending_nocheck() */
	:: pc == TEST_CHECK -> atomic {
#ifdef NO_CHECK
		pc = TAIL
#else
		if
		:: noted ->
			if
			:: must_hard_disable -> hard_dis = true
			:: else
			fi;
			pc = RETRY
		:: else -> pc = TAIL
		fi
#endif
	}
	/* user_exit_irqoff(); local_irq_enable(); local_irq_disable(); goto again */
	:: pc == RETRY -> atomic {
#ifndef NO_USER_EXIT
		user_exit();
#endif
		after_enable = RETRY_DISABLE;
		pc = ENABLE
	}
	:: pc == RETRY_DISABLE -> atomic {
		soft = true;
#ifdef NO_RECHECK
		pc = ENTER_USER
#else
		pc = FLAGS
#endif
	}
	/* the rest of the C function, and its return; interrupts are noted still */
	:: pc == TAIL -> pc = RST_TEST

	/*
	 * interrupt_64.S, between rst_start and rst_end: every interrupt and every
	 * NMI goes to the restart. In the exit that is not reentrant only NMIs come.
	 */
	:: pc == RST_TEST -> atomic {
#ifdef NO_CHECK
		pc = RST_SOFT
#else
		if
		:: noted -> pc = RESTART
		:: else -> pc = RST_SOFT
		fi
#endif
	}
	:: pc == RST_SOFT -> atomic { soft = false; pc = RST_HAPPENED }
	:: pc == RST_HAPPENED -> atomic {
		hard_dis = false; noted_dec = false; noted_ee = false;
		pc = RST_SRR
	}
	:: pc == RST_SRR -> atomic { srr = true; pc = RST_RFI }
	:: pc == RST_RFI -> atomic {
		assert(srr);
		srr = false;
		ee = true;
		pc = USER
	}

	/*
	 * interrupt_64.S syscall_restart and interrupt_return_user_restart: masked by
	 * address until the store.
	 */
	:: pc == RESTART -> atomic { soft = true; pc = RESTART_MASK }
	/* interrupt.c syscall_exit_restart(): __hard_irq_disable(), HARD_DIS */
	:: pc == RESTART_MASK -> atomic { ee = false; hard_dis = true; pc = RESTART_C }
	/* user_exit_irqoff(), and the exit from its beginning */
	:: pc == RESTART_C -> atomic {
		user_exit();
		pc = FLAGS
	}

	/*
	 * irq_64.c arch_local_irq_restore(0). The test and the store are one step
	 * because of a restart table entry of their own.
	 */
	:: pc == ENABLE -> atomic {
		if
		:: noted -> ee = false; hard_dis = true; soft = true; pc = REPLAY
		:: else -> soft = false; hard_dis = false; ee = true; pc = after_enable
		fi
	}
	/* __replay_soft_interrupts() */
	:: pc == REPLAY -> atomic {
		if
		:: noted_dec -> noted_dec = false; handle_dec()
		:: else ->
			if
			:: noted_ee -> noted_ee = false; handle_ee()
			:: else -> pc = REPLAYED
			fi
		fi
	}
	:: pc == REPLAYED -> atomic {
		soft = false; hard_dis = false; ee = true;
		pc = after_enable
	}

	/*
	 * An interrupt in the kernel, with irqs on: interrupt_exit_kernel_prepare().
	 */
	:: pc == K_EXIT -> atomic { soft = true; pc = K_RESCHED }
	/* preempt_schedule_irq(), which has irqs on inside */
	:: pc == K_RESCHED -> atomic {
		if
		:: tif_resched -> tif_resched = false; after_enable = K_EXIT; pc = ENABLE
		:: else -> pc = K_CHECK
		fi
	}
	/*
	 * prep_irq_for_enabled_exit(false): this exit always turns EE off. That is
	 * not what the restart table below is for, but see K_CLEAR.
	 */
	:: pc == K_CHECK -> atomic {
#ifdef KERNEL_REENTRANT
		if
		:: must_hard_disable -> ee = false
		:: else
		fi;
#else
		ee = false;
#endif
		pc = K_TEST_CHECK
	}
	:: pc == K_TEST_CHECK -> atomic {
		if
		:: noted -> ee = false; soft = true; hard_dis = true; pc = K_REPLAY
		:: else -> pc = K_CLEAR
		fi
	}
	/* replay_soft_interrupts(); goto again */
	:: pc == K_REPLAY -> atomic {
		if
		:: noted_dec -> noted_dec = false; handle_dec()
		:: else ->
			if
			:: noted_ee -> noted_ee = false; handle_ee()
			:: else ->
#ifdef NO_KERNEL_RECHECK
				pc = K_CHECK
#else
				pc = K_RESCHED
#endif
			fi
		fi
	}
	/*
	 * irq_happened &= ~PACA_IRQ_HARD_DIS: a load, and later a store that
	 * forgets what was noted in between. Right only as long as EE is off.
	 */
	:: pc == K_CLEAR -> atomic {
		seen_dec = noted_dec; seen_ee = noted_ee;
		pc = K_CLEARED
	}
	:: pc == K_CLEARED -> atomic {
		hard_dis = false; noted_dec = seen_dec; noted_ee = seen_ee;
		seen_dec = false; seen_ee = false;
		pc = KRST_SOFT
	}

	/* interrupt_64.S, kernel_rst_start to kernel_rst_end, irqs to be on */
	:: pc == KRST_SOFT -> atomic { soft = false; pc = KRST_TEST }
	:: pc == KRST_TEST -> atomic {
		if
		:: noted -> pc = K_RESTART
		:: else -> pc = KRST_HAPPENED
		fi
	}
	:: pc == KRST_HAPPENED -> atomic {
		hard_dis = false; noted_dec = false; noted_ee = false;
		pc = KRST_SRR
	}
	:: pc == KRST_SRR -> atomic { srr = true; pc = KRST_RFI }
	:: pc == KRST_RFI -> atomic {
		assert(srr);
		assert(!tif_resched || ipi_sent);
		assert(!noted && !owed_dec);
		srr = false;
		ee = true;
		pc = k_return
	}
	/* interrupt_return_kernel_restart, interrupt_exit_kernel_restart() */
	:: pc == K_RESTART -> atomic { soft = true; pc = K_RESTART_C }
	:: pc == K_RESTART_C -> atomic { ee = false; hard_dis = true; pc = K_EXIT }

	/*
	 * The interrupts, wherever the CPU is, if EE is on and it is not in user space.
	 *
	 * Masked: exceptions-64s.S masked_interrupt. The decrementer is set far
	 * ahead; an external interrupt stays and is hard masked, in the MSR that the
	 * interrupt returns to. Then the restart table.
	 */
	:: atomic {
		ee && line_dec && masked && pc != USER ->
		noted_dec = true; owed_dec = true; line_dec = false; srr = false; restart()
	}
	:: atomic {
		ee && line_ee && masked && pc != USER ->
		noted_ee = true; hard_dis = true; ee = false; srr = false; restart()
	}
	/* Not masked: a handler, and the way back to where it was */
	:: atomic {
		ee && line_dec && open ->
		ee = false; hard_dis = true; soft = true; k_return = pc;
		handle_dec(); pc = K_EXIT
	}
	:: atomic {
		ee && line_ee && open ->
		ee = false; hard_dis = true; soft = true; k_return = pc;
		handle_ee(); pc = K_EXIT
	}
	/*
	 * An NMI, or the watchdog's soft-NMI: interrupt_nmi_enter_prepare() and
	 * exit_prepare() put everything back, but the SRRs are lost, and in the
	 * restart table it restarts. Elsewhere it is nothing to this model.
	 */
	:: atomic {
		restartable ->
		srr = false;
#ifndef NMI_NO_RESTART
		restart()
#endif
	}
	od
}

/* The timer and the device: any time */
active proctype timer()
{
	do
	:: atomic { !line_dec -> line_dec = true }
	od
}

active proctype device()
{
	do
	:: atomic { !line_dev -> line_dev = true }
	od
}

/* Another CPU: set_tsk_thread_flag(), kick_process(), and later the IPI arrives. */
active proctype other_cpu()
{
	do
	:: atomic { !ipi_sent -> ipi_sent = true;
		if
		:: tif_signal = true
		:: tif_resched = true
		fi
	}
	   line_ipi = true;
	   !ipi_sent
	od
}
