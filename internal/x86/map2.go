package x86

const vectors = `
0f 10 movups Vx,Wx
66 0f 10 movupd Vx,Wx
f3 0f 10 movss Vd,Wd
f2 0f 10 movsd Vq,Wq
0f 11 movups Wx,Vx
66 0f 11 movupd Wx,Vx
f3 0f 11 movss Wd,Vd
f2 0f 11 movsd Wq,Vq
0f 12 movlps Vq,Wq
66 0f 12 movlpd Vq,Mq
f3 0f 12 movsldup Vx,Wx
f2 0f 12 movddup Vq,Wq
0f 13 movlps Mq,Vq
66 0f 13 movlpd Mq,Vq
0f 14 unpcklps Vx,Wx
66 0f 14 unpcklpd Vx,Wx
0f 15 unpckhps Vx,Wx
66 0f 15 unpckhpd Vx,Wx
0f 16 movhps Vq,Wq
66 0f 16 movhpd Vq,Mq
f3 0f 16 movshdup Vx,Wx
0f 17 movhps Mq,Vq
66 0f 17 movhpd Mq,Vq
0f 28 movaps Vx,Wx
66 0f 28 movapd Vx,Wx
0f 29 movaps Wx,Vx
66 0f 29 movapd Wx,Vx
f3 0f 2a cvtsi2ss Vd,Ey
f2 0f 2a cvtsi2sd Vq,Ey
0f 2b movntps Mx,Vx
66 0f 2b movntpd Mx,Vx
f3 0f 2c cvttss2si Gy,Wd
f2 0f 2c cvttsd2si Gy,Wq
f3 0f 2d cvtss2si Gy,Wd
f2 0f 2d cvtsd2si Gy,Wq
0f 2e ucomiss Vd,Wd
66 0f 2e ucomisd Vq,Wq
0f 2f comiss Vd,Wd
66 0f 2f comisd Vq,Wq
0f 50 movmskps Gd,Ux
66 0f 50 movmskpd Gd,Ux
0f 52 rsqrtps Vx,Wx
f3 0f 52 rsqrtss Vd,Wd
0f 53 rcpps Vx,Wx
f3 0f 53 rcpss Vd,Wd
0f 54 andps Vx,Wx
66 0f 54 andpd Vx,Wx
0f 55 andnps Vx,Wx
66 0f 55 andnpd Vx,Wx
0f 56 orps Vx,Wx
66 0f 56 orpd Vx,Wx
0f 57 xorps Vx,Wx
66 0f 57 xorpd Vx,Wx
0f 5a cvtps2pd Vx,Wq
66 0f 5a cvtpd2ps Vq,Wx
f3 0f 5a cvtss2sd Vq,Wd
f2 0f 5a cvtsd2ss Vd,Wq
0f 5b cvtdq2ps Vx,Wx
66 0f 5b cvtps2dq Vx,Wx
f3 0f 5b cvttps2dq Vx,Wx
66 0f 60 punpcklbw Vx,Wx
66 0f 61 punpcklwd Vx,Wx
66 0f 62 punpckldq Vx,Wx
66 0f 63 packsswb Vx,Wx
66 0f 64 pcmpgtb Vx,Wx
66 0f 65 pcmpgtw Vx,Wx
66 0f 66 pcmpgtd Vx,Wx
66 0f 67 packuswb Vx,Wx
66 0f 68 punpckhbw Vx,Wx
66 0f 69 punpckhwd Vx,Wx
66 0f 6a punpckhdq Vx,Wx
66 0f 6b packssdw Vx,Wx
66 0f 6c punpcklqdq Vx,Wx
66 0f 6d punpckhqdq Vx,Wx
66 0f 6e movd Vx,Ey
66 0f 6f movdqa Vx,Wx
f3 0f 6f movdqu Vx,Wx
66 0f 70 pshufd Vx,Wx,Ib
f3 0f 70 pshufhw Vx,Wx,Ib
f2 0f 70 pshuflw Vx,Wx,Ib
66 0f 71/2 psrlw Ux,Ib
66 0f 71/4 psraw Ux,Ib
66 0f 71/6 psllw Ux,Ib
66 0f 72/2 psrld Ux,Ib
66 0f 72/4 psrad Ux,Ib
66 0f 72/6 pslld Ux,Ib
66 0f 73/2 psrlq Ux,Ib
66 0f 73/3 psrldq Ux,Ib
66 0f 73/6 psllq Ux,Ib
66 0f 73/7 pslldq Ux,Ib
66 0f 74 pcmpeqb Vx,Wx
66 0f 75 pcmpeqw Vx,Wx
66 0f 76 pcmpeqd Vx,Wx
66 0f 7e movd Ey,Vx
f3 0f 7e movq Vq,Wq
66 0f 7f movdqa Wx,Vx
f3 0f 7f movdqu Wx,Vx
0f c2 cmpps Vx,Wx,Ib
66 0f c2 cmppd Vx,Wx,Ib
f3 0f c2 cmpss Vd,Wd,Ib
f2 0f c2 cmpsd Vq,Wq,Ib
66 0f c4 pinsrw Vx,Ew,Ib
66 0f c5 pextrw Gd,Ux,Ib
0f c6 shufps Vx,Wx,Ib
66 0f c6 shufpd Vx,Wx,Ib
66 0f d1 psrlw Vx,Wx
66 0f d2 psrld Vx,Wx
66 0f d3 psrlq Vx,Wx
66 0f d4 paddq Vx,Wx
66 0f d5 pmullw Vx,Wx
66 0f d6 movq Wq,Vq
66 0f d7 pmovmskb Gd,Ux
66 0f d8 psubusb Vx,Wx
66 0f d9 psubusw Vx,Wx
66 0f da pminub Vx,Wx
66 0f db pand Vx,Wx
66 0f dc paddusb Vx,Wx
66 0f dd paddusw Vx,Wx
66 0f de pmaxub Vx,Wx
66 0f df pandn Vx,Wx
66 0f e0 pavgb Vx,Wx
66 0f e1 psraw Vx,Wx
66 0f e2 psrad Vx,Wx
66 0f e3 pavgw Vx,Wx
66 0f e4 pmulhuw Vx,Wx
66 0f e5 pmulhw Vx,Wx
66 0f e6 cvttpd2dq Vq,Wx
f3 0f e6 cvtdq2pd Vx,Wq
f2 0f e6 cvtpd2dq Vq,Wx
66 0f e7 movntdq Mx,Vx
66 0f e8 psubsb Vx,Wx
66 0f e9 psubsw Vx,Wx
66 0f ea pminsw Vx,Wx
66 0f eb por Vx,Wx
66 0f ec paddsb Vx,Wx
66 0f ed paddsw Vx,Wx
66 0f ee pmaxsw Vx,Wx
66 0f ef pxor Vx,Wx
66 0f f1 psllw Vx,Wx
66 0f f2 pslld Vx,Wx
66 0f f3 psllq Vx,Wx
66 0f f4 pmuludq Vx,Wx
66 0f f5 pmaddwd Vx,Wx
66 0f f6 psadbw Vx,Wx
66 0f f7 maskmovdqu Vx,Ux
66 0f f8 psubb Vx,Wx
66 0f f9 psubw Vx,Wx
66 0f fa psubd Vx,Wx
66 0f fb psubq Vx,Wx
66 0f fc paddb Vx,Wx
66 0f fd paddw Vx,Wx
66 0f fe paddd Vx,Wx
`

// scalars are the operations that have a form for each of ps, pd, ss and sd, by opcode.
var scalars = map[byte]string{0x51: "sqrt", 0x58: "add", 0x59: "mul", 0x5c: "sub", 0x5d: "min", 0x5e: "div", 0x5f: "max"}

// x87arithmetic are the operations of the groups d8 and dc, in the order of their opcodes.
var x87arithmetic = []string{"fadd", "fmul", "fcom", "fcomp", "fsub", "fsubr", "fdiv", "fdivr"}

const x87 = `
d9/0 fld Md
d9/2 fst Md
d9/3 fstp Md
d9/4 fldenv M0
d9/5 fldcw Mw
d9/6 fnstenv M0
d9/7 fnstcw Mw
d9:c0 fld Ti
d9:c8 fxch Ti
d9=d0 fnop
d9=e0 fchs
d9=e1 fabs
d9=e4 ftst
d9=e5 fxam
d9=e8 fld1
d9=e9 fldl2t
d9=ea fldl2e
d9=eb fldpi
d9=ec fldlg2
d9=ed fldln2
d9=ee fldz
d9=f0 f2xm1
d9=f1 fyl2x
d9=f2 fptan
d9=f3 fpatan
d9=f4 fxtract
d9=f5 fprem1
d9=f6 fdecstp
d9=f7 fincstp
d9=f8 fprem
d9=f9 fyl2xp1
d9=fa fsqrt
d9=fb fsincos
d9=fc frndint
d9=fd fscale
d9=fe fsin
d9=ff fcos
da:c0 fcmovb T0,Ti
da:c8 fcmove T0,Ti
da:d0 fcmovbe T0,Ti
da:d8 fcmovu T0,Ti
da=e9 fucompp
db/0 fild Md
db/1 fisttp Md
db/2 fist Md
db/3 fistp Md
db/5 fld Mt
db/7 fstp Mt
db:c0 fcmovnb T0,Ti
db:c8 fcmovne T0,Ti
db:d0 fcmovnbe T0,Ti
db:d8 fcmovnu T0,Ti
db=e2 fnclex
db=e3 fninit
db:e8 fucomi T0,Ti
db:f0 fcomi T0,Ti
dd/0 fld Mq
dd/1 fisttp Mq
dd/2 fst Mq
dd/3 fstp Mq
dd/4 frstor M0
dd/6 fnsave M0
dd/7 fnstsw Mw
dd:c0 ffree Ti
dd:d0 fst Ti
dd:d8 fstp Ti
dd:e0 fucom Ti
dd:e8 fucomp Ti
de=d9 fcompp
df/0 fild Mw
df/1 fisttp Mw
df/2 fist Mw
df/3 fistp Mw
df/5 fild Mq
df/7 fistp Mq
df=e0 fnstsw Aw
df:e8 fucomip T0,Ti
df:f0 fcomip T0,Ti
`
