package binpatch

// The lock of all sections. It is recursive, because a function that a section calls may
// have one too: owner is the thread, by the base of its own memory, and depth how often it
// has taken the lock. word is 0 if the lock is free, 1 if it is held, 2 if threads may wait.
//
// acquire and release are called with the stack pointer below the 128 bytes that a function
// may use without saying so, and change no register and no flag that programs see. acquire
// tries, then tries a hundred times more, then waits in the kernel until a second from then.
// If that passes it says so and returns all the same: the thread goes on without the lock,
// as section 6.2 of the paper has it, and release sees that the lock is another's.
//
// trapped is the handler of SIGTRAP for entries that have no room for a jump. It looks the
// address up and has the thread go on in the copy. What is not an entry is left to the
// handler that was there before.
const lockCode = `
acquire:
	50                               push rax
	51                               push rcx
	52                               push rdx
	9f                               lahf
	0f 90 c0                         seto al
	50                               push rax
	64 48 8b 14 25 00 00 00 00       mov rdx, qword ptr fs:[0x0]
	48 39 15 {owner}                 cmp qword ptr [owner], rdx
	74 <again>                       je again
	31 c0                            xor eax, eax
	b9 01 00 00 00                   mov ecx, 0x1
	f0 0f b1 0d {word}           lock cmpxchg dword ptr [word], ecx
	75 <slow>                        jne slow
got:
	48 89 15 {owner}                 mov qword ptr [owner], rdx
again:
	ff 05 {depth}                    inc dword ptr [depth]
leave:
	58                               pop rax
	04 7f                            add al, 0x7f
	9e                               sahf
	5a                               pop rdx
	59                               pop rcx
	58                               pop rax
	c3                               ret
slow:
	b9 64 00 00 00                   mov ecx, 0x64
spin:
	f3 90                            pause
	31 c0                            xor eax, eax
	39 05 {word}                 cmp dword ptr [word], eax
	75 <busy>                        jne busy
	51                               push rcx
	b9 01 00 00 00                   mov ecx, 0x1
	f0 0f b1 0d {word}           lock cmpxchg dword ptr [word], ecx
	59                               pop rcx
	74 <got>                         je got
busy:
	ff c9                            dec ecx
	75 <spin>                        jne spin
	57                               push rdi
	56                               push rsi
	41 50                            push r8
	41 51                            push r9
	41 52                            push r10
	41 53                            push r11
	52                               push rdx
	48 83 ec 10                      sub rsp, 0x10
	b8 e4 00 00 00                   mov eax, 0xe4
	bf 01 00 00 00                   mov edi, 0x1
	48 89 e6                         mov rsi, rsp
	0f 05                            syscall
	48 ff 04 24                      inc qword ptr [rsp]
wait:
	b8 02 00 00 00                   mov eax, 0x2
	87 05 {word}                 xchg dword ptr [word], eax
	85 c0                            test eax, eax
	74 <woken>                       je woken
	b8 ca 00 00 00                   mov eax, 0xca
	48 8d 3d {word}              lea rdi, [word]
	be 89 00 00 00                   mov esi, 0x89
	ba 02 00 00 00                   mov edx, 0x2
	49 89 e2                         mov r10, rsp
	45 31 c0                         xor r8d, r8d
	41 b9 ff ff ff ff                mov r9d, -0x1
	0f 05                            syscall
	83 f8 92                         cmp eax, -0x6e
	75 <wait>                        jne wait
	f0 ff 05 {timeouts}              lock inc dword ptr [timeouts]
	b8 01 00 00 00                   mov eax, 0x1
	bf 02 00 00 00                   mov edi, 0x2
	48 8d 35 {message}               lea rsi, [message]
	8b 15 {length}                   mov edx, dword ptr [length]
	0f 05                            syscall
	e8 {restore}                     call restore
	e9 {leave}                       jmp leave
woken:
	e8 {restore}                     call restore
	e9 {got}                         jmp got
restore:
	48 8b 54 24 18                   mov rdx, qword ptr [rsp+0x18]
	4c 8b 5c 24 20                   mov r11, qword ptr [rsp+0x20]
	4c 8b 54 24 28                   mov r10, qword ptr [rsp+0x28]
	4c 8b 4c 24 30                   mov r9, qword ptr [rsp+0x30]
	4c 8b 44 24 38                   mov r8, qword ptr [rsp+0x38]
	48 8b 74 24 40                   mov rsi, qword ptr [rsp+0x40]
	48 8b 7c 24 48                   mov rdi, qword ptr [rsp+0x48]
	c2 48 00                         ret 0x48
release:
	50                               push rax
	9f                               lahf
	0f 90 c0                         seto al
	50                               push rax
	64 48 8b 04 25 00 00 00 00       mov rax, qword ptr fs:[0x0]
	48 39 05 {owner}                 cmp qword ptr [owner], rax
	75 <out>                         jne out
	ff 0d {depth}                    dec dword ptr [depth]
	75 <out>                         jne out
	48 c7 05 {owner} 00 00 00 00     mov qword ptr [owner], 0x0
	31 c0                            xor eax, eax
	87 05 {word}                 xchg dword ptr [word], eax
	83 f8 02                         cmp eax, 0x2
	74 <wake>                        je wake
out:
	58                               pop rax
	04 7f                            add al, 0x7f
	9e                               sahf
	58                               pop rax
	c3                               ret
wake:
	57                               push rdi
	56                               push rsi
	52                               push rdx
	51                               push rcx
	41 53                            push r11
	b8 ca 00 00 00                   mov eax, 0xca
	48 8d 3d {word}              lea rdi, [word]
	be 81 00 00 00                   mov esi, 0x81
	ba 01 00 00 00                   mov edx, 0x1
	0f 05                            syscall
	41 5b                            pop r11
	59                               pop rcx
	5a                               pop rdx
	5e                               pop rsi
	5f                               pop rdi
	eb <out>                         jmp out
trapped:
	48 8b 82 a8 00 00 00             mov rax, qword ptr [rdx+0xa8]
	48 8d 0d {traps}                 lea rcx, [traps]
	8b 35 {count}                    mov esi, dword ptr [count]
look:
	85 f6                            test esi, esi
	74 <foreign>                     je foreign
	4c 8d 40 ff                      lea r8, [rax-0x1]
	4c 2b 01                         sub r8, qword ptr [rcx]
	74 <ours>                        je ours
	48 83 c1 10                      add rcx, 0x10
	ff ce                            dec esi
	eb <look>                        jmp look
ours:
	48 8b 41 08                      mov rax, qword ptr [rcx+0x8]
	48 89 82 a8 00 00 00             mov qword ptr [rdx+0xa8], rax
	c3                               ret
foreign:
	49 89 d1                         mov r9, rdx
	49 89 c0                         mov r8, rax
	b8 0d 00 00 00                   mov eax, 0xd
	bf 05 00 00 00                   mov edi, 0x5
	48 8d 35 {oldaction}             lea rsi, [oldaction]
	31 d2                            xor edx, edx
	41 ba 08 00 00 00                mov r10d, 0x8
	0f 05                            syscall
	41 80 78 ff cc                   cmp byte ptr [r8-0x1], 0xcc
	75 <done>                        jne done
	49 ff 89 a8 00 00 00             dec qword ptr [r9+0xa8]
done:
	c3                               ret
resume:
	b8 0f 00 00 00                   mov eax, 0xf
	0f 05                            syscall
`
