//go:build !purego

#include "textflag.h"

// One step multiplies eight components of three rows of a with those of four rows
// of b, into Y0-Y11: twelve sums of eight lanes each.
#define STEP(at) \
	VMOVUPS at(SI)(AX*1), Y12 \
	VMOVUPS at(SI)(R8*1), Y13 \
	VMOVUPS at(SI)(R9*1), Y14 \
	VMOVUPS at(DI)(AX*1), Y15 \
	VFMADD231PS Y12, Y15, Y0 \
	VFMADD231PS Y13, Y15, Y4 \
	VFMADD231PS Y14, Y15, Y8 \
	VMOVUPS at(DI)(R10*1), Y15 \
	VFMADD231PS Y12, Y15, Y1 \
	VFMADD231PS Y13, Y15, Y5 \
	VFMADD231PS Y14, Y15, Y9 \
	VMOVUPS at(DI)(R11*1), Y15 \
	VFMADD231PS Y12, Y15, Y2 \
	VFMADD231PS Y13, Y15, Y6 \
	VFMADD231PS Y14, Y15, Y10 \
	VMOVUPS at(DI)(R12*1), Y15 \
	VFMADD231PS Y12, Y15, Y3 \
	VFMADD231PS Y13, Y15, Y7 \
	VFMADD231PS Y14, Y15, Y11

// FOLD adds up the lanes of four sums, ((0+1)+(2+3))+((4+5)+(6+7)), and adds the
// four totals to the four floats at R13, which then goes to the next row of out.
#define FOLD(y0, y1, y2, y3, x0) \
	VHADDPS y1, y0, y0 \
	VHADDPS y3, y2, y2 \
	VHADDPS y2, y0, y0 \
	VEXTRACTF128 $1, y0, X15 \
	VADDPS X15, x0, x0 \
	VADDPS (R13), x0, x0 \
	VMOVUPS x0, (R13) \
	ADDQ R14, R13

// func tileFused(out *float32, outStride int, a *float32, aStride int, b *float32, bStride, n, ahead int)
TEXT ·tileFused(SB), NOSPLIT, $0-64
	MOVQ out+0(FP), R13
	MOVQ outStride+8(FP), R14
	MOVQ a+16(FP), SI
	MOVQ aStride+24(FP), R8
	MOVQ b+32(FP), DI
	MOVQ bStride+40(FP), R10
	MOVQ n+48(FP), CX
	MOVQ ahead+56(FP), DX
	SHLQ $2, R14
	SHLQ $2, R8
	SHLQ $2, R10
	XORQ AX, AX
	LEAQ (R8)(R8*1), R9
	LEAQ (R10)(R10*1), R11
	LEAQ (R11)(R10*1), R12
	LEAQ (DI)(DX*4), DX
	LEAQ (DX)(R10*4), DX
	PREFETCHT0 (DX)
	PREFETCHT0 (DX)(R10*1)
	PREFETCHT0 (DX)(R11*1)
	PREFETCHT0 (DX)(R12*1)
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
	SUBQ $16, CX
	JL   eight

sixteen:
	STEP(0)
	STEP(32)
	ADDQ $64, SI
	ADDQ $64, DI
	SUBQ $16, CX
	JGE  sixteen

eight:
	ADDQ $16, CX
	JZ   fold
	STEP(0)

fold:
	FOLD(Y0, Y1, Y2, Y3, X0)
	FOLD(Y4, Y5, Y6, Y7, X4)
	FOLD(Y8, Y9, Y10, Y11, X8)
	VZEROUPPER
	RET

// TOTAL adds up the lanes of a sum, in FOLD's order, and adds the total to X15.
#define TOTAL(y, x) \
	VHADDPS y, y, y \
	VHADDPS y, y, y \
	VEXTRACTF128 $1, y, X14 \
	VADDSS X14, x, x \
	VADDSS x, X15, X15

// func dotFused(sum float32, a, b *float32, n int) float32
TEXT ·dotFused(SB), NOSPLIT, $0-36
	VMOVSS sum+0(FP), X15
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DI
	MOVQ n+24(FP), CX
	VXORPS Y0, Y0, Y0

step:
	VMOVUPS (SI), Y3
	VFMADD231PS (DI), Y3, Y0
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JG   step
	TOTAL(Y0, X0)
	VMOVSS X15, ret+32(FP)
	VZEROUPPER
	RET

// Three chunks at once: one sum alone would wait for itself at each step.
// func dotFused3(sum float32, a, b *float32) float32
TEXT ·dotFused3(SB), NOSPLIT, $0-28
	VMOVSS sum+0(FP), X15
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DI
	MOVQ $512, CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2

step:
	VMOVUPS (SI), Y3
	VMOVUPS 2048(SI), Y4
	VMOVUPS 4096(SI), Y5
	VFMADD231PS (DI), Y3, Y0
	VFMADD231PS 2048(DI), Y4, Y1
	VFMADD231PS 4096(DI), Y5, Y2
	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, CX
	JG   step
	TOTAL(Y0, X0)
	TOTAL(Y1, X1)
	TOTAL(Y2, X2)
	VMOVSS X15, ret+24(FP)
	VZEROUPPER
	RET
