// Declarations without a body need a file in assembly beside them.
