/* Does nothing: for what happens before a program begins. */
int main(void)
{
	return 0;
}
