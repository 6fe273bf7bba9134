"""The parts of the fuzz run: good inputs, the doors that open them, and changes of their bytes."""
