package stacktext

import "testing"

func TestStacksAreThoseOfTheProgram(t *testing.T) {
	const text = `goroutine 9 [running]:
go.uber.org/goleak.Find()
	/leaks.go:58 +0x1
example.com/p.TestFine(0x1)
	/src/p/p_test.go:14 +0x7b
testing.(*T).Run.func1()
	/goroot/src/testing/testing.go:2101 +0x1c
cofferdamrt.callOf(0xd1a1e573708)
	/goroot/src/cofferdamrt/goroutine.go:92 +0x1b
cofferdamrt.GoCall.func1()
	/goroot/src/cofferdamrt/goroutine.go:86 +0x1b
cofferdamrt.(*goroutine).main(0xd1a1e573708)
	/goroot/src/cofferdamrt/goroutine.go:142 +0xdb
created by cofferdamrt.(*scheduler).spawn in goroutine 7
	/goroot/src/cofferdamrt/goroutine.go:119 +0x295

goroutine 1 [chan receive]:
cofferdamrt.Run({{0x6a0400, 0xd1a1e538300}, 0x1})
	/goroot/src/cofferdamrt/run.go:30 +0x1bd
testing.(*M).Run(0xd1a1e4f6070?)
	/goroot/src/testing/testing.go:2340 +0x4a5
main.main()
	_testmain.go:48 +0xa5

goroutine 6 [sleep]:
time.cofferdamSleep(0x4c4b40)
	/goroot/src/runtime/time.go:363 +0x165
cofferdamrt.watch(0x694b68)
	/goroot/src/cofferdamrt/watchdog.go:49 +0x53
created by cofferdamrt.(*scheduler).begin in goroutine 1
	/goroot/src/cofferdamrt/run.go:111 +0x46a

goroutine 7 [chan receive]:
cofferdamrt.(*goroutine).park(0xd1a1e573508)
	/goroot/src/cofferdamrt/sched.go:328 +0x25
cofferdamrt.(*goroutine).await(0xd1a1e573508, {0x1a, 0x0})
	/goroot/src/cofferdamrt/wait.go:128 +0x534
cofferdamrt.Recv[...](...)
	/goroot/src/cofferdamrt/channel_unsafe.go:265
testing.(*T).Run(0xd1a1e5506c8, {0x683f84, 0x8}, 0x694388)
	/goroot/src/testing/testing.go:2109 +0x4f2
cofferdamrt/drive.(*server).run.func2()
	/goroot/src/cofferdamrt/drive/drive.go:340 +0x67
cofferdamrt.(*goroutine).main(0xd1a1e573508)
	/goroot/src/cofferdamrt/goroutine.go:142 +0xdb
created by cofferdamrt.(*scheduler).spawn in goroutine 1
	/goroot/src/cofferdamrt/goroutine.go:119 +0x295

goroutine 10 [chan receive]:
cofferdamrt.(*goroutine).main(0xd1a1e573808)
	/goroot/src/cofferdamrt/goroutine.go:140 +0xdb
created by cofferdamrt.(*scheduler).spawn in goroutine 9
	/goroot/src/cofferdamrt/goroutine.go:119 +0x295

goroutine 13 [runnable]:
runtime.goexit({})
	/goroot/src/runtime/asm_amd64.s:1771 +0x1
created by cofferdamrt.(*scheduler).spawn in goroutine 9
	/goroot/src/cofferdamrt/goroutine.go:119 +0x295

goroutine 11 [chan receive]:
cofferdamrt.(*goroutine).park(0xd1a1e573908)
	/goroot/src/cofferdamrt/sched.go:328 +0x25
cofferdamrt.(*goroutine).await(0xd1a1e573908, {0x19, 0x0})
	/goroot/src/cofferdamrt/wait.go:128 +0x534
cofferdamrt.Sender[...].Send(0x9f7660, 0x1, 0x9012)
	/goroot/src/cofferdamrt/channel_unsafe.go:120
example.com/p.work(0x1)
	/src/p/p.go:12 +0x1d
cofferdamrt.(*goroutine).main(0xd1a1e573908)
	/goroot/src/cofferdamrt/goroutine.go:142 +0xdb
created by cofferdamrt.(*scheduler).spawn in goroutine 9
	/goroot/src/cofferdamrt/goroutine.go:119 +0x295

goroutine 12 [chan receive]:
cofferdamrt.(*goroutine).park(0xd1a1e573a08)
	/goroot/src/cofferdamrt/sched.go:328 +0x25
cofferdamrt.S(0xd1a1e573a08)
	/goroot/src/cofferdamrt/access_unsafe.go:28 +0x25
example.com/p.work(0x2)
	/src/p/p.go:11 +0x1d
created by os/signal.Notify.func1.1 in goroutine 9
	/goroot/src/os/signal/signal.go:152 +0x1f
`
	const want = `goroutine 9 [running]:
go.uber.org/goleak.Find()
	/leaks.go:58 +0x1
example.com/p.TestFine(0x1)
	/src/p/p_test.go:14 +0x7b
created by testing.(*T).Run in goroutine 7
	/goroot/src/testing/testing.go:2101 +0x4f2

goroutine 7 [chan receive]:
testing.(*T).Run(0xd1a1e5506c8, {0x683f84, 0x8}, 0x694388)
	/goroot/src/testing/testing.go:2109 +0x4f2

goroutine 10 [runnable]:
example.com/p.work()
	/src/p/p.go:10
created by example.com/p.TestFine in goroutine 9
	/src/p/p_test.go:12 +0x5d

goroutine 13 [runnable]:
example.com/p.work()
	/src/p/p.go:10
created by example.com/p.TestFine in goroutine 9
	/src/p/p_test.go:12 +0x5d

goroutine 11 [chan send]:
example.com/p.work(0x1)
	/src/p/p.go:12 +0x1d

goroutine 12 [runnable]:
example.com/p.work(0x2)
	/src/p/p.go:11 +0x1d
created by os/signal.Notify.func1.1 in goroutine 9
	/goroot/src/os/signal/signal.go:152 +0x1f
`
	origin := func(number string) (begins, creator string) {
		switch number {
		case "9":
			return "", "testing.(*T).Run in goroutine 7\n\t/goroot/src/testing/testing.go:2101 +0x4f2\n"
		case "10", "13":
			return "example.com/p.work()\n\t/src/p/p.go:10\n", "example.com/p.TestFine in goroutine 9\n\t/src/p/p_test.go:12 +0x5d\n"
		}
		return "", ""
	}
	if got := string(Program(text, origin)); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestStatesAreThoseOfTheRuntime(t *testing.T) {
	for hook, want := range map[string]string{
		"cofferdamrt.Select(0x1)": "select", "cofferdamrt.Lock(0x1)": "sync.Mutex.Lock", "cofferdamrt.RLock(0x1)": "sync.RWMutex.RLock",
		"cofferdamrt.Sleep(0x1)": "sleep", "cofferdamrt.Wait(0x1)": "sync.WaitGroup.Wait", "cofferdamrt.Semacquire(0x1)": "chan receive",
	} {
		if got := state(hook, true); got != want {
			t.Errorf("%s: %s, want %s", hook, got, want)
		}
	}
}
