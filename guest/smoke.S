/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Register files put through a system call, or through a loop that interrupts
 * and signals hit. Each function loads every register it can from @in, does
 * its one thing, and stores what it then finds to @out:
 *
 *   void gpr_sc(const struct gprs *in, struct gprs *out)     one `sc`
 *   void gpr_scv(...)                                        one `scv 0`
 *   void gpr_spin(...)                                       bdnz until CTR is 0
 *
 *   struct gprs { unsigned long gpr[32], cr, lr, ctr, xer; };
 *
 * r1 and the thread pointer (r13, in 32-bit programs r2) stay what they are.
 *
 *   void fp_sc(const void *in, void *out, long nr, long a, long b)
 *   void fp_scv(...)
 *   void fp_spin(const void *in, void *out, long loops)
 *
 * for the 32 FP registers, and the same with vmx_ for 32 VMX registers and
 * vsx_ for all 64 VSX registers.
 */
#ifdef __powerpc64__
#define L	8
#define ld_	ld
#define std_	std
#define stdu_	stdu
#define LRSAVE	16
#else
#define L	4
#define ld_	lwz
#define std_	stw
#define stdu_	stwu
#define LRSAVE	4
#endif

/* Frame: for the ABI, CR and r2 to r31, out and a scratch word, f14-31, v20-31. */
#define SAVE	64
#define OUT	(SAVE + 32 * L)
#define FPRS	512
#define VRS	(FPRS + 32 * 8)
#define FRAME	(VRS + 16 * 16)

.macro FUNC name
	.globl	\name
	.type	\name, @function
#if defined(__powerpc64__) && (!defined(_CALL_ELF) || _CALL_ELF != 2)
	.section ".opd", "aw"
	.align	3
\name:
	.quad	.Lcode_\name, .TOC.@tocbase, 0
	.previous
.Lcode_\name:
#else
\name:
#endif
.endm

#ifdef __powerpc64__
#define SCV	.long 0x44000001
#else
#define SCV	trap
#endif

	.machine "power7"
	.text

/* r4 is @out: it goes to the frame, the only place that the body leaves. */
.macro ENTER
	mflr	0
	std_	0, LRSAVE(1)
	stdu_	1, -FRAME(1)
	mfcr	0
	std_	0, (SAVE + 12 * L)(1)
	.irp	n, 13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	std_	\n, (SAVE + \n * L)(1)
	.endr
	std_	2, (SAVE + 2 * L)(1)
	std_	4, OUT(1)
.endm

.macro LEAVE
	.irp	n, 13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	ld_	\n, (SAVE + \n * L)(1)
	.endr
	ld_	2, (SAVE + 2 * L)(1)
	ld_	0, (SAVE + 12 * L)(1)
	mtcr	0
	addi	1, 1, FRAME
	ld_	0, LRSAVE(1)
	mtlr	0
	blr
.endm

#ifdef __powerpc64__
#define LOADABLE 0,2,4,5,6,7,8,9,10,11,12,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
#else
#define LOADABLE 0,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
#endif

.macro LOAD_GPRS
	ld_	4, (32 * L)(3)
	mtcr	4
	ld_	4, (33 * L)(3)
	mtlr	4
	ld_	4, (34 * L)(3)
	mtctr	4
	ld_	4, (35 * L)(3)
	mtxer	4
	.irp	n, LOADABLE
	ld_	\n, (\n * L)(3)
	.endr
	ld_	3, (3 * L)(3)
.endm

.macro STORE_GPRS
	std_	3, (OUT + L)(1)
	ld_	3, OUT(1)
	.irp	n, 0,1,2,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	std_	\n, (\n * L)(3)
	.endr
	ld_	4, (OUT + L)(1)
	std_	4, (3 * L)(3)
	mfcr	4
	std_	4, (32 * L)(3)
	mflr	4
	std_	4, (33 * L)(3)
	mfctr	4
	std_	4, (34 * L)(3)
	mfxer	4
	std_	4, (35 * L)(3)
.endm

.macro GPR_FUNC name, what:vararg
FUNC gpr_\name
	ENTER
	LOAD_GPRS
99:	\what
	STORE_GPRS
	LEAVE
.endm

GPR_FUNC sc, sc
GPR_FUNC scv, SCV
GPR_FUNC spin, bdnz 99b

/*
 * The vector files. @in is r3, @out r4, then the call and its arguments, which
 * move to where the system call wants them.
 */
.macro fp_save
	.irp	n, 14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	stfd	\n, (FPRS + \n * 8)(1)
	.endr
.endm

.macro fp_restore
	.irp	n, 14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	lfd	\n, (FPRS + \n * 8)(1)
	.endr
.endm

.macro vmx_save
	.irp	n, 20,21,22,23,24,25,26,27,28,29,30,31
	li	0, VRS + (\n - 20) * 16
	stvx	\n, 1, 0
	.endr
.endm

.macro vmx_restore
	.irp	n, 20,21,22,23,24,25,26,27,28,29,30,31
	li	0, VRS + (\n - 20) * 16
	lvx	\n, 1, 0
	.endr
.endm

.macro fp_load
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	lfd	\n, (\n * 8)(3)
	.endr
.endm

.macro fp_store
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	stfd	\n, (\n * 8)(4)
	.endr
.endm

.macro vmx_load
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	li	0, \n * 16
	lvx	\n, 3, 0
	.endr
.endm

.macro vmx_store
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	li	0, \n * 16
	stvx	\n, 4, 0
	.endr
.endm

.macro vsx_load
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	li	0, \n * 16
	lxvd2x	\n, 3, 0
	.endr
	addi	3, 3, 512
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	li	0, \n * 16
	lxvd2x	(\n + 32), 3, 0
	.endr
.endm

.macro vsx_store
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	li	0, \n * 16
	stxvd2x	\n, 4, 0
	.endr
	addi	4, 4, 512
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	li	0, \n * 16
	stxvd2x	(\n + 32), 4, 0
	.endr
.endm

.macro vsx_save
	fp_save
	vmx_save
.endm

.macro vsx_restore
	fp_restore
	vmx_restore
.endm

.macro VEC_FUNC file, name, what:vararg
FUNC \file\()_\name
	ENTER
	mtctr	5
	\file\()_save
	\file\()_load
	mr	0, 5
	mr	3, 6
	mr	4, 7
99:	\what
	ld_	4, OUT(1)
	\file\()_store
	\file\()_restore
	LEAVE
.endm

VEC_FUNC fp, sc, sc
VEC_FUNC fp, scv, SCV
VEC_FUNC fp, spin, bdnz 99b
VEC_FUNC vmx, sc, sc
VEC_FUNC vmx, scv, SCV
VEC_FUNC vmx, spin, bdnz 99b
VEC_FUNC vsx, sc, sc
VEC_FUNC vsx, scv, SCV
VEC_FUNC vsx, spin, bdnz 99b

/*
 * long step_here(void): returns getppid(). Its trap stops it for a tracer, who
 * steps over what follows.
 */
FUNC step_here
	trap
	li	0, 64
	nop
	nop
	sc
	nop
	nop
	blr

	.section .note.GNU-stack, "", @progbits
