"""The cabinet of bugs: attention implementations with a deliberate bug, and the test that detects each."""
