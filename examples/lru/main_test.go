package main

func Example() {
	main()
	// Output: 4000 lookups, at most 32 entries, nothing lost
}
